"""``hubd rag reindex``: the documents' vectors made anew by another embedding model."""

from contextlib import aclosing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hubd.commands.common import with_daemon
from hubd.errors import HubError

if TYPE_CHECKING:
    from hubd.client import HubClient

OWN = ("engine", "sentence-transformers")


@click.command()
@click.option(
    "--embedder", default="", metavar="engine|FOLDER",
    help="The household's own model, or the folder of one for sentence-transformers.",
)  # fmt: skip
def reindex(embedder: str) -> None:
    """Make the vectors of all documents anew, beside those in use.

    Questions are answered as before until every vector is there; then the new model takes over.
    Without --embedder it goes on with what was cut off. Ctrl-C ends only the looking.
    """
    name = embedder if embedder in ("", *OWN) else str(Path(embedder).expanduser().absolute())
    try:
        model = with_daemon(lambda client: _reindex(client, name))
    except KeyboardInterrupt:
        click.echo("The hub goes on with it; `hubd rag reindex` looks again.", err=True)
        raise SystemExit(130) from None
    click.echo(f"Documents are searched with {model}.")


async def _reindex(client: "HubClient", name: str) -> str:
    from hubd.commands.progress import Bars

    with Bars() as bars:
        events = client.events("/hub/documents/reindex", {"embedder": name, "stream": True})
        async with aclosing(events):
            async for kind, data in events:
                if kind == "progress":
                    show(bars, data)
                elif kind == "error":
                    raise HubError(data["message"], data["hint"])
                elif kind == "done":
                    return str(data["model"])
    raise HubError("hubd stopped in the middle of it", "It goes on when the hub is started again.")


def show(bars: Any, at: dict[str, Any]) -> None:
    """The fields of ``hubd.reindexing.ReindexState`` as a bar with an estimate."""
    name = f"embedding with {at['coming']}"
    if not at["total"]:
        bars.show(name, None, "loading the model", "loading the model")
        return
    detail = f"{at['done']:,} of {at['total']:,} chunks, {left(at['seconds_left'])}"
    tenth = f"{10 * (10 * at['done'] // at['total'])} %, {left(at['seconds_left'])}"
    bars.show(name, at["done"] / at["total"], detail, tenth)


def left(seconds: float) -> str:
    """``about 3 min left``: no more exact than it is."""
    if seconds < 60:
        return "less than a minute left"
    if seconds < 90 * 60:
        return f"about {round(seconds / 60)} min left"
    return f"about {seconds / 3600:.1f} h left"
