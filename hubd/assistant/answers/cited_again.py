"""A follow-up question asked of the documents that the last answer cites, before all others.

"And how long?" is asked of the recipe that was read from, not of whatever tells of minutes.
"""

import math
from collections.abc import Sequence

import msgspec

from hubd.assistant.answers.query_rewriting import Asked
from rag.evidence import ANSWERABLE
from rag.library import Library
from rag.quotes import KEEP_QUOTE, MAX_QUOTES
from rag.types import Evidence, Passage, Retrieval, Visible

SAME_HEADING = 0.5
"""Log odds that a passage gains that stands under a heading which was cited."""
NOT_QUOTED = 0.02
"""The probability of a passage that one wording of the question does not bring up."""


async def answered_there(
    library: Library,
    asked: Asked,
    cited: Sequence[Passage],
    k: int,
    visible: Visible,
) -> tuple[Retrieval, Evidence] | None:
    """What those documents answer; ``None`` where they do not, or may not be seen.

    The question counts as it was said and as it stands alone, half each: the one tells what is
    asked for, the other of what. One that only may go on has to be answered in its own words.
    """
    documents = {one.document for one in cited}
    if asked.leans == "no" or not documents:
        return None
    retrieval = await library.retrieve(asked.whole, k, visible=visible, within=documents)
    whole = await library.evidence(asked.whole, retrieval.passages)
    if asked.said == asked.whole:
        both = [whole]
    else:
        said = await library.retrieve(asked.said, k, visible=visible, within=documents)
        both = [whole, await library.evidence(asked.said, said.passages)]
    found = _joined(both, {(one.document, one.heading) for one in cited})
    return (retrieval, found) if found.answerable >= ANSWERABLE else None


def _joined(each: Sequence[Evidence], headings: set[tuple[str, str]]) -> Evidence:
    """The quotes of all of them, with the mean of their log odds."""
    places: list[Passage] = []
    for one in (quote for found in each for quote in found.quotes):
        if not any(_overlap(one, other) for other in places):
            places.append(one)
    scored = []
    for place in places:
        odds = [_log_odds(_score_of(place, found)) for found in each]
        bonus = SAME_HEADING if (place.document, place.heading) in headings else 0.0
        score = 1 / (1 + math.exp(-sum(odds) / len(odds) - bonus))
        scored.append(msgspec.structs.replace(place, score=score))
    scored.sort(key=lambda quote: -quote.score)
    best = scored[0].score if scored else 0.0
    kept = [quote for quote in scored[:MAX_QUOTES] if quote.score >= best * KEEP_QUOTE]
    return Evidence(quotes=kept, answerable=best)


def _score_of(place: Passage, found: Evidence) -> float:
    scores = [quote.score for quote in found.quotes if _overlap(quote, place)]
    return max(scores, default=NOT_QUOTED)


def _overlap(one: Passage, other: Passage) -> bool:
    same = (one.document, one.page) == (other.document, other.page)
    return same and one.start < other.end and other.start < one.end


def _log_odds(probability: float) -> float:
    bounded = min(max(probability, 0.01), 0.99)
    return math.log(bounded / (1 - bounded))
