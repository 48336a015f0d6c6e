"""Of a mixture of experts, only the pages of chosen experts are touched."""

import json
import subprocess
import sys

import pytest

from bench.families import CASES, random_model
from bench.gguf_files import write

DECODE = """
import ctypes, json, mmap, sys
from pathlib import Path
import numpy as np
from engine.formats.packed import packed_bytes
from engine.kernels.experts import choose_experts
from engine.kernels.intrinsics import integers
from engine.kernels.program import Program
from engine.model import Model

TOKEN, PAGE = np.array([int(sys.argv[2])], np.int32), mmap.PAGESIZE
protect = ctypes.CDLL(None, use_errno=True).mprotect

def write_down(operands, step, part, parts):
    if part == 0:
        integers(operands[1], operands[2])[:] = integers(operands[0], operands[2])

def untouched(matrix, experts, chosen):
    # The whole pages of experts that nobody chose.
    size = packed_bytes(matrix.bits, matrix.outputs // experts, matrix.inputs)
    for expert in set(range(experts)) - set(chosen):
        start = -(-(matrix.address + size * expert) // PAGE) * PAGE
        end = (matrix.address + size * (expert + 1)) // PAGE * PAGE
        if end > start:
            yield start, end - start

model = Model.load(Path(sys.argv[1]), threads=2, context_length=64)
config, plain = model.config, model.program
chosen = np.full((config.layers, config.experts_used), -1, np.int32)
watched, layer = Program(), 0
for operation, operands, barrier in plain.steps():
    watched.add(operation, *operands, barrier=barrier)
    if operation is choose_experts:
        place = chosen[layer].ctypes.data
        watched.add(write_down, operands[4], place, config.experts_used)
        layer += 1
model.use_program(watched)
before = model.forward(TOKEN, model.new_cache())
model.use_program(plain)
pages = [
    place
    for index in range(config.layers)
    for name in ("gate", "up", "down")
    for place in untouched(
        model.weights.matrix(f"blk.{index}.ffn_{name}_exps.weight"), config.experts, chosen[index]
    )
]
one_more = sys.argv[3:] == ["and a chosen one"]
if one_more:
    matrix = model.weights.matrix("blk.0.ffn_up_exps.weight")
    others = set(range(config.experts)) - {int(chosen[0][0])}
    pages += untouched(matrix, config.experts, others)
assert all(protect(ctypes.c_void_p(start), size, 0) == 0 for start, size in pages)
after = model.forward(TOKEN, model.new_cache())
print(json.dumps({"chosen": chosen.tolist(), "pages": sum(s for _, s in pages) // PAGE,
                  "same": bool(np.array_equal(before, after))}))
"""


@pytest.fixture(scope="module")
def mixture(tmp_path_factory):
    path = tmp_path_factory.mktemp("mixture") / "m.gguf"
    write(path, CASES["mixtral"], random_model(CASES["mixtral"]), "Q8_0")
    return path


def decode(path, *arguments):
    return subprocess.run(
        [sys.executable, "-c", DECODE, str(path), *arguments],
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip


@pytest.mark.parametrize("token", ["3", "40"])
def test_a_token_reads_no_page_of_an_expert_that_is_not_chosen(mixture, token):
    """They may not be read at all, which would end the process."""
    done = decode(mixture, token)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["same"]
    assert told["pages"] > 0
    used = CASES["mixtral"].keys["expert_used_count"]
    assert all(len(set(experts)) == used and min(experts) >= 0 for experts in told["chosen"])


def test_a_page_of_a_chosen_expert_is_read(mixture):
    assert decode(mixture, "3", "and a chosen one").returncode < 0
