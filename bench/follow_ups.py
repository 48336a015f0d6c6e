"""How follow-up questions of samples/follow-up-questions.jsonl are answered, in whole turns.

    python -m bench.follow_ups [--held-out] [--wrong]

Reads samples/household and samples/cabinet into a hub of its own, without a language model, so that
the answer is what is quoted. Takes about two minutes on one thread.
"""

import argparse
import asyncio
import contextlib
import os
import tempfile
from collections import Counter
from pathlib import Path
from typing import Literal

import msgspec

from hubd.assistant.turn import Assistant, Utterance
from hubd.daemon import open_rooms
from hubd.paths import create_directories, find_paths
from hubd.settings import Config, Engine
from hubd.turn_events import Done

SAMPLES = Path(__file__).parents[1] / "samples"
HOME = SAMPLES.parent / "tests/data/assistant/home.en.yaml"
Kind = Literal["leans", "new", "nothing"]
"""It leans on what was asked before; it is about something new; no document answers it."""
Outcome = Literal["right first", "right", "close", "refused", "wrong", "taken"]
"""The expected answer is in the first quote; in another one; beside a refusal; it is refused, or
something else is quoted; it was taken for something else than a question to the documents."""


class FollowUp(msgspec.Struct, frozen=True, kw_only=True):
    """A question with the ones before it, and what is expected of it."""

    id: str
    earlier: list[str]
    question: str
    answerable: bool
    document: str = ""
    page: int | None = None
    answer: str = ""
    held_out: bool = False
    note: str = ""

    @property
    def kind(self) -> Kind:
        if not self.answerable:
            return "nothing"
        return "new" if self.note == "new" else "leans"


def judged(case: FollowUp, done: Done) -> Outcome:
    """What became of the last question."""
    if done.actions or done.asks or not (done.citations or done.refused):
        return "taken"
    held = [_bare(case.answer) in _bare(quote.text) for quote in done.citations]
    if done.refused:
        return "close" if case.answerable and any(held) else "refused"
    if not case.answerable or not any(held):
        return "wrong"
    return "right first" if held[0] else "right"


def _bare(text: str) -> str:
    return "".join(text.casefold().split())


async def ask(assistant: Assistant, case: FollowUp) -> Done:
    """The answer to the last question of the conversation."""
    done = None
    for text in (*case.earlier, case.question):
        async for event in assistant.turn(Utterance(text=text, conversation=case.id)):
            done = event if isinstance(event, Done) else done
    assert done is not None
    return done


async def main() -> None:
    """Ask all, and print how many came out how."""
    options = argparse.ArgumentParser()
    options.add_argument("--held-out", action="store_true")
    options.add_argument("--wrong", action="store_true", help="print those that are not right")
    chosen = options.parse_args()
    lines = (SAMPLES / "follow-up-questions.jsonl").read_bytes().splitlines()
    cases = [msgspec.json.decode(line, type=FollowUp) for line in lines]
    cases = [case for case in cases if case.held_out == chosen.held_out]
    config = Config(engine=Engine(model=os.devnull, threads=1))
    counts: Counter[tuple[Kind, Outcome]] = Counter()
    async with contextlib.AsyncExitStack() as stack:
        home = stack.enter_context(tempfile.TemporaryDirectory(prefix="hubd-bench-"))
        paths = find_paths({"HUBD_HOME": home})
        create_directories(paths)
        services, _ = await open_rooms(stack, config, paths)
        stack.callback(services.board.close)
        await services.library.ingest([SAMPLES / "household", SAMPLES / "cabinet"])
        await services.described.load(HOME.read_text(encoding="utf-8"))
        for case in cases:
            done = await ask(services.assistant, case)
            outcome = judged(case, done)
            counts[case.kind, outcome] += 1
            if chosen.wrong and outcome != ("refused" if case.kind == "nothing" else "right first"):
                print(f"{case.id} {case.kind}, {outcome}: {' / '.join(case.earlier)}")
                print(f"    {case.question} → {done.answer}")
    for kind in ("leans", "new", "nothing"):
        found = {outcome: n for (of, outcome), n in sorted(counts.items()) if of == kind}
        print(f"{kind}: {', '.join(f'{n} {outcome}' for outcome, n in found.items())}")


if __name__ == "__main__":
    asyncio.run(main())
