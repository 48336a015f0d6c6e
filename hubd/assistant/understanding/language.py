"""Which language a command is in, by its words."""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml

from hubd.assistant.understanding.data_files import values
from hubd.assistant.understanding.lexicon import lexicon
from hubd.assistant.understanding.plain import plain

Words = Mapping[str, frozenset[str]]
"""Language → words that it has."""

_HAN = re.compile(r"[\u4e00-\u9fff]")
_WORD = re.compile(r"[^\W\d_]+")
_PLACEHOLDER = re.compile(r"\{[^}]*\}|<[^>]*>")


def language_of(text: str, languages: Sequence[str], more: Words | None = None) -> str:
    """The one of ``languages`` that knows most words of ``text``; the first where it is even.

    ``more``: what a language knows besides the words of its lexicon.
    """
    if _HAN.search(text):
        return "zh"
    said = _WORD.findall(plain(text))
    spaced = [language for language in languages if language != "zh"] or ["en"]
    further = more or {}
    known = {name: lexicon(name).words | further.get(name, frozenset()) for name in spaced}
    return max(spaced, key=lambda language: sum(word in known[language] for word in said))


@lru_cache(maxsize=8)
def sentence_words(files: tuple[Path, ...]) -> Words:
    """The words that sentence files spell out, by language; a file that cannot be read has none.
    The same files are read once."""
    found: dict[str, set[str]] = {}
    for path in files:
        try:
            read = values(path.read_text(encoding="utf-8"))
        except (OSError, ValueError, yaml.YAMLError):
            continue
        if isinstance(read, dict):
            spelled = _PLACEHOLDER.sub(" ", " ".join(_sentences(read)))
            words = found.setdefault(str(read.get("language", "en")), set())
            words.update(_WORD.findall(plain(spelled)))
    return {language: frozenset(words) for language, words in found.items()}


def _sentences(read: Any) -> Iterator[str]:
    """All texts in lists called ``sentences``, and in expansion rules."""
    if isinstance(read, dict):
        for key, value in read.items():
            if key == "sentences" and isinstance(value, list):
                yield from map(str, value)
            elif key == "expansion_rules" and isinstance(value, dict):
                yield from map(str, value.values())
            else:
                yield from _sentences(value)
    elif isinstance(read, list):
        for value in read:
            yield from _sentences(value)
