"""What is let go of after loading can be used again, and nothing that was written is lost."""

import subprocess
import sys

from engine.settle import _code_of

MAPS = """\
7f00-7f10 r--p 00000000 fe:00 1 /x/libllvmlite.so
7f10-7f40 r-xp 00010000 fe:00 1 /x/libllvmlite.so
7f40-7f50 r--p 00040000 fe:00 1 /x/libllvmlite.so
7f50-7f60 rw-p 00050000 fe:00 1 /x/libllvmlite.so
7f60-7f70 r-xp 00000000 fe:00 2 /x/libc.so.6
7f70-7f80 r-xp 00000000 00:00 0
"""


def test_only_code_of_the_library_is_given_back():
    assert list(_code_of("libllvmlite", MAPS)) == [(0x7F10, 0x30)]


def test_the_compiler_works_afterwards_and_takes_less_memory_before():
    code = """
import gc
gc.disable()
import numba
from engine.benchmarks._memory import process_memory
from engine.settle import settle
numba.njit(lambda x: x + 1)(1)
before = process_memory()
settle()
after = process_memory()
assert before.resident - after.resident > 20 << 20, (before, after)
assert abs(before.private - after.private) < 5 << 20, (before, after)
assert numba.njit(lambda x: x * 3)(14) == 42
assert gc.isenabled() and gc.get_freeze_count() > 10_000
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)
