"""What the command lines of all benchmarks share."""

import argparse
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import msgspec

from engine.errors import EngineError

Result = TypeVar("Result")


def command(name: str, about: str | None) -> argparse.ArgumentParser:
    """A parser of `hubd bench name`, with what every benchmark knows. about: its docstring."""
    parser = argparse.ArgumentParser(
        prog=f"hubd bench {name}", description=(about or "").splitlines()[0]
    )
    cores = len(os.sched_getaffinity(0))
    parser.add_argument("--threads", type=int, default=cores, help="compute threads")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--cache-directory", type=Path, help="where packed weights are kept")
    return parser


def tell(measure: Callable[[], Result], report: Callable[[Result], str], *, json: bool) -> int:
    """Measure and print; gives the exit code. An error is one line, never a traceback."""
    try:
        result = measure()
    except (EngineError, OSError, ValueError) as error:
        print(error, file=sys.stderr)
        return 1
    print(msgspec.json.encode(result).decode() if json else report(result))
    return 0
