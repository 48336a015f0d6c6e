"""Compiles kernels in processes of their own, which leave their machine code for this one.

numba holds the interpreter while it compiles, for up to a second at a time, and keeps 170 MB
afterwards; should LLVM abort, it takes its process along. So children compile, and this process
loads what it finds. ``python -m engine.kernels.compiling`` is a child: it compiles each
MODULE:FUNCTION that a line of its input names, and answers with that line.
"""

import ctypes
import importlib
import logging
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from queue import Empty, SimpleQueue

from engine.kernels.dispatch import Kernel, compile_operation, kept_name
from engine.kernels.machine_code import is_kept
from engine.kernels.orders import announce, lead, serve

log = logging.getLogger(__name__)

_HELPERS: tuple[Kernel, ...] = (announce, lead, serve)
"""What threads run besides operations."""
_MOST_CHILDREN = 2
"""The two largest kernels take as long as each other, and more than half of all."""
_PR_SET_PDEATHSIG = 1


def fill_cache(operations: Sequence[Kernel], progress: Callable[[float], None]) -> None:
    """Let children compile what is not kept yet; progress: told the fraction done.

    A child that fails is a line in the log: whoever needs the kernels compiles them then.
    """
    missing = [kernel for kernel in (*operations, *_HELPERS) if not is_kept(_kept_name(kernel))]
    if not missing:
        return
    names: SimpleQueue[str] = SimpleQueue()
    for kernel in missing:
        names.put(_name(kernel))
    told: SimpleQueue[bool] = SimpleQueue()  # False: a child has ended
    children = min(_MOST_CHILDREN, len(missing), os.cpu_count() or 1)
    with ThreadPoolExecutor(children) as threads:
        for _ in range(children):
            threads.submit(_tell_of_child, names, told)
        done = 0
        while children:
            if told.get():
                done += 1
                progress(done / (len(missing) + 1))
            else:
                children -= 1


def _tell_of_child(names: SimpleQueue[str], told: SimpleQueue[bool]) -> None:
    """Have a child compile kernels as long as there are names; told: of each one, and the end."""
    try:
        for _ in _compiled_by_child(names):
            told.put(True)
    except OSError as error:
        log.warning("no process to compile kernels in: %s", error)
    finally:
        told.put(False)


def _compiled_by_child(names: SimpleQueue[str]) -> Iterator[str]:
    pipe = subprocess.PIPE
    command = [sys.executable, "-m", __name__]
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, bufsize=0) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        for name in _taken(names):
            try:
                child.stdin.write(f"{name}\n".encode())
            except BrokenPipeError:
                break
            if not child.stdout.readline():
                break
            yield name
    if child.returncode != 0:
        log.warning("the process that compiles kernels has ended with %d", child.returncode)


def _taken(names: SimpleQueue[str]) -> Iterator[str]:
    """What others have not taken."""
    while True:
        try:
            yield names.get_nowait()
        except Empty:
            return


def main() -> None:
    """The child."""
    if sys.platform == "linux":  # it has no use once whoever waits for it is gone
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    for line in sys.stdin:
        module, _, function = line.strip().partition(":")
        kernel: Kernel = getattr(importlib.import_module(module), function)
        compile_operation(kernel, _path_of(kernel))
        print(line, end="", flush=True)


def _name(kernel: Kernel) -> str:
    return f"{kernel.__module__}:{kernel.__name__}"


def _path_of(kernel: Kernel) -> str | None:
    return "portable" if kernel in _HELPERS else None


def _kept_name(kernel: Kernel) -> str:
    return kept_name(kernel, _path_of(kernel))


if __name__ == "__main__":
    main()
