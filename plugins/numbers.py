"""Number words → digits, in the languages of commands: "twenty-one" → "21". No plugin itself."""

import re
from collections.abc import Mapping
from decimal import Decimal
from functools import cache

from unicode_rbnf import RbnfEngine

LARGEST = 100

_NUMERAL = "(?:[零〇一二两三四五六七八九十]|百(?!分))+(?:点[零一二三四五六七八九]+)?"
_CHINESE = re.compile(rf"(?<=百分之){_NUMERAL}|{_NUMERAL}(?=个?(?:度|分|小时|钟头|秒|点|%|$))")
_A_LITTLE = re.compile(
    r"(?<=[大小高低亮暗热冷暖凉白黄快慢和声响轻重柔强弱多少有早晚近远])一(?=点(?![半钟一二三四五六七八九十\d]))"
)
_HALF = re.compile(r"(\d+) (?:and a half|einhalb|et demi|y medio)\b")
_AND_A_HALF = re.compile(r"\b(\w{3,})einhalb\b")
_HUNDREDS = re.compile(r"\b(\w*?)hundert(?:und)?(\w*)\b")
"""German numbers above 100 are one word: "zweihundertvierzig"."""
_KELVIN = {
    "en": re.compile(
        r"\b(?:(\w+) thousand(?: (?:and )?(\w+) hundred)?|((?:\w+ty[- ])?\w+) hundred)"
        r"(?= kelvins?\b)"
    ),
    "de": re.compile(r"\b(\w+?) ?tausend ?(?:und ?)?(?:(\w+?) ?hundert ?)?(?=\s?kelvin\b)"),
}
"""Thousands, where they are a color temperature."""
_CHINESE_KELVIN = re.compile("[一二两三四五六七八九]千(?:[零一二三四五六七八九]百?)?(?=开尔文)")
_DEGREES_AND_A_HALF = re.compile(r"(?<![\d.])(\d+)度半")
_CHINESE_ANY = re.compile(
    "[零〇一二两三四五六七八九十百千]+[零〇一二两三四五六七八九十百千万亿]*(?:点[零一二三四五六七八九]+)?"
)
_DIGIT = "[零〇一二两三四五六七八九]"
_SECTION = rf"(?:{_DIGIT}千)?(?:零?{_DIGIT}?百)?(?:零?{_DIGIT}?十)?(?:零?{_DIGIT})?"
_WELL_FORMED = re.compile(
    rf"(?:(?:{_SECTION}亿)?(?:{_SECTION}万)?{_SECTION}|{_DIGIT}+)(?:点{_DIGIT}+)?"
)
"""三十二十五 is none: somebody said two numbers."""
_CHINESE_POWERS = {"十": 10, "百": 100, "千": 1_000}
_CHINESE_DIGITS = {c: n for n, c in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2}


def digits(text: str, language: str) -> str:
    """``text`` (lower case) with the numbers from 0 to 100 that are words as digits; German ones to
    999."""
    if language == "zh":
        kept = _A_LITTLE.sub("\0", text)  # 亮一点 is no one o'clock
        kept = _CHINESE_KELVIN.sub(lambda match: f"{chinese(match[0]):g}", kept)
        kept = _CHINESE.sub(lambda match: _in_digits(match[0]), kept).replace("\0", "一")
        return _DEGREES_AND_A_HALF.sub(r"\1.5度", kept)
    words = number_words(language)
    pattern = _pattern(language)
    if language == "de":
        text = _AND_A_HALF.sub(r"\1 einhalb", text)  # "zwanzigeinhalb"
        text = _HUNDREDS.sub(lambda match: _hundreds(match, words), text)
    if kelvin := _KELVIN.get(language):
        text = kelvin.sub(lambda match: _thousands(match, words), text)
    text = pattern.sub(lambda match: words[match[0]], text)
    return _HALF.sub(r"\1.5", text)


