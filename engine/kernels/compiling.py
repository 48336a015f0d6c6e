"""Compiles kernels in a process of its own, which leaves them in numba's cache for this one.

numba holds the interpreter while it compiles, for up to a second at a time, and keeps 170 MB
afterwards; should LLVM abort, it takes its process along. So a child compiles, and this process
loads what it finds. ``python -m engine.kernels.compiling MODULE:FUNCTION…`` is the child.
"""

import ctypes
import functools
import hashlib
import importlib
import logging
import platform
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import llvmlite
import numba
from llvmlite import binding as llvm
from numba.core import config

from engine.kernels.dispatch import (
    choose_path,
    compile_function,
    compile_operation,
    cpu_features,
    source_hash,
)
from engine.kernels.orders import lead, serve

log = logging.getLogger(__name__)

Kernel = Callable[..., None]

_HELPERS: tuple[Kernel, ...] = (lead, serve)
"""What threads run besides operations."""
_PR_SET_PDEATHSIG = 1


def fill_cache(operations: Sequence[Kernel], progress: Callable[[float], None]) -> None:
    """Let a child compile what is not in numba's cache yet; progress: told the fraction done.

    Only where NUMBA_CACHE_DIR says that compiled kernels are kept. A child that fails is a line in
    the log: whoever needs the kernels compiles them then.
    """
    missing = [kernel for kernel in (*operations, *_HELPERS) if not _is_marked(kernel)]
    if not missing or not config.CACHE_DIR:
        return
    command = [sys.executable, "-m", __name__, *map(_name, missing)]
    try:
        child = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True
        )
        with child:
            assert child.stdout is not None
            for done, _ in enumerate(child.stdout, start=1):
                progress(done / (len(missing) + 1))
    except OSError as error:
        log.warning("no process to compile kernels in: %s", error)
        return
    if child.returncode != 0:
        log.warning("the process that compiles kernels has ended with %d", child.returncode)


def main() -> None:
    """The child: compile each kernel that is named, and say so in a line."""
    if sys.platform == "linux":  # it has no use once whoever waits for it is gone
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    for name in sys.argv[1:]:
        module, _, function = name.partition(":")
        kernel: Kernel = getattr(importlib.import_module(module), function)
        if kernel in _HELPERS:
            compile_function(kernel)
        else:
            compile_operation(kernel)
        mark = _mark(kernel)
        mark.parent.mkdir(parents=True, exist_ok=True)
        mark.touch()
        print(name, flush=True)


def _name(kernel: Kernel) -> str:
    return f"{kernel.__module__}:{kernel.__name__}"


def _is_marked(kernel: Kernel) -> bool:
    return bool(config.CACHE_DIR) and _mark(kernel).exists()


def _mark(kernel: Kernel) -> Path:
    """The file that says that a kernel is in the cache, compiled from this source for this CPU.

    Where the mark is right and the cache is not, the kernel is compiled once more, as without it.
    """
    source = Path(kernel.__code__.co_filename).stat()
    what = (_name(kernel), _circumstances(choose_path()), source.st_mtime_ns, source.st_size)
    digest = hashlib.sha256(repr(what).encode()).hexdigest()[:24]
    return Path(config.CACHE_DIR) / "compiled" / f"{kernel.__name__}-{digest}"


@functools.cache
def _circumstances(path: str) -> tuple[str, ...]:
    """What numba's own cache looks at besides the source (numba.core.caching)."""
    versions = (platform.python_version(), numba.__version__, llvmlite.__version__)
    cpu = (config.CPU_NAME or llvm.get_host_cpu_name(), ",".join(sorted(cpu_features())))
    return (*versions, *cpu, path, source_hash())


if __name__ == "__main__":
    main()
