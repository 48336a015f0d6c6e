"""How good a library is at a file of questions: found, answered, refused, quoted, and how fast.

The file has one JSON object a line: ``id``, ``question``, ``answerable``, and for an answerable one
``document``, ``page`` and ``answer``. Must not know of HTTP or language models.
"""

import math
import re
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Sequence
from pathlib import Path
from typing import Protocol

import msgspec

from rag.evidence import verdict
from rag.language import CJK_RANGES
from rag.lexical import terms_of
from rag.quotes import shown
from rag.types import Evidence, Passage, Reranking, Retrieval

_WORD = re.compile(rf"[{CJK_RANGES}]|[^\W{CJK_RANGES}]+")
QUOTE_SHARE = 0.6
"""Share of the expected answer's terms (and all of its numbers) that a right quote holds."""


class Answering(Protocol):
    """The part of ``rag.library.Library`` that is measured."""

    async def retrieve(self, text: str, k: int = 5) -> Retrieval: ...
    async def evidence(self, question: str, passages: Sequence[Passage]) -> Evidence: ...


class Shown(msgspec.Struct, frozen=True, kw_only=True):
    """What a person sees of an answer: its words, and the passages that it cites."""

    text: str
    quotes: list[Passage]


Show = Callable[[str, Evidence], Awaitable[Shown]]
"""From a question and its evidence to what is shown; asked only where there is evidence enough."""


class Case(msgspec.Struct, frozen=True, kw_only=True):
    """One question with what is expected of it."""

    id: str
    question: str
    answerable: bool
    document: str | None = None
    page: int | None = None
    answer: str | None = None
    held_out: bool = False
    """Put aside before anything was tuned, and reported by itself."""


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one question."""

    case: Case
    rank: int | None
    """Of the first passage from the expected document, from 1; ``None`` when not among the k."""
    page_rank: int | None
    """The same for the expected document and page."""
    answerable: float
    refused: bool
    quoted: bool
    """Whether one of the quotes holds the expected answer."""
    quoted_first: bool
    """Whether the best quote does."""
    shown: str
    """The words of the answer; empty when it was refused."""
    contains: bool
    """Whether what is shown, or a quote it cites, holds the expected answer letter by letter,
    white space aside."""
    token_f1: float
    """Of the shown words against the expected answer; a quote is longer, so this is low."""
    close: bool
    """Whether it was refused with the passage that comes closest."""
    close_contains: bool
    """Whether that holds the expected answer letter by letter."""
    cited_right: bool
    """Whether what is cited first stands in the expected document and its passage has the
    answer."""
    retrieve_ms: float
    evidence_ms: float
    show_ms: float
    reranking: Reranking | None = None


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """Rates from 0 to 1 over the questions they are about; milliseconds."""

    questions: int
    answerable: int
    hit_at_1: float
    hit_at_k: float
    page_at_k: float
    mean_reciprocal_rank: float
    ndcg_at_k: float
    wrong_refusals: float
    """Of the answerable questions, those refused."""
    right_refusals: float
    """Of the unanswerable questions, those refused (recall)."""
    refusal_precision: float
    """Of the refused questions, those unanswerable."""
    wrong_refusals_close: float
    """Of the answerable questions, those refused with the passage that comes closest."""
    wrong_refusals_contained: float
    """Of the answerable questions, those refused with a passage that holds the answer."""
    right_refusals_close: float
    """Of the unanswerable questions, those refused with a passage that comes closest."""
    quote_correct: float
    """Of the answerable questions that were answered, those with the answer in a quote."""
    first_quote_correct: float
    answer_contained: float
    """Of all answerable questions, refused ones too, those whose shown answer holds it."""
    seen_contained: float
    """The same, with a refusal's closest passage counted as well: all that a person gets to see."""
    token_f1: float
    """Mean over all answerable questions."""
    citations_correct: float
    """Of the answerable questions that were answered."""
    retrieve_ms_p50: float
    retrieve_ms_p95: float
    evidence_ms_p50: float
    evidence_ms_p95: float
    show_ms_p50: float
    show_ms_p95: float
    reranked: float | None
    """The share of all questions whose passages a cross-encoder put in order; None without one."""
    outcomes: list[Outcome]


def read_cases(path: Path) -> list[Case]:
    """The questions in the file at ``path``.

    Raises:
        OSError: it cannot be read.
        msgspec.ValidationError, msgspec.DecodeError: a line is not a question.
    """
    lines = path.read_bytes().splitlines()
    return [msgspec.json.decode(line, type=Case) for line in lines if line.strip()]


async def quoted(question: str, evidence: Evidence) -> Shown:
    """What is shown where there is no language model."""
    quotes = shown(evidence)
    return Shown(text=" ".join(quote.text for quote in quotes), quotes=quotes)


