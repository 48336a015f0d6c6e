"""From what the model says to what may be shown: only sentences that the evidence supports.

A sentence of the model stays when a passage supports it and that support is part of the evidence
for this question; anything else is dropped. What is left without the best quote gets the quote
itself, in quotation marks. So a small model can make an answer smoother, never wrong about the documents.
"""

from collections.abc import Iterator, Sequence

import msgspec
from rag.cite import align

from hubd.assistant.events import Citation
from rag.sentences import split
from rag.types import Evidence, Passage

ANSWERABLE = 0.5
"""Below this calibrated probability the documents do not tell."""

MAXIMUM_SENTENCES = 3


class Grounded(msgspec.Struct, frozen=True, kw_only=True):
    """A piece of the answer, with the passage that supports it."""

    text: str
    citation: Citation


class Grounding:
    """The answer as it grows: feed it the model's pieces, show what it returns."""

    def __init__(self, passages: Sequence[Passage], evidence: Evidence) -> None:
        self._passages = passages
        self._evidence = evidence
        self._pending = ""
        self._length = 0
        self.citations: list[Citation] = []

    @property
    def complete(self) -> bool:
        """True when the answer is long enough, and the model may stop."""
        return len(self.citations) >= MAXIMUM_SENTENCES

    def feed(self, piece: str) -> Iterator[Grounded]:
        """The supported ones among the sentences that ``piece`` completes."""
        *complete, self._pending = _sentences(self._pending + piece)
        for sentence in complete:
            yield from self._supported(sentence)

    def finish(self) -> Iterator[Grounded]:
        """The last sentence, and the best quote where no sentence so far rests on it."""
        last, self._pending = self._pending, ""
        yield from self._supported(last)
        best = self._evidence.quotes[0]
        if not any(_overlap(citation, best) for citation in self.citations):
            yield self._cite(f"“{best.text.strip()}”", best)

    def _supported(self, sentence: str) -> Iterator[Grounded]:
        if self.complete or not sentence.strip():
            return
        for support in align(sentence.strip(), self._passages):
            source = support.passage
            if source is None or not any(_overlap(source, q) for q in self._evidence.quotes):
                return
            if any(_overlap(source, citation) for citation in self.citations):
                return  # the model repeats itself
            yield self._cite(sentence.strip(), source)
            return

    def _cite(self, text: str, source: Passage) -> Grounded:
        separator = " " if self.citations else ""
        start = self._length + len(separator)
        self._length = start + len(text)
        citation = Citation(
            **msgspec.structs.asdict(source), answer_start=start, answer_end=self._length
        )
        self.citations.append(citation)
        return Grounded(text=separator + text, citation=citation)


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
