"""Utterance → intent and slots by its words, for phrasings that no sentence grammar has.

Every word must be accounted for: a name of the household, an action, a kind of thing, a number, or
a word without meaning. A name may be misspelled a little; an action may not, because one letter
lies between "on" and "off" in some language or other. Two actions that disagree are nothing.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

from hubd.assistant.understanding.bought import is_bought
from hubd.assistant.understanding.lexicon import NAMED, Kind, Lexicon, Tag
from hubd.assistant.understanding.misspelled import Spellings, nearest, spellings_of
from hubd.assistant.understanding.names import called
from hubd.assistant.understanding.owners import said_otherwise
from hubd.assistant.understanding.plain import plain
from hubd.assistant.understanding.rooms import rooms_not_here
from hubd.home.model import Area, Entity, Floor, Snapshot
from plugins.numbers import digits

LONGEST_WINDOW = 4
"""Words that together may be one misheard name."""
CONTRACTED = re.compile(r"'(?:s|t|re|ve|ll|m|d)\b")
LONGEST_PHRASE = 60
"""Characters."""
MOST_READ = 64
"""Texts whose pieces are kept."""
_ANOTHER = re.compile(
    r"\b(?:and|und)(?: then| dann)? (?:turn|switch|put|set|make|open|close|shut|start|stop|lock|"
    r"dim|raise|lower|(?:mach|schalt|dreh|stell|fahr|öffn|schließ|start|stopp)e?)\b"
)
"""A command that begins behind another: two verbs that are one together are two there."""
SCORE_MISSPELLED = 0.12
"""What each wrong letter costs."""


SCORE_QUESTION = 0.8
"""Of a question for a state: nothing is done by it."""


class Phrases(dict[str, tuple[Tag, ...]]):
    """Every phrase that is known, and what it means."""

    def __init__(self, lexicon: Lexicon) -> None:
        super().__init__((phrase, (tag,)) for phrase, tag in lexicon.phrases.items())
        self._lexicon = lexicon
        self.people: set[str] = set()
        """The names of the persons among them."""
        self.spots: set[str] = set()
        """Those that say where a light is: of many words that they are not misheard as."""
        self.read: dict[str, tuple[Piece, ...]] = {}
        """What was read last, by text: an utterance that no rule explains is read five times."""

    @cached_property
    def spellings(self) -> Spellings:
        """The names and kinds of thing among them, once no more are added."""
        said = {phrase: tags for phrase, tags in self.items() if phrase not in self.spots}
        return spellings_of(said, self._lexicon)


class Piece(NamedTuple):
    """A stretch of the utterance and what it means; no tags: unknown."""

    text: str
    tags: tuple[Tag, ...] = ()
    number: float | None = None
    wrong: int = 0
    """Letters that had to be changed to know it."""


class Reading(NamedTuple):
    """What the words say together."""

    actions: frozenset[str]
    names: tuple[str, ...]
    areas: tuple[str, ...]
    floors: tuple[str, ...]
    nouns: frozenset[str]
    numbers: tuple[float, ...]
    units: frozenset[str]
    difference: bool
    """Whether the number says by how much, and not to what."""
    colors: tuple[str, ...]
    modes: tuple[str, ...]
    """How something shall heat or cool."""
    everything: bool
    here: bool
    joined: bool
    """Whether an "and" stands there."""
    score: float


def phrases_of(snapshot: Snapshot, lexicon: Lexicon) -> Phrases:
    """Every phrase that is known: the lexicon's, and over them the household's names."""
    phrases = Phrases(lexicon)
    kinds: tuple[tuple[Kind, Sequence[Floor | Area | Entity]], ...] = (
        ("floor", snapshot.floors),
        ("area", snapshot.areas),
        ("entity", snapshot.entities),
    )
    for kind, things in kinds:
        for thing in things:
            once = {plain(name): name for name in reversed(called(thing))}  # "Twins' Room"
            for said, name in once.items():
                tag, known = Tag(kind, name), phrases.get(said, ())
                if any(other.kind == "action" for other in known):
                    continue  # a name that is a verb as well would make every sentence its own
                phrases[said] = (*(t for t in known if t.kind in NAMED and t != tag), tag)
    for phrase, tag in said_otherwise(snapshot, lexicon).items():
        phrases.setdefault(phrase, (tag,))
    for word, room in _only_rooms(snapshot, lexicon).items():
        phrases.setdefault(word, (Tag("area", room),))
    people = [entity for entity in snapshot.entities if entity.domain == "person"]
    phrases.people.update(name for person in people for name in called(person))
    for part, name in _parts(snapshot, lexicon).items():
        if part not in phrases:
            phrases[part] = (Tag("entity", name),)
    spots = {at: one for at, one in _spots(snapshot, lexicon).items() if at not in phrases}
    phrases.update((phrase, (Tag("entity", name),)) for phrase, name in spots.items())
    phrases.spots.update(spots)
    for word, name in _players(snapshot, lexicon).items():
        phrases[word] = (*phrases.get(word, ()), Tag("entity", name))
    return phrases


def _only_rooms(snapshot: Snapshot, lexicon: Lexicon) -> dict[str, str]:
    """The kinds of room of which one is called so: 卧室 is the 主卧室."""
    found: dict[str, str] = {}
    for word in lexicon.room_kinds:
        rooms = {a.name for a in snapshot.areas if any(_ends(plain(n), word) for n in called(a))}
        if len(rooms) == 1:
            found[word] = rooms.pop()
    return found


def _players(snapshot: Snapshot, lexicon: Lexicon) -> dict[str, str]:
    """The kinds of player of which there is one: "the radio" is the Kitchen Radio."""
    players = [entity for entity in snapshot.entities if entity.domain == "media_player"]
    found: dict[str, str] = {}
    for word, tag in lexicon.phrases.items():
        if tag == Tag("noun", "media_player"):
            owners = {e.name for e in players if any(_ends(plain(n), word) for n in called(e))}
            if len(owners) == 1 and len(players) > 1:
                found[word] = owners.pop()
    return found


def _ends(name: str, word: str) -> bool:
    return name.endswith(word) and name != word


def _parts(snapshot: Snapshot, lexicon: Lexicon) -> dict[str, str]:
    """What is left of names without their rooms' ("吊灯" of "客厅吊灯"), where one thing has it; of
    门口的灯 nothing: a lamp is no name."""
    rooms = [plain(name) for area in snapshot.areas for name in called(area)]
    owners: dict[str, set[str]] = {}
    for entity in snapshot.entities:
        for name in called(entity):
            for room in rooms:
                part = plain(name).removeprefix(room).removeprefix("的").strip()
                if lexicon.language == "de" and room.endswith("e"):
                    part = part.removeprefix("n")  # "nlicht" is no part of the Küchenlicht
                if part != plain(name) and len(part) >= (4 if lexicon.spaces else 2):
                    owners.setdefault(part, set()).add(entity.name)
    return {part: names.pop() for part, names in owners.items() if len(names) == 1}


def _spots(snapshot: Snapshot, lexicon: Lexicon) -> dict[str, str]:
    """Where a light is that is called after its place, and no other: "at the desk" is the Desk
    Lamp, 床头那边 the 床头灯."""
    forms = _AT.get(lexicon.language)
    nouns = [word for word, tag in lexicon.phrases.items() if tag == Tag("noun", "light")]
    rooms = {plain(name) for area in snapshot.areas for name in called(area)}
    rooms |= {plain(name) for floor in snapshot.floors for name in called(floor)}
    owners: dict[str, set[str]] = {}
    for entity in snapshot.entities:
        for name in map(plain, called(entity)) if entity.domain == "light" else ():
            noun = next((word for word in nouns if _ends(name, word)), "")
            spot = name.removesuffix(noun).strip()
            if noun and len(spot) >= (4 if lexicon.spaces else 2) and spot not in rooms:
                owners.setdefault(spot, set()).add(entity.name)
    alone = {spot: names.pop() for spot, names in owners.items() if len(names) == 1}
    return {form.format(spot): name for spot, name in alone.items() for form in forms or ()}


_AT: Mapping[str, Sequence[str]] = {
    "en": [
        f"{where} {whose} {{}}"
        for where in ("at", "by", "near", "over", "above", "around", "next to")
        for whose in ("the", "my", "our", "that")
    ]
    + ["{} to"],
    "de": ["am {}", "beim {}", "auf dem {}", "über dem {}", "neben dem {}", "an der {}",
           "überm {}", "vom {}", "{} auf"],
    "zh": ["{}那边", "{}那儿", "{}旁边", "{}边上", "{}附近", "{}上方"],
}  # fmt: skip
_QUESTION_WORDS = frozenset({"wie", "how", "so"})
_TWO_WORDS = frozenset({"dafür", "zuhause"})
"""What is two words where it was heard as two: "was läuft da für ein Lied"."""
_ONLY_VERBS = frozenset({"start", "stop", "play", "pause", "lock", "unlock"})
"""Actions whose words tell of no state that a thing may be in: "close the open blinds"."""
_ARTICLES = frozenset({"the", "my", "our", "der", "die", "das", "den", "dem"})
SHORTEST_COMPOUND = 5
"""Letters. "in dem" is heard as two words because it is two."""


def joined(text: str, known: Collection[str]) -> str:
    """``text`` with what was heard as two or three words and is one: "vor hang", "lese lampe"."""
    words = text.split()
    at = 0
    while at < len(words):
        for length in (3, 2):
            window = words[at : at + length]
            compound = plain("".join(window))
            if len(window) < length or len(compound) < SHORTEST_COMPOUND:
                continue
            if window[0].casefold() in _QUESTION_WORDS or compound in _TWO_WORDS:
                continue  # "wie viele" is written as two words
            if compound in known and plain(" ".join(window)) not in known:
                words[at : at + length] = ["".join(window)]
                break
        at += 1
    return " ".join(words)


def read(text: str, lexicon: Lexicon, phrases: Phrases) -> Reading | None:
    """The meaning of a stripped utterance, or ``None`` where a word stays unknown, or a room is
    named that is not here."""
    if rooms_not_here(text, lexicon, phrases):
        return None
    pieces = pieces_of(text, lexicon, phrases)
    if any(not piece.tags and piece.number is None for piece in pieces):
        return None
    reading = _reading(pieces, lexicon, digits(plain(text), lexicon.language))
    return None if reading and not reading.actions and guessed_verb(pieces) else reading


def guessed_verb(pieces: Sequence[Piece]) -> bool:
    """Whether a single word that was taken for a misspelled name stands where a verb does:
    first or last, beside something that is named. "Munge the desk lamp" is not about the lounge."""
    return len(pieces) > 1 and any(
        piece.wrong
        and piece.tags[0].kind in NAMED
        and " " not in piece.text
        and any(_names(other) for other in pieces if other is not piece)
        for piece in (pieces[0], pieces[-1])
    )


def _names(piece: Piece) -> bool:
    return any(tag.kind in NAMED or tag.kind == "noun" for tag in piece.tags)


def pieces_of(text: str, lexicon: Lexicon, phrases: Phrases) -> Sequence[Piece]:
    """A stripped utterance as known phrases, numbers and unknown words."""
    text = digits(plain(text), lexicon.language)
    if (known := phrases.read.get(text)) is not None:
        return known
    scanned = _without_verbs_named(list(_scan(text, lexicon, phrases)), lexicon)
    respelled = _respelled(scanned, lexicon, phrases)
    pieces = tuple(_without_owners(respelled, lexicon))
    if len(phrases.read) >= MOST_READ:
        phrases.read.clear()
    phrases.read[text] = pieces
    return pieces


def _without_verbs_named(pieces: list[Piece], lexicon: Lexicon) -> list[Piece]:
    """The pieces; a verb that stands between an article and a thing is none, and nobody knows it:
    "turn off the set lamp" is not of every lamp."""
    for at in range(1, len(pieces) - 1):
        before, word, thing = pieces[at - 1 : at + 2]
        if not all(tag.kind == "ignore" or tag.value in _ONLY_VERBS for tag in word.tags):
            continue
        if not word.tags or before.text not in _ARTICLES or not _names(thing):
            continue
        if lexicon.commands(word.text):
            pieces[at] = Piece(word.text)
    return pieces


def _scan(text: str, lexicon: Lexicon, phrases: Phrases) -> Iterator[Piece]:
    """The text as the longest known phrases; between them numbers and single unknown words."""
    at = 0
    while at < len(text):
        if text[at] == " ":
            at += 1
            continue
        end = _longest(text, at, lexicon, phrases)
        if end:
            last = phrases.get(text[at:end] + "$") if end == len(text) else None
            yield Piece(text[at:end], last or phrases[text[at:end]])
            at = end
        elif number := re.compile(r"\d+(?:[.,]\d+)?").match(text, at):
            yield Piece(number[0], number=float(number[0].replace(",", ".")))
            at = number.end()
        else:
            end = at + 1
            if lexicon.spaces:
                end = min((i for i in (text.find(" ", at),) if i > 0), default=len(text))
            yield from _room_and_thing(text[at:end], lexicon, phrases) or (Piece(text[at:end]),)
            at = end


def _room_and_thing(word: str, lexicon: Lexicon, phrases: Phrases) -> tuple[Piece, ...]:
    """An unknown German word as a room and a kind of thing, if it is one of both and nothing here
    is called so: "Schlafzimmervorhänge", "Küchenlicht"."""
    for cut in range(len(word) - 3, 2, -1) if lexicon.language == "de" else ():
        room = next((word[:cut].removesuffix(link) for link in ("", "n", "s")
                     if _is_kind(word[:cut].removesuffix(link), "area", phrases)), "")  # fmt: skip
        if room and _is_kind(word[cut:], "noun", phrases):
            return Piece(room, phrases[room]), Piece(word[cut:], phrases[word[cut:]])
    return ()


def _is_kind(phrase: str, kind: Kind, phrases: Phrases) -> bool:
    return any(tag.kind == kind for tag in phrases.get(phrase, ()))


def _longest(text: str, at: int, lexicon: Lexicon, phrases: Phrases) -> int:
    """Where the longest phrase that begins at ``at`` ends; 0 if none does."""
    for end in range(min(len(text), at + LONGEST_PHRASE), at, -1):
        if lexicon.spaces and _inside_a_word(text, end):
            continue
        if text[at:end] in phrases or (end == len(text) and text[at:end] + "$" in phrases):
            return end
    return 0


def _inside_a_word(text: str, end: int) -> bool:
    return end < len(text) and (
        text[end - 1 : end + 1].isalpha() or CONTRACTED.match(text, end) is not None
    )


def _respelled(pieces: list[Piece], lexicon: Lexicon, phrases: Phrases) -> list[Piece]:
    """Unknown words, with their neighbours, as the one name that they nearly spell.

    What spells nothing stays unknown.
    """
    at = -1
    while (at := _unknown_after(pieces, at)) >= 0:
        best: tuple[int, int, int, int, tuple[Tag, ...]] | None = None
        widest = LONGEST_WINDOW if lexicon.spaces else 6
        for start in range(max(0, at - widest + 1), at + 1):
            for end in range(at + 1, min(len(pieces), start + widest) + 1):
                window = pieces[start:end]
                if any(tag.kind == "action" for piece in window for tag in piece.tags):
                    continue
                if all(_says_little(piece, lexicon) for piece in window):
                    continue  # "nur die" is no radio
                if start + 1 == end and _says_much(pieces[start], lexicon):
                    continue  # "nicht" is no "Licht", and "daylight" no skylight
                found = nearest([piece.text for piece in window], phrases.spellings)
                heard = "".join(piece.text for piece in window)
                if found and _loses_a_name(window, found[1]):
                    continue  # "bei Mila" is no Emil
                if found and found[0] > 1 and is_bought(heard, lexicon.language):
                    continue  # "Butter" is no "Wetter"
                if found and (best is None or (found[0], start - end) < (best[0], best[1])):
                    best = (found[0], start - end, start, end, found[1])
        if best is None:
            continue
        wrong, _, start, end, tags = best
        text = " ".join(piece.text for piece in pieces[start:end])
        pieces = [*pieces[:start], Piece(text, tags, wrong=wrong), *pieces[end:]]
        at = start
    return pieces


def _without_owners(pieces: Sequence[Piece], lexicon: Lexicon) -> Iterator[Piece]:
    """The pieces without who owns a thing that has a name of its own: "the PlayStation of Jonas" is
    one thing, but "the light of Jonas" that of his room."""
    before: Piece | None = None
    link: Piece | None = None
    for piece in pieces:
        kinds = {tag.kind for tag in piece.tags}
        owned = before is not None and (
            "entity" in kinds if link else piece.text.partition(" ")[0] in lexicon.owned_by
        )
        if owned and not link and " " not in piece.text:
            link = piece
            continue
        if link and not owned:
            yield link
        link = None
        if not owned:
            yield piece
            before = piece if "entity" in kinds and "noun" not in kinds else None
    if link:
        yield link


def _loses_a_name(window: Sequence[Piece], heard_as: Sequence[Tag]) -> bool:
    """Whether names that were said rightly would all become another one: "bathroom win door" keeps
    the room as the Bathroom Window."""
    names = [plain(tag.value) for tag in heard_as]
    said = [one for one in window if one.tags and {tag.kind for tag in one.tags} <= NAMED]
    rightly = [one.text for one in said if not one.wrong]
    return bool(rightly) and not any(text in name for text in rightly for name in names)


def _says_little(piece: Piece, lexicon: Lexicon) -> bool:
    return piece.text in lexicon.common or {tag.kind for tag in piece.tags} == {"ignore"}


def _says_much(piece: Piece, lexicon: Lexicon) -> bool:
    """Whether a word has a meaning of its own, which is neither a thing's nor a verb's."""
    return lexicon.negates(piece.text) or bool(lexicon.implied(piece.text))


def _unknown_after(pieces: Sequence[Piece], last: int) -> int:
    """Where the next unknown word is; -1 if there is none."""
    unknown = (i for i, p in enumerate(pieces) if i > last and not p.tags and p.number is None)
    return next(unknown, -1)


def _reading(pieces: Sequence[Piece], lexicon: Lexicon, text: str) -> Reading | None:
    of: dict[str, list[str]] = {}
    for piece in pieces:
        for tag in piece.tags:
            of.setdefault(tag.kind, []).append(tag.value)
    said = frozenset(of.get("action", ()))
    actions = None if len(said) > 1 and _ANOTHER.search(text) else _combined(said, lexicon)
    wrong = sum(piece.wrong for piece in pieces)
    if actions is None or (wrong and not actions and not of.get("entity")):
        return None
    return Reading(
        actions=actions,
        names=tuple(dict.fromkeys(of.get("entity", ()))),
        areas=tuple(dict.fromkeys(of.get("area", ()))),
        floors=tuple(dict.fromkeys(of.get("floor", ()))),
        nouns=frozenset(of.get("noun", ())),
        numbers=tuple(piece.number for piece in pieces if piece.number is not None),
        units=frozenset(of.get("unit", ())),
        difference=lexicon.is_difference(text, actions),
        colors=tuple(of.get("color", ())),
        modes=tuple(dict.fromkeys(of.get("mode", ()))),
        everything="all" in of,
        here="here" in of,
        joined=any(piece.text in lexicon.joints for piece in pieces),
        score=round(max(0.0, 0.9 - SCORE_MISSPELLED * wrong), 2),
    )


def _combined(actions: frozenset[str], lexicon: Lexicon) -> frozenset[str] | None:
    """At most one action: two that are not one together disagree."""
    if len(actions) == 2 and (together := lexicon.combine.get(actions)):
        return frozenset((together,))
    if len(actions - {"half", "full"}) > 1:
        return None
    return actions


def slots_of(reading: Reading) -> dict[str, Any]:
    """The slots that say which entities are meant."""
    slots: dict[str, Any] = {}
    if reading.names:
        slots["name"] = reading.names[0]
    if reading.areas:
        slots["area"] = reading.areas[0]
    if reading.floors:
        slots["floor"] = reading.floors[0]
    return slots
