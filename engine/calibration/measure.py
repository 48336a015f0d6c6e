"""How well a model predicts a text, with small activations made zero or not, and how fast."""

import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from engine.errors import EngineError
from engine.model import Model
from engine.sparsity.predictor import Predictor
from engine.tokenizer import Tokenizer

WINDOW = 512
"""Tokens that are read as one sequence."""
LEAST_TOKENS = 256
_CONTEXT = 16  # before tokens that are timed
_PIECE = 128  # tokens at a time: logits of 512 would be 100 MB and more

Tokens = NDArray[np.int32]


def text_tokens(model: Model, text: Path, most: int = 1 << 17) -> Tokens:
    """The first tokens of a UTF-8 text file; EngineError if they are too few."""
    words = text.read_text(encoding="utf-8", errors="replace")
    ids = Tokenizer(model.gguf.metadata).encode(words, add_special=False)[:most]
    if len(ids) < LEAST_TOKENS:
        raise EngineError(
            f"{text.name} has {len(ids)} tokens; at least {LEAST_TOKENS}, better thousands, are"
            " needed"
        )
    return np.asarray(ids, np.int32)


def perplexity(
    model: Model,
    tokens: Tokens,
    thresholds: Sequence[float] | None = None,
    predictor: Predictor | None = None,
) -> float:
    """Of all tokens but the first of each window.

    thresholds: of each layer's activations; what is smaller counts as zero, as it does where tokens
    are decoded one by one. predictor: the same with what it does not expect to be positive.
    """
    before, skipped = model.program, model.skips
    changed = thresholds is not None or predictor is not None
    if changed:
        model.use_program(model.with_zeros(thresholds, predictor))
    total, count, size = 0.0, 0, min(WINDOW, model.config.context_length)
    try:
        for start in range(0, tokens.size - 1, size):
            window = tokens[start : start + size]
            total -= log_likelihood(model, window)
            count += window.size - 1
    finally:
        if changed:
            model.use_program(before)
            model.skips = skipped
    return float(np.exp(total / count))


def decode_seconds(model: Model, skips: bool, tokens: int) -> float:
    """Of a token that follows the most likely one."""
    model.skips = skips
    cache = model.new_cache()
    logits = model.forward(np.arange(1, _CONTEXT + 1, dtype=np.int32), cache)
    start = time.perf_counter()
    for _ in range(tokens):
        logits = model.forward(logits.argmax(axis=1).astype(np.int32), cache)
    return (time.perf_counter() - start) / tokens


def alternately(turns: Sequence[Callable[[], float]], rounds: int) -> list[list[float]]:
    """Seconds of each of some functions, which take turns."""
    found: list[list[float]] = [[] for _ in turns]
    for _ in range(rounds):
        for times, turn in zip(found, turns, strict=True):
            times.append(turn())
    return found


def silent(stage: str, fraction: float) -> None:
    """Progress that nobody watches."""


def log_likelihood(model: Model, ids: Tokens) -> float:
    """Σ log p of every token of a window (n,) but the first."""
    cache, total = model.new_cache(), 0.0
    for start in range(0, ids.size, _PIECE):
        piece = ids[start : start + _PIECE]
        logits = model.forward(piece, cache, want="all").astype(np.float64)
        following = ids[start + 1 : start + _PIECE + 1]
        logits -= logits.max(axis=1, keepdims=True)
        chosen = logits[np.arange(following.size), following]
        total += float((chosen - np.log(np.exp(logits).sum(axis=1)[: following.size])).sum())
    return total
