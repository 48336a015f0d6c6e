"""A real cross-encoder in its process (the module shares one), and what becomes of the order."""

import asyncio
import contextlib
import os
import re
import signal
import time
from pathlib import Path

import numpy as np
import pytest
import pytest_asyncio
from hypothesis import given
from hypothesis import strategies as st

from rag.errors import RerankerError
from rag.library import Library
from rag.rerank import RERANKED, RerankerStatus, reranked, spelled_out
from rag.types import Passage, Retrieval
from rag.worker_reranker import PENDING, WorkerReranker, check
from tests.cross_encoder import word_matcher

together = pytest.mark.asyncio(loop_scope="module")
"""As all tests that ask the process that the module shares."""

TEXTS = [
    "The boiler pressure, the boiler pressure.",
    "Every boiler has a warm filter for all of the days. Water has two bar of pressure then."
    " Filters are cleaned in May.",
    "The filter is cleaned in May.",
]
QUESTION = "What is the boiler pressure in May?"
"""The search prefers one sentence with most of its words, the model all of them anywhere."""
WORDS = re.findall(r"\w+", " ".join([*TEXTS, QUESTION, "warm up one two three"]).lower())
PATIENT = 60.0
"""Seconds: what these tests wait for scores beside other work on the machine."""


@pytest.fixture(scope="module")
def model(tmp_path_factory) -> Path:
    return word_matcher(tmp_path_factory.mktemp("models") / "word-matcher", WORDS)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def reranker(model):
    made = WorkerReranker(model, limit_seconds=PATIENT, pause_seconds=0.0)
    await made.start()
    yield made
    await made.close()


@pytest_asyncio.fixture(loop_scope="module")
async def library(tmp_path, embedder):
    folder = tmp_path / "papers"
    folder.mkdir()
    for name, text in zip("abc", TEXTS, strict=True):
        (folder / f"{name}.txt").write_text(text)
    opened = await Library.open(tmp_path / "hub.db", embedder=embedder, uploads=tmp_path / "up")
    await opened.ingest([folder])
    yield opened
    await opened.close()


async def loaded(reranker: WorkerReranker) -> None:
    """Until the process runs that a question had started in the background."""
    assert reranker._starting is not None
    await asyncio.wait_for(reranker._starting, PATIENT)


@together
async def test_the_text_with_more_of_the_questions_words_scores_higher(reranker):
    scores = await reranker.scores(QUESTION, TEXTS)
    assert scores.dtype == np.float32
    assert np.argsort(-scores).tolist() == [1, 2, 0]
    assert reranker.status == RerankerStatus(model="word-matcher", state="ready")


@together
async def test_scores_do_not_depend_on_what_is_scored_besides(reranker):
    together = await reranker.scores(QUESTION, TEXTS * 8)
    for text, score in zip(TEXTS * 8, together, strict=True):
        alone = await reranker.scores(QUESTION, [text])
        assert alone[0] == pytest.approx(score, abs=1e-5)


@together
async def test_no_texts_and_odd_ones(reranker):
    assert (await reranker.scores(QUESTION, [])).shape == (0,)
    assert (await reranker.scores("", ["", "\0", "锅炉", "word " * 50_000])).shape == (4,)


@together
async def test_a_library_shows_another_order_because_of_it(reranker, library):
    before = await library.retrieve(QUESTION, 3)
    assert before.reranking is None
    library.reranker = reranker
    after = await library.retrieve(QUESTION, 3)
    names = [one.document for one in after.passages]
    assert names == ["b.txt", "c.txt", "a.txt"]
    assert [one.document for one in before.passages] == ["a.txt", "c.txt", "b.txt"]
    assert [one.score for one in after.passages] == [one.score for one in before.passages]
    told = after.reranking
    assert told is not None
    assert (told.model, told.problem) == ("word-matcher", "")
    assert [before.passages[place - 1].document for place in told.places] == names
    first = await library.retrieve(QUESTION, 1)
    assert [one.document for one in first.passages] == ["b.txt"]


@together
async def test_when_it_is_late_the_order_stays(reranker, library, monkeypatch):
    before = await library.retrieve(QUESTION, 3)
    library.reranker = reranker
    monkeypatch.setattr(reranker, "limit_seconds", 0.0001)
    after = await library.retrieve(QUESTION, 3)
    assert after.passages == before.passages
    assert after.reranking is not None
    assert after.reranking.problem == "it had not finished after 0.0001 s"
    assert reranker.status.problem == after.reranking.problem
    for _ in range(3 * PENDING):
        with pytest.raises(RerankerError):
            await reranker.scores(QUESTION, TEXTS * 40)
    assert len(reranker._pending) <= PENDING  # what nobody waits for does not pile up
    await asyncio.wait(reranker._pending)
    monkeypatch.undo()
    assert len(await reranker.scores(QUESTION, TEXTS)) == 3
    assert reranker.status.problem == ""


