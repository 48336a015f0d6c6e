"""The engine as the library's embedder: real processes, with a model, without, killed, broken."""

import asyncio
import os
import signal
import time
from contextlib import asynccontextmanager

import msgspec
import numpy as np
import pytest

from hubd.embedder import EngineEmbedder, encoder_of
from hubd.events import NoticeBoard
from hubd.household_engine import HouseholdEngine
from hubd.settings import Config, Engine, Rag
from rag.embed import DIMENSION
from rag.errors import EmbedderError

TEXTS = ["How do I unlock the oven door?", "The door of the stove is locked.", "Plum cake."]


@asynccontextmanager
async def opened(paths, encoder=None, **engine):
    config = Config(engine=Engine(context_length=512, threads=1, **engine), rag=Rag(idle_unload=60))
    encoder = encoder or encoder_of(config)
    supervisor = HouseholdEngine(config.engine, paths, NoticeBoard(), encoder)
    embedder = EngineEmbedder.beside(supervisor, config, paths, encoder)
    async with supervisor, embedder:
        yield embedder, supervisor


def check(vectors):
    assert vectors.shape == (3, DIMENSION)
    assert vectors.dtype == np.float32
    similar = vectors @ vectors[0]
    assert similar[1] > 0.5 > 0.3 > similar[2]


async def test_in_the_process_of_the_language_model_even_while_that_loads(paths, model_path):
    async with opened(paths, model=str(model_path)) as (embedder, engine):
        assert embedder.state == "stopped"
        check(await embedder.embed(TEXTS))
        assert engine.pid is not None
        assert embedder._alone.pid is None
        await engine.client()
        assert embedder.state == "ready"
        check(await embedder.embed(TEXTS))
        os.kill(engine.pid, signal.SIGKILL)
        check(await embedder.embed(TEXTS))


async def test_questions_are_read_with_texts_in_the_same_process(paths, model_path):
    async with opened(paths, model=str(model_path)) as (embedder, engine):
        scores = await embedder.read("How do I unlock the oven door?", TEXTS[1:])
        assert scores.dtype == np.float32
        assert scores[0] > scores[1]
        assert engine.pid is not None
        os.kill(engine.pid, signal.SIGKILL)
        again = await embedder.read("How do I unlock the oven door?", TEXTS[1:])
        assert np.array_equal(again, scores)


async def test_without_a_language_model_it_has_a_process_of_its_own(paths):
    async with opened(paths, model="none.gguf") as (embedder, engine):
        check(await embedder.embed(TEXTS))
        assert engine.state.state == "off"
        assert embedder.state == "ready"
        many = await embedder.embed([f"{text} {n}" for n in range(30) for text in TEXTS])
        assert many.shape == (90, DIMENSION)
        os.kill(embedder._alone.pid, signal.SIGKILL)
        check(await embedder.embed(TEXTS))
        process = embedder._alone.pid
    assert not alive(process)
    assert not list(paths.run.glob("*.sock"))


def alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


async def test_beside_a_language_model_that_fails(paths, tmp_path):
    (tmp_path / "broken.gguf").write_bytes(b"GGUF" + bytes(100))
    async with opened(paths, model=str(tmp_path / "broken.gguf")) as (embedder, _):
        for _ in range(3):
            check(await embedder.embed(TEXTS))
            await asyncio.sleep(0.3)


async def test_with_the_language_model_on_another_machine(paths):
    async with opened(paths, url="http://127.0.0.1:9") as (embedder, _):
        check(await embedder.embed(TEXTS))


async def test_what_is_wrong_is_said(paths, tmp_path):
    encoder = msgspec.structs.replace(encoder_of(Config()), folder=tmp_path / "gone")
    async with opened(paths, encoder, model="none.gguf") as (embedder, _):
        with pytest.raises(EmbedderError, match=r"all-MiniLM-L6-v2 cannot be loaded.*gone"):
            await embedder.embed(TEXTS)
        assert (await embedder.embed([])).shape == (0, DIMENSION)


async def test_an_ingest_that_is_given_up_leaves_the_engine_free(paths):
    async with opened(paths, model="none.gguf") as (embedder, _):
        await embedder.start()
        work = asyncio.create_task(embedder.embed(["a long story about a house. " * 60] * 400))
        await asyncio.sleep(0.3)
        assert embedder.state == "busy"
        work.cancel()
        await asyncio.gather(work, return_exceptions=True)
        began = time.monotonic()
        check(await embedder.embed(TEXTS))
        assert time.monotonic() - began < 6  # 400 such texts take 15 s on a free core


def test_the_other_embedder_can_be_chosen():
    assert encoder_of(Config(rag=Rag(embedder="sentence-transformers"))) is None


async def test_an_engine_that_starts_slowly_is_waited_for(paths, model_path, monkeypatch):
    monkeypatch.setattr("hubd.embedder.REQUEST_SECONDS", 0.2)  # a start takes seconds
    async with opened(paths, model=str(model_path)) as (embedder, _):
        check(await embedder.embed(TEXTS))
