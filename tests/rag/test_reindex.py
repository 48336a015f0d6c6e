"""A library embedded anew by another model, while the old vectors go on answering."""

import asyncio

import numpy as np
import pytest

from rag.embed import BATCH
from rag.errors import EmbedderError
from rag.library import Library


class Other:
    """Another model: hashed words as the first one, in fewer dimensions, and it may be stopped."""

    def __init__(self, embedder, dimension=96):
        self.model, self.dimension = f"{embedder.model}-{dimension}", dimension
        self.embedded = []
        self.allowed = asyncio.Event()
        self.allowed.set()
        self.stopped = asyncio.Event()
        self.fails_after = 10**9
        self._embedder = embedder

    async def embed(self, texts):
        await self.allowed.wait()
        if len(self.embedded) >= self.fails_after:
            raise EmbedderError("the folder is gone")
        self.embedded += texts
        vectors = (await self._embedder.embed(texts))[:, : self.dimension] + 1e-3
        return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


@pytest.fixture
def other(embedder):
    return Other(embedder)


@pytest.fixture
async def filled(library, folder):
    """A library of more than two batches of chunks."""
    for number in range(2 * BATCH + 3):
        (folder / f"{number:02}.txt").write_text(f"words about subject{number} and nothing else")
    await library.ingest([folder])
    return library


async def models(library):
    return [(row.model, row.state) for row in await library.embedders()]


async def found_by_vector(library, monkeypatch, text):
    """The first passage for ``text`` where no word of it is looked up."""
    with monkeypatch.context() as patch:
        patch.setattr("rag.retrieve.fts_query", lambda question: "")
        passages = (await library.retrieve(text)).passages
    return passages[0].document if passages else None


async def test_the_old_vectors_answer_until_the_new_ones_do(filled, other, embedder, monkeypatch):
    question = "what is said about subject7"
    other.allowed.clear()
    news = []
    task = asyncio.create_task(filled.reindex(other, source="/models/other", progress=news.append))
    await asyncio.sleep(0.05)
    assert await found_by_vector(filled, monkeypatch, question) == "07.txt"
    assert filled.embedder is embedder
    other.allowed.set()
    await task
    assert filled.embedder is other
    assert await models(filled) == [("hash-96", "serving")]
    del other.embedded[:]
    assert await found_by_vector(filled, monkeypatch, question) == "07.txt"
    assert other.embedded == [question]
    total = 2 * BATCH + 3
    assert [(one.done, one.total) for one in news] == [(8, total), (16, total), (total, total)]
    assert news[0].seconds_left > 0.0
    assert news[-1].seconds_left == 0.0


async def test_what_is_stored_meanwhile_is_found_before_and_after(
    filled, other, folder, monkeypatch
):
    other.allowed.clear()
    task = asyncio.create_task(filled.reindex(other))
    await asyncio.sleep(0.05)
    (folder / "99.txt").write_text("words about the hedgehog")
    (folder / "00.txt").unlink()
    await filled.ingest([folder])
    assert await found_by_vector(filled, monkeypatch, "what about the hedgehog") == "99.txt"
    other.allowed.set()
    await task
    assert await found_by_vector(filled, monkeypatch, "what about the hedgehog") == "99.txt"
    assert "00.txt" not in {one.document for one in await filled.documents()}


async def test_what_is_stored_between_the_last_batch_and_the_switch_is_not_lost(
    filled, other, embedder, folder, monkeypatch
):
    reached, go = asyncio.Event(), asyncio.Event()
    embed = embedder.embed

    async def slowly(texts):
        if any("hedgehog" in text for text in texts):
            reached.set()
            await go.wait()
        return await embed(texts)

    monkeypatch.setattr(embedder, "embed", slowly)
    (folder / "99.txt").write_text("words about the hedgehog")
    ingest = asyncio.create_task(filled.ingest([folder]))
    await reached.wait()
    task = asyncio.create_task(filled.reindex(other))
    while len(other.embedded) < 2 * BATCH + 3:  # noqa: ASYNC110 - it tells nobody
        await asyncio.sleep(0.01)
    await asyncio.sleep(0.05)
    assert not task.done()
    go.set()
    await asyncio.gather(ingest, task)
    assert await found_by_vector(filled, monkeypatch, "what about the hedgehog") == "99.txt"


async def test_a_question_of_the_moment_of_the_switch_is_answered_by_words(
    filled, other, embedder, monkeypatch
):
    reached, go = asyncio.Event(), asyncio.Event()
    embed = embedder.embed

    async def slowly(texts):
        vectors = await embed(texts)
        reached.set()
        await go.wait()
        return vectors

    with monkeypatch.context() as patch:
        patch.setattr(embedder, "embed", slowly)
        question = asyncio.create_task(filled.retrieve("what about subject4"))
        await reached.wait()
    await filled.reindex(other)
    go.set()
    assert (await question).passages[0].document == "04.txt"