def _hundreds(said: re.Match[str], words: Mapping[str, str]) -> str:
    """ "zweihundertvierzig" in digits; as it stands where it is no number ("Jahrhundert")."""
    ones = {"": "", "ein": "1", "eins": "1"}
    hundreds, rest = (ones.get(word, words.get(word)) for word in said.groups())
    if hundreds is None or rest is None:
        return said[0]
    return str(int(hundreds or 1) * 100 + int(rest or 0))


def _thousands(said: re.Match[str], words: Mapping[str, str]) -> str:
    """ "two thousand seven hundred" and "twenty-seven hundred" in digits; as it stands where it is
    no number."""
    thousands, *hundreds = (words.get(word or "", word) or "0" for word in said.groups())
    if not all(number.isdigit() for number in (thousands, *hundreds)):
        return said[0]
    space = " " if said[0].endswith(" ") else ""
    return f"{int(thousands) * 1000 + sum(map(int, hundreds)) * 100}{space}"


def chinese(text: str) -> float:
    """A Chinese number: ``二十一`` → 21, ``二十点五`` → 20.5, ``三千零五万`` → 30050000, ``四千五``
    → 4500."""
    whole, _, fraction = text.partition("点")
    total, section, digit, unit = 0, 0, 0, 1
    for character in whole:
        if character == "亿":
            total, section, digit = (total + section + digit or 1) * 100_000_000, 0, 0
            unit = 10_000_000
        elif character == "万":
            total, section, digit = total + (section + digit or 1) * 10_000, 0, 0
            unit = 1_000
        elif character in _CHINESE_POWERS:
            section, digit = section + (digit or 1) * _CHINESE_POWERS[character], 0
            unit = _CHINESE_POWERS[character] // 10
        else:
            digit = _CHINESE_DIGITS[character]
            unit = unit if digit else 1
    value = float(total + section + digit * unit)
    for place, character in enumerate(fraction, start=1):
        value += _CHINESE_DIGITS[character] / 10**place
    return value


def chinese_digits(text: str) -> str:
    """``text`` with every Chinese number in digits."""
    return _CHINESE_ANY.sub(lambda match: _in_digits(match[0]), text)


def _in_digits(numeral: str) -> str:
    """A Chinese number in digits; as it stands where it is none."""
    return f"{chinese(numeral):.15g}" if _WELL_FORMED.fullmatch(numeral) else numeral


@cache
def number_words(language: str) -> dict[str, str]:
    """Every way to write 2 to 100; not 0 and 1: "a" and "one" are more than numbers."""
    engine = RbnfEngine.for_language(language)
    words: dict[str, str] = {}
    for number in range(2, LARGEST + 1):
        for ruleset, form in engine.format_number(number).text_by_ruleset.items():
            if "cardinal" not in ruleset and "numbering" not in ruleset:
                continue  # an ordinal: "second" is a unit of time
            plain = form.replace("\xad", "")
            folded = plain.casefold()  # "dreissig", as texts are compared
            for written in (plain, plain.replace("-", " "), folded):
                if not any(c.isdigit() for c in written):
                    words.setdefault(written, str(number))
    return words


@cache
def _pattern(language: str) -> re.Pattern[str]:
    longest_first = sorted(number_words(language), key=len, reverse=True)
    words = "|".join(map(re.escape, longest_first))
    return re.compile(rf"(?<!\w)(?!(?<=pour )cent\b)(?:{words})(?!\w)")  # "vingt pour cent"


def written(value: Decimal, language: str, places: int = 6) -> str:
    """A number as people write it: no zeros at its end, a comma where the language has one.

    Numbers that are very large or very small are written with a power of ten.
    """
    if value and not -6 < value.adjusted() < 15:
        mantissa, _, power = f"{value:.{places}e}".partition("e")
        text = f"{_trimmed(mantissa)} × 10^{int(power)}"
    else:
        text = _trimmed(f"{value:.{places}f}")
    return text if language in ("en", "zh") else text.replace(".", ",")


def _trimmed(text: str) -> str:
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text == "-0" else text
