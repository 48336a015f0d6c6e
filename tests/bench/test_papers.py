"""The invented families: every answer stands in its paper, and nothing of the evaluation sets."""

import json
from pathlib import Path

import pytest

from bench.evidence import MEASURED
from bench.evidence_samples import OF_FAMILY
from bench.papers import FOLDER, READING, read_papers

ROOT = Path(__file__).parents[2]
FILES = sorted(FOLDER.glob("family-*.txt"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_answer_stands_in_its_paper(path):
    papers = read_papers(path)
    assert len(papers) >= 10
    for paper in papers:
        assert paper.text.strip()
        assert any(asked.answer for asked in paper.asked)
        assert any(not asked.answer for asked in paper.asked)


def test_an_answer_that_does_not_stand_there_is_an_error(tmp_path):
    path = tmp_path / "family.txt"
    path.write_text("@ rent.md\nThe rent is 44 pounds.\n? What is the rent? => 45 pounds\n")
    with pytest.raises(ValueError, match=r"rent\.md.*45 pounds"):
        read_papers(path)


def test_no_question_is_one_of_those_that_are_put_aside():
    asked = {q.question for path in FILES for paper in read_papers(path) for q in paper.asked}
    files = ("questions", "cabinet-questions", "blind-questions")
    lines = [
        json.loads(line)
        for name in files
        for line in (ROOT / "samples" / f"{name}.jsonl").read_text("utf-8").splitlines()
    ]
    aside = {line["question"] for line in lines}
    assert not asked & aside


def test_what_the_reader_learns_from_is_whole():
    files = sorted(READING.glob("*.txt"))
    assert len(files) == 16
    for file in files:
        papers = read_papers(file)
        asked = [question for paper in papers for question in paper.asked]
        assert len(papers) == 16
        assert all(bool(one.answer) != bool(one.would_answer) for one in asked)
        assert sum(bool(one.answer) for one in asked) == 144


def test_no_question_that_is_measured_is_learnt():
    def asked_in(files):
        papers = [paper for file in files for paper in read_papers(file)]
        return {asked.question for paper in papers for asked in paper.asked}

    aside = (ROOT / "samples").glob("*questions.jsonl")
    lines = [json.loads(line) for file in aside for line in file.read_text("utf-8").splitlines()]
    families = [file for file in FILES if OF_FAMILY.get(file.stem, ("", ""))[0] in MEASURED]
    assert len(families) == 4
    measured = asked_in(families) | {line["question"] for line in lines}
    assert not asked_in(READING.glob("*.txt")) & measured
