"""``hubd bench``: measurements, each in a process of its own.

A file in ``engine/benchmarks`` or ``hubd/benchmarks`` is a command; this one knows none of them.
"""

import ast
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import click

from hubd.commands.common import settings

ROOMS = ("engine", "hubd")


def benchmarks() -> dict[str, tuple[str, Path]]:
    """Module and file of every measurement, by name. Files whose names begin with an underscore are
    what the others share."""
    root = Path(__file__).parents[2]
    return {
        path.stem: (f"{room}.benchmarks.{path.stem}", path)
        for room in ROOMS
        for path in sorted((root / room / "benchmarks").glob("[!_]*.py"))
    }


class Benchmarks(click.Group):
    """A command for every measurement; what follows its name is the measurement's."""

    def list_commands(self, context: click.Context) -> list[str]:
        """All of them."""
        return sorted(benchmarks())

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        """The command that runs the file of this name."""
        if name not in benchmarks():
            return None
        module, path = benchmarks()[name]
        source = path.read_text(encoding="utf-8")
        summary = (ast.get_docstring(ast.parse(source)) or "").partition("\n")[0]

        def run(arguments: tuple[str, ...]) -> None:
            raise click.exceptions.Exit(run_benchmark(module, arguments))

        rest = click.Argument(["arguments"], nargs=-1, type=click.UNPROCESSED)
        taken: dict[str, Any] = {"ignore_unknown_options": True, "help_option_names": []}
        return click.Command(
            name, callback=run, params=[rest], short_help=summary, context_settings=taken
        )


@click.group(cls=Benchmarks)
def bench() -> None:
    """Measure the engine and the hub on this machine; `hubd bench NAME --help` tells the rest.

    A model is a GGUF file, or the name of one in the model folder.
    """


def run_benchmark(module: str, arguments: tuple[str, ...]) -> int:
    """Run a measurement to its end; gives its exit code.

    The hub itself imports nothing of it: numba stays out of this process.
    """
    from hubd.paths import make_private

    _, paths = settings()
    make_private(paths.cache)
    given = [
        str(paths.models / one) if one.endswith(".gguf") and not Path(one).exists() else one
        for one in arguments
    ]
    command = [sys.executable, "-m", module, *given]
    environment = {"NUMBA_CACHE_DIR": str(paths.cache / "numba")} | os.environ
    result = subprocess.run([*command, "--cache-directory", str(paths.cache)], env=environment)
    return result.returncode
