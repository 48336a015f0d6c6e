"""What systemd and the daemon say to each other: readiness, the watchdog, sockets handed over.

The protocols of sd_notify(3) and sd_listen_fds(3), which are a datagram and three environment
variables. Without systemd everything here does nothing.
"""

import asyncio
import logging
import os
import socket
from collections.abc import Awaitable, Callable, Mapping

log = logging.getLogger(__name__)

FIRST_DESCRIPTOR = 3
"""SD_LISTEN_FDS_START."""
FEEDINGS_PER_LIMIT = 3
"""A watchdog of 60 s is fed every 20 s."""


def notify(*states: str, environment: Mapping[str, str] = os.environ) -> bool:
    """Tell the service manager, for instance ``READY=1``; whether there is one to tell."""
    address = environment.get("NOTIFY_SOCKET", "")
    if not address:
        return False
    if address.startswith("@"):  # an abstract socket
        address = "\0" + address[1:]
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as manager:
            manager.connect(address)
            manager.sendall("\n".join(states).encode())
    except OSError as error:
        log.warning("the service manager does not listen: %s", error)
        return False
    return True


def inherited_sockets(environment: Mapping[str, str] = os.environ) -> list[socket.socket]:
    """The listening sockets that systemd opened for this process (socket activation)."""
    if environment.get("LISTEN_PID") != str(os.getpid()):
        return []
    count = int(environment.get("LISTEN_FDS", "0"))
    sockets = []
    for descriptor in range(FIRST_DESCRIPTOR, FIRST_DESCRIPTOR + count):
        os.set_inheritable(descriptor, False)
        sockets.append(socket.socket(fileno=descriptor))
    return sockets


def watchdog_limit(environment: Mapping[str, str] = os.environ) -> float | None:
    """Seconds without a sign of life after which systemd kills this process; None for never."""
    meant_for = environment.get("WATCHDOG_PID", str(os.getpid()))
    if meant_for != str(os.getpid()) or not environment.get("WATCHDOG_USEC"):
        return None
    return int(environment["WATCHDOG_USEC"]) / 1e6


async def feed_watchdog(limit_s: float, alive: Callable[[], Awaitable[object]]) -> None:
    """Give a sign of life for as long as ``alive()`` returns in time. Runs until cancelled.

    That this coroutine runs shows that the event loop turns; ``alive`` looks at what else must.
    """
    every = limit_s / FEEDINGS_PER_LIMIT
    while True:
        try:
            async with asyncio.timeout(every):
                await alive()
        except Exception as error:
            log.error("not alive, the watchdog is not fed: %r", error)
        else:
            notify("WATCHDOG=1")
        await asyncio.sleep(every)
