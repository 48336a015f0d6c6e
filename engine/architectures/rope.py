"""Rotary wavelengths: plain, stretched linearly or by YaRN, with a model's own factors.

RoPE: Su et al. 2021; YaRN: Peng et al. 2023, section 3; LongRoPE: Ding et al. 2024.
"""

import math

import numpy as np
from numpy.typing import NDArray

from engine.architectures.config import ModelConfig, RopeScaling
from engine.formats import FORMATS
from engine.gguf import GGUFFile, ModelFormatError

FACTORS = ("rope_freqs.weight", "rope_factors_short.weight", "rope_factors_long.weight")
"""Tensors that a file may have: Llama 3's factors, Phi 3's short and long ones."""
_POSITIONS_AT_ONCE = 4096  # the float64 angles of a long context would take gigabytes
_FEWEST_POSITIONS = 1024
_FAST_TURNS, _SLOW_TURNS = 32, 1  # over the original context, YaRN's β_fast and β_slow


def rope_factors(gguf: GGUFFile, config: ModelConfig) -> NDArray[np.float32] | None:
    """float32 (pairs,) that the wavelengths are multiplied with, where a model has them.

    Phi 3's long factors are for contexts beyond that of the first training.
    """
    original = config.rope_scaling.original_context
    long = "long" if original and config.context_length > original else "short"
    for name in ("rope_freqs.weight", f"rope_factors_{long}.weight"):
        if name in gguf.tensors:
            info = gguf.tensors[name]
            if info.type_name != "F32" or info.shape != (config.rotated // 2,):
                raise ModelFormatError(
                    f"tensor {name!r} is {info.type_name} {info.shape};"
                    f" F32 ({config.rotated // 2},) is expected"
                )
            factors = FORMATS["F32"].dequantize(gguf.tensor_bytes(name), info.shape)
            if not np.all(np.isfinite(factors) & (factors > 0)):
                raise ModelFormatError(f"tensor {name!r} has factors that are not positive")
            return factors
    return None


def rope_angles(
    config: ModelConfig,
    positions: int,
    factors: NDArray[np.float32] | None,
    *,
    base: float | None = None,
    first: int = 0,
) -> NDArray[np.float32]:
    """cos and sin of every position from `first` on, and pair: float32 (positions, pairs, 2).

    factors: float32 (pairs,) that the wavelengths are multiplied with, or None; base: of layers
    that have another one and are not stretched.
    """
    pairs = config.rotated // 2
    scaling = RopeScaling() if base is not None else config.rope_scaling
    base = base or config.rope_base
    frequencies = base ** (-np.arange(pairs) / pairs)
    amplitude = scaling.amplitude
    if scaling.kind == "linear":
        frequencies = frequencies / scaling.factor
    if scaling.kind == "yarn":
        kept = _kept_by_yarn(pairs, base, scaling.original_context)
        frequencies = frequencies * (kept + (1 - kept) / scaling.factor)
        amplitude *= 0.1 * math.log(max(1.0, scaling.factor)) + 1.0
    if factors is not None:
        frequencies = frequencies / factors
    both = np.empty((positions, pairs, 2), np.float32)
    for start in range(0, positions, _POSITIONS_AT_ONCE):
        here = np.arange(start, min(start + _POSITIONS_AT_ONCE, positions))
        angles = np.outer(first + here, frequencies)
        both[here, :, 0], both[here, :, 1] = np.cos(angles) * amplitude, np.sin(angles) * amplitude
    return both


class RopeTable:
    """The angles of the positions in use: it grows with the longest sequence.

    All 131 072 positions of Gemma 3 would take 134 MB, twice.
    """

    def __init__(
        self,
        config: ModelConfig,
        factors: NDArray[np.float32] | None,
        *,
        base: float | None = None,
    ) -> None:
        """As `rope_angles`."""
        self._config, self._factors, self._base = config, factors, base
        self._angles = np.empty((0, config.rotated // 2, 2), np.float32)
        self._cell = np.zeros(1, np.int64)
        self.cell = self._cell.ctypes.data
        """Address of an int64 that is the address of the angles, which move as they grow."""

    def reach(self, positions: int) -> None:
        """See that the first `positions` are there; not while a step runs."""
        have = len(self._angles)
        if positions <= have:
            return
        size = max(positions, min(2 * have, self._config.context_length), _FEWEST_POSITIONS)
        more = rope_angles(self._config, size - have, self._factors, base=self._base, first=have)
        self._angles = np.concatenate([self._angles, more])
        self._cell[0] = self._angles.ctypes.data

    def first(self, positions: int) -> NDArray[np.float32]:
        """The angles of the first positions, (positions, pairs, 2)."""
        self.reach(positions)
        return self._angles[:positions]


def _kept_by_yarn(pairs: int, base: float, original_context: int) -> NDArray[np.float64]:
    """How much of each frequency stays as it is: all of the fast ones, none of the slow ones."""

    def pair_that_turns(times: float) -> float:
        return pairs * math.log(original_context / (times * 2 * math.pi)) / math.log(base)

    low = max(0, math.floor(pair_that_turns(_FAST_TURNS)))
    high = min(2 * pairs - 1, math.ceil(pair_that_turns(_SLOW_TURNS)))
    ramp = (np.arange(pairs) - low) / max(0.001, high - low)
    kept: NDArray[np.float64] = 1 - np.clip(ramp, 0, 1)
    return kept
