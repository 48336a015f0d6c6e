"""A guess, before the up projection is read, of which neurons will be positive.

For models with plain ReLU and no gate (OPT): score = Wout · (Win · x) + bias, of a low rank (Deja
Vu, Liu et al. 2023). The file is a GGUF file beside the model's, made by `hubd model calibrate`
(`engine.calibration.prediction`), in which `blk.N.predictor_in.weight` is (rank, dim) and
`blk.N.predictor_out` is (neurons, rank) and its bias. A neuron is computed where its score is
positive; all others count as zero.
"""

from pathlib import Path
from typing import NamedTuple

from engine.architectures.config import ModelConfig
from engine.architectures.family import Activation, Family
from engine.formats.packed import BLOCK
from engine.gguf import GGUFFile, ModelFormatError
from engine.sparsity.calibrated import CalibrationError, Sparsity
from engine.sparsity.neurons import can_skip
from engine.weights import Matrix, Progress, Weights

CONTENT_HASH = "hubd.predictor.content_hash"
"""Metadata: of the model that it was made for."""


class Guess(NamedTuple):
    """What the scores of a layer are made of."""

    inner: Matrix
    outer: Matrix
    bias: int
    """Address of float32 (neurons,)."""


def tensor_names(layer: int) -> tuple[str, str, str]:
    """Of a layer in the file: inner, outer, bias."""
    stem = f"blk.{layer}.predictor"
    return f"{stem}_in.weight", f"{stem}_out.weight", f"{stem}_out.bias"


def highest_rank(config: ModelConfig) -> int:
    """Rank up to which the buffers of a step have room; a product's inputs are whole blocks."""
    return min(config.dim, config.heads * config.head_dim, config.ffn_dim) // BLOCK * BLOCK


class Predictor:
    """The packed matrices of a predictor, memory-mapped as a model's are."""

    def __init__(
        self,
        path: Path,
        config: ModelConfig,
        content_hash: str,
        cache_directory: Path | None,
        progress: Progress,
    ) -> None:
        """content_hash: of the model. Raises CalibrationError for a file that is missing, broken or
        another model's."""
        self._layers = config.layers
        try:
            gguf = GGUFFile(path)
            try:
                self.rank = _checked_rank(gguf, config, content_hash)
                self.content_hash = gguf.content_hash()
                names = [name for layer in range(config.layers) for name in tensor_names(layer)]
                where = (self.content_hash, cache_directory, progress)
                self._weights = Weights(gguf, names, *where)
            finally:
                gguf.close()
        except ModelFormatError as error:
            raise CalibrationError(f"{path.name} is no predictor: {error}") from None
        except OSError as error:
            raise CalibrationError(
                f"{path.name} cannot be read ({error.strerror}): calibrate again"
            ) from None

    @property
    def bytes_per_token(self) -> int:
        """Bytes that a decoded token reads."""
        return self._weights.total_bytes

    def guess(self, layer: int) -> Guess:
        """Of a layer."""
        inner, outer, bias = tensor_names(layer)
        weights = self._weights
        return Guess(weights.matrix(inner), weights.matrix(outer), weights.vector(bias))


def can_predict(config: ModelConfig, family: Family, weights: Weights) -> bool:
    """Whether a guess could spare rows of the up projection: nothing else does, and the guess is
    made of what a norm leaves."""
    plain = config.activation == Activation.PLAIN_RELU and family.norms_before
    return plain and highest_rank(config) > 0 and can_skip(config, weights, thresholds=False)


def read_predictor(
    sparsity: Sparsity,
    config: ModelConfig,
    family: Family,
    weights: Weights,
    content_hash: str,
    cache_directory: Path | None,
    progress: Progress,
) -> Predictor | None:
    """The predictor that is asked for; CalibrationError if it is not this model's."""
    if sparsity.predictor is None:
        return None
    if not can_predict(config, family, weights):
        raise CalibrationError("a predictor is for models with plain ReLU and no gate")
    found = Predictor(sparsity.predictor, config, content_hash, cache_directory, progress)
    told = sparsity.calibration.predictor if sparsity.calibration else None
    if told is not None and told.content_hash != found.content_hash:
        name = sparsity.predictor.name
        raise CalibrationError(f"{name} is not the one that was calibrated: calibrate again")
    return found


def _checked_rank(gguf: GGUFFile, config: ModelConfig, content_hash: str) -> int:
    """The rank, if the file is one for this model; CalibrationError if not."""
    if gguf.metadata.get(CONTENT_HASH) != content_hash:
        raise CalibrationError(
            f"{gguf.path.name} was made for another model, other adapters or another activation:"
            " calibrate again"
        )
    first = gguf.tensors.get(tensor_names(0)[0])
    rank = first.shape[0] if first is not None else 0
    if rank % BLOCK or not 0 < rank <= highest_rank(config):
        raise CalibrationError(f"{gguf.path.name} has a predictor of rank {rank}: calibrate again")
    shapes = ((rank, config.dim), (config.ffn_dim, rank), (config.ffn_dim,))
    for layer in range(config.layers):
        for name, shape in zip(tensor_names(layer), shapes, strict=True):
            found = gguf.tensors.get(name)
            exact = len(shape) > 1 and found is not None and found.type_name == "F32"
            if found is None or found.shape != shape or exact:
                raise CalibrationError(
                    f"{gguf.path.name} has no quantized {name} of shape {shape}: calibrate again"
                )
    return rank
