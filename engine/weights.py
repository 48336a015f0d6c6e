"""Packed weights: the matrices of a model file in the layout of the kernels, memory-mapped.

Packed once into the cache directory, next to a hash of the content; mapped from then on. The first
page of a packed file is a header that follows from the model file alone, with a checksum of what
comes after it: a file whose header, size or sum is not exactly the one expected is foreign, old,
cut short or damaged, and is packed again.
"""

import hashlib
import json
import math
import mmap
import os
import tempfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.formats import FORMATS
from engine.formats.packed import (
    BLOCK,
    FLOAT_BITS,
    LANES,
    SUPER,
    Blocks,
    pack,
    packed_bytes,
    padded_rows,
    quantize_blocks,
    without_super_blocks,
)
from engine.gguf import ModelFormatError, TensorInfo
from engine.huge_pages import anonymous, ask_for_huge_pages
from engine.lora import Adapters, Change
from engine.tensor_source import TensorSource

LAYOUT_VERSION = 5
"""Raised with every change of `formats.packed`, so that older packed files are left behind."""
HEADER_BYTES = 4096
"""Of a file of packed weights, or of what is made of them."""
CHECKED_BYTES = 1 << 30
"""Larger files are believed without their sum: they may not fit into memory, and reading one from
a disk takes seconds."""
_SUM_BYTES = 4
_ALIGNMENT = 64
_ADAPTED_BITS = 8
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
    bits: int
    """Of a packed weight."""


def _is_matrix(info: TensorInfo) -> bool:
    """Whether it is a matrix of whole blocks, or a stack of such of whole tiles (experts)."""
    whole_tiles = len(info.shape) == 2 or info.shape[1] % LANES == 0
    return len(info.shape) in (2, 3) and info.shape[-1] % BLOCK == 0 and whole_tiles


def _rows_and_columns(info: TensorInfo) -> tuple[int, int]:
    """Of a matrix, or of a stack of them as one."""
    return math.prod(info.shape[:-1]), info.shape[-1]


def _packed_bits(info: TensorInfo, adapters: Adapters, by_neuron: bool) -> int:
    """Bits of a weight once packed: an adapted matrix has 8, unless it is exact.

    Four bits would round most of a small change away. What is read neuron by neuron has no
    super-blocks.
    """
    bits = FORMATS[info.type_name].bits
    if info.name in adapters:
        return max(bits % SUPER, _ADAPTED_BITS)
    return bits % SUPER if by_neuron else bits


def _layout(
    gguf: TensorSource, names: Iterable[str], adapters: Adapters, by_neuron: frozenset[str]
) -> tuple[dict[str, _Place], int]:
    """Where each tensor will lie, and the size of the whole."""
    places = {}
    end = HEADER_BYTES
    for name in names:
        info = gguf.tensors[name]
        if info.type_name not in FORMATS:
            known = ", ".join(FORMATS)
            raise ModelFormatError(
                f"tensor {name!r} at offset {info.offset} has type {info.type_name}, which cannot"
                f" run; types that can: {known}"
            )
        bits = _packed_bits(info, adapters, name in by_neuron)
        if len(info.shape) == 1:
            size = 4 * info.shape[0]
        elif _is_matrix(info):
            size = packed_bytes(bits, *_rows_and_columns(info))
        else:
            raise ModelFormatError(
                f"tensor {name!r} has shape {info.shape}; a vector, or a matrix with rows of"
                f" a multiple of {BLOCK} is expected"
            )
        places[name] = _Place(info, end, size, bits)
        end += (size + _ALIGNMENT - 1) // _ALIGNMENT * _ALIGNMENT
    return places, end


def _header(content_hash: str, places: dict[str, _Place], size: int) -> bytes:
    """4096 bytes that name the content and the layout."""
    table = [(name, place.info.type_name, place.offset) for name, place in places.items()]
    digest = hashlib.sha256(json.dumps(table).encode()).hexdigest()
    line = f"hubd packed weights {LAYOUT_VERSION}\n{content_hash}\n{digest}\n{size}\n"
    return line.encode().ljust(HEADER_BYTES, b"\0")


