"""What the CPU is and can do, in LLVM's names: kernels are chosen and compiled by it."""

import ctypes
import functools
import os
import platform

from llvmlite import binding as llvm

_AT_HWCAP = 16
"""What getauxval(3) tells features of the CPU by."""
_ARM_FEATURES = {"neon": 1 << 1, "dotprod": 1 << 20}
"""LLVM's name → its bit there (Linux, asm/hwcap.h of arm64)."""


@functools.cache
def cpu_features() -> frozenset[str]:
    """Features that generated code may use: the CPU's, unless NUMBA_CPU_FEATURES says otherwise."""
    chosen = os.environ.get("NUMBA_CPU_FEATURES")
    features = llvm.get_host_cpu_features().flatten() if chosen is None else chosen
    told = frozenset(name[1:] for name in features.split(",") if name.startswith("+"))
    return told if chosen is not None else told | untold_features()


@functools.cache
def untold_features() -> frozenset[str]:
    """What LLVM does not find on ARM: 22 reads no dot product out of /proc/cpuinfo, so that a
    Raspberry Pi 5 would go without."""
    if platform.machine() != "aarch64":
        return frozenset()
    has = ctypes.CDLL(None).getauxval(ctypes.c_ulong(_AT_HWCAP))
    return frozenset(name for name, bit in _ARM_FEATURES.items() if has & bit)


def processor() -> str:
    """LLVM's name of the CPU that code is made for, unless NUMBA_CPU_NAME says otherwise."""
    return os.environ.get("NUMBA_CPU_NAME") or str(llvm.get_host_cpu_name())
