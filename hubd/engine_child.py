"""The engine child as a process: its command line, what it writes, how it is made to end.

When it is started, and what is thought of it, is for ``hubd.supervisor``.
"""

import asyncio
import contextlib
import signal
import sys
from pathlib import Path

import msgspec

from hubd import settings as sections
from hubd.paths import Paths

TERMINATE_S = 5.0
OOM_HANDICAP = 500
"""Of 1000 (proc(5), oom_score_adj): as if it used half of the memory more than it does."""


class Encoder(msgspec.Struct, frozen=True, kw_only=True):
    """An embedding model that the child has besides the language model, or alone."""

    folder: Path
    name: str
    idle_unload: float
    """Seconds; 0 for never."""
    reranker: Path
    """An adapter that makes a cross-encoder of it."""
    alone: bool = False


def command(
    settings: sections.Engine, paths: Paths, socket: Path, encoder: Encoder | None
) -> list[str]:
    """What starts a child that listens at ``socket``."""
    alone = encoder is not None and encoder.alone
    draft = settings.draft_model
    return [
        *(sys.executable, "-m", "engine.server"),
        *("--socket", str(socket)),
        *(() if alone else ("--model", str(model_path(settings, paths)))),
        *(_options_for(encoder) if encoder else ()),
        *("--threads", str(settings.threads)),
        *("--context-length", str(settings.context_length)),
        *("--cache-directory", str(paths.cache)),
        *("--kv-mb", str(settings.kv_mb)),
        *("--kv-format", settings.kv_format),
        *([f"--activation={settings.activation}"] if settings.activation else []),
        *("--sparsity", settings.sparsity),
        *([f"--draft-model={_in_models(draft, paths)}"] if draft else []),
        *("--prefix-disk-mb", str(settings.prefix_disk_mb)),
        *(["--reuse-chunks"] if settings.reuse_chunks else []),
        *(f"--adapter={_in_models(name, paths)}" for name in settings.adapters),
        "--exit-with-parent",
    ]


def model_path(settings: sections.Engine, paths: Paths) -> Path:
    """The model file: a name in the model folder, or a path of its own."""
    return _in_models(settings.model, paths)


def _in_models(name: str, paths: Paths) -> Path:
    named = Path(name).expanduser()
    return named if len(named.parts) > 1 else paths.models / named


def _options_for(encoder: Encoder) -> list[str]:
    return [
        *("--encoder", str(encoder.folder)),
        *("--encoder-name", encoder.name),
        *("--encoder-idle-unload", str(encoder.idle_unload)),
        *("--reranker", str(encoder.reranker)),
    ]


def first_to_go(pid: int) -> None:
    """When memory is short the kernel ends the engine and not the hub, which starts it again."""
    file = Path(f"/proc/{pid}/oom_score_adj")
    with contextlib.suppress(OSError, ValueError):  # another system, or the child is gone
        file.write_text(str(min(1000, int(file.read_text()) + OOM_HANDICAP)))


async def next_line(stream: asyncio.StreamReader) -> str:
    """The next line; a longer one than the stream holds comes in pieces. Empty at the end."""
    try:
        return (await stream.readuntil()).decode(errors="replace").rstrip() or " "
    except asyncio.IncompleteReadError as error:
        return error.partial.decode(errors="replace").rstrip()
    except asyncio.LimitOverrunError as error:
        return (await stream.readexactly(error.consumed)).decode(errors="replace")


async def end(process: asyncio.subprocess.Process) -> None:
    """Close the child's input, ask it to end, then make it."""
    if process.stdin:
        process.stdin.close()
    for number in (signal.SIGTERM, signal.SIGKILL):
        if process.returncode is not None:
            break
        with contextlib.suppress(ProcessLookupError):
            process.send_signal(number)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(TERMINATE_S):
                await process.wait()