def _require_finite(values: NDArray[Any] | None, info: TensorInfo, what: str) -> None:
    if values is not None and not np.isfinite(values).all():
        raise ModelFormatError(
            f"tensor {info.name!r} at offset {info.offset}: {what} are not all finite numbers"
        )


def _blocks(
    place: _Place, raw: NDArray[np.uint8], first: int, count: int, change: Change | None
) -> Blocks:
    """`count` rows of a matrix from row `first` on, with what adapters add to them."""
    info = place.info
    format_, columns = FORMATS[info.type_name], info.shape[-1]
    if change is None:
        blocks = format_.to_blocks(raw, count, columns)
        return blocks if blocks.bits == place.bits else without_super_blocks(blocks)
    values = format_.dequantize(raw, (count, columns)) + change.rows(first, count)
    if format_.bits == FLOAT_BITS:
        return Blocks(FLOAT_BITS, values.reshape(count, -1, BLOCK))
    return quantize_blocks(values)


def _pack_matrix(
    out: NDArray[np.uint8], gguf: TensorSource, place: _Place, change: Change | None
) -> None:
    """Pack a matrix into `out`, some tiles at a time."""
    info = place.info
    rows, columns = _rows_and_columns(info)
    row_bytes = info.size // rows
    step = max(1, _PIECE_WEIGHTS // columns // LANES) * LANES
    start = 0
    for first in range(0, rows, step):
        count = min(step, rows - first)
        raw = gguf.tensor_bytes(info.name, first * row_bytes, count * row_bytes)
        with np.errstate(over="ignore", invalid="ignore"):  # what comes of it is looked at
            blocks = _blocks(place, raw, first, count, change)
        if blocks.bits == FLOAT_BITS:
            _require_finite(blocks.quants, info, "the weights")
        _require_finite(blocks.scales, info, "the scales")
        _require_finite(blocks.minimums, info, "the minimums")
        packed = pack(blocks)
        out[start : start + packed.size] = packed
        start += packed.size


def _fill(
    out: NDArray[np.uint8],
    gguf: TensorSource,
    adapters: Adapters,
    places: dict[str, _Place],
    progress: Progress,
) -> None:
    """Pack every tensor into its place; `out` is the whole file."""
    for name, place in places.items():
        info, offset = place.info, place.offset
        progress("packing weights", offset / len(out))
        room = out[offset : offset + place.size]
        if len(info.shape) == 1:
            values = FORMATS[info.type_name].dequantize(gguf.tensor_bytes(name), info.shape)
            _require_finite(values, info, "the weights")
            room[:] = values.view(np.uint8)
        else:
            change = adapters.change(name) if name in adapters else None
            _pack_matrix(room, gguf, place, change)
    progress("packing weights", 1.0)


def _map_if_sound(path: Path, header: bytes, size: int) -> mmap.mmap | None:
    """The packed file, if it is exactly the one expected."""
    try:
        with path.open("rb") as file:
            if os.fstat(file.fileno()).st_size != size:
                return None
            space = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except OSError:
        return None
    ask_for_huge_pages(space)
    found = space[:HEADER_BYTES]
    if found[:-_SUM_BYTES] != header[:-_SUM_BYTES]:
        return None
    # Through the map, so that what is read here lies in its huge pages: 140 MB take 40 ms.
    if size <= CHECKED_BYTES and found[-_SUM_BYTES:] != _sum(memoryview(space)):
        return None
    return space


def _sum(space: memoryview) -> bytes:
    """The checksum of all that follows the header."""
    return zlib.crc32(space[HEADER_BYTES:]).to_bytes(_SUM_BYTES, "little")


def _write(path: Path, header: bytes, size: int, fill: Callable[[NDArray[np.uint8]], None]) -> None:
    """Write a packed file whole or not at all. The header, with the checksum, goes in last."""
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=path.name, suffix=".part")
    try:
        with os.fdopen(descriptor, "r+b") as file:
            os.posix_fallocate(file.fileno(), 0, size)  # a full disk is an OSError here, not SIGBUS
            space = mmap.mmap(file.fileno(), size)  # unmapped with the last array over it
            out = np.frombuffer(space, np.uint8)
            fill(out)
            out[:HEADER_BYTES] = np.frombuffer(header[:-_SUM_BYTES] + _sum(out.data), np.uint8)
            space.flush()
            os.fsync(file.fileno())
            del out, space
            # Out of memory, so that it is read back in the huge pages that the map asks for.
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def map_or_make(
    path: Path | None, header: bytes, size: int, fill: Callable[[NDArray[np.uint8]], None]
) -> mmap.mmap:
    """The file at `path` with this header and size, mapped; filled first if it is not there.

    Without a path, or where it cannot be written, it is filled in memory. fill: told the whole of
    it, of which the first 4096 bytes are the header's.
    """
    if path is not None:
        space = _map_if_sound(path, header, size)
        if space is None:
            try:
                _write(path, header, size, fill)
                space = _map_if_sound(path, header, size)
            except OSError:
                space = None
        if space is not None:
            return space
    space = anonymous(size)
    fill(np.frombuffer(space, np.uint8))
    return space


