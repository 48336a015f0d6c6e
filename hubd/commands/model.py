"""``hubd model``: fetch and list model files."""

import click

from hubd.commands.common import settings


@click.group()
def model() -> None:
    """Fetch and list language models."""


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
    from hubd.supervisor import model_path

    config, paths = settings()
    used = model_path(config.engine, paths)
    found = models.installed(paths.models)
    for one in found:
        mark = "*" if paths.models / one.name == used else " "
        click.echo(f"{mark} {one.name}  {one.bytes / 1e6:.0f} MB")
    if not found:
        click.echo(f"There is no model in {paths.models}: fetch one with `hubd model pull`.")
