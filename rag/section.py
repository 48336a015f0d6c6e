"""The section around a passage: what stands under the same heading, as far as there is room.

Small chunks are searched, because a vector of few words says more; the sentences around a hit are
read. Knows no database.
"""

from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from rag.chunk import count_tokens
from rag.types import Passage

SECTION_TOKENS = 600
"""Three chunks: a section that is longer is cut around the hit."""


class Placed(NamedTuple):
    """A chunk of a page."""

    start: int
    end: int
    heading: str


def around(
    passage: Passage, page: str, chunks: Sequence[Placed], room: int | None = None
) -> Passage:
    """``passage`` with the neighbours under its heading, of ``SECTION_TOKENS`` tokens together.

    ``chunks``: all of its page, in order, whose text is ``page``. Neighbours are taken in turn
    after and before it; nothing is cut. The passage itself where it is not among them.
    """
    places = [at for at, one in enumerate(chunks) if (one.start, one.end) == _span(passage)]
    if not places:
        return passage
    first = last = places[0]
    left = (SECTION_TOKENS if room is None else room) - count_tokens(passage.text)
    after, before = True, True
    while after or before:
        after = after and _fits(page, chunks, last + 1, passage.heading, left)
        if after:
            last += 1
            left -= count_tokens(page[chunks[last].start : chunks[last].end])
        before = before and _fits(page, chunks, first - 1, passage.heading, left)
        if before:
            first -= 1
            left -= count_tokens(page[chunks[first].start : chunks[first].end])
    start, end = chunks[first].start, chunks[last].end
    return msgspec.structs.replace(passage, start=start, end=end, text=page[start:end])


def _span(passage: Passage) -> tuple[int, int]:
    return passage.start, passage.end


def _fits(page: str, chunks: Sequence[Placed], at: int, heading: str, room: int) -> bool:
    if not 0 <= at < len(chunks) or chunks[at].heading != heading:
        return False
    return count_tokens(page[chunks[at].start : chunks[at].end]) <= room
