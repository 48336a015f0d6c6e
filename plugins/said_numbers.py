"""Numbers as they are said, anywhere in a text: "three-eighths", "fünf zehn", "a hundred and two".

No plugin itself. Where `numbers.digits` reads what everything is told, this reads what is to be
calculated: numbers of any size, in pieces as recognizers hear them, fractions and decimal places,
with hesitations between. What can be read in two ways stays as two numbers, which is no sum and no
quantity. The words are those of said_numbers.yaml.
"""

import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from plugins.numbers import chinese_digits, number_words
from plugins.speech import FAST_LOADER

MOST_PIECES = 12
"""Of one number: it bounds the work, and 999 999 999 has no more."""
_PART = " ; "
"""Where somebody stopped: "twenty, uh, five" may be two numbers."""
_HUNDRED = 100
_MOST_OF_A_SINGULAR = 9
"""A "three-quarter cup" is said, but "twenty third" is an ordinal."""
FRACTION = re.compile(r"\((?:\d+ \+ )?\d+/\d+\)")
_CHINESE_DIGIT = "[零〇一二两三四五六七八九]"
_DIGIT_BY_DIGIT = re.compile(
    rf"((?<![零〇一二两三四五六七八九十百千万亿点]){_CHINESE_DIGIT}{{2,}}(?![十百千万亿]))"
)
"""三四 is 34, or three or four."""
_UNCLEAR = re.compile(f";|{_CHINESE_DIGIT}")
Replacements = list[tuple[re.Pattern[str], str]]


class _Language(NamedTuple):
    """What numbers are made of in a language; see said_numbers.yaml."""

    values: dict[str, int]
    """The words below a hundred, without spaces and hyphens."""
    powers: dict[str, int]
    run: re.Pattern[str]
    """All words of a number, or of several without anything else between."""
    piece: re.Pattern[str]
    point: re.Pattern[str]
    before_places: re.Pattern[str]
    """What a text ends with if decimal places follow."""
    fraction: re.Pattern[str]
    parts: dict[str, int]
    of: re.Pattern[str]
    joined: re.Pattern[str]
    """A hesitation that parts nothing, as something has to follow."""


class _Said(NamedTuple):
    """What is said beside the numbers of a language."""

    asides: re.Pattern[str]
    asked: re.Pattern[str]
    before: Replacements
    after: Replacements


def in_digits(text: str, language: str) -> str:
    """``text`` in lower case with every number in digits: ``3 komma 5`` as ``3,5``, a fraction as
    ``(3/8)``, a whole number and a fraction as ``(2 + 3/4)``.

    As it stands in languages that said_numbers.yaml does not have.
    """
    if language not in _rows():
        return text
    said = _said(language)
    text = _replaced(without_asides(text, language), said.before)
    if language == "zh":
        text = _chinese_in_digits(text)
    else:
        text = _cardinals_and_fractions(text, _language(language))
    text = _replaced(text, said.after)
    return " ".join(_without_needless_parts(text).split())


def without_asides(text: str, language: str) -> str:
    """``text`` in lower case without what is asked of it, and with a semicolon for what says
    nothing: "zwölf mal, äh, drei"."""
    said = _said(language)
    text = " ".join(text.casefold().replace("’", "'").split()).strip(" ?？.。!！=,，")
    return said.asides.sub(_PART, said.asked.sub("", text))


def is_unclear(text: str) -> bool:
    """Whether `in_digits` left something that may be one number or two."""
    return _UNCLEAR.search(text) is not None


def is_fraction(text: str) -> bool:
    """Whether it is one number: a fraction as `in_digits` writes it."""
    return FRACTION.fullmatch(text) is not None


def _chinese_in_digits(text: str) -> str:
    """Every number but those said digit by digit, which stay as they are."""
    parts = _DIGIT_BY_DIGIT.split(text.replace("百分之", "﹪"))
    parts[::2] = [chinese_digits(part) for part in parts[::2]]
    return "".join(parts).replace("﹪", "百分之")


