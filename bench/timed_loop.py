"""hubd with a clock at every turn of its event loop: `python bench/timed_loop.py FILE serve …`.

At its end FILE holds the callbacks that held the loop for longer than `LIMIT_S`, the longest first,
as JSON: what ran, seconds by the wall clock, seconds of this thread's own work. On a busy machine
the first of the two also counts the time for which other programs had the core.
"""

import asyncio
import atexit
import json
import sys
import time
from pathlib import Path
from typing import Any

LIMIT_S = 0.02
KEPT = 1000

_slow: list[tuple[str, float, float]] = []
_run = asyncio.Handle._run


def _timed(handle: asyncio.Handle) -> Any:
    wall, own = time.perf_counter(), time.thread_time()
    try:
        return _run(handle)
    finally:
        wall, own = time.perf_counter() - wall, time.thread_time() - own
        if wall > LIMIT_S and len(_slow) < KEPT:
            _slow.append((_name(handle), wall, own))


def _name(handle: asyncio.Handle) -> str:
    """Where the callback's coroutine is, or what the callback is."""
    task = getattr(getattr(handle, "_callback", None), "__self__", None)
    if isinstance(task, asyncio.Task):
        frames = [f"{f.f_code.co_filename}:{f.f_lineno}" for f in task.get_stack(limit=8)]
        return f"{getattr(task.get_coro(), '__qualname__', '?')} at {' '.join(frames[-2:])}"
    return repr(getattr(handle, "_callback", handle))


def main() -> None:
    file = Path(sys.argv.pop(1))
    asyncio.Handle._run = _timed  # type: ignore[method-assign]
    atexit.register(lambda: file.write_text(json.dumps(sorted(_slow, key=lambda one: -one[1]))))
    from hubd.cli import main as hubd

    hubd()


if __name__ == "__main__":
    main()
