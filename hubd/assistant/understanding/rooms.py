"""Rooms that homes have and this one has not: what is said of one is about nothing that is here."""

from collections.abc import Mapping

from hubd.assistant.understanding.lexicon import NAMED, Lexicon, Tag
from hubd.assistant.understanding.plain import plain

_UNSPOKEN = str.maketrans("", "", " '-的")
"""What is left out of a room's name, or not: "kids' room", 爷爷的房间."""


def rooms_not_here(
    text: str, lexicon: Lexicon, phrases: Mapping[str, tuple[Tag, ...]]
) -> tuple[str, ...]:
    """The rooms of ``text`` that nothing in the house is called after: the dining room is no
    misheard living room, and the spare bedroom not the bedroom."""
    rooms = lexicon.rooms(plain(text))
    if not rooms:
        return ()
    names = [
        phrase.translate(_UNSPOKEN)
        for phrase, tags in phrases.items()
        if any(tag.kind in NAMED for tag in tags)
    ]
    return tuple(
        room for room in rooms if not any(room.translate(_UNSPOKEN) in name for name in names)
    )
