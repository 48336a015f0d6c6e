"""What is said to the hub's last words: yes, no, once more, undo, "what did you do?".

How that is said is in replies.yaml. Knows nothing of what was asked or done.
"""

import re
from functools import cache
from pathlib import Path

from hubd.assistant.understanding.data_files import texts_in
from hubd.assistant.understanding.plain import plain

_ASKS = re.compile(r"[?？吗呢]$")
"""How a question ends, which is no yes."""
WORDS = Path(__file__).with_suffix(".yaml")


def says_yes(text: str, language: str) -> bool:
    """Whether ``text`` is a yes and no more, in that language or in English: so the page's buttons
    speak."""
    return besides_yes(text, language) == ""


def besides_yes(text: str, language: str) -> str | None:
    """What is said beside a yes, in plain form: "yes, close it" → "close it"; ``None`` where
    nothing says yes."""
    said, asks = plain(text), _ASKS.search(text.strip()) is not None
    for tag in _tags(language) if not asks else ():
        further = "|".join(_one(tag, what) for what in ("yes", "alone", "also"))
        more = rf"(?:{_gap(tag)}(?:{further}))*"
        if re.fullmatch(rf"{_any(tag, 'before')}{_one(tag, 'alone')}{more}", said):
            return ""
        if found := re.match(rf"{_any(tag, 'before')}{_one(tag, 'yes')}{more}(?P<rest>.*)", said):
            return found["rest"].strip(" ,，")
    return None


def besides_no(text: str, language: str) -> str | None:
    """What is said behind a no that may ask for something else: "no, the bedroom" → "the bedroom";
    empty where nothing is, and ``None`` where nothing says no."""
    said = plain(text)
    for tag in _tags(language):
        rest = re.sub(f"^{_any(tag, 'before')}", "", said)
        if rest and _is(rest, "refuses", tag):
            return ""
        if found := re.match(rf"{_one(tag, 'no')}(?P<rest>.*)", rest):
            rest = found["rest"].strip(" ,，")
            return "" if not rest or _is(rest, "refuses", tag) else rest
    return None


def begins_with_no(text: str, language: str) -> bool:
    """Whether a no is the first thing that ``text`` says: "no thanks"."""
    return any(re.match(_one(tag, "no"), plain(text)) for tag in _tags(language))


def says_again(text: str) -> bool:
    """Whether the last answer shall be said once more."""
    return any(_is(plain(text), "again", tag) for tag in _words())


def says_wait(text: str, language: str) -> bool:
    """Whether the answer to a question is still to come: "hang on"."""
    return any(_is(plain(text), "waits", tag) for tag in _tags(language))


def says_undo(text: str) -> bool:
    """Whether what was done last shall be taken back."""
    said = plain(text)
    for tag in _words():
        rest = re.sub(f"^(?:{_one(tag, 'wrong')}{_gap(tag)})*", "", said)
        if _is(rest, "undo", tag):
            return True
    return False


def asks_what_was_done(text: str) -> bool:
    """Whether ``text`` asks what the hub did last."""
    return any(_is(plain(text), "done", tag) for tag in _words())


def _tags(language: str) -> list[str]:
    return [tag for tag in dict.fromkeys((language, "en")) if tag in _words()]


def _is(said: str, what: str, tag: str) -> bool:
    return re.fullmatch("|".join(_words()[tag][what]), said) is not None


def _one(tag: str, what: str) -> str:
    """A pattern of one of the words, which ends where a word does."""
    end = "" if tag == "zh" else r"(?!\w)"
    return f"(?:{'|'.join(_words()[tag][what])}){end}"


def _any(tag: str, what: str) -> str:
    """A pattern of any number of the words and what stands between them."""
    return f"(?:{_one(tag, what)}{_gap(tag)})*"


def _gap(tag: str) -> str:
    return r"[ ,，]*" if tag == "zh" else r"[ ,]+"


@cache
def _words() -> dict[str, dict[str, list[str]]]:
    read: dict[str, dict[str, list[str]]] = texts_in(WORDS)
    return read
