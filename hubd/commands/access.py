"""``hubd pair``, ``hubd token`` and ``hubd person``: who may use the hub, and from where."""

from typing import TYPE_CHECKING, Any

import click

from hubd.commands.common import print_json, with_daemon

if TYPE_CHECKING:
    from hubd.client import HubClient

SCOPES = ("chat", "tools", "admin", "webhook", "metrics")
ROLES = ("owner", "member", "guest", "child")
"""As in ``hubd.policy``, which takes longer to import than ``hubd --help`` has."""
AREA = click.option("--area", "areas", multiple=True, help="May act in this area only; repeat.")
TOOL = click.option(
    "--tool", "tools", multiple=True, help="May use this tool or plugin only; repeat."
)
AS_JSON = click.option("--json", "as_json", is_flag=True, help="As JSON.")


@click.command()
@click.option("--person", default="owner", show_default=True, help="Whose device it becomes.")
@AREA
@TOOL
@AS_JSON
def pair(person: str, areas: tuple[str, ...], tools: tuple[str, ...], as_json: bool) -> None:
    """Show a code, valid once and for ten minutes, by which a browser becomes a device."""
    body = {"person": person} | _limits(areas, tools)
    made = with_daemon(lambda client: _send(client, "POST", "/hub/pairing", body))
    made["link"] = address() + made["path"]
    if as_json:
        print_json(made)
        return
    click.echo(f"Open {made['link']}")
    click.echo(f"or {address()}/pair and type {made['code']} (for {person}, ten minutes).")
    print_qr(made["link"])


@click.group()
def token() -> None:
    """The tokens of devices and programs."""


@token.command(name="add")
@click.argument("name")
@click.option("--person", default="owner", show_default=True, help="For whom it speaks.")
@click.option(
    "--scope", "scopes", multiple=True, type=click.Choice(SCOPES), default=("chat", "tools"),
    show_default=True, help="What it may; repeat.",
)  # fmt: skip
@AREA
@TOOL
@click.option("--quiet", "-q", is_flag=True, help="The token alone, for scripts.")
@AS_JSON
def add_token(
    name: str,
    person: str,
    scopes: tuple[str, ...],
    areas: tuple[str, ...],
    tools: tuple[str, ...],
    quiet: bool,
    as_json: bool,
) -> None:
    """Make a token for the program NAME; it is shown once."""
    body = {"name": name, "person": person, "scopes": scopes} | _limits(areas, tools)
    made = with_daemon(lambda client: _send(client, "POST", "/hub/tokens", body))
    if as_json:
        print_json(made)
    elif quiet:
        click.echo(made["token"])
    else:
        click.echo(f"token: {made['token']}")
        click.echo("Send it as `Authorization: Bearer TOKEN`. Keep it: it is not shown again.")
        click.echo(f"For Ollama clients without a key: {address()}/token/{made['token']}")


@token.command(name="list")
@AS_JSON
def list_tokens(as_json: bool) -> None:
    """Who may use the hub from where."""
    found = with_daemon(lambda client: _get(client, "/hub/tokens"))
    if as_json:
        print_json(found)
        return
    for one in found:
        used = f"used {one['used_on']}" if one["used_on"] else "not used yet"
        limits = [*(one["areas"] or ()), *(one["tools"] or ())]
        only = f"  only {', '.join(limits)}" if limits else ""
        scopes = ",".join(one["scopes"])
        click.echo(f"{one['id']}  {one['name']:<24} {one['person']:<12} {scopes:<18} {used}{only}")
    if not found:
        click.echo(
            "No devices yet: `hubd pair` for a browser, `hubd token add NAME` for a program."
        )


@token.command()
@click.argument("identity", metavar="ID")
def revoke(identity: str) -> None:
    """Let the token with this ID open nothing any more."""
    with_daemon(lambda client: client.request("DELETE", f"/hub/tokens/{identity}"))
    click.echo(f"{identity} is revoked.")


@click.group()
def person() -> None:
    """The persons of the household."""


@person.command(name="add")
@click.argument("name")
@click.option("--role", required=True, type=click.Choice(ROLES))
@AREA
@TOOL
@AS_JSON
def add_person(
    name: str, role: str, areas: tuple[str, ...], tools: tuple[str, ...], as_json: bool
) -> None:
    """Add somebody. Guests and children do nothing dangerous; only owners manage the hub."""
    body = {"name": name, "role": role} | _limits(areas, tools)
    made = with_daemon(lambda client: _send(client, "POST", "/hub/persons", body))
    if as_json:
        print_json(made)
    else:
        click.echo(f"{name} is a {role}. A device for them: `hubd pair --person {name}`.")


@person.command(name="list")
@AS_JSON
def list_persons(as_json: bool) -> None:
    """Everybody."""
    found = with_daemon(lambda client: _get(client, "/hub/persons"))
    if as_json:
        print_json(found)
        return
    for one in found:
        limits = [*(one["areas"] or ()), *(one["tools"] or ())]
        only = f"  only {', '.join(limits)}" if limits else ""
        click.echo(f"{one['name']:<24} {one['role']:<8}{only}")


@person.command()
@click.argument("name")
def remove(name: str) -> None:
    """Remove somebody, and revoke their devices. What they said stays: see `hubd forget`."""
    from urllib.parse import quote

    path = f"/hub/persons/{quote(name, safe='')}"
    with_daemon(lambda client: client.request("DELETE", path))
    click.echo(f"{name} is removed, and their devices with them.")


def address() -> str:
    """Where the daemon answers browsers, as another machine would call it."""
    from hubd import lock
    from hubd.paths import find_paths

    daemon = lock.holder(find_paths().lock)
    return reachable(daemon.address if daemon else "")


def reachable(announced: str) -> str:
    """The address with this machine's own instead of "all of them" (0.0.0.0, ::)."""
    for everywhere in ("//0.0.0.0", "//[::]"):
        if everywhere in announced:
            return announced.replace(everywhere, f"//{_own_address()}")
    return announced


def print_qr(text: str) -> None:
    """The text as a QR code, where somebody may hold a phone before a terminal."""
    import sys

    if sys.stdout.isatty():
        import segno

        segno.make(text, micro=False).terminal(compact=True)


def _own_address() -> str:
    """The address that this machine would use to reach others; nothing is sent."""
    import socket

    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # TEST-NET-1: no machine has it
        except OSError:
            return "127.0.0.1"
        return str(probe.getsockname()[0])


def _limits(areas: tuple[str, ...], tools: tuple[str, ...]) -> dict[str, Any]:
    limits: dict[str, Any] = {"areas": list(areas)} if areas else {}
    return limits | ({"tools": list(tools)} if tools else {})


async def _send(client: "HubClient", method: str, path: str, body: Any) -> dict[str, Any]:
    return dict(await client.request(method, path, json=body))


async def _get(client: "HubClient", path: str) -> list[dict[str, Any]]:
    return list(await client.request("GET", path))
