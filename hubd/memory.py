"""Memory of a process that runs for a year: what is freed goes back, what stays is let be."""

import contextlib
import ctypes
import gc
import sys
from collections.abc import Iterator

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


@contextlib.contextmanager
def lasting() -> Iterator[None]:
    """What is made in the block is kept for good: the garbage collector need never look at it.

    A full collection over grammars and examples held the event loop for 70 to 100 ms, twice in ten
    minutes of load. Works from any thread; the collector rests meanwhile.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


def let_go() -> None:
    """The end of what `lasting` was to keep: the collector takes what nobody holds any more."""
    gc.unfreeze()
    gc.collect()
