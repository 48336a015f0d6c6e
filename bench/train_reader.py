"""Train the reader of rag/evidence.py, and write it as rag/reader.gguf.

    python -m bench.train_reader OUT.gguf [--epochs 4] [--seed 1] [--cache FILE] [--bfloat16]

It learns which sentence of a family's papers answers a question, or that none does:
`bench.reading_pairs`. Half an hour on two cores with bfloat16 units, some hours without.
"""

import argparse
import asyncio
import random
import tempfile
from pathlib import Path

import torch

from bench.cross_encoder import Group, Scorer, train
from bench.reading_pairs import Reading, readings
from bench.retrieval import Encoder

TEXTS = 5
"""Of a question: with its answer, if it has one, and the most tempting ones and one of the rest."""
MAX_TOKENS = 112


def drawn(reading: Reading) -> Group:
    """The texts of a question for this time."""
    texts = [reading.right] if reading.right else []
    tempting = TEXTS - len(texts) - 1
    rest = reading.wrong[tempting:]
    texts += [*reading.wrong[:tempting], *random.sample(rest, min(1, len(rest)))]
    return Group(reading.question, texts, bool(reading.right))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0] if __doc__ else None)
    parser.add_argument("out", type=Path)
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--cache", type=Path, help="SQLite file for embeddings")
    parser.add_argument("--bfloat16", action="store_true", help="for CPUs that multiply it fast")
    options = parser.parse_args()
    random.seed(options.seed)
    torch.manual_seed(options.seed)
    with tempfile.TemporaryDirectory() as name:
        encode = Encoder(options.cache or Path(name) / "embeddings.db", "engine")
        found = asyncio.run(readings(Path(name), encode))
    print(f"{len(found)} readings, {sum(bool(one.right) for one in found)} with an answer")
    train(Scorer(MAX_TOKENS, options.bfloat16), found, drawn, options.epochs, options.out)


if __name__ == "__main__":
    main()
