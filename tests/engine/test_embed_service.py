"""The encoder in the engine's process: alone, beside a language model, unloaded, broken."""

import asyncio
import json

import aiohttp
import msgspec
import numpy as np
import openai
import pytest

from engine.embed import TextEncoder
from engine.embed_service import EmbedService
from engine.errors import InvalidRequestError, NotReadyError
from engine.protocol import EmbeddingReply, Health
from rag.embed import model_folder

NAME = "all-MiniLM-L6-v2"
MODEL = "SmolLM2-135M-Instruct.Q4_1"
TEXTS = ["How do I unlock the oven door?", "The door of the stove is locked.", "Plum cake."]
LONG = [
    f"Page {number}. " + "The boiler loses pressure over the winter. " * 30 for number in range(60)
]


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    return tmp_path_factory.mktemp("packed")


@pytest.fixture(scope="module")
def alone(start_engine, cache):
    arguments = ("--encoder", model_folder(), "--encoder-name", NAME, "--cache-directory", cache)
    return start_engine("--port", "0", *arguments, model=None).address


@pytest.fixture(scope="module")
def both(start_engine, cache):
    arguments = ("--encoder", model_folder(), "--encoder-name", NAME, "--cache-directory", cache)
    return start_engine("--port", "0", *arguments).address


async def state(address):
    async with aiohttp.ClientSession(address) as http, http.get("/health") as response:
        return msgspec.json.decode(await response.read(), type=Health)


async def embed(address, status=200, **body):
    async with (
        aiohttp.ClientSession(address) as http,
        http.post("/v1/embeddings", data=json.dumps(body)) as response,
    ):
        raw = await response.read()
        assert response.status == status, raw[:300]
        if status != 200:
            return json.loads(raw)["error"]
        reply = msgspec.json.decode(raw, type=EmbeddingReply)
        return np.array([item.embedding for item in reply.data], np.float32)


async def test_alone_it_embeds_and_says_that_it_cannot_chat(alone):
    assert (await state(alone)).status == "ready"
    vectors = await embed(alone, input=TEXTS)
    assert vectors.shape == (3, 384)
    similar = vectors @ vectors[0]
    assert similar[1] > 0.5 > 0.3 > similar[2]
    np.testing.assert_allclose(await embed(alone, input=TEXTS[1], model=NAME), vectors[1:2])
    client = openai.AsyncOpenAI(base_url=f"{alone}/v1", api_key="any", max_retries=0)
    async with client:
        packed = await client.embeddings.create(model=NAME, input=TEXTS)
        assert packed.usage.prompt_tokens > 15
        np.testing.assert_allclose([item.embedding for item in packed.data], vectors, atol=1e-6)
        assert [model.id async for model in client.models.list()] == [NAME]
        with pytest.raises(openai.InternalServerError, match="no language model here"):
            await client.chat.completions.create(
                model=NAME, messages=[{"role": "user", "content": "Hello"}]
            )


@pytest.mark.parametrize(
    ("body", "status", "said"),
    [
        ({"input": []}, 400, "0 entries"),
        ({"input": ["x"] * 257}, 400, "257 entries"),
        ({"input": ["x", 5]}, 400, "mixes"),
        ({"input": [[]]}, 400, "0 token ids"),
        ({"input": [[1] * 257]}, 400, "257 token ids"),
        ({"input": [[30522]]}, 400, "outside 0..30521"),
        ({"input": [[-1]]}, 400, "outside 0..30521"),
        ({"input": "x", "input_type": "poem"}, 400, "input_type"),
        ({"input": "x", "model": "other"}, 503, "no language model"),
    ],
)
async def test_requests_that_cannot_be_carried_out(alone, body, status, said):
    assert said in json.dumps(await embed(alone, status, **body))


async def test_beside_a_language_model_it_answers_while_that_loads(both, alone):
    np.testing.assert_allclose(
        await embed(both, input=TEXTS), await embed(alone, input=TEXTS), atol=1e-6
    )
    async with asyncio.timeout(60):
        while (await state(both)).status == "loading":  # noqa: ASYNC110 - another process
            await asyncio.sleep(0.05)
    assert (await embed(both, input=TEXTS)).shape == (3, 384)
    assert (await embed(both, input=TEXTS, model=MODEL)).shape == (3, 576)
    assert "serves" in (await embed(both, 404, input=TEXTS, model="other"))["message"]


async def test_an_answer_goes_on_while_documents_are_embedded(both):
    async with asyncio.timeout(60):
        while (await state(both)).status == "loading":  # noqa: ASYNC110 - another process
            await asyncio.sleep(0.05)
    client = openai.AsyncOpenAI(base_url=f"{both}/v1", api_key="any", max_retries=0)
    async with client:
        stream = await client.completions.create(
            model=MODEL, prompt="Once", max_tokens=400, stream=True, extra_body={"ignore_eos": True}
        )
        await anext(stream)
        documents = asyncio.create_task(embed(both, input=LONG))
        while_embedding = 0
        async for _ in stream:
            while_embedding += not documents.done()
            if documents.done():
                break
        await stream.close()
        assert (await documents).shape == (len(LONG), 384)
    assert while_embedding > 20


async def test_a_client_that_goes_away_cancels_its_embedding(alone):
    request = asyncio.create_task(embed(alone, input=LONG * 4))
    async with asyncio.timeout(10):
        while (await state(alone)).active == 0:  # noqa: ASYNC110 - another process
            await asyncio.sleep(0.005)
        request.cancel()
        await asyncio.gather(request, return_exceptions=True)
        while (await state(alone)).active:  # noqa: ASYNC110 - another process
            await asyncio.sleep(0.005)
    assert (await state(alone)).encoder == "ready"


async def test_it_is_loaded_when_asked_and_unloaded_when_idle(cache):
    service = EmbedService(model_folder(), threads=1, cache_directory=cache, idle_seconds=0.2)
    assert service.state == "stopped"
    first, tokens = await service.embed(["one text", [101, 2028, 3793, 102]])
    assert tokens == 8
    np.testing.assert_allclose(first[0], first[1], atol=1e-6)
    assert service.state == "ready"
    async with asyncio.timeout(5):
        while service.state != "stopped":  # noqa: ASYNC110 - it is a timer's doing
            await asyncio.sleep(0.05)
    again = await asyncio.gather(*(service.embed(["one text"]) for _ in range(3)))
    for vectors, _ in again:
        np.testing.assert_array_equal(vectors[0], first[0])
    await service.close()
    assert service.state == "stopped"


async def test_an_encoder_that_cannot_be_loaded_says_why_each_time(tmp_path):
    service = EmbedService(tmp_path / "gone", threads=1)
    for _ in range(2):
        with pytest.raises(NotReadyError, match=r"gone cannot be loaded.*No such file"):
            await service.embed(["x"])
    (tmp_path / "gone").mkdir()
    with pytest.raises(NotReadyError, match=r"config\.json is missing"):
        await service.embed(["x"])
    assert service.state == "stopped"
    await service.close()


async def test_work_that_is_refused_leaves_the_service_usable(cache):
    service = EmbedService(model_folder(), threads=1, cache_directory=cache)
    with pytest.raises(InvalidRequestError, match="token ids"):
        await service.embed([[]])
    vectors, _ = await service.embed(TEXTS)
    with TextEncoder.load(model_folder(), threads=1, cache_directory=cache) as encoder:
        np.testing.assert_allclose(vectors, encoder.embed(TEXTS), atol=1e-6)
    assert service.active == 0
    await service.close()
