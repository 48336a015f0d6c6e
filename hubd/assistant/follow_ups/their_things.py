"""Somebody's thing without their name: "Tom's off to bed, turn off his light", „mach
seins auch aus“, 把他的灯关了.

Whose it is is said before, or they were told of last; "hers" is of the kind that was worked last,
and of somebody else. A room is somebody's that is called after them. Words and
what is remembered: decides and does nothing.
"""

import re

from hubd.assistant.decision import Decision
from hubd.assistant.understanding.kinds import class_of
from hubd.assistant.understanding.lexicon import lexicon
from hubd.assistant.understanding.plain import NEVER
from hubd.assistant.understanding.whose import (
    THING,
    in_room,
    is_room_of,
    of_who_is_named,
    owners,
    rooms_of_who_is_named,
)
from hubd.home.model import Area, Snapshot

_ALONE = {
    "en": re.compile(
        r"\b(?:hers|theirs|his(?= (?:up|down|on|off|to|too|as well|back|by|open|shut)\b))\b",
        re.IGNORECASE,
    ),
    "de": re.compile(
        r"\b(?:seins|ihrs|(?:seine|ihre)[ns]?(?= (?:an|aus|auf|zu|hoch|runter|auch|um|ein)\b))\b",
        re.IGNORECASE,
    ),
    "zh": re.compile("[他她]的(?:那[个台盏])?(?=[也再关开调])"),
}


def of_their_things(text: str, last: Decision | None, home: Snapshot, language: str) -> str:
    """``text`` with the room, or the name, of what is somebody's; empty where it works something of
    nobody knows whom; as it stands where it is of no such thing."""
    if language not in THING or (known := lexicon(language)).subjects(text):
        return text
    if (meant := of_who_is_named(text, home, language)) != text:
        return meant
    if found := THING[language].search(text):
        room = _room_of_who_was_told_of(last, home, language)
        if room is not None:
            owned = in_room(found["thing"], room, language)
            return text[: found.start()] + owned + text[found.end() :]
        return "" if known.commands(known.stripped(text), whole=False) else text
    if (found := _ALONE.get(language, NEVER).search(text)) and last is not None:
        others = _alike_of_others(text[: found.start()], last, home, language)
        return text[: found.start()] + others[0] + text[found.end() :] if len(others) == 1 else text
    return text


def _owned(home: Snapshot, language: str) -> list[Area]:
    """The rooms that are called after somebody."""
    return [one for one in home.areas if owners(one, home, language)]


def _room_of_who_was_told_of(last: Decision | None, home: Snapshot, language: str) -> Area | None:
    """The one room of who was told of last."""
    told = [one for one in home.entities if last is not None and one.id in last.entities]
    people = [one for one in told if one.domain == "person"]
    rooms = [one for who in people for one in home.areas if is_room_of(one, who, language)]
    return rooms[0] if len(rooms) == 1 else None


def _alike_of_others(said: str, last: Decision, home: Snapshot, language: str) -> list[str]:
    """The names of what is of the kind that was worked last in the room of who is named, else in
    the rooms of all others."""
    worked = [one for one in home.entities if one.id in last.entities]
    kinds = {(one.domain, class_of(one)) for one in worked}
    rooms = {
        one.id for one in rooms_of_who_is_named(said, home, language) or _owned(home, language)
    }
    return [
        one.name
        for one in home.entities
        if one.area in rooms and (one.domain, class_of(one)) in kinds and one not in worked
    ]
