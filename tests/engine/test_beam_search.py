"""Beam search gives the tokens of transformers' ``generate``; beam sampling draws as it should."""

import numpy as np
import pytest
import torch
import transformers

from engine import Engine, SamplingParams
from engine.beam_search import BeamSearch
from engine.errors import InvalidRequestError
from engine.generate import Finished
from engine.gguf import GGUFFile
from engine.kv import BlockPool
from engine.prefix_cache import PrefixCache
from engine.step_part import Part

PROMPT = np.random.default_rng(8).integers(0, 256, 40).tolist()
NAMES = {
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
    "attn_norm": "input_layernorm",
    "ffn_norm": "post_attention_layernorm",
    "token_embd": "model.embed_tokens",
    "output": "lm_head",
    "output_norm": "model.norm",
}


@pytest.fixture(scope="module")
def engine(tiny_path):
    with Engine.load(tiny_path, threads=1) as loaded:
        yield loaded


@pytest.fixture(scope="module")
def reference(tiny_path):
    """The same weights in transformers, whose heads have their halves apart."""
    config = transformers.LlamaConfig(
        vocab_size=288,
        hidden_size=64,
        intermediate_size=96,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=512,
        rms_norm_eps=1e-5,
        tie_word_embeddings=False,
        eos_token_id=256,
        pad_token_id=0,
    )
    file, state = GGUFFile(tiny_path), {}
    for name, info in file.tensors.items():
        values = np.frombuffer(file.tensor_bytes(name), np.float32).reshape(info.shape).copy()
        short = name.removesuffix(".weight").split(".")[-1]
        if short in ("attn_q", "attn_k"):
            values = values.reshape(-1, 8, 2, 64).swapaxes(1, 2).reshape(values.shape)
        layer = f"model.layers.{name.split('.')[1]}." if name.startswith("blk.") else ""
        state[f"{layer}{NAMES[short]}.weight"] = torch.from_numpy(values)
    file.close()
    model = transformers.LlamaForCausalLM(config).eval()
    model.load_state_dict(state)
    return model


def answer(engine, prompt=PROMPT, **fields):
    params = SamplingParams(**({"temperature": 0.0, "max_tokens": 24} | fields))
    *pieces, finished = engine.generate_fully(prompt, params)
    assert isinstance(finished, Finished)
    assert finished.completion_tokens == len(pieces)
    return [piece.token for piece in pieces], finished


def expected(reference, prompt=PROMPT, **options):
    options = {"max_new_tokens": 24, "do_sample": False} | options
    with torch.inference_mode():
        found = reference.generate(torch.tensor([prompt]), **options)
    tokens = found[0, len(prompt) :].tolist()
    return tokens[: tokens.index(256) + 1] if 256 in tokens else tokens


@pytest.mark.parametrize("beams", [2, 3, 8])
@pytest.mark.parametrize("early", [False, True, "never"])
@pytest.mark.parametrize("penalty", [0.0, 1.0, -1.0, 2.5])
def test_the_tokens_are_those_of_transformers(engine, reference, beams, early, penalty):
    options = {"length_penalty": penalty, "early_stopping": early}
    ours, _ = answer(engine, beam_width=beams, **options)
    assert ours == expected(reference, num_beams=beams, **options)


def test_answers_end_with_the_model_s_own_end_and_at_the_limit(engine, reference):
    reasons = set()
    for length in (3, 10, 17, 25, 33):
        for limit in (5, 30):
            ours, finished = answer(engine, PROMPT[:length], beam_width=3, max_tokens=limit)
            theirs = expected(reference, PROMPT[:length], num_beams=3, max_new_tokens=limit)
            assert ours == theirs
            reasons.add(finished.reason)
    assert reasons == {"stop", "length"}


def test_greedy_is_another_answer(engine, reference):
    """Or these tests would say nothing."""
    greedy, _ = answer(engine)
    assert greedy == expected(reference)
    assert any(answer(engine, beam_width=width)[0] != greedy for width in (2, 3, 8))


