"""``hubd model``: fetch, list, quantize and calibrate model files."""

import os
import subprocess
import sys
from pathlib import Path

import click

from hubd.commands.common import settings


@click.group()
def model() -> None:
    """Fetch, list, quantize and calibrate language models."""


@model.command()
@click.argument("reference", required=False)
def pull(reference: str | None) -> None:
    """Fetch the default model, or hf:OWNER/REPO/FILE.gguf."""
    from hubd import models
    from hubd.commands.progress import Bars
    from hubd.paths import make_private

    _, paths = settings()
    make_private(paths.config, paths.data, paths.models)
    with Bars() as bars:

        def progress(step: str, fraction: float | None) -> None:
            detail = "" if fraction is None else f"{fraction:.0%}"
            bars.show(f"language model: {step}", fraction, detail, "…")

        if reference:
            path, fetched = models.pull_from_hub(reference, paths.models, progress), True
        else:
            path, fetched = models.pull_default(paths.models, progress)
    if fetched:
        click.echo(f"language model: {path.name} is ready")
    if reference:
        click.echo(f'use it: set model = "{path.name}" under [engine] in {paths.config_file}')


@model.command("list")
def list_() -> None:
    """List the models in the model folder; the one in use is marked."""
    from hubd import models
    from hubd.engine_child import model_path

    config, paths = settings()
    used = model_path(config.engine, paths)
    found = models.installed(paths.models)
    for one in found:
        mark = "*" if paths.models / one.name == used else " "
        parts = f" in {one.parts} parts" if one.parts > 1 else ""
        parts += f", {one.missing} of them missing" if one.missing else ""
        click.echo(f"{mark} {one.name}  {one.bytes / 1e6:.0f} MB{parts}")
    if not found:
        click.echo(f"There is no model in {paths.models}: fetch one with `hubd model pull`.")


@model.command()
@click.argument("source", metavar="IN", type=click.Path(exists=True, dir_okay=False))
@click.argument("target", metavar="OUT", type=click.Path(dir_okay=False))
@click.option(
    "--to",
    required=True,
    type=click.Choice(["q4_0", "q4_1", "q4_k_m", "q5_0", "q5_1", "q8_0"]),
    help="The format of the weights.",
)
@click.option("--requantize", is_flag=True, help="Take a file that is quantized already.")
@click.option(
    "--importance",
    metavar="TEXT",
    type=click.Path(exists=True, dir_okay=False),
    help="A text like those the model will read: what matters for it is kept more exactly.",
)
def quantize(source: str, target: str, to: str, requantize: bool, importance: str | None) -> None:
    """Write the GGUF file IN with smaller weights to OUT.

    The work is done in a process of the engine: the hub itself knows nothing of weights.
    """
    command = [sys.executable, "-m", "engine.quantize", "--to", to]
    command += ["--requantize"] * requantize
    command += [f"--importance={importance}"] if importance else []
    result = subprocess.run([*command, "--", source, target])
    if result.returncode != 0:
        raise click.exceptions.Exit(result.returncode)


@model.command()
@click.argument("name", metavar="MODEL")
@click.option(
    "--target-sparsity",
    metavar="P",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    help="Share of activations to leave out, such as 0.5 (default: as many as can be afforded).",
)
@click.option(
    "--max-perplexity-increase",
    metavar="X",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    help="Part by which perplexity may rise (default: 0.02).",
)
@click.option(
    "--text",
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False),
    help="A text like those the model will write (default: Python's documentation).",
)
def calibrate(
    name: str,
    target_sparsity: float | None,
    max_perplexity_increase: float | None,
    text: str | None,
) -> None:
    """Find out what MODEL can leave out when it decodes; saved beside it, and used only if
    `sparsity = "calibrated"` is set under [engine].

    MODEL is a GGUF file, or the name of one in the model folder.
    """
    config, paths = settings()
    file = Path(name) if Path(name).is_file() else paths.models / name
    command = [sys.executable, "-m", "engine.calibration.calibrate", str(file)]
    given = {
        "target-sparsity": target_sparsity,
        "max-perplexity-increase": max_perplexity_increase,
        "text": text,
        "activation": config.engine.activation or None,
    }
    command += [f"--{option}={value}" for option, value in given.items() if value is not None]
    environment = {"NUMBA_CACHE_DIR": str(paths.cache / "numba")} | os.environ
    result = subprocess.run(command, env=environment)
    if result.returncode != 0:
        raise click.exceptions.Exit(result.returncode)
