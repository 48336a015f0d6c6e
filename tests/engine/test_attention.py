"""Attention and what it is made of against its NumPy twin, on every path that this CPU can run."""

import itertools

import numpy as np
import pytest

from engine import reference
from engine.kernels.attention import (
    ARRIVAL_BYTES,
    attention,
    attention_scratch_bytes,
    attention_shared_bytes,
    attention_to_bytes,
)
from engine.kernels.byte_weights import byte_weigher
from engine.kernels.kv_layout import BYTE, KVLayout, blocks_for
from engine.kernels.rotation import rope_store
from engine.kernels.softmax import LOWEST, softmax_part
from engine.threads import ThreadPool
from tests.engine.kernel_runs import PATHS, RNG, aligned, float_bits, floats, run


@pytest.fixture(scope="module")
def pool():
    made = ThreadPool(2)
    yield made
    made.close()


def paged(lengths, sizes, kind):
    """Blocks for sequences of these lengths, in any order, NaN where nothing is written.

    → records (keep them), and the block table of each sequence.
    """
    layout = KVLayout(*sizes, number_bytes=np.dtype(kind).itemsize)
    counts = [blocks_for(length) for length in lengths]
    records = np.full((sum(counts), layout.block_bytes), 0xFF, np.uint8)
    addresses = records.ctypes.data + layout.block_bytes * RNG.permutation(sum(counts))
    return records, np.split(addresses.astype(np.int64), np.cumsum(counts)[:-1])


def rows_of(parts):
    """Slots of a step for (positions before, rows, block table) of each sequence."""
    positions = [range(before, before + rows) for before, rows, _ in parts]
    tables = [[table.ctypes.data] * rows for _, rows, table in parts]
    starts = np.cumsum([0, *(rows for _, rows, _ in parts)])
    spans = [
        (first, min(9, stop - first))
        for start, stop in itertools.pairwise(starts)
        for first in range(start, stop, 9)
    ]
    arrays = {
        "positions": np.concatenate(positions).astype(np.int32),
        "tables": np.concatenate(tables).astype(np.int64),
        "spans": np.array(spans, np.int32),
    }
    return arrays | {"span_count": len(spans), "rows": int(starts[-1])}


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize(
    ("before", "counts"),
    [
        ((0,), (1,)),
        ((640,), (1,)),
        ((0,), (9,)),
        ((40, 3, 30), (3, 5, 7)),
        ((250, 3, 31), (42, 1, 10)),
    ],
)
@pytest.mark.parametrize("heads", [6, 2])
@pytest.mark.parametrize(
    ("pairs", "halves", "window", "cap", "factor"),
    [(16, 0, 1 << 40, 0, 1), (10, 1, 7, 0.5, 2), (16, 1, 130, 0, 1), (0, 0, 1, 3, 1)],
)
@pytest.mark.parametrize("kind", [np.float16, np.float32, np.uint8])
def test_attention_with_rope_and_cache(
    pool, path, before, counts, heads, pairs, halves, window, cap, factor, kind
):
    """Sequences of different lengths in one step, their second layer; all blocks shuffled.

    Whether threads hand results of parts to each other or not, they come out the same.
    """
    kv_heads, dim, size = 2, 32, np.dtype(kind).itemsize
    angles = floats(800, pairs)
    angles = np.stack([np.cos(angles), np.sin(angles)], axis=2)
    cell = np.array([angles.ctypes.data], np.int64)
    lengths = [start + rows for start, rows in zip(before, counts, strict=True)]
    _records, tables = paged(lengths, (2, kv_heads, dim), kind)
    raw = [floats(length, heads + 2 * kv_heads, dim) for length in lengths]
    sizes = (1, heads, kv_heads, dim)
    new = list(zip(before, counts, tables, strict=True))
    first = [(0, start, table) for start, _, table in new if start]
    for parts, inputs in (
        (first, [r[:start] for r, start in zip(raw, before, strict=True) if start]),
        (new, [r[start:] for r, start in zip(raw, before, strict=True)]),
    ):
        if parts:
            qkv, here = np.concatenate(inputs), rows_of(parts)
            operands = (qkv.ctypes.data, cell.ctypes.data, *sizes, pairs, halves, size)
            run(pool, rope_store, operands, path, **here)
    scale = factor / np.sqrt(dim)
    scores = (float_bits(scale), float_bits(cap), window, size)
    shared, alone = (attend(pool, path, qkv, sizes, scores, here, room) for room in (1 << 20, 0))
    np.testing.assert_array_equal(shared, alone)

    for r, start, found in zip(raw, before, np.split(shared, np.cumsum(counts)[:-1]), strict=True):
        turned = angles[: len(r)]
        rotated = reference.rope(r[:, : heads + kv_heads], turned, halves_apart=bool(halves))
        q, k, v = rotated[start:, :heads], rotated[:, heads:], r[:, heads + kv_heads :]
        if kind is np.uint8:
            most = 127 if path in ("avx2", "neon") else 255
            limits = {"scale": scale, "cap": cap, "window": window, "most": most}
            difference = np.abs(found - reference.attention_to_bytes(q, k, v, **limits))
            # a number that is rounded the other way counts for at most a 127th of the largest
            assert difference.max() < 0.03
            assert difference.mean() < 2e-4
            continue
        k, v = (x.astype(kind).astype(np.float32) for x in (k, v))
        expected = reference.attention(q, k, v, scale=scale, cap=cap, window=window)
        np.testing.assert_allclose(found, expected, atol=2e-5)


