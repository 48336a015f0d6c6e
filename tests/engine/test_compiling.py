"""Kernels compiled by a child: loaded without a compiler by this process, and without the child."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from engine.errors import EngineError
from engine.kernels import compiling, dispatch, machine_code
from engine.kernels.elementwise import keep_rows

LOAD = """
import sys
from engine.kernels import compiling, dispatch
from engine.kernels.elementwise import keep_rows
told = []
compiling.fill_cache([keep_rows], told.append)
if "again" in sys.argv:
    compiling.subprocess.Popen = None  # nothing is to be started
    compiling.fill_cache([keep_rows], told.append)
dispatch.compile_operation(keep_rows)
print(len(told), "engine.kernels.compiler" in sys.modules)
"""

AT_ONCE = """
import gc
import sys
import threading
from engine.kernels import compiling, machine_code
from engine.kernels.dispatch import kept_name
from engine.kernels.orders import announce, lead, serve

compiling.fill_cache([], lambda _: None)
names = [kept_name(kernel, "portable") for kernel in (announce, lead, serve)]
codes = [machine_code.kept(name) for name in names]
addresses, ready = [], threading.Barrier(len(names))

def load(name, code):
    ready.wait()
    addresses.append(machine_code.load(name, code))

sys.setswitchinterval(1e-6)
threads = [threading.Thread(target=load, args=both) for both in zip(names, codes, strict=True)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
gc.collect()

def executable(address):
    for line in open("/proc/self/maps"):
        span, rights = line.split()[:2]
        first, last = (int(bound, 16) for bound in span.split("-"))
        if first <= address < last:
            return "x" in rights
    return False

print(sum(map(executable, addresses)))
"""


def run(folder, *arguments, code=LOAD):
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(folder)}
    command = [sys.executable, "-c", code, *arguments]
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, check=True, timeout=120
    )
    return done.stdout


def test_the_child_compiles_and_this_process_loads(tmp_path):
    assert run(tmp_path, "again") == "4 False\n"  # keep_rows and what the threads run
    assert run(tmp_path) == "0 False\n"


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_what_several_threads_load_at_once_stays(tmp_path):
    """One of two linkers that were made at the same time took its code along when it went."""
    assert {run(tmp_path, code=AT_ONCE) for _ in range(6)} == {"3\n"}


@pytest.mark.parametrize("damage", ["cut", "flipped", "empty"])
def test_damaged_code_is_compiled_again(tmp_path, damage):
    run(tmp_path)
    (path,) = Path(tmp_path, "machine-code").glob("keep_rows-*.o")
    good = path.read_bytes()
    flipped = bytearray(good)
    flipped[len(good) // 2] ^= 1
    path.write_bytes({"cut": good[:-9], "flipped": bytes(flipped), "empty": b""}[damage])
    assert run(tmp_path) == "0 True\n"
    assert path.read_bytes()[32:] == good[32:]


@pytest.fixture
def own_directory(tmp_path, monkeypatch):
    """Machine code is kept in a folder of this test's."""
    monkeypatch.setattr(machine_code, "directory", lambda: tmp_path)
    return tmp_path


def test_a_child_that_fails_is_told_and_costs_only_time(own_directory, monkeypatch, caplog):
    monkeypatch.setattr(compiling.sys, "executable", "/bin/false")
    compiling.fill_cache([keep_rows], lambda fraction: None)
    assert "has ended with 1" in caplog.text
    monkeypatch.setattr(compiling.sys, "executable", str(own_directory / "none"))
    compiling.fill_cache([keep_rows], lambda fraction: None)
    assert "no process" in caplog.text


def test_a_folder_that_takes_nothing_costs_only_time(own_directory, monkeypatch, caplog):
    monkeypatch.setattr(machine_code, "directory", lambda: own_directory / "none")
    assert dispatch.compile_operation.__wrapped__(keep_rows) != 0
    assert "is not kept" in caplog.text


def test_without_a_place_for_it_code_lives_as_long_as_the_process(monkeypatch):
    monkeypatch.setattr(machine_code.os, "access", lambda *_: False)
    folder = machine_code.directory.__wrapped__()
    assert folder.name.startswith("hubd-kernels-")
    assert folder.is_dir()


def test_other_circumstances_have_another_name(monkeypatch):
    names = {dispatch.kept_name(keep_rows, path) for path in dispatch.NEEDS}
    monkeypatch.setattr(dispatch, "_circumstances", lambda path: ("another source", path))
    names |= {dispatch.kept_name(keep_rows, path) for path in dispatch.NEEDS}
    assert len(names) == 2 * len(dispatch.NEEDS)


def test_the_code_needs_nothing_of_python(tmp_path):
    """Loaded by a process that has neither this package nor numba, it does its work."""
    name = dispatch.kept_name(keep_rows)
    dispatch.compile_operation(keep_rows)
    code = tmp_path / "code.o"
    code.write_bytes(machine_code.kept(name))
    program = f"""
import ctypes, sys
from llvmlite import binding as llvm
llvm.initialize_native_target(); llvm.initialize_native_asmprinter()
machine = llvm.Target.from_default_triple().create_target_machine(jit=True)
linker = llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine)
linker.add_object_file(llvm.ObjectFileRef.from_path({str(code)!r}))
linker.finalize_object()
kind = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 2, *[ctypes.c_int64] * 2)
rows = (ctypes.c_float * 8)(*range(8))
kept = (ctypes.c_int32 * 2)(1, 3)
operands = (ctypes.c_int64 * 14)(ctypes.addressof(rows), 2)
step = (ctypes.c_int64 * 16)(4, *[0] * 5, ctypes.addressof(kept), 2)
kind(linker.get_function_address({name!r}))(operands, step, 0, 1)
print(list(rows), "numba" in sys.modules)
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout == f"{[2.0, 3.0, 6.0, 7.0, 4.0, 5.0, 6.0, 7.0]} False\n"


def calling(operands, step, part, parts):
    """What no kernel does: call what a process without numba has not."""
    step[part] = len("ab" * step[0])


def raising(operands, step, part, parts):
    if step[0] == 1:
        raise ValueError


def test_a_kernel_that_needs_numba_is_refused_when_it_is_compiled():
    with pytest.raises(EngineError, match=r"the kernel calling-.* calls .*, which is not libc's"):
        dispatch.compile_operation(calling)


RAISE = """
import sys
from engine.kernels import dispatch
import ctypes, importlib.util
spec = importlib.util.spec_from_file_location("test_compiling", sys.argv[1])
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
kind = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 2, *[ctypes.c_int64] * 2)
raising = kind(dispatch.compile_operation(module.raising))
step = (ctypes.c_int64 * 16)(0)
raising(step, step, 0, 1)
print("fine", flush=True)
step[0] = 1
raising(step, step, 0, 1)
print("ignored")
"""


def test_a_kernel_that_raises_ends_the_process():
    """It has computed nothing, and nobody is there to be told."""
    done = subprocess.run([sys.executable, "-c", RAISE, __file__], capture_output=True, text=True)
    assert (done.stdout, done.returncode) == ("fine\n", -signal.SIGABRT)
