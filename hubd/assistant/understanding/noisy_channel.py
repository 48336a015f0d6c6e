"""What was said, by what was heard: the likeliest words that sound like it.

A noisy channel (Shannon 1948; Kernighan, Church and Gale 1990): of all sentences that can have
sounded so the one is taken for which the chance that somebody says it, times the chance that it is
heard so, is greatest. The first is a bigram model with absolute discounting (Ney, Essen and Kneser
1994) of the examples, of sentences that the grammars make, and of the household's names; the second
falls with the difference of sounds. In Chinese the words are characters, and those of one syllable
are heard for each other.

`bench/fit_channel.py` counts the pairs of words, and has to be run where sentences or examples
speak of something new. Knows nothing of commands: whoever calls has the rules decide on what comes
out.
"""

import itertools
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from unicode_rbnf import RbnfEngine

from hubd.assistant.understanding.lexicon import lexicon
from hubd.assistant.understanding.phones import (
    VOWEL,
    difference,
    frame,
    keys,
    pronounced,
    said_together,
)
from hubd.assistant.understanding.plain import plain
from hubd.assistant.understanding.sounds import readings

FOLDER = Path(__file__).parent / "pairs"
NUMBER = "20"
"""Any number: the examples have no other."""
FREE = "*"
"""Any word of a title or an item, and any that no sentence has."""
START, END = "<", ">"
DISCOUNT = 0.75
SPELLED = math.log(3e-3)
"""The chance of one of all the words that no sentence has."""
NAMED = 4
"""How often the words of a household's name count as said behind each other."""
SHARE = 0.05
"""How often a name counts as said, against "the lamp" and "the room" in the examples."""
LONGEST = 3
"""Words that are heard for one."""
JOINED = 0.5
"""What it costs to take words for one that is written so, in nats, as the rest."""
SHORTEST = 3
"""Letters of what may have been another word: "on" is none."""
CHANGED = 2.0
"""What it costs to take one word for another at all."""
PER_SOUND = 5.0
"""The same for a difference of sounds of one."""
MOST = 0.9
"""The difference from which on two words do not sound alike."""
MOST_OF_LENGTH = 0.3
"""The same, of the length of the longer one."""
LENGTHS = 3
"""Sounds by which two words that sound alike may differ in length."""
KEPT = 4096
"""Words that were looked for."""
BEAM = 24
"""Beginnings of the sentence that are followed."""
GAIN = 3.0
"""How much likelier than what was heard a sentence has to be, in nats."""
FORMS = 3
"""Sentences that are worth a try."""
USUAL, TOGETHER = 0.02, 0.1
"""The chance of a word behind another from which on both were heard rightly, and are not one."""
MOST_WORDS, MOST_CHARACTERS = 16, 28
"""A command is not longer; the time that is needed grows with it."""
_NUMERALS = frozenset("零一二两三四五六七八九十百半")


Pairs = Mapping[str, Mapping[str, float]]
"""Word → the word behind it → how often."""
Sounding = Mapping[str, Sequence[tuple[str, str]]]
"""Skeleton, with and without one of its consonants → words and their sounds; in Chinese syllable →
characters."""


class Row(NamedTuple):
    """What stands behind a word."""

    counts: Mapping[str, float]
    times: float
    rest: float
    """The chance that the discounts left for all words."""


class Model(NamedTuple):
    """How likely words follow each other.

    What is asked is worked out from the counts: a sentence needs a few words' of thousands.
    """

    single: Mapping[str, float]
    """Word → how often it was counted, whatever stands before it."""
    total: float
    """Of all of these."""
    pairs: tuple[Pairs, Pairs]
    """Those of the language, and what the household adds to them."""
    rows: dict[str, Row]
    """Of the words that were asked for."""

    def chance(self, before: str, word: str) -> float:
        """The discounted chance of ``word`` behind ``before``; 0 where that was never counted."""
        row = self._row(before)
        return max(row.counts.get(word, 0.0) - DISCOUNT, 0.0) / row.times if row.times else 0.0

    def score(self, before: str, word: str) -> float:
        """The logarithm of the chance of ``word`` behind ``before``."""
        rest = self._row(before).rest * self.single[word] / self.total
        return math.log(self.chance(before, word) + rest)

    def _row(self, before: str) -> Row:
        if (kept := self.rows.get(before)) is not None:
            return kept
        of_language, of_household = (pairs.get(before, {}) for pairs in self.pairs)
        counts = dict(of_language)
        for word, times in of_household.items():
            counts[word] = counts.get(word, 0.0) + times
        times = sum(counts.values())
        told = sum(max(count - DISCOUNT, 0.0) for count in counts.values())
        row = Row(counts, times, 1.0 - told / times if times else 1.0)
        if counts:  # as many at most as there are words, and the beginning
            self.rows[before] = row
        return row


