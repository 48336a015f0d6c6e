"""The same words in several documents are one passage that names them all. Knows no database."""

from collections.abc import Iterable

import msgspec

from rag.types import Passage


def merged(passages: Iterable[Passage]) -> list[Passage]:
    """``passages`` in their order, each text once: the first keeps its place and names the others.

    Texts that differ in white space alone are the same.
    """
    first: dict[str, Passage] = {}
    for passage in passages:
        words = " ".join(passage.text.split())
        known = first.get(words)
        if known is None:
            first[words] = passage
        elif passage.document not in (known.document, *known.also_in):
            also = [*known.also_in, passage.document]
            first[words] = msgspec.structs.replace(known, also_in=also)
    return list(first.values())
