"""``hubd rag eval``: which questions are reported by themselves, and how mistakes are told."""

from hubd.commands.rag import _groups
from rag.evaluate import Case


def test_questions_put_aside_are_reported_by_themselves():
    seen = Case(id="a", question="?", answerable=False)
    put_aside = Case(id="b", question="?", answerable=False, held_out=True)
    assert _groups([seen]) == {"all questions": [seen]}
    assert _groups([seen, put_aside]) == {"tuned on": [seen], "held out": [put_aside]}


def test_a_wrong_file_or_nothing_to_ask_is_said_in_a_line(hubd, tmp_path):
    (tmp_path / "papers").mkdir()
    file = tmp_path / "questions.jsonl"
    file.write_text("{}\n")
    done = hubd("rag", "eval", str(tmp_path / "papers"), "--questions", str(file))
    assert (done.returncode, "cannot be read" in done.stderr) == (1, True)
    assert "Traceback" not in done.stderr
    assert "nothing to measure" in hubd("rag", "eval", str(tmp_path / "papers")).stderr
