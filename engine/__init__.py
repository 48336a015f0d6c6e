"""LLM inference on the CPU.

``Engine`` and ``SamplingParams`` are loaded on first use, so that importing ``engine.client`` in a
light process brings in neither numba nor NumPy.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from engine.engine import Engine
    from engine.sampling_params import SamplingParams

__all__ = ["Engine", "SamplingParams"]

_HOMES = {"Engine": "engine.engine", "SamplingParams": "engine.sampling_params"}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'engine' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)
