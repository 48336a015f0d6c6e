"""Keys and values of positions, out of KV blocks and into others, keys turned to another place.

RoPE turns a key by an angle that grows with its position, so a key that was computed at one
position becomes that of another by the difference of the two angles (Su et al. 2021). Values know
no position. Knows the form of a block (see kernels.kv_layout), nothing of tokens.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.architectures.rope import RopeTable
from engine.kernels.kv_layout import BLOCK_TOKENS, BYTE, GROUP, HALF_BYTES, KVLayout

Array = NDArray[Any]

_LANES = 16
_TILES = BLOCK_TOKENS // _LANES
_ZERO = 128
"""A key of 0, where keys are bytes."""


class Positions(NamedTuple):
    """Keys and values of n positions, of all heads of all layers, as numbers of the cache."""

    keys: Array
    """(n, heads, head_dim): uint8, float16 or float32."""
    values: Array
    """(n, heads, head_dim): int8, float16 or float32."""
    key_scales: Array
    """float16 (n, heads, head_dim / GROUP) where numbers are bytes, else empty."""
    value_scales: Array
    """float16 (n, heads) where numbers are bytes, exponents of two, else empty."""

    def part(self, first: int, last: int) -> "Positions":
        """Those from `first` to before `last`."""
        return Positions(*(field[first:last] for field in self))


class _Views(NamedTuple):
    """The parts of a block, each an array that is the block itself, positions first."""

    keys: Array
    values: Array
    key_scales: Array
    value_scales: Array


def _views(record: NDArray[np.uint8], layout: KVLayout) -> _Views:
    """record: uint8 (`layout.record`). Of bytes: keys (tiles, lanes, heads, …), values
    (2, 8, 2, heads, …), see `kv_layout.value_place`."""
    dim, size, heads = layout.head_dim, layout.number_bytes, layout.layers * layout.kv_heads
    key_bytes = size * BLOCK_TOKENS * dim
    keys, values = record[:, 0, :key_bytes], record[:, 1, :key_bytes]
    if size != BYTE:
        kind = np.float16 if size == HALF_BYTES else np.float32
        as_keys = keys.view(kind).reshape(heads, dim, BLOCK_TOKENS).transpose(2, 0, 1)
        as_values = values.view(kind).reshape(heads, BLOCK_TOKENS, dim).transpose(1, 0, 2)
        none = np.empty((BLOCK_TOKENS, 0))
        return _Views(as_keys, as_values, none.astype(np.float16), none.astype(np.float16))
    groups = dim // GROUP
    scales = record[:, 0, key_bytes:].view(np.float16)
    value_scales = record[:, 1, key_bytes : key_bytes + 2 * BLOCK_TOKENS].view(np.float16)
    return _Views(
        keys.reshape(heads, groups, 8, _TILES, _LANES, 4).transpose(3, 4, 0, 1, 2, 5),
        values.view(np.int8)
        .reshape(heads, groups, BLOCK_TOKENS // 4, GROUP // _LANES, _LANES, 2, 2)
        .transpose(6, 2, 5, 0, 1, 3, 4),
        scales.reshape(heads, _TILES, groups, _LANES).transpose(1, 3, 0, 2),
        value_scales.reshape(heads, BLOCK_TOKENS).T,
    )


def read_block(record: NDArray[np.uint8], layout: KVLayout) -> Positions:
    """All BLOCK_TOKENS positions of a block, uint8 (`layout.record`), as a copy."""
    views = _views(record, layout)
    heads = layout.layers * layout.kv_heads
    numbers = (BLOCK_TOKENS, heads, layout.head_dim)
    return Positions(
        views.keys.reshape(numbers).copy(),
        views.values.reshape(numbers).copy(),
        views.key_scales.reshape(BLOCK_TOKENS, heads, -1).copy()
        if layout.number_bytes == BYTE
        else views.key_scales,
        views.value_scales.copy(),
    )


def write_block(
    record: NDArray[np.uint8], layout: KVLayout, first: int, positions: Positions
) -> None:
    """Put positions into a block, from its position `first` on; the others stay, bit by bit."""
    whole = read_block(record, layout)
    for field, new in zip(whole, positions, strict=True):
        if field.size:
            field[first : first + len(new)] = new
    for view, field in zip(_views(record, layout), whole, strict=True):
        view[...] = field.reshape(view.shape)


def joined(parts: list[Positions]) -> Positions:
    """Positions one after the other."""
    return Positions(*(np.concatenate(fields) for fields in zip(*parts, strict=True)))


class KeyTurner:
    """Turns keys to other positions."""

    def __init__(self, angles: RopeTable, *, halves_apart: bool) -> None:
        """angles: of all layers; halves_apart: which elements of a head are rotated together, as
        in kernels.rotation."""
        self._angles = angles
        self._halves_apart = halves_apart

    def turned(self, positions: Positions, was: int, now: int) -> Positions:
        """Positions that began at `was`, as if they began at `now`."""
        if was == now or not len(positions.keys):
            return positions
        keys = self._rotate(_floats(positions), *self._turn(was, now))
        if positions.keys.dtype != np.uint8:
            return positions._replace(keys=keys.astype(positions.keys.dtype))
        numbers, scales = _quantized(keys)
        return positions._replace(keys=numbers, key_scales=scales)

    def _turn(self, was: int, now: int) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """cos and sin, (pairs,), of the angle between two positions: the same for all that lie as
        far apart. A table's entries may be longer than 1, by the same amplitude."""
        table = self._angles.first(max(was, now) + 1)
        (cos_was, sin_was), (cos_now, sin_now) = table[was].T, table[now].T
        square = cos_was**2 + sin_was**2
        cos = (cos_now * cos_was + sin_now * sin_was) / square
        return cos, (sin_now * cos_was - cos_now * sin_was) / square

    def _rotate(
        self, keys: NDArray[np.float32], cos: NDArray[np.float32], sin: NDArray[np.float32]
    ) -> NDArray[np.float32]:
        """keys: float32 (n, heads, head_dim); gives them rotated, in place."""
        pairs = len(cos)
        if self._halves_apart:
            a, b = keys[..., :pairs], keys[..., pairs : 2 * pairs]
        else:
            a, b = keys[..., 0 : 2 * pairs : 2], keys[..., 1 : 2 * pairs : 2]
        a[...], b[...] = a * cos - b * sin, a * sin + b * cos
        return keys


def _floats(positions: Positions) -> NDArray[np.float32]:
    """The keys as float32 (n, heads, head_dim), a copy."""
    keys = positions.keys.astype(np.float32)
    if positions.keys.dtype == np.uint8:
        keys = (keys - _ZERO) * np.repeat(positions.key_scales.astype(np.float32), GROUP, axis=2)
    return keys


def _quantized(keys: NDArray[np.float32]) -> tuple[Array, Array]:
    """Keys as bytes with their scales, as kernels.rotation.store_bytes makes them."""
    grouped = keys.reshape(*keys.shape[:2], -1, GROUP)
    scales = (np.abs(grouped).max(axis=3) / np.float32(127)).astype(np.float16)
    wide = scales.astype(np.float32)[..., None]
    inverse = np.divide(np.float32(1), wide, out=np.zeros_like(wide), where=wide > 0)
    numbers = np.clip(np.rint(grouped * inverse), -127, 127) + _ZERO
    return numbers.astype(np.uint8).reshape(keys.shape), scales
