"""Progress on a terminal as bars, elsewhere as plain lines."""

import sys
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import click

if TYPE_CHECKING:
    from rich.progress import Progress


class Bars:
    """Named bars while the block runs. ``show`` may be called as often as one likes."""

    def __init__(self) -> None:
        self._progress: Progress | None = None
        self._tasks: dict[str, Any] = {}
        self._said: dict[str, str] = {}

    def __enter__(self) -> Self:
        if sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

            self._progress = Progress(
                TextColumn("{task.description}"),
                BarColumn(),
                TextColumn("{task.fields[detail]}"),
                TimeElapsedColumn(),
                console=Console(stderr=True),
                transient=True,
            )
            self._progress.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._progress:
            self._progress.stop()

    def show(self, name: str, fraction: float | None, detail: str = "", line: str = "") -> None:
        """How far ``name`` is (``None``: not known); ``line`` is for a plain log, once each."""
        if self._progress is None:
            if line and self._said.get(name) != line:
                click.echo(f"{name}: {line}", err=True)
                self._said[name] = line
            return
        if name not in self._tasks:
            self._tasks[name] = self._progress.add_task(name, total=None, detail="")
        total = None if fraction is None else 1.0
        self._progress.update(
            self._tasks[name], total=total, completed=fraction or 0.0, detail=detail
        )

    def hide(self, name: str) -> None:
        """Take a bar away: it is done."""
        if self._progress and name in self._tasks:
            self._progress.remove_task(self._tasks.pop(name))


def show_ingest(bars: Bars, at: dict[str, Any]) -> None:
    """The state of an ingest, as the fields of ``rag.types.IngestProgress``."""
    total = at["files_total"] or 1
    part = at["chunks_done"] / at["chunks_total"] if at["chunks_total"] else 0.0
    counted = f"{at['files_done']}/{at['files_total']}"
    detail = f"{counted} {at['document']}"
    bars.show("reading documents", min(1.0, (at["files_done"] + part) / total), detail, detail)
