"""Logits → the next token of each row, at the end of the model's own step.

The rule is that of `sampling.Sampler`, its plain form: temperature, then top-k, top-p and min-p.
Nothing is sorted: where a running sum of falling weights crosses a bound is found by partition
(weighted quickselect), among the few tokens that are likely enough to matter.
"""

from typing import Any

import numpy as np
from numba import njit

from engine.kernels.arithmetic import LOWEST_EXPONENT, exponential
from engine.kernels.choice_layout import (
    CHUNK,
    MIN_P,
    RECORD_SLOTS,
    TEMPERATURE,
    TOKEN,
    TOP_K,
    TOP_P,
    UNIFORM,
)
from engine.kernels.intrinsics import (
    addresses,
    bits_to_float,
    doubles,
    float_to_bits,
    floats,
    integers,
)
from engine.kernels.program import CHOICES, LOGITS, ROWS, share

LEAST_WEIGHTS = (0.05, 2e-3, 1e-4, 1e-6, 1e-38)
"""Of tokens that are looked at, against the most likely one's; lower ones where these are not
enough. The last leaves out what has no weight at all."""


def choose(operands: Any, step: Any, part: int, parts: int) -> None:
    """Operation: the token of each row that has a record, into that record.

    operands: floats of a row of logits; vocabulary; address of room for the shares; bytes of it
    each. Rows are shared among threads.
    """
    if step[CHOICES] == 0:
        return
    rows, vocabulary = step[ROWS], operands[1]
    records = addresses(step[CHOICES], rows)
    room = operands[2] + operands[3] * part
    first, last = share(rows, part, parts)
    for row in range(first, last):
        if records[row] != 0:
            record = doubles(records[row], RECORD_SLOTS)
            logits = floats(step[LOGITS] + 4 * row * operands[0], vocabulary)
            record[TOKEN] = _next_token(logits, record, room)


@njit
def _next_token(logits: np.ndarray, record: np.ndarray, room: int) -> int:
    """The token, -1 where the highest logit is not finite; room: see `choice_layout`."""
    size = logits.size
    chunks = (size + CHUNK - 1) // CHUNK
    sums = doubles(room, chunks)
    highest = floats(room + 8 * chunks, chunks)
    weights, kept = floats(room + 12 * chunks, size), floats(room + 12 * chunks + 4 * size, size)
    tokens = integers(room + 12 * chunks + 8 * size, size)
    best: int = _likeliest(logits, integers(room + 8 * chunks, chunks))
    if not np.isfinite(logits[best]):
        return -1
    if record[TEMPERATURE] == 0.0:
        return best
    _weigh(logits, logits[best], np.float32(record[TEMPERATURE]), weights, sums, highest)
    token: int
    unlimited = record[TOP_K] == 0.0 or record[TOP_K] >= size
    if unlimited and record[TOP_P] == 1.0 and record[MIN_P] == 0.0:
        token = _draw_from_all(weights, sums, record[UNIFORM])
    else:
        token = _draw_from_likely(weights, sums, highest, record, kept, tokens)
    return token


@njit(inline="always")
def _rank(x: np.float32) -> np.int32:
    """An integer that is greater the greater x is; −0 is 0, and NaN is beyond infinity."""
    bits = float_to_bits(x + np.float32(0.0))
    rank: np.int32 = bits ^ ((bits >> np.int32(31)) & np.int32(0x7FFFFFFF))
    return rank


@njit
def _likeliest(logits: np.ndarray, ranks: np.ndarray) -> int:
    """The first of the highest logits; ranks: int32 (chunks,) of room. Integers, because the
    greatest of floats, which may be NaN, is not found with vectors."""
    for chunk in range(ranks.size):
        rank = np.int32(-(2**31))
        values = logits[chunk * CHUNK : (chunk + 1) * CHUNK]
        for i in range(values.size):
            rank = max(rank, _rank(values[i]))
        ranks[chunk] = rank
    best = 0
    for chunk in range(1, ranks.size):
        if ranks[chunk] > ranks[best]:
            best = chunk
    token = best * CHUNK
    while _rank(logits[token]) != ranks[best]:
        token += 1
    return token


@njit
def _weigh(
    logits: np.ndarray,
    most: np.float32,
    temperature: np.float32,
    weights: np.ndarray,
    sums: np.ndarray,
    highest: np.ndarray,
) -> None:
    """weights = exp((x − most) / temperature), the largest 1; sums and highest ones of chunks."""
    for chunk in range(sums.size):
        x = logits[chunk * CHUNK : (chunk + 1) * CHUNK]
        made = weights[chunk * CHUNK : (chunk + 1) * CHUNK]
        high = np.int32(0)
        for i in range(x.size):
            exponent = (x[i] - most) / temperature
            weight = exponential(exponent)
            made[i] = weight if exponent >= LOWEST_EXPONENT else np.float32(0.0)
            high = max(high, float_to_bits(weight))  # bits of numbers ≥ 0 have their order
        highest[chunk] = bits_to_float(high)
        sums[chunk] = _sum(made)