def attend(pool, path, qkv, sizes, scores, here, room):
    """`attention` of a step, where threads have `room` bytes for results of parts."""
    _, heads, kv_heads, dim = sizes
    out = np.full((here["rows"], heads, dim), np.nan, np.float32)
    bytes_each = attention_scratch_bytes(heads, kv_heads, dim)
    scratch, shared = aligned(2 * bytes_each), aligned(attention_shared_bytes(heads, dim, 800))
    shared[:ARRIVAL_BYTES] = 0
    addresses = (qkv.ctypes.data, out.ctypes.data, *sizes, scratch.ctypes.data, bytes_each)
    operands = (*addresses, *scores, shared.ctypes.data, ARRIVAL_BYTES + room)
    for _ in range(2):  # the second time, counters are as the first one left them
        out[:] = np.nan
        operation = attention_to_bytes if scores[3] == BYTE else attention
        run(pool, operation, operands, path, **here)
    assert not shared[:ARRIVAL_BYTES].any()
    return out


@pytest.mark.parametrize("size", [16, 48, 256])
def test_softmax_of_a_part(size):
    """Also of scores so far apart that weights vanish, and of those that nobody sees, NaN too."""
    for hidden, visible in [(0, size), (-3, 5), (7, size + 9), (15, 16), (0, 1), (9, 9), (size, 3)]:
        scores, state = floats(size) * np.float32(40), np.zeros(2, np.float32)
        raw = scores.astype(np.float64)
        seen = (np.arange(size) >= hidden) & (np.arange(size) < visible)
        scores[~seen] = np.nan
        arguments = (scores.ctypes.data, size // 16, hidden, visible, np.float32(0))
        softmax_part(*arguments, state.ctypes.data)
        if not seen.any():
            assert not scores.any()
            np.testing.assert_array_equal(state, [LOWEST, 0])
            continue
        highest = raw[seen].max()
        weights = np.where(seen, np.exp(np.minimum(raw - highest, 0)), 0)
        np.testing.assert_allclose(scores, weights, rtol=2e-5, atol=2e-38)
        np.testing.assert_array_equal(scores[~seen], 0)
        np.testing.assert_allclose(state, [highest, weights.sum()], rtol=1e-5)


@pytest.mark.parametrize("most", [127, 255])
@pytest.mark.parametrize("size", [32, 96, 256])
def test_weights_as_bytes(most, size):
    """Scores of a part, wherever they are seen; where they are not, scores and scales are NaN."""
    weigh = byte_weigher(most)
    for hidden, visible in [(0, size), (-3, 5), (7, size + 9), (31, 32), (0, 1), (9, 9), (size, 3)]:
        scores, value_scales = 20 * floats(size), np.abs(floats(size)) / 127
        raw, factors = scores.astype(np.float64), value_scales.astype(np.float64)
        seen = (np.arange(size) >= hidden) & (np.arange(size) < visible)
        scores[~seen] = value_scales[~seen] = np.nan
        weights, scales = np.full(size, 7, np.uint8), np.full(size // 32, np.nan, np.float32)
        state = np.zeros(2, np.float32)
        addresses = [a.ctypes.data for a in (value_scales, weights, scales, state)]
        weigh(scores.ctypes.data, size // 32, hidden, visible, *addresses)
        if not seen.any():
            assert not weights.any()
            assert not scales.any()
            np.testing.assert_array_equal(state, [LOWEST, 0])
            continue
        expected = np.where(seen, np.exp(np.minimum(raw - raw[seen].max(), 0)), 0)
        np.testing.assert_allclose(state, [raw[seen].max(), expected.sum()], rtol=1e-5)
        found = weights.reshape(-1, 32) * scales[:, None].astype(np.float64)
        expected = np.where(seen, expected * factors, 0).reshape(-1, 32)
        steps = expected.max(axis=1, keepdims=True) / most
        assert (np.abs(found - expected) <= 0.51 * steps + 1e-30).all()
        assert weights.max() == most
