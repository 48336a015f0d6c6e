"""``hubd doctor``."""

import sys

import click


@click.command()
def doctor() -> None:
    """Say what is wrong, and what to do."""
    from hubd.doctor import examine
    from hubd.paths import find_paths

    problems = 0
    for finding in examine(find_paths()):
        problems += not finding.ok
        click.echo(f"{'✓' if finding.ok else '✗'} {finding.name:<12} {finding.text}")
        if not finding.ok and finding.hint:
            click.echo(f"  {'':<12} → {finding.hint}")
    if problems:
        click.echo(f"{problems} problem{'' if problems == 1 else 's'} found.")
        sys.exit(1)
