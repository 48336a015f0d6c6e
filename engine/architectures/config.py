"""The sizes and constants of a model, read from metadata that may be anything."""

import math
import re
from dataclasses import dataclass

from engine.architectures.family import Activation, Family
from engine.formats.packed import BLOCK, LANES
from engine.gguf import GGUFFile, ModelFormatError
from engine.gguf_header import Metadata

_LARGEST = 1 << 24
_LARGEST_EPSILON = 1.0
NO_WINDOW = 1 << 40
"""A window that sees everything."""
_ACTIVATIONS = {
    "silu": Activation.SILU,
    "gelu": Activation.GELU,
    "relu": Activation.RELU,
    "relu2": Activation.SQUARED_RELU,
    "drelu": Activation.DOUBLE_RELU,
}
"""`<architecture>.hidden_activation` → what gate and up become."""
_RELU_NAMES = re.compile(r"prosparse|relu.?llama|turbo.?sparse|bamboo", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class RopeScaling:
    """How rotary positions are stretched beyond the context of the first training."""

    kind: str = "none"
    """none, linear or yarn."""
    factor: float = 1.0
    original_context: int = 0
    """Positions of the first training; 0: not said."""
    amplitude: float = 1.0
    """What cos and sin are multiplied with."""


@dataclass(frozen=True, slots=True)
class ModelConfig:
    """Sizes and constants of a model."""

    architecture: str
    layers: int
    dim: int
    heads: int
    kv_heads: int
    head_dim: int
    ffn_dim: int
    vocabulary: int
    context_length: int
    """Positions that a sequence may have."""
    norm_epsilon: float
    rotated: int
    """Elements of a head that are rotated."""
    rope_base: float
    rope_scaling: RopeScaling
    activation: Activation
    query_scale: float
    """What scores are multiplied with: 1 / √head_dim, mostly."""
    window: int = NO_WINDOW
    """Positions that a layer with a window sees."""
    score_cap: float = 0.0
    """Attention scores are kept within ± this by tanh; 0: they are not."""
    logit_cap: float = 0.0
    embedding_scale: float = 1.0
    residual_scale: float = 1.0
    """What a block gives is multiplied with this before it is added to the stream."""
    logit_scale: float = 1.0
    experts: int = 0
    """Experts of a layer; 0: an ordinary feed-forward block."""
    experts_used: int = 0


def integer(metadata: Metadata, key: str, default: int | None = None) -> int:
    """A positive integer of sensible size; ModelFormatError otherwise."""
    value = metadata.get(key, default)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 < value <= _LARGEST:
        problem = "is missing" if value is None else f"is {value!r}"
        raise ModelFormatError(
            f"{metadata.named(key)} {problem}; an integer from 1 to {_LARGEST} is expected"
        )
    return value


def number(metadata: Metadata, key: str, default: float | None = None) -> float:
    """A positive finite number; ModelFormatError otherwise."""
    value = metadata.get(key, default)
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < _LARGEST:
        return float(value)
    problem = "is missing" if value is None else f"is {value!r}"
    raise ModelFormatError(
        f"{metadata.named(key)} {problem}; a number between 0 and {_LARGEST} is expected"
    )


def read_config(
    gguf: GGUFFile, name: str, family: Family, activation: str | None = None
) -> ModelConfig:
    """The configuration; ModelFormatError for a field that is missing or makes no sense.

    name: `general.architecture`, which opens the keys; activation: what the file should have said.
    """
    meta = gguf.metadata
    heads, layers = (
        integer(meta, f"{name}.attention.head_count"),
        integer(meta, f"{name}.block_count"),
    )
    dim = integer(meta, f"{name}.embedding_length")
    head_dim = integer(meta, f"{name}.attention.key_length", dim // heads)
    if "token_embd.weight" not in gguf.tensors:
        raise meta.missing_tensor("token_embd.weight")
    epsilon = "layer_norm_epsilon" if family.layer_norm else "layer_norm_rms_epsilon"
    by_width = family.query_scale_by_width == layers
    query_scale = 1 / math.sqrt(dim / heads if by_width else head_dim)
    experts = _experts(meta, name, family)
    ffn = "expert_feed_forward_length" if family.experts == "must" else "feed_forward_length"
    config = ModelConfig(
        architecture=name,
        layers=layers,
        dim=dim,
        heads=heads,
        kv_heads=integer(meta, f"{name}.attention.head_count_kv", heads),
        head_dim=head_dim,
        ffn_dim=integer(meta, f"{name}.{ffn}"),
        vocabulary=gguf.tensors["token_embd.weight"].shape[0],
        context_length=integer(meta, f"{name}.context_length"),
        norm_epsilon=number(meta, f"{name}.attention.{epsilon}"),
        rotated=integer(meta, f"{name}.rope.dimension_count", head_dim),
        rope_base=number(meta, f"{name}.rope.freq_base", 10_000.0),
        rope_scaling=_rope_scaling(meta, name),
        activation=_activation(meta, name, family, activation),
        query_scale=number(meta, f"{name}.attention.scale", query_scale),
        window=_window(meta, name, family),
        score_cap=_optional(meta, f"{name}.attn_logit_softcapping", 0.0),
        logit_cap=_optional(meta, f"{name}.final_logit_softcapping", 0.0),
        embedding_scale=number(
            meta,
            f"{name}.embedding_scale",
            math.sqrt(dim) if family.embedding_scaled_by_width else 1.0,
        ),
        residual_scale=number(meta, f"{name}.residual_scale", 1.0),
        logit_scale=1 / number(meta, f"{name}.logit_scale", 1.0),
        experts=experts,
        experts_used=integer(meta, f"{name}.expert_used_count") if experts else 0,
    )
    if layers > len(gguf.tensors):
        raise ModelFormatError(
            f"{meta.named(f'{name}.block_count')} is {layers},"
            f" but there are {len(gguf.tensors)} tensors"
        )
    return _checked(config, meta, epsilon)


def _checked(config: ModelConfig, meta: Metadata, epsilon: str) -> ModelConfig:
    """The configuration, if its sizes go together."""
    c = config
    problems = (
        (
            "attention.head_count",
            c.heads % c.kv_heads,
            f"{c.heads} heads cannot share {c.kv_heads} key-value heads",
        ),
        ("embedding_length", c.dim % BLOCK, f"{c.dim} is not a multiple of {BLOCK}"),
        (
            "attention.key_length",
            c.head_dim % LANES,
            f"heads of {c.head_dim} are not a multiple of {LANES}",
        ),
        (
            "rope.dimension_count",
            c.rotated % 2 or c.rotated > c.head_dim,
            f"{c.rotated} elements of a head of {c.head_dim} cannot be rotated",
        ),
        (
            "expert_used_count",
            c.experts_used > c.experts,
            f"{c.experts_used} of {c.experts} experts cannot be used",
        ),
        (
            f"attention.{epsilon}",
            c.norm_epsilon > _LARGEST_EPSILON,
            f"a norm's epsilon of {c.norm_epsilon} is not small",
        ),
    )
    for key, there, problem in problems:
        if there:
            raise ModelFormatError(f"{meta.named(f'{c.architecture}.{key}')}: {problem}")
    return config


def _optional(meta: Metadata, key: str, default: float) -> float:
    """A positive number, or the default where the key is missing or 0."""
    return number(meta, key) if meta.get(key) else default


def _window(meta: Metadata, name: str, family: Family) -> int:
    key = f"{name}.attention.sliding_window"
    if not meta.get(key):
        return NO_WINDOW
    window = integer(meta, key)
    if family.window_every is None and window < integer(meta, f"{name}.context_length"):
        raise ModelFormatError(
            f"{meta.named(key)} is {window}; {name} is known without windows only"
        )
    return window


def _activation(meta: Metadata, name: str, family: Family, asked: str | None) -> Activation:
    """What the user says, else the file, else what the family has."""
    if asked is not None and asked not in _ACTIVATIONS:
        raise ValueError(f"activation is {asked!r}; known: {', '.join(_ACTIVATIONS)}")
    said = asked or meta.get(f"{name}.hidden_activation")
    if said is None and name == "llama" and _RELU_NAMES.search(str(meta.get("general.name"))):
        raise ModelFormatError(
            f"{meta.named('general.name')} is {meta['general.name']!r}, of models with ReLU in"
            " place of SiLU, but"
            f" {name}.hidden_activation does not say so: set activation to relu, to drelu for"
            " TurboSparse and Bamboo, or to silu"
        )
    if said is None or family.activation == Activation.PLAIN_RELU:
        return family.activation
    if said not in _ACTIVATIONS:
        known = ", ".join(_ACTIVATIONS)
        named = meta.named(f"{name}.hidden_activation")
        raise ModelFormatError(f"{named} is {said!r}; known: {known}")
    return _ACTIVATIONS[said]


def _experts(meta: Metadata, name: str, family: Family) -> int:
    key = f"{name}.expert_count"
    if family.experts == "must":
        return integer(meta, key)
    count = integer(meta, key) if meta.get(key) else 0
    if count and family.experts == "no":
        raise ModelFormatError(
            f"{meta.named(key)} is {count}; {name} is known without experts only"
        )
    return count


def _rope_scaling(meta: Metadata, name: str) -> RopeScaling:
    key = f"{name}.rope.scaling"
    kind = meta.get(f"{key}.type", "none")
    if kind not in ("none", "linear", "yarn", "longrope"):
        raise ModelFormatError(
            f"{meta.named(f'{key}.type')} is {kind!r}; known: none, linear, yarn, longrope"
        )
    factor = number(meta, f"{key}.factor", 1.0)
    original_key = f"{key}.original_context_length"
    original = integer(meta, original_key) if meta.get(original_key) else 0
    if kind == "yarn" and not original:
        original = integer(meta, f"{name}.context_length")
    return RopeScaling(kind, factor, original, number(meta, f"{key}.attn_factor", 1.0))
