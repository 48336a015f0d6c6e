"""A question read with texts: the scores of transformers with these weights, bad adapters."""

import json

import aiohttp
import gguf
import msgspec
import numpy as np
import pytest
import torch
from transformers import AutoModel, AutoTokenizer

from engine.cross_encoder import BIAS, WEIGHT, CrossEncoder
from engine.errors import ModelFormatError
from engine.gguf_writer import NewTensor, pair, write_gguf
from engine.protocol import RerankReply
from rag.embed import model_folder
from rag.evidence import ADAPTER

QUESTION = "When does the lease end?"
TEXTS = [
    "lease > Term: The tenancy is fixed for 24 months from 1 March 2024.",
    "lease > Rent: The rent is 1,140 pounds a month, due on the first.",
    "boiler > Service: The boiler is serviced every September by Ines Duarte.",
    "lease > Term: It can be ended with two months' notice, but not before the end of August.",
]
HF_NAMES = {
    "attn_q": "attention.self.query",
    "attn_k": "attention.self.key",
    "attn_v": "attention.self.value",
    "attn_output": "attention.output.dense",
    "ffn_up": "intermediate.dense",
    "ffn_down": "output.dense",
}


@pytest.fixture(scope="module")
def reader(tmp_path_factory):
    cache = tmp_path_factory.mktemp("packed")
    with CrossEncoder.load_adapted(
        model_folder(), ADAPTER, threads=2, cache_directory=cache
    ) as loaded:
        yield loaded


def scores_of_transformers(question, texts):
    """In float32, the adapter read by the gguf package and added by hand."""
    file = gguf.GGUFReader(ADAPTER)
    tensors = {tensor.name: np.array(tensor.data, np.float32) for tensor in file.tensors}
    model = AutoModel.from_pretrained(model_folder()).eval()
    weights = model.state_dict()
    alpha = float(file.fields["adapter.lora.alpha"].contents())
    for name, a in tensors.items():
        if name.endswith(".lora_a"):
            _, number, own, _, _ = name.split(".")
            b = tensors[name.removesuffix("a") + "b"]
            place = f"encoder.layer.{number}.{HF_NAMES[own]}.weight"
            weights[place] += torch.from_numpy(b @ a) * (alpha / a.shape[0])
    tokenizer = AutoTokenizer.from_pretrained(model_folder())
    found = tokenizer([question] * len(texts), texts, padding=True, return_tensors="pt")
    with torch.inference_mode():
        states = model(found["input_ids"], attention_mask=found["attention_mask"])
    first = torch.nn.functional.normalize(states.last_hidden_state[:, 0], dim=-1).numpy()
    return first @ tensors[WEIGHT] + tensors[BIAS]


def test_scores_are_those_of_transformers(reader):
    found = reader.read(QUESTION, TEXTS)
    expected = scores_of_transformers(QUESTION, TEXTS)
    assert expected.max() - expected.min() > 2, "these texts are told apart"
    assert np.abs(found - expected).max() < 0.05 * (expected.max() - expected.min())
    assert list(np.argsort(-found)) == list(np.argsort(-expected))


def test_a_text_that_answers_has_the_higher_score(reader):
    asked = "who looks after the boiler, erm, what's her name"
    scores = reader.read(asked, TEXTS)
    assert int(np.argmax(scores)) == 2


def test_scores_do_not_depend_on_the_texts_beside(reader):
    together = reader.read(QUESTION, TEXTS * 20)
    assert np.array_equal(together, np.tile(reader.read(QUESTION, TEXTS), 20))
    assert reader.read(QUESTION, []).shape == (0,)


def test_what_is_too_long_is_cut(reader):
    most = reader.config.max_tokens
    (ids,) = reader.pairs("why " * 400, ["because " * 400])
    end = ids[-1]
    assert len(ids) == most
    assert ids.index(end) == most // 2 - 1, "half of it for the question"
    assert ids.count(end) == 2
    (short,) = reader.pairs("why", ["because " * 400])
    assert len(short) == most
    assert short.index(end) == 2


