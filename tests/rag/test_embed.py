"""The real encoder, in its process; it takes 5 s to start, so the module shares one."""

import os
import signal

import numpy as np
import pytest
import pytest_asyncio

from rag.embed import DIMENSION, REMEMBERED, CachingEmbedder, checked
from rag.errors import EmbedderError
from rag.worker_embedder import WorkerEmbedder

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def encoder():
    embedder = WorkerEmbedder()
    await embedder.start()
    yield embedder
    await embedder.close()


async def test_vectors_are_of_length_one_and_mean_something(encoder):
    vectors = await encoder.embed(
        ["How do I unlock the oven door?", "The door of the stove is locked.", "A cake with plums."]
    )
    assert vectors.shape == (3, DIMENSION)
    assert vectors.dtype == np.float32
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1.0, abs=1e-5)
    similar = vectors @ vectors[0]
    assert similar[1] > 0.5 > 0.3 > similar[2]


async def test_a_text_has_the_same_vector_in_any_batch(encoder):
    texts = [f"Error code E{n:02} " + "means that the filter is blocked. " * n for n in range(11)]
    together = await encoder.embed(texts)
    for text, vector in zip(texts, together, strict=True):
        alone = await encoder.embed([text])
        assert alone[0] @ vector == pytest.approx(1.0, abs=1e-4)


async def test_no_texts_make_no_vectors_and_odd_ones_make_vectors(encoder):
    assert (await encoder.embed([])).shape == (0, DIMENSION)
    assert (await encoder.embed(["", "\0", "锅炉", "\U0001f525" * 50, "word " * 5000])).shape[
        0
    ] == 5


async def test_a_killed_worker_is_restarted_once(encoder):
    os.kill(encoder._worker.pid, signal.SIGKILL)
    assert (await encoder.embed(["still here"])).shape == (1, DIMENSION)
    assert encoder.state == "ready"


async def test_a_worker_that_cannot_start_is_a_clear_error(monkeypatch, tmp_path):
    (tmp_path / "torch.py").write_text("raise ImportError('no torch on this machine')")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    broken = WorkerEmbedder()
    with pytest.raises(EmbedderError, match=r"no torch on this machine.*hubd doctor"):
        await broken.embed(["anything"])
    assert broken.state == "stopped"


@pytest.mark.parametrize("bad", [0.0, np.nan, np.inf, 2.0])
async def test_unusable_vectors_are_refused(bad):
    vectors = np.zeros((2, 4), np.float32)
    vectors[:, 0] = [1.0, bad]
    with pytest.raises(EmbedderError, match="length 1"):
        checked(vectors.ravel(), 2, 4)


async def test_too_few_numbers_are_refused():
    with pytest.raises(EmbedderError, match="3 numbers for 2 texts"):
        checked(np.ones(3, np.float32), 2, 4)


async def test_the_last_vectors_are_remembered(embedder):
    caching = CachingEmbedder(embedder)
    first = await caching.embed(["question"])
    again = await caching.embed(["sentence", "question", "sentence"])
    assert embedder.embedded == ["question", "sentence"]
    np.testing.assert_array_equal(again[1], first[0])
    np.testing.assert_array_equal(again[0], again[2])
    for number in range(REMEMBERED):
        await caching.embed([f"text {number}"])
    await caching.embed(["question"])
    assert embedder.embedded[-1] == "question"
    assert (await caching.embed([])).shape == (0, DIMENSION)


async def test_more_texts_than_are_remembered_at_once(embedder):
    texts = [f"text {number % 200}" for number in range(300)]
    found = await CachingEmbedder(embedder).embed(texts)
    np.testing.assert_array_equal(found, await embedder.embed(texts))
