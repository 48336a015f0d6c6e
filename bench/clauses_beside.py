"""What becomes of a plain command with a clause behind it that takes no part in the fit.

    python -m bench.clauses_beside [LANGUAGE…] [--clauses N]

Every fifth clause of hubd/assistant/understanding/clauses is left out of a fit in memory. A command
with an idle one behind it should be done as it is; one with a needed one should come to anything
else: another command, a question back, or nothing. Prints how many of each kind were done as they
are, with the rules alone and with the regression.
"""

import argparse
import asyncio
import random
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

from bench.fit_clauses import fitted_to
from bench.strangers import DATA, house
from engine.embed import TextEncoder
from hubd.assistant.commands import Commands
from hubd.assistant.understanding import idle
from hubd.assistant.understanding.idle import Clauses, clauses_of
from hubd.store.database import Database
from rag.embed import model_folder

LEFT_OUT = 5
"""Every so many clauses one."""
COMMANDS = {
    "en": ["turn off the reading lamp", "close the living room blinds",
           "set the thermostat to twenty one degrees", "turn on the counter light"],
    "de": ["mach die Leselampe aus", "mach das Küchenlicht an",
           "stell die Heizung auf einundzwanzig Grad"],
    "zh": ["把阅读灯关掉", "打开厨房灯", "把空调调到二十六度"],
}  # fmt: skip


async def done(commands: Commands, text: str, language: str) -> list[tuple[Any, ...]]:
    """What would be done, and what is told not to be understood."""
    parts = await commands.decider.parts(text, language, "")
    decisions = [part.decision for part in parts]
    return [
        (one.tool, tuple(one.entities), sorted(map(str, one.arguments.items())))
        for one in decisions
        if one.tool or len(decisions) > 1
    ]


async def share(commands: Commands, clauses: Sequence[str], language: str) -> float:
    """How many of the commands are done as they are."""
    comma = "，" if language == "zh" else ", "
    said = COMMANDS[language]
    plain = {text: await done(commands, text, language) for text in said}
    found = 0
    for number, clause in enumerate(clauses):
        text = said[number % len(said)]
        found += await done(commands, f"{text}{comma}{clause}", language) == plain[text]
    return found / len(clauses)


def left_out(clauses: Sequence[str]) -> list[str]:
    return list(clauses[::LEFT_OUT])


def kept(clauses: Sequence[str]) -> list[str]:
    return [clause for number, clause in enumerate(clauses) if number % LEFT_OUT]


async def measure(language: str, most: int) -> None:
    every = clauses_of(language)
    weights = fitted_to(Clauses(kept(every.idle), kept(every.needed)), language)
    encoder = TextEncoder.load(model_folder())

    async def embed(texts: Sequence[str]) -> NDArray[np.float32]:
        return await asyncio.to_thread(encoder.embed, list(texts))

    with tempfile.TemporaryDirectory() as folder:
        database = await Database.open(Path(folder) / "hubd.db")
        description = (DATA / f"home.{language}.yaml").read_text("utf-8")
        commands, *_ = await house(database, description, embed, {})
        await commands.decider.semantics.prepare(language)
        for name, used in (("rules alone", None), ("regression", weights)):
            with patch.object(idle, "fitted_of", lambda _, used=used: used):
                for kind, clauses in (("idle", every.idle), ("needed", every.needed)):
                    some = left_out(clauses)
                    random.Random(1).shuffle(some)
                    done_so = await share(commands, some[:most], language)
                    print(f"{language}, {name}, {kind}: {done_so:.0%} done as they are", flush=True)
        await database.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("languages", nargs="*", metavar="LANGUAGE")
    parser.add_argument("--clauses", type=int, default=100, help="of each kind (100)")
    given = parser.parse_args()
    for language in given.languages or COMMANDS:
        asyncio.run(measure(language, given.clauses))


if __name__ == "__main__":
    main()
