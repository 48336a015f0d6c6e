"""``hubd backup``, ``restore`` and ``export``: the home in one file, back, and in plain files."""

from pathlib import Path

import click

from hubd.commands.common import settings

KEEP = 7


@click.command()
@click.argument("file", required=False, type=click.Path(path_type=Path))
@click.option(
    "--into",
    "folder",
    type=click.Path(path_type=Path, file_okay=False),
    help="A folder; the backup is named after the time.",
)
@click.option(
    "--keep",
    default=KEEP,
    show_default=True,
    type=click.IntRange(1),
    help="With --into: leave this many, the newest.",
)
@click.option("--secrets", is_flag=True, help="Also tokens and keys.")
def backup(file: Path | None, folder: Path | None, keep: int, secrets: bool) -> None:
    """Write the home into FILE: conversations, lists, timers, documents, configuration.

    The daemon may be running. Without FILE it goes to the folder `backups` beside the data.
    """
    from hubd.store.backup import back_up, back_up_into

    _, paths = settings()
    if file is not None and folder is not None:
        raise click.UsageError("FILE and --into are two ways to say the same: use one.")
    if file is not None:
        back_up(paths, file, secrets=secrets)
    else:
        file = back_up_into(paths, folder or paths.data / "backups", keep=keep, secrets=secrets)
    click.echo(f"{file}: {file.stat().st_size / 1e6:.1f} MB")


@click.command()
@click.argument("file", type=click.Path(path_type=Path, exists=True, dir_okay=False))
def restore(file: Path) -> None:
    """Put a backup in the place of this home. The daemon must be stopped; the old data is kept."""
    from hubd.missing_secrets import missing_secrets
    from hubd.store.backup import restore

    _, paths = settings()
    aside = restore(paths, file)
    click.echo(f"Restored into {paths.data}.")
    if aside:
        click.echo(f"What was there before is in {aside}.")
    if missing := missing_secrets(paths):
        click.echo("Some secrets were not in the backup:")
        for sentence in missing:
            click.echo(f"  {sentence}")


@click.command()
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
def export(folder: Path) -> None:
    """Write everything as plain JSON, and the uploaded documents, into FOLDER."""
    from hubd.store.export import export

    _, paths = settings()
    for table, count in export(paths, folder).items():
        click.echo(f"{count:7} {table}")
