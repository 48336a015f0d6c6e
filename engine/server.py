"""The engine as a process: ``python -m engine.server --model PATH --socket PATH``.

Listens at once and loads the model on a thread, so that /health can say how far it is. Ends within
two seconds of SIGTERM, or when its parent goes away. The endpoints are ``engine.endpoints``'.
"""

import gc
import os

if __name__ == "__main__":  # what takes a fifth of a start and is of no use
    gc.disable()  # until all is loaded, see engine.settle
    os.environ.setdefault("SSL_CERT_FILE", os.devnull)  # aiohttp reads it, but calls nobody

import argparse
import asyncio
import contextlib
import logging
import math
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import msgspec
from aiohttp import web

from engine.embed_service import EmbedService, Vectors
from engine.endpoints import application
from engine.engine import Engine
from engine.lora import AdapterFile
from engine.protocol import Health
from engine.rerank_service import RerankService
from engine.served import Served
from engine.settle import settle
from engine.sparsity.calibrated import Sparsity, calibrated

log = logging.getLogger("engine.server")

STOP_SECONDS = 1.5
"""How long running work may take to notice the end. Then the process goes without it."""


def main(arguments: list[str] | None = None) -> None:
    """Serve until SIGTERM, SIGINT or, with --exit-with-parent, the end of standard input."""
    options = _options(arguments)
    logging.basicConfig(
        level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s"
    )
    asyncio.run(serve(options))
    # Everything is closed. The interpreter's own way out would wait for threads that cannot be
    # interrupted (a compilation), and takes a second to tear numba and LLVM down on a busy box.
    logging.shutdown()
    os._exit(0)


async def serve(options: argparse.Namespace) -> None:
    """Run the server to its end."""
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(_end_without_memory)
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    if options.exit_with_parent:
        _watch_parent(loop, stop)
    served = _served(options)
    runner = web.AppRunner(
        application(served),
        handler_cancellation=True,  # a client that goes away cancels its work
        access_log=None,
        shutdown_timeout=0.2,
    )
    await runner.setup()
    try:
        await _listen(runner, options)
    except OSError as error:
        where = options.socket or f"{options.host}:{options.port}"
        raise SystemExit(f"cannot listen on {where}: {error}") from error
    if options.model is not None:
        threading.Thread(target=_load, args=(loop, served, options), daemon=True).start()
    await stop.wait()
    await _shut_down(runner, served, options)


async def _shut_down(runner: web.AppRunner, served: Served, options: argparse.Namespace) -> None:
    served.health = msgspec.structs.replace(served.health, status="stopping")
    if served.engine is not None:
        await asyncio.to_thread(served.engine.close, STOP_SECONDS)
    for service in served.encoders:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(service.close(), STOP_SECONDS)
    await runner.cleanup()
    if options.socket is not None:
        options.socket.unlink(missing_ok=True)
    log.info("stopped")


