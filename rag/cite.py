"""Which part of the passages supports each sentence of an answer.

Small models cannot be asked to cite, so support is computed: the words of the sentence must mostly
be in the span, and every number, code and name of it must be. Lexical on purpose: for an encoder
"lock" and "unlock" are alike (cosine .88). Must not know of models, questions or HTTP.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import msgspec

from rag.lexical import Term, keys, name_words, terms_of
from rag.opposites import contradicts
from rag.question import GENERIC
from rag.sentences import Sentence, split
from rag.types import Evidence, Passage

SUPPORTED = 0.5
"""Least share of a sentence's weight in the span; it decides the 70 pairs of the tests right."""

LEAST_WORDS = 0.3
"""Least share of a sentence's plain words: "ten minutes" alone does not support it."""

_MEASURE_GAP = 4
_FACT_WEIGHT, _WORD_WEIGHT, _GENERIC_WEIGHT = 2.0, 1.0, 0.2
_OPPOSITE = 0.4
"""Factor when only one of sentence and span negates: "Use a brush" against "Never use a brush"."""

_FILLER = GENERIC | keys(
    "according document manual page passage state note information answer yes following also should"
    " set available provide mention list specify recommend"
)
_NEGATION = re.compile(
    r"\b(?:not|no|never|none|nor|neither|without|cannot|excluded|forbidden|prohibited|except)\b"
    r"|n['’]t\b|不|没|勿|禁止",
    re.IGNORECASE,
)
_ITEM_MARKER = re.compile(r"\s*(?:[-*+•]|\(?\d{1,2}[.)])\s+")
_UNITS = keys(
    "c f bar second minute hour day week month year g kg mg l ml cl cm mm m km w kw kwh v a db"
    " percent euro eur dollar cent pound pm am mbit gbit ghz mhz rpm degree times cup spoon tbsp"
    " tsp piece liter meter load"
)


class Support(msgspec.Struct, frozen=True, kw_only=True):
    """One sentence of an answer and what stands behind it."""

    answer_start: int
    answer_end: int
    """Character offsets of the sentence in the answer."""
    passage: Passage | None
    """The supporting sentence (or two neighbours), with the support as its score."""
    score: float
    """0 to 1: share of the sentence in the span; 0 when a number, code or name is missing."""


class _Span(NamedTuple):
    """A candidate for support: one sentence of a passage, or two neighbours."""

    passage: Passage
    start: int
    end: int
    text: str
    sentences: tuple[str, ...]
    around: frozenset[str]
    """Keys of the headings and the document's name."""


class _Claim(NamedTuple):
    """What a sentence of the answer says, as terms."""

    text: str
    weights: dict[str, float]
    facts: frozenset[str]
    """Numbers, codes and names: each must be in the span."""
    words: frozenset[str]
    """Its other words that mean something."""
    measures: frozenset[tuple[str, str]]
    """Numbers with their units."""
    negated: bool


def align(answer: str, passages: Sequence[Passage]) -> list[Support]:
    """Support for each sentence of ``answer``, in order."""
    spans = [span for passage in passages for span in _spans(passage)]
    return [_support(sentence, spans) for sentence in split(answer)]


def quote(evidence: Evidence) -> Support | None:
    """The best quote as an answer that supports itself, ``None`` without evidence."""
    if not evidence.quotes:
        return None
    best = evidence.quotes[0]
    return Support(answer_start=0, answer_end=len(best.text), passage=best, score=1.0)


def _support(sentence: Sentence, spans: Sequence[_Span]) -> Support:
    claim = _claim(sentence.text)
    best: _Span | None = None
    best_score = 0.0
    for span in spans if claim.weights else ():
        score = _score(claim, span)
        if score > best_score + 1e-9:
            best, best_score = span, score
    passage = None
    if best is not None and best_score >= SUPPORTED:
        passage = msgspec.structs.replace(
            best.passage,
            start=best.passage.start + best.start,
            end=best.passage.start + best.end,
            text=best.text,
            score=best_score,
        )
    return Support(
        answer_start=sentence.start, answer_end=sentence.end, passage=passage, score=best_score
    )


def _spans(passage: Passage) -> Iterator[_Span]:
    """Single sentences first, so that a pair must be better to be chosen."""
    above = keys(passage.heading) | keys(name_words(passage.document))
    pieces = split(passage.text)
    for size in (1, 2):
        for i in range(len(pieces) - size + 1):
            window = pieces[i : i + size]
            if window[-1].kind == "heading" or (size == 2 and "row" in {p.kind for p in window}):
                continue
            start, end = window[0].start, window[-1].end
            around = above.union(*(keys(piece.context) for piece in window))
            parts = tuple(piece.text for piece in window)
            yield _Span(passage, start, end, passage.text[start:end], parts, around)


def _claim(text: str) -> _Claim:
    marker = _ITEM_MARKER.match(text)
    found = terms_of(text[marker.end() :] if marker else text)
    first = found[0].start if found else 0
    weights: dict[str, float] = {}
    facts = set()
    for term in found:
        if _is_fact(term, first):
            facts.add(term.key)
            weights[term.key] = _FACT_WEIGHT
        else:
            weight = _GENERIC_WEIGHT if term.key in _FILLER else _WORD_WEIGHT
            weights[term.key] = max(weight, weights.get(term.key, 0.0))
    return _Claim(
        text=text,
        weights=weights,
        facts=frozenset(facts),
        words=frozenset(weights) - facts - _FILLER - _UNITS,
        measures=_measures(found),
        negated=_NEGATION.search(text) is not None,
    )


def _is_fact(term: Term, first: int) -> bool:
    if term.kind == "number":
        return term.key != "1" or term.end - term.start == 1
    return term.kind == "code" or (term.kind == "word" and term.capital and term.start > first)


def _score(claim: _Claim, span: _Span) -> float:
    present = keys(span.text) | span.around
    if not claim.facts <= present or not _measures_agree(claim.measures, span.text):
        return 0.0
    if contradicts(claim.text, span.text):
        return 0.0
    if len(claim.words & present) < LEAST_WORDS * len(claim.words):
        return 0.0
    total = sum(claim.weights.values())
    share = sum(weight for key, weight in claim.weights.items() if key in present) / total
    nearest = max(span.sentences, key=lambda text: len(keys(text) & claim.weights.keys()))
    return share * (_OPPOSITE if claim.negated != bool(_NEGATION.search(nearest)) else 1.0)


def _measures(found: Sequence[Term]) -> frozenset[tuple[str, str]]:
    """Each number with the unit right after it: "8 to 10 minutes" gives minutes to both."""
    measures = set()
    unit, unit_start = "", 0
    for term in reversed(found):
        adjacent = unit_start - term.end <= _MEASURE_GAP
        if term.key in _UNITS:
            unit = term.key
        elif term.kind != "number" or not adjacent:
            unit = ""
        elif unit:
            measures.add((term.key, unit))
        unit_start = term.start
    return frozenset(measures)


def _measures_agree(wanted: frozenset[tuple[str, str]], text: str) -> bool:
    """No number of the claim has another unit in ``text``; one without any unit there may pass."""
    if not wanted:
        return True
    given: dict[str, set[str]] = {}
    for number, unit in _measures(terms_of(text)):
        given.setdefault(number, set()).add(unit)
    return all(number not in given or unit in given[number] for number, unit in wanted)
