"""Which sentences of the retrieved passages answer a question, and how sure that is.

Every sentence gets a few features that mean the same for every question (similarity, the weight of
the question's terms it covers, whether it holds the kind of thing asked for); a logistic model
ranks them and says how likely the best one answers. Must not know of databases or processes: the
encoder comes in as a function.
"""

import logging
import math
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from rag.answer_types import holds, is_of_a_person
from rag.appliances import appliances_in
from rag.candidates import Candidate, candidates_of, embedded_sentence, read_text
from rag.errors import EmbedderError
from rag.lexical import coverage, inverse_frequency, keys, name_words, terms_of
from rag.question import COMMON, COMMON_WEIGHT, Question, is_name, take_apart
from rag.quotes import AS_GOOD, Weighed, quotes_of
from rag.types import Evidence, Passage
from rag.years import years_in

_log = logging.getLogger(__name__)

Embed = Callable[[Sequence[str]], Awaitable[npt.NDArray[np.float32]]]
"""Texts → unit vectors, float32 ``(n, d)``."""

Read = Callable[[str, Sequence[str]], Awaitable[npt.NDArray[np.float32]]]
"""A question and texts → log odds that each text answers it, float32 ``(n,)``."""

ADAPTER = Path(__file__).parent / "reader.gguf"
"""What makes a reader of all-MiniLM-L6-v2: a LoRA and a head, trained by bench/train_reader.py on
bench/reading/."""

MAX_EMBEDDED = 12
"""Sentences worth 5–12 ms of encoder each, the lexically best; 24 measure no better."""
_NOBODY = re.compile(
    r"\b(?:the|(?:\d+|an?|one|two|three|four|five|six|seven|eight|nine|ten|half|few) \w+ of) $",
    re.I,
)
"""Before a capital that is nobody's name: "five drops of Otirelle", "the Juniors"."""
SHORTEST_PART = 5
PART = 0.7
"""Of a term that the text holds as the first part of a longer word; from that many letters on."""


class Features(NamedTuple):
    """What is known of a candidate sentence; all but the first two between 0 and 1."""

    read: float
    """Log odds of the reader: question and sentence read together."""
    cosine: float
    sentence: float
    """Weighted share of the question's terms in the sentence and in what stands above it:
    headings, a table's header, the document's name."""
    evenly: float
    """The same with every term weighing alike: one that each candidate holds says which document
    speaks of it."""
    untyped: float
    """1 when the question asks for a kind of thing and the sentence holds none."""
    untyped_strict: float
    """1 when, besides, the kind has a form that cannot be missed: money, a phone number."""
    unnamed: float
    """1 when, of such a kind, no word says what is given: kilograms, but not "weighs"."""
    missing: float
    """Share of what is asked about ("how much *sugar*", "the *neighbour's*") not in the passage; an
    owner's name may stand in another passage of the document."""
    elsewhere: float
    """Share of the question's terms that another document's passages hold, this one's not."""
    foreign_subject: float
    """The same of terms in another document's title: what the boiler costs is not in the oven's
    manual."""
    bare: float
    """1 when, besides being ``unnamed``, all that the question names stands above the sentence: of
    the oven's manual any sentence with kilograms would say how heavy the oven is."""
    absent: float
    """Share of the question's codes, numbers and names not in the document's passages."""
    behind: float
    """How much worse its passage fits the question than the best one."""
    foreign_code: float
    """1 when the question names a code ("E24") that is not here, or that another sentence names; or
    whose code it is, and nothing of that in the document."""
    foreign_owner: float
    """1 when the question names somebody ("Ella's", "may Ella"), and the sentence other people."""
    foreign_year: float
    """1 when the question is about a year, and the sentence or what stands above it of another."""
    foreign_appliance: float
    """1 when the question is about an appliance, the document about another one, and the passage
    does not name it: the dishwasher has a filter as the washing machine has."""
    headed: float
    """1 when the heading right above says all that the question does, its verb too."""


class Model(NamedTuple):
    """Log odds that a sentence answers: a bias, and a weight for each feature."""

    bias: float
    weights: Features


HEADED = 1.5

