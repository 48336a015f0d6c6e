"""From an utterance to a tool call, through the questions back that it takes.

Decides with the router, remembers with the dialogues, and runs through the toolbox, where the
policy stands. What was said in another person's conversation confirms nothing.
"""

import contextlib

import msgspec

from hubd.assistant import follow, revise
from hubd.assistant.completed import completed
from hubd.assistant.confirmations import confirmation
from hubd.assistant.continued import continued as continuation
from hubd.assistant.decider import Decider
from hubd.assistant.decision import Decision, lacks, of_a_timer_there
from hubd.assistant.dialogue import Dialogues, Memory
from hubd.assistant.exchanged_items import exchanged
from hubd.assistant.later import LATER, of_what_was_left
from hubd.assistant.narrowed import narrowed
from hubd.assistant.of_set import all_given_up, of_the_told_timer, of_what_was_set
from hubd.assistant.once_more import once_more
from hubd.assistant.other_days import of_another_day
from hubd.assistant.questions import ask
from hubd.assistant.questions_back import QuestionsBack
from hubd.assistant.replies import asks_what_was_done, says_undo
from hubd.assistant.route import Router
from hubd.assistant.semantic import Semantics
from hubd.assistant.several import Part
from hubd.assistant.step import Outcome, Step, Steps
from hubd.assistant.stopped import halves, stopped
from hubd.assistant.understanding.lexicon import lexicon
from hubd.assistant.understanding.reasons import without_reasons
from hubd.policy import Person
from hubd.tool_context import Speaker
from hubd.tools import NotConfirmedError, ToolBox
from plugins.api import MissingArgumentError, OfferedError, ToolCall, ToolError

ON_ITS_WAY = frozenset({"opening", "closing"})
"""The states of what moves."""


