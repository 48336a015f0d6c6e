"""Prompts kept on disk, against an engine that keeps nothing: the same answers, token by token,
over restarts, evictions, damage and a process that is killed."""

import contextlib
import functools
import json
import signal
import time
import urllib.request

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.engine import Engine
from engine.generate import Finished
from engine.kept_prefixes import KeptPrefixes
from engine.kernels.kv_layout import BLOCK_TOKENS, KVLayout
from engine.kv import BlockPool
from engine.model import Model
from engine.prefix_cache import PrefixCache
from engine.prefix_store import PrefixStore
from engine.sampling_params import SamplingParams

TEXT = np.random.default_rng(3).integers(0, 256, 500).tolist()
OTHER = [*TEXT[:100], *TEXT[200:400]]
"""Parts from TEXT in the middle of a block."""
GREEDY = SamplingParams(temperature=0.0, max_tokens=6, ignore_eos=True)
BUDGET = 1 << 24
LAYOUT = KVLayout(layers=1, kv_heads=1, head_dim=16, number_bytes=2)


class Home:
    """Engines on one tiny model, and the answers that it gives without any cache."""

    def __init__(self, path):
        self.path = path
        self._model = Model.load(path, threads=1)
        self.alone = functools.cache(self._alone)

    def open(self, directory, **options):
        options = {"prefix_disk_bytes": BUDGET} | options
        return Engine.load(self.path, threads=1, cache_directory=directory, **options)

    def _alone(self, prompt):
        tokens, cache = list(prompt), self._model.new_cache()
        part = tokens
        for _ in range(GREEDY.max_tokens):
            logits = self._model.forward(np.array(part, np.int32), cache)
            part = [int(logits[0].argmax())]
            tokens += part
        return tokens[len(prompt) :]

    def check(self, engine, prompt):
        """Ask, compare, and give the number of tokens that were not computed."""
        *pieces, finished = engine.generate_fully(prompt, GREEDY)
        assert [piece.token for piece in pieces] == self.alone(tuple(prompt))
        assert isinstance(finished, Finished)
        return finished.cached_tokens

    def close(self):
        self._model.close()


@pytest.fixture(scope="module")
def home(tiny_path):
    opened = Home(tiny_path)
    yield opened
    opened.close()


def whole(prompt):
    """The tokens of a prompt that lie in whole blocks, but for the one that is always computed."""
    return (len(prompt) - 1) // BLOCK_TOKENS * BLOCK_TOKENS


def kept(engine):
    """Until all is written; how many blocks were."""
    deadline = time.monotonic() + 20
    while engine._kept.waiting or engine.scheduler.load().active:
        assert time.monotonic() < deadline
        time.sleep(0.005)
    assert engine._kept._store.flush(20)
    return engine._kept.stats.written


def test_after_a_restart_a_prompt_continues_from_disk(home, tmp_path):
    with home.open(tmp_path) as engine:
        assert home.check(engine, TEXT) == 0
        assert kept(engine) == (len(TEXT) + GREEDY.max_tokens) // BLOCK_TOKENS
    with home.open(tmp_path) as engine:
        assert home.check(engine, TEXT) == whole(TEXT)
        assert home.check(engine, OTHER) == 100
        assert engine._kept.restored_tokens >= whole(TEXT)
        time.sleep(0.1)
        assert engine.scheduler.counts().restored_tokens >= whole(TEXT)
    with home.open(tmp_path) as engine:
        assert home.check(engine, OTHER) == whole(OTHER)


def test_after_a_restart_the_prompts_used_last_come_back_before_they_are_asked_for(home, tmp_path):
    with home.open(tmp_path) as engine:
        home.check(engine, TEXT)
        kept(engine)
    with home.open(tmp_path) as engine:
        deadline = time.monotonic() + 30
        while engine._kept.restored_tokens < whole(TEXT):
            assert time.monotonic() < deadline
            time.sleep(0.01)
        assert home.check(engine, TEXT) == whole(TEXT)