def _cardinals_and_fractions(text: str, words: _Language) -> str:
    text = words.joined.sub(r"\1 ", text)
    text = words.run.sub(lambda match: _run_in_digits(match, words), text)
    text = words.point.sub(_decimal, text)
    text = words.fraction.sub(lambda match: _fraction(match, words.parts), text)
    return words.of.sub(") * ", text)


def _run_in_digits(run: re.Match[str], words: _Language) -> str:
    """The numbers of a run, with what stood between them."""
    places = words.before_places.search(run.string[: run.start()]) is not None
    text, written, end = run[0], "", 0
    for number in _numbers(_words_of(text, words), places):
        between = text[end : number.start] or (" " if written else "")
        written += f"{between}{number.shown}"
        end = number.end
    return written


class _Word(NamedTuple):
    text: str
    value: int
    start: int
    end: int
    is_power: bool
    is_article: bool


def _words_of(run: str, words: _Language) -> Iterator[_Word]:
    """The words of numbers in a run: an article is 1, and digits are themselves."""
    for piece in words.piece.finditer(run):
        text = re.sub("[ -]", "", piece[0])
        value = words.powers.get(text) or words.values.get(text)
        if value is None:
            value = int(text) if text.isdecimal() else 1
        article = text not in words.values and text not in words.powers and not text.isdecimal()
        yield _Word(text, value, *piece.span(), text in words.powers, article)


class _Number(NamedTuple):
    shown: str
    start: int
    end: int


def _numbers(said: Iterable[_Word], places: bool) -> Iterator[_Number]:
    """Every number of a run; the next begins where a word no longer fits the one before.

    places: they are decimal places, and a power is of the whole number: "two point five million"
    """
    reading: _Reading | None = None
    start = end = 0
    for word in said:
        if reading is None or places or not reading.takes(word):
            if reading is not None:
                yield _Number(reading.shown, start, end)
            reading, start = _Reading(word, as_said=places and word.value > _HUNDRED), word.start
        end = word.end
    if reading is not None:
        yield _Number(reading.shown, start, end)


class _Reading:
    """A number of which more words may come."""

    def __init__(self, first: _Word, as_said: bool) -> None:
        self._total = 0
        """What stands before and with the last power from a thousand on."""
        self._section = 0
        """What stands behind it."""
        self._last = first
        self._smallest: int | None = None
        """The last power from a thousand on."""
        self._as_said = first.text if as_said else None
        if first.is_power and first.value > _HUNDRED:
            self._total, self._smallest = first.value, first.value
        else:
            self._section = first.value

    @property
    def shown(self) -> str:
        return self._as_said or str(self._total + self._section)

    def takes(self, word: _Word) -> bool:
        """Add the next word; ``False``: it belongs to another number."""
        if not word.is_power:
            fits = self._last.is_power and word.value > 0
            fits = fits and not (word.is_article and self._section)
            section, total = self._section + word.value, self._total
        elif word.value == _HUNDRED:
            fits = 0 < self._section < _HUNDRED
            section, total = self._section * _HUNDRED, self._total
        else:
            fits = self._section > 0 and (self._smallest is None or word.value < self._smallest)
            section, total = 0, self._total + self._section * word.value
        if not fits:
            return False
        if word.is_power and word.value > _HUNDRED:
            self._smallest = word.value
        self._section, self._total, self._last = section, total, word
        return True


def _decimal(said: re.Match[str]) -> str:
    """ "3 point 1 4" with a point, "3 komma 14" with a comma."""
    sign = "." if said["point"] == "point" else ","
    return f"{said['whole']}{sign}{said['places'].replace(' ', '')}"


def _fraction(said: re.Match[str], parts: dict[str, int]) -> str:
    """A fraction in digits; as it stands where it is an ordinal: "twenty third"."""
    count, part = said["count"] or "1", said["part"] or said["bare"]
    many = int(count) if count.isdecimal() else 1
    plural = part.removesuffix("s") in parts and part.endswith("s")
    if not many or (not plural and many > _MOST_OF_A_SINGULAR):
        return said[0]
    whole = f"{said['whole']} + " if said["whole"] else ""
    return f"({whole}{many}/{parts[part]})"


