"""Packed weights: the matrices of a model file in the layout of the kernels, memory-mapped.

Packed once into the cache directory, next to a hash of the content; mapped from then on. The first
page of a packed file is a header that follows from the model file alone: a file whose header or
size is not exactly the one expected is foreign, old or cut short, and is packed again.
"""

import hashlib
import json
import math
import mmap
import os
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.formats import FORMATS
from engine.formats.packed import BLOCK, FLOAT_BITS, LANES, pack, packed_bytes, padded_rows
from engine.gguf import ModelFormatError, TensorInfo
from engine.tensor_source import TensorSource

LAYOUT_VERSION = 3
"""Raised with every change of `formats.packed`, so that older packed files are left behind."""
_HEADER_BYTES = 4096
_ALIGNMENT = 64
_PIECE_WEIGHTS = 1 << 22
"""Weights packed at once: an embedding of 262 144 tokens is never in memory as float32."""

Progress = Callable[[str, float], None]
"""Told a stage and the fraction of it that is done."""


class Matrix(NamedTuple):
    """A packed matrix, as the kernels want it."""

    address: int
    bits: int
    outputs: int
    """Rows, rounded up to whole tiles of 16."""
    inputs: int


class _Place(NamedTuple):
    info: TensorInfo
    offset: int
    size: int


def _is_matrix(info: TensorInfo) -> bool:
    """Whether it is a matrix of whole blocks, or a stack of such of whole tiles (experts)."""
    whole_tiles = len(info.shape) == 2 or info.shape[1] % LANES == 0
    return len(info.shape) in (2, 3) and info.shape[-1] % BLOCK == 0 and whole_tiles


def _rows_and_columns(info: TensorInfo) -> tuple[int, int]:
    """Of a matrix, or of a stack of them as one."""
    return math.prod(info.shape[:-1]), info.shape[-1]


def _layout(gguf: TensorSource, names: Iterable[str]) -> tuple[dict[str, _Place], int]:
    """Where each tensor will lie, and the size of the whole."""
    places = {}
    end = _HEADER_BYTES
    for name in names:
        info = gguf.tensors[name]
        if info.type_name not in FORMATS:
            known = ", ".join(FORMATS)
            raise ModelFormatError(
                f"tensor {name!r} at offset {info.offset} has type {info.type_name}, which cannot"
                f" run; types that can: {known}"
            )
        if len(info.shape) == 1:
            size = 4 * info.shape[0]
        elif _is_matrix(info):
            size = packed_bytes(FORMATS[info.type_name].bits, *_rows_and_columns(info))
        else:
            raise ModelFormatError(
                f"tensor {name!r} has shape {info.shape}; a vector, or a matrix with rows of"
                f" a multiple of {BLOCK} is expected"
            )
        places[name] = _Place(info, end, size)
        end += (size + _ALIGNMENT - 1) // _ALIGNMENT * _ALIGNMENT
    return places, end


def _header(content_hash: str, places: dict[str, _Place], size: int) -> bytes:
    """4096 bytes that name the content and the layout."""
    table = [(name, place.info.type_name, place.offset) for name, place in places.items()]
    digest = hashlib.sha256(json.dumps(table).encode()).hexdigest()
    line = f"hubd packed weights {LAYOUT_VERSION}\n{content_hash}\n{digest}\n{size}\n"
    return line.encode().ljust(_HEADER_BYTES, b"\0")


def _require_finite(values: NDArray[Any] | None, info: TensorInfo, what: str) -> None:
    if values is not None and not np.isfinite(values).all():
        raise ModelFormatError(
            f"tensor {info.name!r} at offset {info.offset}: {what} are not all finite numbers"
        )


