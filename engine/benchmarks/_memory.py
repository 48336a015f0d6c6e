"""The memory limit of this machine, and what a process holds of its memory."""

import re
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from engine.kernels.dispatch import compile_operation
from engine.kernels.intrinsics import integers
from engine.kernels.program import STEP_SLOTS, Program, share
from engine.threads import ThreadPool

READ_BYTES = 256 << 20
"""Well beyond the last cache."""
_READINGS = 4


def read_memory(operands: Any, step: Any, thread: int, threads: int) -> None:
    """Operation: sum `operands[1]` int32 from address `operands[0]` into the step."""
    first, last = share(operands[1], thread, threads)
    words = integers(operands[0] + 4 * first, last - first)
    total = np.int32(0)
    for i in range(words.size):
        total += words[i]
    step[thread] = total


class MemoryMeter:
    """Reads a large array with all threads of a pool: as fast as this machine reads.

    Eight accumulators of 64 bytes, written by hand, read no faster: 30 to 31 GB/s either way.
    """

    def __init__(self, threads: int) -> None:
        self._pool, program = ThreadPool(threads), Program()
        self._memory = np.ones(READ_BYTES // 4, np.int32)
        self._step = np.zeros(max(STEP_SLOTS, threads), np.int64)
        program.add(read_memory, self._memory.ctypes.data, self._memory.size)
        self._table = program.table(compile_operation)

    def bytes_per_s(self) -> float:
        """The best of a few readings: what takes time besides is not the memory's limit."""
        best = 0.0
        for _ in range(_READINGS):
            start = time.perf_counter()
            self._pool.run(self._table, self._step)
            best = max(best, self._memory.nbytes / (time.perf_counter() - start))
        return best

    def close(self) -> None:
        """End the threads and give the array back."""
        self._pool.close()
        self._memory = np.empty(0, np.int32)


class ProcessMemory(NamedTuple):
    """Bytes of a process's memory."""

    resident: int
    private: int
    """Of these, what was written to and no file holds: only swapping could evict it."""
    peak: int
    """The most that was resident so far."""


def process_memory(pid: int | str = "self") -> ProcessMemory:
    """What a process holds now (proc_pid_smaps_rollup(5), proc_pid_status(5))."""
    folder = Path("/proc") / str(pid)
    rollup = (folder / "smaps_rollup").read_text()
    found = {name: 1024 * int(kib) for name, kib in re.findall(r"(\w+): +(\d+) kB", rollup)}
    peak = re.search(r"VmHWM:\s+(\d+) kB", (folder / "status").read_text())
    written = found["Private_Dirty"] + found["Shared_Dirty"]
    return ProcessMemory(found["Rss"], written, 1024 * int(peak[1]) if peak else 0)
