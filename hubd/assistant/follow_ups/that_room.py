"""A command for the room that was spoken of last: „dann mach da mal den Lüfter an“, "turn the fan
on in there", 把那边的灯打开.

Nobody is meant by it who names a room or a thing: „mach da mal das Hoflicht aus“.
"""

import re

from hubd.assistant.decision import Decision
from hubd.assistant.understanding.lexicon import lexicon
from hubd.assistant.understanding.names import called
from hubd.assistant.understanding.plain import plain
from hubd.home.model import Area, Entity, Floor, Snapshot

_THERE = {
    "en": re.compile(r"\b(?:in|over) there\b|(?<=\w) there(?=[.!]*$)", re.IGNORECASE),
    "de": re.compile(
        r"(?<=\w )(?:da|dort)(?: (?:drin|drinnen|drüben|oben|unten))?"
        r"(?= (?:(?:mal|bitte|auch|noch|doch|jetzt|gleich) )*(?:den|die|das|alle|ein)\b)",
        re.IGNORECASE,
    ),
    "zh": re.compile(
        "(?<=[把将给])?那(?:边|里|儿|屋|间)里?的?(?=[^，,]{1,6}(?:打|开|关|调|拉|放))"
    ),
}
_IN = {"en": " in the {}", "de": "in {}", "zh": "{}的"}


def in_that_room(text: str, spoken_of: Decision | None, home: Snapshot) -> str:
    """``text`` with the room by its name; as it is where it is no such command, or no single room
    was spoken of."""
    there = _THERE.get(spoken_of.language) if spoken_of else None
    if spoken_of is None or there is None or not there.search(text):
        return text
    room = _room_of(spoken_of, home)
    known = lexicon(spoken_of.language)
    if (
        room is None
        or not known.commands(known.stripped(text), whole=False)
        or known.subjects(text)
        or _names(text, home)
    ):
        return text
    return there.sub(_IN[spoken_of.language].format(room.name), text, count=1).strip()


def _room_of(spoken_of: Decision, home: Snapshot) -> Area | None:
    """The one room in which all of it is that was worked or asked about."""
    of_it = {one.area for one in home.entities if one.id in spoken_of.entities}
    rooms = [area for area in home.areas if area.id in of_it]
    return rooms[0] if len(of_it) == len(rooms) == 1 else None


def _names(text: str, home: Snapshot) -> bool:
    """Whether a room, a floor or a thing is called in it by its own name."""
    said = f" {plain(text)} "
    here: list[Area | Floor | Entity] = [*home.areas, *home.floors, *home.entities]
    named = [name for one in here for name in called(one)]
    spaced = " " if re.search(r"[a-z]", said) else ""
    return any(f"{spaced}{plain(name)}{spaced}" in said for name in named)
