"""``hubd status`` and ``hubd timers``."""

import click

from hubd.commands.common import print_json, with_daemon


@click.command()
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
def status(as_json: bool) -> None:
    """Show how the running daemon is."""
    from hubd.lock import holder
    from hubd.paths import find_paths

    state = with_daemon(lambda client: client.request("GET", "/hub/status"))
    held = holder(find_paths().lock)
    state["address"] = held.address if held else ""
    if as_json:
        print_json(state)
        return
    engine, documents, memory = state["engine"], state["documents"], state["memory"]
    click.echo(f"hubd {state['version']} at {state['address']}, up {state['uptime_s']} s")
    if state["set_aside"]:
        click.echo(f"database   {state['set_aside']}")
    click.echo(f"model      {state['model']}: {engine['state']} {engine['message']}".rstrip())
    click.echo(f"embedder   {state['embedder']}")
    if reranker := state["reranker"]:
        told = f"{reranker['model']}: {reranker['state']} {reranker['problem']}"
        click.echo(f"reranker   {told}".rstrip())
    click.echo(f"documents  {documents['ready']} ready, {documents['skipped']} skipped")
    click.echo(f"memory     hub {memory['hub_mb']} MB, engine {memory['engine_mb']} MB")


@click.command()
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
def timers(as_json: bool) -> None:
    """Show the timers."""
    result = with_daemon(lambda client: client.request("POST", "/hub/tools/timers.list", json={}))
    if as_json:
        print_json(result["data"]["timers"])
    else:
        click.echo(result["text"])
