"""What a model makes of text whose continuation is known, and what the reference made of it."""

from pathlib import Path

import numpy as np

PIECE = 128  # tokens at a time: logits of 512 would be 100 MB
DATA = Path(__file__).parent.parent / "data"


def recorded(name):
    """Of make_reference.py: ids and best (windows, 512), likely (windows, 511)."""
    with np.load(DATA / f"{name}_reference.npz") as data:
        return {name: data[name] for name in data.files}


def judge(model, ids):
    """Our most likely next tokens (n,), and log-probabilities of the real ones (n - 1,)."""
    cache, best, likely = model.new_cache(), [], []
    for start in range(0, len(ids), PIECE):
        logits = model.forward(ids[start : start + PIECE].astype(np.int32), cache, want="all")
        following = ids[start + 1 : start + PIECE + 1]
        best.append(logits.argmax(axis=1))
        logits -= logits.max(axis=1, keepdims=True)
        chosen = logits[np.arange(len(following)), following]
        sums = np.exp(logits, out=logits).sum(axis=1, dtype=np.float64)
        likely.append(chosen - np.log(sums[: len(following)]))
    return np.concatenate(best), np.concatenate(likely)
