"""The evaluation of a library on a file of questions."""

from collections.abc import Sequence
from pathlib import Path

import lxml.etree
import msgspec
import pytest

from rag.evaluate import Case, Shown, evaluate, holds_answer, markdown, read_cases, summarise
from rag.evaluate_plot import MEASURES, plot
from rag.evidence import ANSWERABLE, CLOSE
from rag.library import Library
from rag.question_files import squad
from rag.types import Evidence, Passage, Retrieval


def passage(document: str, text: str, score: float = 0.9) -> Passage:
    return Passage(document=document, page=1, start=0, end=len(text), text=text, score=score)


RIGHT = passage("boiler.pdf", "The pressure should be 1.5 bar.")
WRONG = passage("oven.pdf", "Bake at 200 °C.")


class Scripted:
    """Answers each question as the test says."""

    def __init__(self, script: dict[str, tuple[list[Passage], list[Passage], float]]) -> None:
        self._script = script

    async def retrieve(self, text: str, k: int = 5) -> Retrieval:
        return Retrieval(passages=self._script[text][0][:k], language="en")

    async def evidence(self, question: str, passages: Sequence[Passage]) -> Evidence:
        _, quotes, answerable = self._script[question]
        return Evidence(quotes=quotes, answerable=answerable)


def case(question: str, *, answerable: bool = True, page: int | None = 1) -> Case:
    return Case(
        id=question,
        question=question,
        answerable=answerable,
        document="boiler.pdf" if answerable else None,
        page=page if answerable else None,
        answer="1.5 bar" if answerable else None,
    )


async def test_rates() -> None:
    library = Scripted(
        {
            "first": ([RIGHT, WRONG], [RIGHT], 0.9),
            "second": ([WRONG, RIGHT], [WRONG, RIGHT], 0.8),
            "missed": ([WRONG], [WRONG], 0.7),
            "refused": ([RIGHT], [RIGHT], 0.1),
            "silent": ([WRONG], [], 0.0),
            "made up": ([WRONG], [WRONG], 0.99),
        }
    )
    cases = [case(q) for q in ("first", "second", "missed", "refused")]
    cases += [case(q, answerable=False) for q in ("silent", "made up")]
    report = await evaluate(library, cases)
    assert (report.questions, report.answerable) == (6, 4)
    assert (report.hit_at_1, report.hit_at_k, report.page_at_k) == (0.5, 0.75, 0.75)
    assert report.mean_reciprocal_rank == pytest.approx((1 + 0.5 + 1) / 4)
    assert (report.wrong_refusals, report.right_refusals) == (0.25, 0.5)
    assert report.refusal_precision == 0.5
    assert report.quote_correct == pytest.approx(2 / 3)
    assert report.first_quote_correct == pytest.approx(1 / 3)
    table = markdown(report)
    assert "| document first | 0.500 |" in table
    for fault in ("- missed missed: boiler.pdf is not", "- refused", "- made up"):
        assert fault in table
    assert "- first" not in table


async def test_refusals_with_the_closest_passage_are_refusals_and_counted_apart() -> None:
    library = Scripted(
        {
            "told": ([RIGHT], [RIGHT], ANSWERABLE),
            "close": ([RIGHT], [RIGHT], CLOSE),
            "beside": ([RIGHT, WRONG], [WRONG], 0.4),
            "nothing": ([RIGHT], [RIGHT], CLOSE - 0.01),
            "none close": ([WRONG], [WRONG], 0.4),
            "none": ([WRONG], [WRONG], 0.1),
        }
    )
    cases = [case(q) for q in ("told", "close", "beside", "nothing")]
    cases += [case(q, answerable=False) for q in ("none close", "none")]
    report = await evaluate(library, cases)
    assert (report.wrong_refusals, report.right_refusals) == (0.75, 1.0)
    assert (report.wrong_refusals_close, report.right_refusals_close) == (0.5, 0.5)
    assert report.wrong_refusals_contained == 0.25
    assert report.answer_contained == 0.25  # a quote of a refusal is no answer
    assert report.seen_contained == 0.5  # but somebody reads it
    assert "| … or in a refusal's closest passage, of all | 0.500 |" in markdown(report)
    assert report.citations_correct == 1.0


async def test_the_page_counts_apart_from_the_document() -> None:
    library = Scripted({"q": ([RIGHT], [RIGHT], 0.9)})
    report = await evaluate(library, [case("q", page=2)])
    assert (report.hit_at_1, report.page_at_k) == (1.0, 0.0)


async def test_without_answerable_questions_it_says_so() -> None:
    with pytest.raises(ValueError, match="no answerable question"):
        await evaluate(Scripted({}), [])


@pytest.mark.parametrize(
    ("text", "answer", "held"),
    [
        ("The pressure should be 1.5 bar.", "1.5 bar", True),
        ("The pressure should be 1.8 bar.", "1.5 bar", False),
        ("E04 | No flame", "There is no flame (E04)", True),
        ("The fan is blocked", "the pump is broken", False),
        ("anything", "", False),
    ],
)
def test_a_quote_holds_an_answer(text: str, answer: str, held: bool) -> None:
    assert holds_answer(text, answer) is held


