"""Answers with tokens guessed ahead and without: how much faster, and whether they are the same.

    hubd bench guesses MODEL.gguf [--prompts FILE] [--draft-model FILE] [--threads 2] [--json]

The prompts are those of a file, a JSON list of messages a line, answered to their own end; or
passages with the instruction to repeat them. Every answer is decoded both ways, one after the
other, so that a noisy neighbour hits both; greedy, and checked to have the same tokens. Speeds are
of all tokens after each answer's first, over all rounds.
"""

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import msgspec

from engine.benchmarks._command import command, tell
from engine.benchmarks._machine import Machine, this_machine
from engine.chat import Message
from engine.engine import Engine
from engine.generate import Finished, Piece
from engine.sampling_params import SamplingParams
from engine.scheduler import COUNT_SECONDS
from engine.speculation import MOST_GUESSES

CONTEXT = 4096
_PASSAGES = (
    "Descaling: fill the tank with one litre of water and 20 ml of citric acid, press both buttons"
    " for five seconds, wait until the light blinks, then rinse twice with fresh water.",
    "The warranty covers parts and labour for 24 months from the date of purchase. It does not"
    " cover the filter, the seals, or damage by limescale. Send the receipt with the device.",
    "Bins: paper is collected on the first Monday of the month, glass on the second Tuesday,"
    " organic waste every Thursday. Put them out before seven in the morning.",
)


class Result(msgspec.Struct, kw_only=True):
    """Everything that is measured."""

    model: str
    draft_model: str | None
    machine: Machine
    threads: int
    prompts: int
    tokens: int
    """Of all answers, once each."""
    plain_tokens_per_s: float
    """Without guesses."""
    guessing_tokens_per_s: float
    speedup: float
    guesses_right: float
    """Share."""
    identical: bool
    """Whether every answer had the same tokens with and without guesses."""


class Answer(msgspec.Struct, frozen=True):
    """One answer: its tokens, and the seconds between the first and the last."""

    tokens: list[int]
    seconds: float


def answer(engine: Engine, prompt: Sequence[int], params: SamplingParams) -> Answer:
    """Alone, to its end."""
    *pieces, finished = engine.generate_fully(prompt, params)
    assert isinstance(finished, Finished)
    tokens = [piece.token for piece in pieces if isinstance(piece, Piece)]
    return Answer(tokens, finished.timings.decode_ms / 1000)


def tokens_per_s(answers: Sequence[Answer]) -> float:
    """Of all answers together, without the time to their first tokens."""
    tokens = sum(len(one.tokens) - 1 for one in answers)
    return tokens / sum(one.seconds for one in answers)


def read_prompts(file: Path | None) -> list[list[Message]]:
    """Those of a file, or passages to be repeated. Raises OSError, ValueError."""
    if file is None:
        asked = "Repeat this text word by word:\n\n"
        return [[Message("user", f"{asked}{passage}")] for passage in _PASSAGES]
    lines = file.read_text(encoding="utf-8").splitlines()
    return [msgspec.json.decode(line, type=list[Message]) for line in lines]


def run(given: argparse.Namespace) -> Result:
    """Measure everything. Raises OSError, ValueError or EngineError."""
    machine = this_machine()
    own_end = given.prompts is not None
    guessing = SamplingParams(
        temperature=0.0, max_tokens=given.tokens, ignore_eos=not own_end, guesses=MOST_GUESSES
    )
    plain = msgspec.structs.replace(guessing, guesses=0)
    with Engine.load(
        given.model,
        threads=given.threads,
        context_length=CONTEXT,
        cache_directory=given.cache_directory,
        kv_format="auto",  # as the daemon loads it
        draft_model=given.draft_model,
    ) as engine:
        prompts = [engine.encode_chat(messages) for messages in read_prompts(given.prompts)]
        without, with_guesses = [], []
        for prompt in prompts * given.rounds:
            without.append(answer(engine, prompt, plain))
            with_guesses.append(answer(engine, prompt, guessing))
        time.sleep(1.1 * COUNT_SECONDS)
        counts = engine.scheduler.counts()
    speed, guessing_speed = tokens_per_s(without), tokens_per_s(with_guesses)
    return Result(
        model=given.model.name,
        draft_model=given.draft_model.name if given.draft_model else None,
        machine=machine,
        threads=given.threads,
        prompts=len(prompts),
        tokens=sum(len(one.tokens) for one in without[: len(prompts)]),
        plain_tokens_per_s=speed,
        guessing_tokens_per_s=guessing_speed,
        speedup=guessing_speed / speed,
        guesses_right=counts.accepted_tokens / max(1, counts.drafted_tokens),
        identical=all(
            one.tokens == other.tokens for one, other in zip(without, with_guesses, strict=True)
        ),
    )


def report(r: Result) -> str:
    """For people."""
    drafts = f" with {r.draft_model}" if r.draft_model else ""
    return "\n".join(
        [
            f"{r.model}{drafts}: {r.threads} threads, {r.tokens} tokens to {r.prompts} prompts",
            str(r.machine),
            "",
            f"without guesses {r.plain_tokens_per_s:6.1f} tokens/s",
            f"with guesses    {r.guessing_tokens_per_s:6.1f} tokens/s: {r.speedup:.2f} times,"
            f" {r.guesses_right:.0%} of the guesses right",
            f"answers are {'the same tokens' if r.identical else 'NOT the same tokens'} either way",
        ]
    )


def main() -> int:
    """The command line; gives the exit code."""
    parser = command("guesses", __doc__)
    parser.add_argument("model", type=Path, help="a GGUF file")
    parser.add_argument("--prompts", type=Path, help="a JSON list of messages a line")
    parser.add_argument("--draft-model", type=Path, help="guesses where nothing can be looked up")
    parser.add_argument("--tokens", type=int, default=64, help="most tokens of an answer")
    parser.add_argument("--rounds", type=int, default=3, help="of measuring")
    given = parser.parse_args()
    if given.tokens < 2 or given.rounds < 1:
        parser.error("--tokens is at least 2, --rounds at least 1")
    return tell(lambda: run(given), report, json=given.json)


if __name__ == "__main__":
    sys.exit(main())
