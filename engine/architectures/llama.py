"""Llama: RMSNorm, rotary positions, grouped-query attention, SwiGLU (Touvron et al. 2023).

Reads the configuration from the metadata and writes the forward pass down as a program of
operations.
"""

import math

import numpy as np
from numpy.typing import NDArray

from engine.architectures.config import ModelConfig, integer, number
from engine.buffers import Buffers
from engine.gguf import GGUFFile, ModelFormatError
from engine.kernels.attention import attention, rope_store
from engine.kernels.elementwise import (
    embed,
    keep_rows,
    quantize,
    rms_norm_output,
    rms_norm_quantize,
    swiglu_quantize,
)
from engine.kernels.matmul import matmul
from engine.kernels.program import Program
from engine.weights import Matrix, Weights

_LAYER_MATRICES = ("attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down")
_LAYER_NORMS = ("attn_norm", "ffn_norm")
ROPE_FACTORS = "rope_freqs.weight"


def read_config(gguf: GGUFFile) -> ModelConfig:
    """The configuration; ModelFormatError for a field that is missing or makes no sense."""
    meta = gguf.metadata
    scaling = meta.get("llama.rope.scaling.type", "none")
    if scaling not in ("none", "linear"):
        raise ModelFormatError(f"llama.rope.scaling.type is {scaling!r}; known: none, linear")
    heads = integer(meta, "llama.attention.head_count")
    dim = integer(meta, "llama.embedding_length")
    if "token_embd.weight" not in gguf.tensors:
        raise ModelFormatError("tensor 'token_embd.weight' is missing")
    config = ModelConfig(
        architecture="llama",
        layers=integer(meta, "llama.block_count"),
        dim=dim,
        heads=heads,
        kv_heads=integer(meta, "llama.attention.head_count_kv", heads),
        head_dim=integer(meta, "llama.attention.key_length", dim // heads),
        ffn_dim=integer(meta, "llama.feed_forward_length"),
        vocabulary=gguf.tensors["token_embd.weight"].shape[0],
        context_length=integer(meta, "llama.context_length"),
        rope_base=number(meta, "llama.rope.freq_base", 10_000.0),
        rope_scale=1.0 / number(meta, "llama.rope.scaling.factor", 1.0),
        norm_epsilon=number(meta, "llama.attention.layer_norm_rms_epsilon"),
    )
    if config.layers > len(gguf.tensors):
        raise ModelFormatError(
            f"llama.block_count is {config.layers}, but there are {len(gguf.tensors)} tensors"
        )
    rotated = integer(meta, "llama.rope.dimension_count", config.head_dim)
    if rotated != config.head_dim:
        raise ModelFormatError(
            f"llama.rope.dimension_count is {rotated}; {config.head_dim}, whole heads, is known"
        )
    if config.heads % config.kv_heads or config.dim % 32 or config.head_dim % 16:
        raise ModelFormatError(f"sizes that do not go together: {config}")
    return config


def tensor_shapes(config: ModelConfig) -> dict[str, tuple[int, ...]]:
    """Name and shape of every tensor that the model must have (`output.weight` it may have)."""
    q, kv = config.heads * config.head_dim, config.kv_heads * config.head_dim
    dim, ffn = config.dim, config.ffn_dim
    layer = {
        "attn_norm": (dim,),
        "attn_q": (q, dim),
        "attn_k": (kv, dim),
        "attn_v": (kv, dim),
        "attn_output": (dim, q),
        "ffn_norm": (dim,),
        "ffn_gate": (ffn, dim),
        "ffn_up": (ffn, dim),
        "ffn_down": (dim, ffn),
    }
    shapes: dict[str, tuple[int, ...]] = {"token_embd.weight": (config.vocabulary, dim)}
    for index in range(config.layers):
        shapes |= {f"blk.{index}.{name}.weight": shape for name, shape in layer.items()}
    return shapes | {"output_norm.weight": (dim,)}


def rope_angles(
    config: ModelConfig, positions: int, factors: NDArray[np.float32] | None
) -> NDArray[np.float32]:
    """cos and sin of every position and pair: float32 (positions, head_dim / 2, 2).

    factors: float32 (head_dim / 2,) that the wavelengths are multiplied with (Llama 3), or None.
    """
    half = config.head_dim // 2
    frequencies = config.rope_base ** (-np.arange(half) / half) * config.rope_scale
    if factors is not None:
        frequencies = frequencies / factors
    angles = np.outer(np.arange(positions), frequencies)
    return np.stack([np.cos(angles), np.sin(angles)], axis=2).astype(np.float32)


def build_body(config: ModelConfig, weights: Weights, buffers: Buffers) -> Program:
    """Tokens → x float32 (rows, dim) after the last layer; keys and values into the cache."""
    c, b, program = config, buffers, Program()
    q, kv = c.heads * c.head_dim, c.kv_heads * c.head_dim
    epsilon = float_bits(c.norm_epsilon)
    embedding = weights.matrix("token_embd.weight")
    program.add(embed, embedding.address, embedding.bits, b.x, c.dim)
    for index in range(c.layers):
        matrix = {name: weights.matrix(f"blk.{index}.{name}.weight") for name in _LAYER_MATRICES}
        norm = {name: weights.vector(f"blk.{index}.{name}.weight") for name in _LAYER_NORMS}

        program.add(rms_norm_quantize, b.x, norm["attn_norm"], b.h, b.columns, c.dim, epsilon)
        width = q + 2 * kv
        multiply(program, matrix["attn_q"], b.columns, b.qkv, width, barrier=False)
        multiply(program, matrix["attn_k"], b.columns, b.qkv + 4 * q, width, barrier=False)
        multiply(program, matrix["attn_v"], b.columns, b.qkv + 4 * (q + kv), width)
        heads = (c.heads, c.kv_heads, c.head_dim)
        program.add(rope_store, b.qkv, b.angles, index, *heads)
        program.add(attention, b.qkv, b.attended, index, *heads, b.scratch, b.scratch_bytes)
        program.add(quantize, b.attended, b.columns, q)
        multiply(program, matrix["attn_output"], b.columns, b.x, c.dim, add=True)

        program.add(rms_norm_quantize, b.x, norm["ffn_norm"], b.h, b.columns, c.dim, epsilon)
        width = 2 * c.ffn_dim
        multiply(program, matrix["ffn_gate"], b.columns, b.ffn, width, barrier=False)
        multiply(program, matrix["ffn_up"], b.columns, b.ffn + 4 * c.ffn_dim, width)
        program.add(swiglu_quantize, b.ffn, b.columns, c.ffn_dim)
        multiply(program, matrix["ffn_down"], b.columns, b.x, c.dim, add=True)
    return program


def add_head(program: Program, config: ModelConfig, weights: Weights, buffers: Buffers) -> None:
    """x → logits of the rows wanted, vocabulary rounded up to a multiple of 16 floats apart."""
    b, tied = buffers, "output.weight" not in weights
    head = weights.matrix("token_embd.weight" if tied else "output.weight")
    norm = weights.vector("output_norm.weight")
    program.add(keep_rows, b.x, config.dim)
    epsilon = float_bits(config.norm_epsilon)
    program.add(rms_norm_quantize, b.x, norm, b.h, b.columns, config.dim, epsilon)
    multiply(program, head, b.columns, 0, head.outputs)


def add_final_norm(
    program: Program, config: ModelConfig, weights: Weights, buffers: Buffers
) -> None:
    """x → the states after the final norm, as the step's result."""
    norm = weights.vector("output_norm.weight")
    program.add(rms_norm_output, buffers.x, norm, config.dim, float_bits(config.norm_epsilon))


def multiply(
    program: Program,
    matrix: Matrix,
    x: int,
    y: int,
    stride: int,
    *,
    add: bool = False,
    barrier: bool = True,
) -> None:
    """y (+)= x · matrixᵀ; y float32 with rows `stride` apart, x quantized columns."""
    sizes = (matrix.inputs, matrix.outputs, stride, add, matrix.bits)
    program.add(matmul, matrix.address, x, y, *sizes, barrier=barrier)


def float_bits(value: float) -> int:
    """The bits of a float32, to hand it over among integers."""
    assert math.isfinite(value), "a constant of the model is not finite"
    return int(np.float32(value).view(np.int32))
