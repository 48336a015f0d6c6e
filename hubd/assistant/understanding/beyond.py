"""What is asked for that the hub cannot do, whatever is connected to it: phone somebody, order a
pizza, tell what is on television. It is said so, in beyond.yaml's words, and nothing is done.

A question how something of it is done („wie nehme ich eine Sendung auf?“) is none: it is one for
the documents, as is what else begins otherwise than such a request does.
"""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from hubd.assistant.understanding.data_files import texts_in
from hubd.assistant.understanding.lexicon import lexicon
from hubd.assistant.understanding.plain import NEVER, plain
from hubd.assistant.understanding.reasons import BREAK

FILE = Path(__file__).with_suffix(".yaml")
_AND = {"en": " and ", "de": " und ", "zh": "然后", "fr": " et ", "es": " y "}

_TELLS = re.compile(r"(?:ask|tell|say|sag|frag|richt)\b|告诉|问|说")
"""What somebody shall be told who is called: "ring Ann and tell her that …"."""


def beyond(text: str, language: str, people: Sequence[str]) -> str:
    """Why what ``text`` asks for cannot be done; empty where it asks for nothing of that kind, or
    for something else as well.

    people: how the people of the household are called
    """
    if _asks_for_more(text, language):
        return ""
    said = plain(text) if lexicon(language).spaces else "".join(plain(text).split())
    for pattern, reply in _kinds(language, tuple(people)):
        if pattern.fullmatch(said):
            return reply
    return ""


def _asks_for_more(text: str, language: str) -> bool:
    """Whether a further clause begins as a command does: "order a pizza and turn on the oven"."""
    known = lexicon(language)
    clauses = [part for clause in BREAK.split(text) for part in clause.split(_AND[language])]
    said = [known.stripped(one) for one in clauses[1:]]
    return any(known.commands(one) and not _TELLS.match(one) for one in said)


@lru_cache(maxsize=16)
def _kinds(language: str, people: tuple[str, ...]) -> list[tuple[re.Pattern[str], str]]:
    """How each kind is asked for, and what is said of it."""
    read: dict[str, Any] = texts_in(FILE)
    openings: str | None = read.pop("openings").get(language)
    words: Mapping[str, str] = read.pop("words").get(language, {})
    if openings is None:
        return []
    words = {**words, "person": "|".join(map(re.escape, people)) or NEVER.pattern}
    return [
        (re.compile(openings + f"(?:{_with(words, form)})"), kind["reply"][language])
        for kind in read.values()
        for form in kind["forms"][language]
    ]


def _with(words: Mapping[str, str], form: str) -> str:
    for name, one_of in words.items():
        form = form.replace(f"{{{name}}}", f"(?:{one_of})")
    return form
