"""The programs in bench/: the model they make up can be run, and their plots are pictures."""

import importlib.util
import sys
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from engine.engine import Engine

BENCH = Path(__file__).parents[2] / "bench"


@pytest.fixture
def load_program(monkeypatch):
    """``load_program("charts")`` is the module of bench/charts.py."""
    monkeypatch.syspath_prepend(str(BENCH))

    def load(name):
        spec = importlib.util.spec_from_file_location(name, BENCH / f"{name}.py")
        module = importlib.util.module_from_spec(spec)
        monkeypatch.setitem(sys.modules, name, module)
        spec.loader.exec_module(module)
        return module

    return load


@pytest.mark.parametrize("to", ["q8_0", "q4_k_m"])
def test_a_random_model_computes_what_a_trained_one_could(load_program, tmp_path, monkeypatch, to):
    program = load_program("random_model")
    small = {"DIM": 256, "FFN_DIM": 512, "HEADS": 4, "KV_HEADS": 2, "VOCABULARY": 512}
    for name, value in small.items():
        monkeypatch.setattr(program, name, value)
    program.write(tmp_path / "a.gguf", to, layers=2)
    program.write(tmp_path / "b.gguf", to, layers=2)
    assert (tmp_path / "a.gguf").read_bytes() == (tmp_path / "b.gguf").read_bytes()
    with Engine.load(tmp_path / "a.gguf", threads=1, context_length=64) as engine:
        logits = engine.logits(engine.tokenizer.encode("w5"))
    assert np.isfinite(logits).all()
    assert 0.01 < logits.std() < 10
    table = engine.model.gguf.tensors["token_embd.weight"].type_name
    assert table == {"q8_0": "Q8_0", "q4_k_m": "Q6_K"}[to]


def test_its_weights_have_the_deviation_it_says(load_program):
    from engine.formats import FORMATS

    program = load_program("random_model")
    random = np.random.default_rng(3)
    for type_name in program.BYTES_PER_BLOCK:
        raw = program.random_blocks(random, type_name, 64, 1024)
        weights = FORMATS[type_name].dequantize(raw.reshape(-1), (64 * 1024,))
        assert abs(weights.mean()) < 0.1 * program.DEVIATION
        assert weights.std() == pytest.approx(program.DEVIATION, rel=0.3), type_name


def test_turns_in_which_others_worked_do_not_count(load_program):
    quiet = load_program("compare_llamacpp").quiet
    turns = [{"others": share} for share in (0.5, 0.01, 0.02, 0.9, 0.03, 0.04)]
    assert [turn["others"] for turn in quiet(turns)] == [0.01, 0.02, 0.03, 0.04]
    assert len(quiet([{"others": 0.9}] * 5)) == 3


def test_what_is_kept_behind_a_long_context(load_program):
    """Twice the time is half the speed; half as many bytes again allow two thirds of it."""
    program = load_program("long_contexts")
    slow = dict.fromkeys(program.DEPTHS, 0.004) | {program.DEPTHS[-1]: 0.008}
    turns = [{"others": 0.0, "read": 4e10}] * 3
    extra = program.DEPTHS[-1] - program.DEPTHS[0]
    row = program.LongRow(
        name="some file",
        packed_bytes_per_token=2 * extra - program.DEPTHS[0],
        bytes_per_position=1,
        read_bytes_per_s=4e10,
        seconds={"hubd": slow, "llama.cpp": dict.fromkeys(program.DEPTHS, 0.012)},
        turns={"hubd": turns, "llama.cpp": turns},
    )
    assert (row.kept("hubd"), row.kept("llama.cpp")) == (0.5, 1)
    assert row.bytes_allow() == pytest.approx(2 / 3)
    cells = program.long_table([row]).splitlines()[-1].split(" | ")
    assert cells[4:8] == ["**0.50**", "0.67", "1.00", "1.50"]
    assert "some file" in program.long_plot([row])


def test_plots_are_pictures(load_program):
    charts = load_program("charts")
    bars = charts.bars("a < b", {"x": [charts.Bar("one", 0.5, 1), charts.Bar("two", 3, 2)]})
    point = charts.Point("decode", 2, 4e10)
    for picture in (bars, charts.roofline("r", 3e10, 1e12, [point])):
        root = ElementTree.fromstring(picture)
        assert root.tag.endswith("svg")
        for shape in root.iter():
            for name in ("x", "y", "cx", "cy", "x1", "y1", "x2", "y2"):
                value = float(shape.get(name, 0))
                assert 0 <= value <= 1200, (shape.tag, name, value)


def test_a_request_of_home_assistant_differs_in_its_time_and_its_words_alone(load_program):
    program = load_program("home_assistant")
    system = "Current time is 06:47:17. Today's date is 2026-11-21.\nYou are a voice assistant."
    words = {"role": "user", "content": "turn the bed lamp on please"}
    body = {
        "model": "hub:latest",
        "stream": True,
        "tools": [{"type": "function"}],
        "messages": [{"role": "system", "content": system}, words],
    }
    first, second = (program.asked(body, "household", number) for number in (0, 1))
    assert first["messages"][1] != second["messages"][1]
    assert "06:47:17" in first["messages"][0]["content"]
    assert "06:48:30" in second["messages"][0]["content"]
    for made in (first, second):
        assert made["model"] == "household"
        same = program.TIME.sub("06:47:17", made["messages"][0]["content"])
        assert same == system
        assert {name: made[name] for name in ("stream", "tools")} == {
            name: body[name] for name in ("stream", "tools")
        }


def test_this_cpu_has_a_peak(load_program):
    """The peak is measured with what this CPU has: at least two products of a byte in a cycle."""
    program = load_program("integer_peak")
    if not set(program.PRODUCTS) & set(program.available_paths()):
        pytest.skip("this CPU multiplies no bytes in vectors")
    assert program.PeakMeter(1).operations_per_s() > 2e9
