"""Compiles kernels in a process of its own, which leaves their machine code for this one.

numba holds the interpreter while it compiles, for up to a second at a time, and keeps 170 MB
afterwards; should LLVM abort, it takes its process along. So a child compiles, and this process
loads what it finds. ``python -m engine.kernels.compiling MODULE:FUNCTION…`` is the child.
"""

import ctypes
import importlib
import logging
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence

from engine.kernels.dispatch import Kernel, compile_operation, kept_name
from engine.kernels.machine_code import is_kept
from engine.kernels.orders import announce, lead, serve

log = logging.getLogger(__name__)

_HELPERS: tuple[Kernel, ...] = (announce, lead, serve)
"""What threads run besides operations."""
_PR_SET_PDEATHSIG = 1


def fill_cache(operations: Sequence[Kernel], progress: Callable[[float], None]) -> None:
    """Let a child compile what is not kept yet; progress: told the fraction done.

    A child that fails is a line in the log: whoever needs the kernels compiles them then.
    """
    missing = [kernel for kernel in (*operations, *_HELPERS) if not is_kept(_kept_name(kernel))]
    if not missing:
        return
    command = [sys.executable, "-m", __name__, *map(_name, missing)]
    try:
        child = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True
        )
        with child:
            assert child.stdout is not None
            for done, _ in enumerate(child.stdout, start=1):
                progress(done / (len(missing) + 1))
    except OSError as error:
        log.warning("no process to compile kernels in: %s", error)
        return
    if child.returncode != 0:
        log.warning("the process that compiles kernels has ended with %d", child.returncode)


def main() -> None:
    """The child: compile each kernel that is named, and say so in a line."""
    if sys.platform == "linux":  # it has no use once whoever waits for it is gone
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    for name in sys.argv[1:]:
        module, _, function = name.partition(":")
        kernel: Kernel = getattr(importlib.import_module(module), function)
        compile_operation(kernel, _path_of(kernel))
        print(name, flush=True)


def _name(kernel: Kernel) -> str:
    return f"{kernel.__module__}:{kernel.__name__}"


def _path_of(kernel: Kernel) -> str | None:
    return "portable" if kernel in _HELPERS else None


def _kept_name(kernel: Kernel) -> str:
    return kept_name(kernel, _path_of(kernel))


if __name__ == "__main__":
    main()
