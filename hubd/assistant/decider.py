"""What an utterance comes to: one decision, or one for each command that it joins.

Rules first, then the parts of a sentence, other words for what they do not know, one clause of it,
and likeness to examples last. Nothing is remembered and nothing is done here.
"""

import asyncio
from collections.abc import Sequence
from typing import Literal

import msgspec

from hubd.assistant import all_but
from hubd.assistant.as_named import as_named
from hubd.assistant.by_likeness.doubts import doubted
from hubd.assistant.by_likeness.excerpts import Excerpts
from hubd.assistant.by_likeness.hearing import Hearing
from hubd.assistant.by_likeness.misheard_things import heard_rightly
from hubd.assistant.by_likeness.second_opinion import asked_about
from hubd.assistant.by_likeness.semantic import Semantics
from hubd.assistant.days_left_out import on_days_kept, without_days
from hubd.assistant.decision import (
    HELPS,
    Decision,
    answering,
    declined,
    is_open,
    lacks,
    meaning,
    taken_back,
    told,
)
from hubd.assistant.for_later import later, timed
from hubd.assistant.joined.joined import Joined
from hubd.assistant.joined.misjoined import is_given_up
from hubd.assistant.may_be_meant import MayBeMeant
from hubd.assistant.music import on_its_player
from hubd.assistant.named_as_here import named_as_here
from hubd.assistant.questions import ask
from hubd.assistant.route import Router
from hubd.assistant.several import TALK, Part
from hubd.assistant.that_clauses import with_that
from hubd.assistant.understanding.chatter import behind_never_mind
from hubd.assistant.understanding.danger import trouble
from hubd.assistant.understanding.fluent import fluent
from hubd.assistant.understanding.frames import unframed
from hubd.assistant.understanding.grammar import MAXIMUM_UTTERANCE
from hubd.assistant.understanding.heard_numbers import numerals_heard
from hubd.assistant.understanding.lexicon import lexicon
from hubd.assistant.understanding.mentions import Mentions, named_entities
from hubd.assistant.understanding.names import Names
from hubd.assistant.understanding.otherwise import said_otherwise
from hubd.assistant.understanding.quarters import in_minutes
from hubd.assistant.understanding.reasons import concluded, without_reasons
from hubd.assistant.understanding.remedies import WATERING, remedy
from hubd.assistant.understanding.repairs import is_taken_back
from hubd.assistant.understanding.targets import Targets
from hubd.assistant.understanding.watched import is_watched_for
from hubd.assistant.understanding.whose import where_said
from hubd.assistant.understanding.wished import wished
from hubd.home.model import Entity, Snapshot
from hubd.tool_context import Speaker
from hubd.tools import ToolBox
from plugins.api import ToolCall
from plugins.arrivals import arrival_last

TURN_ON, OPEN = "home.turn_on", "home.open"
ONLY_THERE = frozenset({"person", "weather", "zone", "sun"})
"""Domains of what cannot be worked."""
REMEDIED = 0.7
"""How sure it is that something shall be on that nobody named."""
Kind = Literal["command", "statement", "question"]


