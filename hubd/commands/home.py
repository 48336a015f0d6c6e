"""``hubd home``: connect Home Assistant, look at the connection, end it."""

import asyncio
import contextlib
import sys
from typing import TYPE_CHECKING, Any

import click

from hubd.commands.common import with_daemon

if TYPE_CHECKING:
    from hubd.client import HubClient

WAIT_S = 10.0


@click.group()
def home() -> None:
    """Home Assistant: connect it, look at the connection, end it."""


@home.command()
@click.argument("url")
def connect(url: str) -> None:
    """Connect the Home Assistant at URL, such as http://homeassistant.local:8123.

    Its long-lived access token is asked for, or read from standard input. Make one in Home
    Assistant: your name, then Security, then Long-lived access tokens.
    """
    from hubd.errors import HubError
    from hubd.home import link
    from hubd.home.examine import Problem, examine
    from hubd.paths import create_directories, find_paths

    address = link.checked_url(url)
    if sys.stdin.isatty():
        token = click.prompt("Long-lived access token", hide_input=True)
    else:
        token = sys.stdin.readline()
    made = link.Link(url=address, token=token.strip())
    found = asyncio.run(examine(made))
    if isinstance(found, Problem):
        raise HubError(found.text, found.hint)
    paths = find_paths()
    create_directories(paths)
    with contextlib.suppress(HubError):  # the registration stays where it is the same home
        before = link.load(paths)
        if before is not None and before.url == address:
            made = link.Link(url=address, token=made.token, registration=before.registration)
    link.save(paths, made)
    click.echo(f"Home Assistant {found.version} is connected.")
    _tell_daemon()


@home.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False))
def load(file: str) -> None:
    """Describe the household by FILE (YAML or JSON), for a home without Home Assistant.

    FILE lists floors, areas and entities; docs/home.md has an example.
    """
    from pathlib import Path

    from hubd.errors import HubError

    try:
        description = Path(file).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise HubError(f"{file} cannot be read: {error}") from error
    body = {"description": description}
    made = with_daemon(lambda client: client.request("PUT", "/hub/home", json=body))
    click.echo(f"{made['entities']} entities in {made['areas']} areas.")


@home.command()
def status() -> None:
    """Say how it stands with Home Assistant."""
    from hubd.client import NotRunningError
    from hubd.home import link
    from hubd.paths import find_paths

    try:
        told = with_daemon(_ask)
    except NotRunningError:
        found = link.load(find_paths())
        where = f"connected with {found.url}" if found else "not connected with Home Assistant"
        click.echo(f"hubd is not running; it is {where}.")
        return
    _print(told)


@home.command()
def disconnect() -> None:
    """Forget Home Assistant and its token."""
    from hubd.home import link
    from hubd.paths import find_paths

    if not link.forget(find_paths()):
        click.echo("Home Assistant is not connected.")
        return
    click.echo("Home Assistant is forgotten. Delete the token there too, and the hub's device.")
    _tell_daemon()


def _tell_daemon() -> None:
    """Have a running daemon look at the link, and say what became of it."""
    from hubd.client import NotRunningError

    with contextlib.suppress(NotRunningError):
        _print(with_daemon(_reload))


async def _ask(client: "HubClient") -> dict[str, Any]:
    return dict(await client.request("GET", "/hub/home-assistant"))


async def _reload(client: "HubClient") -> dict[str, Any]:
    told = dict(await client.request("POST", "/hub/home-assistant/reload"))
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(WAIT_S):
            while (told.get("status") or {}).get("state") == "connecting":
                await asyncio.sleep(0.1)
                told = await _ask(client)
    return told


def _print(told: dict[str, Any]) -> None:
    status = told.get("status")
    if problem := told.get("problem"):
        click.echo(f"{problem}\n{told.get('hint', '')}".strip())
    elif not status:
        click.echo("Home Assistant is not connected.")
    elif status["state"] == "connected":
        entities = status["entities"]
        click.echo(
            f"connected with {status['url']} (Home Assistant {status['version']}), "
            f"{entities} entit{'y' if entities == 1 else 'ies'} to see"
        )
        if told.get("push"):
            click.echo(told["push"])
    else:
        click.echo(f"{status['state']} {status['url']}: {status['problem']}".rstrip(": "))
        if status["state"] != "connecting":
            click.echo("`hubd doctor` says what to do.")
