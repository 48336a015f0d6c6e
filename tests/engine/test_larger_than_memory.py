"""A model that is larger than memory runs, more slowly, and computes the same."""

import json
import os
import sys

import pytest

from bench.sparsity_memory import in_memory_of
from engine.benchmarks import _random_model
from engine.errors import EngineError
from engine.model import Model
from engine.sparsity.calibrated import Sparsity

DECODE = """
import hashlib, json, sys
from pathlib import Path
import numpy as np
from engine.model import Model
from engine.sparsity.calibrated import Sparsity

def read():
    lines = Path("/proc/self/io").read_text().splitlines()
    return int(dict(line.split(": ") for line in lines)["read_bytes"])

def own():
    return 1024 * int(Path("/proc/self/status").read_text().split("RssAnon:")[1].split()[0])

path = Path(sys.argv[1])
model = Model.load(path, threads=2, context_length=64, cache_directory=path.parent,
                   sparsity=Sparsity(zeros=False))
cache, digest = model.new_cache(), hashlib.sha256()
for index, token in enumerate(range(1, 9)):
    if index == 2:
        before = read()
    digest.update(model.forward(np.array([token], np.int32), cache).tobytes())
print(json.dumps({"logits": digest.hexdigest(),
                  "read": (read() - before) / 6, "weights": model.weight_bytes,
                  "own": own()}))
"""


@pytest.fixture
def big_model(tmp_path, monkeypatch):
    """Six layers of a 1B shape with a small vocabulary: 390 MB, packed beside it."""
    monkeypatch.setattr(_random_model, "VOCABULARY", 1024)
    path = tmp_path / "m.gguf"
    _random_model.write_random_model(path, _random_model.SHAPES["1b-gated"], 6)
    model = Model.load(path, threads=2, cache_directory=tmp_path, sparsity=Sparsity(zeros=False))
    model.close()
    return path


def decoded(path, limit):
    """What DECODE tells of a process with so much memory, none of the files in the page cache."""
    for one in path.parent.iterdir():
        with one.open("rb") as file:
            os.fsync(file.fileno())
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    try:
        return json.loads(in_memory_of(limit, [sys.executable, "-c", DECODE, str(path)]))
    except EngineError as error:
        if "no memory cgroup" not in str(error):
            raise
        pytest.skip(str(error))


def test_with_memory_for_seven_tenths_it_reads_from_the_disk_and_computes_the_same(big_model):
    whole = decoded(big_model, 4 << 30)
    assert whole["read"] == 0, "all of it stays in memory"
    short = decoded(big_model, whole["own"] + int(0.7 * whole["weights"]))
    assert short["read"] > 0.3 * short["weights"], "what does not fit has to come again"
    assert short["logits"] == whole["logits"]