async def evaluate(
    library: Answering, cases: Sequence[Case], k: int = 5, show: Show = quoted
) -> Report:
    """Ask ``library`` every question, one after the other; ``show`` makes the answer of the
    evidence.

    Raises:
        ValueError: there is no answerable question.
    """
    if not any(case.answerable for case in cases):
        raise ValueError("no answerable question among the cases: add some, or check the file")
    if cases:
        await library.retrieve(cases[0].question, k)  # the encoder starts on the first question
    return summarise([await _outcome(library, case, k, show) for case in cases])


def summarise(outcomes: Sequence[Outcome]) -> Report:
    """The rates over ``outcomes``."""
    answerable = [outcome for outcome in outcomes if outcome.case.answerable]
    unanswerable = [outcome for outcome in outcomes if not outcome.case.answerable]
    refused = [outcome for outcome in outcomes if outcome.refused]
    answered = [outcome for outcome in answerable if not outcome.refused]
    return Report(
        questions=len(outcomes),
        answerable=len(answerable),
        hit_at_1=_share(o.rank == 1 for o in answerable),
        hit_at_k=_share(o.rank is not None for o in answerable),
        page_at_k=_share(o.page_rank is not None for o in answerable),
        mean_reciprocal_rank=_mean(1 / o.rank if o.rank else 0.0 for o in answerable),
        ndcg_at_k=_mean(1 / math.log2(o.rank + 1) if o.rank else 0.0 for o in answerable),
        wrong_refusals=_share(o.refused for o in answerable),
        right_refusals=_share(o.refused for o in unanswerable),
        refusal_precision=_share(not o.case.answerable for o in refused),
        wrong_refusals_close=_share(o.close for o in answerable),
        wrong_refusals_contained=_share(o.close_contains for o in answerable),
        right_refusals_close=_share(o.close for o in unanswerable),
        quote_correct=_share(o.quoted for o in answered),
        first_quote_correct=_share(o.quoted_first for o in answered),
        answer_contained=_share(o.contains for o in answerable),
        seen_contained=_share(o.contains or o.close_contains for o in answerable),
        token_f1=_mean(o.token_f1 for o in answerable),
        citations_correct=_share(o.cited_right for o in answered),
        retrieve_ms_p50=_quantile([o.retrieve_ms for o in outcomes], 0.5),
        retrieve_ms_p95=_quantile([o.retrieve_ms for o in outcomes], 0.95),
        evidence_ms_p50=_quantile([o.evidence_ms for o in outcomes], 0.5),
        evidence_ms_p95=_quantile([o.evidence_ms for o in outcomes], 0.95),
        show_ms_p50=_quantile([o.show_ms for o in outcomes if not o.refused], 0.5),
        show_ms_p95=_quantile([o.show_ms for o in outcomes if not o.refused], 0.95),
        reranked=_reranked(outcomes),
        outcomes=list(outcomes),
    )


def markdown(report: Report) -> str:
    """The report as a Markdown table, and a list of the questions that went wrong."""
    rows = [
        ("questions (answerable)", f"{report.questions} ({report.answerable})"),
        ("document first", f"{report.hit_at_1:.3f}"),
        ("document among the passages", f"{report.hit_at_k:.3f}"),
        ("page among the passages", f"{report.page_at_k:.3f}"),
        ("mean reciprocal rank", f"{report.mean_reciprocal_rank:.3f}"),
        ("nDCG", f"{report.ndcg_at_k:.3f}"),
        ("answerable, but refused", f"{report.wrong_refusals:.3f}"),
        ("unanswerable, and refused", f"{report.right_refusals:.3f}"),
        ("refusals that were right", f"{report.refusal_precision:.3f}"),
        ("answerable, refused with the closest passage", f"{report.wrong_refusals_close:.3f}"),
        ("… which holds the answer, of all", f"{report.wrong_refusals_contained:.3f}"),
        ("unanswerable, refused with the closest passage", f"{report.right_refusals_close:.3f}"),
        ("answer in a quote", f"{report.quote_correct:.3f}"),
        ("answer in the best quote", f"{report.first_quote_correct:.3f}"),
        ("answer shown word for word, of all", f"{report.answer_contained:.3f}"),
        ("… or in a refusal's closest passage, of all", f"{report.seen_contained:.3f}"),
        ("token F1 of what is shown, of all", f"{report.token_f1:.3f}"),
        ("citation with the answer, of those answered", f"{report.citations_correct:.3f}"),
        (
            "retrieve, ms (median, 95%)",
            f"{report.retrieve_ms_p50:.0f}, {report.retrieve_ms_p95:.0f}",
        ),
        (
            "evidence, ms (median, 95%)",
            f"{report.evidence_ms_p50:.0f}, {report.evidence_ms_p95:.0f}",
        ),
        ("answer, ms (median, 95%)", f"{report.show_ms_p50:.0f}, {report.show_ms_p95:.0f}"),
    ]
    if report.reranked is not None:
        rows.append(("reranked in time", f"{report.reranked:.3f}"))
    table = ["| measure | value |", "|---|---|", *(f"| {name} | {value} |" for name, value in rows)]
    wrong = [line for outcome in report.outcomes if (line := _complaint(outcome))]
    return "\n".join([*table, "", *wrong]).rstrip() + "\n"