def test_cases_are_read_line_by_line(tmp_path: Path) -> None:
    path = tmp_path / "questions.jsonl"
    path.write_text(
        '{"id": "a", "question": "Q?", "answerable": true, "document": "d.md", "page": null, '
        '"answer": "A", "note": "ignored"}\n\n'
        '{"id": "b", "question": "R?", "answerable": false}\n'
    )
    assert [(c.id, c.answerable, c.document) for c in read_cases(path)] == [
        ("a", True, "d.md"),
        ("b", False, None),
    ]
    path.write_text('{"id": "a"}\n')
    with pytest.raises(msgspec.ValidationError, match="question"):
        read_cases(path)


async def test_a_real_library_is_measured(library: Library, folder: Path) -> None:
    (folder / "boiler.md").write_text("# Boiler\n\nThe boiler pressure should be 1.5 bar.\n")
    (folder / "oven.md").write_text("# Oven\n\nThe oven goes up to 280 °C.\n")
    await library.ingest([folder])
    cases = [
        Case(
            id="1",
            question="What should the boiler pressure be?",
            answerable=True,
            document="boiler.md",
            answer="1.5 bar",
        )
    ]
    report = await evaluate(library, cases)
    assert (report.hit_at_1, report.page_at_k, report.first_quote_correct) == (1.0, 1.0, 1.0)


async def test_shown_answers_citations_and_gain() -> None:
    library = Scripted(
        {
            "first": ([RIGHT, WRONG], [RIGHT], 0.9),
            "second": ([WRONG, RIGHT], [WRONG], 0.9),
            "refused": ([RIGHT], [RIGHT], 0.1),
        }
    )
    report = await evaluate(library, [case(q) for q in ("first", "second", "refused")])
    assert report.ndcg_at_k == pytest.approx((1 + 1 / 1.58496 + 1) / 3, abs=1e-4)
    assert report.answer_contained == pytest.approx(1 / 3)
    assert report.citations_correct == pytest.approx(1 / 2)
    # "1.5 bar" against "The pressure should be 1.5 bar.": words 1, 5, bar of 7
    assert report.token_f1 == pytest.approx(2 * (3 / 7) / (3 / 7 + 1) / 3)


async def test_a_citation_of_the_section_beside_a_passage_is_right_where_it_has_the_answer() -> (
    None
):
    beside = passage("boiler.pdf", "Check it once a year.")
    other = passage("oven.pdf", "The pressure should be 1.5 bar, too.")
    library = Scripted({"beside": ([beside], [RIGHT], 0.9), "other": ([beside], [other], 0.9)})
    report = await evaluate(library, [case("beside"), case("other")])
    assert [outcome.cited_right for outcome in report.outcomes] == [True, False]


async def test_what_is_shown_counts_not_what_might_have_been() -> None:
    asked = []

    async def show(question: str, evidence: Evidence) -> Shown:
        asked.append(question)
        text = {"said": "It is 1.5 bar.", "cited": "As the manual says.", "neither": "High."}
        quotes = evidence.quotes if question == "cited" else []
        return Shown(text=text[question], quotes=quotes)

    library = Scripted({q: ([RIGHT], [RIGHT], 0.9) for q in ("said", "cited", "neither")})
    library._script["refused"] = ([RIGHT], [RIGHT], 0.1)
    cases = [case(q) for q in ("said", "cited", "neither", "refused")]
    report = await evaluate(library, cases, show=show)
    assert asked == ["said", "cited", "neither"]
    assert [outcome.contains for outcome in report.outcomes] == [True, True, False, False]
    assert [outcome.cited_right for outcome in report.outcomes] == [False, True, False, False]
    assert report.outcomes[0].shown == "It is 1.5 bar."


def test_a_plot_has_a_bar_for_every_measure_of_every_report() -> None:
    report = summarise([])
    drawing = plot({"tuned <on>": report, "held out": report})
    assert drawing.count("<rect") == 1 + 2 * len(MEASURES) + 2
    assert "tuned &lt;on&gt;" in drawing
    assert lxml.etree.fromstring(drawing).tag.endswith("svg")


def test_questions_in_squads_form_make_documents(tmp_path: Path) -> None:
    paragraphs = [
        {
            "context": "The pump is blue.",
            "qas": [
                {"id": "a", "question": "Which colour?", "answers": [{"text": "blue"}]},
                {"id": "b", "question": "How old?", "answers": []},
            ],
        }
    ]
    file = tmp_path / "squad.json"
    file.write_bytes(msgspec.json.encode({"data": [{"paragraphs": paragraphs}]}))
    first, second = squad(file, tmp_path)
    assert (tmp_path / "0000.txt").read_text() == "The pump is blue."
    assert (first.document, first.answer, first.answerable) == ("0000.txt", "blue", True)
    assert (second.document, second.answerable) == (None, False)
