"""Compiled kernels as files: where they lie, and how one gets into this process.

A file is an object file of one function with C's calling convention, behind its SHA-256. It is
loaded by LLVM's linker alone: a process that finds all its kernels here needs no compiler, which
would take it 0.5 s at every start and 80 MB for good.
"""

import atexit
import contextlib
import functools
import hashlib
import os
import shutil
import tempfile
import threading
from pathlib import Path
from typing import Any

from llvmlite import binding as llvm

_DIGEST_BYTES = 32
_linking = threading.Lock()
"""A language model and an encoder are loaded at once. Code goes with the linker that loaded it, so
there may be only one of these."""


@functools.cache
def directory() -> Path:
    """Where kernels are kept: with those of NUMBA_CACHE_DIR, else beside the source as Python's
    own, else for the life of this process."""
    chosen = os.environ.get("NUMBA_CACHE_DIR")
    room = Path(chosen) if chosen else Path(__file__).parent / "__pycache__"
    with contextlib.suppress(OSError):
        kept = room / "machine-code"
        kept.mkdir(parents=True, exist_ok=True)
        if os.access(kept, os.W_OK):
            return kept
    temporary = Path(tempfile.mkdtemp(prefix="hubd-kernels-"))
    atexit.register(shutil.rmtree, temporary, ignore_errors=True)
    return temporary


def is_kept(name: str) -> bool:
    """Whether there is a file of this name; it may still turn out to be damaged."""
    return _path(name).exists()


def keep(name: str, code: bytes) -> None:
    """Write a file whole or not at all; OSError where there is no room."""
    path = _path(name)
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=name, suffix=".part")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(hashlib.sha256(code).digest() + code)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def kept(name: str) -> bytes | None:
    """The object code of this name; None if there is none, or it is not what was written."""
    try:
        data = _path(name).read_bytes()
    except OSError:
        return None
    code = data[_DIGEST_BYTES:]
    return code if hashlib.sha256(code).digest() == data[:_DIGEST_BYTES] else None


def load(name: str, code: bytes) -> int:
    """Link the function `name` into this process, from any thread; gives its address."""
    with _linking:
        linker = _linker()
        linker.add_object_file(llvm.ObjectFileRef.from_data(code))
        linker.finalize_object()
        address: int = linker.get_function_address(name)
        return address


def _path(name: str) -> Path:
    return directory() / f"{name}.o"


@functools.cache
def _linker() -> Any:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    machine = llvm.Target.from_default_triple().create_target_machine(jit=True)
    return llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine)
