"""Large memory that was freed goes back to the system: a hub is idle most of the time."""

import ctypes
import sys

_M_MMAP_THRESHOLD = -3
"""malloc.h, mallopt(3)."""
LARGE = 4 << 20


def give_back_large_blocks() -> None:
    """From now on memory of `LARGE` bytes and more is the system's again when it is freed.

    glibc keeps more and more once something large was freed: after the examples were fitted, the
    hub held 31 MB that nobody used. Nothing happens where the C library is another.
    """
    if sys.platform == "linux":
        mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
        if mallopt is not None:
            mallopt(_M_MMAP_THRESHOLD, LARGE)
