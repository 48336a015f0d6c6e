"""LoRA adapters (Hu et al. 2021) in GGUF: small matrices A and B that change a model's own.

W' = W + scale · alpha / rank · B · A, worked out while the weights are packed, so that an adapted
model computes as fast as any other. The file is that of llama.cpp's convert_lora_to_gguf: for each
matrix NAME of the model a NAME.lora_a and a NAME.lora_b. It is untrusted input, as a model is.
"""

import hashlib
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from engine.formats import FORMATS
from engine.gguf import GGUFFile, ModelFormatError, TensorInfo

Floats = NDArray[np.float32]

MAX_ADAPTERS = 16
_LARGEST_SCALE = 1000.0
_HASH_PIECE = 1 << 20
_A, _B = ".lora_a", ".lora_b"
_EMBEDDING = "token_embd.weight"


class AdapterFile(NamedTuple):
    """An adapter to apply, and how strongly."""

    path: Path
    scale: float = 1.0

    @classmethod
    def parse(cls, text: str) -> "AdapterFile":
        """``FILE`` or ``FILE:SCALE``. Raises ValueError for a scale out of reason."""
        file, colon, last = text.rpartition(":")
        try:
            scale = float(last) if colon else 1.0
        except ValueError:  # a colon of the file's name
            return cls(Path(text))
        if not abs(scale) <= _LARGEST_SCALE:
            raise ValueError(f"{text!r}: a scale from {-_LARGEST_SCALE:g} to {_LARGEST_SCALE:g}")
        return cls(Path(file if colon else text), scale)


class AdaptedModel(Protocol):
    """What an adapter is checked against: a model file's metadata, and its tensors by name."""

    @property
    def metadata(self) -> Mapping[str, Any]: ...

    @property
    def tensors(self) -> Mapping[str, TensorInfo]: ...


class _Pair(NamedTuple):
    """A and B for one matrix of the model."""

    file: GGUFFile
    a: TensorInfo
    """(rank, inputs), or (experts, rank, inputs); of the embedding (vocabulary, rank)."""
    b: TensorInfo
    """(outputs, rank), or (experts, outputs, rank); of the embedding (dim, rank)."""
    factor: float
    """scale · alpha / rank."""


class Change(NamedTuple):
    """What the adapters add to one matrix, or to a stack of them."""

    parts: list[tuple[Floats, Floats]]
    """A (experts, rank, inputs) and B (experts, outputs, rank), the factor in A."""

    def rows(self, first: int, count: int) -> Floats:
        """float32 (count, inputs): what is added to these rows of the matrix, or of the stack."""
        total = np.zeros((count, self.parts[0][0].shape[-1]), np.float32)
        for a, b in self.parts:
            outputs = b.shape[1]
            start = first
            while start < first + count:
                expert, row = divmod(start, outputs)
                end = min(first + count, (expert + 1) * outputs)
                total[start - first : end - first] += b[expert, row : row + end - start] @ a[expert]
                start = end
        return total


class Adapters:
    """The adapters of a model, opened and checked against it. Close it once the weights are packed.

    Without files it stands for none.
    """

    def __init__(self) -> None:
        """None, so far."""
        self._files: list[GGUFFile] = []
        self._pairs: dict[str, list[_Pair]] = {}
        self._digest = hashlib.sha256()

    @classmethod
    def opened(
        cls, files: Sequence[AdapterFile], base: AdaptedModel, others: frozenset[str] = frozenset()
    ) -> Self:
        """others: names of tensors that are none of a pair, and somebody else's to read.

        Raises OSError, or ModelFormatError for a file that does not fit the model.
        """
        if len(files) > MAX_ADAPTERS:
            raise ModelFormatError(f"{len(files)} adapters; at most {MAX_ADAPTERS} are possible")
        adapters = cls()
        try:
            for path, scale in files:
                adapters._add(path, scale, base, others)
        except BaseException:
            adapters.close()
            raise
        return adapters

    def __contains__(self, name: str) -> bool:
        """Whether a tensor of the model is changed."""
        return name in self._pairs

    def content_hash(self, base: str) -> str:
        """Identity of the adapted model; base: that of the model itself."""
        if not self._files:
            return base
        whole = self._digest.copy()
        whole.update(base.encode())
        return whole.hexdigest()

    def change(self, name: str) -> Change:
        """What is added to a tensor of the model. ModelFormatError if it is not finite."""
        parts = []
        for file, a_info, b_info, factor in self._pairs[name]:
            a, b = _values(file, a_info), _values(file, b_info)
            if name == _EMBEDDING:
                a, b = b.T, a
            if a.ndim == 2:
                a, b = a[None], b[None]
            parts.append((a * np.float32(factor), b))
        return Change(parts)

    def close(self) -> None:
        """Close the files; `change` cannot be asked any more."""
        for file in self._files:
            file.close()

    def _add(self, path: Path, scale: float, base: AdaptedModel, others: frozenset[str]) -> None:
        file = GGUFFile(path)
        self._files.append(file)
        try:
            alpha = _check_metadata(file, base)
            for name, (a, b) in _pairs(file, others).items():
                rank = _check_shapes(name, a, b, base)
                factor = scale * alpha / rank if alpha else scale  # as llama.cpp takes 0
                self._pairs.setdefault(name, []).append(_Pair(file, a, b, factor))
            _hash_into(self._digest, file, scale)
        except ModelFormatError as error:
            raise ModelFormatError(f"adapter {path.name}: {error}") from None


