"""``hubd rag``: how good the library is at questions with known answers."""

import asyncio
import contextlib
import os
import random
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import click

from hubd.commands.common import print_json
from hubd.errors import HubError

if TYPE_CHECKING:
    from engine.client import EngineClient
    from hubd.settings import Assistant as Settings
    from hubd.settings import Config
    from rag.evaluate import Case, Report, Show
    from rag.library import Library
    from rag.types import Evidence


@click.group()
def rag() -> None:
    """Measure how documents are found, quoted and refused."""


@rag.command("eval")
@click.argument("folders", nargs=-1, type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option(
    "--questions", multiple=True, type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="JSON lines with id, question, answerable, document, page, answer; held_out apart.",
)  # fmt: skip
@click.option(
    "--squad", type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="A file in SQuAD's form instead: its paragraphs are the documents.",
)  # fmt: skip
@click.option("--passages", default=5, show_default=True, help="Looked at for each question.")
@click.option("--sample", default=0, help="Only so many questions, drawn by chance; 0 for all.")
@click.option("--seed", default=0, show_default=True, help="Of the sample.")
@click.option(
    "--reranker",
    type=click.Path(path_type=Path, exists=True, file_okay=False, resolve_path=True),
    help="The folder of a cross-encoder in place of the configured one.",
)  # fmt: skip
@click.option("--model", is_flag=True, help="Answer with the configured language model as well.")
@click.option("--json", "as_json", is_flag=True, help="Everything as JSON, question by question.")
@click.option("--plot", type=click.Path(path_type=Path, dir_okay=False), help="Write an SVG here.")
def evaluate(
    folders: tuple[Path, ...],
    questions: tuple[Path, ...],
    squad: Path | None,
    passages: int,
    sample: int,
    seed: int,
    reranker: Path | None,
    model: bool,
    as_json: bool,
    plot: Path | None,
) -> None:
    """Ask the documents in FOLDERS every question of a file.

    Uses the configured embedding model and a library of its own; the family's is not touched. The
    shown answer is the quote, or with --model what the hub would say, which takes longer.
    """
    if bool(squad) == bool(folders) or bool(folders) != bool(questions):
        raise HubError("nothing to measure", "Name FOLDERS and --questions, or --squad FILE.")
    from rag.errors import RagError

    try:
        reports = asyncio.run(
            _evaluate(folders, questions, squad, passages, sample, seed, reranker, model)
        )
    except RagError as error:
        raise HubError(str(error), "`hubd doctor` looks at the embedding model.") from error
    except (ValueError, KeyError) as error:
        raise HubError(
            f"the questions cannot be read: {error}", "See docs/documents.md."
        ) from error
    if as_json:
        print_json(reports)
    else:
        from rag.evaluate import markdown

        for name, report in reports.items():
            click.echo(f"## {name}\n\n{markdown(report)}")
    if plot:
        from rag.evaluate_plot import plot as drawn

        plot.write_text(drawn(reports), encoding="utf-8")


async def _evaluate(
    folders: tuple[Path, ...],
    questions: tuple[Path, ...],
    squad_file: Path | None,
    passages: int,
    sample: int,
    seed: int,
    reranker: Path | None,
    model: bool,
) -> dict[str, "Report"]:
    import msgspec

    from hubd.config import load_config
    from hubd.daemon import open_models
    from hubd.events import NoticeBoard
    from hubd.paths import create_directories, find_paths
    from hubd.reindexing import configured
    from rag.evaluate import evaluate, quoted, read_cases
    from rag.library import Library
    from rag.question_files import squad

    real = find_paths()
    home = Path(tempfile.mkdtemp(prefix="hubd-eval-"))
    paths = msgspec.structs.replace(
        find_paths({**os.environ, "HUBD_HOME": str(home)}), models=real.models
    )
    async with contextlib.AsyncExitStack() as stack:
        stack.callback(shutil.rmtree, home, ignore_errors=True)
        stack.callback(shutil.rmtree, paths.run, ignore_errors=True)
        create_directories(paths)
        config = load_config(real.config_file)
        engine, own, read = await open_models(stack, config, paths, NoticeBoard())
        embedder = await configured(config.rag, own)
        if embedder is not own:
            stack.push_async_callback(embedder.close)
        library = await Library.open(paths.database, embedder=embedder, uploads=paths.uploads)
        stack.push_async_callback(library.close)
        library.read = read
        await _open_reranker(stack, library, config, reranker)
        if squad_file:
            papers = home / "papers"
            papers.mkdir()
            cases = squad(squad_file, papers)
            await library.ingest([papers])
        else:
            cases = [case for file in questions for case in read_cases(file)]
            for report in await library.ingest(folders):
                if report.action == "skipped":
                    click.echo(f"skipped {report.document}: {report.reason}", err=True)
        show = _shown_by(await engine.client(), config.assistant) if model else quoted
        groups = _groups(_drawn(cases, sample, seed))
        return {
            name: await evaluate(library, group, passages, show) for name, group in groups.items()
        }


async def _open_reranker(
    stack: contextlib.AsyncExitStack, library: "Library", config: "Config", folder: Path | None
) -> None:
    """The one in ``folder``, else the configured one; loaded, so that no question goes without."""
    import msgspec

    from hubd.reranking import reranker_of
    from rag.errors import RerankerError

    if folder:
        chosen = msgspec.structs.replace(config.rag, reranker=str(folder))
        config = msgspec.structs.replace(config, rag=chosen)
    library.reranker = reranker_of(config)
    if library.reranker:
        stack.push_async_callback(library.reranker.close)
        try:
            await library.reranker.start()
        except RerankerError as error:
            raise HubError(
                f"the reranker does not load: {error}", "Name another folder."
            ) from error


def _shown_by(client: "EngineClient", settings: "Settings") -> "Show":
    """What the hub shows: the model's words as far as they are supported, else the quote."""
    from hubd.assistant.answers import prompt
    from hubd.assistant.answers.ground import Grounding
    from hubd.assistant.answers.write import write
    from rag.evaluate import Shown

    async def show(question: str, evidence: "Evidence") -> Shown:
        grounding = Grounding(question, evidence)
        if grounding.complete:
            pieces = [grounded.text for grounded in grounding.finish()]
        else:
            messages = prompt.build(question, evidence)
            written = write(client, messages, grounding, settings, lambda answered: None)
            pieces = [grounded.text async for grounded in written]
        return Shown(text="".join(pieces), quotes=list(grounding.citations))

    return show


def _drawn(cases: "list[Case]", count: int, seed: int) -> "list[Case]":
    """``count`` of the cases by chance, the same for the same seed, in their order; 0 for all."""
    if not 0 < count < len(cases):
        return cases
    chosen = set(random.Random(seed).sample(range(len(cases)), count))
    return [case for number, case in enumerate(cases) if number in chosen]


def _groups(cases: "list[Case]") -> "dict[str, list[Case]]":
    """All questions; or those for tuning, and those put aside."""
    held_out = [case for case in cases if case.held_out]
    if not held_out:
        return {"all questions": cases}
    return {"tuned on": [case for case in cases if not case.held_out], "held out": held_out}
