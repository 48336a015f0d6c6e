"""Measuring changes nothing of what is measured, and its parts add up."""

import json
import mmap
import subprocess
import sys

import numpy as np
import pytest

from engine.benchmarks import _predicted, _random_model, sparsity
from engine.benchmarks._machine import this_machine
from engine.benchmarks._memory import MemoryMeter, process_memory
from engine.benchmarks._operations import Stopwatch
from engine.benchmarks.engine import operations_of

TOKENS = np.arange(20, dtype=np.int32)


def test_a_timed_step_computes_the_same(model):
    before = model.forward(TOKENS, model.new_cache())
    watch = Stopwatch(model)
    timed = model.forward(TOKENS, model.new_cache())
    watch.remove()
    after = model.forward(TOKENS, model.new_cache())
    assert np.array_equal(before, timed)
    assert np.array_equal(before, after)


def test_the_weights_of_the_operations_are_the_weights_of_a_token(model):
    watch = Stopwatch(model)
    model.forward(TOKENS[:1], model.new_cache())
    operations = watch.read()
    watch.remove()
    assert sum(one.weight_bytes for one in operations) == model.weight_bytes
    assert all(one.seconds >= 0 for one in operations)
    assert any("ffn_down" in one.name and one.count == model.config.layers for one in operations)


def test_operations_are_counted_by_the_file_s_own_shapes(model):
    matrices = {name: info for name, info in model.gguf.tensors.items() if len(info.shape) == 2}
    sizes = {name: info.shape[0] * info.shape[1] for name, info in matrices.items()}
    weights, head = sum(sizes.values()), model.config.vocabulary * model.config.dim
    last = f"blk.{model.config.layers - 1}."
    keys = ("attn_q", "attn_k", "attn_v")
    behind = sum(
        size
        for name, size in sizes.items()
        if name.startswith(last) and not any(key in name for key in keys)
    )
    assert behind > head * 0.01
    assert operations_of(model, 1) == 2 * weights
    assert operations_of(model, 10) == 2 * (10 * (weights - head - behind) + head + behind)


def test_private_memory_is_what_is_written():
    size = 30 << 20
    before = process_memory()
    with mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as pages:
        mapped = process_memory()
        for start in range(0, size, mmap.PAGESIZE):  # of its own: the heap has old ones
            pages[start] = 1
        after = process_memory()
    assert mapped.private - before.private < 10 << 20, "what is only mapped costs nothing"
    assert 28 << 20 < after.private - before.private < 40 << 20
    assert after.peak >= after.resident >= after.private >= size


def test_memory_is_read_at_a_plausible_speed():
    meter = MemoryMeter(2)
    speed = meter.bytes_per_s()
    meter.close()
    assert 1e8 < speed < 2e12  # from a starved virtual machine to a server's caches


def test_the_machine_is_described():
    machine = this_machine()
    assert machine.cores >= 1
    assert machine.memory_bytes > 1 << 28
    assert str(machine.cores) in str(machine)


def test_the_command_s_figures_agree_with_each_other(model_path, tmp_path):
    quick = ["--prompt", "32", "--decode", "4", "--seconds", "0", "--threads", "1", "--json"]
    command = [sys.executable, "-m", "engine.benchmarks.engine", str(model_path), *quick]
    done = subprocess.run(
        [*command, "--cache-directory", str(tmp_path)], capture_output=True, text=True, check=True
    )
    result = json.loads(done.stdout)
    limit = result["read_bytes_per_s"] / result["weight_bytes"]
    assert np.isclose(result["share_of_limit"], result["decode_tokens_per_s"] / limit)
    for step in ("decode", "prefill"):
        seconds = sum(one["seconds"] for one in result[f"{step}_operations"])
        assert np.isclose(seconds, result[f"{step}_step_s"])
    assert result["load_s"] > 0 < result["imported_s"]
    kinds = [(one["streams"], one["temperature"]) for one in result["between_steps"]]
    assert kinds == [(1, 0.0), (4, 0.0), (1, 0.7), (4, 0.7)]
    for one in result["between_steps"]:
        assert one["compute_s"] > one["between_s"] > 0