def _without_needless_parts(text: str) -> str:
    """Without commas and hesitations, but for those between two numbers."""
    text = re.sub(r"[,，、](?!\d)|(?<!\d)[,，、]", _PART, text)
    text = re.sub(r"(?: *; *)+", _PART, text)
    return re.sub(r"(?<![\d)]) ; | ; (?![\d(])", " ", text)


def _replaced(text: str, replacements: Replacements) -> str:
    for pattern, written in replacements:
        text = pattern.sub(written, text)
    return text


@cache
def _rows() -> dict[str, dict[str, Any]]:
    text = (Path(__file__).parent / "said_numbers.yaml").read_text(encoding="utf-8")
    return dict(yaml.load(text, Loader=FAST_LOADER))


@cache
def _said(language: str) -> _Said:
    row = _rows()[language]
    edges = ("", "") if language == "zh" else (r"(?<!\w)", r"(?!\w)")
    comma = r"[ ,，、.…]*"
    return _Said(
        re.compile(f"{comma}{edges[0]}(?:{_any_of(row['asides'])}){edges[1]}{comma}"),
        re.compile(f"(?:{row['asked']})$"),
        [(re.compile(pattern), written) for pattern, written in row["before"]],
        [(re.compile(pattern), written) for pattern, written in row["after"]],
    )


@cache
def _language(language: str) -> _Language:
    row = _rows()[language]
    known = {word: int(n) for word, n in number_words(language).items() if int(n) < _HUNDRED}
    known |= {word: int(n) for word, n in row["words"].items()}
    powers = {word: int(n) for word, n in row["powers"].items()}
    parts = {word: int(n) for n, words in row["fractions"].items() for word in words}
    small = sorted(known, key=len, reverse=True)
    pieces = [row["one"], *map(_in_pieces, small), *sorted(powers, key=len, reverse=True)]
    piece = rf"(?:{'|'.join(pieces)}|(?<![\d.,])\d{{1,2}}(?![.,]?\d))"
    joining = _any_of(row["and"])
    part = _any_of(parts)
    gap = rf"{row['gap']}(?:(?:{joining}){row['gap']})?"
    points = _any_of(row["points"])
    counts = _any_of(row["counts"])
    whole = rf"(?<![\d.,/])(?P<whole>\d+) (?:{joining}) "
    return _Language(
        values={re.sub("[ -]", "", word): n for word, n in known.items()},
        powers=powers,
        run=re.compile(
            rf"(?<!\w)(?<!\d ){piece}(?:{gap}{piece}){{0,{MOST_PIECES}}}(?:(?!\w)|(?={part}))"
        ),
        piece=re.compile(piece),
        point=re.compile(
            rf"(?<![\d.,])(?P<whole>\d+) (?P<point>{points}) "
            r"(?P<places>\d(?: \d)*|\d\d)(?![.,]?\d| \d)"
        ),
        before_places=re.compile(rf"(?:{points}) $"),
        fraction=re.compile(
            rf"(?:{whole})?(?<![\w.,/;])(?P<count>\d{{1,2}}|{counts})[ -]?(?P<part>{part})(?!\w)"
            rf"|(?<![\w/])(?<!\d )(?P<bare>{_any_of(row['bare'])})(?!\w)"
        ),
        parts=parts,
        of=re.compile(rf"\) (?:{_any_of(row['of'])}) (?=[\d(])"),
        joined=re.compile(rf"\b({joining}|{points}|{counts}){re.escape(_PART)}"),
    )


def _in_pieces(word: str) -> str:
    """A pattern of a number as a recognizer may split it: ``ein und vier zig``."""
    apart = re.sub(r"(?<=.)(zehn|zig|ssig|ßig)$", r" ?\1", re.escape(word))
    return re.sub("(?<=.)und(?=.)", " ?und ?", apart)


def _any_of(words: Iterable[str]) -> str:
    return "|".join(map(re.escape, sorted(words, key=len, reverse=True)))
