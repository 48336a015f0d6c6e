"""hubd with a clock at every turn of its event loop: `python -m bench.timed_loop FILE serve …`.

At its end FILE holds the callbacks that held the loop for longer than `LIMIT_S`, the longest first,
as JSON: what ran, seconds by the wall clock, seconds of this thread's own work, and seconds since
the start when it began. On a busy machine the first of the two also counts the time for which other
programs had the core. What ran is told by where the thread was when it had been at it for
`LIMIT_S`: its innermost line, and the innermost `FRAMES` of hubd's own.
"""

import asyncio
import atexit
import json
import sys
import threading
import time
import traceback
from pathlib import Path
from typing import Any

LIMIT_S = 0.02
KEPT = 1000
FRAMES = 4
ROOMS = frozenset({"hubd", "engine", "rag", "plugins"})

_slow: list[tuple[str, float, float, float]] = []
_run = asyncio.Handle._run
_started = time.perf_counter()
_since: float | None = None
"""When the callback began that runs now."""
_seen: tuple[float, str] = (0.0, "")
"""Where the loop's thread was in the callback that began then."""


def _timed(handle: asyncio.Handle) -> Any:
    global _since
    began, own = time.perf_counter(), time.thread_time()
    _since = began
    try:
        return _run(handle)
    finally:
        _since = None
        wall, own = time.perf_counter() - began, time.thread_time() - own
        if wall > LIMIT_S and len(_slow) < KEPT:
            at, where = _seen
            what = f"{_name(handle)} [{where if at == began else ''}]"
            _slow.append((what, wall, own, began - _started))


def _watch(thread: int) -> None:
    """Look where the loop's thread is when it has been at one callback for long."""
    global _seen
    while True:
        time.sleep(LIMIT_S / 4)
        began = _since
        if began is None or began == _seen[0] or time.perf_counter() - began < LIMIT_S:
            continue
        lines = traceback.extract_stack(sys._current_frames()[thread])[::-1]
        ours = [line for line in lines[1:] if ROOMS & set(Path(line.filename).parts)]
        shown = [lines[0], *ours[:FRAMES]]
        where = " < ".join(f"{Path(f.filename).name}:{f.lineno} {f.name}" for f in shown)
        _seen = (began, where)


def _name(handle: asyncio.Handle) -> str:
    """Where the callback's coroutine is, or what the callback is."""
    task = getattr(getattr(handle, "_callback", None), "__self__", None)
    if isinstance(task, asyncio.Task):
        frames = [f"{f.f_code.co_filename}:{f.f_lineno}" for f in task.get_stack(limit=8)]
        return f"{getattr(task.get_coro(), '__qualname__', '?')} at {' '.join(frames[-2:])}"
    return repr(getattr(handle, "_callback", handle))


def main() -> None:
    file = Path(sys.argv.pop(1))
    asyncio.Handle._run = _timed  # type: ignore[method-assign, assignment]
    threading.Thread(target=_watch, args=(threading.get_ident(),), daemon=True).start()
    atexit.register(lambda: file.write_text(json.dumps(sorted(_slow, key=lambda one: -one[2]))))
    from hubd.cli import main as hubd

    hubd()


if __name__ == "__main__":
    main()
