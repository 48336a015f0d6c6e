"""The header of a GGUF file, versions 1 to 3, little-endian: bytes → metadata and tensor table.

Source: the GGUF specification (ggml, docs/gguf.md). A model file is untrusted input: every count,
length and offset is compared with the bytes that are really there before it is used, and nothing is
allocated from a number that the file merely claims. Knows nothing of models, of quantization
arithmetic or of files.
"""

import math
import mmap
import struct
from collections.abc import Mapping
from typing import Any, NamedTuple

import msgspec
import numpy as np

from engine.errors import ModelFormatError

MAGIC = b"GGUF"
DEFAULT_ALIGNMENT = 32
MAX_ALIGNMENT = 1 << 20
KNOWN_VERSIONS = (1, 2, 3)
MAX_DIMENSIONS = 4
MAX_ARRAY_DEPTH = 3
MAX_NAME_BYTES = 65_535  # of a key; the specification's own limit
MAX_HEADER_BYTES = 64 << 20
"""Gemma 3 with 262 144 tokens has 7 MB."""
MAX_ELEMENTS = 2_000_000
"""Of all arrays together, which become Python objects. Gemma 3 has 0.8 million."""
MAX_ENTRIES = 100_000
"""Metadata pairs, and tensors."""

# value type → struct code; 8 is a string, 9 an array
_SCALARS = {
    0: "B",
    1: "b",
    2: "H",
    3: "h",
    4: "I",
    5: "i",
    6: "f",
    7: "B",
    10: "Q",
    11: "q",
    12: "d",
}
_BOOL, _STRING, _ARRAY = 7, 8, 9

TENSOR_TYPES: dict[int, tuple[str, int, int]] = {
    0: ("F32", 1, 4),
    1: ("F16", 1, 2),
    2: ("Q4_0", 32, 18),
    3: ("Q4_1", 32, 20),
    6: ("Q5_0", 32, 22),
    7: ("Q5_1", 32, 24),
    8: ("Q8_0", 32, 34),
    9: ("Q8_1", 32, 36),
    10: ("Q2_K", 256, 84),
    11: ("Q3_K", 256, 110),
    12: ("Q4_K", 256, 144),
    13: ("Q5_K", 256, 176),
    14: ("Q6_K", 256, 210),
    15: ("Q8_K", 256, 292),
    16: ("IQ2_XXS", 256, 66),
    17: ("IQ2_XS", 256, 74),
    18: ("IQ3_XXS", 256, 98),
    19: ("IQ1_S", 256, 50),
    20: ("IQ4_NL", 32, 18),
    21: ("IQ3_S", 256, 110),
    22: ("IQ2_S", 256, 82),
    23: ("IQ4_XS", 256, 136),
    24: ("I8", 1, 1),
    25: ("I16", 1, 2),
    26: ("I32", 1, 4),
    27: ("I64", 1, 8),
    28: ("F64", 1, 8),
    29: ("IQ1_M", 256, 56),
    30: ("BF16", 1, 2),
    34: ("TQ1_0", 256, 54),
    35: ("TQ2_0", 256, 66),
    39: ("MXFP4", 32, 17),
}
"""Tensor type number → name, elements of a block, bytes of a block."""

_UNREADABLE_TYPES = {
    4: "Q4_2",
    5: "Q4_3",
    31: "Q4_0_4_4",
    32: "Q4_0_4_8",
    33: "Q4_0_8_8",
    37: "IQ4_NL_4_8",
    38: "IQ4_NL_8_8",
    40: "NVFP4",
}
"""Numbers that llama.cpp has given away, most of them withdrawn since."""
_I2_S = 36


class TensorInfo(msgspec.Struct, frozen=True):
    """Where a tensor lies in the file."""

    name: str
    shape: tuple[int, ...]
    """Row-major, as NumPy has it: (rows, columns). GGUF itself stores the dimensions in reverse."""
    type_name: str
    """Format of its elements, such as "Q4_1"."""
    offset: int
    """First byte, counted from the start of the file."""
    size: int
    """Bytes."""
    part: int = 0
    """Which file of a split model, counted from 0."""


class Metadata(dict[str, Any]):
    """Values by key, and where in the file they stand."""

    def __init__(self) -> None:
        super().__init__()
        self.places: dict[str, tuple[int, int]] = {}
        """Where the pair of a key starts and ends."""
        self.end = 0
        """Where the last pair ends, and the list of tensors starts."""

    def named(self, key: str) -> str:
        """The key and where its pair starts, or would have to, as errors name it."""
        if key in self.places:
            return f"{key} at offset {self.places[key][0]}"
        return f"{key} (absent up to offset {self.end}, where the metadata end)"

    def missing_tensor(self, name: str) -> ModelFormatError:
        """What to raise for a tensor that has to be there."""
        return ModelFormatError(f"tensor {name!r} is missing in the list at offset {self.end}")


def named(metadata: Mapping[str, Any], key: str) -> str:
    """The key as errors name it: with its place, where the metadata are those of a file."""
    return metadata.named(key) if isinstance(metadata, Metadata) else key