def test_a_conversation_continues_with_its_own_answer(home, tmp_path):
    said = TEXT[:60]
    with home.open(tmp_path) as engine:
        home.check(engine, said)
        said = [*said, *home.alone(tuple(said)), *TEXT[300:340]]
    with home.open(tmp_path) as engine:
        assert home.check(engine, said) == 64


def test_nothing_is_kept_where_it_is_not_wanted(home, tmp_path):
    for options in ({"prefix_disk_bytes": 0}, {"cache_directory": None}):
        directory = options.pop("cache_directory", tmp_path)
        with home.open(directory, **options) as engine:
            home.check(engine, TEXT)
    assert not (tmp_path / "prefixes").exists()


def test_a_directory_that_cannot_be_used_is_no_reason_to_fail(home, tmp_path, caplog):
    (tmp_path / "prefixes").touch()
    with home.open(tmp_path) as engine:
        assert home.check(engine, TEXT) == 0
    assert "prompts are not kept on disk" in caplog.text


def test_damaged_blocks_are_computed_again(home, tmp_path):
    with home.open(tmp_path) as engine:
        home.check(engine, TEXT)
        kept(engine)
    paths = sorted(
        (tmp_path / "prefixes").glob("*.kv"), key=lambda path: int(path.name.split(".")[1])
    )
    content = bytearray(paths[5].read_bytes())
    content[-1] ^= 1
    paths[5].write_bytes(content)
    with home.open(tmp_path) as engine:
        assert home.check(engine, TEXT) == 5 * BLOCK_TOKENS
        assert engine._kept.stats.dropped == 1
        assert kept(engine) == 1
    with home.open(tmp_path) as engine:
        assert home.check(engine, TEXT) == whole(TEXT)


def test_a_model_swapped_under_the_cache_has_prefixes_of_its_own(home, tmp_path, tiny_path):
    """The second half of the weights negated, in a file of the same name and size."""
    with home.open(tmp_path) as engine:
        home.check(engine, TEXT)
        kept(engine)
    changed = tmp_path / tiny_path.name
    content = tiny_path.read_bytes()
    half = len(content) // 8 * 4
    changed.write_bytes(content[:-half] + (-np.frombuffer(content[-half:], "<f4")).tobytes())
    other = Home(changed)
    assert other.alone(tuple(TEXT)) != home.alone(tuple(TEXT))
    with other.open(tmp_path) as engine:
        assert other.check(engine, TEXT) == 0
    other.close()


def test_memory_for_few_blocks_is_enough(home, tmp_path):
    with home.open(tmp_path) as engine:
        size = engine.model.kv_layout.block_bytes
        home.check(engine, TEXT)
        home.check(engine, OTHER)
        kept(engine)
    with home.open(tmp_path, kv_bytes=17 * size) as engine:
        for prompt in (TEXT, OTHER, TEXT, OTHER):
            assert home.check(engine, prompt) >= whole(prompt)


def cached(tokens, blocks=20):
    """A prefix cache that knows these tokens; block n holds bytes n."""
    cache = PrefixCache(BlockPool(LAYOUT, blocks))
    sequence = cache.begin(tokens, 1000)
    sequence.reserve(len(tokens))
    sequence.advance(len(tokens))
    for number, block in enumerate(sequence.blocks):
        cache.pool.record(block)[:] = number
    cache.publish(tokens, sequence)
    sequence.release()
    return cache


def test_copying_for_the_disk_goes_block_by_block(tmp_path):
    cache = cached(TEXT[:330])
    options = {"block_tokens": BLOCK_TOKENS, "block_bytes": LAYOUT.block_bytes, "budget": BUDGET}
    store = PrefixStore(tmp_path / "prefixes", "model", **options)
    kept = KeptPrefixes(cache, store)
    kept.keep(TEXT[:330])
    for _ in range(10):
        assert kept.waiting
        assert store.stats.written == 0, "what is written is written at once"
        kept.copy_some(0.0)
    assert not kept.waiting
    assert store.flush(20)
    assert [set(record.tolist()) for record in store.load(TEXT[:330])] == [{n} for n in range(10)]

    kept.keep(TEXT[:330])
    kept.copy_some(0.0)
    assert not kept.waiting, "all is there"
    kept.close(5)


