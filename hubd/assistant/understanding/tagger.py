"""Which words of an utterance say what it is about, and which say when.

A tagger of words (in Chinese of characters) with the tags of Ramshaw and Marcus (1995): each word
begins a part, goes on with it, or is outside. The tags of a sentence are the likeliest together
(Viterbi), by the weights of an averaged perceptron over the words around each (Collins 2002), which
`bench/fit_worded.py` fits to marked examples. Features are kept at the place that their hash gives.
"""

import itertools
import re
import zlib
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from plugins.numbers import digits

PLACES = 1 << 16
"""A language's examples have 180 000 to 220 000 features, three in four of which are seen once."""
OUTSIDE, ABOUT, ABOUT_ON, WHEN, WHEN_ON = range(5)
"""The tags: outside, and the beginning and the rest of either kind of part."""
TAGS = 5
FORBIDDEN = -1e9
_CHINESE_NUMERALS = tuple("零一二两三四五六七八九十百千半")
GAP = 2
"""From the end of a part to the beginning of another that belongs to it."""
_WORD = re.compile(r"\w+(?:['’.:,\-]\w+)*|[^\w\s.!?…]")
_CHARACTER = re.compile(r"[a-z0-9]+(?:[.:]\d+)?|[^\s。！？…!?.]", re.IGNORECASE)
"""What ends a sentence is in no part, and not heard."""
_ENDS = re.compile(r"[.!?。！？…]")
_MARK = re.compile(r"[\[\]{}]")

Weights = NDArray[np.float32]

_WORD_BEFORE = re.compile(r"(?:[A-Za-z0-9]+-)*$")
_WORD_BEHIND = re.compile(r"(?:-[A-Za-z0-9]+)*")
"""The rest of a word with hyphens, of which a part is only a piece: Wi-Fi."""
_OUR = re.compile("(?:我|咱|你|他|她)们?$")
"""Before the 家 of "our house's", which is none of what is asked about: 咱们家车位."""


class Token(NamedTuple):
    """A word or a mark, and where it stands."""

    text: str
    begin: int
    end: int
    sentence: int
    """Which of the text's: no part goes on in the next."""


class Parts(NamedTuple):
    """What an utterance says, in its own words."""

    about: tuple[str, ...]
    when: tuple[str, ...]
    whole: str = ""
    """What it is about as one: parts that next to nothing stands between are taken together, and
    the longest is taken."""
    text: str = ""
    """All that was said."""


def tokens_of(text: str, *, spaces: bool) -> list[Token]:
    """The words and marks of a text; characters where words are not written apart."""
    pattern = _WORD if spaces else _CHARACTER
    tokens: list[Token] = []
    sentence = end = 0
    for found in pattern.finditer(text):
        sentence += bool(tokens and _ENDS.search(text, end, found.start()))
        end = found.end()
        tokens.append(Token(found[0].casefold(), found.start(), end, sentence))
    return tokens


def unmarked(marked: str, *, spaces: bool) -> tuple[str, list[Token], list[int]]:
    """An example without its brackets, its words, and their tags.

    Raises:
        ValueError: a bracket is not closed, or stands within a word.
    """
    text, parts, begin = "", [], -1
    for piece in re.split(r"([\[\]{}])", marked):
        if piece in "[{" and piece:
            begin = len(text)
        elif piece in "]}" and piece:
            if begin < 0:
                raise ValueError(f"no bracket is open: {marked}")
            parts.append((begin, len(text), ABOUT if piece == "]" else WHEN))
            begin = -1
        else:
            text += piece
    if begin >= 0:
        raise ValueError(f"a bracket is not closed: {marked}")
    tokens = tokens_of(text, spaces=spaces)
    tags = [OUTSIDE] * len(tokens)
    for first, last, tag in parts:
        inside = [i for i, token in enumerate(tokens) if first <= token.begin and token.end <= last]
        if not inside:
            raise ValueError(f"a bracket stands within a word: {marked}")
        for i in inside:
            tags[i] = tag if i == inside[0] else tag + 1
    return text, tokens, tags


def places_of(
    tokens: Sequence[Token], tool: str, *, language: str, hidden: Sequence[int] = ()
) -> NDArray[np.intp]:
    """The places of the features of each word: (words, features).

    hidden: words that shall not be looked at themselves, as if nobody knew them.
    """
    unknown, rows = frozenset(hidden), []
    for _, group in itertools.groupby(enumerate(tokens), key=lambda pair: pair[1].sentence):
        numbers, said = zip(*group, strict=True)
        words = ["<2", "<1", *(token.text for token in said), ">1", ">2"]
        for at, number in enumerate(numbers, start=2):
            features = _features(words, at, tool, language, number in unknown)
            rows.append([zlib.crc32(feature.encode()) % PLACES for feature in features])
    return np.array(rows, np.intp)


