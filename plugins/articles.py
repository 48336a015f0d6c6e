"""Things with their articles: „die Haustür“, "the front door", «la puerta». No plugin itself.

Nobody says which gender a name has: its head word tells, where articles.yaml knows it. Names that
it does not know stay as they are.
"""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Literal, NamedTuple

import yaml

from plugins.speech import FAST_LOADER, joined

Case = Literal["subject", "object"]
SMALL = frozenset({"fr", "es"})
"""The languages in which a name behind its article begins without a capital."""


class _Head(NamedTuple):
    """The head words of one gender."""

    pattern: re.Pattern[str]
    articles: Mapping[str, str]
    feminine: bool


def with_article(name: str, language: str, case: Case = "subject") -> str:
    """A thing's name with its article; as it is where it takes none, or nobody knows which."""
    head = _head_of(name, language)
    if head is None:
        return name
    article = head.articles[case]
    if language in SMALL:
        name = f"{name[:1].lower()}{name[1:]}"
    return f"{article}{name}" if article.endswith("'") else f"{article} {name}"


def with_articles(names: Sequence[str], language: str, case: Case = "subject") -> str:
    """Several of them: „das Tor und die Markise“."""
    return joined(language, [with_article(name, language, case) for name in names])


def _head_of(name: str, language: str) -> _Head | None:
    """The gender of a name; ``None`` where it takes no article, or nobody knows."""
    named, heads = _table(language)
    said = name.casefold().replace("ß", "ss")
    if named is None or named.search(said):
        return None
    return next((head for head in heads if head.pattern.search(said)), None)


@cache
def _table(language: str) -> tuple[re.Pattern[str] | None, tuple[_Head, ...]]:
    text = (Path(__file__).parent / "articles.yaml").read_text(encoding="utf-8")
    read: dict[str, Any] = yaml.load(text, Loader=FAST_LOADER).get(language, {})
    heads = tuple(
        _Head(
            re.compile(read["head"].replace("{}", one["words"])),
            {case: one[case] for case in ("subject", "object")},
            "feminine" in one,
        )
        for one in read.get("genders", ())
    )
    return (re.compile(read["named"]) if read else None), heads
