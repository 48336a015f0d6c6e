"""The sizes of a model, and reading them from metadata that may be anything."""

from dataclasses import dataclass
from typing import Any

from engine.gguf import ModelFormatError

_LARGEST = 1 << 24


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
    rope_base: float
    rope_scale: float
    """What positions are multiplied with before they are rotated."""
    norm_epsilon: float


def integer(metadata: dict[str, Any], key: str, default: int | None = None) -> int:
    """A positive integer of sensible size; ModelFormatError otherwise."""
    value = metadata.get(key, default)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 < value <= _LARGEST:
        problem = "is missing" if value is None else f"is {value!r}"
        raise ModelFormatError(f"{key} {problem}; an integer from 1 to {_LARGEST} is expected")
    return value


def number(metadata: dict[str, Any], key: str, default: float | None = None) -> float:
    """A positive finite number; ModelFormatError otherwise."""
    value = metadata.get(key, default)
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < _LARGEST:
        return float(value)
    problem = "is missing" if value is None else f"is {value!r}"
    raise ModelFormatError(f"{key} {problem}; a number between 0 and {_LARGEST} is expected")
