"""What stays in memory where there is too little for all of a model's weights.

The kernel drops the pages that were read longest ago. A token goes through the weights in a circle,
so with less memory than these take it drops just what will be read next, and every token comes from
the disk. What each token reads is therefore locked, as far as it fits; what only some tokens read
shares the rest. Knows nothing of models.
"""

import ctypes
import mmap
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]
_ROOM = 0.9
"""Of the memory that there is: as much may be locked."""
_PAGE = mmap.PAGESIZE


def available_memory(root: Path = Path("/")) -> int | None:
    """Bytes that this process may fill with files' pages: what the machine has to spare, or what
    its memory cgroup leaves beside its own memory (proc(5), cgroups(7)). None where nobody tells.
    """
    try:
        spare = _field(root / "proc/meminfo", "MemAvailable")
        own = _field(root / "proc/self/status", "RssAnon")
        limits = [int(text) - own for text in _limits(root) if text.isdigit()]
    except (OSError, ValueError, StopIteration):
        return None
    return min([spare, *limits])


def _field(path: Path, name: str) -> int:
    """Bytes, out of a file with a line `name: value kB`."""
    lines = (line.split() for line in path.read_text().splitlines())
    return next(1024 * int(words[1]) for words in lines if words and words[0] == f"{name}:")


def _limits(root: Path) -> list[str]:
    """What the memory cgroup of this process and those above it say; "max" is no limit."""
    found = []
    for line in (root / "proc/self/cgroup").read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        if controllers not in ("memory", ""):
            continue
        base, name = root / "sys/fs/cgroup", "memory.max"
        if controllers == "memory":
            base, name = base / "memory", "memory.limit_in_bytes"
        group = base / path.lstrip("/")
        for folder in (group, *group.parents):
            if (folder / name).is_file():
                found.append((folder / name).read_text().strip())
            if folder == base:
                break
    return found


def stay(always: Sequence[Bytes], sometimes: Sequence[Bytes], all_bytes: int) -> bool:
    """Lock what every token reads, and have the rest read page by page; gives whether it was done.

    always, sometimes: pieces of mapped files. Of the first, as many are locked as there is room
    for. Nothing is done where `all_bytes` fit anyway, or where this process may not lock memory
    (RLIMIT_MEMLOCK).
    """
    room = available_memory()
    if room is None or all_bytes <= room:
        return False
    ends = np.cumsum([one.size for one in always])
    chosen = always[: int(np.searchsorted(ends, _ROOM * room, side="right"))]
    library = ctypes.CDLL(None, use_errno=True)
    library.madvise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    for function in (library.mlock, library.munlock):
        function.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
    for index, one in enumerate(chosen):
        if library.mlock(one.ctypes.data, one.size) != 0:
            for locked in chosen[:index]:
                library.munlock(locked.ctypes.data, locked.size)
            return False
    for one in sometimes:
        # Reading ahead would fetch neurons that nobody asked for, and throw out others for them.
        start = one.ctypes.data // _PAGE * _PAGE
        library.madvise(start, one.ctypes.data + one.size - start, mmap.MADV_RANDOM)
    return True