class Commands:
    """The commands of all conversations."""

    def __init__(
        self, tools: ToolBox, router: Router, dialogues: Dialogues, semantics: Semantics
    ) -> None:
        self.decider = Decider(tools, router, semantics)
        self._tools, self._router, self._dialogues = tools, router, dialogues
        self._steps = Steps(tools)
        self._questions = QuestionsBack(self.decider, router, tools, self._steps)
        tools.set_carry_out(self.carry_out)

    async def step(
        self, text: str, conversation: str, *, language: str | None, area: str, person: Person
    ) -> Step | None:
        """What ``text`` has done or asked; ``None``: it is a question for the documents."""
        memory = self._dialogues.of(conversation)
        if (step := await self._stopped(text, conversation, area, person)) is not None:
            return step
        names = self._names(memory.last)
        text = of_what_was_left(text, memory.last, memory.last_text, names)
        text = completed(text, memory.last)
        if (pending := memory.pending) is not None:
            memory.pending = None
            if (ended := all_given_up(text, memory)) is not None:
                return self.step_of(ended, conversation, text, person)
            step = await self._questions.answered(pending, text, person, area)
            if step is not None:
                return self._asked(step, conversation, text, person)
        if step := await self._without_its_reason(text, conversation, language, area, person):
            return step
        if step := await self._going_on(text, conversation, language, area, person):
            return step
        decision = of_the_told_timer(await self.decider.by_rules(text, language, area), memory)
        further = self._followed(text, memory)
        further = further or await self._also(text, memory, area)
        elliptic = follow.is_of_its_kind(text)
        if further is not None and (elliptic or not follow.names_more(decision)):
            decision = further
        elif (
            decision.tool in follow.CANCELS
            and memory.undo
            and follow.says_cancelled(text, memory)
            and not follow.only_told_of(text, memory)
        ):
            return self._undo(conversation, text, language)
        elif revise.sets_a_value(text, decision.language, bare=decision.tool is not None):
            return None  # "no, fifteen" of which nobody knows what it corrects begins nothing new
        parts = await self.decider.resolved(decision, text, area, last=memory.last)
        continues = further is not None and decision is further
        parts = await self.decider.with_proposal(parts, text, area, continues=continues)
        if len(parts) > 1:
            parts = [self._part_followed(part, memory) for part in parts]
        if revise.says_enough(text, decision.language):
            parts = self.decider.asked_about(parts)
        if len(parts) > 1 or parts[0].text != text:
            return self._asked(self._steps.joined(parts, person), conversation, text, person)
        decision = parts[0].decision
        if decision.declined:
            return Step(decision=decision, text=ask(decision.language, decision.declined))
        if decision.tool is None:
            return None
        return self.step_of(decision, conversation, text, person)

    async def _going_on(
        self, text: str, conversation: str, language: str | None, area: str, person: Person
    ) -> Step | None:
        """What goes on with what was done or told before, takes it back, or changes it; ``None``
        where ``text`` begins something new."""
        memory = self._dialogues.of(conversation)
        if (other_day := of_another_day(text, memory.told)) is not None:
            return self.step_of(other_day, conversation, text, person)
        again = once_more(text, memory.last) if memory.last else None
        continued = again or follow.cancelled(text, memory) or continuation(text, memory)
        if continued is None and (of_set := of_what_was_set(text, memory)) is not None:
            named = await self.decider.by_rules(text, of_set.language, area)
            continued = named if of_a_timer_there(named) else of_set  # "the eggs are done, cancel"
        if continued is not None:
            return self.step_of(continued, conversation, text, person)
        spoken = await self.decider.language_of(text, language)
        if both := exchanged(self._router, text, spoken, memory):
            parts = [Part(text=one, decision=decision) for one, decision in both]
            return self._asked(self._steps.joined(parts, person), conversation, text, person)
        if says_undo(text):
            return self._undo(conversation, text, language)
        if asks_what_was_done(text):
            return self._told_again(conversation, language)
        if memory.last and (
            fewer := narrowed(text, memory.last, memory.undo, self._tools.home.snapshot())
        ):
            return Step(decision=fewer.decision, call=fewer.restore)
        if step := await self._revised(text, conversation, area, person):
            return step
        return None

    async def _stopped(
        self, text: str, conversation: str, area: str, person: Person
    ) -> Step | None:
        """The stop of the blind that was sent on its way last, and what is said behind it."""
        memory = self._dialogues.of(conversation)
        if memory.last is None or memory.pending is not None:
            return None
        moves = any(one.state in ON_ITS_WAY for one in self._steps.entities(memory.last))
        first, rest = halves(text) or (text, "")
        stop = stopped(first, memory, moves=moves)
        if stop is None:
            return None
        parts = [Part(text=first, decision=stop)]
        if rest:
            names = self._names(memory.last)
            whole = of_what_was_left(rest, memory.last, memory.last_text, names)
            parts += await self.decider.parts(whole, stop.language, area)
        # What it was moved with stays: "and close it at ten" is still of that.
        step = msgspec.structs.replace(self._steps.joined(parts, person), said=memory.last_text)
        return self._asked(step, conversation, text, person)

    async def _without_its_reason(
        self, text: str, conversation: str, language: str | None, area: str, person: Person
    ) -> Step | None:
        """The same of what is left without a reason: "turn them off, I changed my mind"."""
        memory = self._dialogues.of(conversation)
        known = lexicon(memory.last.language) if memory.last else None
        if known is None or known.corrected(text):
            return None
        said = without_reasons(text, known)
        if not said or said == text:
            return None
        if step := await self._going_on(said, conversation, language, area, person):
            return step
        alone = await self.decider.by_rules(said, language, area)
        further = self._followed(said, memory)
        if further is None or follow.names_more(alone):
            return None
        return self.step_of(further, conversation, said, person)

    def _followed(self, text: str, memory: Memory) -> Decision | None:
        """What ``text`` asks for of the things that were spoken of last."""
        it = memory.spoken_of if follow.PRONOUNS.search(text.casefold()) else memory.last
        last = follow.both(text, memory) or it
        if last is None:
            return None
        return follow.follow(self._router, text, last, self._tools.home.snapshot())

    async def _also(self, text: str, memory: Memory, area: str) -> Decision | None:
        """What is done with something else as well: "the lights too"."""
        last, other = memory.last, follow.also(text)
        if last is None or not other or last.tool not in follow.SWITCHING:
            return None
        also = await self.decider.with_verb(other, memory.last_text, last.language, area)
        return also if also.tool == last.tool else None

    def _part_followed(self, part: Part, memory: Memory) -> Part:
        """A part of a sentence that is not understood, of the things that were spoken of last."""
        further = self._followed(part.text, memory) if lacks(part.decision) else None
        return msgspec.structs.replace(part, decision=further) if further else part

    async def _revised(
        self, text: str, conversation: str, area: str, person: Person
    ) -> Step | None:
        """The step of a correction of what was done last; ``None`` where it is none."""
        memory = self._dialogues.of(conversation)
        spoken = memory.last.language if memory.last else None

        async def decide(said: str) -> Decision:
            return await self.decider.by_rules(said, spoken, area)

        found = await revise.revised(self._router, text, memory, decide)
        if found is None:
            return None
        step = self.step_of(found.decision, conversation, found.said, person)
        if found.further:
            memory.undo = memory.undo[1:]
            step = msgspec.structs.replace(step, further=True)
        return msgspec.structs.replace(step, undo=found.undo, said=found.said)

    def step_of(self, decision: Decision, conversation: str, text: str, person: Person) -> Step:
        """What a decision has done or asked."""
        return self._asked(self._steps.of(decision, text, person), conversation, text, person)

    def asking_back(
        self,
        decision: Decision,
        question: str,
        conversation: str,
        text: str,
        person: Person,
        argument: str,
    ) -> Step:
        """The step that asks ``question``, whose answer is that argument of the decision's call."""
        self._dialogues.ask(conversation, decision, text, person, argument=argument)
        return Step(decision=decision, text=question)

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
            return Outcome(call=step.call, text=str(error), ok=False)
        self._dialogues.done(
            conversation,
            step.decision,
            text,
            result.undo,
            told=result.text,
            reads=self._tools.only_reads(step.call.tool),
            further=step.further,
        )
        return Outcome(call=step.call, text=result.text, ok=True, result=result)

    async def _refused_later(self, call: ToolCall, speaker: Speaker) -> str:
        """Why what is left for later would not be done then; empty where it would, as far as that
        is known now."""
        if call.tool != LATER:
            return ""
        command = str(call.arguments.get("command", ""))
        for part in await self.decider.parts(command, speaker.language, speaker.area):
            then = part.decision.call
            if then is not None and (refusal := self._tools.refusal(then, speaker)):
                return refusal
        return ""

    async def carry_out(self, text: str, speaker: Speaker) -> str:
        """``ToolContext.carry_out``: what needs a question back is not done."""
        replies: list[str] = []
        for part in await self.decider.parts(text, speaker.language, speaker.area):
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

    def _asked(self, step: Step, conversation: str, text: str, person: Person) -> Step:
        """The step, with its question remembered if it is one; of several questions the last."""
        asking = [s for s in (step, *step.then) if s.call is None and s.decision.asks is not None]
        if asking:
            said = asking[-1].said or text
            self._dialogues.ask(conversation, asking[-1].decision, said, person)
        return step

    def _undo(self, conversation: str, text: str, language: str | None) -> Step:
        memory = self._dialogues.of(conversation)
        spoken = memory.last.language if memory.last else language or "en"
        decision = Decision(route="grammar", score=1.0, reason="undo", language=spoken)
        if not memory.undo:
            return Step(decision=decision, text=ask(spoken, "nothing_to_undo"))
        calls, memory.undo = memory.undo, ()
        first, *then = (
            Step(decision=msgspec.structs.replace(decision, tool=call.tool, call=call), call=call)
            for call in calls
        )
        return msgspec.structs.replace(first, then=tuple(then))

    def _told_again(self, conversation: str, language: str | None) -> Step:
        """What was done last, in the words in which it was told."""
        memory = self._dialogues.of(conversation)
        spoken = memory.last.language if memory.last else language or "en"
        decision = Decision(route="grammar", score=1.0, reason="what was done", language=spoken)
        return Step(decision=decision, text=memory.done or ask(spoken, "nothing_done"))

    def _names(self, decision: Decision | None) -> list[str]:
        """The names of the things of a decision."""
        return [entity.name for entity in self._steps.entities(decision)] if decision else []
