"""From an utterance to a tool call, through the questions back that it takes.

Decides with the router, remembers with the dialogues, and runs through the toolbox, where the
policy stands. What was said in another person's conversation confirms nothing.
"""

import contextlib
from collections.abc import Sequence
from datetime import UTC, datetime

import msgspec

from hubd.assistant import follow, revise
from hubd.assistant.answered import as_hour, asked_hour, at_that_hour, at_that_time, link
from hubd.assistant.continued import continued as continuation
from hubd.assistant.decider import Decider
from hubd.assistant.decision import Decision
from hubd.assistant.dialogue import Dialogues, Pending, says_no, says_undo, says_yes
from hubd.assistant.exchanged_items import exchanged
from hubd.assistant.hearing import WORDED
from hubd.assistant.later import LATER, of_what_was_done, of_what_was_left
from hubd.assistant.other_days import of_another_day
from hubd.assistant.proposals import question
from hubd.assistant.questions import ask
from hubd.assistant.route import Router
from hubd.assistant.semantic import Semantics
from hubd.assistant.several import Part
from hubd.assistant.understanding.targets import Targets
from hubd.home.model import Entity
from hubd.policy import Person
from hubd.tool_context import Speaker
from hubd.tools import NotConfirmedError, ToolBox
from plugins.api import MissingArgumentError, OfferedError, ToolCall, ToolError, ToolResult
from plugins.event_words import says_when


class Step(msgspec.Struct, frozen=True, kw_only=True):
    """What a turn does: call a tool, or say something and wait."""

    decision: Decision
    call: ToolCall | None = None
    text: str = ""
    """What is said instead of a call."""
    confirmed: bool = False
    undo: ToolCall | None = None
    """What is taken back first, because the person corrects it."""
    said: str = ""
    """What a correction, or an answer to a question back, comes to, said at once; or the part of a
    sentence that this step does."""
    further: bool = False
    """Whether it is another command of the sentence whose first was done before."""
    then: tuple["Step", ...] = ()
    """What else the sentence has done or asked, one after the other."""


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """What came of a call."""

    call: ToolCall
    text: str
    ok: bool
    result: ToolResult | None = None
    asks: bool = False
    """Whether the text is a question back."""


