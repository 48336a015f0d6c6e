"""``hubd rag eval``: which questions are reported by themselves, and how mistakes are told."""

import json

from hubd.commands.rag import _drawn, _groups
from rag.evaluate import Case


def test_questions_put_aside_are_reported_by_themselves():
    seen = Case(id="a", question="?", answerable=False)
    put_aside = Case(id="b", question="?", answerable=False, held_out=True)
    assert _groups([seen]) == {"all questions": [seen]}
    assert _groups([seen, put_aside]) == {"tuned on": [seen], "held out": [put_aside]}


def test_a_sample_is_the_same_for_the_same_seed():
    cases = [Case(id=f"{number}", question="?", answerable=False) for number in range(50)]
    drawn = _drawn(cases, 10, 1)
    assert drawn == _drawn(cases, 10, 1) != _drawn(cases, 10, 2)
    assert [int(case.id) for case in drawn] == sorted({int(case.id) for case in drawn})
    assert (len(drawn), _drawn(cases, 0, 1), _drawn(cases, 60, 1)) == (10, cases, cases)


def test_with_the_model_the_shown_answer_is_the_hubs(hubd, environment, model_path, tmp_path):
    environment["HUBD_ENGINE_MODEL"] = str(model_path)
    papers = tmp_path / "papers"
    papers.mkdir()
    (papers / "boiler.md").write_text("# Boiler\n\nThe boiler pressure should be 1.5 bar.\n")
    file = tmp_path / "questions.jsonl"
    question = "What should the boiler pressure be?"
    file.write_text(
        f'{{"id": "1", "question": "{question}", "answerable": true, "document": "boiler.md",'
        ' "answer": "1.5 bar"}\n'
    )
    done = hubd("rag", "eval", str(papers), "--questions", str(file), "--model", "--json")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)["all questions"]
    assert report["answer_contained"] == 1.0
    assert report["outcomes"][0]["shown"]


def test_a_wrong_file_or_nothing_to_ask_is_said_in_a_line(hubd, tmp_path):
    (tmp_path / "papers").mkdir()
    file = tmp_path / "questions.jsonl"
    file.write_text("{}\n")
    done = hubd("rag", "eval", str(tmp_path / "papers"), "--questions", str(file))
    assert (done.returncode, "cannot be read" in done.stderr) == (1, True)
    assert "Traceback" not in done.stderr
    assert "nothing to measure" in hubd("rag", "eval", str(tmp_path / "papers")).stderr
