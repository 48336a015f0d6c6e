"""What the commands share: settings, the daemon at the other end, plain output."""

import asyncio
import sys
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from hubd.client import HubClient
    from hubd.paths import Paths
    from hubd.settings import Config

T = TypeVar("T")


def settings() -> "tuple[Config, Paths]":
    """The configuration and the directories of this home.

    Raises:
        ConfigError: a key or value is wrong.
    """
    from hubd.config import load_config
    from hubd.paths import find_paths

    paths = find_paths()
    return load_config(paths.config_file), paths


def with_daemon(work: "Callable[[HubClient], Awaitable[T]]") -> T:
    """``work`` with a client of the running daemon."""
    from hubd.client import connected
    from hubd.paths import find_paths

    async def run() -> T:
        async with connected(find_paths()) as client:
            return await work(client)

    return asyncio.run(run())


def print_json(value: Any) -> None:
    """``value`` as JSON: indented for a person, in one line for a pipe."""
    import msgspec

    data = msgspec.json.encode(value)
    if sys.stdout.isatty():
        data = msgspec.json.format(data, indent=2)
    click.echo(data.decode())


def source_name(citation: dict[str, Any]) -> str:
    """``oven-manual.pdf, page 7``, and the documents that hold the same words."""
    page = citation.get("page")
    name = f"{citation['document']}, page {page}" if page else str(citation["document"])
    also = citation.get("also_in")
    return f"{name} (also in {', '.join(also)})" if also else name
