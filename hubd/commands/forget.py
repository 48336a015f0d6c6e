"""``hubd forget``: what was said, by whom, and documents, gone for good."""

from typing import TYPE_CHECKING, Any

import click

from hubd.commands.common import with_daemon

if TYPE_CHECKING:
    from hubd.client import HubClient

KINDS = ("person", "conversation", "document", "words")


@click.command()
@click.argument("what", metavar="WHO|WHAT")
@click.option(
    "--as", "kind", type=click.Choice(KINDS),
    help="What it names; else a person or a document of that name is looked for.",
)  # fmt: skip
def forget(what: str, kind: str | None) -> None:
    """Forget a person with all that they said, a document, or (--as words) what holds WHAT.

    Backups of before still hold it.
    """
    kind, counts = with_daemon(lambda client: _forget(client, what, kind))
    told = [f"{count} {name}" for name, count in counts.items() if count]
    click.echo(f"Forgotten ({kind}): {', '.join(told) or 'nothing was there'}.")


async def _forget(client: "HubClient", what: str, kind: str | None) -> tuple[str, dict[str, int]]:
    kind = kind or await _kind(client, what)
    return kind, dict(await client.request("POST", "/hub/forget", json={kind: what}))


async def _kind(client: "HubClient", what: str) -> str:
    persons: list[dict[str, Any]] = await client.request("GET", "/hub/persons")
    if any(person["name"] == what for person in persons):
        return "person"
    documents: list[dict[str, Any]] = await client.request("GET", "/hub/documents")
    if any(document["document"] == what for document in documents):
        return "document"
    raise click.UsageError(
        f"no person and no document is called {what!r}: `--as words` forgets every question and "
        "answer that holds it, `--as conversation` one conversation."
    )
