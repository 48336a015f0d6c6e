"""The measurement with little memory: gates fire as promised, and the limit is a limit."""

import statistics
import sys

import pytest

from bench.sparsity_memory import HOT, OFF, gate_bias, in_memory_of, own_group
from engine.benchmarks._random_model import GATE_DEVIATION
from engine.errors import EngineError

MB = 1 << 20


def test_a_quarter_of_the_neurons_makes_half_of_what_fires():
    normal = statistics.NormalDist(0, GATE_DEVIATION)
    rates = sorted((normal.cdf(float(bias)) for bias in gate_bias()), reverse=True)
    assert statistics.mean(rates) == pytest.approx(1 - OFF, abs=1e-3)
    hot = rates[: int(HOT * len(rates))]
    assert sum(hot) / sum(rates) == pytest.approx(0.5, abs=0.01)


def test_a_command_has_the_memory_it_was_given_and_no_more():
    group, _ = own_group()
    before = set(group.iterdir()) if group.is_dir() else set()
    fill = "print(len(bytearray(b'x') * {}))"
    try:
        done = in_memory_of(200 * MB, [sys.executable, "-c", fill.format(20 * MB)])
    except EngineError as error:
        pytest.skip(str(error))
    assert int(done) == 20 * MB
    with pytest.raises(EngineError, match="too little memory"):
        in_memory_of(60 * MB, [sys.executable, "-c", fill.format(400 * MB)])
    assert set(group.iterdir()) == before, "no cgroup is left behind"
