"""TQ1_0: blocks of 256 weights of -1, 0 or 1 in 54 bytes: `fives (48,), fours (4,), scale f16`.

A byte holds five ternary digits as a fraction: ⌈256 · number / 243⌉. Times 3, what runs over the
byte is the first digit; then the rest gives the next. Digit i of the first 32 bytes is the i-th run
of 32 weights; then 16 bytes for 5 runs of 16, and 4 bytes for 4 runs of 4.
weight = scale · (digit - 1). Source: dequantize_row_tq1_0 in ggml-quants.c.
"""

import numpy as np
from numpy.typing import NDArray

from engine.formats.packed import BLOCK, Blocks

_LAYOUT = np.dtype([("fives", "u1", 48), ("fours", "u1", 4), ("scale", "<f2")])
_POWERS = np.array([1, 3, 9, 27, 81], np.uint8)[:, None]


def _run(packed: NDArray[np.uint8], digits: int) -> NDArray[np.uint8]:
    """Bytes of `digits` digits each: uint8 (…, n) → uint8 (…, digits · n) of 0..2."""
    shifted = packed[..., None, :] * _POWERS[:digits]  # what runs over is gone: digits before
    values = (shifted.astype(np.uint16) * 3 >> 8).astype(np.uint8)
    return values.reshape(*packed.shape[:-1], -1)


def _digits(blocks: NDArray[np.void]) -> NDArray[np.uint8]:
    """uint8 (…, 256) of 0..2."""
    fives, fours = blocks["fives"], blocks["fours"]
    runs = [_run(fives[..., :32], 5), _run(fives[..., 32:], 5), _run(fours, 4)]
    return np.concatenate(runs, axis=-1)


def dequantize(data: NDArray[np.uint8], shape: tuple[int, ...]) -> NDArray[np.float32]:
    """uint8 bytes → float32 of `shape`."""
    blocks = data.view(_LAYOUT)
    scales = blocks["scale"].astype(np.float32)[:, None]
    return (scales * (_digits(blocks).astype(np.float32) - 1)).reshape(shape)


def to_blocks(data: NDArray[np.uint8], rows: int, columns: int) -> Blocks:
    """uint8 bytes → 4-bit blocks of 32 with minimum -scale: the same numbers."""
    blocks = data.view(_LAYOUT).reshape(rows, columns // 256)
    scales = blocks["scale"].repeat(256 // BLOCK, axis=1)
    return Blocks(4, _digits(blocks).reshape(rows, -1, BLOCK), scales, -scales)
