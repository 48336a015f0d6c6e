"""Text read before at another place: what is found and used again, and that nobody else notices."""

import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine import Engine
from engine.chunk_reuse import COMPUTED_TOKENS, LEAST_TOKENS
from engine.generate import Finished
from engine.model import Model
from engine.moved_keys import joined, read_block
from engine.sampling_params import SamplingParams

TEXT = np.random.default_rng(8).integers(0, 256, 1000).tolist()
PASSAGES = [TEXT[:100], TEXT[100:180], TEXT[180:330], TEXT[330:370]]
FRONTS = [TEXT[400:450], TEXT[500:533], TEXT[600:601]]
GREEDY = SamplingParams(temperature=0.0, max_tokens=4, ignore_eos=True)


@pytest.fixture(scope="module")
def model(tiny_path):
    loaded = Model.load(tiny_path, threads=1)
    yield loaded
    loaded.close()


def opened(tiny_path, **options):
    return Engine.load(tiny_path, threads=1, reuse_chunks=True, **options)


def ask(engine, prompt):
    """The answer, and tokens of the prompt found in the cache."""
    *pieces, finished = engine.generate_fully(prompt, GREEDY)
    assert isinstance(finished, Finished)
    return [piece.token for piece in pieces], finished.cached_tokens


def reused(engine):
    return engine.scheduler._batch._chunks.reused_tokens


def computed(model, tokens):
    """Keys and values as the model has them, without any cache."""
    cache = model.new_cache()
    model.forward(np.array(tokens, np.int32), cache, want="none")
    return [cache.pool.record(block).copy() for block in cache.blocks]


def check_cache(engine, model, prompt):
    """What the cache knows of a prompt is, to the last bit, what the model computes."""
    cache = engine.scheduler.cache
    blocks = cache.blocks_of(prompt)
    for block, expected in zip(blocks, computed(model, prompt), strict=False):
        np.testing.assert_array_equal(cache.pool.record(block), expected)
        cache.pool.release(block)


def test_a_passage_at_another_place_is_used_again(tiny_path, model):
    passage = PASSAGES[0]
    with opened(tiny_path) as engine:
        ask(engine, FRONTS[0] + passage + FRONTS[1])
        assert reused(engine) == 0
        moved = FRONTS[1] + passage + TEXT[700:720]
        answer, cached = ask(engine, moved)
        assert (len(answer), cached) == (4, 0)
        assert reused(engine) == len(passage) - COMPUTED_TOKENS
        again, cached = ask(engine, moved)
        assert again == answer, "the same parts are used again"
        assert cached == len(FRONTS[1]) + COMPUTED_TOKENS, "and nothing of them is cached"
        check_cache(engine, model, moved)


def test_where_it_has_not_moved_the_very_bits_are_used(tiny_path):
    passage = PASSAGES[0]
    with opened(tiny_path) as engine:
        ask(engine, FRONTS[0] + passage + FRONTS[1])
        other = TEXT[800 : 800 + len(FRONTS[0])] + passage + TEXT[700:720]
        request = engine.prepare(other, GREEDY)
        batch = engine.scheduler._batch
        ticket = engine.scheduler.submit(request, lambda outcome: None)
        seen = []
        ticket.sink = lambda outcome: seen.append(
            joined(
                [
                    read_block(batch._cache.pool.record(b), batch._cache.pool.layout)
                    for b in request.sequences[0].blocks
                ]
            )
            if request.sequences
            else None
        )
        while not ticket.ended:
            time.sleep(0.01)
        start, end = len(FRONTS[0]) + COMPUTED_TOKENS, len(FRONTS[0]) + len(passage)
        source = batch._cache.blocks_of(FRONTS[0] + passage + FRONTS[1])
        first = joined(
            [read_block(batch._cache.pool.record(b), batch._cache.pool.layout) for b in source]
        )
        for got, expected in zip(seen[0].part(start, end), first.part(start, end), strict=True):
            np.testing.assert_array_equal(got, expected)


def test_what_is_short_or_gone_is_computed(tiny_path, model):
    with opened(tiny_path, kv_bytes=12 * 16_384) as engine:
        assert engine.model.kv_layout.block_bytes == 16_384
        short = PASSAGES[0][: LEAST_TOKENS - 1]
        ask(engine, FRONTS[0] + short)
        ask(engine, FRONTS[1] + short + TEXT[700:720])
        assert reused(engine) == 0
        ask(engine, FRONTS[0] + PASSAGES[0])
        ask(engine, TEXT[500:850])  # all of the memory
        before = reused(engine)
        prompt = FRONTS[2] + PASSAGES[0] + [1, 2]
        answer, _ = ask(engine, prompt)
        assert reused(engine) == before
        with Engine.load(tiny_path, threads=1) as plain:
            assert answer == ask(plain, prompt)[0]


def test_it_is_off_by_default(tiny_path):
    with Engine.load(tiny_path, threads=1) as engine:
        assert engine.scheduler._batch._chunks is None


PROMPTS = st.builds(
    lambda front, passages, tail: [
        *FRONTS[front],
        *(t for n in passages for t in PASSAGES[n]),
        *tail,
    ],
    st.integers(0, 2),
    st.lists(st.integers(0, 3), max_size=3, unique=True),
    st.lists(st.integers(0, 255), min_size=1, max_size=40),
)


@settings(max_examples=25)
@given(st.lists(PROMPTS, min_size=2, max_size=6), st.sampled_from([14, 200]))
def test_whatever_is_used_again_the_prefix_cache_holds_what_the_model_computes(
    tiny_path, model, prompts, blocks
):
    with opened(tiny_path, kv_bytes=blocks * 16_384) as engine:
        for prompt in prompts:
            ask(engine, prompt)
        for prompt in prompts:
            check_cache(engine, model, prompt)
        cache = engine.scheduler.cache
        engine.close()
        assert cache.make_room(cache.pool.blocks), "a block is lost"