class Weights:
    """The packed tensors of a model, by name."""

    def __init__(
        self,
        gguf: TensorSource,
        names: Iterable[str],
        content_hash: str,
        cache_directory: Path | None,
        progress: Progress,
        adapters: Adapters | None = None,
        by_neuron: frozenset[str] = frozenset(),
    ) -> None:
        """Map the packed file of this content, packing first if need be.

        content_hash: of the model with its adapters; by_neuron: names of matrices that
        `engine.sparsity` takes apart, which go without super-blocks. Without a cache directory, or
        where it cannot be written, the weights are packed into memory. Raises ModelFormatError for
        a tensor that no kernel can take.
        """
        adapters = adapters or Adapters()
        self._places, size = _layout(gguf, names, adapters, by_neuron)

        def fill(out: NDArray[np.uint8]) -> None:
            _fill(out, gguf, adapters, self._places, progress)

        header = _header(content_hash, self._places, size)
        path = cache_directory / f"{content_hash[:24]}.packed" if cache_directory else None
        space = map_or_make(path, header, size, fill)
        self._data = np.frombuffer(space, np.uint8)  # keeps the map alive
        self._base = self._data.ctypes.data
        self._at = {
            self._base + place.offset: (name, place.size) for name, place in self._places.items()
        }

    def __contains__(self, name: str) -> bool:
        return name in self._places

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    @property
    def total_bytes(self) -> int:
        """Of all packed tensors."""
        return self._data.size

    @property
    def exact(self) -> bool:
        """Whether all matrices are float32, so that everything is to be computed in float32."""
        matrices = [place for place in self._places.values() if len(place.info.shape) > 1]
        return all(place.bits == FLOAT_BITS for place in matrices)

    def bytes_per_token(self, expert_share: float) -> int:
        """Bytes that one token reads: all, but for an embedding that is not the head as well.

        expert_share: how many of a layer's experts it reads, 0 to 1.
        """
        untied = "token_embd.weight" if "output.weight" in self else None
        read = [place for name, place in self._places.items() if name != untied]
        shares = [expert_share if len(place.info.shape) == 3 else 1.0 for place in read]
        return int(sum(p.size * share for p, share in zip(read, shares, strict=True)))

    def tensor_at(self, address: int) -> tuple[str, int] | None:
        """Name and packed bytes of the tensor that begins at an address, if one does."""
        return self._at.get(address)

    def matrix(self, name: str) -> Matrix:
        """A matrix by its name in the model file."""
        info, offset, _, bits = self._places[name]
        rows, columns = _rows_and_columns(info)
        return Matrix(self._base + offset, bits, padded_rows(rows), columns)

    def packed(self, name: str) -> NDArray[np.uint8]:
        """The bytes of a packed matrix by its name in the model file."""
        place = self._places[name]
        return self._data[place.offset : place.offset + place.size]

    def vector(self, name: str) -> int:
        """Address of a float32 vector by its name in the model file."""
        return self._base + self._places[name].offset

    def size(self, name: str) -> int:
        """Elements of a vector by its name in the model file."""
        return self._places[name].info.shape[0]
