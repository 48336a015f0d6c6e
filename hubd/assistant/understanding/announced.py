"""What everyone shall be told: "tell everyone supper is in ten minutes". A time in it belongs to
what is told, and is not when; "tell everyone in ten minutes that supper is ready" waits so long.
How it begins is in announced.yaml.
"""

import re
from datetime import UTC, datetime
from functools import partial

from hubd.assistant.understanding.data_files import words_beside
from hubd.assistant.understanding.plain import plain
from plugins.when import parse

_words = partial(words_beside, __file__)


def announced(text: str, language: str) -> str:
    """What ``text`` (in plain form) has told to everyone; empty where it begins otherwise."""
    known, said = _words().get(language), plain(text)
    opening = re.match(known["opening"], said) if known else None
    return said[opening.end() :] if opening else ""


def tells_when(text: str, language: str) -> bool:
    """Whether the times in ``text`` are told to everyone, and none is that of the telling."""
    message = announced(text, language)
    return bool(message) and not waits(message, language)


def waits(message: str, language: str) -> bool:
    """Whether ``message`` is, or begins with, when it shall be told: "in ten minutes that supper is
    ready"."""
    known, said = _words().get(language), plain(message)
    ends = [that.start() for that in re.finditer(rf" {known['that']}", said)] if known else []
    for end in (*ends, len(said)):
        when = parse(said[:end], language, datetime.now(UTC))
        if (when.said or when.on) and not re.search(r"\w", when.rest):
            return True
    return False
