"""Train a cross-encoder to read hints, and say how far it is from being of use.

    python -m bench.train_hints OUT.gguf [--epochs 5] [--seed 1] [--bfloat16]
    python -m bench.train_hints OUT.gguf --measure

It learns which of all that a house can do an utterance means, or none: from bench/hints/ and the
English utterances of tests/data/assistant/, without what is measured. A quarter of an hour on two
cores with bfloat16 units. ``--measure`` prints, by style and by the least score that counts, what
the file does with the utterances that nothing was learnt from.
"""

import argparse
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
import yaml

from bench.cross_encoder import Group, Scorer, train
from bench.offers import Offer, offers, spoken_in
from engine.cross_encoder import CrossEncoder
from hubd.home.file import read_description
from rag.embed import model_folder

OWN = Path(__file__).parent / "hints"
UTTERANCES = Path(__file__).parents[1] / "tests/data/assistant"
MEASURED = (OWN / "hints8.en.yaml", UTTERANCES / "strangers17.en.yaml")
MAX_TOKENS = 64
TEXTS = 12
"""Of an utterance: what it means, what else can be done with that thing, with other things in the
same way, and others."""
OF_THE_THING, IN_THE_SAME_WAY = 4, 3
LEAST_SCORES = (-99.0, 0.0, 1.0, 2.0, 3.0, 4.0)


class Utterance(NamedTuple):
    """Something said, and which of the offers it means; none where it only tells something."""

    style: str
    text: str
    offers: list[Offer]
    meant: list[int]


def utterances(file: Path) -> Iterator[Utterance]:
    """Of one household; without those that no offer is right for (a color, a brightness)."""
    data: dict[str, Any] = yaml.safe_load(file.read_text("utf-8"))
    offered = offers(read_description((file.parent / data["home"]).read_text("utf-8")))
    for style, rows in data.items():
        for row in rows if isinstance(rows, list) else []:
            text, tool, ids, *rest = row
            meant = _meant(offered, tool, frozenset(ids.split()), rest[0] if rest else {})
            if meant or tool is None:
                spoken = spoken_in(data.get("area", ""), text)
                yield Utterance(style, spoken, offered, meant)


def _meant(
    offered: list[Offer], tool: str | None, ids: frozenset[str], arguments: dict[str, Any]
) -> list[int]:
    """The offers that do it: with just these things, else each that does a part of it."""
    whole, parts = [], []
    for number, (call, entities, _) in enumerate(offered):
        touched = frozenset(entity.id for entity in entities)
        same_step = call.arguments.get("step") in (None, arguments.get("step"))
        if call.tool == tool and same_step:
            whole += [number] if touched == ids else []
            parts += [number] if touched and touched < ids else []
    return whole or parts


def drawn(said: Utterance) -> Group:
    """The offers of an utterance for this time: one that is meant, and some that are not."""
    others = [number for number in range(len(said.offers)) if number not in said.meant]
    chosen = [random.choice(said.meant)] if said.meant else []
    for number in chosen[:1]:
        call, things, _ = said.offers[number]
        near = [i for i in others if set(map(id, said.offers[i].entities)) & set(map(id, things))]
        alike = [i for i in others if said.offers[i].call.tool == call.tool]
        for some, most in ((near, OF_THE_THING), (alike, IN_THE_SAME_WAY)):
            chosen += random.sample(some, min(most, len(some)))
    rest = [i for i in others if i not in chosen]
    chosen += random.sample(rest, min(TEXTS - len(chosen), len(rest)))
    texts = [said.offers[i].text for i in dict.fromkeys(chosen)]
    return Group(said.text, texts, bool(said.meant))


def learnt() -> list[Utterance]:
    """All that is learnt from."""
    files = [
        *sorted(OWN.glob("hints*.en.yaml")),
        *(file for file in sorted(UTTERANCES.glob("*.en.yaml")) if "home" not in file.name),
    ]
    return [said for file in files if file not in MEASURED for said in utterances(file)]


def measure(adapter: Path) -> None:
    """Print right / wrong from each score on, of what was not learnt from."""
    encoder = CrossEncoder.load_adapted(model_folder(), adapter)
    print(f"| | said | {' | '.join(f'from {least:g}' for least in LEAST_SCORES)} |")
    print("|---" * (len(LEAST_SCORES) + 2) + "|")
    for file in MEASURED:
        found: dict[str, list[tuple[float, bool]]] = {}
        for said in utterances(file):
            scores = encoder.read(said.text, [offer.text for offer in said.offers])
            best = int(np.argmax(scores))
            found.setdefault(said.style, []).append((float(scores[best]), best in said.meant))
        for style, results in found.items():
            cells = []
            for least in LEAST_SCORES:
                right = [one for score, one in results if score >= least]
                cells.append(f"{sum(right)} / {len(right) - sum(right)}")
            print(f"| {file.stem} {style} | {len(results)} | {' | '.join(cells)} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0] if __doc__ else None)
    parser.add_argument("out", type=Path)
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--bfloat16", action="store_true", help="for CPUs that multiply it fast")
    parser.add_argument("--measure", action="store_true", help="train nothing")
    options = parser.parse_args()
    if not options.measure:
        random.seed(options.seed)
        torch.manual_seed(options.seed)
        said = learnt()
        print(f"{len(said)} utterances, {sum(bool(one.meant) for one in said)} mean something")
        scorer = Scorer(MAX_TOKENS, options.bfloat16)
        train(scorer, said, drawn, options.epochs, options.out)
    measure(options.out)


if __name__ == "__main__":
    main()
