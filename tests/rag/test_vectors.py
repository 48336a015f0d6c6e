"""Vectors as bytes, and the search by signs against a plain comparison."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag.vectors import SignIndex, directions, likeness, quantized, signs_of


def random_units(seed: int, count: int, dimension: int) -> np.ndarray:
    vectors = np.random.default_rng(seed).standard_normal((count, dimension)).astype(np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


@given(st.integers(0, 1000), st.sampled_from([3, 64, 100, 384, 1024]))
@settings(max_examples=40, deadline=None)
def test_bytes_keep_the_direction_and_are_the_same_the_second_time(seed, dimension):
    vector = random_units(seed, 1, dimension)[0]
    value = quantized(vector, dimension)
    again = directions([value.tobytes()], dimension)[0]
    assert again @ vector > 0.9999
    assert np.array_equal(quantized(again, dimension), value)


@given(st.integers(0, 1000), st.sampled_from([5, 64, 70, 384]), st.integers(1, 60))
@settings(max_examples=40, deadline=None)
def test_the_nearest_by_signs_are_those_with_the_fewest_differences(seed, dimension, k):
    vectors = random_units(seed, 50, dimension)
    values = np.stack([quantized(vector, dimension) for vector in vectors])
    index = SignIndex(dimension)
    for start in range(0, 50, 20):
        rows = np.arange(start, min(start + 20, 50))
        index.add(rows + 100, rows // 10, values[rows])
    index.remove(np.array([1]))
    asked = random_units(seed + 1, 1, dimension)[0]
    differences = {
        row + 100: int(((values[row] > 0) != (asked > 0)).sum())
        for row in range(50)
        if row // 10 in (0, 2)
    }
    found = index.nearest(asked, k, np.array([0, 1, 2])).tolist()
    assert len(index) == 40
    assert len(found) == len(set(found)) == min(k, len(differences))
    assert sorted(differences[i] for i in found) == sorted(differences.values())[: len(found)]


def test_of_many_the_true_neighbours_are_among_the_candidates():
    vectors = random_units(1, 20_000, 384)
    asked = vectors[:20] + 0.04 * np.random.default_rng(2).standard_normal((20, 384), np.float32)
    index = SignIndex(384)
    index.add(np.arange(20_000), np.zeros(20_000, np.int64), (vectors * 127 / 0.3).astype(np.int8))
    for row, vector in enumerate(asked):
        assert row in index.nearest(vector, 64)


def test_an_empty_index_finds_nothing():
    assert SignIndex(384).nearest(np.ones(384, np.float32), 5).tolist() == []


@pytest.mark.parametrize("bad", [np.zeros(4), np.full(4, np.nan), np.full(4, np.inf), np.ones(5)])
def test_what_is_no_vector_is_refused(bad):
    with pytest.raises(ValueError, match="not a usable vector"):
        quantized(bad.astype(np.float32), 4)


@given(st.integers(0, 1000), st.sampled_from([5, 64, 70, 384]))
@settings(max_examples=40, deadline=None)
def test_signs_alone_tell_about_the_cosine(seed, dimension):
    vectors = random_units(seed, 50, dimension)
    asked = random_units(seed + 1, 1, dimension)[0]
    asked = (vectors[0] + 0.5 * asked) / np.linalg.norm(vectors[0] + 0.5 * asked)
    signs = signs_of(vectors)
    assert len(signs) == 50 * -(-dimension // 8)
    told = likeness(signs, asked)
    halves = np.where(vectors > 0, 1.0, -1.0) @ asked * np.sqrt(np.pi / (2 * dimension))
    assert told == pytest.approx(halves, abs=1e-5)
    if dimension >= 64:
        assert np.abs(told - vectors @ asked).mean() < 1 / np.sqrt(dimension)
        assert told.argmax() == 0


def test_no_signs_are_like_nothing():
    assert likeness(b"", random_units(1, 1, 384)[0]).shape == (0,)
