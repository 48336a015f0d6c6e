"""``hubd webhook``: ways for other programs to reach the hub."""

from typing import TYPE_CHECKING, Any

import click

from hubd.commands.common import print_json, with_daemon

if TYPE_CHECKING:
    from hubd.client import HubClient


@click.group()
def webhook() -> None:
    """Addresses at which other programs may call the hub."""


@webhook.command()
@click.argument("name")
@click.option(
    "--action", required=True, metavar="ACTION", help="ask, notify, event, ingest or tool:NAME"
)
@click.option("--callback", default="", metavar="URL", help="where answers of ask may be sent")
def add(name: str, action: str, callback: str) -> None:
    """Make a webhook; its secret is shown once."""
    body = {"name": name, "action": action, "callback": callback}
    made = with_daemon(lambda client: _post(client, body))
    click.echo(f"address: {made['address']}")
    click.echo(f"secret:  {made['secret']}")
    click.echo("Send it as `Authorization: Bearer SECRET`, or sign with it. Keep it: it is not")
    click.echo("shown again.")


@webhook.command(name="list")
@click.option("--json", "as_json", is_flag=True, help="as JSON")
def list_(as_json: bool) -> None:
    """The webhooks."""
    found = with_daemon(lambda client: _get(client, "/hub/webhooks"))
    if as_json:
        print_json(found)
        return
    for one in found:
        click.echo(f"{one['name']:<20} {one['action']:<24} /api/webhook/{one['id']}")
    if not found:
        click.echo("No webhooks: make one with `hubd webhook add NAME --action ask`.")


@webhook.command()
@click.argument("name")
def remove(name: str) -> None:
    """Forget a webhook: its address answers no more."""
    with_daemon(lambda client: client.request("DELETE", f"/hub/webhooks/{name}"))
    click.echo(f"{name} is removed.")


@webhook.command()
def log() -> None:
    """The latest calls, newest first."""
    for call in with_daemon(lambda client: _get(client, "/hub/webhooks/calls")):
        click.echo(
            f"{call['at']}  {call['webhook']:<16} {call['status']}  {call['remote']:<15} "
            f"{call['scheme']:<8} {call['bytes']:>7} bytes  {call['outcome']}"
        )


async def _post(client: "HubClient", body: dict[str, Any]) -> dict[str, Any]:
    from hubd import lock
    from hubd.paths import find_paths

    made = dict(await client.request("POST", "/hub/webhooks", json=body))
    daemon = lock.holder(find_paths().lock)
    made["address"] = f"{daemon.address if daemon else ''}{made['path']}"
    return made


async def _get(client: "HubClient", path: str) -> list[dict[str, Any]]:
    return list(await client.request("GET", path))
