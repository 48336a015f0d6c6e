"""Models of random 8-bit weights in the shape of Llama 3.2 1B: for speed, not for words.

Gated as Llama with ReLU, or ungated as OPT, whose block has two matrices. Random gates are positive
half of the time; a bias of the gate makes them as sparse as is wanted.
"""

import math
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from engine.gguf_writer import NewTensor, pair, write_gguf

DIM, FFN_DIM, HEADS, KV_HEADS, HEAD_DIM = 2048, 8192, 32, 8, 64
VOCABULARY, CONTEXT = 128_256, 1024
DEVIATION = 0.02
"""Of the weights."""
GATE_DEVIATION = DEVIATION * math.sqrt(DIM)
"""Of a gate before it is activated: its inputs are normed to a mean square of 1."""
_PIECE = 1 << 20  # blocks


class Shape(NamedTuple):
    """What the file is called, and which matrix of a layer decides what is zero."""

    architecture: str
    gate: str


SHAPES = {"1b-gated": Shape("llama", "ffn_gate"), "1b-ungated": Shape("opt", "ffn_up")}


def _matrices(shape: Shape, layers: int) -> dict[str, tuple[int, int]]:
    """Name → (outputs, inputs), in the order of a forward pass."""
    kv = (KV_HEADS if shape.architecture == "llama" else HEADS) * HEAD_DIM
    layer = {"attn_q": (HEADS * HEAD_DIM, DIM), "attn_k": (kv, DIM), "attn_v": (kv, DIM)}
    layer |= {"attn_output": (DIM, HEADS * HEAD_DIM)}
    layer |= {"ffn_gate": (FFN_DIM, DIM)} if shape.gate == "ffn_gate" else {}
    layer |= {"ffn_up": (FFN_DIM, DIM), "ffn_down": (DIM, FFN_DIM)}
    found = {f"blk.{i}.{name}.weight": size for i in range(layers) for name, size in layer.items()}
    if shape.architecture == "opt":
        found["position_embd.weight"] = (CONTEXT, DIM)
    return {"token_embd.weight": (VOCABULARY, DIM)} | found


def _vectors(shape: Shape, layers: int) -> dict[str, tuple[int, float]]:
    """Name → (size, value)."""
    names = [f"blk.{i}.{name}" for i in range(layers) for name in ("attn_norm", "ffn_norm")]
    found = {f"{name}.weight": (DIM, 1.0) for name in [*names, "output_norm"]}
    if shape.architecture == "opt":
        found |= {f"{name}.bias": (DIM, 0.0) for name in [*names, "output_norm"]}
        sizes = {"attn_q": DIM, "attn_k": DIM, "attn_v": DIM, "attn_output": DIM}
        sizes |= {"ffn_up": FFN_DIM, "ffn_down": DIM}
        biases = {
            f"blk.{i}.{name}.bias": size for i in range(layers) for name, size in sizes.items()
        }
        found |= {name: (size, 0.0) for name, size in biases.items()}
    return found


def _random_blocks(random: np.random.Generator, blocks: int) -> Iterator[bytes]:
    """Q8_0: a scale and 32 quants, uniform over int8, whose deviation is 74."""
    for start in range(0, blocks, _PIECE):
        data = random.integers(0, 256, (min(_PIECE, blocks - start), 34), np.uint8)
        data[:, :2] = np.array([DEVIATION / 74], np.float16).view(np.uint8)
        yield data.tobytes()


def write_random_model(path: Path, shape: Shape, layers: int, seed: int = 0) -> None:
    """Write the GGUF file; the same seed gives the same file."""
    name = shape.architecture
    norm = "layer_norm_epsilon" if name == "opt" else "layer_norm_rms_epsilon"
    pairs: dict[str, str | int | float] = {
        "general.architecture": name,
        f"{name}.block_count": layers,
        f"{name}.context_length": CONTEXT,
        f"{name}.embedding_length": DIM,
        f"{name}.feed_forward_length": FFN_DIM,
        f"{name}.attention.head_count": HEADS,
        f"{name}.attention.head_count_kv": KV_HEADS if name == "llama" else HEADS,
        f"{name}.attention.{norm}": 1e-5,
    }
    if name == "llama":
        pairs["llama.hidden_activation"] = "relu"
    matrices, vectors = _matrices(shape, layers), _vectors(shape, layers)
    tensors = [NewTensor(name, size, "Q8_0") for name, size in matrices.items()]
    tensors += [NewTensor(name, (size,), "F32") for name, (size, _) in vectors.items()]
    random = np.random.default_rng(seed)

    def data() -> Iterator[Iterator[bytes]]:
        for rows, columns in matrices.values():
            yield _random_blocks(random, rows * columns // 32)
        for size, value in vectors.values():
            yield iter([np.full(size, value, np.float32).tobytes()])

    with path.open("wb") as file:
        write_gguf(file, [pair(key, value) for key, value in pairs.items()], tensors, data())