def _end_without_memory(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """End at once where the loop itself gets no memory: whoever watches starts the process again.

    It would go on without reading what it is sent, and each request would wait for its time limit.
    """
    if isinstance(context.get("exception"), MemoryError):
        log.critical("out of memory")
        os._exit(os.EX_OSERR)
    loop.default_exception_handler(context)


def _served(options: argparse.Namespace) -> Served:
    """A language model that is loading, encoders that wait for their first text, or both."""
    name = "" if options.model is None else options.model.stem
    if options.encoder is None:
        return Served(name)
    alike = {
        "threads": options.threads,
        "cache_directory": options.cache_directory,
        "idle_seconds": options.encoder_idle_unload or math.inf,
    }
    encoder = EmbedService(options.encoder, name=options.encoder_name, **alike)
    if options.reranker is None:
        return Served(name, encoder)
    return Served(name, encoder, RerankService(options.encoder, options.reranker, **alike))


def _share_compute_thread(engine: Engine, encoder: EmbedService) -> None:
    """From now on the encoder's slices run between the steps of the language model's requests."""

    def compute(function: Callable[[], Vectors]) -> "Future[Vectors]":
        return engine.scheduler.run(lambda model: function())

    encoder.compute = compute


def _load(loop: asyncio.AbstractEventLoop, served: Served, options: argparse.Namespace) -> None:
    def show(stage: str, fraction: float) -> None:
        change = {"stage": stage, "fraction": fraction}
        served.health = msgspec.structs.replace(served.health, **change)

    def ready(engine: Engine) -> None:
        served.engine = engine
        for service in served.encoders:
            _share_compute_thread(engine, service)
        served.health = Health(status="ready", model=served.model_name, fraction=1.0)
        log.info("ready: %s", served.model_name)

    try:
        engine = Engine.load(
            options.model,
            threads=options.threads,
            context_length=options.context_length,
            cache_directory=options.cache_directory,
            kv_bytes=(options.kv_mb << 20) or None,
            prefix_disk_bytes=options.prefix_disk_mb << 20,
            progress=show,
            adapters=options.adapter,
            activation=options.activation,
            kv_format=options.kv_format,
            sparsity=_sparsity(options),
            draft_model=options.draft_model,
            reuse_chunks=options.reuse_chunks,
        )
    except Exception as error:
        log.error("cannot load %s: %s", options.model, error)
        served.health = Health(
            status="failed", model=served.model_name, message=f"{options.model.name}: {error}"
        )
        return
    settle()
    with contextlib.suppress(RuntimeError):  # the loop has ended meanwhile
        loop.call_soon_threadsafe(ready, engine)


async def _listen(runner: web.AppRunner, options: argparse.Namespace) -> None:
    if options.socket is None:
        site: web.BaseSite = web.TCPSite(runner, options.host, options.port)
        await site.start()
        host, port = runner.addresses[0][:2]
        print(f"listening on http://{host}:{port}", flush=True)
        return
    _check_free(options.socket)
    options.socket.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    previous = os.umask(0o177)  # from its first moment the socket is the owner's alone
    try:
        await web.UnixSite(runner, str(options.socket)).start()
    finally:
        os.umask(previous)
    print(f"listening on {options.socket}", flush=True)


def _check_free(path: Path) -> None:
    """Leave a socket alone that somebody answers; one left behind is replaced."""
    with socket.socket(socket.AF_UNIX) as probe:
        probe.settimeout(1.0)
        try:
            probe.connect(str(path))
        except OSError:
            return
    raise SystemExit(f"another engine is listening on {path} already")


def _watch_parent(loop: asyncio.AbstractEventLoop, stop: asyncio.Event) -> None:
    """The parent holds the other end of standard input; its end is ours, even after SIGKILL."""

    def watch() -> None:
        with contextlib.suppress(OSError):
            while os.read(0, 4096):
                pass
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(stop.set)
        time.sleep(2 * STOP_SECONDS)  # by now the process has ended, unless its loop hangs
        os._exit(1)

    threading.Thread(target=watch, name="parent-watch", daemon=True).start()


def _sparsity(options: argparse.Namespace) -> Sparsity:
    """What tokens that are decoded alone leave out; CalibrationError without a calibration."""
    if options.sparsity == "calibrated":
        return calibrated(options.model)
    return Sparsity(options.sparsity != "off")


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="engine.server", description=__doc__.split("\n")[0])
    parser.add_argument("--model", type=Path, help="a GGUF file")
    parser.add_argument("--encoder", type=Path, help="a BERT encoder for embeddings: folder, GGUF")
    parser.add_argument("--encoder-name", help="what it is called (default: its file's name)")
    parser.add_argument(
        "--encoder-idle-unload", type=float, default=600.0, help="seconds; 0 for never"
    )
    parser.add_argument(
        "--reranker",
        type=Path,
        help="an adapter that makes a cross-encoder of --encoder: GGUF",
    )
    parser.add_argument("--socket", type=Path, help="Unix socket to listen on")
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on without --socket")
    parser.add_argument("--port", type=int, help="port without --socket; 0 takes a free one")
    parser.add_argument("--threads", type=int, help="compute threads (default: all cores)")
    parser.add_argument("--context-length", type=int, help="tokens (default: the model's)")
    parser.add_argument("--cache-directory", type=Path, help="keeps what loading works out")
    parser.add_argument(
        "--kv-mb", type=int, default=0, help="keys and values at most (default: 256, or a context)"
    )
    parser.add_argument(
        "--kv-format", choices=("auto", "f16", "int8"), default="auto", help="of keys and values"
    )
    parser.add_argument(
        "--draft-model", type=Path, help="a smaller GGUF file with the same tokens: guesses ahead"
    )
    parser.add_argument(
        "--activation",
        choices=("silu", "gelu", "relu", "relu2", "drelu"),
        help="of a model whose file does not tell that it is not its family's",
    )
    parser.add_argument(
        "--sparsity",
        choices=("exact", "calibrated", "off"),
        default="exact",
        help="skip what is zero, also what calibration found to be small, or nothing",
    )
    parser.add_argument(
        "--prefix-disk-mb", type=int, default=0, help="of prompts kept there; 0 for none"
    )
    parser.add_argument(
        "--reuse-chunks",
        action="store_true",
        help="use text of earlier prompts again at other places, which changes answers",
    )
    parser.add_argument(
        "--adapter",
        type=AdapterFile.parse,
        action="append",
        default=[],
        metavar="FILE[:SCALE]",
        help="a LoRA adapter in GGUF; more than once for several",
    )
    parser.add_argument(
        "--exit-with-parent", action="store_true", help="end when standard input ends"
    )
    options = parser.parse_args(arguments)
    if (options.socket is None) == (options.port is None):
        parser.error("give either --socket PATH or --port N")
    if options.model is None and options.encoder is None:
        parser.error("give --model FILE, --encoder PATH, or both")
    if options.reranker and options.encoder is None:
        parser.error("--reranker is an adapter of --encoder: give both")
    return options


if __name__ == "__main__":
    main(sys.argv[1:])
