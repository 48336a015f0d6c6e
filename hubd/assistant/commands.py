"""From an utterance to a tool call, through the questions back that it takes.

Decides with the router, remembers with the dialogues, and runs through the toolbox, where the
policy stands. What was said in another person's conversation confirms nothing.
"""

import asyncio
import contextlib
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Literal

import msgspec

from hubd.assistant import all_but, follow, later, revise
from hubd.assistant.decision import Decision, answering, is_open, lacks, told
from hubd.assistant.dialogue import Dialogues, Pending, says_no, says_undo, says_yes
from hubd.assistant.questions import ask
from hubd.assistant.route import Router
from hubd.assistant.semantic import Semantics
from hubd.assistant.several import TALK, Part, after_a_cry, commands_in
from hubd.assistant.understanding.grammar import MAXIMUM_UTTERANCE
from hubd.assistant.understanding.lexicon import lexicon
from hubd.assistant.understanding.mentions import Mentions, named_entities
from hubd.assistant.understanding.repairs import repairs
from hubd.assistant.understanding.spans import spans
from hubd.assistant.understanding.targets import Targets
from hubd.home.model import Entity
from hubd.policy import Person
from hubd.tools import NotConfirmedError, Speaker, ToolBox
from plugins.api import MissingArgumentError, ToolCall, ToolError, ToolResult
from plugins.when import parse

