"""What understanding commands adds to the hub's resident memory, step by step.

    python -m bench.route_memory

The hub's own modules are loaded first. Then come the plugins, the grammars of English, Chinese and
German for a described home of tests/data, and the classifiers of English and Chinese examples. The
examples' vectors are drawn by chance: they take the room of an encoder's, which is not in the hub.
"""

import asyncio
import gc
import os
from collections.abc import Sequence
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as the daemon sets it

import numpy as np
from numpy.typing import NDArray

import hubd.daemon  # noqa: F401 - what the hub has loaded anyway
from hubd.assistant.by_likeness.semantic import Semantics
from hubd.assistant.route import Router
from hubd.home.file import read_description
from hubd.http.health import resident_mb
from hubd.memory import give_back_large_blocks
from hubd.tools import find_plugins, sentence_files
from rag.embed import DIMENSION

HOME = Path(__file__).parents[1] / "tests/data/assistant/home.en.yaml"
SAID = {"en": "turn on the kitchen light", "zh": "打开厨房灯", "de": "mach das Licht an"}


async def drawn(texts: Sequence[str]) -> NDArray[np.float32]:
    """Unit vectors of the encoder's dimension."""
    vectors = np.random.default_rng(0).standard_normal((len(texts), DIMENSION)).astype(np.float32)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    units: NDArray[np.float32] = np.divide(vectors, lengths, dtype=np.float32)
    return units


def show(step: str, began: int) -> None:
    gc.collect()
    now = resident_mb(os.getpid()) or 0
    print(f"{step:32} {now:5} MB  {now - began:+4} MB")


async def measure() -> None:
    began = resident_mb(os.getpid()) or 0
    show("the hub's modules", began)
    plugins = find_plugins()
    tools = [tool for plugin in plugins for tool in plugin.tools.values()]
    files = [path for plugin in plugins for path in sentence_files(plugin)]
    snapshot = read_description(HOME.read_text(encoding="utf-8"))
    router = Router(tools, files, lambda: snapshot)
    show("plugins", began)
    for language, text in SAID.items():
        router.route(text, language=language, area="")
        show(f"grammar, {language}", began)
    semantics = Semantics(drawn, router, tools)
    for language in ("en", "zh"):
        await semantics.prepare(language)
        show(f"likeness to examples, {language}", began)


if __name__ == "__main__":
    give_back_large_blocks()
    asyncio.run(measure())
