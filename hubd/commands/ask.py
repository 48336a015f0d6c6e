"""``hubd ask``, ``hubd chat`` and ``hubd retrieve``."""

from contextlib import aclosing, suppress
from typing import TYPE_CHECKING, Any

import click

from hubd.commands.common import print_json, source_name, with_daemon
from hubd.errors import HubError

if TYPE_CHECKING:
    from hubd.client import HubClient


@click.command()
@click.argument("text", nargs=-1, required=True)
@click.option("--json", "as_json", is_flag=True, help="The whole answer as JSON.")
@click.option("--conversation", "-c", help="Go on in this conversation.")
@click.option("--language", "-l", help="The language TEXT is in; else its words tell.")
@click.option("--area", "-a", default="", help="The area that you are in.")
def ask(
    text: tuple[str, ...], as_json: bool, conversation: str | None, language: str | None, area: str
) -> None:
    """Ask a question about the house, or give a command ("set a timer for 9 minutes")."""
    body = {"text": " ".join(text), "area": area}
    body |= {"conversation": conversation} if conversation else {}
    body |= {"language": language} if language else {}
    if as_json:
        print_json(with_daemon(lambda client: client.request("POST", "/hub/ask", json=body)))
    else:
        done = with_daemon(lambda client: print_turn(client, body))
        if asks := done.get("asks"):
            answer = "yes" if asks == "confirm" else "…"
            click.echo(f"  answer: hubd ask -c {done['conversation']} {answer}")


@click.command()
@click.argument("text", nargs=-1, required=True)
@click.option("--json", "as_json", is_flag=True, help="The decision as JSON.")
@click.option("--language", "-l", help="The language TEXT is in; else its words tell.")
@click.option("--area", "-a", default="", help="The area that TEXT is said in.")
def explain(text: tuple[str, ...], as_json: bool, language: str | None, area: str) -> None:
    """Say what would be done with TEXT, and why, without doing it."""
    body = {"text": " ".join(text), "area": area} | ({"language": language} if language else {})
    told = with_daemon(lambda client: client.request("POST", "/hub/explain", json=body))
    if as_json:
        print_json(told)
        return
    asks = f", asks first: {told['asks']}" if told["asks"] else ""
    click.echo(f"{told['route']}: {told['tool'] or 'no tool'} (score {told['score']:.2f}{asks})")
    for name, value in told["arguments"].items():
        click.echo(f"  {name}: {value}")
    if told["entities"]:
        click.echo(f"  on: {', '.join(told['entities'])}")
    click.echo(f"  {told['reason']}")


@click.command()
def chat() -> None:
    """Talk with the house until Ctrl-D."""
    with_daemon(_chat)


@click.command()
@click.argument("text", nargs=-1, required=True)
@click.option("-k", default=5, show_default=True, type=click.IntRange(1, 50), help="How many.")
@click.option("--json", "as_json", is_flag=True, help="The passages as JSON.")
def retrieve(text: tuple[str, ...], k: int, as_json: bool) -> None:
    """Show the passages of the documents that fit TEXT best."""
    body = {"text": " ".join(text), "k": k}
    passages = with_daemon(lambda client: client.request("POST", "/hub/retrieve", json=body))
    if as_json:
        print_json(passages)
        return
    for passage in passages:
        click.echo(f"{passage['score']:.2f}  {source_name(passage)}")
        click.echo(f"      {' '.join(passage['text'].split())[:200]}")


async def print_turn(client: "HubClient", body: dict[str, Any]) -> dict[str, Any]:
    """Print an answer as it comes, then its sources, or where it looked; returns ``done``.

    Raises:
        HubError: the turn failed.
    """
    looked_at: list[dict[str, Any]] = []
    async with aclosing(client.events("/hub/ask", body | {"stream": True})) as events:
        async for name, data in events:
            if name == "token":
                click.echo(data["text"], nl=False)
            elif name == "passages":
                looked_at = data["passages"]
            elif name == "error":
                click.echo()
                error = HubError(data["message"], data["hint"])
                raise error
            elif name == "done":
                click.echo()
                from_ = "closest in" if data["refused"] else "from"
                for source in dict.fromkeys(map(source_name, data["citations"])):
                    click.echo(f"  {from_} {source}")
                for action in data["actions"]:
                    if action["undo"]:
                        click.echo(f"  undo: hubd ask -c {data['conversation']} undo")
                if data["refused"] and looked_at:
                    sources = dict.fromkeys(map(source_name, looked_at))
                    click.echo(f"  looked at {'; '.join(sources)}")
                return dict(data)
    return {}


async def _chat(client: "HubClient") -> None:
    import asyncio

    with suppress(ImportError):
        import readline  # noqa: F401 - gives input() its history and editing

    await client.request("GET", "/healthz")
    conversation: dict[str, Any] = {}
    while True:
        try:
            text = await asyncio.to_thread(input, "> ")
        except EOFError:
            click.echo()
            return
        if not text.strip():
            continue
        try:
            done = await print_turn(client, {"text": text} | conversation)
            conversation = {"conversation": done["conversation"]}
        except HubError as error:
            click.echo(f"{error.message} {error.hint}".strip(), err=True)
