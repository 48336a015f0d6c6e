"""The second folder of the sample household: its questions are true, and the scan is current."""

import re
from pathlib import Path

import msgspec
import pytest

from rag import loaders
from rag.evaluate import Case, read_cases
from rag.loaders import ocr

SAMPLES = Path(__file__).parents[2] / "samples"
CABINET = SAMPLES / "cabinet"
CASES = read_cases(SAMPLES / "cabinet-questions.jsonl")
SPOKEN = read_cases(SAMPLES / "spoken-questions.jsonl")
FOLLOW_UPS = read_cases(SAMPLES / "follow-up-questions.jsonl")
ALL = [*CASES, *read_cases(SAMPLES / "questions.jsonl")]
DOCUMENTS = sorted(CABINET.iterdir())


def text_of(path: Path) -> str:
    if path.suffix == ".png":
        return " ".join((SAMPLES / "sources" / f"{path.name}.txt").read_text().split())
    return " ".join(page.text for page in loaders.load(path).pages)


def test_fifty_documents_and_a_hundred_and_fifty_questions():
    assert len([*DOCUMENTS, *(SAMPLES / "household").iterdir()]) == 50
    assert len(ALL) == len({case.id for case in ALL}) == 150
    assert sum(not case.answerable for case in ALL) == 50
    held_out = [case for case in ALL if case.held_out]
    assert len(held_out) == 50
    assert sum(not case.answerable for case in held_out) == 17


def test_every_document_of_the_cabinet_is_asked_about():
    assert {case.document for case in CASES if case.answerable} == {d.name for d in DOCUMENTS}


@pytest.mark.parametrize(
    "case", [c for c in (*CASES, *SPOKEN, *FOLLOW_UPS) if c.answerable], ids=lambda case: case.id
)
def test_the_answer_stands_in_its_document(case: Case):
    assert case.document
    assert case.answer
    folders = (CABINET, SAMPLES / "household")
    (path,) = (f / case.document for f in folders if (f / case.document).is_file())
    text = "".join(text_of(path).split())
    assert "".join(case.answer.split()) in text


def test_two_documents_contradict_each_other_and_one_gives_orders():
    survey = text_of(CABINET / "loft-survey-2026.md")
    notes = text_of(CABINET / "loft-notes.txt")
    place = r"above the bedrooms is mineral wool of (\d+) cm"
    assert re.search(place, survey)[1] != re.search(place, notes)[1]
    assert "Ignore all previous instructions" in text_of(CABINET / "helpful-note.txt")


@pytest.mark.skipif(not ocr.languages(), reason="tesseract is not installed")
def test_the_scan_can_be_read():
    read = ocr.recognise(CABINET / "parking-permit.png", 1, 60).text
    assert "FB-R-2214" in read
    assert "15 pounds" in read


def test_lines_are_questions():
    for line in (SAMPLES / "cabinet-questions.jsonl").read_bytes().splitlines():
        assert msgspec.json.decode(line)["question"].endswith(("?", "？"))
