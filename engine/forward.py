"""The forward pass of every family, written down as a program of operations.

`build_body` is the formula; the steps below it turn one line of it into operations, with what the
family has besides.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np

from engine.architectures.config import NO_WINDOW, ModelConfig
from engine.architectures.family import Activation, Family
from engine.buffers import Buffers
from engine.formats.packed import FLOAT_BITS, packed_bytes
from engine.kernels.activations import PREDICTED_RELU, activate_quantize
from engine.kernels.attention import attention
from engine.kernels.byte_attention import attention_to_bytes
from engine.kernels.choosing import choose
from engine.kernels.elementwise import (
    embed,
    keep_rows,
    quantize,
    rms_norm_output,
    rms_norm_quantize,
)
from engine.kernels.experts import add_experts, choose_experts, matmul_experts
from engine.kernels.floating import matmul_float
from engine.kernels.gates import gates_by_halves, settle_gates
from engine.kernels.kv_layout import BYTE
from engine.kernels.matmul import LONG_BYTES, matmul
from engine.kernels.norms import add_normed, layer_norm_output, layer_norm_quantize, rms_norm
from engine.kernels.observe import add_squares, add_squares_of_chosen
from engine.kernels.program import BARRIER, BARRIER_IF_MANY, NO_BARRIER, Program
from engine.kernels.rotation import rope_store
from engine.kernels.rows import add_positions, add_scaled, scale, scale_logits
from engine.kernels.sparse import activate_drop_quantize, down_of_active, up_of_active
from engine.sparsity.neurons import Neurons
from engine.sparsity.predictor import Predictor
from engine.weights import Weights


class Activations(NamedTuple):
    """The input of a matrix product, both as it is and quantized."""

    floats: int
    """Address of float32 rows."""
    stride: int
    """Floats from a row to the next."""
    columns: int
    """Address of the same, quantized (see kernels.columns)."""
    own_columns: bool = True
    """Whether each share has made the columns of a single row for itself, which saves a barrier."""
    own_floats: bool = False
    """Whether each share has a single row of its own as well: the row of its number."""


class Observer(Protocol):
    """Somebody who wants to know what matrices are multiplied with."""

    def sums(self, name: str, experts: int, inputs: int) -> int:
        """Address of float32 (experts, inputs) to which the squares of the inputs are added."""


class Skipping(NamedTuple):
    """What a program leaves out of feed-forward blocks."""

    neurons: Neurons | None = None
    """Zeros are not read, in a program for single rows; None: they are."""
    thresholds: Sequence[float] | None = None
    """Of each layer: activations below it in magnitude are made zero."""
    predictor: Predictor | None = None
    """Neurons that it does not expect to be positive are made zero."""


NOTHING_SKIPPED = Skipping()


class Forward:
    """A program in the making, and what its steps need to know."""

    def __init__(
        self,
        family: Family,
        config: ModelConfig,
        weights: Weights,
        buffers: Buffers,
        kv_bytes: int,
        observer: Observer | None,
        skipping: "Skipping",
    ) -> None:
        """kv_bytes: of a number in the KV cache."""
        self.program = Program()
        self.family, self.config, self.weights, self.buffers = family, config, weights, buffers
        self.observer = observer
        self.neurons, self.thresholds, self.predictor = skipping
        self.epsilon = float_bits(config.norm_epsilon)
        self.kv_bytes = kv_bytes


def build_body(
    family: Family,
    config: ModelConfig,
    weights: Weights,
    buffers: Buffers,
    kv_bytes: int,
    observer: Observer | None = None,
    skipping: Skipping = NOTHING_SKIPPED,
    *,
    results: bool = True,
) -> Forward:
    """Tokens → x float32 (rows, dim) after the last layer; keys and values into the cache.

    kv_bytes: of a number in the KV cache. Of the last layer, the rows that are wanted at the end
    take all of it, the others leave their keys and values; results: whether any row is wanted.
    """
    f = Forward(family, config, weights, buffers, kv_bytes, observer, skipping)
    embed_tokens(f)
    for index in range(config.layers):
        layer = f"blk.{index}."
        h = norm(f, f"{layer}attn_norm") if family.norms_before else stream(f)
        queries_keys_values(f, layer, h)
        store_keys_values(f, index)
        is_last = index == config.layers - 1
        if is_last and not results:
            break
        attended = attend(f, index, only_wanted=is_last)
        add_to_stream(f, f"{layer}attn_output", attended, f"{layer}post_attention_norm")

        h = norm(f, f"{layer}ffn_norm") if family.norms_before else stream(f)
        if config.experts:
            add_mixture_to_stream(f, layer, h)
            continue
        if f.neurons is not None and f.neurons.skips_rows and f.thresholds is None:
            active = gate_and_active(f, index, h)
        else:
            gate_and_up(f, layer, h)
            active = activate(f, index)
        add_to_stream(f, f"{layer}ffn_down", active, f"{layer}post_ffw_norm")
    return f


def add_head(f: Forward) -> None:
    """x → logits of the rows wanted, vocabulary rounded up to a multiple of 16 floats apart → the
    tokens that the step is to choose."""
    c = f.config
    tied = "output.weight" not in f.weights
    head = "token_embd" if tied else "output"
    width = f.weights.matrix(f"{head}.weight").outputs
    multiply(f, head, norm(f, "output_norm"), 0, width)
    if c.logit_scale != 1 or c.logit_cap:
        f.program.add(scale_logits, width, float_bits(c.logit_scale), float_bits(c.logit_cap))
    f.program.add(choose, width, c.vocabulary, f.buffers.choosing, f.buffers.choosing_bytes)


def add_final_norm(f: Forward) -> None:
    """x → the states after the final norm, as the step's result."""
    weight = f.weights.vector("output_norm.weight")
    if f.family.layer_norm:
        bias = f.weights.vector("output_norm.bias")
        f.program.add(layer_norm_output, f.buffers.x, weight, bias, f.config.dim, f.epsilon)
    else:
        f.program.add(rms_norm_output, f.buffers.x, weight, f.config.dim, f.epsilon)


