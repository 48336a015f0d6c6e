"""A sentence without what frames it politely: "I'm sorry to be a nuisance, but …", "…, if you'd be
so kind". The lexicon's ``frames`` say what frames are; their words vary."""

import re
from collections.abc import Sequence

from hubd.assistant.understanding.plain import plain

_UNSPACED = re.compile("[\u4e00-\u9fff]")
"""What is written without spaces, so that its marks are not parted from its words."""


def without_frames(said: str, frames: Sequence[re.Pattern[str]]) -> str:
    """``said`` (plain) without the frames; a group of a frame stays."""
    for frame in frames:
        said = frame.sub(_kept, said)
    return said.strip()


def unframed(text: str, frames: Sequence[re.Pattern[str]]) -> str:
    """``text`` without the frames, as it was said otherwise."""
    if _UNSPACED.search(text):
        return without_frames(text.strip(), frames) or text
    said = plain(text)
    rest = without_frames(said, frames)
    if rest == said or not rest:
        return text
    at = said.find(rest)
    if at < 0:
        return rest
    words = [word for word in text.split() if plain(word)]
    before, behind = len(said[:at].split()), len(said[at + len(rest) :].split())
    kept = " ".join(words[before : len(words) - behind])
    asked = "?" if behind and text.rstrip().endswith("?") and not kept.endswith("?") else ""
    return kept.rstrip(" ,;") + asked


def _kept(found: re.Match[str]) -> str:
    """The group of a frame that stays."""
    return f"{found[found.lastindex]} " if found.lastindex else ""
