"""Writer of GGUF model files, version 3, little-endian: metadata and tensors → bytes.

Source: the GGUF specification (ggml, docs/gguf.md). Knows nothing of models or quantization
arithmetic; tensors come in pieces, so that a file may be larger than memory.
"""

import math
import struct
from collections.abc import Iterable
from typing import BinaryIO, NamedTuple

from engine.gguf_header import DEFAULT_ALIGNMENT, MAGIC, TENSOR_TYPES

VERSION = 3
_UINT32, _FLOAT32, _STRING = 4, 6, 8
_TYPE_NUMBERS = {name: number for number, (name, _, _) in TENSOR_TYPES.items()}


class NewTensor(NamedTuple):
    """A tensor that will be written."""

    name: str
    shape: tuple[int, ...]
    """Row-major: (rows, columns)."""
    type_name: str

    @property
    def size(self) -> int:
        """Bytes of its data."""
        _, elements, size = TENSOR_TYPES[_TYPE_NUMBERS[self.type_name]]
        return math.prod(self.shape) // elements * size


def _string(text: str) -> bytes:
    raw = text.encode()
    return struct.pack("<Q", len(raw)) + raw


def pair(key: str, value: str | int | float) -> bytes:
    """A metadata pair: a string, an integer as uint32, or a float32."""
    if isinstance(value, str):
        return _string(key) + struct.pack("<I", _STRING) + _string(value)
    if isinstance(value, float):
        return _string(key) + struct.pack("<If", _FLOAT32, value)
    return _string(key) + struct.pack("<II", _UINT32, value)


def _padding(size: int, alignment: int) -> int:
    return -size % alignment


def _tensor_table(tensors: list[NewTensor], alignment: int) -> bytes:
    """Every tensor's name, shape, type and offset from the start of the data."""
    entries, offset = [], 0
    for tensor in tensors:
        rank = len(tensor.shape)
        shape = struct.pack(f"<I{rank}Q", rank, *reversed(tensor.shape))
        kind = struct.pack("<IQ", _TYPE_NUMBERS[tensor.type_name], offset)
        entries.append(_string(tensor.name) + shape + kind)
        offset += tensor.size + _padding(tensor.size, alignment)
    return b"".join(entries)


def write_gguf(
    file: BinaryIO,
    pairs: list[bytes],
    tensors: list[NewTensor],
    data: Iterable[Iterable[bytes]],
    alignment: int = DEFAULT_ALIGNMENT,
) -> None:
    """Write a whole file.

    pairs: metadata, each as `pair` or `GGUFFile.raw_metadata` gives it; data: the pieces of each
    tensor, in the order of `tensors`; alignment: what the metadata says of it. Raises ValueError if
    a tensor's pieces do not make its size.
    """
    head = MAGIC + struct.pack("<IQQ", VERSION, len(tensors), len(pairs))
    head += b"".join(pairs) + _tensor_table(tensors, alignment)
    file.write(head + b"\0" * _padding(len(head), alignment))
    for tensor, pieces in zip(tensors, data, strict=True):
        written = 0
        for piece in pieces:
            written += file.write(piece)
        if written != tensor.size:
            raise ValueError(f"{tensor.name} has {written} bytes; {tensor.size} are announced")
        file.write(b"\0" * _padding(written, alignment))
