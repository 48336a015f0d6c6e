"""How a quote is read out: without marks, a row with its columns, and of which thing it is.

Must not know of models or evidence.
"""

import re
from collections.abc import Sequence

from rag.lexical import keys, name_words
from rag.quotes import is_list
from rag.sentences import cells
from rag.types import Passage
from rag.years import date_in

_LIST_MARK = re.compile(r"^\s*[-*+•·▪◦–]\s+")
_BETWEEN_ITEMS = re.compile(r"\s*\n\s*[-*+•·▪◦–]\s+")
_EMPHASIS = re.compile(r"\*\*|`")
_NOTHING = frozenset({"", "-", "–", "—"})
_SAYS_NOTHING = keys("value item finding what term answer entry detail information data")
"""Names of columns that tell nothing of what stands below them."""


def as_read(quote: Passage) -> str:
    """The words of a quote on one line, without the marks of lists and tables."""
    text = _EMPHASIS.sub("", quote.text)
    if is_list(quote):
        text = _BETWEEN_ITEMS.sub("; ", text)
    text = _LIST_MARK.sub("", text)
    if quote.columns:
        return "; ".join(_row(row, quote.columns) for row in text.splitlines() if row.strip())
    rows = [row.strip("| ") for row in text.strip().splitlines()]
    between = "; " if len(rows) > 1 and all(" | " in row for row in rows) else " "
    return " ".join(between.join(rows).strip("| \n").split()).replace(" | ", " · ")


def label_of(quote: Passage, others: Sequence[Passage]) -> str:
    """Of when a quote is, else of what, where ``others`` beside it are of another document.

    Two documents that contradict each other are told apart by their dates.
    """
    beside = [other for other in others if other.document != quote.document]
    if not beside:
        return ""
    dates = {one.document: date_of(one) for one in (quote, *beside)}
    if all(dates.values()) and len(set(dates.values())) == len(dates):
        return dates[quote.document]
    return name_words(quote.document)


def date_of(quote: Passage) -> str:
    """Of when a quote is, where its headings or its document's name tell; else ""."""
    return date_in(quote.heading) or date_in(name_words(quote.document))


def _row(row: str, columns: str) -> str:
    """``Worm tablet · Last given: 18 September · Next due: 18 December``."""
    values, names = cells(row), [_EMPHASIS.sub("", name) for name in cells(columns)]
    if len(values) != len(names):
        return " · ".join(value for value in values if value)
    named = [values[0] if not values[0].isdecimal() else f"{names[0]}: {values[0]}"]
    for name, value in zip(names[1:], values[1:], strict=True):
        if value not in _NOTHING:
            told = keys(name) - _SAYS_NOTHING
            shown = name.capitalize() if name.isupper() else name
            named.append(f"{shown}: {value}" if told else value)
    return " · ".join(" ".join(one.split()) for one in named if one)
