"""What tests of a mixture run in a process of their own: a token with the pages locked away of
experts that it does not choose.

    python tests/engine/expert_pages.py MODEL.gguf TOKEN [and a chosen one]
"""

import ctypes
import json
import mmap
import sys
from pathlib import Path

import numpy as np

from engine.formats.packed import packed_bytes
from engine.kernels.experts import choose_experts
from engine.kernels.intrinsics import integers
from engine.kernels.program import Program
from engine.model import Model


def write_down(operands, step, part, parts):
    """Operation: so many int32 from one address to another."""
    if part == 0:
        source, target = integers(operands[0], operands[2]), integers(operands[1], operands[2])
        for i in range(operands[2]):
            target[i] = source[i]


def whole_pages(matrix, experts, some):
    """Addresses and sizes of the whole pages of some experts of a matrix."""
    size, page = packed_bytes(matrix.bits, matrix.outputs // experts, matrix.inputs), mmap.PAGESIZE
    for expert in some:
        start = -(-(matrix.address + size * expert) // page) * page
        end = (matrix.address + size * (expert + 1)) // page * page
        if end > start:
            yield start, end - start


def choosing(plain, config):
    """The program that notes which experts each layer chooses, and where: int32 (layers, used)."""
    chosen = np.full((config.layers, config.experts_used), -1, np.int32)
    watched, layer = Program(), 0
    for operation, operands, barrier in plain.steps():
        watched.add(operation, *operands, barrier=barrier)
        if operation is choose_experts:
            place = chosen[layer].ctypes.data
            watched.add(write_down, operands[4], place, config.experts_used)
            layer += 1
    return watched, chosen


def main(path, token, *besides):
    model = Model.load(Path(path), threads=2, context_length=64)
    config, plain = model.config, model.program
    tokens = np.array([int(token)], np.int32)
    watched, chosen = choosing(plain, config)
    model.use_program(watched)
    before = model.forward(tokens, model.new_cache())
    model.use_program(plain)
    pages = []
    for index, used in enumerate(chosen.tolist()):
        unused = set(range(config.experts)) - set(used) | set(used[: len(besides)])
        for name in ("gate", "up", "down"):
            matrix = model.weights.matrix(f"blk.{index}.ffn_{name}_exps.weight")
            pages += whole_pages(matrix, config.experts, unused)
    protect = ctypes.CDLL(None).mprotect
    locked = [protect(ctypes.c_void_p(start), ctypes.c_size_t(size), 0) for start, size in pages]
    assert not any(locked), "mprotect"
    after = model.forward(tokens, model.new_cache())
    told = {
        "chosen": chosen.tolist(),
        "pages": len(pages),
        "same": bool(np.array_equal(before, after)),
    }
    print(json.dumps(told))


if __name__ == "__main__":
    main(*sys.argv[1:])
