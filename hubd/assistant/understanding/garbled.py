"""What may have been named, where speech recognition heard several words for one.

"Dunst anzug" is the Dunstabzug, "can sell the timer" wants it cancelled, and "the off his thermo
stat" hangs in the office.

Words next to each other are compared, as one and by what they sound like, with the names of the
household and the kinds of things, which they may miss by a little, and with all words of commands,
which they may not. Whoever calls tries what comes of it only after the utterance was not understood
as it stands, and by sentences and words alone.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from rapidfuzz.distance import OSA

from hubd.assistant.understanding.heard import Vocabulary, key_of
from hubd.assistant.understanding.lexicon import NAMED, Lexicon, Tag
from hubd.assistant.understanding.plain import plain
from hubd.assistant.understanding.sounds import sound

MOST_WORDS = 4
"""Heard for one name."""
MOST_CHARACTERS = 7
"""The same in Chinese."""
SHORTEST_KEY = 5
"""Sounds of a name, below which too many others are like it."""
SHORTEST_SOUNDED = 4
"""The same of a word that is heard exactly so."""
FEWEST_CONSONANTS = 4
"""Of a name that is known by them alone."""
UNMISTAKABLE = 7
"""So many of them are as good as the name itself."""
PER_SOUND = 4
"""One of so many may be another."""
_KINDS = frozenset({"noun", "unit", "color"})
MOST_FORMS = 6
"""Tries."""


class Named(NamedTuple):
    """The household's names and the kinds of things, by what they sound like."""

    by_key: Mapping[str, str]
    by_consonants: Mapping[str, str]
    """The same by the consonants alone, where there are enough of them."""
    phrases: frozenset[str]
    """All of them: a word that is one was heard rightly."""


class _Meant(NamedTuple):
    wrong: int
    start: int
    end: int
    text: str


def named(phrases: Mapping[str, tuple[Tag, ...]], known: Lexicon) -> Named:
    """What can be named, of those phrases; of two that sound alike neither."""
    found: dict[str, str] = {}
    consonants: dict[str, str] = {}
    for phrase, tags in phrases.items():
        if "$" in phrase or not (tags[0].kind in NAMED or tags[0].kind in _KINDS):
            continue
        key = _key(phrase, known)
        if len(key) >= (SHORTEST_KEY if known.spaces else 1):
            found[key] = phrase if found.get(key, phrase) == phrase else ""
        if known.spaces and len(hard := _consonants(phrase, known)) >= FEWEST_CONSONANTS:
            consonants[hard] = phrase if consonants.get(hard, phrase) == phrase else ""
    by_key = {key: phrase for key, phrase in found.items() if phrase}
    by_consonants = {key: phrase for key, phrase in consonants.items() if phrase}
    every = frozenset(p for p, tags in phrases.items() if tags[0].kind in NAMED | _KINDS)
    return Named(by_key, by_consonants, every)


def forms(
    text: str, known: Lexicon, vocabulary: Vocabulary, names: Named, *, exactly: bool
) -> list[str]:
    """What ``text`` may have been: with all that was heard otherwise put right, then with each of
    it alone, the likeliest first; empty where nothing sounds like anything else, or ``exactly``
    so."""
    said = known.misheard(plain(text))
    words = said.split() if known.spaces else list(said.replace(" ", ""))
    windows = _in_words if known.spaces else _in_characters
    found = sorted(windows(words, known, vocabulary, names), key=_likeliest_first)
    found = [one for one in found if not (exactly and one.wrong)]
    apart: list[_Meant] = []
    for one in found:
        if all(one.end <= other.start or one.start >= other.end for other in apart):
            apart.append(one)
    tries = [apart, *([one] for one in found)] if len(apart) > 1 else [[one] for one in found]
    between = " " if known.spaces else ""
    return list(dict.fromkeys(_put_right(words, one, between) for one in tries))[:MOST_FORMS]


def _likeliest_first(one: _Meant) -> tuple[float, int]:
    return one.wrong / len(one.text), one.start - one.end


def _put_right(words: Sequence[str], meant: Sequence[_Meant], between: str) -> str:
    said = list(words)
    for one in sorted(meant, key=lambda one: -one.start):
        said[one.start : one.end] = [one.text]
    return between.join(said)


def _in_words(
    words: Sequence[str], known: Lexicon, vocabulary: Vocabulary, names: Named
) -> Iterator[_Meant]:
    for start in range(len(words)):
        for end in range(start + 1, min(start + MOST_WORDS, len(words)) + 1):
            window = " ".join(words[start:end])
            if end == start + 1 and window in vocabulary.words:
                continue  # a single word that is known is what was said
            if any(word in names.phrases for word in words[start:end]):
                continue
            key = _key(window, known)
            if len(key) < SHORTEST_SOUNDED:
                continue
            hard = _consonants(window, known)
            exact = names.by_key.get(key) or (
                vocabulary.by_sound.get(key, "") if end > start + 1 else ""
            )
            if not exact and len(hard) >= UNMISTAKABLE:
                exact = names.by_consonants.get(hard, "")
            if exact:
                if exact != window and exact.replace(" ", "") != window:
                    yield _Meant(0, start, end, exact)
            elif known.commands(window) or any(map(known.actions_in, words[start:end])):
                continue  # "schalt den" is no Schalter
            elif end == start + 1:
                continue  # which ``misspelled`` has compared already
            elif near := _nearest(key, names):
                yield _Meant(near[0], start, end, near[1])
            elif alike := names.by_consonants.get(hard):
                yield _Meant(1, start, end, alike)


def _in_characters(
    words: Sequence[str], known: Lexicon, vocabulary: Vocabulary, names: Named
) -> Iterator[_Meant]:
    text = "".join(words)
    for start in range(len(text)):
        for end in range(start + 2, min(start + MOST_CHARACTERS, len(text)) + 1):
            window = text[start:end]
            if window in vocabulary.words or (end == start + 2 and known.actions_in(window)):
                continue
            key = _key(window, known)
            exact = names.by_key.get(key, "") or (
                vocabulary.by_sound.get(key, "") if end - start > 2 else ""
            )
            if exact and exact != window:
                yield _Meant(0, start, end, exact)


def _nearest(key: str, names: Named) -> tuple[int, str] | None:
    """How many sounds are wrong, and the name that is nearest, if one is and is near enough."""
    allowed = len(key) // PER_SOUND
    if len(key) < SHORTEST_KEY or not allowed:
        return None
    best, owners = allowed + 1, set[str]()
    for other in names.by_key:
        limit = min(best, len(other) // PER_SOUND)
        wrong = OSA.distance(key, other, score_cutoff=limit)
        if wrong > limit or (other[0] != key[0] and wrong > 1):
            continue
        owners = {names.by_key[other]} | (owners if wrong == best else set())
        best = wrong
    return (best, owners.pop()) if len(owners) == 1 else None


def _consonants(text: str, known: Lexicon) -> str:
    return sound(text.replace(" ", "").replace("'", ""), known.language)


def _key(text: str, known: Lexicon) -> str:
    joined = text.replace(" ", "").replace("'", "").replace("-", "")
    if not known.spaces:
        return sound(joined, known.language)
    return key_of(joined, known.language)