class Header(NamedTuple):
    """All that a file says about itself."""

    version: int
    metadata: Metadata
    tensors: list[TensorInfo]
    """In the order of their offsets."""
    data_start: int
    """Where the header and its padding end."""


class _Cursor:
    """A position in the file that refuses to leave it."""

    def __init__(self, data: mmap.mmap | bytes) -> None:
        self.data = data
        self.size = min(len(data), MAX_HEADER_BYTES)
        self.position = 0
        self.elements = 0  # of arrays, so far
        self.length_format = "<Q"  # of strings and arrays; version 1 has 32 bits

    def fail(self, field: str, problem: str) -> ModelFormatError:
        return ModelFormatError(f"{field} at offset {self.position}: {problem}")

    def require(self, count: int, field: str) -> None:
        left = self.size - self.position
        if count > left:
            owner = "file" if self.size == len(self.data) else "largest header"
            raise self.fail(field, f"needs {count} bytes, the {owner} has {left} left")

    def require_elements(self, count: int, field: str) -> None:
        self.elements += count
        if self.elements > MAX_ELEMENTS:
            problem = f"{self.elements} array elements up to here, at most {MAX_ELEMENTS}"
            raise self.fail(field, f"{problem} are allowed")

    def entries(self, what: str, least_bytes: int) -> int:
        """A count of entries that follow, of at least so many bytes each."""
        count = self.length(f"{what} count")
        self.require(count * least_bytes, f"{count} {what}")
        if count > MAX_ENTRIES:
            raise self.fail(f"{what} count", f"is {count}, at most {MAX_ENTRIES} are allowed")
        return count

    def number(self, format_: str, field: str) -> Any:
        size = struct.calcsize(format_)
        self.require(size, field)
        (value,) = struct.unpack_from(format_, self.data, self.position)
        self.position += size
        return value

    def length(self, field: str) -> int:
        value: int = self.number(self.length_format, field)
        return value

    def string(self, field: str, limit: int | None = None) -> str:
        length = self.length(f"length of {field}")
        if limit is not None and length > limit:
            raise self.fail(field, f"{length} bytes, at most {limit} are allowed")
        self.require(length, field)
        raw = self.data[self.position : self.position + length]
        try:
            text = raw.decode()
        except UnicodeDecodeError as error:
            raise self.fail(field, f"is not UTF-8 ({error.reason})") from None
        self.position += length
        return text


def _strings(cursor: _Cursor, count: int, field: str) -> list[str]:
    """An array of strings; its own loop, because a vocabulary has hundreds of thousands."""
    data, size, position = cursor.data, cursor.size, cursor.position
    unpack, width = struct.Struct(cursor.length_format).unpack_from, 8
    if cursor.length_format == "<I":
        width = 4
    texts = []
    for index in range(count):
        start = position + width
        end = start + unpack(data, position)[0] if start <= size else size + 1
        if end > size:
            cursor.position = position
            raise cursor.fail(f"{field}[{index}]", "runs past the end of the file")
        try:
            texts.append(data[start:end].decode())
        except UnicodeDecodeError as error:
            cursor.position = position
            raise cursor.fail(f"{field}[{index}]", f"is not UTF-8 ({error.reason})") from None
        position = end
    cursor.position = position
    return texts


def _array(cursor: _Cursor, field: str, depth: int) -> list[Any]:
    if depth > MAX_ARRAY_DEPTH:
        raise cursor.fail(field, f"arrays nested deeper than {MAX_ARRAY_DEPTH}")
    kind = cursor.number("<I", f"element type of {field}")
    count = cursor.length(f"length of {field}")
    if kind == _STRING:
        cursor.require(count * struct.calcsize(cursor.length_format), field)
        cursor.require_elements(count, field)
        return _strings(cursor, count, field)
    if kind == _ARRAY:
        cursor.require(count * (4 + struct.calcsize(cursor.length_format)), field)
        cursor.require_elements(count, field)
        return [_array(cursor, f"{field}[{i}]", depth + 1) for i in range(count)]
    if kind not in _SCALARS:
        raise cursor.fail(field, f"unknown element type {kind}")
    size = struct.calcsize("<" + _SCALARS[kind])
    cursor.require(count * size, field)
    cursor.require_elements(count, field)
    raw = cursor.data[cursor.position : cursor.position + count * size]
    cursor.position += count * size
    values = np.frombuffer(raw, np.dtype("<" + _SCALARS[kind]))
    result: list[Any] = (values != 0).tolist() if kind == _BOOL else values.tolist()
    return result


def _value(cursor: _Cursor, field: str) -> Any:
    kind = cursor.number("<I", f"type of {field}")
    if kind == _STRING:
        return cursor.string(field)
    if kind == _ARRAY:
        return _array(cursor, field, 1)
    if kind not in _SCALARS:
        raise cursor.fail(field, f"unknown value type {kind}")
    value = cursor.number("<" + _SCALARS[kind], field)
    return value != 0 if kind == _BOOL else value


