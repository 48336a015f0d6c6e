"""Hybrid search: full text and vectors, their candidates scored on one scale, gated by language.

The two legs propose; a logistic model then scores every candidate from its BM25, its cosine, that
of its nearest sentence and the weight of the question's terms that one of its sentences holds. On
XQuAD-en that puts the right paragraph first for .971 of the questions, weighted reciprocal rank
fusion at its best setting for .947, the better leg alone for .936. Must not know of SQL, processes
or HTTP.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from rag.answer_types import TO_REACH, holds
from rag.duplicates import merged
from rag.language import Language, character_query, detect, fts_query, is_english
from rag.lexical import coverage, inverse_frequency, keys, name_words, places_of, terms_of
from rag.question import Question, take_apart
from rag.sentences import split
from rag.types import Passage, Retrieval, Visible
from rag.years import years_in

CANDIDATES_PER_LEG = 24
"""Chunks that each leg proposes for scoring; full text by itself proposes twice as many, which on
XQuAD-zh finds one paragraph more."""

FEW = 8
"""Chunks found by Chinese bigrams, below which single characters are searched as well."""

_KINDS_OF_PAPER = keys("manual notes letter list document file copy scan guide plan summary paper")


class Chunk(Protocol):
    """What scoring needs of a stored chunk."""

    @property
    def document(self) -> str: ...
    @property
    def page(self) -> int | None: ...
    @property
    def start(self) -> int: ...
    @property
    def end(self) -> int: ...
    @property
    def text(self) -> str: ...
    @property
    def heading(self) -> str: ...


class Searchable(Protocol):
    """The part of ``rag.store.Store`` that retrieval uses."""

    def search_text(
        self, fts_query: str, k: int, visible: Visible = None
    ) -> list[tuple[int, float]]: ...
    def search_vector(
        self, vector: npt.NDArray[np.float32], k: int, visible: Visible = None
    ) -> list[tuple[int, float]]: ...
    def nearest_sentences(
        self, vector: npt.NDArray[np.float32], ids: Sequence[int]
    ) -> Mapping[int, float]: ...
    def chunks(self, ids: Sequence[int]) -> Mapping[int, Chunk]: ...


class Weights(NamedTuple):
    """Log odds that a candidate is the right one: a bias, and per unit of each feature."""

    bias: float
    bm25: float
    passage: float
    sentence: float
    cosine: float
    said: float = 0.0
    untyped: float = 0.0
    untyped_strict: float = -1.0
    unreachable: float = -2.0
    named: float = 1.0
    foreign_year: float = -1.5
    foreign_script: float = 0.0


# Fitted: the first on XQuAD and bench/reading/ by bench/fit_retrieval.py, the others on XQuAD; see
# docs/retrieval.md. The last four are set: XQuAD has no documents with names, and hardly a
# question of that kind.
HYBRID = Weights(
    bias=-9.7,
    bm25=1.8,
    passage=0.0,
    sentence=3.6,
    cosine=6.6,
    said=9.4,
    untyped=-1.4,
    untyped_strict=-0.8,
)
_LEXICAL = Weights(bias=-6.1, bm25=2.0, passage=1.0, sentence=1.0, cosine=0.0)
_CHINESE = Weights(bias=-6.6, bm25=5.6, passage=2.8, sentence=2.8, cosine=0.0, foreign_script=1.5)
"""BM25 is a smaller number here, because a Chinese question's terms are bigrams and characters."""


class Features(NamedTuple):
    """What is known of a candidate."""

    bm25: float
    """BM25 as a share of the weight of all the question's terms."""
    passage: float
    """Weighted share of the question's terms in the chunk, its headings and its document's name."""
    sentence: float
    """The same for the best single sentence with its headings."""
    cosine: float
    said: float
    """The cosine of its nearest sentence, about; of a chunk of one sentence its own."""
    untyped: float
    """1 when the question asks for a kind of thing, and no such thing is in the chunk."""
    untyped_strict: float
    """1 when, besides, it is one that cannot be missed: a price or a phone number."""
    unreachable: float
    """1 when, besides, it asks whom to ring, or for a number to ring."""
    named: float
    """1 when the question names the document: "in the lease" and ``lease.docx``."""
    foreign_year: float
    """1 when the question is about a year ("last year's bill"), and the chunk's document or
    headings, else its text, of others."""
    foreign_script: float
    """How many of the question's terms outside Chinese the chunk holds: "ESPN", "1080", "E18". One
    such term weighs too little among bigrams and characters, of which a word has several."""


class Gathered(NamedTuple):
    """The candidates for a question, before they are scored."""

    language: Language
    weights: Weights
    """Of the legs that there are for this question."""
    chunks: Mapping[int, Chunk]
    features: Mapping[int, Features]


def retrieve(
    store: Searchable,
    question: str,
    query_vector: npt.NDArray[np.float32] | None,
    k: int,
    visible: Visible = None,
) -> Retrieval:
    """The ``k`` passages that fit ``question`` best, best first.

    ``query_vector`` is the question's unit embedding, float32 ``(d,)``, or ``None`` without an
    encoder. An English-only encoder votes only on English questions and English chunks: on
    XQuAD-zh its vote costs half of the hits.
    """
    found = gather(store, question, query_vector, visible)
    scores = {number: _probability(found.weights, one) for number, one in found.features.items()}
    best = sorted(scores, key=lambda number: (-scores[number], number))
    passages = merged(_passage(found.chunks[number], scores[number]) for number in best)
    return Retrieval(passages=passages[:k], language=found.language)


