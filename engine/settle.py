"""What a process lets go of once everything is loaded.

Knows nothing of models: Python's garbage collector, and the compiler's code in memory.
"""

import ctypes
import gc
import mmap
import re
from collections.abc import Iterator
from pathlib import Path

_COMPILER = "libllvmlite"


def settle() -> None:
    """To be called when all is loaded; the garbage collector works from now on.

    What is loaded stays loaded, so the collector need never look at it: a full collection over
    numba's objects would hold up every request for 0.1 s. The compiler's code, 60 MB of it in
    memory after a start, leaves this process's memory; it is read again where it is needed.
    """
    gc.freeze()
    gc.enable()
    for start, size in _code_of(_COMPILER, Path("/proc/self/maps").read_text()):
        _give_back(start, size)


def _code_of(library: str, maps: str) -> Iterator[tuple[int, int]]:
    """Address and size of the mappings that hold a library's code (proc_pid_maps(5)).

    Only those that can be executed: nothing was ever written there, as it is where the loader puts
    addresses, so that the file has all of it.
    """
    for line in maps.splitlines():
        found = re.match(r"([0-9a-f]+)-([0-9a-f]+) r-xp .*/([^/]*)$", line)
        if found is not None and found[3].startswith(library):
            start, end = int(found[1], 16), int(found[2], 16)
            yield start, end - start


def _give_back(start: int, size: int) -> None:
    """Drop pages from this process; they stay in the page cache. Failing costs only memory."""
    if not hasattr(mmap, "MADV_DONTNEED"):
        return
    madvise = ctypes.CDLL(None).madvise
    madvise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    madvise(start, size, mmap.MADV_DONTNEED)
