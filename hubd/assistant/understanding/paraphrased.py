"""Names as people say them, put back as they are.

Who has a "Living Room Lamp" speaks of "the lamp in the living room", 卧室窗帘 is 卧室的窗帘, the
"Thekenschalter" is the "Schalter an der Theke", and "das rechte Rollo" the "Rollo rechts".

What would name two things names neither; and where a room has several things of a kind, "the light
in the kitchen" stays all of them.
"""

import itertools
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from hubd.assistant.understanding.lexicon import Lexicon
from hubd.assistant.understanding.names import called
from hubd.assistant.understanding.plain import plain
from hubd.home.model import Area, Entity, Floor, Snapshot

_LINK = {
    "en": r",? (?:in|of|at|on|by|over|above|near|beside|under|from) (?:the |my |our |that )?",
    "de": r" (?:am|an|auf|aus|bei|beim|für|im|in|neben|über|überm|von|vom|unter)"
    r"(?: (?:der|dem|den|die|das|unser\w*|mein\w*))? ",
    "zh": "",
}
_LAST_WORDS = 2
"""Of a name, that may be what kind of thing it is."""
_SHORTEST_PART = 3
"""Letters of a part of a German compound."""
_ROOM = re.compile("[室厅房间]")
_SHORTEST_ENDING = 3
"""Characters of a Chinese name without its beginning."""
_COMPOUND_LINKS = ("", "n", "s", "en", "es")
"""What German puts between the parts of a compound."""

_SIDES: Mapping[str, Mapping[str, str]] = {
    "en": {
        "left": r"(?:left|left-hand|lefthand)(?: hand)?",
        "right": r"(?:right|right-hand|righthand)(?: hand)?",
    },
    "de": {
        "links": r"link(?:e|en|er|es)",
        "rechts": r"recht(?:e|en|er|es)",
        "vorn": r"vorder(?:e|en|er|es)",
        "vorne": r"vorder(?:e|en|er|es)",
        "hinten": r"hinter(?:e|en|er|es)",
        "oben": r"ober(?:e|en|er|es)",
        "unten": r"unter(?:e|en|er|es)",
        "mitte": r"mittler(?:e|en|er|es)",
    },
    "zh": {
        side + which: f"{side}(?:侧|边|面|手边)?(?:的|那个|那扇|那副)?"
        for side in "左右前后上下"
        for which in "侧边面"
    },
}
"""How a name says which of several a thing is, and how people do."""
_AND = {
    "en": r" and (?:the |my |our )?",
    "de": r" und (?:(?:der|die|das|den|dem) )?",
    "zh": r"[和跟、]",
}


class _Thing(NamedTuple):
    """A thing, and all that it is called, as it is compared."""

    entity: Entity
    names: tuple[str, ...]


class Household(NamedTuple):
    """A household's names, as they are compared."""

    things: Sequence[_Thing]
    rooms: Sequence[tuple[str, tuple[str, ...]]]
    """Id and names of each room."""
    others: Sequence[str]
    """The names of floors and persons."""
    by_kind: Mapping[str, Sequence[_Thing]]
    """What a name ends with → the things whose names do."""

    def is_name(self, text: str) -> bool:
        """Whether a thing is called so."""
        said = plain(text)
        return any(said in thing.names for thing in self.by_kind.get(said, ()))


class Paraphrase(NamedTuple):
    """Something that things are called besides."""

    needles: tuple[str, ...]
    """What a text has to hold for it to be there at all."""
    pattern: str
    """With a group for each name."""
    names: tuple[str, ...]
    """What they are called."""


class Paraphrases(NamedTuple):
    """What the household's names are called besides, the longest first."""

    household: Household
    found: Sequence[Paraphrase]


def paraphrases_of(snapshot: Snapshot, known: Lexicon) -> Paraphrases:
    """All of a household in a language; none where the language has no such patterns."""
    household = _household(snapshot, known)
    if known.language not in _LINK:
        return Paraphrases(household, ())
    owners: dict[tuple[tuple[str, ...], str], set[str]] = defaultdict(set)
    for thing in household.things:
        for name in thing.names:
            for needles, pattern, called_so in _of_name(name, thing, household, known):
                owners[needles, pattern].add(called_so)
    found = [
        Paraphrase(needles, f"({pattern})", tuple(names))
        for (needles, pattern), names in owners.items()
        if len(names) == 1
    ]
    found.sort(key=lambda one: -len(one.pattern))
    return Paraphrases(household, [*_pairs(household, known), *found])


def renamed(text: str, area: str, paraphrases: Paraphrases, known: Lexicon) -> str:
    """``text`` with what things are called in the place of what people call them; as it is where
    it is about a list or a reminder, whose words are kept. ``area`` is the id of the asking
    device's, or empty."""
    if known.subjects(text):
        return text
    joint = " and " if known.language == "en" else " und " if known.spaces else "和"
    edge = (r"(?<!\w)", r"(?!\w)") if known.spaces else ("", "")
    said = plain(text)
    done: list[str] = []
    for one in paraphrases.found:
        if all(needle in said for needle in one.needles):
            pattern = re.compile(f"{edge[0]}(?:{one.pattern}){edge[1]}", re.IGNORECASE)
            found = pattern.search(text)
            if found is None or any(one.needles[0] in plain(name) for name in done):
                continue
            if paraphrases.household.is_name(found[0]) or _ANY.search(text[: found.start()]):
                continue  # who has both a "Lamp in the Hall" and a "Hall Lamp" means the first
            text = f"{text[: found.start()]}{joint.join(one.names)}{text[found.end() :]}"
            done += one.names
    return _near(text, area, paraphrases.household, known) if area else text