class Channel(NamedTuple):
    """What can be said in a household, by what it sounds like."""

    language: str
    spaces: bool
    model: Model
    sounding: tuple[Sounding, Sounding]
    """The words of the language, and those that the household adds."""
    verbs: frozenset[str]
    """Words of commands: one letter lies between "on" and "off", so none is guessed by more than
    which vowels it has."""
    found: dict[tuple[str, ...], list[tuple[str, float]]]
    """What was looked for before."""

    def alike(self, key: str) -> Iterator[tuple[str, str]]:
        """The words that are found by a key."""
        for words in self.sounding:
            yield from words.get(key, ())


class Said(NamedTuple):
    """What may have been said."""

    text: str
    strange: bool
    """Whether a word of it is one that no sentence has."""


class _Begun(NamedTuple):
    score: float
    words: tuple[str, ...]
    last: str


def channel_of(language: str, names: Iterable[str], words: Iterable[str]) -> Channel:
    """The channel of a household: its names, and further words that a sentence may have."""
    spaces = language != "zh"
    pairs: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    before_a_thing, behind_a_thing = _about_things(language)
    for name in names:
        parts = _units(name, spaces)
        for before, part in itertools.pairwise(parts):
            pairs[before][part] += NAMED
        for before, times in before_a_thing.items():
            pairs[before][parts[0]] += times
        for after, times in behind_a_thing.items():
            pairs[parts[-1]][after] += times
    single: dict[str, float] = defaultdict(float, _singly(language))
    for counts in pairs.values():
        for word, times in counts.items():
            single[word] += times
    words = {word for word in words if spaces or len(word) == 1}
    for word in words:
        single[_class(word, language)] += 1
    model = Model(single, sum(single.values()), (_counted(language), pairs), {})
    added = _by_sound(_speakable({*single, *words}, language) - _usual_words(language), language)
    tags = lexicon(language).phrases.items()
    verbs = frozenset(said.partition(" ")[0] for said, tag in tags if tag.kind == "action")
    return Channel(language, spaces, model, (_usually_sounding(language), added), verbs, {})


@cache
def _singly(language: str) -> Mapping[str, float]:
    """How often each word of the language was counted."""
    single: dict[str, float] = defaultdict(float)
    for counts in _counted(language).values():
        for word, times in counts.items():
            single[word] += times
    return single


@cache
def _usual_words(language: str) -> frozenset[str]:
    """The words of the language that may have been said."""
    return _speakable({*_singly(language), *_numerals(language)}, language)


@cache
def _usually_sounding(language: str) -> Sounding:
    return _by_sound(_usual_words(language), language)


def _speakable(words: Set[str], language: str) -> frozenset[str]:
    """Those of some words that something else may be heard for. Of the Chinese numerals none is:
    some character sounds like each."""
    if language == "zh":
        return frozenset(w for w in words if w.isalpha() and len(w) == 1) - _NUMERALS
    return frozenset(word for word in words if word.isalpha())


def _by_sound(words: Set[str], language: str) -> Sounding:
    by_sound: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for word in sorted(words):
        if language == "zh":
            for reading in readings(word):
                by_sound[reading].append((word, ""))
            continue
        sounds = pronounced(word, language)
        for key in keys(sounds):
            by_sound[key].append((word, sounds))
    return by_sound


def likeliest(text: str, channel: Channel) -> list[Said]:
    """What was said, likeliest first, where ``text`` was heard and something else is likelier."""
    heard = _units(text, channel.spaces)
    if len(heard) > (MOST_WORDS if channel.spaces else MOST_CHARACTERS):
        return []
    usual = _usual(heard, channel)
    reached: list[list[_Begun]] = [[] for _ in range(len(heard) + 1)]
    reached[0] = [_Begun(0.0, (), START)]
    for at in range(len(heard)):
        begun = sorted(reached[at], key=lambda one: -one.score)[:BEAM]
        for end in range(at + 1, min(at + (LONGEST if channel.spaces else 1), len(heard)) + 1):
            for word, cost in _choices(heard, at, end, usual, channel):
                kind = _class(word, channel.language)
                if kind not in channel.model.single:
                    kind, cost = FREE, cost - SPELLED
                reached[end] += [
                    _Begun(
                        one.score - cost + channel.model.score(one.last, kind),
                        (*one.words, word),
                        kind,
                    )
                    for one in begun
                ]
    ends = [
        one._replace(score=one.score + channel.model.score(one.last, END)) for one in reached[-1]
    ]
    ends.sort(key=lambda one: -one.score)
    as_heard = next((one.score for one in ends if list(one.words) == heard), -math.inf)
    between, single = " " if channel.spaces else "", channel.model.single
    found = [
        Said(between.join(one.words), not single.keys() >= set(_classes(one.words, channel)))
        for one in ends[: FORMS + 1]
        if one.score >= as_heard + GAIN and list(one.words) != heard
    ]
    return list(dict.fromkeys(found))[:FORMS]


