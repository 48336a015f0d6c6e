"""The neurons of a model one by one: made from its packed weights once, memory-mapped from then on.

They lie in a file of their own beside the packed weights: many rows at once are multiplied with
tiles, where all neurons have a part anyway, single rows with neurons. Neither is in memory but for
the pages that are read.
"""

import hashlib
import mmap
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.architectures.config import ModelConfig
from engine.architectures.family import Activation, Family
from engine.formats.packed import BLOCK, FLOAT_BITS, packed_bytes
from engine.kernels import layer_slots
from engine.kernels.gates import gate_scratch_bytes
from engine.kernels.sparse import sparse_scratch_bytes
from engine.protocol import LayerActivity
from engine.sparsity import layout
from engine.sparsity.residence import stay
from engine.weights import HEADER_BYTES, Progress, Weights, map_or_make

FILE_VERSION = 3
"""Raised with every change of `engine.sparsity.layout`."""
BREAK_EVEN = 0.6
"""Share of active neurons up to which leaving out rows and columns of the others is faster."""
COLUMNS_BREAK_EVEN = 0.45
"""The same where only columns of the down projection are left out: at half of them a 1B model's
block took as long as without (0.99 times as fast), and SmolLM2's token longer (0.87)."""
OPEN_BREAK_EVEN = 0.18
"""Share of the gates up to which computing those in full that their upper halves leave open is
faster than reading all of them."""
_PAGE = 4096
_PARTS = ("gate", "up", "down")
_GATED = (Activation.RELU, Activation.SQUARED_RELU, Activation.DOUBLE_RELU)
_WITH_ZEROS = (*_GATED, Activation.PLAIN_RELU)


class _Place(NamedTuple):
    """Where a layer lies in the file."""

    places: int
    scales: int
    records: int
    column: int
    """Bytes of a record before the column."""
    record_bytes: int
    deviations: int
    upper: int
    gate_rows: int
    """The last three of a gate that is read by halves."""


def skips_rows(config: ModelConfig, family: Family, weights: Weights) -> bool:
    """Whether the gate says which rows of the up projection are of no use."""
    biased = "blk.0.ffn_up.bias" in weights
    return config.activation in _GATED and not family.fused and not biased


def has_zeros(config: ModelConfig) -> bool:
    """Whether activations are zero by themselves."""
    return config.activation in _WITH_ZEROS


def taken_apart(config: ModelConfig, thresholds: bool) -> frozenset[str]:
    """Names of the matrices of which neurons may be made.

    thresholds: whether small activations are made zero.
    """
    if not has_zeros(config) and not thresholds:
        return frozenset()
    layers = range(config.layers)
    return frozenset(f"blk.{i}.ffn_{part}.weight" for i in layers for part in ("up", "down"))


def can_skip(config: ModelConfig, weights: Weights, thresholds: bool) -> bool:
    """Whether something of this model's feed-forward blocks is zero and can be skipped.

    thresholds: whether small activations are made zero.
    """
    some = has_zeros(config) or thresholds
    fits = config.dim % layout.CHUNK == 0 and config.ffn_dim % BLOCK == 0
    if not some or not fits or config.experts:
        return False
    names = [f"blk.{i}.ffn_{part}.weight" for i in range(config.layers) for part in ("up", "down")]
    return all(weights.matrix(name).bits != FLOAT_BITS for name in names)


def _sign_matrix(config: ModelConfig, family: Family, weights: Weights) -> str:
    """The matrix whose products' signs decide which neurons are of use, where it has 8 bits, of
    which four may be enough; else an empty name."""
    plain = config.activation == Activation.PLAIN_RELU
    if not (plain or skips_rows(config, family, weights)):
        return ""
    name = "ffn_up" if plain else "ffn_gate"
    bits = {weights.matrix(f"blk.{i}.{name}.weight").bits for i in range(config.layers)}
    return name if bits == {8} else ""


