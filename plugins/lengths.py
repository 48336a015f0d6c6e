"""How long somebody says: "an hour and a half", „eine Viertelstunde“, 一个半小时. No plugin."""

import re
from datetime import timedelta

from plugins.numbers import digits

_SAID = {
    "en": {
        r"\b(?:an|one|1) (?P<unit>hour|minute) and a half\b": r"1.5 \g<unit>s",
        r"\b(?P<n>\d+) (?P<unit>hour|minute)s? and a half\b": r"\g<n>.5 \g<unit>s",
        r"\b(?:one|1) and a half (?P<unit>hour|minute)s?\b": r"1.5 \g<unit>s",
        r"\b(?P<n>\d+) and a half (?P<unit>hour|minute)s?\b": r"\g<n>.5 \g<unit>s",
        r"(?<=hour) and a quarter\b(?! of)": " and 15 minutes",
        r"(?<=hour) and (?:three|3) quarters\b(?! of)": " and 45 minutes",
        r"\bthree[- ]quarters of an hour\b": "45 minutes",
        r"\b(?:a )?quarter of an hour\b": "15 minutes",
        r"\b(?:a )?half (?:an )?(?P<unit>hour|minute)\b": r"0.5 \g<unit>s",
        r"\ba couple of\b": "2",
        r"\b(?:an?|one)(?: whole| full)? (?P<unit>hour|minute|second)\b": r"1 \g<unit>",
    },
    "de": {
        r"\b(?:anderthalb|eineinhalb|1\.5) (?=stunde|minute)": "1.5 ",
        r"\b(?:eine[rn]? )?dreiviertelstunde\b": "45 minuten",
        r"\b(?:eine[rn]? )?viertelstunde\b": "15 minuten",
        r"\b(?:eine[rn]? )?halbe[n]? (?P<unit>stunde|minute)\b": r"0.5 \g<unit>n",
        r"\beine[rn]?(?: ganze[n]?| volle[n]?)? (?P<unit>stunde|minute|sekunde)\b": r"1 \g<unit>",
    },
    "zh": {
        r"(?P<n>\d+)个半(?=小时|钟头|钟)": r"\g<n>.5个",
        r"(?P<n>\d+)(?P<unit>个?(?:小时|钟头))半": r"\g<n>.5\g<unit>",
        r"(?<![\d一二三个])半个?(?=小时|钟头)": "0.5",
        r"[一1]刻钟": "15分钟",
        r"[三3]刻钟": "45分钟",
    },
}
"""What is said of a length that is not a number and a unit."""
_COUNTED_HOURS = re.compile("[一二两三四五六七八九十]+(?=个半(?:小时|钟头|钟))")
_ONE = (
    r"(?P<n{0}>\d+(?:\.\d+)?) ?(?:个)?"
    r"(?P<unit{0}>hours?|hrs?|minutes?|mins?|seconds?|secs?|stunden?|minuten?|sekunden?|"
    r"小时|钟头|分钟?|秒钟?)"
)
_LENGTH = re.compile(rf"{_ONE.format(1)}(?:,? ?(?:and |und )?{_ONE.format(2)})?")
LENGTH = re.sub(r"\?P<\w+>", "?:", _LENGTH.pattern)
"""The pattern of one in digits, without groups."""
_UNITS = {
    "h": "hours",
    "st": "hours",
    "小": "hours",
    "钟": "hours",
    "m": "minutes",
    "分": "minutes",
    "s": "seconds",
    "秒": "seconds",
}
"""By how a unit begins; "stunden" before "sekunden"."""


def length_of(said: str, language: str) -> timedelta | None:
    """How long ``said`` is, if it says that and nothing else; ``None`` where it does not."""
    found = _LENGTH.fullmatch(lengths_in_digits(said, language).strip())
    if found is None:
        return None
    total = timedelta()
    for part in ("1", "2"):
        if unit := found[f"unit{part}"]:
            kind = next(kind for begin, kind in _UNITS.items() if unit.startswith(begin))
            total += timedelta(**{kind: float(found[f"n{part}"])})
    return total


def lengths_in_digits(said: str, language: str) -> str:
    """``said`` in lower case, with its lengths as digits and units: "half an hour": "0.5 hours"."""
    text = said.casefold()
    if language == "zh":
        text = _COUNTED_HOURS.sub(lambda hours: digits(f"{hours[0]}点", "zh")[:-1], text)
    for spoken, meant in _SAID.get(language, {}).items():
        text = re.sub(spoken, meant, text)
    text = digits(text, language)
    for spoken, meant in _SAID.get(language, {}).items():
        text = re.sub(spoken, meant, text)
    return text