Kind = Literal["command", "statement", "question"]


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
    """What a correction comes to, said at once, or the part of a sentence that this step does."""
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
        self._tools = tools
        self.semantics = semantics
        self._router = router
        self._dialogues = dialogues
        self._routing = asyncio.Lock()
        tools.set_carry_out(self.carry_out)

    async def decide(self, text: str, language: str | None, area: str) -> Decision:
        """The decision by sentences and words, or else by likeness to examples.

        The route is ``model`` where the model would be asked.
        """
        first, *further = await self.parts(text, language, area)
        decision = first.decision
        if further:
            each = "; ".join(f"“{one.text}” {told(one.decision)}" for one in (first, *further))
            return msgspec.structs.replace(decision, reason=f"several commands: {each}")
        if decision.tool is None and not decision.declined:
            kind, _ = await self.kind(text, decision.language)
            if kind == "command":
                reason = "a command that no sentence and no word explains: the model is asked"
                return msgspec.structs.replace(decision, route="model", reason=reason)
        return decision

    async def parts(self, text: str, language: str | None, area: str) -> list[Part]:
        """The commands of ``text``: by sentences and words, else of its parts, else by likeness."""
        whole = await self._by_rules(text, language, area)
        return await self._resolved(whole, text, area)

    async def _resolved(self, whole: Decision, text: str, area: str) -> list[Part]:
        """The commands of ``text``, on which the rules decided; reworded where that is nothing."""
        parts = await self._parts(whole, text, area)
        if not all(lacks(part.decision) for part in parts) or len(text) > MAXIMUM_UTTERANCE:
            return parts
        async with self._routing:
            reworded = self._router.reworded
            others = await asyncio.to_thread(reworded, text, whole.language)
        for other in others:
            again = await self._by_rules(other, whole.language, area)
            found = await self._parts(again, other, area)
            if not any(lacks(part.decision) for part in found):
                return found
        if part := await self._of_a_span(text, whole.language, area):
            return [part]
        return parts

    async def _of_a_span(self, text: str, language: str, area: str) -> Part | None:
        """The one clause of ``text`` that asks for something, where the others say nothing."""
        known, phrases = lexicon(language), self._router.phrases(language)
        for span in await asyncio.to_thread(spans, text, known, phrases):
            async with self._routing:
                decided = all_but.decided
                found = await asyncio.to_thread(decided, self._router, span.text, language, area)
            if lacks(found) or found.tool is None or found.asks == "which":
                continue
            if self._tools.only_reads(found.tool) or not span.tells:
                return Part(text=span.text, decision=found)
        return None

    async def _parts(self, whole: Decision, text: str, area: str) -> list[Part]:
        whole = await self._for_later(whole, text, area)
        if is_open(whole) and (parts := await self._several(text, whole, area)):
            return parts
        return [Part(text=text, decision=await self._or_by_likeness(whole, text, area))]

    async def _several(self, text: str, whole: Decision, area: str) -> list[Part]:
        """The commands of a sentence that is no single one; empty where it does not join any."""
        language, known = whole.language, lexicon(whole.language)
        if rest := after_a_cry(text):
            alone = await self._parts(await self._by_rules(rest, language, area), rest, area)
            tools = [part.decision.tool for part in alone if part.decision.tool]
            if any(not tool.startswith(TALK) for tool in tools):
                return alone  # "stop, turn the lamp off" ends no timer, "stop, I'm awake" does

        async def decide(part: str, before: Decision | None, verb_of: str) -> Decision:
            snapshot = self._tools.home.snapshot()
            further = None
            if before is not None:
                further = follow.follow(self._router, part, before, snapshot, at_once=True)
            if verb_of:
                return further or await self._with_verb(part, verb_of, language, area)
            decision = await self._by_rules(part, language, area)
            if not follow.names_more(decision):
                decision = further or decision
            decision = await self._for_later(decision, part, area)
            return await self._or_by_likeness(decision, part, area)

        async def mentioned(part: str) -> Mentions:
            return await self.mentions(part, language)

        phrases = self._router.phrases(language)
        repaired = await asyncio.to_thread(repairs, text, known, phrases)
        parts = await commands_in(text, known, decide, mentioned, repaired)
        tools = [part.decision.tool for part in parts if part.decision.tool]
        lost = [known.stripped(part.text) for part in parts if not part.decision.tool]
        worked = any(known.commands(said) and known.actions_in(said) for said in lost)
        if lost and not worked and all(map(self._tools.only_reads, tools)):
            return []  # "tell me the time and place of the concert" is one question
        return parts

    async def _with_verb(self, part: str, verb_of: str, language: str, area: str) -> Decision:
        async with self._routing:
            with_verb = self._router.with_verb
            return await asyncio.to_thread(with_verb, part, verb_of, language, area)

    async def _for_later(self, decision: Decision, text: str, area: str) -> Decision:
        """The decision, or that on a command for later, where ``text`` is one that can wait."""

        async def decide(command: str) -> list[Decision]:
            return [part.decision for part in await self.parts(command, decision.language, area)]

        if decision.tool is None and not decision.declined and len(text) <= MAXIMUM_UTTERANCE:
            known = lexicon(decision.language)
            decision = await later.at_a_time(text, known, decide) or decision
        return await later.unless_unattended(decision, decide)

    async def _or_by_likeness(self, decision: Decision, text: str, area: str) -> Decision:
        if not is_open(decision) or len(text) > MAXIMUM_UTTERANCE:
            return decision
        return await self.semantics.decide(text, decision.language, area) or decision

    async def _by_rules(self, text: str, language: str | None, area: str) -> Decision:
        """The router's decision, made beside the event loop: it may take tens of milliseconds."""
        async with self._routing:  # the router keeps what it compiled
            spoken = await self._router.prepare(text, language)
            decision = await asyncio.to_thread(all_but.decided, self._router, text, spoken, area)
        if not is_open(decision):
            return decision
        speaker = Speaker(language=decision.language, area=area)
        return answering(await self._tools.answer(text, speaker), decision)

    async def mentions(self, text: str, language: str) -> Mentions:
        """What ``text`` speaks of: the evidence for or against a call."""
        async with self._routing:
            return await asyncio.to_thread(self._router.mentions, text, language)

    async def kind(self, text: str, language: str | None) -> tuple[Kind, str]:
        """What an utterance that no command explains wants, and the language it is in."""
        async with self._routing:
            spoken = await self._router.prepare(text, language)
        known = lexicon(spoken)
        said = known.fixed(known.stripped(text))
        if known.inquires(said) and not (known.commands(said, whole=False) and known.keeps(said)):
            return "question", spoken
        begins_so = known.commands(said, whole=False)
        return ("command" if begins_so else "statement"), spoken

    async def speaks_of_home(self, text: str, language: str) -> bool:
        """Whether ``text`` has to do with anything that could be worked."""
        said = await self.mentions(text, language)
        return bool(said.names or said.nouns or said.hints or said.subjects)

    async def declined(self, text: str, language: str) -> str:
        """What is said where a command is not understood: nothing was done."""
        named = named_entities(await self.mentions(text, language), self._tools.home.snapshot())
        return ask(language, "do_what" if named else "declined", named)

    async def step(
        self, text: str, conversation: str, *, language: str | None, area: str, person: Person
    ) -> Step | None:
        """What ``text`` has done or asked; ``None``: it is a question for the documents."""
        memory = self._dialogues.of(conversation)
        if (pending := memory.pending) is not None:
            memory.pending = None
            step = await self._answered(pending, text, person, area)
            if step is not None:
                return self._asked(step, conversation, text, person)
        if (cancelled := follow.cancelled(text, memory)) is not None:
            return self.step_of(cancelled, conversation, text, person)
        if says_undo(text):
            return self._undo(conversation, text, language)
        if step := await self._revised(text, conversation, area, person):
            return step
        decision = await self._by_rules(text, language, area)
        further = None
        if memory.last:
            snapshot = self._tools.home.snapshot()
            last = follow.both(text, memory) or memory.last
            further = follow.follow(self._router, text, last, snapshot)
        if further is not None and not follow.names_more(decision):
            decision = further
        elif revise.sets_a_value(text, decision.language, bare=decision.tool is not None):
            return None  # "no, fifteen" of which nobody knows what it corrects begins nothing new
        parts = await self._resolved(decision, text, area)
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
            return await self._by_rules(said, spoken, area)

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
        if step.undo is not None:
            # What opens the house is not done unasked, not even to take something back.
            with contextlib.suppress(ToolError):
                await self._tools.call(step.undo, msgspec.structs.replace(speaker, confirmed=False))
        try:
            result = await self._tools.call(step.call, speaker)
        except MissingArgumentError as error:
            decision = msgspec.structs.replace(step.decision, asks="missing")
            self._dialogues.ask(conversation, decision, text, speaker.person)
            return Outcome(call=step.call, text=str(error), ok=False, asks=True)
        except NotConfirmedError:
            decision = msgspec.structs.replace(step.decision, asks="confirm", call=step.call)
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

    async def carry_out(self, text: str, speaker: Speaker) -> str:
        """``ToolContext.carry_out``: what needs a question back is not done."""
        replies: list[str] = []
        for part in await self.parts(text, speaker.language, speaker.area):
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
                return Step(decision=plain, call=decision.call, confirmed=True)
            if says_no(text, language):
                return self._dropped(decision)
            return None
        if says_no(text, language):
            return self._dropped(decision)
        if pending.asks == "which" and decision.call is not None:
            chosen = self._chosen(text, decision)
            return self._step(chosen, pending.text, person) if chosen else None
        link = _link(decision.tool or "", text, language)
        for joined in (f"{pending.text}{link}{text}", f"{text} {pending.text}"):
            complete, *further = (p.decision for p in await self.parts(joined, language, area))
            if further:
                continue
            completed = complete.tool == decision.tool and complete.asks != "missing"
            if completed and complete.call and complete.call != decision.call:
                return self._step(complete, joined, person)
        return None

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
        key = "nothing" if decision.asks == "which" and not entities else decision.asks
        return Step(decision=decision, text=ask(decision.language, key, entities, text))

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


def _link(tool: str, text: str, language: str) -> str:
    """What joins a command and what it lacked: "seven thirty" is a time only after "at"."""
    if tool == "timers.start":
        return " for "
    now = datetime.now(UTC)
    lacks_at = parse(f"at {text}", language, now).at and not parse(text, language, now).said
    return " at " if lacks_at and language == "en" else " "
