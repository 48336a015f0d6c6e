"""Activations quantized for the matrix kernels: rows (token positions) as columns of a product.

A record holds one block of 32 inputs of `width` columns, so that a kernel reaches everything from
one address: `int8 (8 groups, width, 4)`, then for each column float32 scale, float32 scale · Σ q
(what a block's minimum is multiplied with), int32 -128 · Σ q (the start of a sum over weights
+ 128), int32 -32 · Σ q over the first 16 inputs (the same for weights + 32 in halves of a block).

Many rows are columns in groups of 8. A single row is one column in records of a cache line: the
inputs of a row of 8192 weights are then 16 KB and stay in the L1 cache.
"""

from typing import Any

from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic

from engine.formats.packed import BLOCK
from engine.kernels.vectors import FLOAT, I8, I32, I64, broadcast, call, load, part, store

COLUMNS = 8
"""Columns of a group."""
RECORD_BYTES = 384
"""From a record of a group to the next."""
SINGLE_BYTES = 64
"""From a record of a single column to the next: 48 rounded up to a cache line."""
SCALE, SCALED_SUM, OFFSET_SUM, FIRST_SUM = (BLOCK + 4 * index for index in range(4))
"""Where the fields of a record begin, times its width."""
_ROUND = 12582912.0  # 1.5 · 2²³: adding it rounds to the nearest integer, ties to even
_FLOATS, _INTEGERS = ir.VectorType(FLOAT, BLOCK), ir.VectorType(I32, BLOCK)


def column_buffer_bytes(rows: int, inputs: int) -> int:
    """Bytes that `rows` rows of `inputs` activations take, whole groups of 8 columns."""
    return (rows + COLUMNS - 1) // COLUMNS * (inputs // BLOCK) * RECORD_BYTES


@intrinsic
def _quantize_block(typing_context: Any, values: Any, record: Any, column: Any, width: Any) -> Any:
    """What `quantize_block` does, on any CPU: numba's own loops take four times as long."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        address, record, column, width = arguments
        values = load(builder, address, 0, _FLOATS, 4)
        magnitudes = call(builder, "llvm.fabs.v32f32", _FLOATS, [values])
        largest = call(builder, "llvm.vector.reduce.fmax.v32f32", FLOAT, [magnitudes], ("nnan",))
        positive = builder.fcmp_ordered(">", largest, FLOAT(0.0))
        inverse = builder.select(positive, builder.fdiv(FLOAT(127.0), largest), FLOAT(0.0))
        shift = ir.Constant(_FLOATS, [_ROUND] * BLOCK)
        scaled = builder.fmul(values, broadcast(builder, inverse, BLOCK))
        rounded = builder.fsub(builder.fadd(scaled, shift), shift)
        quants = builder.fptosi(rounded, _INTEGERS)
        narrow = builder.trunc(quants, ir.VectorType(I8, BLOCK))
        fours = builder.bitcast(narrow, ir.VectorType(I32, BLOCK // 4))
        start = builder.add(record, builder.mul(column, I64(4)))
        for group in range(BLOCK // 4):
            target = builder.add(start, builder.mul(width, I64(4 * group)))
            store(builder, target, builder.extract_element(fours, I32(group)))
        first, second = (
            call(builder, "llvm.vector.reduce.add.v16i32", I32, [part(builder, quants, half, 16)])
            for half in (0, 16)
        )
        total = builder.add(first, second)
        scale = builder.fmul(largest, FLOAT(1.0 / 127.0))
        fields = {
            SCALE: scale,
            SCALED_SUM: builder.fmul(scale, builder.sitofp(total, FLOAT)),
            OFFSET_SUM: builder.mul(total, I32(-128)),
            FIRST_SUM: builder.mul(first, I32(-32)),
        }
        for offset, value in fields.items():
            store(builder, builder.add(start, builder.mul(width, I64(offset))), value)
        return context.get_dummy_value()

    return types.void(*[types.int64] * 4), emit


@njit
def quantize_block(values: int, buffer: int, rows: int, row: int, block: int, blocks: int) -> None:
    """Quantize the 32 float32 at address `values` to int8, rounding to nearest.

    They are block `block` of `blocks` of row `row` of `rows` in the column buffer.
    """
    if rows == 1:
        _quantize_block(values, buffer + block * SINGLE_BYTES, 0, 1)
    else:
        record = buffer + ((row // COLUMNS) * blocks + block) * RECORD_BYTES
        _quantize_block(values, record, row % COLUMNS, COLUMNS)


@njit
def quantize_row(values: int, buffer: int, rows: int, row: int, blocks: int) -> None:
    """Quantize row `row` of `rows`: `blocks` blocks of float32 at address `values`."""
    for block in range(blocks):
        quantize_block(values + 4 * BLOCK * block, buffer, rows, row, block, blocks)


@njit
def own_columns(buffer: int, part: int, blocks: int) -> int:
    """Where a share has the columns of a single row for itself alone."""
    return buffer + part * blocks * SINGLE_BYTES
