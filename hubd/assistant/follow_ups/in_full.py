"""What is said of what was done before, in words that stand alone: "at the same time", "in her
room", „und der um sechs“, "another one for the toast".
"""

import re
from collections.abc import Sequence
from datetime import datetime

from hubd.assistant.dialogue import Memory
from hubd.assistant.follow_ups.completed import completed
from hubd.assistant.follow_ups.later_of_it import at_that_time, of_it_later, says_that_time
from hubd.assistant.follow_ups.of_a_timer import of_a_timer
from hubd.assistant.follow_ups.of_events import of_events
from hubd.assistant.follow_ups.of_set import timer_told
from hubd.assistant.follow_ups.that_room import in_that_room
from hubd.assistant.follow_ups.their_room import in_their_room, of_their_own, says_their_room
from hubd.assistant.follow_ups.their_things import of_their_things
from hubd.assistant.for_later.later import of_what_was_left
from hubd.home.model import Entity, Snapshot

_THEN = re.compile("(?:等)?(?:到)?(?:那个时候|那时候?|到时候|届时)(?!提前)")
"""A time that something before must have told."""


def in_full(
    text: str,
    memory: Memory,
    worked: Sequence[Entity],
    home: Snapshot,
    language: str,
    now: datetime,
) -> str:
    """``text`` in full, or as it is; empty where it is of a room or a time that is not known.

    worked: what was worked last
    """
    whole = _in_the_room_meant(of_their_own(text, home, language), memory, home, language)
    if whole and memory.pending is None:
        whole = in_that_room(whole, memory.told or memory.last, home)
        whole = of_their_things(whole, memory.last, home, language)
    whole = _at_the_time_meant(whole, memory, now) if whole else ""
    whole = of_what_was_left(whole, memory.last, memory.last_text, [one.name for one in worked])
    if not whole or (timer_told(memory) and of_a_timer(whole, memory)):
        return whole  # 再来五分钟 is more of the timer that was asked about
    return completed(whole, memory.announced if memory.announced_last else memory.last)


def of_it_in_full(text: str, memory: Memory, worked: Sequence[Entity]) -> str:
    """A command for later of what was worked last, in full; ``text`` where it is none."""
    whole = of_it_later(text, memory.last, list(worked))
    if whole == text:
        return text
    return of_what_was_left(whole, memory.last, memory.last_text, [one.name for one in worked])


def _in_the_room_meant(text: str, memory: Memory, home: Snapshot, language: str) -> str:
    if memory.pending is not None or not says_their_room(text, language):
        return text
    if whose := in_their_room(text, memory.last, home, language):
        return whose
    unknown = language == "zh" and memory.last is not None and memory.last.entities
    return "" if unknown else text


def _at_the_time_meant(text: str, memory: Memory, now: datetime) -> str:
    last = memory.last
    if memory.pending is not None or of_events(text, memory, now) is not None:
        return text  # "on Monday at the same time" is of the event
    if last is not None and says_that_time(text, last):
        return at_that_time(text, last, now)
    return "" if _THEN.match(text) else text