def test_a_paused_search_goes_on_where_it_was(engine):
    """As after a preemption: all blocks are given back, and what they held is computed again."""
    model = engine.model
    cache = PrefixCache(BlockPool(model.kv_layout, 60))
    params = SamplingParams(temperature=0.0, max_tokens=40, beam_width=3, ignore_eos=True)
    want, _ = answer(engine, beam_width=3, max_tokens=40, ignore_eos=True)
    search = BeamSearch(PROMPT, params, engine.tokenizer, 512)
    search.start(cache.begin(PROMPT, 512))
    pieces, steps = [], 0
    while search.finish_reason is None:
        steps += 1
        if steps % 9 == 0:
            search.pause()
            assert cache.make_room(60), "a paused search holds nothing"
            search.start(cache.begin(PROMPT, 512))
        parts = search.parts(64, draft=True)
        assert sum(len(part.tokens) for part in parts) <= 64
        outputs = model.step([Part(*part) for part in parts])
        search.choose(outputs)
        pieces += search.pieces()
    assert [piece.token for piece in pieces] == want


def test_beams_share_the_blocks_of_the_prompt(engine):
    model = engine.model
    pool = BlockPool(model.kv_layout, 100)
    prompt = np.random.default_rng(1).integers(0, 256, 320).tolist()
    params = SamplingParams(temperature=0.0, max_tokens=10, beam_width=8, ignore_eos=True)
    search = BeamSearch(prompt, params, engine.tokenizer, 512)
    search.start(PrefixCache(pool).begin(prompt, 512))
    while len(search.sequences) < 8:
        search.choose(model.step(search.parts(200, draft=False)))
    search.choose(model.step(search.parts(200, draft=False)))
    assert pool.blocks - pool.free <= 10 + 8


def test_beam_sampling_draws_what_is_likely(engine):
    """With two beams and one token, the answer is the likelier of two that are drawn without
    replacement: its distribution is known."""
    logits = engine.logits(PROMPT)[-1].astype(np.float64) / 0.7
    p = np.exp(logits - logits.max())
    best = np.argsort(-p)[:6]
    p = p[best] / p[best].sum()
    pairs = {(i, j): p[i] * p[j] / (1 - p[i]) for i in range(6) for j in range(6) if i != j}
    chance = np.zeros(6)
    for (i, j), likely in pairs.items():
        chance[min(i, j)] += likely
    draws = 400
    found = np.zeros(6)
    for seed in range(draws):
        params = {"beam_width": 2, "max_tokens": 1, "top_k": 6, "seed": seed, "ignore_eos": True}
        (token,), _ = answer(engine, temperature=0.7, **params)
        found[best.tolist().index(token)] += 1
    error = np.sqrt(chance * (1 - chance) * draws)
    assert (np.abs(found - chance * draws) < 4.5 * error + 1).all()


def test_a_seed_makes_it_repeatable(engine):
    def once(seed):
        return answer(engine, temperature=1.0, beam_width=4, seed=seed)[0]

    assert once(1) == once(1)
    assert len({tuple(once(seed)) for seed in range(5)}) > 1


def test_stop_strings_cut_the_answer(engine):
    whole, _ = answer(engine, beam_width=3, ignore_eos=True)
    text = engine.tokenizer.decode(whole)
    stop = next(text[i : i + 2] for i in range(3, len(text)) if text[i : i + 2].isascii())
    params = SamplingParams(
        temperature=0.0, max_tokens=24, beam_width=3, ignore_eos=True, stop=(stop,)
    )
    *pieces, finished = engine.generate_fully(PROMPT, params)
    assert "".join(piece.text for piece in pieces) == text[: text.index(stop)]
    assert finished.reason == "stop"


@pytest.mark.parametrize(
    "fields",
    [{"logprobs": 2}, {"repetition_penalty": 1.1}, {"prefix": "a"}, {"logit_bias": {3: 1.0}}],
)
def test_what_does_not_go_with_beams_is_refused_by_name(fields):
    (name,) = fields
    with pytest.raises(InvalidRequestError, match=f"{name} does not go with beam_width"):
        SamplingParams(beam_width=2, **fields)
