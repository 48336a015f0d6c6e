"""Attention and what it is made of against its NumPy twin, on every path that this CPU can run."""

import importlib
import itertools

import numpy as np
import pytest
from numba import njit

from engine import reference
from engine.kernels.attention import attention, attention_scratch_bytes
from engine.kernels.attention_part import PART
from engine.kernels.attention_pieces import ARRIVAL_BYTES, attention_shared_bytes
from engine.kernels.byte_attention import attention_to_bytes, byte_scratch_bytes
from engine.kernels.byte_part import integer_power
from engine.kernels.byte_scores import HIDDEN, block_scorer, levels
from engine.kernels.byte_weights import weigh_block
from engine.kernels.columns import column_buffer_bytes, quantize_row
from engine.kernels.kv_layout import BYTE, LEAST_EXPONENT, KVLayout, blocks_for, value_place
from engine.kernels.rotation import logarithm, rope_store
from engine.kernels.softmax import LOWEST, softmax_part
from engine.kv import BlockPool
from engine.threads import ThreadPool
from tests.engine.kernel_runs import PATHS, RNG, aligned, float_bits, floats, run


@pytest.fixture(scope="module")
def pool():
    made = ThreadPool(2)
    yield made
    made.close()


def paged(lengths, sizes, kind):
    """Blocks for sequences of these lengths, in any order, NaN where nothing is written.

    → their pool (keep it), and the block table of each sequence.
    """
    layout = KVLayout(*sizes, number_bytes=np.dtype(kind).itemsize)
    counts = [blocks_for(length) for length in lengths]
    pool = BlockPool(layout, sum(counts))
    for block in range(pool.blocks):
        pool.record(block)[...] = 0xFF
    addresses = np.array([pool.address(block) for block in RNG.permutation(pool.blocks)], np.int64)
    return pool, np.split(addresses, np.cumsum(counts)[:-1])


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
            most = 127 if path in ("avx2", "neon", "armv8") else 255
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
    of_bytes = scores[3] == BYTE
    scratch_bytes = byte_scratch_bytes if of_bytes else attention_scratch_bytes
    bytes_each = scratch_bytes(heads, kv_heads, dim)
    scratch, shared = aligned(2 * bytes_each), aligned(attention_shared_bytes(heads, dim, 800))
    shared[:ARRIVAL_BYTES] = 0
    addresses = (qkv.ctypes.data, out.ctypes.data, *sizes, scratch.ctypes.data, bytes_each)
    operands = (*addresses, *scores, shared.ctypes.data, ARRIVAL_BYTES + room)
    for _ in range(2):  # the second time, counters are as the first one left them
        out[:] = np.nan
        operation = attention_to_bytes if of_bytes else attention
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


@pytest.mark.parametrize("path", [p for p in ("avx512vnni", "avx2", "portable") if p in PATHS])
def test_weights_of_a_block(path):
    """Of 3 and 9 columns; what is not seen has no weight, and what is not written may be NaN."""
    dot = importlib.import_module(f"engine.kernels.{path}").DOT
    score, most, blocks, group = block_scorer(dot), levels(dot), 2, 3

    @njit
    def weigh(scores, bases, inverses, weights, sums, columns):
        weigh_block(scores, bases, inverses, weights, sums, columns)

    for columns, visible, window, written in [
        (3, 32, 1 << 40, 32),
        (3, 5, 1 << 40, 7),
        (9, 1, 1 << 40, 3),
        (9, 40, 20, 32),
        (9, -1, 1 << 40, 1),
    ]:
        keys = RNG.integers(1, 256, (blocks, 8, 2, 16, 4)).astype(np.uint8)
        widths = RNG.uniform(0.005, 0.02, (2, blocks, 16)).astype(np.float16)
        record = np.concatenate([keys.view(np.uint8).ravel(), widths.view(np.uint8).ravel()])
        queries, exponents = floats(columns, 32 * blocks), np.zeros((2, PART), np.float32)
        exponents[0, :written] = RNG.uniform(-9, -3, written)
        exponents[1, :written] = np.exp2(-exponents[0, :written])
        x = aligned(column_buffer_bytes(columns, 32 * blocks))
        for column in range(columns):
            quantize_row(queries[column].ctypes.data, x.ctypes.data, 8, column, blocks)
        weights = np.full((columns + 1, PART), 7, np.uint8)
        made, bases = np.zeros((columns + 1, 32), np.float32), np.zeros(16, np.float32)
        sums = np.zeros((columns, 16), np.float32)
        results = [a.ctypes.data for a in (exponents, made, bases)]
        given = (record.ctypes.data, 0, blocks, x.ctypes.data, float_bits(0.3))
        score(*given, *results, columns, visible, window, group, 0)
        inverses = exponents[1].ctypes.data
        weigh(*results[1:], inverses, weights.ctypes.data, sums.ctypes.data, columns)

        k = keys.astype(np.float64).transpose(2, 3, 0, 1, 4).reshape(32, blocks, 32) - 128
        k *= widths.astype(np.float64).transpose(0, 2, 1).reshape(32, blocks, 1)
        quants, scales = reference.quantize_activations(queries)
        q = quants * scales.astype(np.float64)[:, :, None]
        scores = 0.3 * np.einsum("cbi,pbi->cp", q, k)
        last = visible + np.arange(columns)[:, None] // group
        positions = np.arange(32)
        seen = (positions < last) & (positions >= last - window)
        powers = np.where(seen, scores + exponents[0, :32].astype(np.float64), -np.inf)
        highest = powers.max(axis=1, keepdims=True)
        some = seen.any(axis=1)
        peaks = bases[:columns] + np.log2(most)
        np.testing.assert_allclose(peaks[some], highest[some, 0], rtol=1e-5, atol=1e-4)
        assert (made[:columns][~seen] == HIDDEN).all()
        wanted = np.exp2(powers - np.where(some[:, None], highest, 0)) * most
        found = weights[:columns, [value_place(p) for p in range(32)]]
        assert np.abs(found - wanted).max() < 0.52
        assert (found.max(axis=1)[some] == most).all()
        assert not found[~seen].any()
        assert (weights[:columns, 32:] == 7).all()
        expected = (wanted * exponents[1, :32]).sum(axis=1)
        np.testing.assert_allclose(sums[some].sum(axis=1), expected[some], rtol=1e-4)


@pytest.mark.parametrize("scale", [0.0, 1e-30, 2.0**-60, 3e-4, 0.1, 1.0, 700.0])
def test_exponents_of_scales(scale):
    exponent = logarithm(np.float32(scale))
    assert exponent == pytest.approx(np.log2(max(scale, 2.0**LEAST_EXPONENT)), abs=4e-6)
    if exponent == round(exponent) and exponent < 0:
        assert integer_power(exponent) == np.exp2(exponent)
    assert integer_power(np.float32(-127)) == 0
