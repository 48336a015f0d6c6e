"""A process that saves and loads blocks until it is killed: ``python prefix_writer.py DIR SEED``.

Prints a line for each round. Ends with an assertion error if a block is not the one that was saved.
"""

import hashlib
import random
import sys
from pathlib import Path

from engine.prefix_store import PrefixStore

BLOCK_TOKENS, BLOCK_BYTES, BUDGET = 4, 40_000, 600_000


def open_store(directory, model="model", budget=BUDGET):
    return PrefixStore(
        Path(directory), model, block_tokens=BLOCK_TOKENS, block_bytes=BLOCK_BYTES, budget=budget
    )


def payload(tokens, number):
    """What block `number` of these tokens holds: it follows from all tokens up to its end."""
    seen = ",".join(map(str, tokens[: (number + 1) * BLOCK_TOKENS]))
    return hashlib.shake_128(seen.encode()).digest(BLOCK_BYTES)


def save(store, tokens, first=0):
    numbers = range(first, len(tokens) // BLOCK_TOKENS)
    store.save(tokens, {number: payload(tokens, number) for number in numbers})


def load(store, tokens, first=0):
    """How many blocks there are from `first` on; each is checked."""
    count = 0
    for number, block in enumerate(store.load(tokens, first), first):
        assert block.tobytes() == payload(tokens, number), f"block {number} of {tokens}"
        count += 1
    return count


def main(directory, seed):
    chosen, store = random.Random(seed), open_store(directory)
    while True:
        tokens = [0, 1, 2, 3, *(chosen.randrange(2) for _ in range(12))]
        save(store, tokens)
        found = load(store, [0, 1, 2, 3, *(chosen.randrange(2) for _ in range(12))])
        store.flush()
        print(found, flush=True)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