@njit(fastmath={"reassoc", "nsz"})
def _sum(weights: np.ndarray) -> float:
    total = 0.0
    for i in range(weights.size):
        total += np.float64(weights[i])
    return total


@njit
def _draw_from_all(weights: np.ndarray, sums: np.ndarray, uniform: float) -> int:
    """Where a number from [0, 1) falls among weights in the order of tokens; never on a 0."""
    total = 0.0
    for chunk in range(sums.size):
        total += sums[chunk]
    target, passed, last = uniform * total, 0.0, 0
    for chunk in range(sums.size):
        if sums[chunk] > 0.0:
            last = chunk
            if passed + sums[chunk] > target:
                break
            passed += sums[chunk]
    token = 0
    for i in range(last * CHUNK, min((last + 1) * CHUNK, weights.size)):
        if weights[i] > np.float32(0.0):
            token = i
            passed += np.float64(weights[i])
            if passed > target:
                break
    return token


@njit
def _draw_from_likely(
    weights: np.ndarray,
    sums: np.ndarray,
    highest: np.ndarray,
    record: np.ndarray,
    kept: np.ndarray,
    tokens: np.ndarray,
) -> int:
    """Draw from what top-k, top-p and min-p leave, as if it lay there by falling weight."""
    total, share_kept = sums.sum(), record[TOP_P]
    limit = int(record[TOP_K]) if record[TOP_K] < weights.size else 0
    count, mass = 0, 0.0
    if limit == 0 and share_kept == 1.0:
        count, mass = _gather(weights, highest, np.float32(record[MIN_P]), kept, tokens)
    else:
        for least in LEAST_WEIGHTS:
            count, mass = _gather(weights, highest, np.float32(least), kept, tokens)
            if count >= limit > 0 or (limit == 0 and mass >= share_kept * total):
                break
    if limit > 0:
        count, total = _lead(kept, tokens, count, np.inf, limit)
    if share_kept < 1.0:
        count, total = _lead(kept, tokens, count, share_kept * total, count)
    count, total = _at_least(kept, tokens, count, np.float32(record[MIN_P]))
    smallest = 5e-324  # the first token for 0, too
    count, total = _lead(kept, tokens, count, max(record[UNIFORM] * total, smallest), count)
    token: int = tokens[count - 1]
    return token


@njit
def _gather(
    weights: np.ndarray,
    highest: np.ndarray,
    least: np.float32,
    kept: np.ndarray,
    tokens: np.ndarray,
) -> tuple[int, float]:
    """Tokens at least so likely and their weights, in order; how many, and the sum."""
    count, mass = 0, 0.0
    for chunk in range(highest.size):
        if highest[chunk] >= least:
            for i in range(chunk * CHUNK, min((chunk + 1) * CHUNK, weights.size)):
                if weights[i] >= least:
                    kept[count], tokens[count] = weights[i], i
                    mass += np.float64(weights[i])
                    count += 1
    return count, mass


@njit
def _at_least(
    kept: np.ndarray, tokens: np.ndarray, count: int, least: np.float32
) -> tuple[int, float]:
    """Of the first tokens, move those at least so likely to the front; how many, and the sum."""
    left, mass = 0, 0.0
    for i in range(count):
        if kept[i] >= least:
            _swap(kept, tokens, left, i)
            mass += np.float64(kept[left])
            left += 1
    return left, mass


@njit
def _lead(
    kept: np.ndarray, tokens: np.ndarray, count: int, mass: float, most: int
) -> tuple[int, float]:
    """The fewest of the most likely tokens whose weights reach a mass, at most `most` of them: how
    many, and their sum.

    They are moved to the front, the least likely of them last. kept, tokens: weights and tokens,
    the first `count` of which are looked at; of equal weights the smaller token comes first.
    Quickselect: the tokens before `first` belong to them, those from `last` on do not.
    """
    first, last, taken = 0, count, 0.0
    while last - first > 1:
        _swap(kept, tokens, (first + last) // 2, last - 1)
        weight, token = kept[last - 1], tokens[last - 1]
        at, above = first, 0.0
        for i in range(first, last - 1):
            if kept[i] > weight or (kept[i] == weight and tokens[i] < token):
                above += np.float64(kept[i])
                _swap(kept, tokens, at, i)
                at += 1
        _swap(kept, tokens, at, last - 1)
        if taken + above >= mass or at >= most:
            last = at
        else:
            taken += above + np.float64(weight)
            first = at + 1
            if taken >= mass or first >= most:
                return first, taken
    return (last, taken + np.float64(kept[first])) if last > first else (first, taken)


@njit(inline="always")
def _swap(kept: np.ndarray, tokens: np.ndarray, i: int, j: int) -> None:
    kept[i], kept[j] = kept[j], kept[i]
    tokens[i], tokens[j] = tokens[j], tokens[i]
