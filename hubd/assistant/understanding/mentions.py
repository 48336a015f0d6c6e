"""What an utterance speaks of, whatever else it says: the evidence for or against a tool call.

Unlike ``words.read``, words that nobody knows are passed over. So this never decides by itself what
is done; it only tells whether a call that something else proposed rests on what was said.
"""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from hubd.assistant.understanding.compose import NOUN_DOMAINS
from hubd.assistant.understanding.lexicon import NAMED, Lexicon
from hubd.assistant.understanding.names import Names
from hubd.assistant.understanding.plain import plain
from hubd.assistant.understanding.rooms import rooms_not_here
from hubd.assistant.understanding.words import Phrases, Piece, guessed_verb, pieces_of
from hubd.home.model import Entity, Snapshot
from plugins.numbers import digits

CLEANED = frozenset({"vacuum.start", "vacuum.clean_area"})
FELT = frozenset({"climate.change:up", "climate.change:down"})
_FEELS = {"en": r"(?!.*\bkitchen)(?:'s| is|'s \w+ are|'s \w+ is| has been| feels| looks)(?= )"}
"""What follows the name of somebody who is too cold or too warm in a room."""
_OWNS = {"zh": "[^说讲问叫让,，]{0,4}的", "en": r"'s\b"}
"""What follows the name of somebody whose things are spoken of."""
_WHY = {"zh": "(?:要|在|得|该|正)[^说讲问叫让时后再,，]{1,6}了?$"}
"""What follows the name of somebody for whom a command is given."""


class Mentions(NamedTuple):
    """The known words of an utterance."""

    text: str
    """Stripped of politeness, number words as digits."""
    actions: frozenset[str]
    names: tuple[str, ...]
    areas: tuple[str, ...]
    floors: tuple[str, ...]
    nouns: frozenset[str]
    """Kinds of things that are named: ``light``, ``cover.blind``."""
    numbers: tuple[float, ...]
    colors: tuple[str, ...]
    hints: frozenset[str]
    """Domains that are spoken of without a thing of them: ``light`` of "it is too dark"."""
    implied: frozenset[str]
    """Tools whose verb is paraphrased."""
    subjects: frozenset[str]
    """Plugins without entities that are spoken of."""
    everything: bool
    unknown: tuple[str, ...]
    unnamed: str = ""
    """The words but for the names of things and rooms, number words as digits."""
    difference: bool = False
    """Whether the number says by how much something shall change, and not to what."""
    times: bool = False
    """Whether it says when, or for how long."""
    guessed: bool = False
    """Whether a word that was taken for a misspelled name may as well be a verb."""
    rooms_not_here: tuple[str, ...] = ()
    """Rooms of other houses that are spoken of."""

    @property
    def is_bare(self) -> bool:
        """Whether there is nothing but names of things and rooms."""
        return not (
            self.actions
            or self.nouns
            or self.numbers
            or self.colors
            or self.hints
            or self.implied
            or self.subjects
            or self.unknown
        )

    def spelled(self, names: Iterable[str]) -> tuple[str, ...]:
        """Those that were said as they are written: "Teller" is no "Keller"."""
        return tuple(name for name in names if plain(name) in self.text)

    @property
    def domains(self) -> frozenset[str]:
        """The domains of the kinds that are named."""
        return frozenset(NOUN_DOMAINS.get(noun, noun.partition(".")[0]) for noun in self.nouns)

    @property
    def classes(self) -> frozenset[str]:
        """The device classes of the kinds that are named."""
        return frozenset(noun.partition(".")[2] for noun in self.nouns if "." in noun)