class Decider:
    """Decides for all conversations, one utterance after the other."""

    def __init__(self, tools: ToolBox, router: Router, semantics: Semantics) -> None:
        self.semantics = semantics
        self._tools, self._router = tools, router
        self._routing = asyncio.Lock()
        self._hearing = Hearing(router, self._routing, self.by_rules)
        self._excerpts = Excerpts(self, tools, router, semantics)
        self._joined = Joined(self, tools, router)
        self._may_be_meant = MayBeMeant(self, router, semantics, self._excerpts)

    async def decide(self, text: str, language: str | None, area: str) -> Decision:
        """The decision by sentences and words, or else by likeness to examples.

        The route is ``model`` where the model would be asked.
        """
        text = await self.named_as_here(text, await self.language_of(text, language), area)
        parts = await self.parts(text, language, area)
        first, *further = await self.with_proposal(parts, text, area)
        decision = first.decision
        if further:
            each = "; ".join(f"“{one.text}” {told(one.decision)}" for one in (first, *further))
            return msgspec.structs.replace(decision, reason=f"several commands: {each}")
        if is_open(decision):
            kind, _ = await self.kind(text, decision.language)
            if kind == "command":
                reason = "a command that no sentence and no word explains: the model is asked"
                return msgspec.structs.replace(decision, route="model", reason=reason)
        return decision

    async def parts(self, text: str, language: str | None, area: str) -> list[Part]:
        """The commands of ``text``: by sentences and words, else of its parts, else by likeness."""
        return await self.resolved(await self.by_rules(text, language, area), text, area)

    async def named_as_here(self, text: str, language: str, area: str) -> str:
        """``text`` with the house's own names, where it names rooms by another language's words."""
        return await named_as_here(text, language, area, self._tools.home.snapshot(), self.parts)

    async def behind_never_mind(self, text: str, language: str | None, area: str) -> str:
        """What is to be done behind a "never mind", which takes nothing of it away: "forget it,
        turn the fan off"; empty where nothing is."""
        spoken = await self.language_of(text, language)
        if len(text) > MAXIMUM_UTTERANCE or not (rest := behind_never_mind(text, spoken)):
            return ""
        parts = await self.parts(rest, spoken, area)
        return rest if any(self._works(part) for part in parts) else ""

    def _works(self, part: Part) -> bool:
        """Whether it is clearly to be done, and ends nothing that was set."""
        decision = part.decision
        ends = (decision.tool or "").endswith((".cancel", ".never_mind", ".dismiss"))
        return self._excerpts.acts(part) and decision.route != "semantic" and not ends

    async def with_proposal(
        self, parts: list[Part], text: str, area: str, *, continues: bool = False
    ) -> list[Part]:
        """The commands, or what may be meant, to be asked back: see ``MayBeMeant``."""
        return await self._may_be_meant.with_proposal(parts, text, area, continues=continues)

    def asked_about(self, parts: Sequence[Part]) -> list[Part]:
        """The commands of ``parts`` as questions whether they are meant so."""
        home = self._router.snapshot()
        return [
            part
            if part.decision.call is None or self._excerpts.only_tells(part.decision)
            else msgspec.structs.replace(part, decision=asked_about(part.decision, part.text, home))
            for part in parts
        ]

    async def resolved(
        self, whole: Decision, text: str, area: str, *, last: Decision | None = None
    ) -> list[Part]:
        """The commands of ``text``, on which the rules decided; reworded where that is nothing.

        last: what was done before, with which its first command may go on
        """
        text = wished(numerals_heard(text, whole.language), whole.language)
        if kept := without_days(text, whole.language):
            again = await self.by_rules(kept.text, whole.language, area)
            parts = await self.resolved(again, kept.text, area, last=last)
            return [on_days_kept(part, kept.out) for part in parts]
        async with self._routing:
            by_names = self._router.by_names
            said = unframed(text, lexicon(whole.language).framing)
            named = await asyncio.to_thread(by_names, said, whole.language, area)
        parts, home = await self._resolved(whole, named, area, last), self._router.snapshot()
        if len(parts) == 1:
            decision = as_named(parts[0].decision, text, home)
            parts = [msgspec.structs.replace(parts[0], decision=decision)]
        talk = all((part.decision.tool or "").startswith(TALK) for part in parts)
        if not talk and is_taken_back(text, lexicon(whole.language)):
            return [Part(text=text, decision=taken_back(whole.language))]
        if is_given_up(parts, text):
            nothing = Decision(
                route="words", reason="it is of what is set", language=whole.language
            )
            return [Part(text=text, decision=nothing)]
        return [
            msgspec.structs.replace(
                part,
                text=text if part.text == named else part.text,
                decision=doubted(
                    with_that(
                        on_its_player(
                            await asyncio.to_thread(heard_rightly, part.decision), part.text, home
                        ),
                        text,
                    )
                ),
            )
            for part in parts
        ]

    async def _resolved(
        self, whole: Decision, text: str, area: str, last: Decision | None
    ) -> list[Part]:
        asks = self._excerpts.only_tells(whole)
        if (asks or is_open(whole)) and (meant := said_otherwise(text, whole.language, asks=asks)):
            told_to = Part(text=meant, decision=await self.by_rules(meant, whole.language, area))
            if self._excerpts.acts(told_to):
                return [told_to]
        if part := await self._excerpts.without_its_reason(whole, text, area):
            return [part]
        if is_open(whole) and (part := await self._hearing.likelier(text, whole.language, area)):
            return [part]
        if parts := await self._excerpts.of_its_beginning(whole, text, area, sure=True):
            return parts
        parts = await self.commands_of(whole, text, area, last)
        if not all(lacks(part.decision) for part in parts) or len(text) > MAXIMUM_UTTERANCE:
            return parts
        if said := without_reasons(text, lexicon(whole.language)):
            alone = await self.by_rules(said, whole.language, area)
            found = await self.commands_of(alone, said, area)
            if all(self._excerpts.acts(part) or self._excerpts.answers(part) for part in found):
                return found
        for other in await self._in_other_words(text, whole.language):
            again = await self.by_rules(other, whole.language, area)
            found = await self.commands_of(again, other, area)
            if not any(lacks(part.decision) for part in found):
                return found
        if found := await self._concluded(text, whole.language, area):
            return found
        part = await self._excerpts.of_a_span(text, whole.language, area)
        part = part or await self._hearing.sounds_like(text, whole.language, area, exactly=False)
        if part is None and not is_open(whole):
            part = await self._hearing.likelier(text, whole.language, area)
        return [part] if part else parts

    async def _concluded(self, text: str, language: str, area: str) -> list[Part]:
        """The command that ``text`` concludes with, where nothing before it names anything."""
        told, command = concluded(text, lexicon(language))
        said = await self.mentions(told, language) if command else None
        if said is None or said.actions or said.numbers or said.colors or said.subjects:
            return []
        if said.names or said.areas or said.floors or said.nouns or said.everything:
            return []
        alone = await self.by_rules(command, language, area)
        found = await self.commands_of(alone, command, area)
        named = (part.decision.asks is None and bool(part.decision.entities) for part in found)
        return found if all(named) and all(map(self._excerpts.acts, found)) else []

    async def _in_other_words(self, text: str, language: str) -> list[str]:
        """What ``text`` may be as well, likeliest first."""
        known = lexicon(language)
        async with self._routing:
            reworded = await asyncio.to_thread(self._router.reworded, text, language)
        if known.corrected(text):  # else what was said by mistake would be taken for meant
            reworded = [other for other in reworded if known.corrected(other)]
        counted = in_minutes(text, language)
        return [*reworded, counted] if counted != text else list(reworded)

    async def _remedied(self, text: str, language: str, area: str) -> Part | None:
        """What helps against what ``text`` complains of, if the room has just one such thing."""
        said, snapshot = await self.mentions(text, language), self._router.snapshot()
        place = Names.area(snapshot, area) if area else None
        found = remedy(text, said, snapshot, place.id if place else "", lexicon(language))
        if found is None:
            return None
        thing, tool = found.thing, OPEN if found.thing.domain == WATERING else TURN_ON
        decision = Decision(
            route="semantic" if found.asked else "words",
            tool=tool,
            entities=[thing.id],
            score=REMEDIED,
            reason=f"{thing.name} {HELPS}",
            call=ToolCall(tool=tool, arguments={"entities": [thing.id]}),
            language=language,
        )
        decision = self._router.asking(decision, Targets((thing,)))
        if found.asked and decision.asks is None:
            decision = msgspec.structs.replace(decision, asks="confirm", proposed=True)
        return Part(text=text, decision=decision)

    async def commands_of(
        self, whole: Decision, text: str, area: str, last: Decision | None = None
    ) -> list[Part]:
        """The commands of ``text`` as it is said, on which the rules decided.

        last: what was done before, with which its first command may go on
        """
        language, joined = whole.language, self._joined
        for taken_apart in (
            joined.event_and_reminder,
            joined.reminders,
            joined.timers,
            joined.alarms,
        ):
            if parts := await taken_apart(text, language, area):
                return parts
        if is_open(whole) and (parts := await joined.at_times(text, language, area)):
            return parts
        whole = await self.for_later(whole, text, area)
        if is_open(whole) and (parts := await joined.in_turn(text, whole, area, last)):
            return parts
        of_nothing = whole.asks == "which" and not whole.entities
        part = None
        if is_open(whole) or of_nothing:
            part = await self._remedied(text, language, area)
        if part is None and is_open(whole) and len(text) <= MAXIMUM_UTTERANCE:
            part = await self._hearing.sounds_like(text, language, area, exactly=True)
        if part is not None and not part.decision.proposed:
            return [part]
        decision = await self.or_by_likeness(whole, text, area)
        return [part] if part and lacks(decision) else [Part(text=text, decision=decision)]

    async def with_verb(self, part: str, verb_of: str, language: str, area: str) -> Decision:
        """The decision on ``part``, which only names things, with the verb of another text."""
        async with self._routing:
            with_verb = self._router.with_verb
            return await asyncio.to_thread(with_verb, part, verb_of, language, area)

    async def for_later(self, decision: Decision, text: str, area: str) -> Decision:
        """The decision, or that on a command for later, where ``text`` is one that can wait."""

        async def decide(command: str) -> list[Decision]:
            return [part.decision for part in await self.parts(command, decision.language, area)]

        if decision.tool is None and not decision.declined and len(text) <= MAXIMUM_UTTERANCE:
            known = lexicon(decision.language)
            decision = await later.at_a_time(text, known, decide) or decision
        decision = await later.unless_unattended(decision, decide)
        return await later.unless_empty(decision, decide)

    async def or_by_likeness(self, decision: Decision, text: str, area: str) -> Decision:
        """The decision, or where it is open the one by likeness to examples."""
        if not is_open(decision) or len(text) > MAXIMUM_UTTERANCE:
            return decision
        area = where_said(text, decision.language, area)
        found = await self.semantics.decide(text, decision.language, area) or decision
        worked = bool(found.entities) and not self._tools.only_reads(found.tool or "")
        if worked and timed.says_when_again(text, decision.language):
            return decision
        if worked and await self._names_apart(text, decision.language):
            return decision  # "the kitchen and the radio": of one alone it would be half
        return found

    async def _names_apart(self, text: str, language: str) -> bool:
        async with self._routing:
            return await asyncio.to_thread(self._router.names_apart, text, language)

    async def by_rules(self, text: str, language: str | None, area: str) -> Decision:
        """The router's decision, made beside the event loop: it may take tens of milliseconds."""
        async with self._routing:  # the router keeps what it compiled
            spoken = await self._router.prepare(text, language)
        area = where_said(text, spoken, area)
        if kept := without_days(text, spoken):
            decision = await self.by_rules(kept.text, spoken, area)
            return on_days_kept(Part(text=text, decision=decision), kept.out).decision
        if len(text) <= MAXIMUM_UTTERANCE:
            text = arrival_last(unframed(text, lexicon(spoken).framing), spoken)
            speaker = Speaker(language=spoken, area=area)
            for said in dict.fromkeys((fluent(text, spoken), text)):
                if (call := await self._tools.meant(said, speaker)) is not None:
                    return meaning(call, spoken)
        if is_watched_for(text, spoken):
            return declined(spoken, "not_awaited")
        decision = later.as_alarm(await self.by_sentences(text, spoken, area))
        if is_open(decision) and (alone := timed.without_and(text)) != text:
            decision = later.as_alarm(await self.by_sentences(alone, spoken, area))
        if not is_open(decision):
            return decision
        speaker = Speaker(language=decision.language, area=area)
        forms = (text, fluent(text, spoken), lexicon(decision.language).stripped(text))
        for form in dict.fromkeys(forms):
            if (answer := await self._tools.answer(form, speaker)) is not None:
                return answering(answer, decision)
        return answering(None, decision)

    async def language_of(self, text: str, language: str | None) -> str:
        """The language that ``text`` is in."""
        async with self._routing:
            return await self._router.prepare(text, language)

    async def by_sentences(self, text: str, language: str, area: str) -> Decision:
        """The router's decision alone."""
        async with self._routing:
            return await asyncio.to_thread(all_but.decided, self._router, text, language, area)

    async def mentions(self, text: str, language: str) -> Mentions:
        """What ``text`` speaks of: the evidence for or against a call."""
        async with self._routing:
            return await asyncio.to_thread(self._router.mentions, text, language)

    async def kind(self, text: str, language: str | None) -> tuple[Kind, str]:
        """What an utterance that no command explains wants, and the language it is in."""
        async with self._routing:
            spoken = await self._router.prepare(text, language)
        if trouble(text, spoken):
            return "question", spoken
        known = lexicon(spoken)
        said = known.fixed(known.stripped(text))
        if known.inquires(said) and not (known.commands(said, whole=False) and known.keeps(said)):
            return "question", spoken
        begins_so = known.commands(said, whole=False)
        return ("command" if begins_so else "statement"), spoken

    async def speaks_of_home(self, text: str, language: str) -> bool:
        """Whether ``text`` has to do with anything that could be worked."""
        said = await self.mentions(text, language)
        workable = _workable(said, self._tools.home.snapshot())
        return bool(workable or said.nouns or said.hints or said.subjects)

    async def declined(self, text: str, language: str) -> str:
        """What is said where a command is not understood: nothing was done."""
        if not self._tools.home.snapshot().entities:
            return ask(language, "no_devices")
        said = await self.mentions(text, language)
        for room in said.rooms_not_here:
            at = text.lower().find(room)
            return ask(language, "no_room", said=text[at : at + len(room)] if at >= 0 else room)
        named = _workable(said, self._tools.home.snapshot())
        return ask(language, "do_what" if named else "declined", named)


def _workable(said: Mentions, snapshot: Snapshot) -> list[Entity]:
    """The things that are named and could be worked: no people, and not the weather."""
    return [one for one in named_entities(said, snapshot) if one.domain not in ONLY_THERE]
