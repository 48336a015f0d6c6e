"""The commands of an utterance that joins several: two reminders, an event and a reminder of it,
commands each for a time of their own, and what "and", "then" and commas hold together.
"""

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Protocol

from hubd.assistant.by_likeness.timer_names import (
    with_timer_alone,
    with_timer_named,
    with_what_is_on,
)
from hubd.assistant.decision import Decision, lacks
from hubd.assistant.dialogue import Memory
from hubd.assistant.follow_ups import follow
from hubd.assistant.follow_ups.continued import continued
from hubd.assistant.follow_ups.listed import also_listed
from hubd.assistant.follow_ups.named_ones import with_it_named_closer
from hubd.assistant.follow_ups.set_for_a_time import ALARM, EVENT, REMINDER, and_remind
from hubd.assistant.for_later import later, timed
from hubd.assistant.joined.as_one import (
    with_items_joined,
    with_its_time,
    with_same_player,
    without_a_cry,
    without_its_noise,
    without_its_occasion,
)
from hubd.assistant.joined.complained import (
    complains,
    helps_there,
    of_that_room,
    without_complaints,
)
from hubd.assistant.joined.each_reminded import each_reminded
from hubd.assistant.joined.each_timed import each_timed
from hubd.assistant.joined.each_woken import each_woken
from hubd.assistant.joined.misjoined import is_misjoined, of_something_else
from hubd.assistant.no_request import only_of_people
from hubd.assistant.route import Router
from hubd.assistant.several import TALK, Part, after_a_cry, commands_in
from hubd.assistant.understanding.fill import TIMER
from hubd.assistant.understanding.grammar import MAXIMUM_UTTERANCE
from hubd.assistant.understanding.lexicon import Lexicon, lexicon
from hubd.assistant.understanding.mentions import Mentions
from hubd.assistant.understanding.names import Names
from hubd.assistant.understanding.repairs import repairs
from hubd.tools import ToolBox


class Rules(Protocol):
    """Who decides on each of the commands."""

    async def by_rules(self, text: str, language: str | None, area: str) -> Decision:
        """The decision by sentences and words, and by what plugins know."""
        ...

    async def for_later(self, decision: Decision, text: str, area: str) -> Decision:
        """The decision, or that on a command for later."""
        ...

    async def or_by_likeness(self, decision: Decision, text: str, area: str) -> Decision:
        """The decision, or that by likeness to examples where it is open."""
        ...

    async def with_verb(self, part: str, verb_of: str, language: str, area: str) -> Decision:
        """The decision on what only names things, with the verb of another text."""
        ...

    async def mentions(self, text: str, language: str) -> Mentions:
        """What a text speaks of."""
        ...

    async def commands_of(self, whole: Decision, text: str, area: str) -> list[Part]:
        """The commands of a text on which the rules decided."""
        ...


