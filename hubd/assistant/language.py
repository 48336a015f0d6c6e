"""Which language a command is in, by its words."""

import re
from collections.abc import Sequence

from hubd.assistant.lexicon import lexicon, plain

_HAN = re.compile(r"[\u4e00-\u9fff]")


def language_of(text: str, languages: Sequence[str]) -> str:
    """The one of ``languages`` that knows most words of ``text``; the first where it is even."""
    if _HAN.search(text):
        return "zh"
    said = plain(text).split()
    spaced = [language for language in languages if language != "zh"] or ["en"]
    return max(spaced, key=lambda language: sum(word in _words(language) for word in said))


def _words(language: str) -> frozenset[str]:
    return lexicon(language).words
