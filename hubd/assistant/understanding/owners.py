"""Names of two parts as people say them: what is called "Rollladen Terrassentür" is "das Rollo an
der Terrassentür", and the heating of the room that is called after Jonas is that "bei Jonas".

Which words link the parts is in the lexicon (``links``, ``owned_by``); a language without them has
none. What would name two things names neither.
"""

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping

from hubd.assistant.understanding.lexicon import Lexicon, Tag
from hubd.assistant.understanding.names import Names, called
from hubd.assistant.understanding.plain import plain
from hubd.home.model import Area, Snapshot


def said_otherwise(snapshot: Snapshot, lexicon: Lexicon) -> Mapping[str, Tag]:
    """Phrase → the thing or the room that it names."""
    if not lexicon.links:
        return {}
    people = [plain(name) for e in snapshot.entities if e.domain == "person" for name in called(e)]
    places = {plain(name) for area in snapshot.areas for name in called(area)}
    places |= {plain(name) for floor in snapshot.floors for name in called(floor)}
    own: dict[str, set[Tag]] = defaultdict(set)
    alike: dict[str, set[Tag]] = defaultdict(set)
    for entity in snapshot.entities:
        for name in called(entity):
            for noun, phrase in _of_name(plain(name), people, places, lexicon):
                found = own if noun in plain(name).split() else alike
                found[phrase].add(Tag("entity", entity.name))
    for area in snapshot.areas:
        for person in people:
            if _is_called_after(area, person):
                for word in lexicon.owned_by:
                    own[f"{word} {person}"].add(Tag("area", area.name))
    return _unique(alike) | _unique(own)


def _of_name(
    name: str, people: Collection[str], places: Collection[str], lexicon: Lexicon
) -> Iterator[tuple[str, str]]:
    """What a thing of that name is called besides, each with the word for its kind. Where it is may
    be said of others as well: "the light in the hall" is all that hangs there."""
    first, _, rest = name.partition(" ")
    if rest and rest not in places:
        for noun in lexicon.alike(first):
            yield from ((noun, f"{noun} {link} {rest}") for link in lexicon.links)
            if noun != first:
                yield noun, f"{noun} {rest}"
    for noun in lexicon.alike(rest):
        for person in people:
            if first in _genitives(person):
                yield from ((noun, f"{noun} {word} {person}") for word in lexicon.owned_by)


def _unique(found: Mapping[str, set[Tag]]) -> dict[str, Tag]:
    return {phrase: next(iter(tags)) for phrase, tags in found.items() if len(tags) == 1}


def _is_called_after(area: Area, person: str) -> bool:
    parts = {part for name in called(area) for part in plain(name).split()}
    return not parts.isdisjoint(_genitives(person))


def _genitives(person: str) -> tuple[str, ...]:
    return person, f"{person}s", f"{person}'", f"{person}'s"


def placed(text: str, snapshot: Snapshot, lexicon: Lexicon, known: Collection[str]) -> str:
    """``text`` with the room of somebody in the place of their name: "bei Ida" is "in Idas Zimmer",
    and "Idas Licht" the "Licht in Idas Zimmer". As it is where it is about a list or a reminder.

    known: the phrases that are names here already
    """
    if not lexicon.spaces or lexicon.subjects(text):
        return text
    said = plain(text)
    for entity in snapshot.entities:
        for person in map(plain, called(entity)) if entity.domain == "person" else ():
            rooms = [area for area in snapshot.areas if _is_called_after(area, person)]
            if person in said and len(rooms) == 1:
                text = _in_room(text, person, rooms[0], snapshot, lexicon, known)
    return text


def _in_room(
    text: str,
    person: str,
    room: Area,
    snapshot: Snapshot,
    lexicon: Lexicon,
    known: Collection[str],
) -> str:
    where, said = f"in {room.name}", plain(text)
    at = "|".join(lexicon.owned_by)
    bare = {f"{word} {person}" for word in lexicon.owned_by}
    its_own = any(p.endswith(f" {person}") and p in said for p in known if p not in bare)
    if at and not its_own:
        text = re.sub(rf"(?i)(?<!\w)(?:{at}) {re.escape(person)}(?!\w)(?! (?:zu|da))", where, text)
    own = [name for e in snapshot.entities if e.area == room.id for name in map(plain, called(e))]
    nouns = [phrase for phrase in lexicon.phrases if lexicon.is_noun(phrase)]
    for owner in _genitives(person)[1:] if lexicon.owned_by else (f"{person}'s",):
        for thing in (*own, *nouns):
            phrase = f"{owner} {thing}"
            spoken = re.compile(rf"(?i)(?<!\w){re.escape(phrase)}(?!\w)")
            if phrase in said and phrase not in known and spoken.search(text):
                return spoken.sub(thing if thing in own else f"{thing} {where}", text)
    return text


_OWN_ROOM = {
    "en": re.compile(
        r"\b(in|up in|down in) (?:her|his|their) (?:own )?(?:bed)?room\b", re.IGNORECASE
    ),
    "de": re.compile(
        r"\b(in|oben in|unten in) (?:seine[mr]|ihre[mr]) (?:eigenen )?"
        r"(?:zimmer|schlafzimmer|stube|kammer)\b",
        re.IGNORECASE,
    ),
    "zh": re.compile("()[她他](?:自己)?的?(?:房间|卧室|屋子|屋|房)(?:里头?)?"),
}
_WHOSE = {
    "en": re.compile(r"(.+?)(?:['’]s|(?<=s)['’]) (?:bed)?room", re.IGNORECASE),
    "de": re.compile(r"(.+?)(?:s|['’])? (?:zimmer|schlafzimmer|stube|kammer)", re.IGNORECASE),
    "zh": re.compile("(.+?)的?(?:房间|卧室|屋子|屋|房)"),
}


def in_own_room(text: str, snapshot: Snapshot, language: str) -> str:
    """``text`` with somebody's room by its name: "Nan's freezing in her room" is of Nan's room. As
    it is where more than one, or none, is spoken of who has a room here."""
    own = _OWN_ROOM.get(language)
    if own is None or own.search(text) is None:
        return text
    rooms = [name for area in snapshot.areas for name in called(area) if _whose(name, language)]
    edge, joint = ("", "") if language == "zh" else (r"\b", r"\1 ")
    spoken = [
        room
        for room in rooms
        if re.search(f"{edge}{re.escape(_whose(room, language))}{edge}", text, re.IGNORECASE)
    ]
    areas = {Names.area(snapshot, room) for room in spoken}
    return own.sub(f"{joint}{spoken[0]}", text) if len(areas) == 1 and spoken else text


def _whose(room: str, language: str) -> str:
    """Who a room is called after: "Nan" of "Nan's room"; empty where it is after nobody."""
    found = _WHOSE[language].fullmatch(room)
    return found[1] if found else ""
