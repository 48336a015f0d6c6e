"""Text in one plain form, and patterns of phrases to be found in it."""

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache

_PUNCTUATION = re.compile(
    r"[¿¡«]+|[!?.,;:…。，！？；：、\"“”„»()\[\]]+(?=\s|$)|(?<=s)'(?=\s|$)|[。，！？；：、“”…]"
)
NEVER = re.compile(r"(?!)")
"""What is nowhere found."""
_GAP, _WORDS, _CHARACTERS = "~", r"((?:\S+ ){0,5}?)", "(.{0,8}?)"


@lru_cache(maxsize=2048)  # 300 to 600 times an utterance, four in five asked for before
def plain(text: str) -> str:
    """Lower case, one form of every character, no punctuation at the end of words."""
    folded = unicodedata.normalize("NFKC", text).casefold().replace("’", "'")
    return " ".join(_PUNCTUATION.sub(" ", folded).split())


def as_said(text: str, part: str) -> str:
    """``part`` of the plain form of ``text``, with its capitals."""
    at = text.casefold().rfind(part)
    return text[at : at + len(part)] if at >= 0 else part


def words_as_said(text: str, part: str) -> str:
    """``part``, of plain words of ``text`` in any order, with these as they are written there."""
    written = {plain(word): word for word in re.findall(r"\w+", text)}
    return re.sub(r"\w+", lambda word: written.get(word[0], word[0]), part)


def pattern_of(phrases: Sequence[str], *, spaces: bool) -> re.Pattern[str]:
    """Finds the longest of ``phrases`` in plain text, as whole words where ``spaces`` part them.

    ``phrase$`` counts only at the end, ``^phrase`` at the beginning; a tilde stands for up to five
    words, or eight characters, which are a group of the match.
    """
    if not phrases:
        return NEVER
    gap = _WORDS if spaces else _CHARACTERS
    longest_first = sorted(map(plain, phrases), key=len, reverse=True)
    alternatives = "|".join(
        (r"(?<!.)" if phrase.startswith("^") else "")
        + re.escape(phrase.strip("^$")).replace(re.escape(_GAP), gap)
        + (r"(?=\s*$)" if phrase.endswith("$") else "")
        for phrase in longest_first
    )
    before, behind = (r"(?<!\w)", r"(?!\w)") if spaces else ("", "")
    return re.compile(f"{before}(?:{alternatives}){behind}")
