"""The sample household is complete, its questions are true, and its rendered files are current."""

import re
import subprocess
import sys
from collections import Counter
from functools import cache
from pathlib import Path

import docx
import lxml.html
import msgspec
import pypdfium2
import pytest
from docx.table import Table

from hubd.home.file import read_description

SAMPLES = Path(__file__).parents[2] / "samples"
HOUSEHOLD = SAMPLES / "household"
DOCUMENTS = sorted(HOUSEHOLD.iterdir())
RENDERED = [path for path in DOCUMENTS if path.suffix in {".pdf", ".docx"}]


class Question(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    id: str
    question: str
    answerable: bool
    document: str | None
    page: int | None
    answer: str | None
    note: str


LINES = (SAMPLES / "questions.jsonl").read_text(encoding="utf-8").splitlines()
QUESTIONS = [msgspec.json.decode(line, type=Question) for line in LINES]
ANSWERABLE = [question for question in QUESTIONS if question.answerable]
UNANSWERABLE = [question for question in QUESTIONS if not question.answerable]

WOULD_ANSWER = {
    "q31": r"\bE10\b",
    "q32": r"kwh (a|per|for)|kilowatt",
    "q33": r"boat (is|was)|(called|named|named after) .*boat",
    "q34": r"pepper[^.]*\bkg\b|pepper[^.]*weigh|\bcat\b[^.]*\bkg\b",
    "q35": r"(edie|edith)[^.]*\b(born on|birthday)\b|(edie|edith) on \d",
    "q36": r"mongolia|ulaan",
    "q37": r"punctur|bicycle|\bbike|inner tube",
    "q38": r"abernathys? (pay|rent)",
    "q39": r"world cup|football",
    "q40": r"soft[ -]boiled|boil(ed)? (an |the )?egg",
}
"""Words in a document that would make an unanswerable question answerable."""


def squeezed(text: str) -> str:
    return " ".join(text.split())


@cache
def pages(path: Path) -> list[str]:
    """The document's text, read as its format is read, one string a page."""
    match path.suffix:
        case ".pdf":
            with pypdfium2.PdfDocument(path) as pdf:
                return [page.get_textpage().get_text_range() for page in pdf]
        case ".docx":
            parts: list[str] = []
            for block in docx.Document(str(path)).iter_inner_content():
                if isinstance(block, Table):
                    parts += [" ".join(cell.text for cell in row.cells) for row in block.rows]
                else:
                    parts.append(block.text)
            return ["\n".join(parts)]
        case ".html":
            text = path.read_text(encoding="utf-8")
            return [" ".join(lxml.html.document_fromstring(text).itertext())]
    return [path.read_text(encoding="utf-8")]


def test_every_format_has_two_documents():
    formats = Counter(path.suffix for path in DOCUMENTS)
    assert set(formats) == {".md", ".txt", ".html", ".pdf", ".docx"}
    assert min(formats.values()) >= 2
    assert len(DOCUMENTS) >= 14
    assert max(len(pages(path)) for path in DOCUMENTS if path.suffix == ".pdf") >= 10
    assert sum(path.stat().st_size for path in DOCUMENTS) < 600_000


def test_readme_lists_every_document_with_its_pages():
    readme = (SAMPLES / "README.md").read_text(encoding="utf-8")
    listed = dict(re.findall(r"^\| `([^`]+)` \|.*\| *(\d*) *\|$", readme, re.MULTILINE))
    found = {
        path.name: str(len(pages(path))) if path.suffix == ".pdf" else "" for path in DOCUMENTS
    }
    assert listed == found
    assert "CC0" in readme


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_text_reads_cleanly(path: Path):
    for text in pages(path):
        assert len(squeezed(text)) > 300
        # PDFium writes U+FFFE for a hyphen at a line's end; then words cannot be found.
        assert not re.search("[\ufffd\ufffe\x02]", text)


def test_pdf_table_rows_stay_on_one_line():
    lines = pages(HOUSEHOLD / "oven-manual.pdf")[8].splitlines()
    row = "E04 The temperature sensor is faulty Switch off the fuse and call the service"
    assert row in [squeezed(line) for line in lines]


def test_forty_questions_ten_of_them_without_answer():
    assert len(QUESTIONS) == 40
    assert len(ANSWERABLE) == 30
    assert len({question.id for question in QUESTIONS}) == 40
    assert len({question.question for question in QUESTIONS}) == 40
    pdf_pages = {(q.document, q.page) for q in ANSWERABLE if q.page is not None}
    assert len(pdf_pages) >= 8


def test_every_document_is_asked_about():
    assert {question.document for question in ANSWERABLE} == {path.name for path in DOCUMENTS}


@pytest.mark.parametrize("question", ANSWERABLE, ids=lambda question: question.id)
def test_answer_stands_on_the_page(question: Question):
    assert question.document is not None
    assert question.answer
    path = HOUSEHOLD / question.document
    assert (question.page is not None) == (path.suffix == ".pdf")
    holding = [n for n, text in enumerate(pages(path), 1) if question.answer in squeezed(text)]
    assert holding == [question.page or 1]


@pytest.mark.parametrize("question", UNANSWERABLE, ids=lambda question: question.id)
def test_no_document_answers_the_unanswerable(question: Question):
    assert (question.document, question.page, question.answer) == (None, None, None)
    for path in DOCUMENTS:
        text = squeezed(" ".join(pages(path)))
        assert not re.search(WOULD_ANSWER[question.id], text, re.IGNORECASE), path.name


def test_rendering_again_gives_the_committed_documents(tmp_path: Path):
    subprocess.run([sys.executable, SAMPLES / "render.py", tmp_path], check=True, timeout=50)
    assert {path.name for path in tmp_path.iterdir()} == {path.name for path in RENDERED}
    for path in RENDERED:
        assert pages(tmp_path / path.name) == pages(path), f"run samples/render.py: {path.name}"


def test_the_sample_home_can_be_loaded_and_has_its_rooms_and_people():
    home = read_description((SAMPLES / "home.yaml").read_text(encoding="utf-8"))
    rooms = {area.id for area in home.areas}
    placed = [one for one in home.entities if one.domain not in ("scene", "weather", "person")]
    assert {one.area for one in placed} == rooms
    assert {one.name for one in home.entities if one.domain == "person"} == {"Nora", "Daniel"}
