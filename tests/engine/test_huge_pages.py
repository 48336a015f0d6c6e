"""Memory in huge pages: what Linux has been told of it."""

import re
import sys
from pathlib import Path

import numpy as np
import pytest

from engine.huge_pages import anonymous


def flags_of(address: int) -> set[str]:
    """VmFlags of the mapping that holds an address (proc_pid_smaps(5))."""
    inside = False
    for line in Path("/proc/self/smaps").read_text().splitlines():
        if found := re.match(r"([0-9a-f]+)-([0-9a-f]+) ", line):
            inside = int(found[1], 16) <= address < int(found[2], 16)
        elif inside and line.startswith("VmFlags:"):
            return set(line.split()[1:])
    raise AssertionError(f"nothing is mapped at {address:#x}")


@pytest.mark.skipif(sys.platform != "linux", reason="smaps is Linux's")
def test_anonymous_memory_is_private_and_may_have_huge_pages() -> None:
    space = anonymous(8 << 20)
    memory = np.frombuffer(space, np.uint8)
    flags = flags_of(memory.ctypes.data)
    assert "sh" not in flags, "shared memory is a file to Linux, which has no huge pages by default"
    assert "hg" in flags or not Path("/sys/kernel/mm/transparent_hugepage").exists()
    assert not memory.any()