async def _outcome(library: Answering, case: Case, k: int, show: Show) -> Outcome:
    started = time.perf_counter()
    retrieval = await library.retrieve(case.question, k)
    passages = retrieval.passages
    retrieved = time.perf_counter()
    found = await library.evidence(case.question, passages)
    weighed = time.perf_counter()
    decided = verdict(found)
    refused = decided != "answers"
    told = Shown(text="", quotes=[]) if refused else await show(case.question, found)
    close = found.quotes[:1] if decided == "close" else []
    finished = time.perf_counter()
    right = [holds_answer(quote.text, case.answer or "") for quote in found.quotes]
    return Outcome(
        case=case,
        rank=_rank(passage.document == case.document for passage in passages),
        page_rank=_rank(
            (p.document, p.page) == (case.document, case.page if p.page is not None else None)
            for p in passages
        ),
        answerable=found.answerable,
        refused=refused,
        quoted=any(right),
        quoted_first=right[:1] == [True],
        shown=told.text,
        contains=_says(case, told.text, *(quote.text for quote in told.quotes)),
        close=bool(close),
        close_contains=_says(case, *(quote.text for quote in close)),
        token_f1=_token_f1(told.text, case.answer or ""),
        cited_right=_cites(case, told.quotes, passages),
        retrieve_ms=(retrieved - started) * 1000,
        evidence_ms=(weighed - retrieved) * 1000,
        show_ms=(finished - weighed) * 1000,
        reranking=retrieval.reranking,
    )


def holds_answer(text: str, answer: str) -> bool:
    """Whether ``text`` holds the numbers and most of the other terms of ``answer``."""
    present = {term.key for term in terms_of(text)}
    wanted = {term.key: term.kind for term in terms_of(answer)}
    facts = {key for key, kind in wanted.items() if kind in ("number", "code")}
    if not wanted or not facts <= present:
        return False
    return len(wanted.keys() & present) >= QUOTE_SHARE * len(wanted)


def _cites(case: Case, quotes: Sequence[Passage], passages: Sequence[Passage]) -> bool:
    """Whether the best quote is of the right document, and it or the passage around it has the
    answer; it may stand beside the passages, being of the section of one."""
    if not quotes or quotes[0].document != case.document:
        return False
    best = quotes[0]
    return holds_answer(best.text, case.answer or "") or any(
        (p.document, p.page) == (best.document, best.page)
        and p.start <= best.start
        and best.end <= p.end
        and holds_answer(p.text, case.answer or "")
        for p in passages
    )


def _says(case: Case, *texts: str) -> bool:
    """Whether one of ``texts`` holds the expected answer letter by letter."""
    return case.answer is not None and any(_bare(case.answer) in _bare(text) for text in texts)


def _bare(text: str) -> str:
    return "".join(text.casefold().split())


def _token_f1(text: str, answer: str) -> float:
    """SQuAD's overlap of words; a CJK character counts as a word."""
    given, wanted = (Counter(_WORD.findall(one.casefold())) for one in (text, answer))
    common = (given & wanted).total()
    if not common:
        return 0.0
    precision, recall = common / given.total(), common / wanted.total()
    return 2 * precision * recall / (precision + recall)


def _complaint(outcome: Outcome) -> str:
    case = outcome.case
    if case.answerable and outcome.rank is None:
        fault = f"{case.document} is not among the passages"
    elif case.answerable and outcome.refused:
        fault = f"refused ({outcome.answerable:.2f})"
    elif case.answerable and not outcome.quoted:
        fault = f"no quote holds “{case.answer}”"
    elif not case.answerable and not outcome.refused:
        fault = f"answered ({outcome.answerable:.2f}), the documents do not tell"
    else:
        return ""
    return f"- {case.id} {case.question}: {fault}"


def _rank(fits: Iterable[bool]) -> int | None:
    return next((rank for rank, fit in enumerate(fits, start=1) if fit), None)


def _reranked(outcomes: Sequence[Outcome]) -> float | None:
    told = [outcome.reranking for outcome in outcomes if outcome.reranking is not None]
    return _share(not one.problem for one in told) if told else None


def _share(values: Iterable[bool]) -> float:
    return _mean(float(value) for value in values)


def _mean(values: Iterable[float]) -> float:
    """The mean; 1.0 of nothing, for a rate over no questions has no fault."""
    numbers = list(values)
    return sum(numbers) / len(numbers) if numbers else 1.0


def _quantile(values: Sequence[float], q: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(q * len(ordered)))] if ordered else 0.0
