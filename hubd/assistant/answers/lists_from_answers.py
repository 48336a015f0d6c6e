"""What of an answer is put on a list: the ingredients of the recipe that it was read from."""

import re
from collections.abc import Sequence

from hubd.assistant.answers.acts_on_answers import ToList
from hubd.assistant.answers.answers_given import Given
from hubd.assistant.answers.ingredients import items_in
from rag.language import detect
from rag.lexical import keys
from rag.library import Library
from rag.types import Passage, Visible

LOOKED_AT = 12
"""Passages of the document; those under the heading that was cited are read."""
_NEEDED = re.compile(
    r"\b(?:need|needs|ingredients?|bring|pack|buy|goes into|brauch\w*|zutaten|mitbringen|kaufen)\b"
    "|要|需要|材料|食材|配料|带什么",
    re.IGNORECASE,
)
_ARTICLE = re.compile(r"^(?:the|our|my|a|an|de[nrm]|die|das|eine?n?) ", re.IGNORECASE)


async def items_told(
    library: Library, wish: ToList, given: Given | None, visible: Visible
) -> list[str]:
    """What shall be put on the list; empty where the documents list nothing of the kind.

    given: the answer that was spoken of; ``None``: none, then a dish has to be named
    """
    if wish.dish:
        found = await library.retrieve(wish.dish, LOOKED_AT, visible=visible)
        wanted = keys(_ARTICLE.sub("", wish.dish))
        for first in found.passages:
            named = keys(f"{first.heading} {first.text if not first.heading else ''}")
            if wanted <= named and (items := items_in(_beside(first, found.passages))):
                return items
        return []
    if given is None:
        return []
    if not wish.ingredients and _NEEDED.search(given.question) is None:
        return []  # what else it tells is nothing to buy
    for quote in given.quotes:
        asked = f"{given.question} {quote.heading}"
        found = await library.retrieve(
            asked if detect(asked) == detect(quote.text) else quote.text,
            LOOKED_AT,
            visible=visible,
            within={quote.document},
        )
        if items := items_in(_beside(quote, found.passages)):
            return items
    return []


def _beside(place: Passage, passages: Sequence[Passage]) -> list[str]:
    """The texts under the heading of ``place``, in their order, without it."""
    heading = place.heading.rpartition(" > ")[2]
    same = [
        one for one in passages if (one.document, one.heading) == (place.document, place.heading)
    ]
    texts = [one.text for one in sorted(same, key=lambda one: (one.page or 0, one.start))]
    return ["\n".join(line for line in text.splitlines() if line.strip(" #*_=-") != heading)
            for text in texts]  # fmt: skip
