"""The forward pass of a BERT encoder (Devlin et al. 2018), written as a program of operations."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.buffers import aligned
from engine.encoders.config import EncoderConfig
from engine.errors import ModelFormatError
from engine.formats.packed import FLOAT_BITS
from engine.forward import float_bits
from engine.kernels.columns import column_buffer_bytes
from engine.kernels.elementwise import embed, quantize
from engine.kernels.encoder import (
    add_positions_of_texts,
    attend_within,
    attention_scratch_bytes,
    gelu_quantize,
)
from engine.kernels.matmul import matmul
from engine.kernels.norms import layer_norm_quantize
from engine.kernels.program import Program
from engine.weights import Weights


class EncoderBuffers:
    """The activations of a step: one arena, addresses of its parts; all float32 but `columns`."""

    def __init__(self, c: EncoderConfig, rows: int, threads: int) -> None:
        """rows: of the largest step."""
        self.scratch_bytes = aligned(attention_scratch_bytes(c.max_tokens, c.head_dim))
        sizes = [
            4 * rows * c.dim,  # x (rows, dim)
            4 * rows * 3 * c.dim,  # qkv (rows, 3, heads, head_dim)
            4 * rows * c.dim,  # attended (rows, heads, head_dim)
            4 * rows * c.ffn_dim,  # ffn (rows, ffn_dim)
            column_buffer_bytes(rows, max(c.dim, c.ffn_dim)),  # quantized inputs of a product
            threads * self.scratch_bytes,
        ]
        offsets = np.cumsum([0] + [aligned(size) for size in sizes])
        self._arena = np.zeros(int(offsets[-1]) + 64, np.uint8)
        start = aligned(self._arena.ctypes.data)
        self.x, self.qkv, self.attended, self.ffn, self.columns, self.scratch = (
            start + int(offset) for offset in offsets[:-1]
        )
        first = start - self._arena.ctypes.data
        x = self._arena[first : first + sizes[0]]
        self.states: NDArray[np.float32] = x.view(np.float32).reshape(rows, c.dim)
        """x as an array."""


class Encoding(NamedTuple):
    """A program in the making, and what its steps need to know."""

    program: Program
    config: EncoderConfig
    weights: Weights
    buffers: EncoderBuffers


def build(c: EncoderConfig, weights: Weights, buffers: EncoderBuffers, positions: int) -> Program:
    """Tokens of several texts → x float32 (rows, dim) after the last layer.

    positions: address of float32 (positions, dim), added to the embeddings.
    """
    e = Encoding(Program(), c, weights, buffers)
    b, program = buffers, e.program
    words = weights.matrix("token_embd.weight")
    program.add(embed, words.address, words.bits, b.x, c.dim)
    program.add(add_positions_of_texts, positions, b.x, c.dim)
    norm(e, "token_embd_norm")
    for index in range(c.layers):
        layer = f"blk.{index}."
        attend(e, layer)
        add_to_stream(e, f"{layer}attn_output", c.dim)
        norm(e, f"{layer}attn_output_norm")

        multiply(e, f"{layer}ffn_up", b.ffn, c.ffn_dim, biased=False)
        program.add(
            gelu_quantize, b.ffn, weights.vector(f"{layer}ffn_up.bias"), b.columns, c.ffn_dim
        )
        add_to_stream(e, f"{layer}ffn_down", c.dim)
        norm(e, f"{layer}layer_output_norm")
    return program


def norm(e: Encoding, name: str) -> None:
    """x = LayerNorm(x), and columns = quantized x."""
    b, dim = e.buffers, e.config.dim
    weight, bias = e.weights.vector(f"{name}.weight"), e.weights.vector(f"{name}.bias")
    epsilon = float_bits(e.config.norm_epsilon)
    e.program.add(layer_norm_quantize, b.x, weight, bias, b.x, b.columns, dim, epsilon)


def attend(e: Encoding, layer: str) -> None:
    """columns = quantized softmax(q · Kᵀ / √head_dim) · V of each text by itself."""
    b, c = e.buffers, e.config
    places = {name: b.qkv + 4 * c.dim * i for i, name in enumerate(("attn_q", "attn_k", "attn_v"))}
    for name, y in places.items():
        multiply(e, f"{layer}{name}", y, 3 * c.dim, barrier=name == "attn_v")
    scale = float_bits(1 / math.sqrt(c.head_dim))
    sizes = (c.heads, c.head_dim, b.scratch, b.scratch_bytes, scale)
    e.program.add(attend_within, b.qkv, b.attended, *sizes)
    e.program.add(quantize, b.attended, b.columns, c.dim, c.dim)


def add_to_stream(e: Encoding, name: str, width: int) -> None:
    """x += W · columns + bias."""
    multiply(e, name, e.buffers.x, width, add=True)


def multiply(
    e: Encoding,
    name: str,
    y: int,
    stride: int,
    *,
    add: bool = False,
    biased: bool = True,
    barrier: bool = True,
) -> None:
    """y (+)= columns · Wᵀ (+ bias); y float32 with rows `stride` apart."""
    matrix = e.weights.matrix(f"{name}.weight")
    if matrix.bits == FLOAT_BITS:
        raise ModelFormatError(f"tensor {name!r} is kept as float32, which encoders do not compute")
    bias = e.weights.vector(f"{name}.bias") if biased else 0
    operands = (matrix.inputs, matrix.outputs, stride, add, matrix.bits, 0, bias)
    e.program.add(matmul, matrix.address, e.buffers.columns, y, *operands, barrier=barrier)
