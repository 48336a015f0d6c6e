"""From what the model says to what may be shown: only sentences that the evidence supports.

A sentence of the model stays when it says nothing but what one quoted sentence of the evidence (and
the question) says; anything else is dropped. An answer that does not rest on the best quote gets that
quote itself, in quotation marks. So a small model makes an answer smoother, never wrong.
"""

from collections.abc import Iterator, Sequence

import msgspec

from hubd.assistant.events import Citation
from rag.cite import align
from rag.evidence import GENERIC
from rag.lexical import keys
from rag.sentences import split
from rag.types import Evidence, Passage

ANSWERABLE = 0.5
"""Below this calibrated probability the documents do not tell."""

SENTENCES = 2
"""More than this a small model does not say to the point, supported or not."""


class Grounded(msgspec.Struct, frozen=True, kw_only=True):
    """A piece of the answer, with the passage that supports it."""

    text: str
    citation: Citation


class Grounding:
    """The answer as it grows: feed it the model's pieces, show what it returns."""

    def __init__(self, question: str, evidence: Evidence) -> None:
        self._question = keys(question) | GENERIC
        self._quotes = evidence.quotes
        self._pending = ""
        self._read = 0
        self._length = 0
        self.citations: list[Citation] = []

    @property
    def complete(self) -> bool:
        """True when the model has said enough, and may stop."""
        return self._read >= SENTENCES

    def feed(self, piece: str) -> Iterator[Grounded]:
        """The supported ones among the sentences that ``piece`` completes."""
        *complete, self._pending = _sentences(self._pending + piece)
        for sentence in complete:
            yield from self._supported(sentence)

    def finish(self) -> Iterator[Grounded]:
        """The last sentence, and the best quote where no sentence so far rests on it."""
        last, self._pending = self._pending, ""
        yield from self._supported(last)
        best = self._quotes[0]
        if not any(_overlap(citation, best) for citation in self.citations):
            yield self._cite(f"“{best.text.strip()}”", best)

    def _supported(self, text: str) -> Iterator[Grounded]:
        sentence = text.strip()
        if not sentence or self.complete:
            return
        self._read += 1
        source = supporting_quote(sentence, self._quotes, self._question)
        # A source that is cited already means that the model repeats itself.
        if source and not any(_overlap(source, citation) for citation in self.citations):
            yield self._cite(sentence, source)

    def _cite(self, text: str, source: Passage) -> Grounded:
        separator = " " if self.citations else ""
        start = self._length + len(separator)
        self._length = start + len(text)
        citation = Citation(
            **msgspec.structs.asdict(source), answer_start=start, answer_end=self._length
        )
        self.citations.append(citation)
        return Grounded(text=separator + text, citation=citation)


def supporting_quote(
    sentence: str, quotes: Sequence[Passage], question: frozenset[str]
) -> Passage | None:
    """The quote that says all that ``sentence`` says, if there is one.

    Its numbers, names and negation must agree (``rag.cite``), and no word may be new: what is
    neither in the quote nor in the ``question`` (term keys) is the model's own. A row of a table
    supports nothing but itself: all words of "the guest password is guest" are in
    "guest | pepper-2026".
    """
    for quote in quotes:
        if "|" in quote.text:
            continue
        supports = align(sentence, [quote])
        if not supports or any(support.passage is None for support in supports):
            continue
        if keys(sentence) <= keys(quote.text) | question:
            return quote
    return None


def _sentences(text: str) -> list[str]:
    """The sentences of an unfinished text; the last one may still grow, so it keeps its spaces."""
    pieces = split(text)
    return [piece.text for piece in pieces[:-1]] + [text[pieces[-1].start :] if pieces else text]


def _overlap(one: Passage, other: Passage) -> bool:
    return (
        (one.document, one.page) == (other.document, other.page)
        and one.start < other.end
        and other.start < one.end
    )