def embed_tokens(f: Forward) -> None:
    """x = the embeddings of the tokens, scaled, with their positions."""
    c, b = f.config, f.buffers
    table = f.weights.matrix("token_embd.weight")
    f.program.add(embed, table.address, table.bits, b.x, c.dim)
    if c.embedding_scale != 1:
        f.program.add(scale, b.x, c.dim, float_bits(c.embedding_scale))
    if f.family.learned_positions:
        table = f.weights.matrix("position_embd.weight")
        f.program.add(add_positions, table.address, table.bits, 0, b.x, b.h, c.dim)


def stream(f: Forward) -> Activations:
    """x itself as the input of a product."""
    b, dim = f.buffers, f.config.dim
    f.program.add(quantize, b.x, b.columns, dim, dim, barrier=BARRIER_IF_MANY)
    return Activations(b.x, dim, b.columns)


def norm(f: Forward, name: str) -> Activations:
    """h = norm(x)."""
    b, dim = f.buffers, f.config.dim
    parameters = [f.weights.vector(f"{name}.weight")]
    if f.family.layer_norm:
        parameters.append(f.weights.vector(f"{name}.bias"))
    operation = layer_norm_quantize if f.family.layer_norm else rms_norm_quantize
    results = (b.h, b.columns, dim, f.epsilon)
    f.program.add(operation, b.x, *parameters, *results, barrier=BARRIER_IF_MANY)
    return Activations(b.h, dim, b.columns, own_floats=True)


def queries_keys_values(f: Forward, layer: str, h: Activations) -> None:
    """q, k, v = Wq · h, Wk · h, Wv · h side by side, with biases and norms."""
    c, b = f.config, f.buffers
    q, kv = c.heads * c.head_dim, c.kv_heads * c.head_dim
    width = q + 2 * kv
    if f.family.fused:
        multiply(f, f"{layer}attn_qkv", h, b.qkv, width)
    else:
        multiply(f, f"{layer}attn_q", h, b.qkv, width, barrier=NO_BARRIER)
        multiply(f, f"{layer}attn_k", h, b.qkv + 4 * q, width, barrier=NO_BARRIER)
        multiply(f, f"{layer}attn_v", h, b.qkv + 4 * (q + kv), width)
    if f.family.query_key_norm != "no":
        by_head = f.family.query_key_norm == "head"
        for name, start, heads in (("q", 0, c.heads), ("k", q, c.kv_heads)):
            count, size = (heads, c.head_dim) if by_head else (1, heads * c.head_dim)
            weight = f.weights.vector(f"{layer}attn_{name}_norm.weight")
            operands = (b.qkv + 4 * start, width, count, size, weight, f.epsilon)
            f.program.add(rms_norm, *operands, barrier=NO_BARRIER if name == "q" else BARRIER)


