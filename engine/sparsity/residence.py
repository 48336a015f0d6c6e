"""What stays in memory where there is too little for all of a model's weights.

The kernel drops the pages that were read longest ago. A token goes through the weights in a circle,
so with less memory than these take it drops just what will be read next, and every token comes from
the disk. What each token reads is therefore locked, as far as it fits; what only some tokens read
shares the rest. Knows nothing of models.
"""

import ctypes
import mmap
import os
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]
_OF_LIMIT = 0.9
"""Of what a memory cgroup leaves to this process: as much may be locked."""
_OF_MACHINE = 0.7
"""The same of what the machine has to spare, which its other programs may want tomorrow: what is
locked they cannot get back. Home Assistant takes some hundred MB more while it is updated."""
_PAGE = mmap.PAGESIZE
_LISTS = ("Active", "Inactive")
"""Of the pages that the kernel can drop."""


class Room(NamedTuple):
    """Memory for files' pages, in bytes."""

    available: int
    """What this process may fill."""
    lockable: int
    """What it may keep others from."""


def memory_room(root: Path = Path("/")) -> Room | None:
    """What the machine has to spare, or what this process's memory cgroup leaves beside its own
    memory (proc(5), cgroups(7)), whichever is less. None where nobody tells.
    """
    try:
        spare = _spare(root)
        own = _field(root / "proc/self/status", "RssAnon")
        limits = [int(text) - own for text in _limits(root) if text.isdigit()]
    except (OSError, ValueError):
        return None
    lockable = [_OF_MACHINE * spare, *(_OF_LIMIT * limit for limit in limits)]
    return Room(min([spare, *limits]), int(min(lockable)))


def _spare(root: Path) -> int:
    """Bytes of memory that nobody needs. Where /proc shows processes alone (ProcSubset=pid of
    systemd) it is the free memory and the files' pages of each memory node. The nodes do not tell
    what is free: memory that was plugged in while the machine ran can be missing from their sum.
    """
    if (root / "proc/meminfo").is_file():
        return _field(root / "proc/meminfo", "MemAvailable")
    nodes = list((root / "sys/devices/system/node").glob("node*/meminfo"))
    if not nodes:
        raise FileNotFoundError("nothing tells how much memory files take")
    return _free() + sum(_field(node, f"{which}(file)") for node in nodes for which in _LISTS)


def _free() -> int:
    """Bytes of memory that hold nothing (sysinfo(2), which needs no /proc)."""
    return os.sysconf("SC_AVPHYS_PAGES") * _PAGE


def _field(path: Path, name: str) -> int:
    """Bytes, out of a file with a line `name: value kB`, maybe behind `Node 0`."""
    for line in path.read_text().splitlines():
        words = line.split()
        if f"{name}:" in words:
            return 1024 * int(words[words.index(f"{name}:") + 1])
    raise ValueError(f"{path} has no {name}")


def _limits(root: Path) -> list[str]:
    """What the memory cgroup of this process and those above it say, also of how much slows a
    process down; "max" is no limit."""
    found = []
    for line in (root / "proc/self/cgroup").read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        if controllers not in ("memory", ""):
            continue
        base, names = root / "sys/fs/cgroup", ["memory.max", "memory.high"]
        if controllers == "memory":
            base, names = base / "memory", ["memory.limit_in_bytes"]
        group = base / path.lstrip("/")
        for folder in (group, *group.parents):
            files = [folder / name for name in names if (folder / name).is_file()]
            found += [file.read_text().strip() for file in files]
            if folder == base:
                break
    return found


def stay(always: Sequence[Bytes], sometimes: Sequence[Bytes], all_bytes: int) -> bool:
    """Lock what every token reads, and have the rest read page by page; gives whether it was done.

    always, sometimes: pieces of mapped files. Of the first, as many are locked as there is room
    for. Nothing is done where `all_bytes` fit anyway, or where this process may not lock memory
    (RLIMIT_MEMLOCK).
    """
    room = memory_room()
    if room is None or all_bytes <= room.available:
        return False
    ends = np.cumsum([one.size for one in always])
    chosen = always[: int(np.searchsorted(ends, room.lockable, side="right"))]
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