def _household(snapshot: Snapshot, known: Lexicon) -> Household:
    people = [entity for entity in snapshot.entities if entity.domain == "person"]
    others: list[Entity | Floor] = [*snapshot.floors, *people]
    things = [_Thing(entity, _names(entity)) for entity in snapshot.entities]
    by_kind: dict[str, list[_Thing]] = defaultdict(list)
    for thing in things:
        kinds = {kind for name in thing.names for kind, _ in _parts(name, known)}
        for kind in kinds | set(thing.names):
            by_kind[kind].append(thing)
    return Household(
        things,
        [(area.id, _names(area)) for area in snapshot.areas],
        [name for one in others for name in _names(one)],
        by_kind,
    )


def _names(one: Entity | Area | Floor) -> tuple[str, ...]:
    return tuple(dict.fromkeys(map(plain, called(one))))


def _of_name(
    name: str, thing: _Thing, household: Household, known: Lexicon
) -> Iterator[tuple[tuple[str, ...], str, str]]:
    """Needles, pattern and what is called so, for all that a thing of that name is called
    besides."""
    entity = thing.entity
    for kind, place in _parts(name, known):
        if not _is_of_several(kind, place, thing, household, known):
            stem = min(_stems(place, known), key=len)
            yield (kind, stem), _said(kind, place, known), entity.name
    if not known.spaces and entity.domain == "lock" and name.endswith("锁"):
        locked = re.escape(name[:-1])  # 把壁橱锁上 locks the 壁橱锁
        yield (name[:-1],), f"(?<=[把的]){locked}(?=锁(?!锁))|(?<=^锁){locked}$", entity.name
    for ending, pattern in _endings(name, household, known):
        yield (ending,), pattern, entity.name
    if side := _side_and_thing(name, known):
        yield (side[1],), _of_side(*side, known), _name_of(*side, entity, known)


def _near(text: str, area: str, household: Household, known: Lexicon) -> str:
    """``text`` with the one thing of the asking device's room in the place of its kind: said in the
    living room, "the lamp" is the Living Room Lamp."""
    room = next((names for at, names in household.rooms if at == area), ())
    if not room or known.language not in _UNQUALIFIED or _is_elsewhere(text, area, household):
        return text
    said = plain(text)
    if _ALL.search(said):
        return text  # "all the blinds" are those of other rooms as well
    there = [thing for thing in household.things if thing.entity.area == area]
    for thing in there:
        for kind, place in _parts(thing.names[0], known):
            if (
                kind in said
                and kind not in GENERIC
                and known.is_noun(kind)
                and not {*_stems(place, known), f"{place}e"}.isdisjoint(room)
                and not any(_ends(other, kind) for other in there if other is not thing)
            ):
                before, behind = _UNQUALIFIED[known.language]
                pattern = rf"{before}{re.escape(kind)}{behind}"
                if found := re.search(pattern, text, re.IGNORECASE):
                    text = f"{text[: found.end(1)]}{thing.entity.name}{text[found.end() :]}"
    return text


def _is_elsewhere(text: str, area: str, household: Household) -> bool:
    """Whether another room or floor is named, or a person, who may have one."""
    said = plain(text)
    others = [name for at, names in household.rooms if at != area for name in names]
    named = any(name in said for name in (*others, *household.others))
    return named or _UP_OR_DOWN.search(said) is not None


_ANY = re.compile(
    r"(?:\b(?:any|some|an?|all|every|each|no|irgend\w*|ein\w{0,2}|kein\w*|alle\w?) |任何|哪)$",
    re.IGNORECASE,
)
"""What speaks of no thing in particular: "is any fan in the kitchen on"."""
_ALL = re.compile(r"\b(?:all|every|both|alle\w?|beide\w?|sämtliche\w?)\b")
_UP_OR_DOWN = re.compile(r"\b(?:upstairs|downstairs|oben|unten|drüben|nebenan|draußen|outside)\b")
_UNQUALIFIED = {
    "en": (r"(^|\b(?:the|my|our|that) )", r"(?!\w|[- ](?:in|on|of|at|over|by|near) (?!here\b))"),
    "de": (r"(^|\b(?:die|der|das|den|dem|unsere?|meine?) )",
           r"(?!\w|[- ](?:in|im|an|am|auf|über|von|vom) (?!hier\b))"),
}  # fmt: skip
"""What stands before and behind a kind of thing that nothing is said of."""