def test_what_leaves_the_cache_before_it_is_copied_is_not_kept(tmp_path):
    cache = cached(TEXT[:330])
    options = {"block_tokens": BLOCK_TOKENS, "block_bytes": LAYOUT.block_bytes, "budget": BUDGET}
    store = PrefixStore(tmp_path / "prefixes", "model", **options)
    kept = KeptPrefixes(cache, store)
    kept.keep(TEXT[:330])
    for _ in range(4):
        kept.copy_some(0.0)
    assert cache.make_room(17)
    kept.copy_some(0.0)
    assert not kept.waiting
    assert store.flush(20)
    assert store.stats.written == 4
    kept.close(5)
    assert cache.make_room(20), "nothing is held"


PROMPTS = st.builds(
    lambda base, length, tail: [*base[:length], *tail],
    st.sampled_from([TEXT, OTHER]),
    st.integers(1, 250),
    st.lists(st.integers(0, 255), max_size=3),
)
ACTIONS = st.lists(st.sampled_from(["restart", "damage", "forget"]) | PROMPTS, max_size=12)


@settings(max_examples=20)
@given(actions=ACTIONS, blocks=st.integers(10, 30), files=st.integers(0, 40))
def test_random_traffic_gives_the_answers_of_an_engine_without_cache(
    home, tmp_path_factory, actions, blocks, files
):
    directory = tmp_path_factory.mktemp("traffic")

    def opened():
        return home.open(directory, kv_bytes=blocks * 16_384, prefix_disk_bytes=files * 17_000)

    engine = opened()
    assert engine.model.kv_layout.block_bytes == 16_384
    for action in actions:
        if not isinstance(action, str):
            home.check(engine, action)
        elif action == "restart":
            engine.close()
            engine = opened()
        else:
            for path in sorted((directory / "prefixes").glob("*.kv"))[::3]:
                with contextlib.suppress(FileNotFoundError):  # the writer made room meanwhile
                    if action == "damage":
                        path.write_bytes(path.read_bytes()[:-1])
                    else:
                        path.unlink()
    engine.close()


def asked(address, prompt, max_tokens):
    """The answer of an engine process to a prompt of tokens."""
    body = {"prompt": prompt, "max_tokens": max_tokens, "temperature": 0, "ignore_eos": True}
    request = urllib.request.Request(
        f"{address}/v1/completions", json.dumps(body).encode(), {"Content-Type": "application/json"}
    )
    return json.load(urllib.request.urlopen(request, timeout=60))


def ready(address):
    for _ in range(1200):
        try:
            with urllib.request.urlopen(f"{address}/health", timeout=5) as reply:
                return json.load(reply)
        except OSError:
            time.sleep(0.05)
    raise AssertionError("the engine did not become ready")


def test_killed_in_the_middle_of_an_answer_the_prompt_is_there_again(
    start_engine, tiny_path, tmp_path
):
    options = ("--port", 0, "--cache-directory", tmp_path, "--prefix-disk-mb", 16)
    engine = start_engine(*options, model=tiny_path)
    ready(engine.address)
    body = {"prompt": TEXT[:400], "max_tokens": 100, "stream": True, "ignore_eos": True}
    request = urllib.request.Request(
        f"{engine.address}/v1/completions",
        json.dumps(body).encode(),
        {"Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=60) as stream:
        stream.readline()
        while len(list((tmp_path / "prefixes").glob("*.kv"))) < 400 // BLOCK_TOKENS:
            time.sleep(0.01)
        engine.process.send_signal(signal.SIGKILL)
    again = start_engine(*options, model=tiny_path)
    ready(again.address)
    reply = asked(again.address, TEXT[:400], 4)
    assert reply["usage"]["prompt_tokens_details"]["cached_tokens"] >= 384
