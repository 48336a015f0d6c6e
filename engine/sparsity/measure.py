"""How well a model predicts a text, with small activations made zero or not."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from engine.errors import EngineError
from engine.model import Model
from engine.tokenizer import Tokenizer

WINDOW = 512
"""Tokens that are read as one sequence."""
LEAST_TOKENS = 256
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


def perplexity(model: Model, tokens: Tokens, thresholds: Sequence[float] | None = None) -> float:
    """Of all tokens but the first of each window.

    thresholds: of each layer's activations; what is smaller counts as zero, as it does where tokens
    are decoded one by one.
    """
    before, skipped = model.program, model.skips
    if thresholds is not None:
        model.use_program(model.thresholded(thresholds))
    total, count, size = 0.0, 0, min(WINDOW, model.config.context_length)
    try:
        for start in range(0, tokens.size - 1, size):
            window = tokens[start : start + size]
            total -= log_likelihood(model, window)
            count += window.size - 1
    finally:
        if thresholds is not None:
            model.use_program(before)
            model.skips = skipped
    return float(np.exp(total / count))


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