def _pack_matrix(out: NDArray[np.uint8], gguf: TensorSource, info: TensorInfo) -> None:
    """Pack a matrix into `out`, some tiles at a time."""
    rows, columns = _rows_and_columns(info)
    row_bytes = info.size // rows
    format_ = FORMATS[info.type_name]
    step = max(1, _PIECE_WEIGHTS // columns // LANES) * LANES
    start = 0
    for first in range(0, rows, step):
        count = min(step, rows - first)
        raw = gguf.tensor_bytes(info.name, first * row_bytes, count * row_bytes)
        with np.errstate(over="ignore", invalid="ignore"):  # what comes of it is looked at
            blocks = format_.to_blocks(raw, count, columns)
        if blocks.bits == FLOAT_BITS:
            _require_finite(blocks.quants, info, "the weights")
        _require_finite(blocks.scales, info, "the scales")
        _require_finite(blocks.minimums, info, "the minimums")
        packed = pack(blocks)
        out[start : start + packed.size] = packed
        start += packed.size


def _fill(
    out: NDArray[np.uint8], gguf: TensorSource, places: dict[str, _Place], progress: Progress
) -> None:
    """Pack every tensor into its place; `out` is the whole file."""
    for name, (info, offset, size) in places.items():
        progress("packing weights", offset / len(out))
        place = out[offset : offset + size]
        if len(info.shape) == 1:
            values = FORMATS[info.type_name].dequantize(gguf.tensor_bytes(name), info.shape)
            _require_finite(values, info, "the weights")
            place[:] = values.view(np.uint8)
        else:
            _pack_matrix(place, gguf, info)
    progress("packing weights", 1.0)


def _map_if_sound(path: Path, header: bytes, size: int) -> mmap.mmap | None:
    """The packed file, if it is exactly the one expected."""
    try:
        with path.open("rb") as file:
            if os.fstat(file.fileno()).st_size != size or file.read(_HEADER_BYTES) != header:
                return None
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except OSError:
        return None


def _write(
    path: Path,
    gguf: TensorSource,
    places: dict[str, _Place],
    header: bytes,
    size: int,
    told: Progress,
) -> None:
    """Write a packed file whole or not at all. The header goes in last."""
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=path.name, suffix=".part")
    try:
        with os.fdopen(descriptor, "r+b") as file:
            os.posix_fallocate(file.fileno(), 0, size)  # a full disk is an OSError here, not SIGBUS
            space = mmap.mmap(file.fileno(), size)  # unmapped with the last array over it
            out = np.frombuffer(space, np.uint8)
            _fill(out, gguf, places, told)
            out[:_HEADER_BYTES] = np.frombuffer(header, np.uint8)
            space.flush()
            os.fsync(file.fileno())
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


class Weights:
    """The packed tensors of a model, by name."""

    def __init__(
        self,
        gguf: TensorSource,
        names: Iterable[str],
        content_hash: str,
        cache_directory: Path | None,
        progress: Progress,
    ) -> None:
        """Map the packed file of this content, packing first if need be.

        Without a cache directory, or where it cannot be written, the weights are packed into
        memory. Raises ModelFormatError for a tensor that no kernel can take.
        """
        self._places, size = _layout(gguf, names)
        header = _header(content_hash, self._places, size)
        space: mmap.mmap | None = None
        if cache_directory is not None:
            path = cache_directory / f"{content_hash[:24]}.packed"
            space = _map_if_sound(path, header, size)
            if space is None:
                try:
                    _write(path, gguf, self._places, header, size, progress)
                    space = _map_if_sound(path, header, size)
                except OSError:
                    space = None
        if space is None:
            space = mmap.mmap(-1, size)
            _fill(np.frombuffer(space, np.uint8), gguf, self._places, progress)
        self._data = np.frombuffer(space, np.uint8)  # keeps the map alive
        self._base = self._data.ctypes.data

    def __contains__(self, name: str) -> bool:
        return name in self._places

    @property
    def exact(self) -> bool:
        """Whether all matrices are float32, so that everything is to be computed in float32."""
        infos = [place.info for place in self._places.values()]
        return all(FORMATS[i.type_name].bits == FLOAT_BITS for i in infos if len(i.shape) > 1)

    def bytes_per_token(self, expert_share: float) -> int:
        """Bytes that one token reads: all, but for an embedding that is not the head as well.

        expert_share: how many of a layer's experts it reads, 0 to 1.
        """
        untied = "token_embd.weight" if "output.weight" in self else None
        read = [place for name, place in self._places.items() if name != untied]
        shares = [expert_share if len(place.info.shape) == 3 else 1.0 for place in read]
        return int(sum(p.size * share for p, share in zip(read, shares, strict=True)))

    def matrix(self, name: str) -> Matrix:
        """A matrix by its name in the model file."""
        info, offset, _ = self._places[name]
        rows, columns = _rows_and_columns(info)
        bits = FORMATS[info.type_name].bits
        return Matrix(self._base + offset, bits, padded_rows(rows), columns)

    def vector(self, name: str) -> int:
        """Address of a float32 vector by its name in the model file."""
        return self._base + self._places[name].offset

    def size(self, name: str) -> int:
        """Elements of a vector by its name in the model file."""
        return self._places[name].info.shape[0]