def _metadata(cursor: _Cursor, count: int) -> Metadata:
    metadata = Metadata()
    for index in range(count):
        start = cursor.position
        key = cursor.string(f"key {index}", MAX_NAME_BYTES)
        if key in metadata:
            raise cursor.fail(f"key {index}", f"{key!r} is there twice")
        metadata[key] = _value(cursor, f"value of {key!r}")
        metadata.places[key] = (start, cursor.position)
    metadata.end = cursor.position
    return metadata


def _tensor(cursor: _Cursor, index: int) -> TensorInfo:
    """One entry of the tensor table; its offset still counts from the start of the data."""
    name = cursor.string(f"name of tensor {index}", MAX_NAME_BYTES)
    field = f"tensor {name!r}"
    rank = cursor.number("<I", f"rank of {field}")
    if not 1 <= rank <= MAX_DIMENSIONS:
        raise cursor.fail(field, f"{rank} dimensions; 1 to {MAX_DIMENSIONS} are allowed")
    dimensions = [cursor.length(f"dimension {d} of {field}") for d in range(rank)]
    kind = cursor.number("<I", f"type of {field}")
    if kind == _I2_S:
        raise cursor.fail(
            field,
            "type I2_S of bitnet.cpp (or IQ4_NL_4_4, withdrawn) is not supported; get the model"
            " with TQ1_0, TQ2_0, F16 or BF16 weights",
        )
    if kind in _UNREADABLE_TYPES:
        raise cursor.fail(field, f"type {_UNREADABLE_TYPES[kind]} is not supported")
    if kind not in TENSOR_TYPES:
        raise cursor.fail(field, f"unknown tensor type {kind}")
    offset = cursor.number("<Q", f"offset of {field}")
    type_name, block, block_bytes = TENSOR_TYPES[kind]
    if 0 in dimensions:
        raise cursor.fail(field, f"an empty dimension in {dimensions}")
    if dimensions[0] % block:
        raise cursor.fail(field, f"rows of {dimensions[0]} elements, not a multiple of {block}")
    size = math.prod(dimensions) // block * block_bytes
    return TensorInfo(name, tuple(reversed(dimensions)), type_name, offset, size)


def _alignment(metadata: Metadata) -> int:
    value = metadata.get("general.alignment", DEFAULT_ALIGNMENT)
    valid = isinstance(value, int) and not isinstance(value, bool)
    if not valid or not 8 <= value <= MAX_ALIGNMENT or value % 8:
        named = metadata.named("general.alignment")
        raise ModelFormatError(
            f"{named} is {value!r}: a multiple of 8 up to {MAX_ALIGNMENT} is allowed"
        )
    return int(value)


def _place(tensors: list[TensorInfo], start: int, alignment: int, size: int) -> list[TensorInfo]:
    """Tensors with offsets from the start of the file, all inside it, aligned and apart."""
    placed = []
    end = start
    names = set()
    for tensor in sorted(tensors, key=lambda info: info.offset):
        field = f"tensor {tensor.name!r} at offset {start + tensor.offset}"
        if tensor.offset % alignment:
            raise ModelFormatError(f"{field}: not aligned to {alignment} bytes")
        if start + tensor.offset < end:
            raise ModelFormatError(f"{field}: overlaps the tensor before it")
        end = start + tensor.offset + tensor.size
        if end > size:
            raise ModelFormatError(f"{field}: {tensor.size} bytes, but the file ends at {size}")
        if tensor.name in names:
            raise ModelFormatError(f"{field}: another tensor has the same name")
        names.add(tensor.name)
        placed.append(msgspec.structs.replace(tensor, offset=start + tensor.offset))
    return placed


def _version(cursor: _Cursor) -> int:
    """1 to 3; leaves the cursor behind it, knowing how wide lengths are."""
    raw = cursor.number("4s", "version")
    version = int.from_bytes(raw, "little")
    cursor.position -= 4
    if int.from_bytes(raw, "big") in KNOWN_VERSIONS:
        raise cursor.fail("version", "is that of a big-endian file; get the little-endian one")
    if version not in KNOWN_VERSIONS:
        raise cursor.fail("version", f"is {version}; versions 1 to 3 are known")
    cursor.position += 4
    if version == 1:
        cursor.length_format = "<I"
    return version


def read_header(data: mmap.mmap | bytes) -> Header:
    """The header of a whole file; ModelFormatError for anything in it that does not add up."""
    cursor = _Cursor(data)
    if data[:4] != MAGIC:
        raise cursor.fail("magic", f"is {data[:4]!r}, not {MAGIC!r}: not a GGUF file")
    cursor.position = 4
    version = _version(cursor)
    tensor_count = cursor.entries("tensors", 24)
    metadata = _metadata(cursor, cursor.entries("metadata pairs", 9))
    tensors = [_tensor(cursor, index) for index in range(tensor_count)]
    alignment = _alignment(metadata)
    data_start = (cursor.position + alignment - 1) // alignment * alignment
    placed = _place(tensors, data_start, alignment, len(data))
    return Header(version, metadata, placed, data_start)
