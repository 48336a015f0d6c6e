"""Measure how well and how fast utterances are understood.

    python -m bench.routing [--eval FOLDER] [--every N] [--show] [--likeness]

Prints, for Home Assistant's corpus (``FOLDER`` with intents_*.jsonl and fixtures_*.json), the share
with the right intent and with every slot right, and for the paraphrases of tests/data/assistant the
outcomes by style, with ``--likeness`` of the step after the rules too. ``--show`` lists what was
not right; ``--every N`` takes each Nth sentence.
"""

import argparse
import asyncio
import json
import resource
import statistics
import time
from collections.abc import Sequence
from pathlib import Path
from typing import get_args

import msgspec
import numpy as np
import yaml
from numpy.typing import NDArray

from engine.embed import TextEncoder
from hubd.assistant.by_likeness.semantic import Semantics
from hubd.assistant.decision import Decision
from hubd.assistant.evaluate import (
    Outcome,
    corpus_home,
    corpus_verdict,
    counted,
    judged,
    samples,
)
from hubd.assistant.route import Router
from hubd.home.file import read_description
from hubd.home.model import Snapshot
from hubd.tools import find_plugins, sentence_files
from rag.embed import model_folder

DATA = Path(__file__).parents[1] / "tests/data/assistant"
SETS = ("paraphrases.*.yaml", "strangers*.yaml", "fresh*.yaml")
LANGUAGES = ("en", "de", "zh-CN")


class Household:
    """A router whose household can be exchanged."""

    def __init__(self) -> None:
        plugins = find_plugins()
        self.snapshot = Snapshot()
        tools = [tool for plugin in plugins for tool in plugin.tools.values()]
        files = [path for plugin in plugins for path in sentence_files(plugin)]
        self.router = Router(tools, files, lambda: self.snapshot)
        self.semantics: Semantics | None = None
        self._tools, self._runner = tools, asyncio.Runner()

    def compare_with_examples(self) -> None:
        """Have what the rules leave decided by likeness, with the encoder in this process."""
        encoder = TextEncoder.load(model_folder())

        async def embed(texts: Sequence[str]) -> NDArray[np.float32]:
            return encoder.embed(list(texts))

        self.semantics = Semantics(embed, self.router, self._tools)
        self._runner.run(self.semantics.prepare())

    def decide(self, text: str, language: str, area: str) -> Decision:
        """As an utterance is decided on before the model is asked."""
        decision = self.router.route(text, language=language, area=area)
        if decision.tool is None and self.semantics is not None:
            found = self._runner.run(self.semantics.decide(text, decision.language, area))
            return found or decision
        return decision

    def live_in(self, snapshot: Snapshot) -> None:
        """Move to another household."""
        version = self.snapshot.version + 1
        self.snapshot = msgspec.structs.replace(snapshot, version=version)


def measure_corpus(house: Household, folder: Path, language: str, every: int, show: bool) -> None:
    """One line: share of intents, share exact, milliseconds."""
    fixtures = json.loads((folder / f"fixtures_{language}.json").read_bytes())
    rows = [json.loads(line) for line in (folder / f"intents_{language}.jsonl").open()][::every]
    times, intent, exact = [], 0, 0
    for name in sorted(fixtures):
        house.live_in(corpus_home(fixtures[name]))
        for row in (row for row in rows if row["fixture"] == name):
            began = time.perf_counter()
            decision = house.router.route(row["sentence"], language=language, area=area_of(row))
            times.append(time.perf_counter() - began)
            verdict = corpus_verdict(row, decision)
            intent += verdict.intent
            exact += verdict.exact
            if show and not verdict.exact:
                print("  ", row["sentence"], "|", row["intent"], row["slots"], "→", decision.tool,
                      decision.arguments, decision.reason)  # fmt: skip
    print(f"corpus {language:5} {len(rows):5} sentences: intent {intent / len(rows):.4f}, "
          f"exact {exact / len(rows):.4f}; {shown(times)}")  # fmt: skip


def area_of(row: dict) -> str:  # type: ignore[type-arg]
    """The area of the asking device, where the sentence needs one that the fixture has."""
    area = row["context"].get("area", "")
    return "" if area == "__context_area__" else area


def measure_paraphrases(house: Household, path: Path, show: bool) -> None:
    """A table of outcomes by style."""
    data = yaml.safe_load(path.read_text(encoding="utf-8"))
    house.live_in(read_description((path.parent / data["home"]).read_text(encoding="utf-8")))
    outcomes: dict[str, list] = {}  # type: ignore[type-arg]
    times = []
    for sample in samples(data):
        began = time.perf_counter()
        decision = house.decide(sample.text, data["language"], data["area"])
        times.append(time.perf_counter() - began)
        outcome = judged(sample, decision)
        outcomes.setdefault(sample.style, []).append(outcome)
        if show and outcome != "right":
            print("  ", outcome, sample.text, "|", sample.tool, *sample.entities, "→",
                  decision.tool, *decision.entities, decision.arguments)  # fmt: skip
    print(f"\n{path.name}: {shown(times)}")
    print(f"| style | sentences | {' | '.join(get_args(Outcome))} |")
    print("|---" * (2 + len(get_args(Outcome))) + "|")
    everything = [outcome for style in outcomes.values() for outcome in style]
    for style, found in [*outcomes.items(), ("all", everything)]:
        counts = counted(found)
        print(f"| {style} | {len(found)} | " + " | ".join(map(str, counts.values())) + " |")


def shown(times: list[float]) -> str:
    """Median and 95th percentile in milliseconds."""
    ordered = sorted(times)
    return (f"median {statistics.median(ordered) * 1e3:.1f} ms, "
            f"p95 {ordered[int(len(ordered) * 0.95)] * 1e3:.1f} ms")  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--eval", type=Path)
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--show", action="store_true")
    parser.add_argument("--likeness", action="store_true")
    arguments = parser.parse_args()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    house = Household()
    if arguments.likeness:
        house.compare_with_examples()
    for path in sorted(path for pattern in SETS for path in DATA.glob(pattern)):
        measure_paraphrases(house, path, arguments.show)
    if arguments.eval:
        for language in LANGUAGES:
            measure_corpus(house, arguments.eval, language, arguments.every, arguments.show)
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(f"memory added: {(after - before) / 1024:.0f} MB")


if __name__ == "__main__":
    main()
