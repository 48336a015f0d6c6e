"""``hubd ingest`` and ``hubd documents``."""

from collections import Counter
from contextlib import aclosing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hubd.commands.common import print_json, with_daemon
from hubd.errors import HubError

if TYPE_CHECKING:
    from hubd.client import HubClient


@click.command()
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="What was done with each file, as JSON.")
def ingest(paths: tuple[Path, ...], as_json: bool) -> None:
    """Read documents: files, or folders with everything in them."""
    files = [str(path.absolute()) for path in paths]
    reports = with_daemon(lambda client: _ingest(client, files))
    if as_json:
        print_json({"files": reports})
    else:
        print_reports(reports)


@click.group(invoke_without_command=True)
@click.option("--json", "as_json", is_flag=True, help="The documents as JSON.")
@click.pass_context
def documents(context: click.Context, as_json: bool) -> None:
    """List the documents that answers come from."""
    if context.invoked_subcommand:
        return
    known = with_daemon(lambda client: client.request("GET", "/hub/documents"))
    if as_json:
        print_json(known)
        return
    if not known:
        click.echo("There are no documents yet: add some with `hubd ingest PATH`.")
    width = max((len(one["document"]) for one in known), default=0)
    for one in known:
        click.echo(f"{one['document']:<{width}}  {_state(one)}")


def _state(one: dict[str, Any]) -> str:
    """What is known of a document, or being done with it: ``embedded 423 of 501``."""
    if one["status"] == "skipped":
        return f"skipped: {one['reason']}"
    if one["status"] == "embedding":
        return f"embedded {one['done']} of {one['total']}"
    if one["status"] == "reading" and one["total"]:
        return f"reading page {one['done'] + 1} of {one['total']}"
    if one["status"] != "ready":
        return str(one["status"])
    pages = f"{one['pages']} page{'' if one['pages'] == 1 else 's'}"
    collection = f", in {one['collection']}" if one["collection"] else ""
    return f"{pages}{collection}" + (f" ({one['reason']})" if one["reason"] else "")


@documents.command()
@click.argument("name")
def remove(name: str) -> None:
    """Forget the document NAME."""
    with_daemon(
        lambda client: client.request("DELETE", "/hub/documents", params={"document": name})
    )
    click.echo(f"{name} is forgotten.")


@documents.command()
@click.argument("folder", type=click.Path(path_type=Path))
def forget(folder: Path) -> None:
    """Forget the documents of FOLDER whose files are gone: its disk will not come back."""
    params = {"folder": str(folder.absolute())}
    done = with_daemon(
        lambda client: client.request("DELETE", "/hub/documents/folder", params=params)
    )
    count = len(done["removed"])
    click.echo(f"{count} document{' is' if count == 1 else 's are'} forgotten.")


def print_reports(reports: list[dict[str, Any]]) -> None:
    """What an ingest did: a line for each skipped file, and the numbers."""
    for report in reports:
        if report["action"] == "skipped":
            click.echo(f"skipped {report['document']}: {report['reason']}")
    counts = Counter(report["action"] for report in reports)
    order = ("added", "replaced", "unchanged", "removed", "skipped")
    parts = [f"{counts[action]} {action}" for action in order if counts[action]]
    click.echo(f"documents: {', '.join(parts) or 'nothing to do'}")


async def _ingest(client: "HubClient", files: list[str]) -> list[dict[str, Any]]:
    from hubd.commands.progress import Bars, show_ingest

    with Bars() as bars:
        body = {"paths": files, "stream": True}
        async with aclosing(client.events("/hub/documents", body)) as events:
            async for name, data in events:
                if name == "progress":
                    show_ingest(bars, data)
                elif name == "error":
                    raise HubError(data["message"], data["hint"])
                elif name == "done":
                    return list(data["files"])
    return []
