"""A daemon with a real, small cross-encoder: what page, status and doctor tell of it."""

import json
import os
import re
import signal
import subprocess
import sys
import time

import pytest
from playwright.sync_api import expect

from tests.cross_encoder import word_matcher
from tests.e2e.conftest import ROOT

PAPERS = {
    "a.txt": "The boiler pressure, the boiler pressure.",
    "b.txt": "Every boiler is warm and has a filter. The pressure of the water is two. The filter"
    " is cleaned in May.",
    "c.txt": "The filter is cleaned in May.",
}
QUESTION = "What is the boiler pressure in May?"
ANSWER_MS = 60_000
LOADED_WITHIN_S = 120


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    words = re.findall(r"\w+", " ".join([*PAPERS.values(), QUESTION]).lower())
    return word_matcher(tmp_path_factory.mktemp("models") / "word-matcher", words)


@pytest.fixture(scope="module")
def papers(tmp_path_factory):
    folder = tmp_path_factory.mktemp("papers")
    for name, text in PAPERS.items():
        (folder / name).write_text(text)
    return folder


@pytest.fixture(scope="module")
def hub(tmp_path_factory, start, model, papers):
    home = tmp_path_factory.mktemp("hub")
    (home / "hubd.toml").write_text(f'[rag]\nreranker = "{model}"\n')
    return start(home, "--ingest", str(papers))


def status_of(hub):
    with hub.client() as client:
        return client.get("/hub/status").raise_for_status().json()["reranker"]


def passages_of(hub):
    """The event of that name of one question."""
    body = {"text": QUESTION, "stream": True}
    with hub.client() as client, client.stream("POST", "/hub/ask", json=body) as reply:
        lines = iter(reply.iter_lines())
        for line in lines:
            if line == "event: passages":
                return json.loads(next(lines).removeprefix("data: "))
    pytest.fail("no passages")


def wait_until_ready(hub):
    """A question has its model loaded, where the start of the daemon has not come to that yet."""
    passages_of(hub)
    deadline = time.monotonic() + LOADED_WITHIN_S
    while status_of(hub)["state"] != "ready":
        assert time.monotonic() < deadline, hub.log()
        time.sleep(0.1)


def test_the_page_and_the_doctor_say_who_put_the_passages_in_order(hub, open_page):
    wait_until_ready(hub)
    found = passages_of(hub)
    assert [one["document"] for one in found["passages"]] == ["b.txt", "c.txt", "a.txt"]
    assert found["reranking"]["problem"] == ""
    assert found["reranking"]["places"][0] > 1
    assert status_of(hub) == {"model": "word-matcher", "state": "ready", "problem": ""}
    assert re.search(r"✓ reranker .*word-matcher: ready", hub.command("doctor", check=False).stdout)
    assert "reranker   word-matcher: ready" in hub.command("status").stdout

    page = open_page(hub.page())
    page.get_by_label("Your question").fill(QUESTION)
    page.keyboard.press("Enter")
    why = page.locator(".reply details.why").last
    why.locator("summary").first.click(timeout=ANSWER_MS)
    place = found["reranking"]["places"][0]
    expect(why).to_contain_text(
        re.compile(rf"Put in order by word-matcher in \d+ ms. The first one was number {place} ")
    )
    expect(why.locator(".passages li").first).to_contain_text("b.txt")
    page.reload()  # a conversation that is opened again tells it as well
    why.locator("summary").first.click(timeout=ANSWER_MS)
    expect(why).to_contain_text("Put in order by word-matcher")
    page.goto(f"{hub.url}/#/status")
    expect(page.locator("#about-hub")).to_contain_text("put in order by word-matcher")


def test_while_its_process_is_gone_questions_are_answered_and_it_is_said(hub):
    wait_until_ready(hub)
    os.kill(hub.child("rag.rerank_worker"), signal.SIGKILL)
    found = passages_of(hub)
    assert len(found["passages"]) == 3
    assert found["passages"][0]["document"] == "a.txt"
    assert found["reranking"]["problem"]
    assert status_of(hub)["problem"] or status_of(hub)["state"] == "ready"
    deadline = time.monotonic() + LOADED_WITHIN_S  # it is started again, by the next questions
    while passages_of(hub)["reranking"]["problem"]:
        assert time.monotonic() < deadline, hub.log()
        time.sleep(0.5)
    assert status_of(hub)["problem"] == ""


def test_hubd_rag_eval_measures_with_it(hub, model, papers, tmp_path):
    questions = tmp_path / "questions.jsonl"
    case = {
        "id": "1",
        "question": QUESTION,
        "answerable": True,
        "document": "b.txt",
        "answer": "May",
    }
    questions.write_text(json.dumps(case))
    reports = {}
    for name, more in {"without": [], "with": ["--reranker", str(model)]}.items():
        done = subprocess.run(
            [sys.executable, "-m", "hubd", "rag", "eval", str(papers), "--questions",
             str(questions), "--json", *more],
            env=hub.environment | {"HUBD_HOME": str(tmp_path / "home"),
                                   "HUBD_MODELS": str(hub.home / "models")},
            cwd=ROOT, capture_output=True, text=True, timeout=120, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        reports[name] = json.loads(done.stdout)["all questions"]
    assert (reports["without"]["hit_at_1"], reports["without"]["reranked"]) == (0.0, None)
    assert (reports["with"]["hit_at_1"], reports["with"]["reranked"]) == (1.0, 1.0)
