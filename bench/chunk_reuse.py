"""What `[engine] reuse_chunks` saves, and how often it changes an answer: the sample household.

    .venv/bin/python -m bench.chunk_reuse [--passages 3] [--threads 2] [--show] [--json]

Asks the answerable questions about the sample household twice: with the hub's own prompts, whose
notes are sentences, and with prompts that quote the best passages whole, best first, as other
programs do. Two engines take turns, one of which uses passages of earlier prompts again where they
stand at another place. Greedy. Times are to the first token, those of the prompts with something to
use again apart. An answer is right if it has at least half of the expected answer's words.
"""

import argparse
import asyncio
import json
import re
import statistics
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from engine.answers import messages_of
from engine.engine import Engine
from engine.generate import Finished, Piece
from engine.protocol import ChatMessage, ChatRequest
from engine.sampling_params import SamplingParams
from engine.scheduler import COUNT_SECONDS
from hubd.assistant.answers import prompt
from hubd.benchmarks._household import Found, found_in
from hubd.benchmarks.cache import SAMPLES
from hubd.config import load_config
from hubd.engine_child import model_path
from hubd.paths import find_paths

PARAMS = SamplingParams(temperature=0.0, max_tokens=64)
SYSTEM = "Answer the question from the passages, briefly."


class Said(NamedTuple):
    """An answer."""

    text: str
    first_token_ms: float
    reused: int
    """Tokens of the prompt that were used again at another place."""
    prompt: int
    """Its tokens."""


def with_passages(found: Found, count: int) -> list[ChatMessage]:
    """A prompt that quotes the best passages, best first."""
    quoted = "\n\n".join(passage.text for passage in found.passages[:count])
    asked = f"{quoted}\n\nQuestion: {found.case.question}"
    return [ChatMessage(role="system", content=SYSTEM), ChatMessage(role="user", content=asked)]


def ask(engine: Engine, messages: Sequence[ChatMessage]) -> Said:
    """Alone, to its end."""
    before = _reused(engine)
    tokens = engine.encode_chat(messages_of(ChatRequest(messages=list(messages))))
    *pieces, finished = engine.generate_fully(tokens, PARAMS)
    assert isinstance(finished, Finished)
    text = "".join(piece.text for piece in pieces if isinstance(piece, Piece))
    time.sleep(1.1 * COUNT_SECONDS if engine.reuses_chunks else 0)  # until it is counted
    first = finished.timings.first_token_ms
    return Said(text.strip(), first, _reused(engine) - before, finished.prompt_tokens)


def _reused(engine: Engine) -> int:
    return engine.scheduler.counts().reused_tokens


def right(text: str, expected: str) -> bool:
    """Whether at least half of the expected words are there."""
    words = set(re.findall(r"\w+", expected.lower()))
    return 2 * len(words & set(re.findall(r"\w+", text.lower()))) >= len(words)


def measure(given: argparse.Namespace, model: Path, found: Sequence[Found], whole: bool) -> Any:
    """The figures of one kind of prompt."""
    options: dict[str, Any] = {"threads": given.threads, "cache_directory": given.cache_directory}
    rows = []
    with (
        Engine.load(model, context_length=4096, kv_format="auto", **options) as plain,
        Engine.load(
            model, context_length=4096, kv_format="auto", reuse_chunks=True, **options
        ) as reusing,
    ):
        for one in found:
            messages = (
                with_passages(one, given.passages)
                if whole
                else prompt.build(one.case.question, one.evidence)
            )
            rows.append((one.case, ask(plain, messages), ask(reusing, messages)))
    if given.show:
        for case, said, again in rows:
            if said.text != again.text:
                print(f"{case.question}\n   {said.text!r}\n   {again.text!r}")
    used = [(said, again) for _, said, again in rows if again.reused]
    median = statistics.median
    return {
        "questions": len(rows),
        "prompt_tokens": sum(said.prompt for _, said, _ in rows),
        "reused_tokens": sum(again.reused for _, _, again in rows),
        "prompts_with_reuse": len(used),
        "first_token_ms": round(median(said.first_token_ms for said, _ in used), 1) if used else 0,
        "first_token_reused_ms": round(median(again.first_token_ms for _, again in used), 1)
        if used
        else 0,
        "answers_changed": sum(said.text != again.text for _, said, again in rows),
        "right": sum(right(said.text, case.answer or "") for case, said, _ in rows),
        "right_reused": sum(right(again.text, case.answer or "") for case, _, again in rows),
    }


def main() -> None:
    """The command line."""
    paths = find_paths()
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--documents", type=Path, default=SAMPLES / "household")
    parser.add_argument("--questions", type=Path, default=SAMPLES / "questions.jsonl")
    parser.add_argument("--passages", type=int, default=3)
    parser.add_argument("--model", type=Path, help="a GGUF file, default the hub's")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--cache-directory", type=Path)
    parser.add_argument("--show", action="store_true", help="the answers that changed")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    model = given.model or model_path(load_config(paths.config_file).engine, paths)
    found = asyncio.run(found_in(given.documents, given.questions))
    figures = {
        "the hub's prompts": measure(given, model, found, whole=False),
        f"{given.passages} passages": measure(given, model, found, whole=True),
    }
    if given.json:
        print(json.dumps(figures))
        return
    for name, values in figures.items():
        print(name)
        print("\n".join(f"  {what:24} {value:g}" for what, value in values.items()))


if __name__ == "__main__":
    main()