def write_adapter(path, change=(), leave_out=(), **metadata):
    told = {"general.type": "adapter", "general.architecture": "bert", "adapter.type": "lora"}
    tensors = {
        "blk.0.attn_q.weight.lora_a": np.ones((2, 384), np.float32),
        "blk.0.attn_q.weight.lora_b": np.ones((384, 2), np.float32),
        WEIGHT: np.ones(384, np.float32),
        BIAS: np.ones(1, np.float32),
    } | dict(change)
    tensors = {name: values for name, values in tensors.items() if name not in leave_out}
    with path.open("wb") as file:
        write_gguf(
            file,
            [pair(key, value) for key, value in (told | metadata).items()],
            [NewTensor(name, values.shape, "F32") for name, values in tensors.items()],
            [[values.tobytes()] for values in tensors.values()],
        )
    return path


@pytest.mark.parametrize(
    ("broken", "words"),
    [
        ({"leave_out": (WEIGHT,)}, "'cls.weight' is missing"),
        ({"leave_out": (BIAS,)}, "'cls.bias' is missing"),
        ({"change": {WEIGHT: np.ones(768, np.float32)}}, r"F32 \(768,\); F32 \(384,\) is expected"),
        ({"change": {BIAS: np.full(1, np.nan, np.float32)}}, "'cls.bias' is not finite"),
        ({"change": {"else.weight": np.ones(3, np.float32)}}, "'else.weight'"),
        ({"general.architecture": "llama"}, "general.architecture is 'llama'"),
    ],
)
def test_a_bad_adapter_is_refused_with_what_is_wrong(tmp_path, broken, words):
    path = write_adapter(tmp_path / "bad.gguf", **broken)
    with pytest.raises(ModelFormatError, match=words):
        CrossEncoder.load_adapted(model_folder(), path, threads=1)


@pytest.fixture(scope="module")
def address(start_engine, tmp_path_factory):
    cache = tmp_path_factory.mktemp("packed")
    arguments = ("--encoder", model_folder(), "--reranker", ADAPTER, "--cache-directory", cache)
    return start_engine("--port", "0", *arguments, model=None).address


async def rerank(address, status=200, **body):
    async with (
        aiohttp.ClientSession(address) as http,
        http.post("/v1/rerank", data=json.dumps(body)) as response,
    ):
        raw = await response.read()
        assert response.status == status, raw[:300]
        return json.loads(raw)["error"] if status != 200 else raw


async def test_served_best_first(address, reader):
    raw = await rerank(address, query=QUESTION, documents=TEXTS, model="reader")
    reply = msgspec.json.decode(raw, type=RerankReply)
    expected = reader.read(QUESTION, TEXTS)
    assert [one.index for one in reply.results] == list(np.argsort(-expected))
    scores = [one.relevance_score for one in reply.results]
    assert np.abs(np.array(scores) - np.sort(expected)[::-1]).max() < 1e-3
    assert reply.usage.prompt_tokens == sum(map(len, reader.pairs(QUESTION, TEXTS)))
    raw = await rerank(address, query=QUESTION, documents=TEXTS, top_n=1)
    (best,) = msgspec.json.decode(raw, type=RerankReply).results
    assert best == reply.results[0]


@pytest.mark.parametrize(
    ("body", "status", "words"),
    [
        ({"query": "why", "documents": []}, 400, "documents has 0 entries"),
        ({"query": "why", "documents": ["a"] * 257}, 400, "documents has 257 entries"),
        ({"query": "why", "documents": ["a"], "top_n": 0}, 400, "top_n"),
        ({"query": "why", "documents": ["a"], "model": "other"}, 404, "'other'"),
        ({"documents": ["a"]}, 400, "query"),
    ],
)
async def test_bad_requests_have_one_clear_error(address, body, status, words):
    error = await rerank(address, status, **body)
    assert words in error["message"]


async def test_without_a_cross_encoder_it_says_so(start_engine):
    alone = start_engine("--port", "0", "--encoder", model_folder(), model=None).address
    error = await rerank(alone, 503, query="why", documents=["a"])
    assert "no cross-encoder" in error["message"]