async def test_a_failed_model_leaves_the_old_one_and_what_it_made(
    filled, other, embedder, monkeypatch
):
    other.fails_after = BATCH
    with pytest.raises(EmbedderError, match="gone"):
        await filled.reindex(other, source="/models/other")
    assert filled.embedder is embedder
    assert await models(filled) == [("hash", "serving"), ("hash-96", "coming")]
    assert await found_by_vector(filled, monkeypatch, "what about subject3") == "03.txt"
    other.fails_after = 10**9
    await filled.reindex(other)
    assert len(other.embedded) == 2 * BATCH + 3


async def test_it_goes_on_after_the_library_was_closed(
    filled, other, embedder, open_library, tmp_path
):
    progress = []

    def note(at):
        progress.append(at)
        other.allowed.clear()
        other.stopped.set()

    task = asyncio.create_task(filled.reindex(other, progress=note))
    await other.stopped.wait()
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    await filled.close()
    library = await open_library()
    assert await models(library) == [("hash", "serving"), ("hash-96", "coming")]
    again = Other(embedder)
    await library.reindex(again)
    assert len(again.embedded) == BATCH + 3
    await library.close()
    asked = []

    def made_with(row):
        asked.append(row)
        return again

    third = await Library.open(
        tmp_path / "hub.db", embedder=embedder, uploads=tmp_path / "uploads", made_with=made_with
    )
    assert third.embedder is again
    assert [(row.model, row.dimension) for row in asked] == [("hash-96", 96)]
    await third.close()


async def test_closing_ends_it(filled, other):
    def stop(at):
        other.allowed.clear()
        other.stopped.set()

    task = asyncio.create_task(filled.reindex(other, progress=stop))
    await other.stopped.wait()
    closing = asyncio.create_task(filled.close())
    await asyncio.sleep(0.02)
    other.allowed.set()
    with pytest.raises(Exception, match="closed"):
        await task
    await closing


async def test_back_to_the_model_in_use_gives_up_the_other(filled, other, embedder):
    other.fails_after = BATCH
    with pytest.raises(EmbedderError):
        await filled.reindex(other)
    del embedder.embedded[:]
    await filled.reindex(embedder)
    assert await models(filled) == [("hash", "serving")]
    assert embedder.embedded == []


async def test_a_person_who_asks_goes_first(filled, other):
    waited = []

    async def wait():
        waited.append(len(other.embedded))

    await filled.reindex(other, wait_until_idle=wait)
    assert {0, BATCH, 2 * BATCH} <= set(waited)


async def test_the_new_vectors_are_those_of_the_texts(filled, other):
    await filled.reindex(other)
    texts = [text for text in other.embedded if "subject5 " in text]
    vector = (await other.embed(texts))[0]
    hits = await filled._thread.run(filled._store.search_vector, vector, 1)
    assert hits[0][1] == pytest.approx(1.0, abs=1e-3)


async def made_by_an_older_version(library):
    """Take away what versions up to 5 did not make."""

    def forget():
        connection = library._store._connection
        connection.execute("UPDATE vectors SET sentences = NULL")
        connection.execute("UPDATE embedders SET with_sentences = 0")

    await library._thread.run(forget)


async def test_what_an_older_version_lacks_is_made_some_at_a_time(
    filled, folder, embedder, monkeypatch
):
    monkeypatch.setattr("rag.ingest.CAUGHT_UP_AT_ONCE", BATCH)
    await made_by_an_older_version(filled)
    table = filled._store.table
    left = []
    for _ in range(3):
        del embedder.embedded[:]
        await filled.ingest([folder])
        left.append(await filled._thread.run(table.missing_count))
        assert len(embedder.embedded) <= BATCH
    assert left == [BATCH + 3, 3, 0]
    assert await filled._thread.run(lambda: table.complete)
    await filled.ingest([folder])
    assert len(embedder.embedded) == 3  # and no more


async def test_without_its_encoder_an_older_library_is_read_all_the_same(
    filled, folder, embedder, monkeypatch
):
    await made_by_an_older_version(filled)

    async def fails(texts):
        raise EmbedderError("the engine is down")

    monkeypatch.setattr(embedder, "embed", fails)
    reports = await filled.ingest([folder])
    assert {report.action for report in reports} == {"unchanged"}
    assert (await filled.retrieve("subject7")).passages[0].document == "07.txt"
