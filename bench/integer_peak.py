"""How many int8 operations a second this machine does at most: nothing but products on registers.

Twelve sums hide the instructions' latency. A product is what the kernels of a path take for it:
`vpdpbusd`, or with AVX2 alone three instructions.
"""

import time
from typing import Any

import llvmlite.binding as llvm
import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from engine.kernels.dispatch import available_paths, compile_operation
from engine.kernels.program import STEP_SLOTS, Program
from engine.threads import ThreadPool

SUMS = 12
UNROLLED = 16
"""Rounds of a turn of the loop, at whose end the compiler puts sums on the stack."""
ROUNDS = 4_000_000
"""13 ms of work: a thread that was woken on the wrong core has moved by then."""
PRODUCTS = {
    "avx512vnni": (64, "vpdpbusd $1, $1, $0"),
    "avxvnni": (32, "{vex} vpdpbusd $1, $1, $0"),
    "avx2": (
        32,
        "vpmaddubsw $1, $1, %ymm15\nvpmaddwd $1, %ymm15, %ymm15\nvpaddd %ymm15, $0, $0",
    ),
}
"""Path → bytes that are multiplied at once, and the instructions (AT&T): $0 += $1 · $1."""
_I64 = ir.IntType(64)


@intrinsic
def multiply_registers(typing_context: Any, rounds: Any, seed: Any) -> Any:
    """`rounds` times SUMS products; gives one of the sums, so that none can be left out."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        rounds, seed = arguments
        size, instructions = PRODUCTS[_path()]
        integers = ir.VectorType(ir.IntType(32), size // 4)
        kind = ir.FunctionType(integers, [integers, integers])
        lanes = ir.Constant(ir.VectorType(_I64, size // 8), [0x0102030405060708] * (size // 8))
        factor = builder.bitcast(builder.insert_element(lanes, seed, ir.IntType(32)(0)), integers)
        before, loop = builder.block, builder.append_basic_block("products")
        after = builder.append_basic_block("after")
        builder.branch(loop)
        builder.position_at_end(loop)
        count = builder.phi(_I64)
        count.add_incoming(_I64(0), before)
        sums = [builder.phi(integers) for _ in range(SUMS)]
        following = builder.add(count, _I64(UNROLLED))
        made = list(sums)
        for _ in range(UNROLLED):
            # As volatile assembly: of the same product twice, the compiler would do one.
            made = [
                builder.asm(kind, instructions, "=x,x,0,~{xmm15}", [factor, one], side_effect=True)
                for one in made
            ]
        for index, (total, following_total) in enumerate(zip(sums, made, strict=True)):
            total.add_incoming(ir.Constant(integers, [index] * (size // 4)), before)
            total.add_incoming(following_total, loop)
        count.add_incoming(following, loop)
        builder.cbranch(builder.icmp_signed("<", following, rounds), loop, after)
        builder.position_at_end(after)
        total = sums[0]
        for other in sums[1:]:
            total = builder.add(total, other)
        return builder.sext(builder.extract_element(total, ir.IntType(32)(0)), _I64)

    return types.int64(types.int64, types.int64), emit


def products(operands: Any, step: Any, thread: int, threads: int) -> None:
    """Operation: `operands[0]` rounds of products on every thread."""
    step[thread] = multiply_registers(operands[0], step[thread])


def _path() -> str:
    """The first of this CPU's paths that is known here; RuntimeError where there is none."""
    for path in PRODUCTS:
        if path in available_paths():
            return path
    raise RuntimeError(f"this CPU has none of {', '.join(PRODUCTS)}")


class PeakMeter:
    """Keeps the int8 units of all threads busy for some milliseconds."""

    def __init__(self, threads: int) -> None:
        """Raises RuntimeError on a CPU with none of these instructions."""
        self._operations = ROUNDS * SUMS * 2 * PRODUCTS[_path()][0]
        llvm.initialize_native_asmparser()
        self._pool, program = ThreadPool(threads), Program()
        program.add(products, ROUNDS)
        self._table = program.table(compile_operation)
        self._step = np.zeros(max(STEP_SLOTS, threads), np.int64)

    def operations_per_s(self) -> float:
        """The best of a few tries."""
        seconds = []
        for _ in range(4):
            start = time.perf_counter()
            self._pool.run(self._table, self._step)
            seconds.append(time.perf_counter() - start)
        return self._pool.threads * self._operations / min(seconds)
