"""Which kernels this CPU runs, and their addresses once they are compiled.

A path is a module with `multiply_tile`, `multiply_row`, `multiply_rows`, `multiply_panel`,
`multiply_columns`, `attend_numbers` and `attend_bytes`. Operations are written once, against those
names, and compiled with a path's own. To add a path: a module beside `avx512vnni.py` and a line in
`NEEDS`.
"""

import ctypes
import functools
import hashlib
import logging
import os
import platform
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

from engine.errors import EngineError
from engine.kernels import machine_code
from engine.kernels.processor import cpu_features, processor

log = logging.getLogger(__name__)

Kernel = Callable[..., None]

NEEDS: dict[str, tuple[str, ...]] = {
    "avx512vnni": ("avx512f", "avx512bw", "avx512vl", "avx512vnni", "f16c", "fma"),
    "avxvnni": ("avxvnni|avx512vnni", "avx2", "f16c", "fma"),
    "avx2": ("avx2", "f16c", "fma"),
    "neon": ("neon", "dotprod"),
    "armv8": ("neon",),
    "portable": (),
}
"""Path → CPU features it cannot do without, in LLVM's names; of those joined by a bar one is
enough. Best path first."""


def available_paths() -> list[str]:
    """Names of the paths that this CPU can run, best first."""
    features = cpu_features()
    return [
        path
        for path, needs in NEEDS.items()
        if all(features.intersection(need.split("|")) for need in needs)
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


def kept_name(kernel: Kernel, path: str | None = None) -> str:
    """The name of a kernel's machine code, in its file and in this process.

    Another source, another CPU, another compiler: another name.
    """
    code = kernel.__code__
    source = Path(code.co_filename).stat()
    what = (kernel.__module__, code.co_code, source.st_mtime_ns, source.st_size)
    digest = hashlib.sha256(repr((what, _circumstances(path or choose_path()))).encode())
    return f"{kernel.__name__}-{digest.hexdigest()[:24]}"


@functools.cache
def compile_operation(kernel: Kernel, path: str | None = None) -> int:
    """The address of a kernel's machine code: what is kept, or else compiled here and kept."""
    name = kept_name(kernel, path)
    code = machine_code.kept(name)
    if code is None:
        from engine.kernels.compiler import compile_kernel  # takes 0.3 s and 80 MB

        code = compile_kernel(kernel, path or choose_path(), name)
        try:
            machine_code.keep(name, code)
        except OSError as error:
            log.warning("the kernel %s is not kept: %s", name, error)
    return machine_code.load(name, code)


@functools.cache
def compile_function(kernel: Kernel) -> Callable[..., None]:
    """A kernel of int64 that Python calls, without the interpreter's lock."""
    arguments = [ctypes.c_int64] * kernel.__code__.co_argcount
    return ctypes.CFUNCTYPE(None, *arguments)(compile_operation(kernel, "portable"))


@functools.cache
def _circumstances(path: str) -> tuple[str, ...]:
    """All else that machine code depends on."""
    versions = (platform.python_version(), version("numba"), version("llvmlite"))
    return (*versions, processor(), ",".join(sorted(cpu_features())), path, _source_hash())


@functools.cache
def _source_hash() -> str:
    """Of everything that a kernel may call into."""
    room = Path(__file__).parent
    digest = hashlib.sha256()
    for file in [*sorted(room.glob("*.py")), room.parent / "formats" / "packed.py"]:
        digest.update(file.read_bytes())
    return digest.hexdigest()
