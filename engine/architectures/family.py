"""What sets one family of models apart from plain Llama, as data.

Every default is plain Llama: a family's file says the differences and nothing else.
"""

from dataclasses import dataclass
from enum import IntEnum
from typing import Literal

from engine.kernels.activations import DOUBLE_RELU, GELU, PLAIN_RELU, RELU, SILU, SQUARED_RELU


class Activation(IntEnum):
    """The feed-forward activation; the value is what `kernels.activations` knows it by."""

    SILU = SILU  # silu(gate) · up
    GELU = GELU  # gelu(gate) · up, with the tanh approximation
    RELU = RELU  # relu(gate) · up
    SQUARED_RELU = SQUARED_RELU  # relu(gate)² · up
    DOUBLE_RELU = DOUBLE_RELU  # relu(gate) · relu(up)
    PLAIN_RELU = PLAIN_RELU  # relu(up), no gate


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """The differences from Llama."""

    rope: Literal["adjacent", "halves", "none"] = "adjacent"
    """Which elements of a head are rotated together: 2i and 2i + 1, or i and i + rotated / 2."""
    no_rope_every: int = 0
    """Every so manieth layer is not rotated (layers 4, 8, … for 4)."""
    local_rope_base: float | None = None
    """Base of the rotary wavelengths in layers with a window, where it is another one."""
    window_every: int | None = None
    """The last of every so many layers sees everything, the others a window; 0: all have one;
    None: the family has no windows."""
    learned_positions: bool = False
    """Positions are a table that is added to the embedding."""

    layer_norm: bool = False
    """LayerNorm with a bias in place of RMSNorm."""
    norms_before: bool = True
    norms_after: bool = False
    """A norm of what a block gives, before that is added to the stream."""
    query_key_norm: Literal["no", "head", "width"] = "no"
    """RMSNorm of queries and keys, head by head or over their whole width."""
    sub_norms: bool = False
    """A norm before the last matrix of each block."""

    fused: bool = False
    """One matrix for q, k and v; one for gate and up."""
    biases: tuple[str, ...] = ()
    """Matrices of a layer that have a bias."""
    optional_biases: tuple[str, ...] = ()
    """Matrices of a layer that have a bias in some files."""
    activation: Activation = Activation.SILU
    experts: Literal["no", "may", "must"] = "no"
    """Whether the feed-forward block is a mixture of experts."""

    embedding_scaled_by_width: bool = False
    """Embeddings are multiplied with √dim."""
    query_scale_by_width: int | None = None
    """Files with so many layers scale queries by 1 / √(dim / heads), not 1 / √head_dim."""
