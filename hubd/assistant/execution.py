"""Steps carried out: the tool called, what it gave remembered, and what it asks back."""

import contextlib

import msgspec

from hubd.assistant.confirmations import confirmation
from hubd.assistant.decider import Decider
from hubd.assistant.dialogue import ANNOUNCED, Dialogues
from hubd.assistant.for_later.later import LATER
from hubd.assistant.step import Outcome, Step, Steps
from hubd.tool_context import Speaker
from hubd.tools import NotConfirmedError, ToolBox
from plugins.api import MissingArgumentError, OfferedError, ToolCall, ToolError


class Execution:
    """Runs the steps of all conversations through the toolbox, where the policy stands."""

    def __init__(
        self, tools: ToolBox, decider: Decider, dialogues: Dialogues, steps: Steps
    ) -> None:
        self._tools, self._decider = tools, decider
        self._dialogues, self._steps = dialogues, steps

    async def run(self, step: Step, text: str, conversation: str, speaker: Speaker) -> Outcome:
        """Call the step's tool and remember it."""
        assert step.call is not None
        speaker = msgspec.structs.replace(speaker, confirmed=step.confirmed)
        text = step.said or text
        if refusal := await self._refused_later(step.call, speaker):
            return Outcome(call=step.call, text=refusal, ok=False)
        if step.undo is not None:
            # What opens the house is not done unasked, not even to take something back.
            with contextlib.suppress(ToolError):
                await self._tools.call(step.undo, msgspec.structs.replace(speaker, confirmed=False))
        try:
            result = await self._tools.call(step.call, speaker)
        except MissingArgumentError as error:
            decision = msgspec.structs.replace(step.decision, asks="missing")
            self._dialogues.ask(
                conversation, decision, text, speaker.person, argument=error.argument
            )
            return Outcome(call=step.call, text=str(error), ok=False, asks=True)
        except OfferedError as error:
            decision = msgspec.structs.replace(
                step.decision, asks="confirm", tool=error.call.tool, call=error.call, proposed=True
            )
            self._dialogues.ask(conversation, decision, text, speaker.person)
            return Outcome(call=step.call, text=str(error), ok=False, asks=True)
        except NotConfirmedError:
            decision = msgspec.structs.replace(
                step.decision, asks="confirm", call=step.call, proposed=False
            )
            self._dialogues.ask(conversation, decision, text, speaker.person)
            things = self._steps.entities(decision)
            said = confirmation(step.call, things, decision.language, text)
            return Outcome(call=step.call, text=said, ok=False, asks=True)
        except ToolError as error:
            if self._tools.only_reads(step.call.tool):
                self._dialogues.not_told(conversation, step.decision)
            if step.call.tool == ANNOUNCED:
                self._dialogues.announced(conversation, step.decision)
            return Outcome(call=step.call, text=str(error), ok=False)
        self._dialogues.done(
            conversation,
            step.decision,
            text,
            result.undo,
            told=result.text,
            data=result.data,
            reads=self._tools.only_reads(step.call.tool),
            further=step.further,
        )
        if step.call.tool == ANNOUNCED:
            self._dialogues.announced(conversation, step.decision)
        return Outcome(call=step.call, text=result.text, ok=True, result=result)

    async def _refused_later(self, call: ToolCall, speaker: Speaker) -> str:
        """Why what is left for later would not be done then; empty where it would, as far as that
        is known now."""
        if call.tool != LATER:
            return ""
        command = str(call.arguments.get("command", ""))
        for part in await self._decider.parts(command, speaker.language, speaker.area):
            then = part.decision.call
            if then is not None and (refusal := self._tools.refusal(then, speaker)):
                return refusal
        return ""

    async def carry_out(self, text: str, speaker: Speaker) -> str:
        """``ToolContext.carry_out``: what needs a question back is not done."""
        replies: list[str] = []
        for part in await self._decider.parts(text, speaker.language, speaker.area):
            decision = part.decision
            not_done = f"“{part.text}”: {decision.reason}."
            if decision.call is None or decision.asks in ("which", "missing"):
                replies.append(not_done)
                continue
            try:
                replies.append((await self._tools.call(decision.call, speaker)).text)
            except NotConfirmedError:
                replies.append(not_done)
            except ToolError as error:
                replies.append(str(error))
        return " ".join(replies)