class Joined:
    """Takes utterances apart, and does nothing. Each method gives no parts where it is none of
    those that it is for."""

    def __init__(self, rules: Rules, tools: ToolBox, router: Router) -> None:
        self._rules, self._tools, self._router = rules, tools, router

    async def event_and_reminder(self, text: str, language: str, area: str) -> list[Part]:
        """An event that is put down, and a reminder of it."""
        said = and_remind(text, language)
        if said is None:
            return []
        event, reminder = said
        first = await self._rules.by_rules(event, language, area)
        second = continued(reminder, Memory(last=first)) if first.tool == EVENT else None
        if second is None:
            return []
        return [Part(text=event, decision=first), Part(text=reminder, decision=second)]

    async def reminders(self, text: str, language: str, area: str) -> list[Part]:
        """Two reminders, each with a time of its own."""
        each = [
            Part(text=one, decision=await self._rules.by_rules(one, language, area))
            for one in each_reminded(text, language)
        ]
        return each if all(part.decision.tool == REMINDER for part in each) else []

    async def timers(self, text: str, language: str, area: str) -> list[Part]:
        """Several timers, each of a length of its own."""
        each = [
            Part(text=one, decision=await self._rules.by_rules(one, language, area))
            for one in each_timed(text, language)
        ]
        return each if all(part.decision.tool == TIMER for part in each) else []

    async def alarms(self, text: str, language: str, area: str) -> list[Part]:
        """Several alarms, each for a time of its own."""
        each = [
            Part(text=one, decision=await self._rules.by_rules(one, language, area))
            for one in each_woken(text, language, datetime.now(UTC))
        ]
        return each if all(part.decision.tool == ALARM for part in each) else []

    async def at_times(self, text: str, language: str, area: str) -> list[Part]:
        """A command for a while, or several that are each for a time of their own."""

        async def decide(command: str) -> list[Decision]:
            return [await self._rules.by_rules(command, language, area)]

        if found := await later.for_a_while(text, lexicon(language), decide):
            return [Part(text=command, decision=decision) for command, decision in found]
        if len(text) > MAXIMUM_UTTERANCE:
            return []
        left = await later.at_several_times(text, lexicon(language), decide)
        return [
            Part(
                text=str(one.arguments["command"]),
                decision=await later.unless_unattended(one, decide),
            )
            for one in left
        ]

    async def in_turn(
        self, text: str, whole: Decision, area: str, last: Decision | None
    ) -> list[Part]:
        """Commands one after the other, of which a later one may name only what is other.

        whole: what the rules decided on all of it
        last: what was done before, with which the first may go on
        """
        rules, language, known = self._rules, whole.language, lexicon(whole.language)
        if timed.joins_days(text, language) or timed.is_awaited(text, language):
            return []
        if rest := after_a_cry(text):
            alone = await self._alone(rest, language, area)
            tools = [part.decision.tool for part in alone if part.decision.tool]
            if any(not tool.startswith(TALK) for tool in tools):
                return alone  # "stop, turn the lamp off" ends no timer, "stop, I'm awake" does

        async def decide(part: str, before: Decision | None, verb_of: str) -> Decision:
            snapshot = self._tools.home.snapshot()
            further = listed = None
            if before is not None:
                further = follow.follow(self._router, part, before, snapshot, at_once=True)
                listed = also_listed(self._router, part, before, text[: text.find(part)])
            elif last is not None and text.startswith(part):
                further = follow.follow(self._router, part, last, snapshot)
            if verb_of:
                return further or listed or await rules.with_verb(part, verb_of, language, area)
            if before is not None:
                things = [one.name for one in snapshot.entities if one.id in before.entities]
                part = later.of_what_was_left(part, before, "", things)
            decision = await self._by_rules_there(part, text, language, area)
            if listed and lacks(decision):
                return listed
            if not follow.names_more(decision):
                decision = further or decision
            decision = await rules.for_later(decision, part, area)
            return await rules.or_by_likeness(decision, part, area)

        async def mentioned(part: str) -> Mentions:
            return await rules.mentions(part, language)

        phrases = self._router.phrases(language)
        repaired = await asyncio.to_thread(repairs, text, known, phrases)
        parts = await commands_in(
            text, known, decide, mentioned, repaired, self._router.phrases(language).people
        )
        parts = with_same_player(with_its_time(with_items_joined(parts)))
        parts = without_its_noise(without_a_cry(parts), known) if parts else parts
        parts = await self._without_complaints(without_its_occasion(parts), text, known)
        if parts:
            parts = with_it_named_closer(with_timer_named(with_timer_alone(parts)))
            parts = with_what_is_on(parts)
        if is_misjoined(parts, text, known, self._tools.only_reads):
            return []
        if of_something_else(parts, text, known) and await self._names_none(parts):
            return []  # "the timer I stopped, let it carry on" plays no music
        return self._without_what_is_told(parts, known)

    async def _by_rules_there(self, part: str, text: str, language: str, area: str) -> Decision:
        """The decision by rules on a part; in the room of which ``text`` complains before it, where
        it is a wish that follows from that: "it's hot in the study, turn on the fan"."""
        before, home = text[: max(text.find(part), 0)], self._tools.home.snapshot()
        if before.strip() and of_that_room(await self._rules.mentions(part, language)):
            said = await self._rules.mentions(before, language)
            room = Names.area(home, said.areas[0]) if len(said.areas) == 1 else None
            if room is not None and complains(said, lexicon(language)):
                there = await self._rules.by_rules(part, language, room.id)
                if helps_there(there):
                    return there
        return await self._rules.by_rules(part, language, area)

    async def _without_complaints(self, parts: list[Part], text: str, known: Lexicon) -> list[Part]:
        """The parts without what is only complained of before the wish that follows from it."""
        complaints = [
            part.text
            for part in parts[:-1]
            if complains(await self._rules.mentions(part.text, known.language), known)
        ]
        return without_complaints(parts, complaints, text, self._tools.home.snapshot())

    def _without_what_is_told(self, parts: list[Part], known: Lexicon) -> list[Part]:
        """Without what only hints at something beside a question, which is what is asked for:
        "it's freezing in here, what's the temperature?"; and without where somebody is beside what
        is done: "Ann's gone out, turn her lamp off"."""
        of_things = [part for part in parts if not only_of_people(part.decision, part.text)]
        parts = of_things if any(part.decision.entities for part in of_things) else parts
        asked = [part for part in parts if self._tools.only_reads(part.decision.tool or "")]
        told = [part for part in parts if part not in asked]
        if not asked or parts[-1] not in asked or not known.inquires(asked[-1].text):
            return parts
        hints = not any(known.commands(known.stripped(part.text), whole=False) for part in told)
        return asked if hints else parts

    async def _alone(self, text: str, language: str, area: str) -> list[Part]:
        whole = await self._rules.by_rules(text, language, area)
        return await self._rules.commands_of(whole, text, area)

    async def _names_none(self, parts: Sequence[Part]) -> bool:
        """Whether a part works a thing that it does not name."""
        for part in parts:
            if part.decision.entities and not self._tools.only_reads(part.decision.tool or ""):
                said = await self._rules.mentions(part.text, part.decision.language)
                if not (said.names or said.areas or said.nouns):
                    return True
        return False
