"""From what the model says to what may be shown: only sentences that the evidence supports.

A sentence of the model stays when it says nothing but what one quoted sentence of the evidence (and
the question) says; anything else is dropped. An answer that does not begin with what the best quote
says becomes that quote itself, in quotation marks. The other quotes, each at least half as likely,
follow as they are: of XQuAD's answers one in eleven stands in one of them alone. So a small model
makes an answer smoother, never wrong. It is stopped at the first word of its own: nobody waits for
text that is dropped.
"""

import re
from collections.abc import Iterator, Sequence

import msgspec

from hubd.assistant.answers.quoted import as_read, label_of
from hubd.turn_events import Citation
from rag.cite import align
from rag.lexical import Term, keys, terms_of
from rag.question import GENERIC
from rag.quotes import is_list, shown
from rag.sentences import split
from rag.types import Evidence, Passage

LONGEST_SENTENCE = 300
"""Characters. A model that has found no end by then repeats itself."""

SENTENCES = 2
"""More than this a small model does not say to the point, supported or not."""


_CONDITION = re.compile(
    r"\b(?:only|unless|except|if|until|without|nur|außer|wenn|falls|bis|ohne)\b|只|仅|除|如果|直到",
    re.IGNORECASE,
)
"""Words that take back part of what a sentence says: without them it says more than is true."""
_WORD = re.compile(r"[A-Za-z]{3,}")
_NUMBER = re.compile(r"\d(?:[\d.,:/-]*\d)?")
_CLAUSE_END = re.compile(r"[,;:，；：、–—]|\b(?:and|or|but|und|oder|aber)\b", re.IGNORECASE)


class Grounded(msgspec.Struct, frozen=True, kw_only=True):
    """A piece of the answer, with the passage that supports it."""

    text: str
    citation: Citation