# Fitted by bench/evidence.py on XQuAD, bench/household.json, bench/refusals/ and samples/; tables
# in docs/retrieval.md. The weights of a foreign code, owner or year and of a heading that says it
# are set, not fitted: too few questions have one. The reader's bias was fitted as -2.4: with -2.2
# fifteen more in a thousand of XQuAD's questions are answered, and no tuned sample question that
# has no answer.
WITH_ENCODER = Model(
    -3.3,
    Features(
        0.0,
        4.7,
        3.2,
        -0.2,
        -2.8,
        -2.3,
        -0.7,
        -1.4,
        0.1,
        -3.0,
        -2.5,
        -1.8,
        -5.6,
        -5.0,
        -4.0,
        -4.0,
        -4.0,
        HEADED,
    ),
)
WITH_READER = Model(
    -2.2,
    Features(
        *(0.14, 3.5, 2.5, 0.2, -2.4, -2.6, -0.4, -1.2, 0.1, -2.5, -2.3, -2.3, -5.3),
        *(-5.0, -4.0, -4.0, -4.0, HEADED),
    ),
)
LEXICAL = Model(
    -1.6,
    Features(
        0.0,
        0.0,
        3.2,
        0.9,
        -3.0,
        -2.0,
        -0.8,
        -1.2,
        -0.6,
        -2.2,
        -2.8,
        -2.0,
        -2.8,
        -5.0,
        -4.0,
        -4.0,
        -4.0,
        HEADED,
    ),
)
CHINESE = Model(
    -3.2,
    Features(
        0.0,
        0.0,
        8.6,
        2.0,
        -1.4,
        -3.1,
        0.0,
        0.0,
        -2.0,
        -2.2,
        0.0,
        -1.5,
        -3.0,
        -5.0,
        0.0,
        -4.0,
        -4.0,
        0.0,
    ),
)

ANSWERABLE = 0.5
"""From this probability on a question is answered: a wrong refusal costs as much as a wrong answer.
What that gives on each set is in docs/retrieval.md."""


Verdict = Literal["answers", "close", "nothing"]
"""The quotes answer; nothing does, and they come closest; there is nothing to show."""

CLOSE = 0.25
"""From this probability on, up to ``ANSWERABLE``, a refusal shows the best quote as what comes
closest. Half of all questions being answerable, about one in five of those quotes answers."""


async def evidence(
    question: str,
    passages: Sequence[Passage],
    embed: Embed | None = None,
    read: Read | None = None,
) -> Evidence:
    """The one to three sentences (or short paragraphs) of ``passages`` that answer best.

    Quotes keep page offsets. ``embed`` and ``read`` are called at most once, and not for a question
    that an English encoder cannot read; ``None`` where there is none. Without candidates: no
    quotes, probability 0. Refuse below ``ANSWERABLE``. A reader that fails is done without.

    Raises:
        EmbedderError: ``embed`` does.
    """
    asked = take_apart(question)
    candidates = candidates_of(passages)
    features = lexical_features(asked, candidates)
    model = CHINESE if asked.language == "zh" else LEXICAL
    if asked.language == "en" and embed is not None:
        order = sorted(range(len(candidates)), key=lambda i: -prefilter(features[i]))
        order = order[:MAX_EMBEDDED]
        candidates, features = [candidates[i] for i in order], [features[i] for i in order]
        if candidates:
            vectors = await embed([question, *(embedded_sentence(c) for c in candidates)])
            cosines = vectors[1:] @ vectors[0]
            features = [f._replace(cosine=float(c)) for f, c in zip(features, cosines, strict=True)]
        model = WITH_ENCODER
        if candidates and read is not None:
            try:
                scores = await read(question, [read_text(c) for c in candidates])
            except EmbedderError as error:
                _log.warning("weighing sentences without the reader: %s", error)
            else:
                read_so = zip(features, scores, strict=True)
                features = [f._replace(read=float(score)) for f, score in read_so]
                model = WITH_READER
    return judge(model, asked, candidates, features, passages)


def verdict(found: Evidence) -> Verdict:
    """What to do with ``found``; without a quote there is nothing to show."""
    if not found.quotes or found.answerable < CLOSE:
        return "nothing"
    return "answers" if found.answerable >= ANSWERABLE else "close"


