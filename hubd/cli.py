"""The command line: ``hubd`` and its commands, and how errors are told.

Everything heavy is imported by the command that needs it, so that ``hubd --help`` is quick.
"""

import sys

import click

import hubd
from hubd.commands import (
    access,
    ask,
    backup,
    bench,
    doctor,
    documents,
    forget,
    home,
    model,
    rag,
    reindex,
    serve,
    status,
    webhook,
)
from hubd.errors import AlreadyRunningError, HubError

NOT_RUNNING = 2


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(hubd.__version__, prog_name="hubd")
def cli() -> None:
    """A home smart hub: cited answers from your own documents, and timers. No cloud."""


for command in (
    serve.serve,
    ask.ask,
    ask.chat,
    ask.explain,
    ask.retrieve,
    documents.ingest,
    documents.documents,
    home.home,
    model.model,
    rag.rag,
    webhook.webhook,
    access.pair,
    access.token,
    access.person,
    forget.forget,
    status.timers,
    status.status,
    doctor.doctor,
    bench.bench,
    backup.backup,
    backup.restore,
    backup.export,
):
    cli.add_command(command)
rag.rag.add_command(reindex.reindex)


def main() -> None:
    """The console script. A person's mistake is one or two lines, never a traceback."""
    try:
        code = cli.main(standalone_mode=False)
    except AlreadyRunningError as error:
        click.echo(error.message)
        sys.exit(0)
    except HubError as error:
        from hubd.client import NotRunningError

        click.echo(error.message, err=True)
        if error.hint:
            click.echo(error.hint, err=True)
        sys.exit(NOT_RUNNING if isinstance(error, NotRunningError) else 1)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        sys.exit(130)
    except BrokenPipeError:
        sys.stderr.close()  # whoever read has gone: nothing to complain about
        sys.exit(0)
    sys.exit(code if isinstance(code, int) else 0)
