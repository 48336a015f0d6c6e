"""Hardened reader of safetensors files: a bounded JSON header → tensors read piece by piece.

Format: 8 bytes of header size (little-endian), a JSON object of `dtype`, `shape` and
`data_offsets` by name, then the data without holes (huggingface/safetensors, README, "Format").
Tensors are read, not mapped, for the reason that `engine.gguf` gives.
"""

import hashlib
import math
import os
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import msgspec
import numpy as np
from numpy.typing import NDArray

from engine.errors import ModelFormatError
from engine.gguf_header import TensorInfo

MAX_HEADER_BYTES = 100_000_000
"""The format's own limit."""
MAX_TENSORS = 100_000
MAX_DIMENSIONS = 8
_LENGTH_BYTES = 8
_SAMPLES, _SAMPLE_BYTES = 64, 4096
_METADATA = "__metadata__"
_ELEMENT_BYTES = {
    **{"F64": 8, "I64": 8, "U64": 8, "F32": 4, "I32": 4, "U32": 4},
    **{"F16": 2, "BF16": 2, "I16": 2, "U16": 2, "F8_E4M3": 1, "F8_E5M2": 1, "I8": 1, "U8": 1},
    "BOOL": 1,
}


class _Entry(msgspec.Struct, frozen=True):
    dtype: str
    shape: list[int]
    data_offsets: tuple[int, int]


class SafetensorsFile:
    """An open file; `tensors` are its tensors by name, as a `TensorSource` has them."""

    def __init__(self, path: Path) -> None:
        """Read the header, raising ModelFormatError for anything that does not add up."""
        self.path = path
        self._file = path.open("rb", buffering=0)
        try:
            self._size = os.fstat(self._file.fileno()).st_size
            header, self._data_start = self._read_header()
            self.tensors: dict[str, TensorInfo] = _placed(
                header, self._data_start, self._size - self._data_start
            )
        except ModelFormatError as error:
            self._file.close()
            raise ModelFormatError(f"{path.name}: {error}") from None
        except BaseException:
            self._file.close()
            raise

    def tensor_bytes(self, name: str, start: int = 0, size: int | None = None) -> NDArray[np.uint8]:
        """The raw bytes of a tensor, or `size` of them from `start`: uint8, read from the file.

        Raises ModelFormatError where the file does not have them any more.
        """
        info = self.tensors[name]
        size = info.size - start if size is None else size
        if not 0 <= start <= start + size <= info.size:
            raise ValueError(f"bytes {start} to {start + size} of a tensor of {info.size}")
        return np.frombuffer(self._read(info.offset + start, size, f"tensor {name!r}"), np.uint8)

    def content_hash(self) -> str:
        """Identity for caches: SHA-256 of the size, the header and 64 samples of the weights."""
        digest = hashlib.sha256(self._size.to_bytes(8, "little"))
        digest.update(self._read(0, self._data_start, "the header"))
        for index in range(_SAMPLES):
            offset = self._data_start + (self._size - self._data_start) * index // _SAMPLES
            size = max(0, min(_SAMPLE_BYTES, self._size - offset))
            digest.update(self._read(offset, size, "weights"))
        return digest.hexdigest()

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _read_header(self) -> tuple[dict[str, Any], int]:
        """The JSON object, and where the data starts."""
        if self._size < _LENGTH_BYTES:
            raise ModelFormatError(f"the file has {self._size} bytes: not a safetensors file")
        length = int.from_bytes(self._read(0, _LENGTH_BYTES, "the header's size"), "little")
        limit = min(MAX_HEADER_BYTES, self._size - _LENGTH_BYTES)
        if not 2 <= length <= limit:
            raise ModelFormatError(f"the header has {length} bytes; 2 to {limit} are possible")
        try:
            header = msgspec.json.decode(self._read(_LENGTH_BYTES, length, "the header"))
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise ModelFormatError(f"the header is not JSON: {error}") from None
        if not isinstance(header, dict):
            raise ModelFormatError("the header is not a JSON object")
        return header, _LENGTH_BYTES + length

    def _read(self, offset: int, size: int, what: str) -> bytearray:
        data = bytearray(size)
        view, done = memoryview(data), 0
        while done < size:
            count = os.preadv(self._file.fileno(), [view[done:]], offset + done)
            if count == 0:
                raise ModelFormatError(
                    f"{what} at offset {offset}: the file has been cut short since it was opened"
                )
            done += count
        return data


def _placed(header: dict[str, Any], start: int, size: int) -> dict[str, TensorInfo]:
    """The tensors; ModelFormatError unless they fill the `size` bytes of data exactly."""
    if len(header) > MAX_TENSORS:
        raise ModelFormatError(f"the header has {len(header)} entries; at most {MAX_TENSORS}")
    tensors = [_tensor(name, value, start) for name, value in header.items() if name != _METADATA]
    tensors.sort(key=lambda info: (info.offset, info.size))
    end = start
    for info in tensors:
        if info.offset != end:
            raise ModelFormatError(
                f"tensor {info.name!r} starts at {info.offset - start} in the data; {end - start}"
                " is expected: tensors overlap or leave a hole"
            )
        end += info.size
    if end != start + size:
        raise ModelFormatError(f"the tensors have {end - start} bytes, the file's data {size}")
    return {info.name: info for info in tensors}


def _tensor(name: str, value: Any, start: int) -> TensorInfo:
    try:
        entry = msgspec.convert(value, _Entry)
    except msgspec.ValidationError as error:
        raise ModelFormatError(f"tensor {name!r}: {error}") from None
    if entry.dtype not in _ELEMENT_BYTES:
        raise ModelFormatError(f"tensor {name!r} has the unknown type {entry.dtype!r}")
    if len(entry.shape) > MAX_DIMENSIONS or any(not 0 <= n <= 1 << 40 for n in entry.shape):
        raise ModelFormatError(f"tensor {name!r} has the impossible shape {entry.shape}")
    first, last = entry.data_offsets
    size = math.prod(entry.shape) * _ELEMENT_BYTES[entry.dtype]
    if first < 0 or last - first != size:
        raise ModelFormatError(
            f"tensor {name!r} of shape {entry.shape} lies at {first} to {last}; it has {size} bytes"
        )
    return TensorInfo(name, tuple(entry.shape), entry.dtype, start + first, size)
