"""Rotary angles: as many as are in use, whatever context a file claims."""

import dataclasses
import subprocess
import sys

import numpy as np
import pytest

from bench.families import CASES, TOKENS, random_model
from bench.gguf_files import write
from engine.architectures import architecture_of
from engine.architectures.config import read_config
from engine.architectures.rope import RopeTable, rope_angles
from engine.gguf import GGUFFile, ModelFormatError
from engine.model import DEFAULT_CONTEXT, Model

LARGEST = 1 << 24
MEASURE = """
import resource, sys
from engine.model import Model
import numpy as np
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
model = Model.load(sys.argv[1], threads=1, context_length=int(sys.argv[2]) or None)
cache = model.new_cache()
model.forward(np.arange(9, dtype=np.int32), cache)
print(model.config.context_length, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before))
"""


def file_of(path, context, name="llama"):
    case = CASES[name]
    case = dataclasses.replace(
        case, sizes=case.sizes | {"max_position_embeddings": context}, keys=case.keys
    )
    write(path, case, random_model(case), "F32")
    return path


@pytest.fixture(scope="module")
def config(tmp_path_factory):
    path = file_of(tmp_path_factory.mktemp("rope") / "m.gguf", 100_000)
    with GGUFFile(path) as file:
        return read_config(file, *architecture_of(file))


def test_a_table_grows_and_stays_the_same(config):
    table = RopeTable(config, None)
    expected = rope_angles(config, 5000, None)
    seen = []
    for positions in (1, 7, 1024, 1025, 3, 5000):
        table.reach(positions)
        angles = table._angles
        assert len(angles) >= positions
        assert table._cell[0] == angles.ctypes.data
        count = min(len(angles), 5000)
        np.testing.assert_array_equal(angles[:count], expected[:count])
        seen.append(len(angles))
    assert seen == [1024, 1024, 1024, 2048, 2048, 5000]


def test_logits_beyond_the_first_piece_of_the_table(tmp_path):
    """One sequence read at once, and piece by piece while the table grows."""
    model = Model.load(file_of(tmp_path / "m.gguf", 2100), threads=2)
    tokens = np.resize(TOKENS, 2100)
    whole = model.forward(tokens, model.new_cache())
    cache = model.new_cache()
    for start in range(0, 2100, 300):
        last = model.forward(tokens[start : start + 300], cache)
    model.close()
    np.testing.assert_array_equal(whole, last)


@pytest.mark.parametrize(("asked", "context"), [(0, DEFAULT_CONTEXT), (1 << 20, 1 << 20)])
def test_a_context_of_16_million_takes_no_memory(tmp_path, asked, context):
    """All angles would take 1 GB for this model of 6 MB, and one of Gemma's heads 17 GB."""
    path = file_of(tmp_path / "m.gguf", LARGEST)
    done = subprocess.run(
        [sys.executable, "-c", MEASURE, path, str(asked)], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    found, kilobytes = map(int, done.stdout.split())
    assert found == context
    assert kilobytes < 100_000


@pytest.mark.parametrize("context", [LARGEST + 1, 1 << 31, (1 << 32) - 1])
def test_a_larger_one_is_refused_by_name(tmp_path, context):
    path = file_of(tmp_path / "m.gguf", context)
    with pytest.raises(
        ModelFormatError, match=rf"context_length at offset \d+ is {context}; an integer from 1"
    ):
        Model.load(path)
