"""The years that a text speaks of: "the 2023 invoice", "last year's bill", 去年.

Must not know of questions, passages or scores.
"""

import re
from datetime import date

_YEAR = re.compile(r"(?<![\d.,:£$€¥-])(?:19|20)\d\d(?![\d,:]|\.\d|\s?(?:kWh|W|m|km|g|kg|ml|l)\b)")
_ISO = re.compile(r"(?<!\d)((?:19|20)\d\d)-\d\d(?:-\d\d)?(?!\d)")
_RELATIVE = (
    (re.compile(r"\blast year\b|\bprevious year\b|去年", re.IGNORECASE), -1),
    (re.compile(r"\bthis year\b|\bcurrent year\b|今年", re.IGNORECASE), 0),
    (re.compile(r"\bnext year\b|明年", re.IGNORECASE), 1),
    (re.compile(r"\bthe year before last\b|\btwo years ago\b|前年", re.IGNORECASE), -2),
)
_MONTHS = (
    r"(?:January|February|March|April|May|June|July|August|September|October|November|December)"
)
_DATE = re.compile(
    rf"\b(?:\d{{1,2}} )?{_MONTHS} (?:19|20)\d\d\b|(?<!\d)(?:19|20)\d\d-\d\d-\d\d(?!\d)"
    r"|(?:19|20)\d\d年(?:\d{1,2}月(?:\d{1,2}日)?)?"
)


def years_in(text: str) -> frozenset[int]:
    """Every year from 1900 to 2099 that ``text`` writes, also as part of a date."""
    found = {int(match[0]) for match in _YEAR.finditer(text)}
    return frozenset(found | {int(match[1]) for match in _ISO.finditer(text)})


def years_asked(question: str, today: date) -> frozenset[int]:
    """The years that ``question`` names, or means on the day ``today`` by "last year"."""
    meant = {today.year + shift for pattern, shift in _RELATIVE if pattern.search(question)}
    return years_in(question) | meant


def date_in(text: str) -> str:
    """The first date of ``text`` as it is written there, else its only year, else ""."""
    written = _DATE.search(text)
    if written:
        return written[0]
    years = years_in(text)
    return str(*years) if len(years) == 1 else ""
