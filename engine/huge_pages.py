"""Memory in pages of 2 MB, where the system has them: 512 times fewer addresses to look up."""

import contextlib
import mmap


def anonymous(size: int) -> mmap.mmap:
    """Zeros that no file holds, resident once they are written; they belong to this process.

    Private: memory that could be shared with a child is a file to Linux, and gets huge pages only
    if /sys/kernel/mm/transparent_hugepage/shmem_enabled says so. By default it does not, and a
    token of SmolLM2 Q8_0 takes 5 % longer for its weights alone.
    """
    space = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    ask_for_huge_pages(space)
    return space


def ask_for_huge_pages(space: mmap.mmap) -> None:
    """Have mapped memory, also of a file, in huge pages; where there are none they stay small."""
    with contextlib.suppress(OSError, AttributeError):  # a file system, or a system, without them
        space.madvise(mmap.MADV_HUGEPAGE)
