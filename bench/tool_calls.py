"""Measure what a model can write as a tool call: is it valid, and does it name only what exists?

    python -m bench.tool_calls [--runs N] [--model FILE] [--temperature T]

Each run takes an utterance that no rule explains, offers what may be meant in the test household,
and lets the model write one call with its own seed. Prints how many were a JSON object for an
offered tool and for entities of this home, how many of those the words support, and the time.
"""

import argparse
import asyncio
import collections
import contextlib
import random
import statistics
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

from engine.errors import EngineUnavailable
from hubd.assistant.route import Router
from hubd.assistant.supported import why_not
from hubd.assistant.tool_loop.agent import Agent, Wanted, call_of
from hubd.assistant.tool_loop.offer import NONE
from hubd.assistant.understanding.intents import READ_ONLY
from hubd.assistant.understanding.lexicon import lexicon
from hubd.assistant.understanding.mentions import Mentions
from hubd.events import NoticeBoard
from hubd.home.file import FileHome
from hubd.paths import create_directories, find_paths
from hubd.schedule import Schedule
from hubd.settings import DEFAULT_MODEL, Engine
from hubd.store.database import Database
from hubd.store.plugin_storage import PluginStorage
from hubd.supervisor import EngineDown, EngineSupervisor
from hubd.tools import ToolBox, find_plugins

HOME = Path(__file__).parents[1] / "tests/data/assistant/home.en.yaml"
AT_ONCE = 8
BEGINNINGS = ("make", "have", "do something about", "give", "sort out", "deal with", "bring", "let")
ENDINGS = ("", "go dark", "at 30", "a push", "some rest", "please my dear", "like yesterday", "now")


def utterances(names: list[str], count: int) -> list[str]:
    """``count`` different things to say about things of the home, most of them senseless."""
    chosen = random.Random(0)
    made: dict[str, None] = {}
    while len(made) < count:
        parts = (chosen.choice(BEGINNINGS), "the", chosen.choice(names), chosen.choice(ENDINGS))
        made[" ".join(part for part in parts if part) + chosen.choice(("", "!", " ok"))] = None
    return list(made)


async def measure(agent: Agent, text: str, seed: int, temperature: float) -> tuple[str, float]:
    """What one run came to, and how long the model took."""
    wanted = Wanted(text=text, area="living_room")
    offer, said = await agent.offer(wanted)
    if not offer.tools:
        return "nothing offered", 0.0
    began = time.perf_counter()
    while True:
        with contextlib.suppress(EngineUnavailable, EngineDown):  # on a machine that was stopped
            written = await agent.written(wanted, offer, temperature=temperature, seed=seed)
            break
        await asyncio.sleep(2)
    took = time.perf_counter() - began
    call = call_of(written, offer.tools)
    if isinstance(call, str):
        return f"invalid: {call}: {written[:80]}", took
    if call.tool == NONE:
        return "none", took
    snapshot = agent.tools.home.snapshot()
    if not set(call.arguments.get("entities", ())) <= {entity.id for entity in snapshot.entities}:
        return "invalid: an entity that is not there", took
    tool = next(tool for tool in offer.tools if tool.name == call.tool)
    why = why_not(call, tool, text, said, snapshot, wanted.area, lexicon("en"))
    return "unsupported" if why else "supported", took


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--model", type=Path, default=find_paths().models / DEFAULT_MODEL)
    parser.add_argument("--temperature", type=float, default=1.0)
    arguments = parser.parse_args()
    if not arguments.model.is_file():
        sys.exit(f"{arguments.model} is not there; name a model file with --model")
    with tempfile.TemporaryDirectory() as folder:
        paths = find_paths({"HUBD_HOME": folder})
        create_directories(paths)
        database = await Database.open(paths.database)
        home = await FileHome.open(PluginStorage(database, "home description"))
        await home.load(HOME.read_text(encoding="utf-8"))
        tools = ToolBox(
            find_plugins(),
            database=database,
            schedule=Schedule(database),
            board=NoticeBoard(),
            clock=lambda: datetime.now(UTC),
            home=home,
        )
        router = Router(tools.tools(), tools.sentence_files(), home.snapshot)
        await router.prepare("turn on the light", "en")

        async def mentioned(text: str, language: str) -> Mentions:
            return router.mentions(text, language)

        async def similar(text: str, language: str) -> dict[str, float]:
            return {}

        settings = Engine(model=str(arguments.model.absolute()))
        async with EngineSupervisor(settings, paths, NoticeBoard()) as engine:
            agent = Agent(engine.client, tools, router, mentioned, similar)
            things = [e.name for e in home.snapshot().entities if e.domain not in READ_ONLY]
            await run(agent, things, arguments)
        await database.close()


async def run(agent: Agent, names: list[str], arguments: argparse.Namespace) -> None:
    """All runs, some at once; the table of what they came to."""
    gate = asyncio.Semaphore(AT_ONCE)

    async def one(seed: int, text: str) -> tuple[str, float]:
        async with gate:
            return await measure(agent, text, seed, arguments.temperature)

    began = time.perf_counter()
    texts = utterances(names, arguments.runs)
    found = await asyncio.gather(
        *(one(seed, text) for seed, text in enumerate(texts, arguments.first_seed))
    )
    counts = collections.Counter(outcome for outcome, _ in found)
    valid = sum(count for outcome, count in counts.items() if not outcome.startswith("invalid"))
    print(f"{valid} of {len(found)} valid: an offered tool, entities of this home")
    for outcome, count in counts.most_common(20):
        print(f"  {count:5} {outcome}")
    times = [took for _, took in found if took]
    print(f"model: median {statistics.median(times):.2f} s a call, {AT_ONCE} at once, "
          f"{time.perf_counter() - began:.0f} s in all")  # fmt: skip


if __name__ == "__main__":
    asyncio.run(main())