def test_a_missing_file_is_one_line():
    command = [sys.executable, "-m", "engine.benchmarks.engine", "/no/such.gguf"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "/no/such.gguf" in done.stderr


def test_a_process_is_measured_from_its_start_to_its_answers(model_path, tmp_path):
    quick = ["--starts", "1", "--requests", "3", "--idle", "0.2", "--threads", "1", "--json"]
    command = [sys.executable, "-m", "engine.benchmarks.process", str(model_path), *quick]
    done = subprocess.run(
        [*command, "--cache-directory", str(tmp_path)], capture_output=True, text=True, check=True
    )
    result = json.loads(done.stdout)
    assert 0 < result["ready_s"] < result["first_token_s"]
    assert result["first_token_cpu_s"] > 0
    private, resident = result["loaded"][1], result["loaded"][0]
    assert private < 220e6, "of which 200 MB are the bound, and the rest is room for other machines"
    assert resident < model_path.stat().st_size + 240e6
    assert result["worked"][1] < private + 20e6


SPARSITY = [sys.executable, "-m", "engine.benchmarks.sparsity"]


def test_zeros_are_measured_by_shape(tmp_path, monkeypatch):
    """With as many zeros as were wanted, and a plot; a small shape in place of 1B."""
    for name, value in {"DIM": 256, "FFN_DIM": 1024, "HEADS": 4, "KV_HEADS": 2}.items():
        monkeypatch.setattr(_random_model, name, value)
    monkeypatch.setattr(_random_model, "VOCABULARY", 256)
    for module in (sparsity, _predicted):
        monkeypatch.setattr(module, "FFN_DIM", 1024)
        monkeypatch.setattr(module, "GATE_DEVIATION", _random_model.DEVIATION * 16)
    monkeypatch.setattr(_predicted, "DIM", 256)
    for shape in _random_model.SHAPES:
        options = ["--shape", shape, "--layers", "2", "--zeros", "0.5", "0.9", "--rounds", "1"]
        options += ["--tokens", "3", "--out", str(tmp_path / "out"), "--json"]
        guessed = shape == "1b-ungated"
        options += ["--predictor", "64"] if guessed else []
        monkeypatch.setattr(sys, "argv", ["sparsity", *options, "--cache-directory", str(tmp_path)])
        assert sparsity.main() == 0
        result = json.loads((tmp_path / "out" / f"sparsity-{shape}.json").read_text())
        for point in result["points"]:
            assert abs(point["zeros"] - point["wanted_zeros"]) < 0.05
            assert min(point["ffn_speedup"], point["token_speedup"]) > 0
            if guessed:
                listed = _predicted.LISTED * (1 - point["wanted_zeros"])
                assert point["predicted"]["listed"] == pytest.approx(listed, abs=0.05)
                assert point["predicted"]["ffn_speedup_over_sparse"] > 0
            else:
                assert point["predicted"] is None
        assert "</svg>" in (tmp_path / "out" / f"sparsity-{shape}.svg").read_text()
    assert [path.name for path in tmp_path.iterdir()] == ["out"], "nothing is left behind"


def test_a_model_without_zeros_is_one_line(model_path, tmp_path):
    done = subprocess.run(
        [*SPARSITY, str(model_path), "--cache-directory", str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "hubd model calibrate" in done.stderr
    assert done.stderr.count("\n") == 1


def test_answers_with_guesses_and_without_are_compared(model_path, tmp_path):
    prompts = tmp_path / "prompts.jsonl"
    asked = "Say this word by word: the rain in spain falls in the rain in spain"
    prompts.write_text(json.dumps([{"role": "user", "content": asked}]) + "\n")
    quick = ["--tokens", "12", "--rounds", "2", "--threads", "1", "--prompts", str(prompts)]
    command = [sys.executable, "-m", "engine.benchmarks.guesses", str(model_path), *quick, "--json"]
    done = subprocess.run(
        [*command, "--cache-directory", str(tmp_path)], capture_output=True, text=True, check=True
    )
    result = json.loads(done.stdout)
    assert result["identical"]
    assert result["prompts"] == 1
    assert 2 <= result["tokens"] <= 12
    ratio = result["guessing_tokens_per_s"] / result["plain_tokens_per_s"]
    assert np.isclose(result["speedup"], ratio)
