"""Somebody's thing without their name: "Tom's off to bed, turn off his light", „mach
seins auch aus“, 把他的灯关了.

Whose it is is said before, or they were told of last; "hers" is of the kind that was worked last,
and of somebody else. A room is somebody's that is called after them. Words and
what is remembered: decides and does nothing.
"""

import re

from hubd.assistant.decision import Decision
from hubd.assistant.follow_ups.their_room import is_room_of
from hubd.assistant.understanding.kinds import class_of
from hubd.assistant.understanding.lexicon import lexicon
from hubd.assistant.understanding.names import called
from hubd.assistant.understanding.plain import NEVER, plain
from hubd.home.model import Area, Snapshot

_THING = {
    "en": re.compile(
        r"\b(?:his|her|their) (?P<thing>music|lights?|lamps?|heating|radiator|heater|blinds?|"
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


def of_their_things(text: str, last: Decision | None, home: Snapshot, language: str) -> str:
    """``text`` with the room, or the name, of what is somebody's; empty where it works something of
    nobody knows whom; as it stands where it is of no such thing."""
    if language not in _THING or (known := lexicon(language)).subjects(text):
        return text
    if found := _THING[language].search(text):
        room = _room_spoken_of(text[: found.start()], last, home, language)
        if room is not None:
            owned = _IN[language].format(found["thing"], room.name)
            return text[: found.start()] + owned + text[found.end() :]
        return "" if known.commands(known.stripped(text), whole=False) else text
    if (found := _ALONE.get(language, NEVER).search(text)) and last is not None:
        others = _alike_of_others(text[: found.start()], last, home, language)
        return text[: found.start()] + others[0] + text[found.end() :] if len(others) == 1 else text
    return text


def _owned(home: Snapshot, language: str) -> list[Area]:
    """The rooms that are called after somebody."""
    return [one for one in home.areas if _owners(one, home, language)]


def _named_in(said: str, home: Snapshot, language: str) -> list[Area]:
    """The rooms of those who are named."""
    end = r"(?!\w)" if lexicon(language).spaces else ""
    return [
        one
        for one in home.areas
        for names in (_owners(one, home, language),)
        if any(re.search(f"{re.escape(plain(name))}{end}", plain(said)) for name in names)
    ]


def _owners(room: Area, home: Snapshot, language: str) -> set[str]:
    """How they are called whose room it is; empty where it is nobody's."""
    people = [one for one in home.entities if one.domain == "person"]
    names = {name for one in people if is_room_of(room, one, language) for name in called(one)}
    found = (_OWNER[language].fullmatch(name) for name in called(room))
    return names | {one["who"] for one in found if one}


def _room_spoken_of(said: str, last: Decision | None, home: Snapshot, language: str) -> Area | None:
    """The one room of who is named, else of who was told of last."""
    rooms = _named_in(said, home, language)
    if not rooms and last is not None:
        things = [one for one in home.entities if one.id in last.entities]
        for who in (one for one in things if one.domain == "person"):
            rooms += [one for one in home.areas if is_room_of(one, who, language)]
    return rooms[0] if len(rooms) == 1 else None


def _alike_of_others(said: str, last: Decision, home: Snapshot, language: str) -> list[str]:
    """The names of what is of the kind that was worked last in the room of who is named, else in
    the rooms of all others."""
    worked = [one for one in home.entities if one.id in last.entities]
    kinds = {(one.domain, class_of(one)) for one in worked}
    rooms = {one.id for one in _named_in(said, home, language) or _owned(home, language)}
    return [
        one.name
        for one in home.entities
        if one.area in rooms and (one.domain, class_of(one)) in kinds and one not in worked
    ]
