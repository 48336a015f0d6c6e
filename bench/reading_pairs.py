"""Questions with sentences that answer them and sentences that do not, to train the reader on.

Of bench/reading/: a library of each family's papers is asked every question, as the hub is, and the
sentences that it would weigh are what the reader learns to tell apart. Each question comes twice,
with a sentence that answers and without, so that nothing is learnt from the question alone. The
families of bench/refusals/ stay unread: on them the weights of what the reader says are fitted.
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from bench.evidence_samples import library_of
from bench.papers import READING, Asked, Paper, read_papers
from bench.retrieval import Encoder
from rag.candidates import Candidate, candidates_of, embedded_sentence, read_text
from rag.evidence import WITH_ENCODER, lexical_features, log_odds, prefilter
from rag.question import take_apart

PASSAGES = 5
CANDIDATES = 24
"""Sentences of a question, the lexically best."""
SHORTEST = 8
"""Letters of a part of an answer that tells by itself where it stands."""


class Reading(NamedTuple):
    """A question, and what the reader is to say of some texts for it."""

    question: str
    right: str
    """A text that answers; "" where none does."""
    wrong: list[str]
    """Texts that do not, the most tempting first."""


async def readings(folder: Path, encode: Encoder) -> list[Reading]:
    """Of all families; ``folder`` is for their libraries."""
    found: list[Reading] = []
    for file in sorted(READING.glob("*.txt")):
        found += await _of_family(file, folder / file.stem, encode)
    return found


async def _of_family(file: Path, home: Path, encode: Encoder) -> list[Reading]:
    papers = read_papers(file)
    library = await library_of(papers, home, encode)
    found: list[Reading] = []
    for paper in papers:
        for asked in paper.asked:
            passages = (await library.retrieve(asked.question, PASSAGES)).passages
            candidates = _by_temptation(asked.question, candidates_of(passages), encode)
            found += _readings(paper, asked, candidates, encode)
    await library.close()
    return found


def _by_temptation(
    question: str, candidates: Sequence[Candidate], encode: Encoder
) -> list[Candidate]:
    """The lexically best, in the order of what the hub without a reader takes them for."""
    features = lexical_features(take_apart(question), candidates)
    kept = sorted(range(len(candidates)), key=lambda i: -prefilter(features[i]))[:CANDIDATES]
    if not kept:
        return []
    cosines = encode([embedded_sentence(candidates[i]) for i in kept]) @ encode([question])[0]
    odds = [
        log_odds(WITH_ENCODER, features[i]._replace(cosine=float(cosine)))
        for i, cosine in zip(kept, cosines, strict=True)
    ]
    return [candidates[kept[i]] for i in np.argsort(-np.array(odds), kind="stable")]


def _readings(
    paper: Paper, asked: Asked, candidates: Sequence[Candidate], encode: Encoder
) -> Iterator[Reading]:
    right = [c for c in candidates if c.passage.document == paper.name and _tells(asked.answer, c)]
    wrong = [read_text(c) for c in candidates if c not in right]
    if not wrong:
        return
    yield Reading(asked.question, "", wrong)
    if right:
        yield Reading(asked.question, read_text(right[0]), wrong)
    elif asked.would_answer:
        yield Reading(asked.question, _inserted(paper, asked, candidates, encode), wrong)


def _tells(answer: str, candidate: Candidate) -> bool:
    """Whether the candidate holds the answer, or a part of it that a row or a sentence is."""
    if not answer:
        return False
    text, whole = _bare(candidate.sentence.text), _bare(answer)
    parts = [
        part for p in re.split(r"(?<=[.;:!?])\s|\|", answer) if len(part := _bare(p)) >= SHORTEST
    ]
    return any(part in text for part in (whole, *parts)) or (
        len(text) >= SHORTEST and text in whole
    )


def _inserted(paper: Paper, asked: Asked, candidates: Sequence[Candidate], encode: Encoder) -> str:
    """The sentence that would answer, under what stands above the most similar one of the paper."""
    own = [c for c in candidates if c.passage.document == paper.name] or list(candidates)
    cosines = encode([embedded_sentence(c) for c in own]) @ encode([asked.would_answer])[0]
    place = own[int(np.argmax(cosines))]
    sentence = place.sentence._replace(text=asked.would_answer)
    return read_text(place._replace(sentence=sentence, subject=""))


def _bare(text: str) -> str:
    return "".join(text.split())
