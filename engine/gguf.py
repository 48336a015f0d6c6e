"""GGUF model files: the metadata and the bytes of the tensors, from one file or the parts of one.

Tensors are read, not mapped: a file that is cut short meanwhile is an error, where a mapping would
end the process. Knows nothing of models or quantization arithmetic.
"""

import hashlib
import mmap
import os
import re
from pathlib import Path
from types import TracebackType
from typing import Self

import msgspec
import numpy as np
from numpy.typing import NDArray

from engine.errors import ModelFormatError
from engine.gguf_header import (
    TENSOR_TYPES,
    Header,
    Metadata,
    TensorInfo,
    read_header,
)

__all__ = ["TENSOR_TYPES", "GGUFFile", "ModelFormatError", "TensorInfo"]

MAX_PARTS = 500
"""Files of a split model, each of which stays open."""
_SAMPLES, _SAMPLE_BYTES = 64, 4096
_PART_NAME = re.compile(r"(?P<stem>.*)-(?P<number>\d{5})-of-(?P<count>\d{5})\.gguf", re.DOTALL)


class _Part:
    """One open file."""

    def __init__(self, path: Path) -> None:
        """Read its header; ModelFormatError names the file."""
        self.path = path
        self._file = path.open("rb", buffering=0)
        try:
            self.size = os.fstat(self._file.fileno()).st_size
            if self.size == 0:
                raise ModelFormatError("the file is empty")
            with mmap.mmap(self._file.fileno(), 0, access=mmap.ACCESS_READ) as data:
                self.header: Header = read_header(data)
        except ModelFormatError as error:
            self._file.close()
            raise ModelFormatError(f"{path.name}: {error}") from None
        except BaseException:
            self._file.close()
            raise

    def read(self, offset: int, size: int, field: str) -> bytearray:
        """`size` bytes from `offset`; ModelFormatError if the file ends before."""
        data = bytearray(size)
        view, done = memoryview(data), 0
        while done < size:
            count = os.preadv(self._file.fileno(), [view[done:]], offset + done)
            if count == 0:
                where = f"{field} at offset {offset}"
                raise ModelFormatError(f"{where}: the file has been cut short since it was opened")
            done += count
        return data

    def content_hash(self) -> str:
        """SHA-256 of the size, the whole header and 64 samples of the weights."""
        start = self.header.data_start
        digest = hashlib.sha256(self.size.to_bytes(8, "little"))
        digest.update(self.read(0, min(start, self.size), "header"))
        for index in range(_SAMPLES):
            offset = start + (self.size - start) * index // _SAMPLES
            size = max(0, min(_SAMPLE_BYTES, self.size - offset))
            digest.update(self.read(offset, size, "weights"))
        return digest.hexdigest()

    def close(self) -> None:
        self._file.close()


def _number(metadata: Metadata, key: str) -> int:
    """An integer of the metadata; ModelFormatError if it is something else."""
    value = metadata.get(key)
    if not isinstance(value, int) or isinstance(value, bool):
        raise ModelFormatError(f"{metadata.named(key)} is {value!r}: a number is expected")
    return value


def _require_place(part: _Part, index: int, count: int) -> None:
    """A file is the part of a split model that its name says."""
    for key, expected in (("split.no", index), ("split.count", count)):
        found = _number(part.header.metadata, key)
        if found != expected:
            named = part.header.metadata.named(key)
            raise ModelFormatError(f"{part.path.name}: {named} is {found}; {expected} is expected")


def _part_paths(first: _Part) -> list[Path]:
    """The files of a model that the first part names, itself included."""
    if "split.count" not in first.header.metadata:
        return [first.path]
    count = _number(first.header.metadata, "split.count")
    if count <= 1:
        return [first.path]
    if count > MAX_PARTS:
        named = first.header.metadata.named("split.count")
        raise ModelFormatError(f"{named} is {count}; at most {MAX_PARTS} are possible")
    name = _PART_NAME.fullmatch(first.path.name)
    if name is None or int(name["count"]) != count:
        raise ModelFormatError(f"one of {count} parts must be named NAME-00001-of-{count:05}.gguf")
    names = [f"{name['stem']}-{index + 1:05}-of-{count:05}.gguf" for index in range(count)]
    if first.path.name != names[0]:
        raise ModelFormatError(f"this is not the first part: open {names[0]}")
    paths = [first.path.with_name(one) for one in names]
    for path in paths:
        if not path.is_file():
            raise ModelFormatError(f"its part {path.name} is missing")
    return paths


def _merged(parts: list[_Part]) -> dict[str, TensorInfo]:
    """The tensors of all parts; ModelFormatError unless they are those that the first announces."""
    tensors: dict[str, TensorInfo] = {}
    for index, part in enumerate(parts):
        if len(parts) > 1:
            _require_place(part, index, len(parts))
        for info in part.header.tensors:
            if info.name in tensors:
                raise ModelFormatError(f"{part.path.name}: tensor {info.name!r} is there twice")
            tensors[info.name] = msgspec.structs.replace(info, part=index)
    if len(parts) > 1:
        announced = _number(parts[0].header.metadata, "split.tensors.count")
        if announced != len(tensors):
            named = parts[0].header.metadata.named("split.tensors.count")
            raise ModelFormatError(f"{named} is {announced}, but the parts have {len(tensors)}")
    return tensors


class GGUFFile:
    """An open model file. Of a split model, the first part stands for all."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        """Read the headers, raising ModelFormatError for anything that does not add up."""
        self.path = Path(path)
        self._parts = [_Part(self.path)]
        try:
            for other in _part_paths(self._parts[0])[1:]:
                self._parts.append(_Part(other))
            self.tensors: dict[str, TensorInfo] = _merged(self._parts)
        except ModelFormatError as error:
            self.close()
            raise ModelFormatError(f"{self.path.name}: {error}") from None
        except BaseException:
            self.close()
            raise
        self.version: int = self._parts[0].header.version
        self.metadata: Metadata = self._parts[0].header.metadata

    def tensor_bytes(self, name: str, start: int = 0, size: int | None = None) -> NDArray[np.uint8]:
        """The raw bytes of a tensor, or `size` of them from `start`: uint8, read from the file.

        Raises ModelFormatError where the file does not have them any more.
        """
        info = self.tensors[name]
        size = info.size - start if size is None else size
        if not 0 <= start <= start + size <= info.size:
            raise ValueError(f"bytes {start} to {start + size} of a tensor of {info.size}")
        data = self._parts[info.part].read(info.offset + start, size, f"tensor {name!r}")
        return np.frombuffer(data, np.uint8)

    def raw_metadata(self) -> dict[str, bytes]:
        """Key → the bytes of its pair as they stand in the file, with their types: for copying."""
        first = self._parts[0]
        return {
            key: bytes(first.read(start, end - start, f"value of {key!r}"))
            for key, (start, end) in first.header.metadata.places.items()
        }

    def content_hash(self) -> str:
        """Identity for caches: SHA-256 of the size, the whole header and 64 samples of the weights.

        Cheap for files of any size; independent of the file's name and time. Raises
        ModelFormatError where the file has been cut short.
        """
        hashes = [part.content_hash() for part in self._parts]
        return (
            hashes[0] if len(hashes) == 1 else hashlib.sha256("".join(hashes).encode()).hexdigest()
        )

    def close(self) -> None:
        """Close the files; the metadata stays."""
        for part in self._parts:
            part.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
