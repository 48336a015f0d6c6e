"""From an utterance to a tool call, through the questions back that it takes.

Decides with the router, remembers with the dialogues, and runs through the toolbox, where the
policy stands. What was said in another person's conversation confirms nothing.
"""

from datetime import UTC, datetime

import msgspec

from hubd.assistant.by_likeness.semantic import Semantics
from hubd.assistant.decider import Decider
from hubd.assistant.decision import Decision, lacks, of_what_is_there
from hubd.assistant.dialogue import Dialogues, Memory
from hubd.assistant.execution import Execution
from hubd.assistant.follow_ups import follow, revise
from hubd.assistant.follow_ups.behind_remarks import (
    OF_ANY_WORDS,
    behind_remarks,
    beside_a_remark,
    goes_on_alike,
)
from hubd.assistant.follow_ups.besides_it import besides_it
from hubd.assistant.follow_ups.corrections import corrects
from hubd.assistant.follow_ups.exchanged_items import exchanged
from hubd.assistant.follow_ups.going_on import goes_on
from hubd.assistant.follow_ups.in_full import in_full, of_it_in_full
from hubd.assistant.follow_ups.narrowed import narrowed
from hubd.assistant.follow_ups.of_a_timer import of_a_timer
from hubd.assistant.follow_ups.of_events import asked_when, put_in
from hubd.assistant.follow_ups.of_lists import on_other_list
from hubd.assistant.follow_ups.of_set import (
    all_given_up,
    another_done,
    of_its_order,
    of_the_timer_meant,
    of_what_was_set,
    put_right,
)
from hubd.assistant.follow_ups.of_the_last import without_both
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
from hubd.assistant.spoken_of import SpokenOf
from hubd.assistant.step import Outcome, Step, Steps
from hubd.assistant.understanding.awaited import awaited
from hubd.assistant.understanding.chatter import without_openings
from hubd.assistant.understanding.danger import trouble
from hubd.assistant.understanding.lexicon import lexicon
from hubd.assistant.understanding.people import people
from hubd.assistant.understanding.reasons import without_people, without_reasons
from hubd.assistant.understanding.values import of_a_quality
from hubd.policy import Person
from hubd.tool_context import Speaker
from hubd.tools import ToolBox
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
        self._spoken_of = SpokenOf(tools, router, self.decider)
        self.execution = Execution(tools, self.decider, dialogues, self._steps)
        self._questions = QuestionsBack(self.decider, router, tools, self._steps)
        tools.set_carry_out(self.execution.carry_out)

    async def step(
        self, text: str, conversation: str, *, language: str | None, area: str, person: Person
    ) -> Step | None:
        """What ``text`` has done or asked; ``None``: it is a question for the documents."""
        memory = self._dialogues.of(conversation)
        spoken = await self.decider.language_of(text, language)
        if memory.pending is None or memory.pending.decision.asks != "missing":
            text = await self.decider.named_as_here(text, spoken, area)
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
        if not (text := in_full(text, memory, self._spoken_of.worked(memory), home, spoken, now)):
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
        text = of_it_in_full(text, memory, self._spoken_of.worked(memory))
        if step := await self._without_its_reason(text, conversation, language, area, person):
            return step
        if step := await self._going_on(text, conversation, language, area, person):
            return step
        decision = await self.decider.by_rules(text, language, area)
        further = self._spoken_of.followed(text, memory, area)
        further = further or await self._spoken_of.also(text, memory, area)
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
            parts = [await self._spoken_of.of_those_meant(parts[0], memory, both=bool(both))]
        if len(parts) > 1:
            parts = [self._spoken_of.part_followed(part, memory, area) for part in parts]
            parts = without_chatter(parts, self._tools.home.snapshot())
        if all(lacks(part.decision) or part.decision.proposed for part in parts) and (
            step := await self._among_remarks(text, conversation, language, area, person)
        ):
            return step
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
        timed = of_a_timer(text, memory)
        continued = None if timed else goes_on(text, memory, home, datetime.now(UTC), area)
        continued = self._spoken_of.the_one_meant(continued, text, memory.last, area)
        of_set = of_what_was_set(text, memory) or timed
        if continued is None and of_set is not None:
            named = await self.decider.by_rules(text, of_set.language, area)
            other = of_what_is_there(named) and not of_its_order(of_set)
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
            names = [one.name for one in self._spoken_of.worked(memory)]
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
        if another_done(text, memory):
            return None  # "the noodles are out, cancel that one" is of no fish timer
        if on_other_list(self._router, text, memory):
            return None  # "put a torch, matches and rope on there" has no reason in it
        said = "" if known.corrected(text) else without_reasons(text, known)
        assert memory.last is not None
        if memory.last.entities or memory.last.tool == LATER:
            here = people(self._tools.home.snapshot(), known.language)
            said = said or without_people(text, known, here)
            said = said or await behind_remarks(text, known, self.decider.mentions)
        if not said or said == text or await self._spoken_of.tells_of_others(text, said, memory):
            return None
        if it := self._spoken_of.one_of_them(text, said, memory):
            memory = msgspec.structs.replace(memory, last=it)
        elif step := await self._going_on(said, conversation, language, area, person):
            return step
        alone = await self.decider.by_rules(said, language, area)
        further = self._spoken_of.followed(said, memory, area)
        elliptic = follow.is_of_its_kind(said)
        if further is None or (follow.names_more(alone) and not elliptic):
            return None
        return self.step_of(further, conversation, said, person)

    async def _among_remarks(
        self, text: str, conversation: str, language: str | None, area: str, person: Person
    ) -> Step | None:
        """The step of the clause of ``text`` that goes on with the timer, the event or whatever was
        set last, where the others only tell something: "make it twelve, the rice is still hard"."""
        last, mentioned = self._dialogues.of(conversation).last, self.decider.mentions
        if last is None or last.entities or (last.tool or "").startswith(OF_ANY_WORDS):
            return None
        if (known := lexicon(last.language)).corrected(text):
            return None
        if not (said := await beside_a_remark(text, known, mentioned)):
            return None
        if step := await self._going_on(said, conversation, language, area, person):
            return step
        alone = await self.decider.by_rules(said, language, area)
        alike = goes_on_alike(alone, last)
        return self.step_of(alone, conversation, said, person) if alike else None

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
        meant = (
            self._spoken_of.the_one_meant(found.decision, text, memory.last, area) or found.decision
        )
        step = self.step_of(meant, conversation, found.said, person)
        if step.call is None and found.undo is not None:  # asked which, but not the one that was
            back = msgspec.structs.replace(found.decision, asks=None, tool=found.undo.tool)
            return Step(decision=back, call=found.undo, then=(step,))
        if found.kept is not None:
            memory.undo = found.kept
            step = msgspec.structs.replace(step, further=True)
        return msgspec.structs.replace(step, undo=found.undo, said=found.said)

    async def run(self, step: Step, text: str, conversation: str, speaker: Speaker) -> Outcome:
        """Call the step's tool and remember it."""
        return await self.execution.run(step, text, conversation, speaker)

    def step_of(self, decision: Decision, conversation: str, text: str, person: Person) -> Step:
        """What a decision has done or asked."""
        decision = besides_it(decision, text, self._dialogues.of(conversation))
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


def _of_what_is_set(part: Part, memory: Memory) -> Part:
    """The part, of the timer that is meant, or in the half of the day that was spoken of."""
    meant = of_the_timer_meant(part.decision, memory)
    meant = in_that_half(meant, part.text, memory, datetime.now(UTC))
    return msgspec.structs.replace(part, decision=meant)


def _unclear(reason: str, language: str) -> Step:
    """That nothing is done, since something that is meant is not known."""
    unclear = Decision(route="words", reason=reason, language=language)
    return Step(decision=unclear, text=ask(language, "declined"))