@together
async def test_nobody_waits_for_it_to_load(model):
    loading = WorkerReranker(model, limit_seconds=PATIENT)
    try:
        assert loading.status.state == "stopped"
        began = time.monotonic()
        with pytest.raises(RerankerError, match="being loaded"):
            await loading.scores(QUESTION, TEXTS)
        assert time.monotonic() - began < 1.0
        await loaded(loading)
        assert len(await loading.scores(QUESTION, TEXTS)) == 3
        assert loading.status.problem == ""
    finally:
        await loading.close()


@together
async def test_a_killed_process_is_started_again(reranker):
    before = reranker._worker.pid
    os.kill(before, signal.SIGKILL)
    for _ in range(3):  # the broken pipe is noticed at the first; the second starts another
        with contextlib.suppress(RerankerError):
            assert len(await reranker.scores(QUESTION, TEXTS)) == 3
            break
        if reranker._starting is not None:
            await loaded(reranker)
    assert reranker.status == RerankerStatus(model="word-matcher", state="ready")
    assert reranker._worker.pid not in (None, before)


@together
async def test_what_failed_is_not_started_again_at_once(model):
    broken = model.parent / "broken"
    word_matcher(broken, WORDS)
    (broken / "model.safetensors").write_bytes(b"no weights")
    one = WorkerReranker(broken, pause_seconds=PATIENT)
    try:
        with pytest.raises(RerankerError, match="stopped"):
            await one.start()
        assert one.status.state == "failed"
        for _ in range(3):
            with pytest.raises(RerankerError, match="stopped"):
                await one.scores(QUESTION, TEXTS)
            assert one.status.state == "failed"
        assert one._worker.pid is None
    finally:
        await one.close()


@together
async def test_its_memory_is_bounded(reranker):
    limits = await asyncio.to_thread(Path(f"/proc/{reranker._worker.pid}/limits").read_text)
    most = re.search(r"Max data size +(\d+) +(\d+)", limits)
    assert most is not None
    assert 1_500 << 20 <= int(most[1]) == int(most[2]) < 1_600 << 20


@together
@pytest.mark.parametrize(
    ("config", "why"),
    [
        (None, "holds no model"),
        ("no JSON", "cannot be read"),
        ("{}", "no known kind"),
        ('{"architectures": ["BertModel"]}', "BertModel, which is no cross-encoder"),
    ],
)
async def test_a_folder_with_something_else_is_refused_without_loading_it(tmp_path, config, why):
    if config is not None:
        (tmp_path / "config.json").write_text(config)
    with pytest.raises(RerankerError, match=why):
        check(tmp_path)
    one = WorkerReranker(tmp_path)
    with pytest.raises(RerankerError, match=why):
        await one.start()
    assert one._worker.pid is None


class Told:
    """Scores that are known beforehand."""

    status = RerankerStatus(model="told", state="ready")

    def __init__(self, scores):
        self._scores = scores

    async def scores(self, question, texts):
        return np.array(self._scores[: len(texts)], np.float32)


def passage(place: int, score: float) -> Passage:
    return Passage(document=f"{place}", page=None, start=0, end=1, text=f"{place}", score=score)


@given(
    st.lists(st.floats(0, 1), max_size=3 * RERANKED),
    st.lists(st.floats(-9, 9, width=32), min_size=RERANKED, max_size=RERANKED),
    st.integers(1, 3 * RERANKED),
)
def test_the_first_are_sorted_and_no_passage_is_lost(found, scores, k):
    found.sort(reverse=True)
    passages = [passage(place, score) for place, score in enumerate(found, start=1)]
    retrieval = Retrieval(passages=passages, language="en")
    after = asyncio.run(reranked(Told(scores), QUESTION, retrieval, k)).passages
    assert [one.score for one in after] == found[:k]
    best_first = sorted(range(min(RERANKED, len(found))), key=lambda at: -scores[at])
    expected = [at + 1 for at in best_first] + list(range(RERANKED + 1, len(found) + 1))
    if len(found) > 1:
        assert [int(one.document) for one in after] == expected[:k]


def test_a_year_that_is_meant_is_said():
    assert spelled_out("Who paid the 2023 bill?") == "Who paid the 2023 bill?"
    said = spelled_out("Who paid last year's bill?")
    assert re.fullmatch(r"Who paid last year's bill\? \(20\d\d\)", said)