def _classes(words: Sequence[str], channel: Channel) -> list[str]:
    return [_class(word, channel.language) for word in words]


def _usual(heard: Sequence[str], channel: Channel) -> list[float]:
    """How usual what stands beside each gap is, the one before the first word among them."""
    kinds = [START, *_classes(heard, channel), END]
    return [channel.model.chance(a, b) for a, b in itertools.pairwise(kinds)]


def _choices(
    heard: Sequence[str], at: int, end: int, usual: Sequence[float], channel: Channel
) -> Iterator[tuple[str, float]]:
    """What may have been said where ``heard[at:end]`` was heard, and what each costs."""
    alone = end == at + 1
    if alone:
        yield heard[at], 0.0
    enough = USUAL if alone else TOGETHER
    if channel.spaces and min(usual[at : end + 1] if alone else usual[at + 1 : end]) >= enough:
        return
    words = tuple(heard[at:end])
    if (found := channel.found.get(words)) is None:
        if len(channel.found) > KEPT:
            channel.found.clear()
        channel.found[words] = found = list(_sounding_like(words, channel))
    for word, cost in found:
        if words != (word,):
            yield word, cost


def _sounding_like(words: Sequence[str], channel: Channel) -> Iterator[tuple[str, float]]:
    """The words that those that were heard may be as one, and what each costs."""
    joined = "".join(words)
    if not channel.spaces:
        alike = (one for reading in readings(joined) for one in channel.alike(reading))
        yield from {word: CHANGED + PER_SOUND * VOWEL for word, _ in alike}.items()
        return
    if not joined.isalpha() or len(joined) < SHORTEST:
        return
    sounds = said_together(words, channel.language)
    candidates = {one: None for key in keys(sounds) for one in channel.alike(key)}
    for word, other in candidates:
        if abs(len(sounds) - len(other)) > LENGTHS:
            continue
        if word in channel.verbs and frame(sounds) != frame(other):
            continue
        limit = min(MOST, MOST_OF_LENGTH * max(len(sounds), len(other)))
        if (unlike := difference(sounds, other, limit)) <= limit:
            yield word, JOINED if word == joined else CHANGED + PER_SOUND * unlike


@cache
def _counted(language: str) -> Mapping[str, Counter[str]]:
    """Word → how often which others stand behind it; nothing where a language was not counted."""
    path = FOLDER / f"{language}.npz"
    if not path.is_file():
        return {}
    with np.load(path) as stored:
        words = stored["words"].tobytes().decode().split("\n")
        rows = zip(*(stored[name].tolist() for name in ("before", "behind", "times")), strict=True)
    pairs: dict[str, Counter[str]] = defaultdict(Counter)
    for before, behind, times in rows:
        pairs[words[before]][words[behind]] = times
    return pairs


def counts_of(sentences: Iterable[tuple[str, int]], language: str) -> Mapping[str, Counter[str]]:
    """The same of sentences and how often each counts."""
    pairs: dict[str, Counter[str]] = defaultdict(Counter)
    for text, times in sentences:
        words = [_class(word, language) for word in _units(text, language != "zh")]
        for before, word in zip([START, *words], [*words, END], strict=True):
            pairs[before][word] += times
    return pairs


@cache
def _about_things(language: str) -> tuple[Mapping[str, float], Mapping[str, float]]:
    """What stands before and behind a lamp or a room in the examples, which is said of any name."""
    pairs, known = _counted(language), lexicon(language)
    before: dict[str, float] = defaultdict(float)
    behind: dict[str, float] = defaultdict(float)
    for kind in ("light", "area"):
        word = _units(known.stand_in(kind), known.spaces)
        first, last = word[-1] if known.spaces else word[0], word[-1]
        for other, counts in pairs.items():
            if counts.get(first):
                before[other] += SHARE * counts[first]
        for other, times in pairs.get(last, {}).items():
            behind[other] += SHARE * times
    return before, behind


def _units(text: str, spaces: bool) -> list[str]:
    said = plain(text)
    return said.split() if spaces else list(said.replace(" ", ""))


def _class(word: str, language: str) -> str:
    """The word as the model knows it: any number is one."""
    return NUMBER if word[:1].isdigit() or word in _numerals(language) else word


@cache
def _numerals(language: str) -> frozenset[str]:
    """The words for numbers to 100."""
    if language == "zh":
        return _NUMERALS
    engine = RbnfEngine.for_language(language)
    words = [str(engine.format_number(n).text).replace("\xad", "") for n in range(101)]
    return frozenset(part for word in words for part in word.replace("-", " ").split())
