"""``hubd serve``: the daemon in the foreground."""

import asyncio
import logging
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TextIO

import click

from hubd.commands.common import settings

if TYPE_CHECKING:
    from hubd.commands.progress import Bars
    from hubd.daemon import Daemon
    from hubd.paths import Paths
    from hubd.settings import Config

log = logging.getLogger(__name__)

LOOK_EVERY_S = 0.1
FIRST_CODE_S = 3600.0
"""How long the link is valid that the first start prints."""
WORDS = {"starting": "starting", "restarting": "starting again"}


@click.command()
@click.option(
    "--ingest",
    "folders",
    multiple=True,
    type=click.Path(path_type=Path),
    help="Read these documents first.",
)
@click.option(
    "--home",
    type=click.File(encoding="utf-8"),
    help="A described home (see `hubd home load`), for a hub that has none.",
)
@click.option("--try", "question", help="A question to suggest when it is ready.")
def serve(folders: tuple[Path, ...], home: TextIO | None, question: str | None) -> None:
    """Run the daemon until Ctrl-C. SIGHUP makes it read its configuration again."""
    # Before NumPy is loaded. Two threads of OpenBLAS spin for each other where the cores are busy:
    # fitting the examples took 7 to 10 s of both, and takes 1.1 s of one.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    config, paths = settings()
    first = First(list(folders), home.read() if home else None, question)
    asyncio.run(_serve(config, paths, first))


class First(NamedTuple):
    """What a hub is given at its start, beside its configuration."""

    folders: list[Path]
    """Of documents to read."""
    home: str | None
    """Its description."""
    question: str | None


async def _serve(config: "Config", paths: "Paths", first: First) -> None:
    """One life of the daemon after the other, each with the configuration as it is then."""
    from hubd import logs
    from hubd.daemon import running
    from hubd.doors import doors
    from hubd.memory import let_go
    from hubd.service_manager import inherited_sockets

    wanted: Config | None = config
    with doors(paths, inherited_sockets()) as kept:
        while wanted is not None:
            logs.start(wanted.log.level)
            async with running(wanted, paths, kept) as daemon:
                ended = asyncio.create_task(_next_configuration(daemon, paths))
                await _tell_when_ready(daemon, first, ended)
                wanted = await ended
            first = First([], None, None)
            del daemon, ended
            let_go()


async def _tell_when_ready(
    daemon: "Daemon",
    first: First,
    ended: "asyncio.Task[Config | None]",
) -> None:
    """Prepare and say so, unless the end comes first."""
    from hubd.service_manager import notify

    notify("READY=1", "STATUS=Preparing.")  # it answers; systemd need not wait for documents
    await _describe(daemon, first.home)
    ready = asyncio.create_task(_prepare(daemon, first.folders))
    await asyncio.wait({ended, ready}, return_when=asyncio.FIRST_COMPLETED)
    if not ended.done():
        await ready
        notify("STATUS=Ready.")
        click.echo(f"hubd is ready: {daemon.address}")
        if daemon.services.set_aside:
            click.echo(daemon.services.set_aside, err=True)
        if not daemon.services.access.tokens() and "JOURNAL_STREAM" not in os.environ:
            _offer_pairing(daemon)
        if first.question:
            click.echo(f'Try: "{first.question}"')
    ready.cancel()
    await asyncio.gather(ready, return_exceptions=True)


async def _describe(daemon: "Daemon", home: str | None) -> None:
    """The home that is described, unless the hub knows one."""
    from hubd.home.file import DescriptionError

    services = daemon.services
    known = services.household.linked is not None or services.described.snapshot().entities
    if home is None or known:
        return
    try:
        made = await services.described.load(home)
    except DescriptionError as error:
        click.echo(f"The home is not described: {error}", err=True)
    else:
        click.echo(f"home: {len(made.entities)} devices in {len(made.areas)} rooms, as described")


def _offer_pairing(daemon: "Daemon") -> None:
    """Nobody can use the page yet: a link for whoever sits here, which no journal keeps."""
    from hubd.commands.access import reachable
    from hubd.http.access import make_code, offer_for
    from hubd.policy import OWNER

    code = make_code(daemon.services, offer_for(OWNER), FIRST_CODE_S)
    click.echo(f"Open this once, to pair your browser: {reachable(daemon.address)}{code['path']}")


async def _next_configuration(daemon: "Daemon", paths: "Paths") -> "Config | None":
    """Until the daemon is to go on with another configuration, or to end (None).

    A mistake in the file changes nothing: the present configuration stays, and the log says why.
    """
    from hubd.config import ConfigError, load_config
    from hubd.service_manager import notify

    while await daemon.next_signal() == "reload":
        try:
            config = load_config(paths.config_file)
        except ConfigError as error:
            log.error("not reloaded, the old configuration stays: %s", error.message)
            notify(f"STATUS=Not reloaded: {error.message}")
        else:
            log.info("reloading")
            notify("RELOADING=1", f"MONOTONIC_USEC={time.monotonic_ns() // 1000}")
            return config
    notify("STOPPING=1")
    return None


async def _prepare(daemon: "Daemon", folders: list[Path]) -> None:
    """The documents read and the engine ready, or known not to be."""
    from hubd.commands.progress import Bars

    with Bars() as bars:
        shown = asyncio.create_task(_show_engine(daemon, bars))
        try:
            reports = await _ingest(daemon, folders, bars) if folders else None
            await shown
        finally:
            shown.cancel()
    if reports is not None:
        from hubd.commands.documents import print_reports

        print_reports(reports)


async def _show_engine(daemon: "Daemon", bars: "Bars") -> None:
    """Draw the engine's start until it is over."""
    engine = daemon.services.engine
    waits = daemon.services.config.engine.preload
    while engine.state.state in WORDS or (waits and engine.state.state == "off"):
        state = engine.state
        words = state.message or WORDS.get(state.state, "starting")
        bars.show("language model", state.progress, words, words)
        if state.state == "off" and not engine.model.is_file():
            break
        await asyncio.sleep(LOOK_EVERY_S)
    bars.hide("language model")
    if engine.state.state == "off" and waits:
        click.echo(
            f"The language model is missing ({engine.model}): answers are quotes only. "
            "Fetch it with `hubd model pull`.",
            err=True,
        )
    elif engine.state.state == "failed":
        click.echo(f"The language model does not start: {engine.state.message}", err=True)


async def _ingest(
    daemon: "Daemon", folders: list[Path], bars: "Bars"
) -> list[dict[str, object]] | None:
    import msgspec

    from hubd.commands.progress import show_ingest
    from rag.errors import RagError
    from rag.types import IngestProgress

    def progress(at: IngestProgress) -> None:
        show_ingest(bars, msgspec.to_builtins(at))

    services = daemon.services
    try:
        reports = await services.library.ingest(
            folders, progress=progress, wait_until_idle=services.turns.wait_until_idle
        )
    except RagError as error:
        click.echo(f"The documents are not all read: {error}", err=True)
        return None
    bars.hide("reading documents")
    return [dict(msgspec.to_builtins(report)) for report in reports]
