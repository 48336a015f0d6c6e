"""What becomes of utterances that the rules have never seen, decided on as the daemon does.

    python -m bench.strangers FILE… [--show] [--timed]

Each file is in the form of tests/data/assistant/*.yaml; the household that it names lies beside it,
or there. Sentences and words, the likeness to examples and commands joined in one sentence take
part, the language model does not: what would be left to it counts as not understood, or as proposed
where it is asked whether to do the right thing. Prints the outcomes by style, with ``--show``
everything that was not right, with ``--timed`` milliseconds.
"""

import argparse
import asyncio
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, get_args

import numpy as np
import yaml
from numpy.typing import NDArray

from engine.embed import TextEncoder
from hubd.assistant.by_likeness.semantic import Embed, Semantics
from hubd.assistant.commands import Commands
from hubd.assistant.dialogue import Dialogues
from hubd.assistant.evaluate import Outcome, Sample, counted, judged_parts, samples
from hubd.assistant.route import Router
from hubd.assistant.several import Part
from hubd.assistant.understanding.likeness import Classifier
from hubd.assistant.understanding.names import Names
from hubd.events import NoticeBoard
from hubd.home.file import FileHome
from hubd.schedule import Schedule
from hubd.store.database import Database
from hubd.store.plugin_storage import PluginStorage
from hubd.tools import ToolBox, find_plugins
from rag.embed import model_folder

DATA = Path(__file__).parents[1] / "tests/data/assistant"


def now() -> datetime:
    return datetime.now(UTC)


async def house(database: Database, description: str, embed: Embed,
                classifiers: dict[str, Classifier],
                clock: Callable[[], datetime] = now,
                ) -> tuple[Commands, FileHome, ToolBox]:  # fmt: skip
    """The commands of a described household, as the daemon has them."""
    home = await FileHome.open(PluginStorage(database, "home description"))
    await home.load(description)
    tools = ToolBox(
        find_plugins(),
        database=database,
        schedule=Schedule(database),
        board=NoticeBoard(),
        clock=clock,
        home=home,
    )
    router = Router(tools.tools(), tools.sentence_files(), home.snapshot)
    semantics = Semantics(embed, router, tools.tools(), classifiers)
    dialogues = Dialogues(clock)
    return Commands(tools, router, dialogues, semantics), home, tools


def encoder() -> Embed:
    """The embedding model, in this process."""
    model = TextEncoder.load(model_folder())

    async def embed(texts: Sequence[str]) -> NDArray[np.float32]:
        return await asyncio.to_thread(model.embed, list(texts))

    return embed


def read(file: Path) -> tuple[dict[str, Any], str]:
    """What a file holds, and the description of its household: beside it, or in tests/data."""
    data = yaml.safe_load(file.read_text("utf-8"))
    beside = file.parent / data["home"]
    return data, (beside if beside.exists() else DATA / data["home"]).read_text("utf-8")


async def outcomes(commands: Commands, data: dict[str, Any], area: str, show: bool,
                   times: list[float]) -> dict[str, list[Outcome]]:  # fmt: skip
    """Style → what became of its utterances."""
    found: dict[str, list[Outcome]] = {}
    for sample in samples(data):
        began = time.perf_counter()
        parts = await commands.decider.parts(sample.text, data["language"], area)
        parts = await commands.decider.with_proposal(parts, sample.text, area)
        times.append(time.perf_counter() - began)
        outcome = judged_parts(sample, [part.decision for part in parts])
        found.setdefault(sample.style, []).append(outcome)
        if show and outcome != "right":
            print(told(sample, outcome, parts))
    return found


def told(sample: Sample, outcome: Outcome, parts: Sequence[Part]) -> str:
    """One line about an utterance that was not understood rightly."""
    wanted = " ".join(filter(None, [sample.tool or "nothing", *sorted(sample.entities)]))
    wanted += f" {dict(sample.arguments)}" if sample.arguments else ""
    done = "; ".join(
        f"{d.route} {d.tool} {' '.join(d.entities)} "
        f"{ {k: v for k, v in d.arguments.items() if k != 'entities'} } {d.asks or ''}"
        f"{'' if d.tool else d.reason}"
        for d in (part.decision for part in parts)
    )
    return f"   {outcome:8} [{sample.style}] {sample.text} | {wanted} → {done}"


def table(name: str, found: dict[str, list[Outcome]]) -> str:
    """The outcomes by style, and all together."""
    lines = [
        f"\n{name}",
        f"| style | said | {' | '.join(get_args(Outcome))} |",
        "|---" * (2 + len(get_args(Outcome))) + "|",
    ]
    everything = [outcome for style in found.values() for outcome in style]
    for style, judged in [*found.items(), ("all", everything)]:
        row = [style, str(len(judged)), *map(str, counted(judged).values())]
        lines.append(f"| {' | '.join(row)} |")
    return "\n".join(lines)


async def measure(files: Sequence[Path], show: bool, timed: bool) -> None:
    embed, classifiers = encoder(), dict[str, Classifier]()
    for file in files:
        data, description = read(file)
        times: list[float] = []
        with tempfile.TemporaryDirectory() as folder:
            database = await Database.open(Path(folder) / "hubd.db")
            commands, home, _ = await house(database, description, embed, classifiers)
            await commands.decider.semantics.prepare(data["language"])
            place = Names.area(home.snapshot(), data.get("area", ""))
            found = await outcomes(commands, data, place.id if place else "", show, times)
            await database.close()
        print(table(file.name, found), flush=True)
        if timed:
            print(f"median {statistics.median(times) * 1e3:.1f} ms")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--show", action="store_true")
    parser.add_argument("--timed", action="store_true")
    arguments = parser.parse_args()
    asyncio.run(measure(arguments.files, arguments.show, arguments.timed))


if __name__ == "__main__":
    main()