def gather(
    store: Searchable,
    question: str,
    query_vector: npt.NDArray[np.float32] | None,
    visible: Visible = None,
) -> Gathered:
    """What both legs propose for ``question``, with all that is known of it."""
    language = detect(question)
    query = fts_query(question)
    both = language == "en" and query_vector is not None
    by_text = CANDIDATES_PER_LEG if both else 2 * CANDIDATES_PER_LEG
    texts = dict(store.search_text(query, by_text, visible)) if query else {}
    if language == "zh" and len(texts) < FEW and (more := character_query(question)):
        found = store.search_text(more, by_text, visible)
        texts = dict.fromkeys((number for number, _ in found), 0.0) | texts
    cosines: dict[int, float] = {}
    said: Mapping[int, float] = {}
    weights = _CHINESE if language == "zh" else _LEXICAL
    if language == "en" and query_vector is not None:
        cosines = dict(store.search_vector(query_vector, CANDIDATES_PER_LEG, visible))
        said = store.nearest_sentences(query_vector, [*texts, *cosines]) if cosines else {}
        weights = HYBRID if cosines else _LEXICAL
    chunks = store.chunks(list(dict.fromkeys([*texts, *cosines])))
    chunks = {n: c for n, c in chunks.items() if n in texts or is_english(c.text)}
    features = _features(question, chunks, texts, cosines, said)
    return Gathered(language, weights, chunks, features)


def _features(
    question: str,
    chunks: Mapping[int, Chunk],
    texts: Mapping[int, float],
    cosines: Mapping[int, float],
    said: Mapping[int, float],
) -> dict[int, Features]:
    """The features of every candidate; a term's weight comes from its rarity among them."""
    asked = take_apart(question)
    every = wanted = keys(question)
    reaching = asked.kind is not None and asked.kind.name in TO_REACH
    if reaching and asked.kind is not None:
        # "Call" stands in many papers; the number to be called stands beside whose it is.
        wanted = wanted - asked.kind.implied or wanted
    other_script = {term.key for term in terms_of(question) if term.kind != "cjk"}
    around = {
        n: every & (keys(name_words(c.document)) | keys(c.heading)) for n, c in chunks.items()
    }
    places = {n: places_of(c.text, every) for n, c in chunks.items()}
    inside = {n: around[n].union(key for _, key in places[n]) for n in chunks}
    weights = inverse_frequency(inside.values())
    self_score = sum(weights.get(key, weights[""]) for key in every) or 1.0
    unseen_cosine = min(cosines.values(), default=0.0)
    lacking = {number: _lacks_what_is_asked(asked, chunk) for number, chunk in chunks.items()}
    return {
        number: Features(
            bm25=texts.get(number, 0.0) / self_score,
            passage=coverage(wanted, inside[number], weights),
            sentence=max(
                (
                    coverage(wanted, said | around[number], weights)
                    for said in _sentences(chunk.text, places[number])
                ),
                default=0.0,
            ),
            cosine=cosines.get(number, unseen_cosine),
            said=said.get(number, cosines.get(number, unseen_cosine)),
            untyped=float(lacking[number]),
            untyped_strict=float(lacking[number] and asked.kind is not None and asked.kind.strict),
            unreachable=float(lacking[number] and reaching),
            named=float(_is_named(wanted, chunk.document)),
            foreign_year=float(_is_of_another_year(asked, chunk)),
            foreign_script=float(len(other_script & inside[number])),
        )
        for number, chunk in chunks.items()
    }


def _lacks_what_is_asked(asked: Question, chunk: Chunk) -> bool:
    kind = asked.kind
    return kind is not None and not holds(kind, chunk.text, asked.wanted)


def _is_named(wanted: frozenset[str], document: str) -> bool:
    """Whether all words of the document's name are asked about, but years and "manual", "notes"."""
    name = {key for key in keys(name_words(document)) - _KINDS_OF_PAPER if not key.isdecimal()}
    return bool(name) and name <= wanted


def _is_of_another_year(asked: Question, chunk: Chunk) -> bool:
    if not asked.years:
        return False
    years = years_in(f"{name_words(chunk.document)} {chunk.heading}") or years_in(chunk.text)
    return bool(years) and not asked.years & years


def _sentences(text: str, places: Sequence[tuple[int, str]]) -> Iterator[frozenset[str]]:
    """The keys of each sentence and of what stands above it; ``places`` are those in ``text``."""
    at = 0
    for sentence in split(text):
        while at < len(places) and places[at][0] < sentence.start:
            at += 1
        begin = at
        while at < len(places) and places[at][0] < sentence.end:
            at += 1
        yield keys(sentence.context).union(key for _, key in places[begin:at])


def _probability(weights: Weights, features: Features) -> float:
    log_odds = weights.bias + sum(w * x for w, x in zip(weights[1:], features, strict=True))
    return 1 / (1 + math.exp(-log_odds))


def _passage(chunk: Chunk, score: float) -> Passage:
    return Passage(
        document=chunk.document,
        page=chunk.page,
        start=chunk.start,
        end=chunk.end,
        text=chunk.text,
        score=score,
        heading=chunk.heading,
    )
