"""What a draft model gains (`engine.draft_model`), with pairs made of one trained Q4_1 model.

    .venv/bin/python -m bench.draft_pairs [MODEL.gguf] [--widen 16] [--threads 2] [--json]

A pair needs a large and a small model with the same tokens that mostly agree. The large one is the
given model with every neuron of its feed-forward blocks 16 times, each with a sixteenth of its
weight: it says what the given one says, and takes as long as a model of that many weights (SmolLM2
135M becomes one of 1.3 billion). Drafts are the given file, which is nearly always right; the same
quantized again to q4_0, which is often wrong; and its first 10 of 30 layers, which nobody trained
to be a model. Last, a draft that cannot pay: the given file for itself in q8_0.

Prompts ask for text of its own, so that there is little to look up; greedy, and the tokens compared
to those without guesses. Without a draft model nothing but looking up guesses.
"""

import argparse
import json
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from engine.benchmarks import guesses
from engine.chat import Message
from engine.gguf import GGUFFile
from engine.gguf_writer import NewTensor, pair, write_gguf
from engine.quantize import quantize_file

Q4_1_BLOCK, Q4_1_BYTES = 32, 20
"""Weights and bytes of a block: half floats d and m, then nibbles; a weight is d · q + m."""
PROMPTS = (
    "Write a short story about a lighthouse keeper and a whale.",
    "Explain how a refrigerator works.",
    "Describe a walk through a forest in autumn.",
    "Why do people celebrate birthdays?",
    "Give some advice to a person who has just moved to a new city.",
    "What is the difference between a lake and a sea?",
)
TOKENS = 80


def widened(raw: np.ndarray, name: str, rows: int, times: int) -> np.ndarray:
    """The bytes of a Q4_1 matrix of a feed-forward block with every neuron `times` times."""
    by_row = raw.reshape(rows, -1)
    if "ffn_down" not in name:
        return np.tile(by_row, (times, 1))
    blocks = by_row.reshape(rows, -1, Q4_1_BYTES).copy()
    scales = blocks[:, :, :4].copy().view(np.float16) / np.float16(times)
    blocks[:, :, :4] = scales.view(np.uint8).reshape(blocks[:, :, :4].shape)
    return np.tile(blocks.reshape(rows, -1), (1, times))


def changed(source: Path, out: Path, *, layers: int | None = None, widen: int = 1) -> None:
    """Write the model with its first layers only, or with wider feed-forward blocks."""
    with GGUFFile(source) as file:
        count = file.metadata["llama.block_count"]
        width = file.metadata["llama.feed_forward_length"]
        kept = layers or count
        pairs = {
            "llama.block_count": kept,
            "llama.feed_forward_length": width * widen,
            "general.name": f"{source.stem}, {kept} layers, {widen} times as wide",
        }
        metadata = [raw for key, raw in file.raw_metadata().items() if key not in pairs]
        metadata += [pair(key, value) for key, value in pairs.items()]
        tensors, data = [], []
        for name, info in file.tensors.items():
            layer = name.split(".")[1] if name.startswith("blk.") else None
            if layer is not None and int(layer) >= kept:
                continue
            shape = info.shape
            if ".ffn_" in name and "norm" not in name and widen > 1:
                if info.type_name != "Q4_1":
                    raise SystemExit(f"{name} is {info.type_name}: a Q4_1 file is needed")
                rows, columns = shape
                down = "ffn_down" in name
                shape = (rows, columns * widen) if down else (rows * widen, columns)
            tensors.append(NewTensor(name, shape, info.type_name))
            data.append(_pieces(file, name, widen if shape != info.shape else 1))
        with out.open("wb") as target:
            write_gguf(target, metadata, tensors, data)


def _pieces(file: GGUFFile, name: str, times: int) -> Iterator[bytes]:
    raw = np.asarray(file.tensor_bytes(name))
    if times > 1:
        raw = widened(raw, name, file.tensors[name].shape[0], times)
    yield raw.tobytes()


def pairs_of(model: Path, widen: int, folder: Path) -> Iterable[tuple[str, Path, Path | None]]:
    """What is measured: a name, the model, and its draft."""
    wide, rough, short, exact = (
        folder / f"{name}.gguf" for name in ("wide", "rough", "short", "exact")
    )
    changed(model, wide, widen=widen)
    changed(model, short, layers=10)
    for out, kind in ((rough, "q4_0"), (exact, "q8_0")):
        quantize_file(model, out, kind, lambda name, fraction: None, again=True)
    yield f"{widen} times as wide, no draft", wide, None
    yield f"{widen} times as wide, the file itself", wide, model
    yield f"{widen} times as wide, q4_0 of it", wide, rough
    yield f"{widen} times as wide, 10 of 30 layers", wide, short
    yield "q8_0, no draft", exact, None
    yield "q8_0, the file itself", exact, model


def measure(model: Path, widen: int, threads: int, rounds: int) -> list[dict[str, Any]]:
    """A row for each pair."""
    rows = []
    with tempfile.TemporaryDirectory(prefix="draft-pairs-") as name:
        folder = Path(name)
        prompts = folder / "prompts.jsonl"
        asked = [[Message("user", prompt)] for prompt in PROMPTS]
        prompts.write_bytes(b"\n".join(msgspec.json.encode(messages) for messages in asked))
        for pair_name, large, draft in pairs_of(model, widen, folder):
            found = guesses.run(
                argparse.Namespace(
                    model=large,
                    draft_model=draft,
                    prompts=prompts,
                    threads=threads,
                    tokens=TOKENS,
                    rounds=rounds,
                    cache_directory=None,
                )
            )
            rows.append(
                {
                    "pair": pair_name,
                    "plain_tokens_per_s": round(found.plain_tokens_per_s, 1),
                    "guessing_tokens_per_s": round(found.guessing_tokens_per_s, 1),
                    "speedup": round(found.speedup, 2),
                    "guesses_right": round(found.guesses_right, 3),
                    "identical": found.identical,
                    "tokens": found.tokens,
                }
            )
    return rows


def main() -> None:
    """The command line."""
    default = Path("~/.local/share/hubd/models/SmolLM2-135M-Instruct.Q4_1.gguf").expanduser()
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("model", type=Path, nargs="?", default=default, help="a Q4_1 file")
    parser.add_argument("--widen", type=int, default=16, help="a power of two")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    for row in (rows := measure(given.model, given.widen, given.threads, given.rounds)):
        if not given.json:
            print(
                f"{row['pair']:36} {row['plain_tokens_per_s']:6.1f} →"
                f" {row['guessing_tokens_per_s']:6.1f} tokens/s, {row['speedup']:.2f} times,"
                f" {row['guesses_right']:.0%} right, {'same' if row['identical'] else 'OTHER'}"
            )
    if given.json:
        print(json.dumps(rows))


if __name__ == "__main__":
    main()