def scores_of(weights: NDArray[Any], places: NDArray[np.intp], tokens: Sequence[Token]) -> Weights:
    """How much speaks for each tag of each word: (words, TAGS); weights: (PLACES, TAGS)."""
    scores: Weights = weights[places].sum(axis=1, dtype=np.float32)
    begins = [
        i for i, (a, b) in enumerate(itertools.pairwise(tokens), 1) if a.sentence < b.sentence
    ]
    scores[np.ix_([0, *begins], [ABOUT_ON, WHEN_ON])] = FORBIDDEN
    return scores


def _features(
    words: Sequence[str], at: int, tool: str, language: str, hidden: bool
) -> Iterator[str]:
    before2, before, word, after, after2 = words[at - 2 : at + 3]
    word = "?" if hidden else word
    kind, after_kind = _kind(words[at], language), _kind(after, language)
    before_kind = _kind(before, language)
    yield from (f"0{word}", f"-{before}", f"+{after}", f"--{before2}", f"++{after2}")
    yield from (f"-0{before} {word}", f"0+{word} {after}", f"-+{before} {after}")
    yield from (f"--- {before2} {before}", f"+++ {after} {after2}", f"k{kind}{before}")
    yield from (f"t{tool}", f"t0{tool} {word}", f"t-{tool} {before}", f"t+{tool} {after}")
    yield from (f"t--{tool} {before2} {before}", f"t++{tool} {after} {after2}", f"tk{tool}{kind}")
    if language != "zh":
        yield from (f"s{word[-3:]}", f"p{word[:3]}", f"b{before_kind}{kind}{after_kind}")
    else:
        yield from (
            f"-2 {before2}{before}{word}",
            f"+2 {word}{after}{after2}",
            f"1 {before}{word}{after}",
        )


@lru_cache(maxsize=4096)
def _kind(word: str, language: str) -> str:
    """Whether it is a number, a word or a mark."""
    if word[:1] in _CHINESE_NUMERALS or digits(word, language)[:1].isdigit():
        return "9"
    return "a" if word[:1].isalpha() else word[:1]


def tagged(scores: NDArray[np.float32], moves: NDArray[np.float32]) -> list[int]:
    """The likeliest tags together: scores (words, TAGS), moves (TAGS, TAGS) from tag to tag."""
    moves = moves + _forbidden()
    best = scores[0] + _forbidden()[OUTSIDE]
    came: list[NDArray[np.intp]] = []
    for row in scores[1:]:
        through = best[:, None] + moves
        came.append(through.argmax(axis=0))
        best = through.max(axis=0) + row
    tags = [int(best.argmax())]
    for backwards in reversed(came):
        tags.append(int(backwards[tags[-1]]))
    return tags[::-1]


def _forbidden() -> NDArray[np.float32]:
    """Nothing goes on that has not begun."""
    moves = np.zeros((TAGS, TAGS), np.float32)
    moves[:, ABOUT_ON] = moves[:, WHEN_ON] = FORBIDDEN
    moves[[ABOUT, ABOUT_ON], ABOUT_ON] = moves[[WHEN, WHEN_ON], WHEN_ON] = 0.0
    return moves


def parts_of(text: str, tokens: Sequence[Token], tags: Sequence[int]) -> Parts:
    """The marked parts, as they were said."""
    found: dict[int, list[tuple[int, int]]] = {ABOUT: [], WHEN: []}
    for at, tag in enumerate(tags):
        if tag in found:
            found[tag].append((at, at))
        elif tag != OUTSIDE:
            first, _ = found[tag - 1].pop()
            found[tag - 1].append((first, at))

    def said(part: tuple[int, int]) -> str:
        begin, end = tokens[part[0]].begin, tokens[part[1]].end
        before, behind = _WORD_BEFORE.search(text, 0, begin), _WORD_BEHIND.match(text, end)
        begin = before.start() if before else begin
        end = behind.end() if behind else end
        return text[begin:end].removeprefix("家" if _OUR.search(text[:begin]) else "")

    whole = max(_joined(found[ABOUT]), key=lambda part: part[1] - part[0], default=None)
    about, when = (tuple(map(said, found[tag])) for tag in (ABOUT, WHEN))
    return Parts(about, when, said(whole) if whole else "", text)


def _joined(parts: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The parts, those as one that at most a word stands between: "the Brighouse and Rastrick"."""
    joined: list[tuple[int, int]] = []
    for first, last in parts:
        if joined and first - joined[-1][1] <= GAP:
            first, _ = joined.pop()
        joined.append((first, last))
    return joined