def _check_metadata(file: GGUFFile, base: AdaptedModel) -> float:
    """The adapter's alpha, 0 if it has none; ModelFormatError if it is not one for this model."""
    meta = file.metadata
    if meta.get("general.type") != "adapter":
        raise ModelFormatError(f"general.type is {meta.get('general.type')!r}, not 'adapter'")
    if meta.get("adapter.type") != "lora":
        raise ModelFormatError(f"adapter.type is {meta.get('adapter.type')!r}; known: lora")
    if "adapter.alora.invocation_tokens" in meta:
        raise ModelFormatError(
            "adapter.alora.invocation_tokens is there: an activated LoRA is for a part of each"
            " prompt only, which is not supported"
        )
    key = "general.architecture"
    if meta.get(key) != base.metadata.get(key):
        raise ModelFormatError(
            f"{key} is {meta.get(key)!r}, but that of the model is {base.metadata.get(key)!r}"
        )
    alpha = meta.get("adapter.lora.alpha", 0.0)
    if isinstance(alpha, bool) or not isinstance(alpha, int | float) or not 0 <= alpha < 1e6:
        raise ModelFormatError(f"adapter.lora.alpha is {alpha!r}; a number from 0 is expected")
    return float(alpha)


def _pairs(file: GGUFFile, others: frozenset[str]) -> dict[str, tuple[TensorInfo, TensorInfo]]:
    """A and B by the name of the tensor that they change."""
    tensors = {name: info for name, info in file.tensors.items() if name not in others}
    found = {}
    for name, info in tensors.items():
        stem, ending = name[: -len(_A)], name[-len(_A) :]
        if ending not in (_A, _B):
            raise _error(info, f"is neither a {_A} nor a {_B}, and would be ignored")
        other = stem + (_B if ending == _A else _A)
        if other not in tensors:
            raise _error(info, f"there is no {other!r}")
        if info.type_name not in FORMATS:
            raise _error(info, f"type {info.type_name} cannot be read")
        found[stem] = (tensors[stem + _A], tensors[stem + _B])
    if not found:
        raise ModelFormatError("it changes nothing: there are no tensors")
    return found


def _check_shapes(name: str, a: TensorInfo, b: TensorInfo, base: AdaptedModel) -> int:
    """The rank of a pair that fits the model's tensor; ModelFormatError otherwise."""
    if name not in base.tensors:
        raise _error(a, f"the model has no tensor {name!r}")
    shape = base.tensors[name].shape
    rank = b.shape[-1]
    expected_a: tuple[int, ...]
    expected_b: tuple[int, ...]
    if name == _EMBEDDING and len(shape) == 2:
        expected_a, expected_b = (shape[0], rank), (shape[1], rank)
    else:
        *experts, outputs, inputs = (1, *shape) if len(shape) == 1 else shape
        expected_a, expected_b = (*experts, rank, inputs), (*experts, outputs, rank)
    for info, expected in ((a, expected_a), (b, expected_b)):
        if info.shape != expected or len(shape) not in (2, 3):
            raise _error(
                info, f"shape {info.shape} does not fit {name!r} of the model, which is {shape}"
            )
    if rank > min(shape[-2:]):
        raise _error(b, f"a rank of {rank} is more than {name!r} of the model has, {shape}")
    return rank


def _hash_into(digest: "hashlib._Hash", file: GGUFFile, scale: float) -> None:
    """The whole content of an adapter and its scale: neighbours in training differ in few bytes."""
    digest.update(f"{file.content_hash()} {scale!r}\n".encode())
    for name, info in file.tensors.items():
        for start in range(0, info.size, _HASH_PIECE):
            size = min(_HASH_PIECE, info.size - start)
            digest.update(file.tensor_bytes(name, start, size).tobytes())


def _values(file: GGUFFile, info: TensorInfo) -> Floats:
    values = FORMATS[info.type_name].dequantize(file.tensor_bytes(info.name), info.shape)
    if not math.isfinite(float(np.abs(values).max())):
        raise _error(info, f"the weights of {file.path.name} are not all finite numbers")
    return values


def _error(info: TensorInfo, problem: str) -> ModelFormatError:
    return ModelFormatError(f"tensor {info.name!r} at offset {info.offset}: {problem}")