class Grounding:
    """The answer as it grows: feed it the model's pieces, show what it returns."""

    def __init__(
        self, question: str, evidence: Evidence, lead: str = "", instead: str = ""
    ) -> None:
        """lead: what is said before, and is not the documents'. instead: what the best quote comes
        to, said in its place and in that of the model's words."""
        self._question = keys(question) | GENERIC
        self._evidence, self._quotes = evidence, evidence.quotes
        self._pending = ""
        self._length = len(lead)
        self._instead = instead
        self._stopped = bool(instead) or _is_row(self._quotes[0]) or is_list(self._quotes[0])
        self.citations: list[Citation] = []

    @property
    def complete(self) -> bool:
        """True when the model has said enough, or cannot be followed: it may stop, or not begin."""
        return self._stopped or len(self.citations) >= SENTENCES

    def feed(self, piece: str) -> Iterator[Grounded]:
        """The supported ones among the sentences that ``piece`` completes."""
        *complete, self._pending = _sentences(self._pending + piece)
        for sentence in complete:
            yield from self._supported(sentence)
        begun = self._pending.rpartition(" ")[0]
        allowed = self._question.union(*(keys(quote.text) for quote in self._candidates()))
        if not keys(begun) <= allowed or len(begun) > LONGEST_SENTENCE:
            self._stopped = True

    def finish(self) -> Iterator[Grounded]:
        """The last sentence if it stands; where none did, the best quote; and the other quotes
        of which the model's sentences tell nothing."""
        last, self._pending = self._pending, ""
        yield from self._supported(last)
        quotes = shown(self._evidence)
        for quote in quotes:
            if self._instead and not self.citations:
                yield self._cite(self._instead, quote)
            elif not any(_overlap(quote, cited) for cited in self.citations):
                label = label_of(quote, quotes)
                yield self._cite(f"“{as_read(quote)}”{f' ({label})' if label else ''}", quote)

    def _supported(self, text: str) -> Iterator[Grounded]:
        sentence = text.strip()
        if not sentence or self.complete:
            return
        source = supporting_quote(sentence, self._candidates(), self._question)
        if source is None:
            self._stopped = True
        else:
            yield self._cite(sentence, source)

    def _candidates(self) -> Sequence[Passage]:
        """What the next sentence may rest on: the best quote, then the others, never one twice."""
        if not self.citations:
            return self._quotes[:1]
        return [q for q in self._quotes if not any(_overlap(q, c) for c in self.citations)]

    def _cite(self, text: str, source: Passage) -> Grounded:
        separator = " " if self._length else ""
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
    neither in the quote nor in the ``question`` (term keys) is the model's own. What only says the
    question back answers nothing. Nor may the words be put together otherwise than in the quote
    (``_retells``). A row of more than two cells supports nothing but itself: "guest net
    | pepper-2026 | visitors" holds all words of "the visitors' password is guest net".
    """
    for quote in quotes:
        if _is_row(quote):
            continue
        supports = align(sentence, [quote])
        if not supports or any(support.passage is None for support in supports):
            continue
        said, told = keys(sentence), keys(quote.text)
        if said <= question or not said <= told | question:
            continue
        if _retells(sentence, quote.text) and _keeps_forms(sentence, quote.text):
            return quote
    return None


def _keeps_forms(sentence: str, quote: str) -> bool:
    """Whether numbers are whole, "555-0100" and not "555", and nothing that is to be done is told
    as done: "the machine stands for half an hour" where the quote says "let it stand"."""
    words = {word.lower() for word in _WORD.findall(quote)}
    done = (w.lower() for w in _WORD.findall(sentence))
    if any(w.endswith("s") and w not in words and w[:-1] in words for w in done):
        return False
    whole = _NUMBER.findall(quote)
    return all(
        number in whole or not any(number in longer for longer in whole)
        for number in _NUMBER.findall(sentence)
    )


def _retells(sentence: str, quote: str) -> bool:
    """Whether ``sentence`` keeps the quote's conditions, and its words as they belong together.

    "The tenants give six weeks, the landlord three months" holds all words of "the landlord gives
    six weeks" and of "the tenants give three months". So the words must come in the quote's order,
    between them no number and no name may be left out, and across a comma nothing at all.
    """
    if not _conditions(quote) <= _conditions(sentence):
        return False
    given = _in_order(quote)
    known = {term.key for term in given}
    said = [term.key for term in _in_order(sentence) if term.key in known]
    return not said or any(
        _is_kept(said, given[start:], quote)
        for start, term in enumerate(given)
        if term.key == said[0]
    )


def _is_kept(said: Sequence[str], given: Sequence[Term], quote: str) -> bool:
    """Whether ``given`` begins with all words of ``said`` in order, leaving out little between."""
    left_out: list[Term] = []
    rest = iter(given)
    last = given[0]
    for key in said:
        for last in rest:
            if last.key == key:
                break
            left_out.append(last)
        else:
            return False
    window = quote[given[0].start : last.end]
    facts = any(term.kind in ("number", "code") or term.capital for term in left_out)
    return not left_out or not (facts or _CLAUSE_END.search(window))


def _in_order(text: str) -> list[Term]:
    return sorted(terms_of(text), key=lambda term: (term.start, term.end))


def _conditions(text: str) -> set[str]:
    return {word.lower() for word in _CONDITION.findall(text)}


def _sentences(text: str) -> list[str]:
    """The sentences of an unfinished text; the last one may still grow, so it keeps its spaces."""
    pieces = split(text)
    return [piece.text for piece in pieces[:-1]] + [text[pieces[-1].start :] if pieces else text]


def _is_row(quote: Passage) -> bool:
    """A row of a table with more cells than a label and its value."""
    return quote.text.strip("| ").count("|") > 1


def _overlap(one: Passage, other: Passage) -> bool:
    return (
        (one.document, one.page) == (other.document, other.page)
        and one.start < other.end
        and other.start < one.end
    )
