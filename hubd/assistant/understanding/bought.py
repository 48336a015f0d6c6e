"""What people put on lists, by name."""

from functools import cache
from pathlib import Path

from hubd.assistant.understanding.data_files import values
from hubd.assistant.understanding.plain import plain

FILE = Path(__file__).with_name("items.yaml")


@cache
def bought(language: str) -> tuple[str, ...]:
    """The names of such things: "oat milk", „Butter“."""
    listed = values(FILE.read_text("utf-8")).get(language, "")
    return tuple(filter(None, map(str.strip, listed.split(","))))


def is_bought(word: str, language: str) -> bool:
    """Whether a word (plain) is one: „butter“ is no misspelled „Wetter“."""
    return word in _plainly(language)


@cache
def _plainly(language: str) -> frozenset[str]:
    return frozenset(map(plain, bought(language)))