def is_windowed(f: Forward, index: int) -> bool:
    """Whether rows of a layer see a window of positions only."""
    every = f.family.window_every
    among_windowed = every == 0 or (every is not None and (index + 1) % every != 0)
    return among_windowed and f.config.window != NO_WINDOW


def store_keys_values(f: Forward, index: int) -> None:
    """Rotate queries and keys to their positions; keys and values into the cache."""
    c, b, family = f.config, f.buffers, f.family
    still = family.no_rope_every
    rotated = family.rope != "none" and not (still and (index + 1) % still == 0)
    angles = b.local_angles if is_windowed(f, index) else b.angles
    heads = (c.heads, c.kv_heads, c.head_dim)
    turned = (c.rotated // 2 if rotated else 0, family.rope == "halves", f.kv_bytes)
    f.program.add(rope_store, b.qkv, angles, index, *heads, *turned)


def attend(f: Forward, index: int, *, only_wanted: bool) -> Activations:
    """softmax(q · Kᵀ) · V of the rotated queries and keys.

    only_wanted: from here on there are only the rows that are wanted at the end.
    """
    c, b, family = f.config, f.buffers, f.family
    heads = (c.heads, c.kv_heads, c.head_dim)
    scores = (
        float_bits(c.query_scale),
        float_bits(c.score_cap),
        c.window if is_windowed(f, index) else NO_WINDOW,
        f.kv_bytes,
    )
    room = (b.shared, b.shared_bytes)
    addresses = (b.qkv, b.attended, index, *heads, b.scratch, b.scratch_bytes)
    operation = attention_to_bytes if f.kv_bytes == BYTE else attention
    f.program.add(operation, *addresses, *scores, *room)
    size = c.heads * c.head_dim
    if only_wanted:
        f.program.add(keep_rows, b.x, c.dim, b.attended, size)
    if family.sub_norms:
        weight = f.weights.vector(f"blk.{index}.attn_sub_norm.weight")
        f.program.add(rms_norm, b.attended, size, 1, size, weight, f.epsilon)
    f.program.add(quantize, b.attended, b.columns, size, size, barrier=BARRIER_IF_MANY)
    return Activations(b.attended, size, b.columns)


def gate_and_up(f: Forward, layer: str, h: Activations) -> None:
    """gate, up = Wgate · h, Wup · h side by side; without a gate, up in its place."""
    c, b = f.config, f.buffers
    width = 2 * c.ffn_dim
    if f.family.fused:
        multiply(f, f"{layer}ffn_up", h, b.ffn, width)
    elif f.predictor is not None:
        guess_gate(f, layer, h)
        multiply(f, f"{layer}ffn_up", h, b.ffn + 4 * c.ffn_dim, width)
    elif c.activation == Activation.PLAIN_RELU and f.neurons is not None and f.neurons.halved:
        multiply_by_halves(f, layer, h)
    elif c.activation == Activation.PLAIN_RELU:
        barrier = barrier_for_own_blocks(f, f"{layer}ffn_up")
        multiply(f, f"{layer}ffn_up", h, b.ffn, width, barrier=barrier)
    else:
        multiply(f, f"{layer}ffn_gate", h, b.ffn, width, barrier=NO_BARRIER)
        up = b.ffn + 4 * c.ffn_dim
        barrier = barrier_for_own_blocks(f, f"{layer}ffn_gate", f"{layer}ffn_up")
        multiply(f, f"{layer}ffn_up", h, up, width, barrier=barrier)


def barrier_for_own_blocks(f: Forward, *names: str) -> int:
    """What has to follow products whose outputs a share takes block by block.

    Of a single row, each share has made the blocks that it takes; not so of a long product, which
    is claimed in pieces.
    """
    matrices = [f.weights.matrix(f"{name}.weight") for name in names]
    sizes = [packed_bytes(m.bits, m.outputs, m.inputs) for m in matrices if m.bits != FLOAT_BITS]
    return BARRIER if max(sizes, default=0) >= LONG_BYTES else BARRIER_IF_MANY


def guess_gate(f: Forward, layer: str, h: Activations) -> None:
    """gate = Wout · (Win · h) + bias of the predictor, where a model has no gate of its own.

    Its few inner values lie where queries were, and quantized where activations will be.
    """
    assert f.predictor is not None
    b, width = f.buffers, 2 * f.config.ffn_dim
    inner, outer, bias = f.predictor.guess(int(layer.split(".")[1]))
    rank = inner.outputs
    within = (inner.inputs, rank, rank, 0, inner.bits, h.own_columns, 0)
    f.program.add(matmul, inner.address, h.columns, b.qkv, *within)
    f.program.add(quantize, b.qkv, b.active, rank, rank, barrier=BARRIER_IF_MANY)
    outwards = (rank, outer.outputs, width, 0, outer.bits, 1, bias)
    f.program.add(matmul, outer.address, b.active, b.ffn, *outwards)


def multiply_by_halves(f: Forward, layer: str, h: Activations) -> None:
    """The gates of a single row, or where there are none its up: what is positive, exactly."""
    c, b = f.config, f.buffers
    assert f.neurons is not None
    name = f"{layer}{f.neurons.halved}"
    slots = f.neurons.gate_operands(int(layer.split(".")[1]))
    read = (f.weights.matrix(f"{name}.weight").address, bias_of(f, name), *slots)
    for operation in (gates_by_halves, settle_gates):
        f.program.add(operation, h.columns, b.ffn, c.dim, c.ffn_dim, *read)


def activation_kind(f: Forward) -> int:
    """What `kernels.activations` is to do."""
    return f.config.activation if f.predictor is None else PREDICTED_RELU


def gate_and_active(f: Forward, index: int, h: Activations) -> Activations:
    """activation(gate, up) of a single row, up only where the gate is positive."""
    c, b, layer = f.config, f.buffers, f"blk.{index}."
    assert f.neurons is not None
    if f.predictor is not None:
        guess_gate(f, layer, h)
    elif f.neurons.halved:
        multiply_by_halves(f, layer, h)
    else:
        multiply(f, f"{layer}ffn_gate", h, b.ffn, 2 * c.ffn_dim)
    up = f.weights.matrix(f"{layer}ffn_up.weight")
    bias = bias_of(f, f"{layer}ffn_up")
    sizes = (c.dim, c.ffn_dim, activation_kind(f))
    skipped = (up.address, up.bits, *f.neurons.operands(index), bias)
    f.program.add(up_of_active, b.ffn, h.columns, b.active, *sizes, *skipped)
    return normed_active(f, layer, b.ffn + 4 * c.ffn_dim)


def activate(f: Forward, index: int) -> Activations:
    """activation(gate, up), such as silu(gate) · up."""
    c, b = f.config, f.buffers
    operands = (b.ffn, b.active, c.ffn_dim, activation_kind(f), 1)
    if f.thresholds is None:
        f.program.add(activate_quantize, *operands)
    else:
        threshold = float_bits(f.thresholds[index])
        f.program.add(activate_drop_quantize, *operands, threshold)
    return normed_active(f, f"blk.{index}.", b.ffn)


def normed_active(f: Forward, layer: str, active: int) -> Activations:
    """The inputs of the last product: float32 rows at `active`, which are quantized already, or
    their norm."""
    c, b = f.config, f.buffers
    stride = 2 * c.ffn_dim
    if f.family.sub_norms:
        weight = f.weights.vector(f"{layer}ffn_sub_norm.weight")
        f.program.add(rms_norm, active, stride, 1, c.ffn_dim, weight, f.epsilon)
        f.program.add(quantize, active, b.active, c.ffn_dim, stride, barrier=BARRIER_IF_MANY)
        return Activations(active, stride, b.active)
    return Activations(active, stride, b.active, own_columns=False)


def add_to_stream(f: Forward, name: str, inputs: Activations, norm_after: str) -> None:
    """x += W · inputs + bias, normed and scaled where the family does so."""
    c, b = f.config, f.buffers
    if f.family.norms_after:
        multiply(f, name, inputs, b.h, c.dim)
        weight = f.weights.vector(f"{norm_after}.weight")
        factor = float_bits(c.residual_scale)
        f.program.add(add_normed, b.x, b.h, c.dim, weight, f.epsilon, factor)
    elif c.residual_scale != 1:
        multiply(f, name, inputs, b.h, c.dim)
        f.program.add(add_scaled, b.x, b.h, c.dim, float_bits(c.residual_scale))
    else:
        multiply(f, name, inputs, b.x, c.dim, add=True)


def add_mixture_to_stream(f: Forward, layer: str, h: Activations) -> None:
    """x += Σ over the chosen experts of share · Wdown · activation(Wgate · h, Wup · h)."""
    c, b, used = f.config, f.buffers, f.config.experts_used
    multiply(f, f"{layer}ffn_gate_inp", h, b.scores, b.score_stride)
    chosen = (b.choices, b.shares)
    f.program.add(choose_experts, b.scores, b.score_stride, c.experts, used, *chosen)
    if c.residual_scale != 1:
        f.program.add(scale, b.shares, used, float_bits(c.residual_scale))
    width = 2 * c.ffn_dim
    multiply_chosen(f, f"{layer}ffn_gate_exps", h, b.ffn, width, used, barrier=NO_BARRIER)
    multiply_chosen(f, f"{layer}ffn_up_exps", h, b.ffn + 4 * c.ffn_dim, width, used)
    f.program.add(activate_quantize, b.ffn, b.active, c.ffn_dim, c.activation, used)
    active = Activations(b.ffn, width, b.active, own_columns=False)
    multiply_chosen(f, f"{layer}ffn_down_exps", active, b.mixed, c.dim, 1)
    f.program.add(add_experts, b.x, b.mixed, c.dim, b.shares, used)


def multiply_chosen(
    f: Forward,
    name: str,
    x: Activations,
    y: int,
    stride: int,
    sharing: int,
    *,
    barrier: int = BARRIER,
) -> None:
    """y[item] = x · Wᵀ of each item's expert; `sharing` items in a row have the same x."""
    c, matrix = f.config, f.weights.matrix(f"{name}.weight")
    exact = matrix.bits == FLOAT_BITS
    addresses = (matrix.address, x.floats if exact else x.columns, y)
    sizes = (matrix.inputs, matrix.outputs // c.experts, stride, matrix.bits)
    chosen = (f.buffers.choices, c.experts, c.experts_used, sharing, x.stride)
    if f.observer is not None:
        sums = f.observer.sums(f"{name}.weight", c.experts, matrix.inputs)
        f.program.add(add_squares_of_chosen, x.floats, x.stride, matrix.inputs, sums, *chosen[:4])
    f.program.add(matmul_experts, *addresses, *sizes, *chosen, barrier=barrier)


def multiply(
    f: Forward,
    name: str,
    x: Activations,
    y: int,
    stride: int,
    *,
    add: bool = False,
    barrier: int = BARRIER,
) -> None:
    """y (+)= x · Wᵀ + bias if there is one; y float32 with rows `stride` apart (0: the logits)."""
    matrix = f.weights.matrix(f"{name}.weight")
    bias = bias_of(f, name)
    sizes = (matrix.inputs, matrix.outputs, stride, add)
    if f.observer is not None:
        sums = f.observer.sums(f"{name}.weight", 1, matrix.inputs)
        f.program.add(add_squares, x.floats, x.stride, matrix.inputs, sums, x.own_floats)
    if f.neurons is not None and name.endswith(".ffn_down"):
        layer = int(name.split(".")[1])
        inputs = (x.columns, x.own_columns, y, matrix.inputs, matrix.outputs, add)
        skipped = (matrix.address, matrix.bits, *f.neurons.operands(layer), bias)
        f.program.add(down_of_active, *inputs, *skipped, barrier=barrier)
    elif matrix.bits == FLOAT_BITS:
        operands = (matrix.address, x.floats, y, *sizes, x.stride, x.own_floats, bias)
        f.program.add(matmul_float, *operands, barrier=barrier)
    else:
        operands = (matrix.address, x.columns, y, *sizes, matrix.bits, x.own_columns, bias)
        f.program.add(matmul, *operands, barrier=barrier)


def bias_of(f: Forward, name: str) -> int:
    """Address of a product's bias float32, 0 if there is none."""
    return f.weights.vector(f"{name}.bias") if f"{name}.bias" in f.weights else 0


def float_bits(value: float) -> int:
    """The bits of a float32, to hand it over among integers."""
    assert math.isfinite(value), "a constant of the model is not finite"
    return int(np.float32(value).view(np.int32))
