"""What people put on lists, by name."""

from functools import cache
from pathlib import Path

from hubd.assistant.understanding.data_files import texts_in, values
from hubd.assistant.understanding.plain import plain
from plugins.numbers import digits

FILE, AMOUNTS = Path(__file__).with_name("items.yaml"), Path(__file__).with_name("amounts.yaml")


@cache
def bought(language: str) -> tuple[str, ...]:
    """The names of such things: "oat milk", „Butter“."""
    listed = values(FILE.read_text("utf-8")).get(language, "")
    return tuple(filter(None, map(str.strip, listed.split(","))))


def is_bought(word: str, language: str) -> bool:
    """Whether a word (plain) is one: „butter“ is no misspelled „Wetter“."""
    return word in _plainly(language)


def is_amount_of_bought(item: str, language: str) -> bool:
    """Whether an item is such a thing, with whatever stands before it: "two pints of milk",
    „ein Kilo Mehl“, 一袋大米."""
    said = plain(item)
    words, joint = (list(said), "") if language == "zh" else (said.split(), " ")
    return any(joint.join(words[at:]) in _plainly(language) for at in range(len(words)))


@cache
def _plainly(language: str) -> frozenset[str]:
    return frozenset(map(plain, bought(language)))


def without_amounts(words: set[str], language: str) -> set[str]:
    """Words (plain) without those that say how much: „zwei Pakete Butter“ is Butter."""
    much = _amounts(language)
    return {w for w in words if w not in much and not digits(w, language)[:1].isdigit()}


@cache
def _amounts(language: str) -> frozenset[str]:
    listed = texts_in(AMOUNTS).get(language, ())
    return frozenset(plain(word).replace("ß", "ss") for word in listed)
