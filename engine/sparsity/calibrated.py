"""What calibration has found out about a model: a file beside the model's.

Knows nothing of how it was found.
"""

import math
from collections.abc import Sequence
from pathlib import Path

import msgspec

from engine.errors import EngineError

_LARGEST_FILE = 1 << 28


class CalibrationError(EngineError):
    """A calibration that is missing, broken or another model's, or that would cost too much."""


class Prediction(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What the predictor beside a model does, on text that it was not made with."""

    content_hash: str
    """Of the predictor's file."""
    rank: int
    recall: list[float]
    """Of each layer: which part of the neurons that fire is found."""
    listed: list[float]
    """Of each layer: which part of its neurons is expected to fire."""
    speedup: float
    """Of decoding, against leaving out zeros alone, where it was calibrated."""


class Calibration(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Thresholds and an order of neurons, and what they cost on the text that they come from."""

    content_hash: str
    """Of the model that was calibrated."""
    thresholds: list[float]
    """Of each layer: activations of a smaller magnitude become zero; none for a model that has
    zeros by itself."""
    order: list[list[int]]
    """Of each layer: its neurons, those that fire most often first."""
    tokens: int
    """Of the text that the neurons were watched with."""
    zeros: list[float]
    """Of each layer: share of zeros among the inputs of its down projection."""
    perplexity_dense: float
    perplexity_sparse: float
    """Both on a part of the text that nothing was chosen with."""
    predictor: Prediction | None = None
    """Of a model without a gate, where one was measured to pay."""


class Sparsity(msgspec.Struct, frozen=True):
    """What is to be skipped when tokens are decoded one by one."""

    zeros: bool = True
    """What is zero anyway."""
    calibration: Calibration | None = None
    """Besides, what is small; and in which order neurons lie."""
    predictor: Path | None = None
    """The file of a predictor of what will be zero."""

    @property
    def thresholds(self) -> list[float] | None:
        """Those of the calibration, if it has any."""
        return (self.calibration.thresholds or None) if self.calibration else None


def path_beside(model: Path) -> Path:
    """Where the calibration of a model file is kept."""
    return model.with_name(f"{model.name}.calibration.json")


def predictor_beside(model: Path) -> Path:
    """Where the predictor of a model file is kept."""
    return model.with_name(f"{model.name}.predictor.gguf")


def calibrated(model: Path) -> Sparsity:
    """All that calibration found for a model file; CalibrationError if there is no sound one."""
    found = read_calibration(model)
    return Sparsity(True, found, predictor_beside(model) if found.predictor else None)


def read_calibration(model: Path) -> Calibration:
    """The calibration of a model file; CalibrationError if there is no sound one."""
    path = path_beside(model)
    try:
        if path.stat().st_size > _LARGEST_FILE:
            raise CalibrationError(f"{path.name} is too large for a calibration")
        return msgspec.json.decode(path.read_bytes(), type=Calibration)
    except OSError as error:
        raise CalibrationError(
            f"{path.name} cannot be read ({error.strerror}): make it with"
            f" `hubd model calibrate {model.name}`"
        ) from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise CalibrationError(f"{path.name} is no calibration: {error}") from None


def check(found: Calibration, content_hash: str, layers: int, neurons: int) -> None:
    """CalibrationError unless it was made for a model with this content and these sizes."""
    if found.content_hash != content_hash:
        raise CalibrationError(
            "the calibration was made for another model, other adapters or another activation:"
            " calibrate again"
        )
    if len(found.order) != layers or len(found.thresholds) not in (0, layers):
        raise CalibrationError(f"the calibration is not one of {layers} layers")
    if not all(_is_order(one, neurons) for one in found.order):
        raise CalibrationError(f"the calibration's order is not one of {neurons} neurons")
    if not all(math.isfinite(one) and 0 <= one < 1e30 for one in found.thresholds):
        raise CalibrationError("a threshold of the calibration is no positive finite number")


def _is_order(order: Sequence[int], neurons: int) -> bool:
    """Whether each of so many neurons is named once."""
    return len(order) == neurons and set(order) == set(range(neurons))
