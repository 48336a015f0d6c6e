"""A model of random weights in the shape of Llama 3.2 1B, as a GGUF file: for speed, not for words.

    python -m bench.random_model OUT.gguf --to q8_0|q4_k_m [--layers 16] [--seed 0]

The quants are random bits and the scales are such that the weights have a standard deviation of
0.02, so activations stay in the range of a trained model's. How long a product takes does not
depend on the weights. The types of the matrices are those that llama.cpp mixes. llama.cpp reads the
file too: it has a vocabulary, of made-up words.
"""

import argparse
from pathlib import Path

import gguf
import numpy as np
from numpy.typing import NDArray

from engine.gguf_header import TensorInfo
from engine.quantize import FILE_TYPES, target_type

DIM, FFN_DIM, HEADS, KV_HEADS, HEAD_DIM = 2048, 8192, 32, 8, 64
VOCABULARY = 128_256
CONTEXT = 8192
DEVIATION = 0.02
"""Of the weights."""
BYTES_PER_BLOCK = {"Q8_0": (32, 34), "Q4_K": (256, 144), "Q6_K": (256, 210)}
"""Weights of a block, and its bytes (ggml-quants.h)."""


def shapes(layers: int) -> dict[str, tuple[int, int]]:
    """Name → (outputs, inputs) of every matrix; the embedding is the head as well."""
    layer = {
        "attn_q": (HEADS * HEAD_DIM, DIM),
        "attn_k": (KV_HEADS * HEAD_DIM, DIM),
        "attn_v": (KV_HEADS * HEAD_DIM, DIM),
        "attn_output": (DIM, HEADS * HEAD_DIM),
        "ffn_gate": (FFN_DIM, DIM),
        "ffn_up": (FFN_DIM, DIM),
        "ffn_down": (DIM, FFN_DIM),
    }
    named = {
        f"blk.{i}.{name}.weight": shape for i in range(layers) for name, shape in layer.items()
    }
    return {"token_embd.weight": (VOCABULARY, DIM)} | named


def halves(blocks: int, value: float) -> NDArray[np.uint8]:
    """float16 (blocks,) of one value, as bytes (blocks, 2)."""
    return np.full((blocks, 1), value, np.float16).view(np.uint8)


def random_blocks(
    random: np.random.Generator, type_name: str, outputs: int, inputs: int
) -> NDArray[np.uint8]:
    """uint8 (outputs, bytes of a row): blocks as ggml lays them out, mean 0."""
    elements, size = BYTES_PER_BLOCK[type_name]
    count = outputs * inputs // elements
    blocks = random.integers(0, 256, (count, size), np.uint8)
    if type_name == "Q8_0":  # d, 32 quants: uniform over int8, deviation 74
        blocks[:, :2] = halves(count, DEVIATION / 74)
    elif type_name == "Q4_K":  # d, dmin, 6-bit scales and minimums, nibbles: scale · q - minimum
        spread = 31.5 * 4.6  # mean scale times the deviation of a nibble
        blocks[:, :2] = halves(count, DEVIATION / spread / 2)
        blocks[:, 2:4] = halves(count, 7.5 * DEVIATION / spread / 2)
    else:  # Q6_K: quants of -32 … 31 (deviation 18.5), int8 scales (deviation 74), d last
        blocks[:, -2:] = halves(count, DEVIATION / (18.5 * 74))
    return blocks.reshape(outputs, -1)


def add_vocabulary(writer: gguf.GGUFWriter) -> None:
    """Byte tokens and words of numbers, as a SentencePiece vocabulary."""
    special = ["<unk>", "<s>", "</s>"]
    single = [f"<0x{byte:02X}>" for byte in range(256)]
    words = [f"▁w{number}" for number in range(VOCABULARY - len(special) - len(single))]
    kinds = [2, 3, 3] + [6] * len(single) + [1] * len(words)  # llama.cpp's enum llama_token_type
    writer.add_tokenizer_model("llama")
    writer.add_token_list(special + single + words)
    writer.add_token_scores([-float(index) for index in range(VOCABULARY)])
    writer.add_token_types(kinds)
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)


def write(out: Path, to: str, layers: int = 16, seed: int = 0) -> None:
    """Write the model; the same seed gives the same file."""
    random = np.random.default_rng(seed)
    writer = gguf.GGUFWriter(out, "llama")
    writer.add_name(f"random {layers} layers")
    writer.add_block_count(layers)
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(DIM)
    writer.add_feed_forward_length(FFN_DIM)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(KV_HEADS)
    writer.add_rope_dimension_count(HEAD_DIM)
    writer.add_rope_freq_base(500_000.0)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_file_type(FILE_TYPES[to])
    writer.add_quantization_version(2)
    writer.add_vocab_size(VOCABULARY)
    add_vocabulary(writer)
    norms = [f"blk.{i}.{name}.weight" for i in range(layers) for name in ("attn_norm", "ffn_norm")]
    for name in [*norms, "output_norm.weight"]:
        writer.add_tensor(name, np.ones(DIM, np.float32))
    for name, shape in shapes(layers).items():
        type_name = target_type(TensorInfo(name, shape, "F16", 0, 0), to, layers)
        blocks = random_blocks(random, type_name, *shape)
        writer.add_tensor(name, blocks, raw_dtype=gguf.GGMLQuantizationType[type_name])
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("--to", choices=["q8_0", "q4_k_m"], required=True)
    parser.add_argument("--layers", type=int, default=16)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    write(given.out, given.to, given.layers, given.seed)


if __name__ == "__main__":
    main()
