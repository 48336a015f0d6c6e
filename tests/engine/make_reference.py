"""Writes tests/data/NAME_reference.npz: what transformers makes of a model file.

Run by hand: `python tests/engine/make_reference.py MODEL.gguf NAME WINDOWS`, with `smollm2 14` for
the default model and `gemma3 8` for Gemma 3 270M. The text is the prose of CPython's language
reference, as the interpreter's `help()` has it. Kept for each window of 512 tokens: ids, the
reference's most likely next token, its log-probability of the real one.
"""

import sys
from pathlib import Path
from pydoc_data.topics import topics

import numpy as np
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

WINDOW = 512
DATA = Path(__file__).parent.parent / "data"


def reference_model(path: Path) -> torch.nn.Module:
    """The model file, dequantized to float32, in transformers."""
    return AutoModelForCausalLM.from_pretrained(
        path.parent, gguf_file=path.name, dtype=torch.float32
    )


def reference_logits(model: torch.nn.Module, ids: np.ndarray) -> np.ndarray:
    """float32 (n, vocabulary) for ids (n,)."""
    with torch.inference_mode():
        return model(torch.from_numpy(ids[None].astype(np.int64))).logits[0].numpy()


def log_probabilities(logits: np.ndarray, ids: np.ndarray) -> np.ndarray:
    """float32 (n - 1,): log-probability that each position gives to the token that follows."""
    rows = logits[:-1].astype(np.float64)
    rows -= rows.max(axis=1, keepdims=True)
    chosen = rows[np.arange(len(rows)), ids[1:]]
    return (chosen - np.log(np.exp(rows).sum(axis=1))).astype(np.float32)


def main() -> None:
    path, name, count = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    tokenizer = AutoTokenizer.from_pretrained(path.parent, gguf_file=path.name)
    text = "\n\n".join(topics[name] for name in sorted(topics))
    smallest = np.uint16 if len(tokenizer) <= 65_536 else np.uint32
    tokens = np.array(tokenizer(text)["input_ids"], smallest)
    starts = np.linspace(0, len(tokens) - WINDOW, count).astype(int)
    windows = np.stack([tokens[start : start + WINDOW] for start in starts])
    if tokens[0] == tokenizer.bos_token_id:  # the model expects every text to begin with it
        windows[:, 0] = tokens[0]
    model = reference_model(path)
    best, likely = [], []
    for ids in windows:
        logits = reference_logits(model, ids)
        best.append(logits.argmax(axis=1).astype(smallest))
        likely.append(log_probabilities(logits, ids))
    np.savez_compressed(
        DATA / f"{name}_reference.npz", ids=windows, best=np.stack(best), likely=np.stack(likely)
    )


if __name__ == "__main__":
    main()
