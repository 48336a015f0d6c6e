"""Quantizing a model file: GGUF in, a smaller GGUF out that other programs read as well.

``python -m engine.quantize IN OUT --to q8_0``. Everything but the weights is copied as it stands.
"""

import argparse
import math
import os
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from engine.errors import EngineError
from engine.formats import FORMATS
from engine.formats.packed import BLOCK
from engine.gguf import GGUFFile, ModelFormatError, TensorInfo
from engine.gguf_header import DEFAULT_ALIGNMENT
from engine.gguf_writer import NewTensor, pair, write_gguf

FILE_TYPES = {"q4_0": 2, "q4_1": 3, "q8_0": 7, "q5_0": 8, "q5_1": 9, "q4_k_m": 15}
"""What a model can be quantized to → its `general.file_type` (llama.cpp's llama_ftype)."""

_QUANTIZATION_VERSION = 2
_FOR_ODD_ROWS = {"Q4_K": "Q5_0", "Q6_K": "Q8_0"}
"""Formats with blocks of 256 → what rows get that are no multiple of it."""
_PIECE_WEIGHTS = 1 << 22
_EXACT = ("F32", "F16", "BF16")
_VOCABULARY = ("token_embd.weight", "output.weight")
_KEPT = ("ffn_gate_inp.weight", "position_embd.weight", "token_types.weight")
"""Ends of the names of matrices that llama.cpp keeps as they are: routers and tables of BERT."""

_LAYER = re.compile(r"blk\.(\d+)\.(.*)")
_SENSITIVE = ("attn_v.weight", "ffn_down.weight", "ffn_down_exps.weight")

Floats = NDArray[np.float32]
Importance = dict[str, Floats]
_IMPORTANCE_OF_ANY = 0.01
Progress = Callable[[str, float], None]
"""Told a tensor's name and the fraction of the whole that is done."""


class QuantizeError(EngineError):
    """A model that cannot be quantized as asked."""


def _wanted_type(name: str, to: str, layers: int) -> str:
    """The type of a matrix by its name, as llama.cpp mixes them.

    The embedding and the head decide the most over the words that come out: with 4 and 5 bits they
    get more. So do in q4_k_m the matrices where errors hurt, in the first and the last eighth of
    the layers and every third between.
    """
    if to != "q4_k_m":
        return "Q8_0" if name in _VOCABULARY else to.upper()
    layer = _LAYER.fullmatch(name)
    if layer is None or layer[2] not in _SENSITIVE:
        return "Q6_K" if name in _VOCABULARY else "Q4_K"
    index, eighth = int(layer[1]), layers // 8
    more = index < eighth or index >= 7 * layers // 8 or (index - eighth) % 3 == 2
    return "Q6_K" if more else "Q4_K"


def target_type(info: TensorInfo, to: str, layers: int) -> str:
    """The type that a tensor gets in a model of so many layers.

    Vectors, routers and what has no rows of whole blocks stay as they are.
    """
    weights = len(info.shape) >= 2 and info.name.endswith(".weight")
    if not weights or info.name.endswith(_KEPT) or info.shape[-1] % BLOCK:
        return info.type_name
    wanted = _wanted_type(info.name, to, layers)
    return _FOR_ODD_ROWS.get(wanted, wanted) if info.shape[-1] % 256 else wanted


def layers_of(source: GGUFFile) -> int:
    """How many layers the tensors' names tell of."""
    found = [match for name in source.tensors if (match := _LAYER.fullmatch(name))]
    return max((int(match[1]) + 1 for match in found), default=0)


def _pairs(source: GGUFFile, to: str) -> list[bytes]:
    """The metadata of the new file: the old, but for what tells of quantization and parts."""
    if source.version == 1:
        raise QuantizeError(f"{source.path.name} is GGUF version 1; convert it to version 3 first")
    changed = {
        "general.file_type": FILE_TYPES[to],
        "general.quantization_version": _QUANTIZATION_VERSION,
    }
    kept = [
        raw
        for key, raw in source.raw_metadata().items()
        if key not in changed and not key.startswith("split.")
    ]
    return kept + [pair(key, value) for key, value in changed.items()]


def _values(raw: NDArray[np.uint8], info: TensorInfo, elements: int) -> NDArray[np.float32]:
    values = FORMATS[info.type_name].dequantize(raw, (elements,))
    if not np.isfinite(values).all():
        raise ModelFormatError(
            f"tensor {info.name!r} at offset {info.offset}: the weights are not all finite numbers"
        )
    return values


def _by_row(importance: NDArray[np.float32], info: TensorInfo, first: int, count: int) -> Floats:
    """float32 (count, columns): the importance of every weight of these rows.

    importance: (experts, columns); a little of all the columns' mean is added, since another text
    may use what this one does not.
    """
    experts = np.arange(first, first + count) // info.shape[-2]
    rows: Floats = importance[experts] + np.float32(_IMPORTANCE_OF_ANY)
    return rows


