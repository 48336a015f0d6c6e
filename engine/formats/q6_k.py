"""Q6_K: blocks of 256 weights in 210 bytes: `low (128,), high (64,), scales int8 (16,), scale f16`.

Every 16 weights share an 8-bit factor of the block's scale. Quants have 4 low bits, in planes of 64
weights, and 2 high bits, in planes of 32. weight = scale · factor · (quant - 32).
"""

import numpy as np
from numpy.typing import NDArray

from engine.formats.bits import bit_planes, inverse, join_planes, times
from engine.formats.packed import BLOCK, SUPER, Blocks
from engine.formats.search import best_scales

_LAYOUT = np.dtype([("low", "u1", 128), ("high", "u1", 64), ("scales", "i1", 16), ("scale", "<f2")])


def _scaled(blocks: NDArray[np.void]) -> NDArray[np.float32]:
    """Scales of every 16 weights: float32 (…, 16)."""
    scales: NDArray[np.float32] = blocks["scale"].astype(np.float32)[..., None] * blocks["scales"]
    return scales


def _codes(blocks: NDArray[np.void]) -> NDArray[np.uint8]:
    """uint8 (…, 256) of 0..63."""
    return bit_planes(blocks["low"], 64, 4) | bit_planes(blocks["high"], 32, 2) << np.uint8(4)


def dequantize(data: NDArray[np.uint8], shape: tuple[int, ...]) -> NDArray[np.float32]:
    """uint8 bytes → float32 of `shape`."""
    blocks = data.view(_LAYOUT)
    return times(_scaled(blocks), _codes(blocks).view(np.int8) - np.int8(32)).reshape(shape)


def quantize(
    values: NDArray[np.float32], importance: NDArray[np.float32] | None = None
) -> NDArray[np.uint8]:
    """float32 → uint8 bytes, the scales searched for; large weights count more.

    importance: how much each weight's squared error counts instead.
    """
    grouped = values.reshape(-1, 16)
    weights = grouped * grouped if importance is None else importance.reshape(grouped.shape)
    exact = best_scales(grouped, 32, weights).reshape(-1, 16)
    extreme = np.take_along_axis(exact, np.abs(exact).argmax(axis=1)[:, None], axis=1)
    blocks = np.zeros(len(exact), _LAYOUT)
    blocks["scale"] = extreme[:, 0] / np.float32(-128)
    blocks["scales"] = np.minimum(np.rint(exact * inverse(extreme) * -128), 127)
    quants = np.rint(grouped * inverse(_scaled(blocks).reshape(-1, 1)))
    codes = (np.clip(quants, -32, 31) + 32).astype(np.uint8).reshape(-1, 256)
    blocks["low"] = join_planes(codes & np.uint8(15), 64, 4)
    blocks["high"] = join_planes(codes >> np.uint8(4), 32, 2)
    return blocks.view(np.uint8)


def to_blocks(data: NDArray[np.uint8], rows: int, columns: int) -> Blocks:
    """uint8 bytes → 6-bit blocks of 32 in super-blocks of 256, as in the file."""
    blocks = data.view(_LAYOUT).reshape(rows, columns // SUPER)
    quants = _codes(blocks).reshape(rows, -1, BLOCK)
    return Blocks(SUPER + 6, quants, blocks["scale"], factors=blocks["scales"])