def lexical_features(asked: Question, candidates: Sequence[Candidate]) -> list[Features]:
    """The features of every candidate but the first two, which stay 0."""
    weights = inverse_frequency([candidate.present for candidate in candidates])
    often_paraphrased = asked.actions | (asked.wanted & COMMON)
    weights |= {key: COMMON_WEIGHT * weights.get(key, weights[""]) for key in often_paraphrased}
    alike = {"": 1.0} | dict.fromkeys(often_paraphrased, COMMON_WEIGHT)
    documents = _terms_by_document(candidates)
    known = frozenset[str]().union(*documents.values())
    titled = frozenset[str]().union(*(_title(candidate.passage) for candidate in candidates))
    best = max((candidate.passage.score for candidate in candidates), default=0.0)
    coded = any(asked.codes <= candidate.present for candidate in candidates)
    people = asked.people
    if asked.perhaps_people and is_of_a_person(asked.text):
        people = people | (asked.perhaps_people & _names_in(candidates))
    everything, appliances = keys(asked.text), appliances_in(asked.text)
    counted = {
        id(candidate.passage)
        for candidate in candidates
        if asked.counted and asked.counted <= keys(candidate.sentence.text)
    }
    features = []
    for candidate in candidates:
        own = keys(candidate.sentence.text)
        meant = (people | asked.perhaps_people) & keys(candidate.link)
        present = candidate.present | meant
        passage = keys(candidate.passage.text) | candidate.around
        document = documents[candidate.passage.document]
        lacking = asked.wanted - document - asked.actions
        typed = asked.kind is not None and holds(
            asked.kind, candidate.sentence.text, asked.wanted | asked.specific
        )
        strict = asked.kind is not None and asked.kind.strict
        unnamed = strict and asked.kind is not None and not asked.kind.implied & present
        missing = len(asked.anchors - passage - (asked.owners & document)) / max(
            1, len(asked.anchors)
        )
        if id(candidate.passage) in counted and not asked.counted <= own:
            missing = max(missing, 0.5)
        features.append(
            Features(
                read=0.0,
                cosine=0.0,
                sentence=_coverage(asked.wanted, present, weights),
                evenly=_coverage(asked.wanted, present, alike),
                untyped=float(asked.kind is not None and not typed),
                untyped_strict=float(strict and not typed),
                unnamed=float(unnamed),
                missing=missing,
                elsewhere=coverage(asked.wanted, lacking & known, alike),
                foreign_subject=coverage(asked.wanted, lacking & titled, alike),
                bare=float(unnamed and asked.wanted <= candidate.around),
                absent=len(asked.specific - document) / max(1, len(asked.specific)),
                behind=best - candidate.passage.score,
                foreign_code=float(
                    not asked.codes <= (present if coded else passage)
                    or bool(asked.coded and asked.coded.isdisjoint(document))
                ),
                foreign_owner=float(not meant and _names_others(asked, people, candidate)),
                foreign_year=float(_is_of_another_year(asked, candidate)),
                foreign_appliance=float(_is_of_another_appliance(appliances, candidate)),
                headed=float(_is_headed(asked, everything, candidate)),
            )
        )
    return features


def judge(
    model: Model,
    asked: Question,
    candidates: Sequence[Candidate],
    features: Sequence[Features],
    passages: Sequence[Passage],
) -> Evidence:
    """Rank the candidates and say how likely the best one answers."""
    scores = [1 / (1 + math.exp(-log_odds(model, one))) for one in features]
    ranked = sorted(range(len(candidates)), key=lambda i: -scores[i])
    # What names less of what the question names than the best does speaks of another thing: the
    # dishwasher's E04 is none of the oven's.
    ranked = [i for i in ranked if features[i].elsewhere <= features[ranked[0]].elsewhere]
    of_number = asked.language == "en" and asked.kind is not None and asked.kind.name == "number"
    plain = of_number or (asked.kind is not None and asked.kind.strict)
    ranked = _from_the_beginning(candidates, features, scores, ranked)
    weighed = [
        Weighed(candidates[i], scores[i], plain and bool(features[i].untyped)) for i in ranked
    ]
    quotes = quotes_of(asked, weighed, passages, date.today())
    return Evidence(quotes=quotes, answerable=max((one.score for one in weighed), default=0.0))


