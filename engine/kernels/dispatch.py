"""Which kernels this CPU runs, and how they are compiled and cached.

A path is a module with `multiply_tile`, `multiply_row`, `multiply_panel` and `multiply_columns`.
Operations are written once, against those names; `compile_operation` compiles them with a path's
own. To add a path: a
module beside `avx512vnni.py` and a line in `_PATHS`.
"""

import contextlib
import functools
import hashlib
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

from llvmlite import binding as llvm
from numba import cfunc, njit, types
from numba.core import config

from engine.errors import EngineError
from engine.kernels import avx2, avx512vnni, avxvnni, neon, portable

_PATHS: dict[str, ModuleType] = {
    "avx512vnni": avx512vnni,
    "avxvnni": avxvnni,
    "avx2": avx2,
    "neon": neon,
    "portable": portable,
}
"""Name → module, best first. Each says in NEEDS which CPU features it cannot do without."""

_TILE_KERNELS = ("multiply_tile", "multiply_row", "multiply_panel", "multiply_columns")
_ARRAY = types.CPointer(types.int64)
_OPERATION = types.void(_ARRAY, _ARRAY, types.int64, types.int64)
_BLAS = "scipy.linalg.cython_blas"
_OPTIONS = {"nopython": True, "error_model": "numpy", "boundscheck": False}


@functools.cache
def _host_features() -> str:
    """Features of this CPU in LLVM's names, as NUMBA_CPU_FEATURES would have them."""
    features: str = llvm.get_host_cpu_features().flatten()
    return features


@functools.cache
def _present(features: str) -> frozenset[str]:
    return frozenset(name[1:] for name in features.split(",") if name.startswith("+"))


def cpu_features() -> frozenset[str]:
    """Features that generated code may use: the CPU's, unless NUMBA_CPU_FEATURES says otherwise."""
    return _present(_host_features() if config.CPU_FEATURES is None else config.CPU_FEATURES)


def available_paths() -> list[str]:
    """Names of the paths that this CPU can run, best first."""
    features = cpu_features()
    return [
        name
        for name, module in _PATHS.items()
        if all(features.intersection(need.split("|")) for need in module.NEEDS)
    ]


def choose_path() -> str:
    """The best path for this CPU, or what HUBD_KERNELS names; EngineError if that cannot run."""
    available = available_paths()
    wanted = os.environ.get("HUBD_KERNELS", "")
    if wanted and wanted not in available:
        raise EngineError(
            f"HUBD_KERNELS is {wanted!r}; this machine can run: {', '.join(available)}"
        )
    return wanted or available[0]


@functools.cache
def source_hash() -> str:
    """Of everything that ends up in compiled kernels. numba's cache looks at one file only:
    without this, a change in a file that an operation calls into would leave stale code in the
    cache."""
    room = Path(__file__).parent
    files = [*sorted(room.glob("*.py")), room.parent / "formats" / "packed.py"]
    digest = hashlib.sha256()
    for file in files:
        digest.update(file.read_bytes())
    return digest.hexdigest()[:12]


def _bound(function: Callable[..., None], path: str) -> Callable[..., None]:
    """A copy of the function that sees the tile kernels of `path`, named so in numba's cache."""
    assert isinstance(function, FunctionType)
    seen = {name: getattr(_PATHS[path], name) for name in _TILE_KERNELS}
    copy = FunctionType(function.__code__, {**function.__globals__, **seen}, function.__name__)
    copy.__module__ = function.__module__
    copy.__qualname__ = f"{function.__name__}_{path}_{source_hash()}"
    return copy


@contextlib.contextmanager
def _without_blas() -> Iterator[None]:
    """Keep numba from loading SciPy's linear algebra, which it tries with its first function.

    No kernel uses it, and it takes 0.2 s of every start and 20 MB.
    """
    if _BLAS in sys.modules:
        yield
        return
    sys.modules[_BLAS] = None  # type: ignore[assignment]  # that is how an import is refused
    try:
        yield
    finally:
        del sys.modules[_BLAS]


@functools.cache
def _compiled(function: Callable[..., None], path: str) -> Any:
    with _without_blas():
        return cfunc(_OPERATION, cache=True, **_OPTIONS)(_bound(function, path))


def compile_operation(function: Callable[..., None], path: str | None = None) -> int:
    """Compile an operation, or load it from numba's cache; gives its address."""
    address: int = _compiled(function, path or choose_path()).address
    return address


@functools.cache
def compile_function(function: Callable[..., None]) -> Callable[..., None]:
    """Compile a function of int64 that Python calls without the GIL, or load it from the cache."""
    arguments = function.__code__.co_argcount
    signature = types.void(*[types.int64] * arguments)
    compiled = njit(signature, nogil=True, cache=True, error_model="numpy", boundscheck=False)
    with _without_blas():
        result: Callable[..., None] = compiled(_bound(function, "portable"))
    return result
