"""The room of somebody: "in her room", „bei ihr“, 他那边, and "Ann's music".

Who is not named there is named before in the same breath, or something was told of
them last, and a room is called after them; else nobody knows whose it is.
"""

import re

from hubd.assistant.decision import Decision
from hubd.assistant.understanding.lexicon import lexicon
from hubd.assistant.understanding.names import called
from hubd.assistant.understanding.plain import plain
from hubd.assistant.understanding.whose import is_room_of
from hubd.home.model import Entity, Snapshot

_THEIR = {
    "en": re.compile(r"\b(?:in|into) (?:his|her) (?:own )?(?:bed)?room\b", re.IGNORECASE),
    "de": re.compile(r"\b(?:bei (?:ihm|ihr)|in (?:seinem|ihrem) zimmer)\b(?! zu\b)", re.IGNORECASE),
    "zh": re.compile("[他她](?:那边|那里|那儿|那屋|屋里?|的?房间里?)"),
}
_OWNED = re.compile(
    r"\b(?P<who>\w+)['’]s (?P<thing>music|lights?|lamps?|heating|radiator|heater|blinds?|curtains?|"
    r"speakers?|radio|telly|tv|fan)\b",
    re.IGNORECASE,
)
_IN = {"en": "in {}", "de": "in {}", "zh": "{}"}


def says_their_room(text: str, language: str) -> bool:
    """Whether ``text`` is about the room of somebody whom it does not name there."""
    pattern = _THEIR.get(language)
    return pattern is not None and pattern.search(text) is not None


def in_their_room(text: str, last: Decision | None, home: Snapshot, language: str) -> str:
    """``text`` with the room by its name; empty where nobody knows whose it is."""
    pattern = _THEIR[language]
    found = pattern.search(text)
    people = [one for one in home.entities if one.domain == "person"]
    before = text[: found.start()] if found else ""
    meant = [one for one in people if _is_named(one, before, language)]
    if not meant and last is not None:
        meant = [one for one in people if one.id in last.entities]
    rooms = [area for area in home.areas for one in meant if is_room_of(area, one, language)]
    if len(meant) != 1 or len(rooms) != 1:
        return ""
    return pattern.sub(_IN[language].format(rooms[0].name), text, count=1)


def _is_named(person: Entity, text: str, language: str) -> bool:
    said = plain(text)
    if language == "zh":
        return any(plain(name) in said for name in called(person))
    return any(re.search(rf"\b{re.escape(plain(name))}\b", said) for name in called(person))


def of_their_own(text: str, home: Snapshot, language: str) -> str:
    """ "Turn Maisie's music down" with the room that is called after her: "the music in Maisie's
    Room". As it stands where something is called so, or no room is after them."""
    found = _OWNED.search(text) if language == "en" else None
    if found is None or _is_a_name(found[0], home) or lexicon(language).subjects(text):
        return text
    people = [
        one
        for one in home.entities
        if one.domain == "person" and _is_named(one, found["who"], language)
    ]
    rooms = [area for area in home.areas for one in people if is_room_of(area, one, language)]
    if len(people) != 1 or len(rooms) != 1:
        return text
    owned = f"the {found['thing']} in {rooms[0].name}"
    return text[: found.start()] + owned + text[found.end() :]


def _is_a_name(said: str, home: Snapshot) -> bool:
    """Whether something in the house is called so, or its name begins so: "Tom's lamp"."""
    return any(plain(name).startswith(plain(said)) for one in home.entities for name in called(one))
