"""Questions about the last answer: "what page is that on?", "who told you that?", "show me".

Answered from what it was cited from, without a search and without the model.
"""

import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import yaml

from hubd.assistant.understanding.plain import plain
from hubd.turn_events import Citation

SHOWN = 3
"""Places that are named."""
_FILE = Path(__file__).with_suffix(".yaml")


def asks_about_answer(text: str, language: str | None = None, *, surely: bool = False) -> str:
    """The language in which ``text`` asks where an answer is from; "" where it does not.

    language: that of the person; ``None``: any
    surely: whether "show me" does not count, which may ask for something else
    """
    said = plain(text)
    for key in ("asked",) if surely else ("asked", "shown"):
        for tag, patterns in _patterns(key).items():
            if language in (None, tag) and any(pattern.fullmatch(said) for pattern in patterns):
                return tag
    return ""


def asks_for_page(text: str) -> bool:
    """Whether the page is asked for, and not only the document."""
    return re.search(_read()["page"], plain(text)) is not None


def where_from(
    quotes: Sequence[Citation], language: str, *, page: bool = False
) -> tuple[str, list[Citation]]:
    """Where the passages of an answer stand, in words, each word with its passage.

    quotes: at least one, in the order of the answer
    page: whether it is said that a document has no pages
    """
    places: dict[tuple[str, int | None, str], Citation] = {}
    for quote in quotes:
        heading = quote.heading.rpartition(" > ")[2] if quote.page is None else ""
        places.setdefault((quote.document, quote.page, heading), quote)
    first, *others = list(places.values())[:SHOWN]
    text, cited = "", []
    for quote in (first, *others):
        said = _place(quote, language, page=page)
        if quote is not first:
            said = _say("also", language, rest=said[:1].lower() + said[1:])
        cited.append(
            msgspec.structs.replace(quote, answer_start=len(text), answer_end=len(text) + len(said))
        )
        text += said if quote is not first else said + _say("end", language)
    return text, cited


def nowhere(language: str) -> str:
    """What is said of an answer that rests on no document."""
    return _say("nowhere", language)


def _place(quote: Citation, language: str, *, page: bool) -> str:
    heading = quote.heading.rpartition(" > ")[2]
    under = _say("under", language, heading=heading) if heading else ""
    if quote.page is None:
        without = _say("no_pages", language) if page else ""
        return _say("document", language, document=quote.document) + under + without
    return _say("page", language, page=quote.page, document=quote.document) + under


def _say(key: str, language: str, **values: object) -> str:
    told = _read()["answers"][key]
    return str(told.get(language) or told["en"]).format_map(values)


@cache
def _patterns(key: str) -> dict[str, list[re.Pattern[str]]]:
    return {tag: [re.compile(one) for one in several] for tag, several in _read()[key].items()}


@cache
def _read() -> dict[str, Any]:
    return dict(yaml.safe_load(_FILE.read_text(encoding="utf-8")))