class Neurons:
    """What decoding a token needs to leave neurons out."""

    def __init__(
        self,
        config: ModelConfig,
        family: Family,
        weights: Weights,
        content_hash: str,
        cache_directory: Path | None,
        progress: Progress,
        threads: int,
        order: Sequence[Sequence[int]] | None = None,
        *,
        predicted: bool = False,
    ) -> None:
        """Map the file of these neurons, making it first if need be.

        order: for each layer its neurons, those that fire most often first: their records lie
        together, so that with little memory these stay in it. predicted: whether a predictor says
        which rows are of no use.
        """
        self._config, self._weights = config, weights
        self.skips_rows = predicted or skips_rows(config, family, weights)
        self.halved = "" if predicted else _sign_matrix(config, family, weights)
        """The matrix that is read by halves (`engine.kernels.gates`), unless memory is short."""
        self._order = [np.asarray(one, np.int32) for one in order] if order else None
        places, size = self._layout()
        digest = hashlib.sha256(b"".join(one.tobytes() for one in self._order or []))
        what = f"{content_hash} {digest.hexdigest()}" + (" predicted" if predicted else "")
        name = hashlib.sha256(what.encode()).hexdigest()
        header = f"hubd neurons {FILE_VERSION}\n{name}\n{size}\n".encode().ljust(
            HEADER_BYTES, b"\0"
        )

        def fill(out: NDArray[np.uint8]) -> None:
            for index, place in enumerate(places):
                progress("packing neurons", index / len(places))
                self._fill_layer(index, place, out)

        path = cache_directory / f"{name[:24]}.neurons" if cache_directory else None
        self._data = np.frombuffer(map_or_make(path, header, size, fill), np.uint8)
        self._slots = np.zeros((len(places), layer_slots.LAYER_SLOTS), np.int64)
        base = self._data.ctypes.data
        for slots, place in zip(self._slots, places, strict=True):
            slots[layer_slots.RECORDS] = base + place.records
            slots[layer_slots.RECORD_BYTES] = place.record_bytes
            slots[layer_slots.COLUMN] = place.column
            slots[layer_slots.PLACES] = base + place.places
            slots[layer_slots.SCALES] = base + place.scales
            if self.halved:
                slots[layer_slots.UPPER] = base + place.upper
                slots[layer_slots.GATE_ROWS] = base + place.gate_rows
                slots[layer_slots.GATE_ROW_BYTES] = layout.row_bytes(8, config.dim)
                slots[layer_slots.DEVIATIONS] = base + place.deviations
        self.set_break_even(BREAK_EVEN if self.skips_rows else COLUMNS_BREAK_EVEN)
        self._slots[:, layer_slots.OPEN_LIMIT] = int(OPEN_BREAK_EVEN * config.ffn_dim)
        scratch = max(
            sparse_scratch_bytes(config.dim, config.ffn_dim), gate_scratch_bytes(config.dim)
        )
        self._scratch_bytes = layout.lines(scratch)
        self._scratch = np.zeros(threads * self._scratch_bytes + 64, np.uint8)
        self.locked = self._stay(places)
        """Whether there was so little memory that what every token reads is locked in it."""
        self._slots[:, layer_slots.ASK] = mmap.PAGESIZE if self.locked else 0
        if self.locked:  # in which the gates are whole
            self._slots[:, layer_slots.WHOLE] = layer_slots.ALWAYS

    def operands(self, layer: int) -> tuple[int, int, int]:
        """Address of the scratch, bytes of it for a share, address of the layer's slots."""
        scratch = layout.lines(self._scratch.ctypes.data)
        return scratch, self._scratch_bytes, self._slots[layer].ctypes.data

    def gate_operands(self, layer: int) -> tuple[int, int, int]:
        """Address of the layer's slots, address of the scratch, bytes of it for a share."""
        scratch, size, slots = self.operands(layer)
        return slots, scratch, size

    def set_break_even(self, share: float) -> None:
        """Read everything where more than this share of the neurons is active."""
        self._slots[:, layer_slots.LIMIT] = int(share * self._config.ffn_dim)

    def activity(self) -> list[LayerActivity]:
        """Of each layer, over the tokens that were decoded alone; none before the first."""
        steps = self._slots[:, layer_slots.STEPS]
        if not steps.all():
            return []
        shares = self._slots[:, [layer_slots.ACTIVE_GATES, layer_slots.ACTIVE_COLUMNS]] / (
            steps[:, None] * self._config.ffn_dim
        )
        return [
            LayerActivity(float(rows) if self.skips_rows else 1.0, float(columns))
            for rows, columns in shares
        ]

    def forget_activity(self) -> None:
        """Begin to count anew, and to try halves again."""
        whole = self._slots[:, layer_slots.WHOLE]
        whole[whole != layer_slots.ALWAYS] = 0
        counted = (
            layer_slots.STEPS,
            layer_slots.ACTIVE_GATES,
            layer_slots.ACTIVE_COLUMNS,
            layer_slots.HALVED,
            layer_slots.OPENED,
        )
        self._slots[:, counted] = 0

    def bytes_per_token(self) -> float:
        """Bytes of the feed-forward blocks that a decoded token has read, in the mean."""
        total = 0.0
        neurons, dim = self._config.ffn_dim, self._config.dim
        for index, activity in enumerate(self.activity()):
            up, down = self._matrices(index)
            for name in ("gate",) if self.skips_rows else ("gate", "up"):
                tensor = f"blk.{index}.ffn_{name}.weight"
                if tensor in self._weights:
                    total += self._weights.packed(tensor).size
            total += self._spared_by_halves(index)
            if self.skips_rows:
                total += activity.rows * neurons * layout.row_bytes(up, dim)
            total += activity.columns * neurons * layout.column_bytes(down, dim)
            total += layout.scale_bytes(down, neurons, dim)
        return total

    def _spared_by_halves(self, layer: int) -> float:
        """Bytes of gates that a token has not read, in the mean, as a number below zero."""
        slots, config = self._slots[layer], self._config
        if not self.halved or slots[layer_slots.HALVED] == 0:
            return 0.0
        whole = self._weights.packed(f"blk.{layer}.{self.halved}.weight").size
        half = packed_bytes(4, config.ffn_dim, config.dim) + 4 * config.ffn_dim
        opened = slots[layer_slots.OPENED] * slots[layer_slots.GATE_ROW_BYTES]
        spared = slots[layer_slots.HALVED] * (half - whole) + opened
        return float(spared / slots[layer_slots.STEPS])

    def dense_bytes(self) -> int:
        """Bytes of all feed-forward blocks."""
        names = [
            f"blk.{i}.ffn_{name}.weight" for i in range(self._config.layers) for name in _PARTS
        ]
        return sum(self._weights.packed(name).size for name in names if name in self._weights)

    def _stay(self, places: list[_Place]) -> bool:
        """Keep in memory what decoding reads for every token, if there is too little for all."""
        skipped = ("ffn_up.weight", "ffn_down.weight")[0 if self.skips_rows else 1 :]
        read = [name for name in self._weights if not name.endswith(skipped)]
        always = [self._weights.packed(name) for name in read]
        always += [self._data[place.places : place.records] for place in places]
        size = self._config.ffn_dim
        ends = [place.records + size * place.record_bytes for place in places]
        sometimes = [self._data[p.records : end] for p, end in zip(places, ends, strict=True)]
        return stay(always, sometimes, self._weights.total_bytes)

    def _matrices(self, layer: int) -> tuple[int, int]:
        """Bits of the up and the down projection."""
        up, down = (
            self._weights.matrix(f"blk.{layer}.ffn_{part}.weight").bits for part in ("up", "down")
        )
        return up, down

    def _layout(self) -> tuple[list[_Place], int]:
        """Where each layer will lie, and the size of the whole."""
        neurons, dim = self._config.ffn_dim, self._config.dim
        places, end = [], HEADER_BYTES
        for layer in range(self._config.layers):
            up, down = self._matrices(layer)
            column = layout.row_bytes(up, dim) if self.skips_rows else 0
            record_bytes = column + layout.column_bytes(down, dim)
            scales = end + layout.lines(4 * neurons)
            records = scales + layout.scale_bytes(down, neurons, dim)
            records = (records + _PAGE - 1) // _PAGE * _PAGE
            end_of_records = layout.lines(records + neurons * record_bytes)
            deviations = upper = gate_rows = end_of_records
            if self.halved:
                upper = layout.lines(deviations + 4 * neurons)
                gate_rows = layout.lines(upper + packed_bytes(4, neurons, dim))
                end_of_records = gate_rows + neurons * layout.row_bytes(8, dim)
            halves = (deviations, upper, gate_rows)
            places.append(_Place(end, scales, records, column, record_bytes, *halves))
            end = layout.lines(end_of_records)
        return places, end

    def _fill_layer(self, layer: int, place: _Place, out: NDArray[np.uint8]) -> None:
        neurons, dim = self._config.ffn_dim, self._config.dim
        up, down = self._matrices(layer)
        order = np.arange(neurons, dtype=np.int32) if self._order is None else self._order[layer]
        places = np.empty(neurons, np.int32)
        places[order] = np.arange(neurons, dtype=np.int32)
        out[place.places : place.places + places.nbytes] = places.view(np.uint8)
        packed = self._weights.packed(f"blk.{layer}.ffn_down.weight")
        columns, scales = layout.columns_of(packed, down, dim, neurons)
        out[place.scales : place.scales + scales.nbytes] = scales.view(np.uint8).reshape(-1)
        records = out[place.records : place.records + neurons * place.record_bytes]
        records = records.reshape(neurons, place.record_bytes)
        if self.skips_rows:
            packed = self._weights.packed(f"blk.{layer}.ffn_up.weight")
            records[places, : place.column] = layout.rows_of(packed, up, neurons, dim)
        records[places, place.column :] = columns
        if self.halved:
            packed = self._weights.packed(f"blk.{layer}.{self.halved}.weight")
            upper, deviations = layout.upper_halves(packed, neurons, dim)
            rows = layout.rows_of(packed, 8, neurons, dim).reshape(-1)
            out[place.deviations : place.deviations + 4 * neurons] = deviations.view(np.uint8)
            out[place.upper : place.upper + upper.size] = upper
            out[place.gate_rows : place.gate_rows + rows.size] = rows
