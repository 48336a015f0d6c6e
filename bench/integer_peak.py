"""How many int8 operations a second this machine does at most: nothing but `vpdpbusd` on registers.

Twelve sums hide the instruction's latency; each multiplies and adds 64 bytes: 128 operations.
"""

import time
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from engine.kernels.dispatch import available_paths, compile_operation
from engine.kernels.program import STEP_SLOTS, Program
from engine.threads import ThreadPool

SUMS = 12
ROUNDS = 4_000_000
"""13 ms of work: a thread that was woken on the wrong core has moved by then."""
_I64 = ir.IntType(64)
_INTEGERS, _BYTES = ir.VectorType(ir.IntType(32), 16), ir.VectorType(ir.IntType(8), 64)


@intrinsic
def multiply_registers(typing_context: Any, rounds: Any, seed: Any) -> Any:
    """`rounds` times SUMS products; gives one of the sums, so that none can be left out."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        rounds, seed = arguments
        kind = ir.FunctionType(_INTEGERS, [_INTEGERS, _BYTES, _BYTES])
        name = "llvm.x86.avx512.vpdpbusd.512"
        dot = cgutils.get_or_insert_function(builder.module, kind, name)
        lanes = ir.Constant(ir.VectorType(_I64, 8), [0x0102030405060708] * 8)
        first = builder.insert_element(lanes, seed, ir.IntType(32)(0))
        factor = builder.bitcast(first, _BYTES)
        before, loop = builder.block, builder.append_basic_block("products")
        after = builder.append_basic_block("after")
        builder.branch(loop)
        builder.position_at_end(loop)
        count = builder.phi(_I64)
        count.add_incoming(_I64(0), before)
        sums = [builder.phi(_INTEGERS) for _ in range(SUMS)]
        following = builder.add(count, _I64(1))
        for index, total in enumerate(sums):
            total.add_incoming(ir.Constant(_INTEGERS, [index] * 16), before)
            total.add_incoming(builder.call(dot, [total, factor, factor]), loop)
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


class PeakMeter:
    """Keeps the int8 units of all threads busy for some milliseconds."""

    def __init__(self, threads: int) -> None:
        """Raises RuntimeError on a CPU without AVX-512 VNNI."""
        if "avx512vnni" not in available_paths():
            raise RuntimeError("this CPU has no AVX-512 VNNI")
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
        return self._pool.threads * ROUNDS * SUMS * 128 / min(seconds)
