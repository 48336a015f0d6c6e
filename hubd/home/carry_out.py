"""A service that is being done: waited for while Home Assistant is well, and no longer."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

from hubd.home.connection import HomeAwayError
from plugins.api import StillBusyError

SOON_S = 1.0
PING_LIMIT_S = 0.8
"""A service that is not done soon: within both it is known whether Home Assistant still answers."""
DEVICE_LIMIT_S = 6.0


async def carried_out(
    work: Coroutine[Any, Any, None], is_alive: Callable[[], Awaitable[bool]], began: float
) -> None:
    """Wait until a service is done. A device may take seconds while Home Assistant itself is well.

    Args:
        work: sends the service, and returns when it is done.
        is_alive: whether Home Assistant answers now, told within ``PING_LIMIT_S``.
        began: the loop's time at which that was looked at before: nothing is sent to a Home
            Assistant that does not answer, since it would do it when it comes back.

    Raises:
        HomeAwayError: it answers no more.
        StillBusyError: the device takes too long.
        HomeError: whatever ``work`` raises.
    """
    task = asyncio.create_task(work)
    try:
        soon = began + SOON_S - asyncio.get_running_loop().time()
        await asyncio.wait({task}, timeout=max(0.0, soon))
        if not task.done():
            if not await is_alive():
                raise HomeAwayError(
                    f"Home Assistant has not answered for {SOON_S + PING_LIMIT_S:.0f} seconds; "
                    "whether it did it is not known."
                )
            await asyncio.wait({task}, timeout=DEVICE_LIMIT_S)
        if not task.done():
            raise StillBusyError(
                "Home Assistant is still at it; look whether the device answers it."
            )
        task.result()
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