def mentions(text: str, lexicon: Lexicon, phrases: Phrases) -> Mentions:
    """The known words of ``text``, as it was said."""
    said = lexicon.fixed(lexicon.stripped(text))
    pieces = pieces_of(said, lexicon, phrases)
    of = _by_kind(pieces)
    # A vacuum called Dusty says nothing about the floor.
    rest = [p.text for p in pieces if not any(tag.kind == "entity" for tag in p.tags)]
    between = " " if lexicon.spaces else ""
    unnamed = between.join(rest)
    # 玄关灯 turns nothing off, though 关 does.
    verbal = between.join(p.text for p in pieces if not any(tag.kind in NAMED for tag in p.tags))
    actions = frozenset(of.get("action", ())) | lexicon.actions_in(verbal, in_place=True)
    whole = plain(text)  # "still up" complains, though "still" says nothing else
    text = digits(said, lexicon.language)
    return Mentions(
        text=text,
        actions=actions,
        names=tuple(dict.fromkeys(of.get("entity", ()))),
        areas=tuple(dict.fromkeys(of.get("area", ()))),
        floors=tuple(dict.fromkeys(of.get("floor", ()))),
        nouns=frozenset(of.get("noun", ())),
        numbers=tuple(piece.number for piece in pieces if piece.number is not None),
        colors=tuple(of.get("color", ())),
        hints=frozenset(lexicon.hinted(unnamed)),
        implied=frozenset(lexicon.implied(unnamed) | lexicon.implied(_unnamed(whole, pieces))),
        subjects=frozenset(lexicon.subjects(said)),
        everything="all" in of,
        unknown=tuple(p.text for p in pieces if not p.tags and p.number is None),
        unnamed=verbal,
        difference=lexicon.is_difference(text, actions),
        times=lexicon.times(text),
        guessed=guessed_verb(pieces),
        rooms_not_here=rooms_not_here(whole, lexicon, phrases),
    )


def _unnamed(text: str, pieces: Sequence[Piece]) -> str:
    """``text`` (plain) without the names of things."""
    for piece in pieces:
        if any(tag.kind == "entity" for tag in piece.tags):
            text = text.replace(piece.text, " ")
    return text


def named_entities(said: Mentions, snapshot: Snapshot) -> list[Entity]:
    """The entities whose names are said."""
    found = {e.id: e for name in said.names for e in Names.entities(snapshot, name)}
    return list(found.values())


SUFFERED = frozenset({
    "climate.change:up", "climate.change:down", "media.change_volume:down", "home.turn_on",
    "lights.change:up", "lights.change:down", "home.unlock", "home.open", "vacuum.clean_area",
})  # fmt: skip
"""What is asked for by telling how somebody fares: "Katrin friert oben unterm Dach"."""
LET_IN = frozenset({"home.unlock", "home.open"})
_SUFFERS = {
    "de": r" (?:steht|stehen|kommt|kommen|sitzt|sitzen|friert|frieren|schwitzt|schwitzen|zittert|"
    r"bibbert|hat|haben|kann|können|wartet|warten)\b"
}
_SPEAKING = re.compile(r"\b(?:ge)?(?:sagt|meint|fragt|erzählt|findet|glaubt|denkt|mag|liebt)e?\b")


def without_bystanders(said: Mentions, snapshot: Snapshot, known: Lexicon) -> Mentions:
    """What is said, but for persons whose mess lies about ("Tom's crumbs are all over the floor"),
    who are cold in a room, or for whom a command is given (打开作业模式乐乐要写字了): nobody did or
    said anything."""
    people = {e.id: e for e in named_entities(said, snapshot) if e.domain == "person"}
    names = {name for name in said.names for e in Names.entities(snapshot, name) if e.id in people}
    forms = [_OWNS.get(known.language)] if CLEANED & said.implied and said.areas else []
    places_said = said.areas or said.floors or LET_IN & said.implied
    if SUFFERED & said.implied and places_said and not _SPEAKING.search(said.text):
        forms.append(_SUFFERS.get(known.language))
    forms += [_FEELS.get(known.language)] if FELT & said.implied and said.areas else []
    forms += [_WHY.get(known.language)] if names and known.commands(said.text) else []
    beside = {
        name
        for name in names
        if any(form and re.search(re.escape(plain(name)) + form, said.text) for form in forms)
    }
    return said._replace(names=tuple(name for name in said.names if name not in beside))


def places(said: Mentions, snapshot: Snapshot) -> set[str]:
    """The ids of the areas that are named, by themselves or by their floor; a floor that is named
    beside one of its areas only says where that is."""
    areas = {area.id for name in said.areas if (area := Names.area(snapshot, name))}
    floors = {floor.id for name in said.floors if (floor := Names.floor(snapshot, name))}
    floors -= {area.floor for area in snapshot.areas if area.id in areas}
    return areas | {area.id for area in snapshot.areas if area.floor in floors}


def _by_kind(pieces: Sequence[Piece]) -> dict[str, list[str]]:
    """Kind → values. A name that is also a kind of thing ("TV") counts as both."""
    of: dict[str, list[str]] = {}
    for piece in pieces:
        kinds = {tag.kind for tag in piece.tags}
        for tag in piece.tags:
            if tag.kind != "ignore" or not kinds & NAMED:
                of.setdefault(tag.kind, []).append(tag.value)
    return of
