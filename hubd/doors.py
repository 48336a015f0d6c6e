"""The sockets on which the daemon listens. They outlive a reload, so that nobody is refused.

A TCP socket for browsers and a Unix socket for the command line. systemd may have opened either
(socket activation): then a restart refuses nobody.
"""

import contextlib
import os
import socket
from collections.abc import Iterator
from pathlib import Path

from hubd.errors import HubError
from hubd.paths import Paths
from hubd.settings import Http

BACKLOG = 128


class Doors:
    """Listening sockets, opened when first asked for and kept until the block of `doors` ends."""

    def __init__(self, inherited: list[socket.socket]) -> None:
        self._inherited = inherited
        self._tcp: list[socket.socket] = []
        self._unix: socket.socket | None = None
        self._bound: tuple[str, int] | None = None
        self._made: list[Path] = []

    def tcp(self, settings: Http) -> list[socket.socket]:
        """Those for browsers: systemd's, else one for each address of the host.

        Raises:
            HubError: the port cannot be used.
        """
        given = [s for s in self._inherited if s.family != socket.AF_UNIX]
        if given:
            return given
        if self._bound != (settings.host, settings.port):
            opened = _bind(settings)
            _close(self._tcp)
            self._tcp, self._bound = opened, (settings.host, settings.port)
        return self._tcp

    def unix(self, path: Path) -> socket.socket:
        """The one for the command line, which only its owner can open."""
        given = [s for s in self._inherited if s.family == socket.AF_UNIX]
        if given:
            return given[0]
        if self._unix is None:
            path.unlink(missing_ok=True)
            door = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            previous = os.umask(0o177)  # from its first moment it is the owner's alone
            try:
                door.bind(str(path))
            finally:
                os.umask(previous)
            door.listen(BACKLOG)
            self._unix = door
            self._made.append(path)
        return self._unix

    def close(self) -> None:
        """Close those opened here, and remove the socket file."""
        _close([*self._tcp, *([self._unix] if self._unix else [])])
        for path in self._made:
            path.unlink(missing_ok=True)


@contextlib.contextmanager
def doors(paths: Paths, inherited: list[socket.socket]) -> Iterator[Doors]:
    """The doors for the time of the block."""
    opened = Doors(inherited)
    try:
        yield opened
    finally:
        opened.close()
        with contextlib.suppress(OSError):  # not empty, or already gone
            paths.run.rmdir()


def _bind(settings: Http) -> list[socket.socket]:
    opened: list[socket.socket] = []
    try:
        infos = socket.getaddrinfo(
            settings.host, settings.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )
        for family, *_, address in dict.fromkeys(infos):
            door = socket.socket(family, socket.SOCK_STREAM)
            opened.append(door)
            door.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if family == socket.AF_INET6:
                door.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            door.bind(address)
            door.listen(BACKLOG)
    except OSError as error:
        _close(opened)
        raise HubError(
            f"cannot listen on {settings.host} port {settings.port}: {error.strerror or error}",
            "Another program may use it: choose another with HUBD_PORT or [http] port.",
        ) from error
    return opened


def _close(sockets: list[socket.socket]) -> None:
    for door in sockets:
        door.close()