def _parts(name: str, known: Lexicon) -> Iterator[tuple[str, str]]:
    """A name as the kind of thing and where it is or what for, split in all ways that it may be."""
    if known.language == "en":
        words = name.split()
        for at in range(max(1, len(words) - _LAST_WORDS), len(words)):
            yield " ".join(words[at:]), " ".join(words[:at])
    elif known.language == "de":
        for at in range(_SHORTEST_PART, len(name) - _SHORTEST_PART + 1):
            if known.is_noun(name[at:]) and " " not in name:
                yield name[at:], name[:at]
    else:
        yield from ((name[at:], name[:at]) for at in range(2, len(name)))


def _endings(name: str, household: Household, known: Lexicon) -> Iterator[tuple[str, str]]:
    """A Chinese name without the maker's that it begins with, and its pattern: 易来吸顶灯 is
    吸顶灯, where no room is said before it."""
    rooms = [room for _, names in household.rooms for room in names]
    if known.spaces or _ROOM.search(name) or any(room in name for room in rooms):
        return
    for at in range(1, len(name) - _SHORTEST_ENDING + 1):
        ending = name[at:]
        if known.is_noun(ending[-1]) or known.is_noun(ending[-2:]):
            yield ending, f"(?<![室厅房间的台{re.escape(name[at - 1])}]){re.escape(ending)}"


def _said(thing: str, place: str, known: Lexicon) -> str:
    """The pattern of a thing and its place, as people put them together."""
    thing, where = re.escape(thing), re.escape(place)
    if not known.spaces:
        return f"{where}(?:里面|里|那边|那儿|上面?)?(?:的|那个|那盏|那扇|那台){thing}"
    if known.language == "de":
        where = f"(?:{'|'.join(map(re.escape, _stems(place, known)))})e?"
    return f"{thing}{_LINK[known.language]}{where}"


def _stems(place: str, known: Lexicon) -> list[str]:
    """The first part of a name as a word, longest first: that of "Thekenschalter" is "Theke"."""
    if known.language != "de":
        return [place]
    stems = {place.removesuffix(link) for link in _COMPOUND_LINKS}
    return sorted((stem for stem in stems if len(stem) >= _SHORTEST_PART), key=len, reverse=True)


def _is_of_several(
    kind: str, place: str, thing: _Thing, household: Household, known: Lexicon
) -> bool:
    """Whether "the thing of the place" may mean others as well: a kind of thing of which that room
    has several, or things of which more than one is called so."""
    stems = {*_stems(place, known), f"{place}e"}
    rooms = {at for at, names in household.rooms if not stems.isdisjoint(names)}
    if rooms and kind in GENERIC:
        return True
    return any(
        other.entity.area in rooms or _begins(other, place)
        for other in household.by_kind[kind]
        if other is not thing
    )


GENERIC = frozenset({"light", "lights", "licht", "lichter", "beleuchtung", "灯", "灯光"})
"""Words for all that shines in a room, whatever each is called."""


def _begins(thing: _Thing, place: str) -> bool:
    return any(name.startswith(place) for name in thing.names)


def _ends(thing: _Thing, kind: str) -> bool:
    return any(name.endswith(kind) for name in thing.names)


def _side_and_thing(name: str, known: Lexicon) -> tuple[str, str] | None:
    """The side and the rest of a name that says on which side a thing is."""
    for side in _SIDES[known.language]:
        if known.spaces and name.endswith(f" {side}"):
            return side, name.removesuffix(f" {side}")
        if known.spaces and name.startswith(f"{side} "):
            return side, name.removeprefix(f"{side} ")
        if not known.spaces and name.startswith(side) and len(name) > len(side):
            return side, name.removeprefix(side)
    return None


def _name_of(side: str, thing: str, entity: Entity, known: Lexicon) -> str:
    """What it is called; in English with the side first: a "right" that stands last is often
    none of it ("the curtain, right?")."""
    return f"{side} {thing}" if known.language == "en" else entity.name


def _of_side(side: str, thing: str, known: Lexicon) -> str:
    between = " " if known.spaces else ""
    said = f"{_SIDES[known.language][side]}{between}{re.escape(thing)}"
    if known.language == "en":
        said += rf"|{re.escape(thing)} (?:on|to|at) the {side}(?:(?:-| )hand side)?"
    return said


def _pairs(household: Household, known: Lexicon) -> Iterator[Paraphrase]:
    """Two sides of one kind of thing: "the left and the right curtain"."""
    sides: dict[str, dict[str, str]] = defaultdict(dict)
    for thing in household.things:
        for found in filter(None, (_side_and_thing(name, known) for name in thing.names)):
            sides[found[1]].setdefault(found[0], _name_of(*found, thing.entity, known))
    said, between = _SIDES[known.language], " " if known.spaces else ""
    for kind, owners in sides.items():
        last = f"{re.escape(kind)}(?:s|n|en)?" if known.spaces else re.escape(kind)
        for one, other in itertools.permutations(owners, 2):
            if owners[one] != owners[other]:
                pattern = f"{said[one]}{_AND[known.language]}{said[other]}{between}{last}"
                yield Paraphrase((kind,), pattern, (owners[one], owners[other]))
