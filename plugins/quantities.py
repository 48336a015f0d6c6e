"""Quantities as they are said: "a third of a cup", "zwei Esslöffel Zucker", "一斤半".

No plugin itself. A quantity is one number, a unit, and what it is of, which is left out;
quantities.yaml has the words of a language. Whatever else is said makes it none.
"""

import re
from collections.abc import Mapping
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from plugins.arithmetic import LONGEST, ExpressionError, evaluate
from plugins.said_numbers import FRACTION, in_digits, is_fraction, without_asides
from plugins.speech import FAST_LOADER

_HALF = Decimal("0.5")
_CHINESE_NUMBER = re.compile(r"(?:零下|负|-)?[零〇一二两三四五六七八九十百千万亿点个又分之半\d.]+")
_NEVER_OF = ("degree_Celsius", "degree_Fahrenheit", "kelvin")
"""There is no butter of 20 degrees: "zwei Grad mehr" is something else."""
_NUMBER = r"(?:minus |-)?\d+(?:[.,]\d+)*"


class Quantity(NamedTuple):
    number: Decimal
    unit: str
    """As pint calls it."""
    has_substance: bool = False
    """Whether it was said what it is of."""


def quantity(said: str, language: str, names: Mapping[str, str]) -> Quantity | None:
    """What a quantity comes to; ``None``: it is none, or nobody can tell which.

    names: what units are called, in lower case → pint's names, the longest first
    """
    if language not in _rows() or len(said) > LONGEST:
        return None
    try:
        return (_chinese if language == "zh" else _spaced)(said, language, names)
    except (ExpressionError, ZeroDivisionError):  # "1.2.3 cups", "零分之一杯"
        return None


def _spaced(said: str, language: str, names: Mapping[str, str]) -> Quantity | None:
    """A quantity in a language whose words stand apart."""
    found = _pattern(language, tuple(names)).fullmatch(in_digits(said, language))
    if found is None:
        return None
    name, rest = found["name"], found["rest"] or ""
    unclear = name in _rows()[language]["unclear"] or names[name] in _NEVER_OF
    if (rest and unclear) or not _is_substance(rest, language, names):
        return None
    number = evaluate(found["number"] or found["part"] or "1", language)
    return Quantity(number + _HALF * bool(found["half"]), names[name], bool(rest))


def more_units(language: str) -> dict[str, str]:
    """Words for units that are said and hardly ever written → pint's names."""
    units: dict[str, list[str]] = _rows().get(language, {}).get("units", {})
    return {word: unit for unit, words in units.items() for word in words}


def _chinese(said: str, language: str, names: Mapping[str, str]) -> Quantity | None:
    """A quantity in a script without spaces: the number ends where the longest unit begins."""
    row = _rows()[language]
    text = without_asides(said, language).strip(" ;")
    tenths = re.search(row["tenths"], text)
    if tenths:
        text = text[: tenths.start()]
    for name, unit in names.items():
        start = text.find(name, 1)
        number = _chinese_number(text[:start]) if start > 0 else None
        if number is None:
            continue
        if text.startswith(tuple(row["other_units"]), start):
            return None
        rest = text[start + len(name) :]
        half = rest.startswith(row["half"])
        rest = rest.removeprefix(row["half"])
        if (rest and unit in _NEVER_OF) or not _is_substance(rest, language, names):
            return None
        digit = evaluate(f"0.{in_digits(tenths[1], language)}", language) if tenths else Decimal(0)
        return Quantity(number + _HALF * half + digit, unit, bool(rest))
    return None


def _chinese_number(said: str) -> Decimal | None:
    if said == "半":
        return _HALF
    if not _CHINESE_NUMBER.fullmatch(said):
        return None
    read = in_digits(re.sub("^(?:零下|负)", "-", said), "zh")
    is_number = is_fraction(read) or re.fullmatch(_NUMBER, read)
    return evaluate(read, "zh") if is_number else None


def _is_substance(rest: str, language: str, names: Mapping[str, str]) -> bool:
    """Whether what follows a unit only says what it is of; nothing does, too."""
    row = _rows()[language]
    if not rest:
        return True
    if not re.fullmatch(row["substance"].format(word=r"[^\W\d_]+(?:-[^\W\d_]+)*"), rest):
        return False
    if language != "zh":
        words = re.findall(r"[^\W\d_]+", rest)
        return not any(word in row["no_substance"] or word in names for word in words)
    rest = rest.removeprefix("的")
    for food in row["foods"]:
        rest = rest.replace(food, "")
    goes_on = any(word in rest for word in row["no_substance"])
    return not goes_on and not any(rest.startswith(name) for name in names)


@cache
def _pattern(language: str, names: tuple[str, ...]) -> re.Pattern[str]:
    """A quantity whose number is in digits."""
    row = _rows()[language]
    part = FRACTION.pattern
    dative = "n?" if language == "de" else ""  # "in zwei Esslöffeln"
    return re.compile(
        rf"(?:(?P<number>(?:{part} \* )?{_NUMBER}) ?"
        rf"|(?P<part>{part}) {row['of']}"
        rf"|(?:{row['one']}) )"
        rf"(?P<name>{'|'.join(map(re.escape, names))}){dative}"
        rf"(?P<half>{row['half']})?(?P<rest>\W.*)?"
    )


@cache
def _rows() -> dict[str, dict[str, Any]]:
    text = (Path(__file__).parent / "quantities.yaml").read_text(encoding="utf-8")
    return dict(yaml.load(text, Loader=FAST_LOADER))