def _from_the_beginning(
    candidates: Sequence[Candidate],
    features: Sequence[Features],
    scores: Sequence[float],
    ranked: list[int],
) -> list[int]:
    """``ranked``; under a heading that says the question, what is told there first comes first."""
    if not ranked or not features[ranked[0]].headed:
        return ranked
    best = ranked[0]
    under = [
        i
        for i in ranked
        if features[i].headed
        and candidates[i].passage == candidates[best].passage
        and scores[i] >= scores[best] * AS_GOOD
    ]
    first = min(under, key=lambda i: candidates[i].sentence.start)
    return [first, *(i for i in ranked if i != first)]


def _terms_by_document(candidates: Sequence[Candidate]) -> dict[str, frozenset[str]]:
    """All that the passages of a document say: a letter names the dog once, in its first line."""
    found: dict[str, frozenset[str]] = {}
    for document, around, text in {
        (c.passage.document, c.around, c.passage.text) for c in candidates
    }:
        found[document] = found.get(document, frozenset()) | around | keys(text)
    return found


def _title(passage: Passage) -> frozenset[str]:
    """Keys of the document's name and of its outermost heading: what it is about."""
    return keys(name_words(passage.document)) | keys(passage.heading.split(" > ", 1)[0])


def _coverage(
    wanted: frozenset[str], present: frozenset[str], weights: Mapping[str, float]
) -> float:
    """``coverage``, where a term that only begins another ("break", "breakdown") counts in part."""
    begun = {
        key
        for key in wanted - present
        if len(key) >= SHORTEST_PART and any(other.startswith(key) for other in present)
    }
    whole = coverage(wanted, present, weights)
    return whole + PART * coverage(wanted, frozenset(begun), weights) if begun else whole


def _is_of_another_year(asked: Question, candidate: Candidate) -> bool:
    """Whether the years of the sentence, else those above it, are not those asked for."""
    if not asked.years:
        return False
    passage, sentence = candidate.passage, candidate.sentence
    above = " ".join((sentence.context, passage.heading, name_words(passage.document)))
    years = years_in(sentence.text) | years_in(above)
    return bool(years) and not asked.years & years


def _is_of_another_appliance(asked: frozenset[str], candidate: Candidate) -> bool:
    """Whether the document is about another one, and the passage names none that is asked about."""
    if not asked:
        return False
    passage = candidate.passage
    title = f"{name_words(passage.document)}\n{passage.heading.split(' > ', 1)[0]}"
    about = appliances_in(title)
    return bool(about) and asked.isdisjoint(
        about | appliances_in(f"{passage.heading}\n{passage.text}")
    )


def _names_in(candidates: Sequence[Candidate]) -> frozenset[str]:
    """What the sentences, and what stands above them, write as a name and never otherwise."""
    texts = {candidate.sentence.text for candidate in candidates}
    texts |= {candidate.sentence.context for candidate in candidates}
    texts |= {candidate.passage.heading for candidate in candidates}
    terms = [term for text in texts for term in terms_of(text)]
    names = {term.key for term in terms if is_name(term)}
    return frozenset(names - {term.key for term in terms if not term.capital})


def _names_others(asked: Question, people: frozenset[str], candidate: Candidate) -> bool:
    """Whether it names somebody, but nobody whom the question names."""
    text = candidate.sentence.text
    if not people or people & keys(text):
        return False
    return any(
        is_name(term) and term.key not in asked.wanted and not _NOBODY.search(text, 0, term.start)
        for term in terms_of(text)
    )


def _is_headed(asked: Question, everything: frozenset[str], candidate: Candidate) -> bool:
    """Whether "Turning off the water" stands above it, where one asks how to turn it off."""
    if asked.kind is not None or not asked.actions:
        return False
    above = candidate.sentence.context or candidate.passage.heading
    inner = keys(above.rsplit(" > ", 1)[-1])
    return asked.actions <= inner and everything - _title(candidate.passage) <= inner


def prefilter(features: Features) -> float:
    return features.sentence - 0.3 * features.untyped


def log_odds(model: Model, features: Features) -> float:
    """That a sentence with these features answers."""
    return model.bias + sum(w * x for w, x in zip(model.weights, features, strict=True))
