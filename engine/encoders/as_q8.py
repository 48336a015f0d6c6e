"""Tensors under other names, their float matrices handed over as Q8_0.

An encoder's files hold float32; multiplied as they are they would be exact but slow.
"""

from collections.abc import Mapping

import msgspec
import numpy as np
from numpy.typing import NDArray

from engine.errors import ModelFormatError
from engine.formats import FORMATS
from engine.formats.packed import BLOCK
from engine.gguf_header import TensorInfo
from engine.tensor_source import TensorSource

_Q8_BLOCK_BYTES = 34
_FLOAT_BLOCK_BYTES = 4 * BLOCK


class AsQ8:
    """A `TensorSource` over another one."""

    def __init__(self, source: TensorSource, names: Mapping[str, str]) -> None:
        """names: the name that each tensor gets → its own."""
        self._source, self._names = source, names
        self.tensors: dict[str, TensorInfo] = {
            name: _renamed(source.tensors[own], name) for name, own in names.items()
        }

    def tensor_bytes(self, name: str, start: int = 0, size: int | None = None) -> NDArray[np.uint8]:
        """As the source's; bytes of Q8_0 are made of the floats that they stand for."""
        own, info = self._names[name], self.tensors[name]
        if self._source.tensors[own].type_name == info.type_name:
            return self._source.tensor_bytes(own, start, size)
        size = info.size - start if size is None else size
        assert start % _Q8_BLOCK_BYTES == size % _Q8_BLOCK_BYTES == 0, "pieces are whole blocks"
        first = start // _Q8_BLOCK_BYTES * _FLOAT_BLOCK_BYTES
        count = size // _Q8_BLOCK_BYTES * _FLOAT_BLOCK_BYTES
        floats = self._source.tensor_bytes(own, first, count).view("<f4").astype(np.float32)
        quantize = FORMATS["Q8_0"].quantize
        assert quantize is not None
        with np.errstate(over="ignore", invalid="ignore"):  # what comes of it is looked at
            return quantize(floats)

    def floats(self, name: str) -> NDArray[np.float32]:
        """A whole tensor as float32, by the name that it got. Raises ModelFormatError."""
        own = self._names[name]
        info = self._source.tensors[own]
        if info.type_name not in FORMATS:
            raise ModelFormatError(f"tensor {name!r} has type {info.type_name}, which cannot run")
        return FORMATS[info.type_name].dequantize(self._source.tensor_bytes(own), info.shape)


def _renamed(info: TensorInfo, name: str) -> TensorInfo:
    """Under another name; a float32 matrix of whole blocks as the Q8_0 that it becomes."""
    if info.type_name != "F32" or len(info.shape) != 2 or info.shape[1] % BLOCK:
        return msgspec.structs.replace(info, name=name)
    size = info.size // _FLOAT_BLOCK_BYTES * _Q8_BLOCK_BYTES
    return msgspec.structs.replace(info, name=name, type_name="Q8_0", size=size)
