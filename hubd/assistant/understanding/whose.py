"""Whose a thing is that is said to be "his": that of who is named in the same breath, and never
that of the room where it is said. "Callum's out and left his light on", 奶奶睡了，把她的灯关了.

A room is somebody's that is called after them, and so is a thing. Words alone: decides nothing.
"""

import re
from collections.abc import Iterator

from hubd.assistant.understanding.lexicon import lexicon
from hubd.assistant.understanding.names import called
from hubd.assistant.understanding.plain import plain
from hubd.home.model import Area, Entity, Snapshot

THING = {
    "en": re.compile(
        r"\b(?:his|her|their) (?:bedroom |bedside |room )?"
        r"(?P<thing>music|lights?|lamps?|heating|radiator|heater|blinds?|"
        r"curtains?|speakers?|radio|telly|tv|fan)\b",
        re.IGNORECASE,
    ),
    "de": re.compile(
        r"\b(?:seine?[nms]?|ihre?[nms]?) (?P<thing>Licht|Lampe|Musik|Heizung|Rollo|Rollladen|Radio|"
        r"Fernseher|Ventilator)\b",
        re.IGNORECASE,
    ),
    "zh": re.compile("[他她]的(?P<thing>灯|空调|暖气|窗帘|音箱|音响|电视|风扇|加湿器)"),
}
_OWNER = {
    "en": re.compile(r"(?P<who>.+?)(?:['’]s|(?<=s)['’]) (?:bed)?room", re.IGNORECASE),
    "de": re.compile(
        r"(?!(?:kleine|große|neue|alte|blaue|grüne|rote|weiße)s)(?P<who>\w{3,}?)s Zimmer",
        re.IGNORECASE,
    ),
    "zh": re.compile("(?P<who>[奶爷爸妈外姥婆公哥姐弟妹]{2})的?(?:房间?|屋)"),
}
"""The name of a room that is somebody's."""
_IN = {"en": "the {} in {}", "de": "die {} in {}", "zh": "{1}的{0}"}
_CALLED_AFTER = {
    "en": ("{}'s {}", "{}' {}"),
    "de": ("{}s {}", "{}' {}"),
    "zh": ("{}的{}", "{}{}"),
}


def is_somebodys(text: str, language: str) -> bool:
    """Whether ``text`` speaks of what is somebody's: no thing of where it is said."""
    return language in THING and THING[language].search(text) is not None


def where_said(text: str, language: str, area: str) -> str:
    """The area where ``text`` is said; none where it speaks of what is somebody's."""
    return "" if is_somebodys(text, language) else area


def of_who_is_named(text: str, home: Snapshot, language: str) -> str:
    """``text`` with what is "his" as that of who is named before it, else behind it. As it stands
    where nobody is named, or nobody knows what they have."""
    found = THING[language].search(text) if language in THING else None
    if found is None or lexicon(language).subjects(text):
        return text
    for said in (text[: found.start()], text[found.end() :]):
        if thing := thing_of_who_is_named(found["thing"], said, home, language):
            return text[: found.start()] + thing + text[found.end() :]
    return text


def thing_of_who_is_named(thing: str, said: str, home: Snapshot, language: str) -> str:
    """The ``thing`` of the one who is named: by its own name, or as that in the room that is called
    after them; empty where there is none, or more than one."""
    people = {plain(who) for who in _all_owners(home, language) if _says(said, who, language)}
    names = {plain(form.format(who, thing)) for who in people for form in _CALLED_AFTER[language]}
    things = [one for one in home.entities if any(plain(name) in names for name in called(one))]
    if things:
        return things[0].name if len(things) == 1 else ""
    rooms = rooms_of_who_is_named(said, home, language)
    return in_room(thing, rooms[0], language) if len(rooms) == 1 else ""


def in_room(thing: str, room: Area, language: str) -> str:
    """The ``thing`` of a room, in words."""
    return _IN[language].format(thing, room.name)


def rooms_of_who_is_named(said: str, home: Snapshot, language: str) -> list[Area]:
    """The rooms of those who are named."""
    return [
        room
        for room in home.areas
        if any(_says(said, who, language) for who in owners(room, home, language))
    ]


def owners(room: Area, home: Snapshot, language: str) -> set[str]:
    """How they are called whose room it is; empty where it is nobody's."""
    people = [one for one in home.entities if one.domain == "person"]
    names = {name for one in people if is_room_of(room, one, language) for name in called(one)}
    found = (_OWNER[language].fullmatch(name) for name in called(room))
    return names | {one["who"] for one in found if one}


def is_room_of(area: Area, person: Entity, language: str) -> bool:
    """Whether a room is called after somebody."""
    end = "" if language == "zh" else r"(?:'?s|')?(?!\w)"
    names = "|".join(re.escape(plain(name)) for name in called(person))
    return any(re.match(rf"(?:{names}){end}", plain(room)) for room in called(area))


def _all_owners(home: Snapshot, language: str) -> Iterator[str]:
    for one in home.entities:
        if one.domain == "person":
            yield from called(one)
    for room in home.areas:
        yield from owners(room, home, language)


def _says(said: str, who: str, language: str) -> bool:
    end = r"(?!\w)" if lexicon(language).spaces else ""
    return re.search(f"{re.escape(plain(who))}{end}", plain(said)) is not None
