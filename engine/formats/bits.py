"""Small fields out of packed bytes: what the quantized formats share."""

import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]


def bit_planes(packed: Bytes, width: int, bits: int) -> Bytes:
    """Fields of `bits` bits (1, 2 or 4): uint8 (…, n) → uint8 (…, n · 8 / bits).

    ggml packs planes: of every `width` bytes, the lowest bits are `width` weights in a row, the
    next bits the following `width` weights, and so on.
    """
    shifts = np.arange(0, 8, bits, dtype=np.uint8)[:, None]
    planes = packed.reshape(*packed.shape[:-1], -1, 1, width) >> shifts
    fields = planes & np.uint8((1 << bits) - 1)
    return fields.reshape(*packed.shape[:-1], -1)


def join_planes(fields: Bytes, width: int, bits: int) -> Bytes:
    """The inverse of `bit_planes`: uint8 (…, n · 8 / bits) → uint8 (…, n)."""
    shifts = np.arange(0, 8, bits, dtype=np.uint8)[:, None]
    planes = fields.reshape(*fields.shape[:-1], -1, 8 // bits, width) << shifts
    joined: Bytes = np.bitwise_or.reduce(planes, axis=-2)
    return joined.reshape(*fields.shape[:-1], -1)


def inverse(scales: NDArray[np.float32]) -> NDArray[np.float32]:
    """1 / scale, and 0 for a scale of 0 or so small that its inverse is infinite."""
    large = np.abs(scales) >= np.finfo(np.float32).tiny
    return np.divide(1, scales, out=np.zeros_like(scales), where=large)


def as_stored(scales: NDArray[np.float32]) -> NDArray[np.float32]:
    """Rounded to the half floats that a block holds: quants are best for what is multiplied."""
    return scales.astype(np.float16).astype(np.float32)


def scales_and_minimums(packed: Bytes) -> tuple[Bytes, Bytes]:
    """The 6-bit scales and minimums of Q4_K and Q5_K: uint8 (…, 12) → two of uint8 (…, 8).

    The first four scales are the low 6 bits of bytes 0-3, the first four minimums those of bytes
    4-7. The others have their low 4 bits in the nibbles of bytes 8-11 and their high 2 bits at the
    top of bytes 0-3 and 4-7.
    """
    first, second, last = packed[..., :4], packed[..., 4:8], packed[..., 8:]
    scales = np.concatenate([first & 63, last & 15 | first >> 2 & 48], axis=-1)
    minimums = np.concatenate([second & 63, last >> 4 | second >> 2 & 48], axis=-1)
    return scales, minimums


def scaled_with_minimums(
    blocks: NDArray[np.void],
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Scales and minimums of every 32 weights of Q4_K and Q5_K blocks: float32 (…, 8) each."""
    scales, minimums = scales_and_minimums(blocks["scales"])
    return (
        blocks["scale"].astype(np.float32)[..., None] * scales,
        blocks["minimum"].astype(np.float32)[..., None] * minimums,
    )


def join_scales_and_minimums(scales: Bytes, minimums: Bytes) -> Bytes:
    """The inverse of `scales_and_minimums`: two of uint8 (…, 8) of 0..63 → uint8 (…, 12)."""
    first = scales[..., :4] | scales[..., 4:] >> 4 << 6
    second = minimums[..., :4] | minimums[..., 4:] >> 4 << 6
    last = scales[..., 4:] & 15 | minimums[..., 4:] << 4
    return np.concatenate([first, second, last], axis=-1)


def times(factors: NDArray[np.float32], values: NDArray[np.generic]) -> NDArray[np.float32]:
    """float32 factors (…, n) · values (…, n · k): each factor for k values in a row."""
    grouped = values.reshape(*factors.shape, -1).astype(np.float32)
    return (factors[..., None] * grouped).reshape(values.shape)