class Commands:
    """The commands of all conversations."""

    def __init__(
        self, tools: ToolBox, router: Router, dialogues: Dialogues, semantics: Semantics
    ) -> None:
        self.decider = Decider(tools, router, semantics)
        self._tools, self._router, self._dialogues = tools, router, dialogues
        tools.set_carry_out(self.carry_out)

    async def step(
        self, text: str, conversation: str, *, language: str | None, area: str, person: Person
    ) -> Step | None:
        """What ``text`` has done or asked; ``None``: it is a question for the documents."""
        memory = self._dialogues.of(conversation)
        text = of_what_was_left(text, memory.last)
        if memory.last is not None:
            things = [entity.name for entity in self._entities(memory.last)]
            text = of_what_was_done(text, things, memory.last.language)
        if (pending := memory.pending) is not None:
            memory.pending = None
            step = await self._answered(pending, text, person, area)
            if step is not None:
                return self._asked(step, conversation, text, person)
        if (again := of_another_day(text, memory.told)) is not None:
            return self.step_of(again, conversation, text, person)
        continued = follow.cancelled(text, memory) or continuation(text, memory)
        if continued is not None:
            return self.step_of(continued, conversation, text, person)
        if says_undo(text):
            return self._undo(conversation, text, language)
        spoken = await self.decider.language_of(text, language)
        if off_and_on := exchanged(self._router, text, spoken, memory):
            parts = [Part(text=text, decision=one) for one in off_and_on]
            return self._asked(self._joined(parts, person), conversation, text, person)
        if step := await self._revised(text, conversation, area, person):
            return step
        decision = await self.decider.by_rules(text, language, area)
        further = None
        if memory.last:
            snapshot = self._tools.home.snapshot()
            last = follow.both(text, memory) or memory.last
            further = follow.follow(self._router, text, last, snapshot)
        elliptic = follow.is_of_its_kind(text)
        if further is not None and (elliptic or not follow.names_more(decision)):
            decision = further
        elif decision.tool == follow.CANCEL and memory.undo and follow.says_cancelled(text, memory):
            return self._undo(conversation, text, language)
        elif revise.sets_a_value(text, decision.language, bare=decision.tool is not None):
            return None  # "no, fifteen" of which nobody knows what it corrects begins nothing new
        parts = await self.decider.resolved(decision, text, area, last=memory.last)
        continues = further is not None and decision is further
        parts = await self.decider.with_proposal(parts, text, area, continues=continues)
        if len(parts) > 1 or parts[0].text != text:
            return self._asked(self._joined(parts, person), conversation, text, person)
        decision = parts[0].decision
        if decision.declined:
            return Step(decision=decision, text=ask(decision.language, decision.declined))
        if decision.tool is None:
            return None
        return self.step_of(decision, conversation, text, person)

    def _joined(self, parts: Sequence[Part], person: Person) -> Step:
        """The steps of several commands, as one."""
        steps = [self._part(part, person) for part in parts]
        # What is asked comes last: an answer belongs to the last question.
        first, *then = sorted(steps, key=lambda step: step.call is None)
        then = [msgspec.structs.replace(step, further=True) for step in then]
        return msgspec.structs.replace(first, then=tuple(then))

    def _part(self, part: Part, person: Person) -> Step:
        decision, language = part.decision, part.decision.language
        if decision.tool is not None:
            step = self._step(decision, part.text, person)
        elif decision.declined:
            step = Step(decision=decision, text=ask(language, decision.declined))
        else:
            step = Step(decision=decision, text=ask(language, "part_declined", said=part.text))
        return msgspec.structs.replace(step, said=part.text)

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
        return msgspec.structs.replace(step, undo=found.undo, said=found.said)

    def step_of(self, decision: Decision, conversation: str, text: str, person: Person) -> Step:
        """What a decision has done or asked."""
        return self._asked(self._step(decision, text, person), conversation, text, person)

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
            said = ask(decision.language, "confirm", self._entities(decision), text)
            return Outcome(call=step.call, text=said, ok=False, asks=True)
        except ToolError as error:
            return Outcome(call=step.call, text=str(error), ok=False)
        self._dialogues.done(
            conversation,
            step.decision,
            text,
            result.undo,
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

    async def _answered(
        self, pending: Pending, text: str, person: Person, area: str
    ) -> Step | None:
        """What the answer to a question back comes to; ``None``: it was none."""
        decision, language = pending.decision, pending.decision.language
        if pending.asks == "confirm":
            if says_yes(text, language):
                if person != pending.person:
                    return Step(decision=decision, text=ask(language, "other_person"))
                plain = msgspec.structs.replace(decision, asks=None)
                # What was proposed was harmless; if it is not any more, that is asked for itself.
                sure = not decision.proposed
                return Step(decision=plain, call=decision.call, confirmed=sure)
            if says_no(text, language):
                return self._dropped(decision)
            return None
        if says_no(text, language):
            return self._dropped(decision)
        if pending.asks == "which" and decision.call is not None:
            chosen = self._chosen(text, decision)
            if chosen is None or await self._is_another_command(text, decision, area):
                return None
            return self._step(chosen, pending.text, person)
        if decision.tool in ANSWERED and pending.argument:
            return await self._filled(pending, text, area)
        if decision.tool in WORDED and await self._is_another(decision.tool, text, language, area):
            return None
        text = as_hour(pending, text)
        whole = at_that_hour(pending, text) or at_that_time(pending, text)
        if whole is not None:
            return Step(decision=whole, call=whole.call, said=f"{pending.text} {text}")
        joint = link(decision.tool or "", text, language)
        for joined in (f"{pending.text}{joint}{text}", f"{text} {pending.text}"):
            complete, *further = (
                p.decision for p in await self.decider.parts(joined, language, area)
            )
            if further:
                continue
            completed = complete.tool == decision.tool and complete.asks != "missing"
            if completed and complete.call and complete.call != decision.call:
                step = self._step(complete, joined, person)
                return msgspec.structs.replace(step, said=joined)
        return None

    async def _filled(self, pending: Pending, text: str, area: str) -> Step | None:
        """The call with the answer as what its tool asked for; ``None`` where that is no answer."""
        decision, language = pending.decision, pending.decision.language
        if decision.call is None or pending.argument not in ANSWERED.get(decision.call.tool, ()):
            return None
        if pending.argument in ("when", "to"):
            answers = says_when(text, language, datetime.now(UTC))
        else:
            alone = await self.decider.by_rules(text, language, area)
            kind, _ = await self.decider.kind(text, language)
            answers = alone.tool is None and kind == "statement"
        if not answers:
            return None
        arguments = {**decision.call.arguments, pending.argument: text.strip(" .!。！")}
        call = ToolCall(tool=decision.call.tool, arguments=arguments)
        whole = msgspec.structs.replace(decision, asks=None, call=call, arguments=arguments)
        return Step(decision=whole, call=call, said=f"{pending.text} {text}")

    async def _is_another_command(self, text: str, decision: Decision, area: str) -> bool:
        """Whether what names one of the candidates asks for something else: "mute the TV"."""
        alone = await self.decider.by_rules(text, decision.language, area)
        done = alone.call is not None and alone.asks is None and alone.tool != decision.tool
        return done and not self._tools.only_reads(alone.tool or "")

    async def _is_another(self, tool: str, text: str, language: str, area: str) -> bool:
        """Whether an answer lacks nothing itself: another reminder, another event."""
        alone = await self.decider.by_rules(text, language, area)
        return alone.tool == tool and alone.call is not None and alone.asks is None

    def _chosen(self, text: str, decision: Decision) -> Decision | None:
        """The decision with the one candidate that ``text`` names."""
        assert decision.call is not None
        snapshot = self._tools.home.snapshot()
        areas = {area.id: area.name for area in snapshot.areas}
        said = text.casefold()
        named = [
            entity
            for entity in self._entities(decision)
            if any(name.casefold() in said for name in (entity.name, *entity.aliases))
        ]
        placed = [
            entity
            for entity in self._entities(decision)
            if entity.area and areas.get(entity.area, "\0").casefold() in said
        ]
        for found in (named, placed):
            if len(found) == 1:
                arguments = {**decision.call.arguments, "entities": [found[0].id]}
                call = ToolCall(tool=decision.call.tool, arguments=arguments)
                plain = msgspec.structs.replace(
                    decision, asks=None, entities=[found[0].id], call=call
                )
                return self._router.asking(plain, Targets((found[0],)))
        return None

    def _step(self, decision: Decision, text: str, person: Person) -> Step:
        if decision.asks is None:
            return Step(decision=decision, call=decision.call)
        if decision.asks == "confirm" and decision.call is not None:
            # Whoever may not is told so now, and not asked whether they are sure.
            refusal = self._tools.refusal(decision.call, Speaker(person=person))
            if refusal:
                plain = msgspec.structs.replace(decision, asks=None)
                return Step(decision=plain, text=refusal)
        entities = self._entities(decision)
        if decision.proposed and decision.call is not None:
            asked = question(decision.call, entities, decision.language)
            return Step(decision=decision, text=asked)
        key: str = decision.asks
        if decision.asks == "which" and not entities:
            key = "unmeasured" if self._tools.only_reads(decision.tool or "") else "nothing"
        asked = asked_hour(decision) or ask(decision.language, key, entities, text)
        return Step(decision=decision, text=asked)

    def _asked(self, step: Step, conversation: str, text: str, person: Person) -> Step:
        """The step, with its question remembered if it is one; of several questions the last."""
        asking = [s for s in (step, *step.then) if s.call is None and s.decision.asks is not None]
        if asking:
            said = asking[-1].said or text
            self._dialogues.ask(conversation, asking[-1].decision, said, person)
        return step

    def _dropped(self, decision: Decision) -> Step:
        left = msgspec.structs.replace(decision, asks=None)
        return Step(decision=left, text=ask(decision.language, "dropped"))

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

    def _entities(self, decision: Decision) -> list[Entity]:
        wanted = set(decision.entities)
        return [e for e in self._tools.home.snapshot().entities if e.id in wanted]


ANSWERED = {
    "calendar.add": frozenset({"title", "when", "calendar"}),
    "calendar.move": frozenset({"to"}),
}
"""Tools and their arguments that an answer is as it stands; that to others makes one sentence with
what was said."""