def _pieces(
    source: GGUFFile, info: TensorInfo, type_name: str, importance: NDArray[np.float32] | None
) -> Iterator[bytes]:
    """The bytes of a tensor in its new type, some rows at a time."""
    rows = math.prod(info.shape[:-1])
    columns, row_bytes = info.shape[-1], info.size // rows
    step = max(1, _PIECE_WEIGHTS // columns)
    quantize = FORMATS[type_name].quantize if type_name in FORMATS else None
    for first in range(0, rows, step):
        count = min(step, rows - first)
        raw = source.tensor_bytes(info.name, first * row_bytes, count * row_bytes)
        if type_name != info.type_name:
            assert quantize is not None, "a target is a type that can be written"
            values = _values(raw, info, count * columns)
            counts = None if importance is None else _by_row(importance, info, first, count)
            raw = quantize(values, counts)
        yield raw.tobytes()


def _data(
    source: GGUFFile, new: list[NewTensor], progress: Progress, importance: Importance
) -> Iterator[Iterator[bytes]]:
    whole, done = sum(tensor.size for tensor in new), 0
    for tensor in new:
        progress(tensor.name, done / whole)
        counts = importance.get(tensor.name)
        experts = math.prod(tensor.shape[:-2])
        if counts is not None and counts.shape != (experts, tensor.shape[-1]):
            raise QuantizeError(
                f"importance of shape {counts.shape} does not fit tensor {tensor.name!r}"
                f" of {tensor.shape}"
            )
        yield _pieces(source, source.tensors[tensor.name], tensor.type_name, counts)
        done += tensor.size


def _planned(source: GGUFFile, to: str, again: bool) -> list[NewTensor]:
    """The tensors of the new file; QuantizeError if the old one is not fit."""
    planned = []
    layers = layers_of(source)
    for info in source.tensors.values():
        type_name = target_type(info, to, layers)
        if type_name != info.type_name:
            if info.type_name not in FORMATS:
                raise QuantizeError(f"tensor {info.name!r} has type {info.type_name}: not readable")
            if info.type_name not in _EXACT and not again:
                raise QuantizeError(
                    f"{source.path.name} is quantized already (tensor {info.name!r} is"
                    f" {info.type_name}): the errors would add up. Take an F16, BF16 or F32 file,"
                    " or say --requantize"
                )
        planned.append(NewTensor(info.name, info.shape, type_name))
    return planned


def quantize_file(
    path: Path,
    out: Path,
    to: str,
    progress: Progress,
    again: bool = False,
    importance: Importance | None = None,
) -> tuple[int, int]:
    """Quantize a model file; gives the bytes of the weights before and after.

    to: a key of FILE_TYPES; again: whether a quantized file may be quantized once more;
    importance: by tensor name float32 (experts, columns), as `importance.measure` finds it, for
    the errors that matter to be small. `out` is written whole or not at all. Raises QuantizeError,
    ModelFormatError or OSError.
    """
    if to not in FILE_TYPES:
        raise QuantizeError(f"no such format: {to}; possible: {', '.join(FILE_TYPES)}")
    if out.exists() and out.samefile(path):
        raise QuantizeError(f"{out} is the file that is read: give another name")
    with GGUFFile(path) as source:
        new = _planned(source, to, again)
        alignment = source.metadata.get("general.alignment", DEFAULT_ALIGNMENT)
        pairs = _pairs(source, to)
        temporary = out.with_name(f"{out.name}.{os.getpid()}.part")
        try:
            with temporary.open("wb") as file:
                write_gguf(
                    file, pairs, new, _data(source, new, progress, importance or {}), alignment
                )
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(out)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
        before = sum(info.size for info in source.tensors.values())
    return before, sum(tensor.size for tensor in new)


def _show(name: str, fraction: float) -> None:
    """One line that is written over and over, for a person."""
    if sys.stderr.isatty():
        print(f"\r\033[K{fraction:4.0%} {name}", end="", file=sys.stderr, flush=True)


def _importance(path: Path, text: Path | None, to: str) -> Importance | None:
    if text is None:
        return None
    if to == "q8_0":
        raise QuantizeError("--importance changes nothing for q8_0: 8 bits lose next to nothing")
    from engine.importance import importance_of_text  # the kernels, which nobody else needs here

    _show(f"reading {text.name}", 0.0)
    return importance_of_text(path, text)


def _wipe() -> None:
    if sys.stderr.isatty():
        print("\r\033[K", end="", file=sys.stderr, flush=True)


def main() -> int:
    """The command line; gives the exit code. An error is one line, never a traceback."""
    parser = argparse.ArgumentParser(prog="engine.quantize", description=__doc__)
    parser.add_argument("path", type=Path, metavar="IN")
    parser.add_argument("out", type=Path, metavar="OUT")
    parser.add_argument("--to", choices=FILE_TYPES, required=True)
    parser.add_argument("--requantize", action="store_true")
    parser.add_argument("--importance", type=Path, metavar="TEXT")
    given = parser.parse_args()
    try:
        importance = _importance(given.path, given.importance, given.to)
        before, after = quantize_file(
            given.path, given.out, given.to, _show, given.requantize, importance
        )
    except (EngineError, OSError) as error:
        _wipe()
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        _wipe()
        return 130
    _wipe()
    print(f"{given.out}: {after / 1e6:.0f} MB of weights, {before / 1e6:.0f} MB before")
    return 0


if __name__ == "__main__":
    sys.exit(main())
