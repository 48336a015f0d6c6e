"""What `--importance` is worth: perplexity on another text, of a model quantized with and without.

    python -m bench.quantize_importance SOURCE.gguf --text CALIBRATION.txt --other OTHER.txt
        [--to q4_0 q4_k_m …] [--windows 16]

The source is best a file of F32, F16 or BF16 weights; another one is taken as it is, and stands for
the exact model. Perplexity is over windows of 512 tokens, all but the first token of each.
"""

import argparse
import math
import tempfile
from pathlib import Path

import numpy as np

from engine.importance import WINDOW, importance_of_text
from engine.model import Model
from engine.quantize import quantize_file
from engine.tokenizer import Tokenizer

PIECE = 128  # tokens at a time: logits of 512 would be 100 MB and more


def log_likelihood(model: Model, ids: np.ndarray) -> float:
    """Σ log p of every token of a window (n,) but the first."""
    cache, total = model.new_cache(), 0.0
    for start in range(0, ids.size, PIECE):
        logits = model.forward(ids[start : start + PIECE], cache, want="all").astype(np.float64)
        following = ids[start + 1 : start + PIECE + 1]
        logits -= logits.max(axis=1, keepdims=True)
        chosen = logits[np.arange(following.size), following]
        total += float((chosen - np.log(np.exp(logits).sum(axis=1)[: following.size])).sum())
    return total


def perplexity(path: Path, text: Path, windows: int) -> float:
    """Of a model file on the first windows of a text."""
    model = Model.load(path, context_length=WINDOW)
    try:
        ids = Tokenizer(model.gguf.metadata).encode(text.read_text(), add_special=False)
        whole = [
            np.asarray(ids[start : start + WINDOW], np.int32)
            for start in range(0, len(ids) - WINDOW + 1, WINDOW)
        ][:windows]
        if not whole:
            raise SystemExit(f"{text} is shorter than a window of {WINDOW} tokens")
        total = sum(log_likelihood(model, window) for window in whole)
        return math.exp(-total / (len(whole) * (WINDOW - 1)))
    finally:
        model.close()


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("source", type=Path)
    parser.add_argument("--text", type=Path, required=True, help="what the activations are seen on")
    parser.add_argument("--other", type=Path, required=True, help="what perplexity is measured on")
    parser.add_argument("--to", nargs="+", default=["q4_0", "q4_1", "q4_k_m"])
    parser.add_argument("--windows", type=int, default=16)
    given = parser.parse_args()
    before = perplexity(given.source, given.other, given.windows)
    print(f"source        {before:8.3f}", flush=True)
    importance = importance_of_text(given.source, given.text)
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "m.gguf"
        for to in given.to:
            for label, counts in (("", None), ("important", importance)):
                quantize_file(given.source, out, to, lambda *_: None, True, counts)
                found = perplexity(out, given.other, given.windows)
                line = f"{to:8} {label:9} {found:8.3f}  {found / before - 1:+.2%}"
                print(line, flush=True)


if __name__ == "__main__":
    main()
