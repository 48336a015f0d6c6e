"""From an utterance to a tool call, through the questions back that it takes.

Decides with the router, remembers with the dialogues, and runs through the toolbox, where the
policy stands. What was said in another person's conversation confirms nothing.
"""

import contextlib
from datetime import UTC, datetime

import msgspec

from hubd.assistant.by_likeness.semantic import Semantics
from hubd.assistant.confirmations import confirmation
from hubd.assistant.decider import Decider
from hubd.assistant.decision import Decision, lacks, of_a_timer_there
from hubd.assistant.dialogue import Dialogues, Memory
from hubd.assistant.follow_ups import follow, revise
from hubd.assistant.follow_ups.all_of_them import all_of_them
from hubd.assistant.follow_ups.behind_remarks import behind_remarks
from hubd.assistant.follow_ups.corrections import corrects
from hubd.assistant.follow_ups.exchanged_items import exchanged
from hubd.assistant.follow_ups.going_on import goes_on
from hubd.assistant.follow_ups.how_it_is import STATE
from hubd.assistant.follow_ups.in_full import in_full, of_it_in_full
from hubd.assistant.follow_ups.narrowed import narrowed, told_of
from hubd.assistant.follow_ups.of_events import asked_when, put_in
from hubd.assistant.follow_ups.of_lists import on_other_list
from hubd.assistant.follow_ups.of_set import (
    all_given_up,
    of_its_order,
    of_the_timer_meant,
    of_what_was_set,
    put_right,
)
from hubd.assistant.follow_ups.of_the_last import of_both, of_those_meant, without_both
from hubd.assistant.follow_ups.one_of_them import the_one_meant
from hubd.assistant.follow_ups.stopped import halves, stopped
from hubd.assistant.follow_ups.that_day import on_that_day
from hubd.assistant.follow_ups.that_morning import in_that_half
from hubd.assistant.follow_ups.the_other import speaks_of_another
from hubd.assistant.for_later.later import LATER, of_what_was_left
from hubd.assistant.no_request import answered_alone, tells_of_people, without_chatter
from hubd.assistant.questions import ask
from hubd.assistant.questions_back import QuestionsBack
from hubd.assistant.replies import asks_what_was_done, says_undo, says_wait
from hubd.assistant.route import Router
from hubd.assistant.several import Part
from hubd.assistant.step import Outcome, Step, Steps
from hubd.assistant.understanding.awaited import awaited
from hubd.assistant.understanding.chatter import without_openings
from hubd.assistant.understanding.danger import trouble
from hubd.assistant.understanding.lexicon import lexicon
from hubd.assistant.understanding.mentions import named_entities
from hubd.assistant.understanding.people import people
from hubd.assistant.understanding.reasons import without_people, without_reasons
from hubd.assistant.understanding.values import of_a_quality
from hubd.home.model import Entity
from hubd.policy import Person
from hubd.tool_context import Speaker
from hubd.tools import NotConfirmedError, ToolBox
from plugins.api import MissingArgumentError, OfferedError, ToolCall, ToolError
from plugins.speech import say

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
        spoken = await self.decider.language_of(text, language)
        whole = on_that_day(text, memory, spoken, datetime.now(UTC))
        if not whole:
            return _unclear("the day that is meant is not known", spoken)
        step = await self._step(whole, conversation, language, area, person)
        if step is None or whole == text:
            return step
        return msgspec.structs.replace(step, said_alone=whole)

    async def _step(
        self, text: str, conversation: str, language: str | None, area: str, person: Person
    ) -> Step | None:
        """The same of ``text`` with the day that it speaks of."""
        memory = self._dialogues.of(conversation)
        if rest := await self.decider.behind_never_mind(text, language, area):
            text, memory.pending = rest, None
        text = of_a_quality(text, await self.decider.language_of(text, language))
        if (step := await self._stopped(text, conversation, area, person)) is not None:
            return step
        if step := await self._put_in(text, conversation, language, person):
            return step
        home, now = self._tools.home.snapshot(), datetime.now(UTC)
        spoken = language or (memory.last.language if memory.last else "")
        if not (text := in_full(text, memory, self._worked(memory), home, spoken, now)):
            return _unclear("the room or the time that is meant is not known", spoken or "en")
        if (pending := memory.pending) is not None:
            if says_wait(text, pending.decision.language):
                return Step(
                    decision=msgspec.structs.replace(pending.decision, tool=None, call=None),
                    text=say(pending.decision.language, "all_right"),
                )
            memory.pending = None
            if (ended := all_given_up(text, memory)) is not None:
                return self.step_of(ended, conversation, text, person)
            step = await self._questions.answered(pending, text, person, area)
            if step is not None:
                return self._asked(step, conversation, text, person)
        last = memory.last
        if last is None or not (put_right(text, last) or lexicon(last.language).corrected(text)):
            text = await self._without_openings(text, language)
        text = of_it_in_full(text, memory, self._worked(memory))
        if step := await self._without_its_reason(text, conversation, language, area, person):
            return step
        if step := await self._going_on(text, conversation, language, area, person):
            return step
        decision = await self.decider.by_rules(text, language, area)
        further = self._followed(text, memory, area)
        further = further or await self._also(text, memory, area)
        both = "" if further else without_both(text, decision.language)
        if both and lacks(decision):  # "remind me both days" is of no things
            text, decision = both, await self.decider.by_rules(both, decision.language, area)
        if further is None and lacks(decision) and trouble(text, decision.language):
            return None
        if further is None and (step := await self._answered_alone(text, decision, area)):
            return step
        elliptic = follow.is_of_its_kind(text)
        if further is not None and (elliptic or not follow.names_more(decision)):
            decision = further
        elif (
            decision.tool in follow.CANCELS
            and memory.undo
            and follow.says_cancelled(text, memory)
            and not follow.only_told_of(text, memory)
        ) or follow.takes_back(decision, memory):
            return self._undo(conversation, text, language)
        elif revise.sets_a_value(text, decision.language, bare=decision.tool is not None):
            return None  # "no, fifteen" of which nobody knows what it corrects begins nothing new
        parts = await self.decider.resolved(decision, text, area, last=memory.last)
        parts = [_of_what_is_set(part, memory) for part in parts]
        continues = further is not None and decision is further
        parts = await self.decider.with_proposal(parts, text, area, continues=continues)
        if len(parts) == 1 and not continues:
            parts = [await self._of_those_meant(parts[0], memory, both=bool(both))]
        if len(parts) > 1:
            parts = [self._part_followed(part, memory, area) for part in parts]
            parts = without_chatter(parts, self._tools.home.snapshot())
        if revise.says_enough(text, decision.language):
            parts = self.decider.asked_about(parts)
        if not continues and all(tells_of_people(part.decision, part.text) for part in parts):
            return None
        if len(parts) > 1 or parts[0].text != text:
            return self._asked(self._steps.joined(parts, person), conversation, text, person)
        decision = parts[0].decision
        if decision.declined:
            return Step(decision=decision, text=ask(decision.language, decision.declined))
        if decision.tool is None:
            return None
        return self.step_of(decision, conversation, text, person)

    async def _put_in(
        self, text: str, conversation: str, language: str | None, person: Person
    ) -> Step | None:
        """The event put down of which it was asked just before when it is; what is asked now is
        remembered for the same."""
        memory = self._dialogues.of(conversation)
        spoken = await self.decider.language_of(text, language)
        asked, memory.asked_when = memory.asked_when, asked_when(text, spoken)
        put_down = put_in(text, asked, spoken, datetime.now(UTC))
        return self.step_of(put_down, conversation, text, person) if put_down else None

    async def _going_on(
        self, text: str, conversation: str, language: str | None, area: str, person: Person
    ) -> Step | None:
        """What goes on with what was done or told before, takes it back, or changes it; ``None``
        where ``text`` begins something new."""
        memory = self._dialogues.of(conversation)
        home = self._tools.home.snapshot()
        continued = goes_on(text, memory, home, datetime.now(UTC), area)
        continued = self._the_one_meant(continued, text, memory.last, area)
        if continued is None and (of_set := of_what_was_set(text, memory)) is not None:
            named = await self.decider.by_rules(text, of_set.language, area)
            other = of_a_timer_there(named) and not of_its_order(of_set)
            continued = named if other else of_set  # "the eggs are done, cancel"
        if continued is not None and continued.declined:
            return Step(decision=continued, text=ask(continued.language, continued.declined))
        if continued is not None:
            return self.step_of(continued, conversation, text, person)
        spoken = await self.decider.language_of(text, language)
        both = exchanged(self._router, text, spoken, memory)
        if both := both or on_other_list(self._router, text, memory):
            if both[0][1].declined:
                return Step(decision=both[0][1], text=ask(spoken, both[0][1].declined))
            parts = [Part(text=one, decision=decision) for one, decision in both]
            return self._asked(self._steps.joined(parts, person), conversation, text, person)
        if says_undo(text):
            return self._undo(conversation, text, language)
        if asks_what_was_done(text):
            return self._told_again(conversation, language)
        if memory.last and (fewer := narrowed(text, memory.last, memory.undo, home)):
            return Step(decision=fewer.decision, call=fewer.restore)
        if step := await self._revised(text, conversation, area, person):
            return step
        if speaks_of_another(corrects(text, spoken), spoken):
            return _unclear("what it is another one of is not known", spoken)
        return None

    async def _without_openings(self, text: str, language: str | None) -> str:
        """``text`` without what it only begins with: „Schade. Dann …“."""
        spoken = await self.decider.language_of(text, language)
        return without_openings(text, spoken, people(self._tools.home.snapshot(), spoken))

    async def _answered_alone(self, text: str, decision: Decision, area: str) -> Step | None:
        """The answer to what is no request, or none that could be carried out."""
        spoken, home = decision.language, self._tools.home.snapshot()

        async def decide(said: str) -> Decision:
            return await self.decider.by_rules(said, spoken, area)

        if (said := await answered_alone(text, decision, home, decide)) is None:
            return None
        nothing = Decision(route="words", score=0.9, reason="no request", language=spoken)
        return Step(decision=nothing, text=said)

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
            names = [one.name for one in self._worked(memory)]
            whole = of_what_was_left(rest, memory.last, memory.last_text, names)
            parts += await self.decider.parts(whole, stop.language, area)
        # What it was moved with stays: "and close it at ten" is still of that.
        step = msgspec.structs.replace(self._steps.joined(parts, person), said=memory.last_text)
        return self._asked(step, conversation, text, person)

    async def _without_its_reason(
        self, text: str, conversation: str, language: str | None, area: str, person: Person
    ) -> Step | None:
        """The same of what is left without a reason: "turn them off, I changed my mind", or without
        what is only told before it."""
        memory = self._dialogues.of(conversation)
        known = lexicon(memory.last.language) if memory.last else None
        if known is None:
            return None
        if awaited(text, known):
            return None  # "when it's all done, send it home" is not of now
        if on_other_list(self._router, text, memory):
            return None  # "put a torch, matches and rope on there" has no reason in it
        said = "" if known.corrected(text) else without_reasons(text, known)
        assert memory.last is not None
        if memory.last.entities or memory.last.tool == LATER:
            here = people(self._tools.home.snapshot(), known.language)
            said = said or without_people(text, known, here)
            said = said or await behind_remarks(text, known, self.decider.mentions)
        if not said or said == text or await self._tells_of_others(text, said, memory):
            return None
        if it := self._one_of_them(text, said, memory):
            memory = msgspec.structs.replace(memory, last=it)
        elif step := await self._going_on(said, conversation, language, area, person):
            return step
        alone = await self.decider.by_rules(said, language, area)
        further = self._followed(said, memory, area)
        elliptic = follow.is_of_its_kind(said)
        if further is None or (follow.names_more(alone) and not elliptic):
            return None
        return self.step_of(further, conversation, said, person)

    async def _tells_of_others(self, text: str, said: str, memory: Memory) -> bool:
        """Whether what stands beside ``said`` in ``text`` names a thing that was not worked last,
        so that "it" may be that: "the hall light is too bright, turn it off"."""
        assert memory.last is not None
        beside = await self.decider.mentions(text.replace(said, " "), memory.last.language)
        named = named_entities(beside, self._tools.home.snapshot())
        others = {one.id for one in named if one.domain != "person"} - set(memory.last.entities)
        return bool(others) and follow.PRONOUNS.search(said.casefold()) is not None

    def _one_of_them(self, text: str, said: str, memory: Memory) -> Decision | None:
        """What was done last to several things, of the one that is told of beside ``said``, where
        that speaks of "it": "Ann is still reading, turn it back on"."""
        last = memory.last
        if last is None or len(last.entities) < 2 or not follow.IT.search(said.casefold()):
            return None
        beside = text.replace(said, " ")
        meant = told_of(beside, last, self._tools.home.snapshot())
        return msgspec.structs.replace(last, entities=meant) if meant else None

    def _followed(self, text: str, memory: Memory, area: str) -> Decision | None:
        """What ``text`` asks for of the things that were spoken of last."""
        home = self._tools.home.snapshot()
        if all_told := all_of_them(text, memory, home):
            return follow.follow(self._router, *all_told, home)
        it = memory.spoken_of if follow.PRONOUNS.search(text.casefold()) else memory.last
        last = follow.both(text, memory) or it
        if last is None:
            return None
        found = follow.follow(self._router, text, last, home)
        before = memory.before
        if found is None and before is not None and before.tool == STATE:
            asked = follow.follow(self._router, text, before, home)
            return asked if asked and asked.tool == STATE else None
        return self._the_one_meant(found, text, last, area)

    def _the_one_meant(
        self, decision: Decision | None, text: str, last: Decision | None, area: str
    ) -> Decision | None:
        """The decision; of one thing where it was only told of several, and "it" is said."""
        if decision is None or last is None or self._tools.only_reads(decision.tool or ""):
            return decision
        if not self._tools.only_reads(last.tool or ""):
            return decision
        return the_one_meant(decision, text, last, self._tools.home.snapshot(), area)

    async def _also(self, text: str, memory: Memory, area: str) -> Decision | None:
        """What is done with something else as well: "the lights too"."""
        last, other = memory.last, follow.also(text)
        if last is None or not other or last.tool not in follow.SWITCHING:
            return None
        also = await self.decider.with_verb(other, memory.last_text, last.language, area)
        return also if also.tool == last.tool else None

    async def _of_those_meant(self, part: Part, memory: Memory, *, both: bool) -> Part:
        """The part, of what was spoken of last where it names nothing else.

        both: whether it is of two things
        """
        if both:
            decision = of_both(part.decision, self._tools.home.snapshot())
            return msgspec.structs.replace(part, decision=decision)
        said = await self.decider.mentions(part.text, part.decision.language)
        home, spoken = self._tools.home.snapshot(), (memory.told, memory.last)
        decision = of_those_meant(part.decision, part.text, said, spoken, home)
        return msgspec.structs.replace(part, decision=decision)

    def _part_followed(self, part: Part, memory: Memory, area: str) -> Part:
        """A part of a sentence that is not understood, of the things that were spoken of last."""
        further = self._followed(part.text, memory, area) if lacks(part.decision) else None
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
        if found.decision.declined:
            return Step(decision=found.decision, text=ask(found.decision.language, "declined"))
        meant = self._the_one_meant(found.decision, text, memory.last, area) or found.decision
        step = self.step_of(meant, conversation, found.said, person)
        if step.call is None and found.undo is not None:  # asked which, but not the one that was
            back = msgspec.structs.replace(found.decision, asks=None, tool=found.undo.tool)
            return Step(decision=back, call=found.undo, then=(step,))
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
            data=result.data,
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

    def _worked(self, memory: Memory) -> list[Entity]:
        """The things of what was done last."""
        return self._steps.entities(memory.last) if memory.last else []


def _of_what_is_set(part: Part, memory: Memory) -> Part:
    """The part, of the timer that is meant, or in the half of the day that was spoken of."""
    meant = of_the_timer_meant(part.decision, memory)
    meant = in_that_half(meant, part.text, memory, datetime.now(UTC))
    return msgspec.structs.replace(part, decision=meant)


def _unclear(reason: str, language: str) -> Step:
    """That nothing is done, since something that is meant is not known."""
    unclear = Decision(route="words", reason=reason, language=language)
    return Step(decision=unclear, text=ask(language, "declined"))
