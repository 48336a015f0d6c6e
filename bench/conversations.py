"""What the hub says and does in whole conversations that somebody wrote without knowing its rules.

    python -m bench.conversations FILE… [--half 1|2]

A file has `language`, `home` (a household's description beside it or in tests/data/assistant) and
`talks`: each with a `name`, the `area` of the speaker, its `start` (local time) and `turns`, which
`say` something after `wait` seconds (5) and tell in `want` what would be right. Each talk meets the
household as it is described, at its own time, without documents and without a language model; what
would be asked of the documents is said so. What is due by then (a timer that rings, a command for
later) is done before each turn. Prints what was said, called, taken back first and answered, turn
by turn, to be judged by a reader. With `--half` every other talk alone: what is mended by the one
half is measured by the other.
"""

import argparse
import asyncio
import tempfile
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from bench.strangers import encoder, house, read
from hubd.assistant.by_likeness.semantic import Embed
from hubd.assistant.commands import Commands
from hubd.assistant.replies import says_again
from hubd.assistant.understanding.likeness import Classifier
from hubd.assistant.understanding.names import Names
from hubd.policy import OWNER
from hubd.store import jobs
from hubd.store.database import Database
from hubd.tool_context import Speaker
from hubd.tools import ToolBox

CONVERSATION = "talk"
PAUSE_S = 5


async def replied(commands: Commands, text: str, language: str, area: str) -> tuple[str, list[str]]:
    """The reply to one turn, and the tools that were called for it."""
    if says_again(text):
        return "(the last answer is told once more)", []
    step = await commands.step(text, CONVERSATION, language=language, area=area, person=OWNER)
    if step is None:
        kind, spoken = await commands.decider.kind(text, language)
        if kind == "command" or await commands.decider.speaks_of_home(text, spoken):
            return await commands.decider.declined(text, spoken), []
        return f"({kind}: the documents are asked, else it is not understood)", []
    texts, called = [], []
    for one in (step, *step.then):
        if one.call is None:
            texts.append(one.text)
            continue
        speaker = Speaker(
            conversation=CONVERSATION, language=one.decision.language, area=area, person=OWNER
        )
        if one.undo is not None:
            called.append(f"first taken back by {one.undo.tool}")
        outcome = await commands.run(one, one.said_alone or text, CONVERSATION, speaker)
        texts.append(outcome.text)
        arguments = {k: v for k, v in outcome.call.arguments.items() if v not in ("", None)}
        done = f"{outcome.call.tool} {arguments}" if arguments else outcome.call.tool
        called.append(done if outcome.ok else f"not done: {done}")
    return " ".join(texts), called


async def happens(tools: ToolBox, database: Database, time: datetime) -> None:
    """What is due by ``time``, once."""
    for job in await jobs.pending(database):
        if job.due <= time:
            await tools.run_job(job.plugin, job.key)
            await jobs.finish(database, job.id)


async def play(number: int, talk: Mapping[str, Any], language: str, description: str,
               embed: Embed, classifiers: dict[str, Classifier]) -> None:  # fmt: skip
    """Play one talk in a household of its own, and print it."""
    time = datetime.fromisoformat(str(talk["start"])).astimezone()
    with tempfile.TemporaryDirectory() as folder:
        database = await Database.open(Path(folder) / "hubd.db")
        commands, home, tools = await house(database, description, embed, classifiers, lambda: time)
        await commands.decider.semantics.prepare(language)
        place = Names.area(home.snapshot(), talk["area"])
        print(f"\n## {number} {talk['name']} [{talk['area']}, {time:%a %d %b %H:%M}]")
        for turn, said in enumerate(talk["turns"], 1):
            time += timedelta(seconds=said.get("wait", PAUSE_S))
            await happens(tools, database, time)
            reply, called = await replied(
                commands, said["say"], language, place.id if place else ""
            )
            waited = f" (after {said['wait']} s)" if "wait" in said else ""
            print(f"{number}.{turn} YOU{waited}: {said['say']}\n     HUB: {reply}")
            for done in called:
                print(f"          [{done}]")
            print(f"     wanted: {said.get('want', '')}", flush=True)
        await database.close()


async def measure(files: Sequence[Path], half: int | None) -> None:
    embed, classifiers = encoder(), dict[str, Classifier]()
    for file in files:
        data, description = read(file)
        for number, talk in enumerate(data["talks"], 1):
            if half is None or number % 2 == half % 2:
                await play(number, talk, data["language"], description, embed, classifiers)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--half", type=int, choices=(1, 2))
    arguments = parser.parse_args()
    asyncio.run(measure(arguments.files, arguments.half))


if __name__ == "__main__":
    main()
