"""Names as people say them, put back as they are.

Who has a "Living Room Lamp" speaks of "the lamp in the living room", 卧室窗帘 is 卧室的窗帘, the
"Thekenschalter" is the "Schalter an der Theke", and "das rechte Rollo" the "Rollo rechts".

What would name two things names neither; and where a room has several things of a kind, "the light
in the kitchen" stays all of them.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from hubd.assistant.understanding.lexicon import Lexicon
from hubd.assistant.understanding.names import called
from hubd.assistant.understanding.plain import NEVER, plain
from hubd.home.model import Entity, Snapshot

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


class Paraphrases(NamedTuple):
    """What the household's names are called besides."""

    pattern: re.Pattern[str]
    pair: re.Pattern[str]
    """Two sides of one kind of thing: "the left and the right curtain"."""
    names: Mapping[str, str]
    """Group of either pattern → what the thing is called."""


def paraphrases_of(snapshot: Snapshot, known: Lexicon) -> Paraphrases:
    """The patterns of a household in a language; patterns that find nothing where it has none."""
    if known.language not in _LINK:
        return Paraphrases(NEVER, NEVER, {})
    owners: dict[str, set[str]] = defaultdict(set)
    taken = {plain(name) for entity in snapshot.entities for name in called(entity)}
    for entity in snapshot.entities:
        for name in map(plain, called(entity)):
            for thing, place in _parts(name, known):
                if not _is_of_several(thing, place, entity, snapshot, known):
                    owners[_said(thing, place, known)].add(entity.name)
            if side := _side_and_thing(name, known):
                owners[_of_side(*side, known)].add(entity.name)
    names: dict[str, str] = {}
    alternatives: list[str] = []
    for pattern in sorted(owners, key=len, reverse=True):
        if len(owners[pattern]) == 1 and pattern not in taken:
            group = f"n{len(names)}"
            names[group] = next(iter(owners[pattern]))
            alternatives.append(f"(?P<{group}>{pattern})")
    pairs = _pairs(snapshot, known, names)
    return Paraphrases(_one_of(alternatives, known), _one_of(pairs, known), names)


def renamed(text: str, paraphrases: Paraphrases, known: Lexicon) -> str:
    """``text`` with what things are called in the place of what people call them; as it is where
    it is about a list or a reminder, whose words are kept."""
    if known.subjects(text):
        return text
    joint = " and " if known.language == "en" else " und " if known.spaces else "和"

    def name(found: re.Match[str]) -> str:
        groups = [group for group, said in found.groupdict().items() if said is not None]
        return joint.join(paraphrases.names[group] for group in groups)

    return paraphrases.pattern.sub(name, paraphrases.pair.sub(name, text))


def _one_of(alternatives: list[str], known: Lexicon) -> re.Pattern[str]:
    if not alternatives:
        return NEVER
    edge = (r"(?<!\w)", r"(?!\w)") if known.spaces else ("", "")
    return re.compile(f"{edge[0]}(?:{'|'.join(alternatives)}){edge[1]}", re.IGNORECASE)


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


def _said(thing: str, place: str, known: Lexicon) -> str:
    """The pattern of a thing and its place, as people put them together."""
    thing, where = re.escape(thing), re.escape(place)
    if not known.spaces:
        return f"{where}(?:里面|里|那边|那儿|上面?)?(?:的|那个|那盏|那扇|那台){thing}"
    if known.language == "de":
        stems = {place.removesuffix(link) for link in _COMPOUND_LINKS}
        long = sorted((stem for stem in stems if len(stem) >= _SHORTEST_PART), key=len)
        where = f"(?:{'|'.join(map(re.escape, reversed(long)))})e?"
    return f"{thing}{_LINK[known.language]}{where}"


def _is_of_several(
    thing: str, place: str, entity: Entity, snapshot: Snapshot, known: Lexicon
) -> bool:
    """Whether "the thing of the place" may mean others as well: a kind of thing of which that room
    has several, or things of which more than one is called so."""
    rooms = {a.id for a in snapshot.areas for name in called(a) if _is_place(place, name, known)}
    others = [
        other
        for other in snapshot.entities
        if other.id != entity.id and (other.area in rooms or _begins(other, place))
    ]
    if rooms and (tag := known.phrases.get(thing)) and tag.kind == "noun":
        kinds = [other for other in others if other.area in rooms]
        if tag.value == "light" and any(other.domain == entity.domain for other in kinds):
            return thing in GENERIC or any(_ends(other, thing) for other in others)
    return any(_ends(other, thing) for other in others)


GENERIC = frozenset({"light", "lights", "licht", "lichter", "beleuchtung", "灯", "灯光"})
"""Words for all that shines in a room, whatever each is called."""


def _is_place(place: str, name: str, known: Lexicon) -> bool:
    links = _COMPOUND_LINKS if known.language == "de" else ("",)
    return plain(name) in {place.removesuffix(link) for link in links} | {f"{place}e"}


def _begins(entity: Entity, place: str) -> bool:
    return any(plain(name).startswith(place) for name in called(entity))


def _ends(entity: Entity, thing: str) -> bool:
    return any(plain(name).endswith(thing) for name in called(entity))


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


def _of_side(side: str, thing: str, known: Lexicon) -> str:
    between = " " if known.spaces else ""
    said = f"{_SIDES[known.language][side]}{between}{re.escape(thing)}"
    if known.language == "en":
        said += rf"|{re.escape(thing)} (?:on|to|at) the {side}(?:(?:-| )hand side)?"
    return said


def _pairs(snapshot: Snapshot, known: Lexicon, names: dict[str, str]) -> list[str]:
    """The patterns of two sides of one kind of thing, whose groups are added to ``names``."""
    sides: dict[str, dict[str, str]] = defaultdict(dict)
    for entity in snapshot.entities:
        for found in filter(None, (_side_and_thing(plain(n), known) for n in called(entity))):
            sides[found[1]].setdefault(found[0], entity.name)
    patterns: list[str] = []
    for thing, owners in sides.items():
        for one in owners:
            for other in owners:
                if one == other or owners[one] == owners[other]:
                    continue
                first, second = f"n{len(names)}", f"n{len(names) + 1}"
                names[first], names[second] = owners[one], owners[other]
                said = _SIDES[known.language]
                last = f"{re.escape(thing)}(?:s|n|en)?" if known.spaces else re.escape(thing)
                between = " " if known.spaces else ""
                patterns.append(
                    f"(?P<{first}>{said[one]}){_AND[known.language]}(?P<{second}>{said[other]})"
                    f"{between}{last}"
                )
    return patterns
