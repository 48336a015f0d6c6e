"""Several answers at once: how much batching wins, who waits, and how long.

    hubd bench streams MODEL.gguf [--threads 2] [--tokens 64] [--rounds 3] [--json]

One stream and four take turns, so that a noisy neighbour hits both; figures are medians of rounds,
answers greedy and checked to be the same tokens. Then sixteen requests come at once, with
priorities, to an engine with little memory for keys and values; and one answer runs while prompts
of 4 000 tokens arrive, one after the other: the longest time between two of its tokens.
"""

import argparse
import itertools
import os
import queue
import random
import statistics
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import msgspec

from engine.batch import Spent
from engine.benchmarks._command import command, tell
from engine.benchmarks._machine import Machine, this_machine
from engine.engine import Engine
from engine.errors import EngineError
from engine.generate import Finished, Piece
from engine.protocol import PRIORITIES, Priority
from engine.sampling_params import SamplingParams

SMALL_KV_BYTES = 256 << 20
DISK_BYTES = 1 << 30
"""Of the cache directory, if there is one, for prompts: the daemon's default."""
COUNTS_AGE_S = 1.1
"""The scheduler's counts are younger."""
_STORY = "The harbour town of {} was known for its lighthouse, its rain and its {}. "
LONG_PROMPT_TOKENS, LONG_PROMPTS = 4000, 5


class Gap(msgspec.Struct, frozen=True):
    """The time between two tokens of an answer, and what it went to. In seconds."""

    seconds: float
    compute_s: float
    """In the model's steps."""
    tokens: int
    """Computed in the last of them, with those of others."""
    restore_s: float
    """Bringing others' blocks back from disk."""
    copy_s: float
    """Copying others' blocks for the disk."""
    stolen_s: float
    """That the host of this machine took from its cores, all together: a pause of 100 ms that is
    nobody's here."""


class Result(msgspec.Struct, kw_only=True):
    """Everything that is measured. Times in seconds."""

    model: str
    machine: Machine
    threads: int
    stream1_tokens_per_s: float
    stream4_tokens_per_s: float
    """Of all four together, while they decode."""
    streams4_ratio: float
    stream1_in_model: float
    """Share of that time that the model's steps took; the rest is Python between them."""
    stream4_in_model: float
    identical: bool
    """Whether the first answer had the same tokens alone and in company."""
    sixteen_completed: int
    sixteen_in_order: bool
    """Whether each priority ended before the next."""
    sixteen_s: float
    preemptions: int
    gap_tokens: int
    """Those of an answer while long prompts of others arrive, and the times between two of them."""
    median_gap_s: float
    longest_gap_s: float
    longest_gap: Gap
    """What the longest one went to."""


def together(
    engine: Engine, prompts: Sequence[Sequence[int]], tokens: int
) -> tuple[list[list[int]], float, float]:
    """Greedy answers that run side by side, the tokens/s of all from the moment at which the last
    has begun, and the share of that time spent in the model."""
    outcomes: queue.SimpleQueue[tuple[int, Piece | Finished | EngineError, float, float]]
    outcomes = queue.SimpleQueue()
    params = SamplingParams(temperature=0.0, max_tokens=tokens, ignore_eos=True, guesses=0)
    for index, prompt in enumerate(prompts):

        def sink(outcome: Piece | Finished | EngineError, index: int = index) -> None:
            spent = engine.scheduler.spent().compute_s
            outcomes.put((index, outcome, time.perf_counter(), spent))

        engine.scheduler.submit(engine.prepare(prompt, params), sink)
    answers: list[list[int]] = [[] for _ in prompts]
    times: list[list[float]] = [[] for _ in prompts]
    in_model: dict[float, float] = {}
    running = len(prompts)
    while running:
        index, outcome, now, in_model[now] = outcomes.get()
        if isinstance(outcome, EngineError):
            raise outcome
        if isinstance(outcome, Piece):
            answers[index].append(outcome.token)
            times[index].append(now)
        else:
            running -= 1
    begun, ended = max(own[0] for own in times), min(own[-1] for own in times)
    count = sum(begun < moment <= ended for own in times for moment in own)
    share = (in_model[ended] - in_model[begun]) / (ended - begun)
    return answers, count / (ended - begun), share


def sixteen(path: Path, given: argparse.Namespace) -> tuple[int, bool, float, int]:
    """Completed, in order of priority, seconds, preemptions."""
    ended: list[int] = []
    done: queue.SimpleQueue[Finished | EngineError] = queue.SimpleQueue()
    params = SamplingParams(temperature=0.0, max_tokens=given.tokens, ignore_eos=True)
    with load(path, given, kv_bytes=SMALL_KV_BYTES) as engine:
        began = time.perf_counter()
        for number in range(16):
            prompt = engine.tokenizer.encode(_STORY.format(number, "ships") * 120)
            rank = number * 7 % 3
            priority: Priority = PRIORITIES[rank]

            def sink(outcome: Piece | Finished | EngineError, rank: int = rank) -> None:
                if not isinstance(outcome, Piece):
                    ended.append(rank)
                    done.put(outcome)

            engine.scheduler.submit(engine.prepare(prompt, params), sink, priority=priority)
        outcomes = [done.get() for _ in range(16)]
        seconds = time.perf_counter() - began
        time.sleep(COUNTS_AGE_S)
        counted = engine.scheduler.counts().preemptions
    completed = sum(isinstance(outcome, Finished) for outcome in outcomes)
    return completed, ended == sorted(ended), seconds, counted


def stolen_seconds() -> float:
    """What the host has taken from this machine's cores so far (proc(5)); 0 where nobody tells."""
    try:
        fields = Path("/proc/stat").read_text().split("\n", 1)[0].split()
    except OSError:
        return 0.0
    return int(fields[8]) / os.sysconf("SC_CLK_TCK") if len(fields) > 8 else 0.0


def gaps_beside_long_prompts(engine: Engine) -> list[Gap]:
    """Those between two tokens of an answer while long prompts are computed beside it."""
    moments: list[tuple[float, Spent, float]] = []
    params = SamplingParams(temperature=0.0, max_tokens=4000, ignore_eos=True, guesses=0)
    running = engine.scheduler.submit(
        engine.prepare(engine.tokenizer.encode("Rain fell on"), params),
        lambda outcome: moments.append(
            (time.perf_counter(), engine.scheduler.spent(), stolen_seconds())
        ),
    )
    while len(moments) < 20:
        time.sleep(0.01)
    first = len(moments)
    chosen, vocabulary = random.SystemRandom(), engine.tokenizer.vocabulary_size
    for _ in range(LONG_PROMPTS):  # of which nothing is on disk yet
        prompt = [chosen.randrange(vocabulary) for _ in range(LONG_PROMPT_TOKENS)]
        list(engine.generate(prompt, SamplingParams(temperature=0.0, max_tokens=2)))
    seen = moments[first:]
    running.cancel()
    return [
        Gap(
            now - then,
            after.compute_s - before.compute_s,
            after.tokens,
            after.restore_s - before.restore_s,
            after.copy_s - before.copy_s,
            taken - had_taken,
        )
        for (then, before, had_taken), (now, after, taken) in itertools.pairwise(seen)
    ]


def load(
    path: Path, given: argparse.Namespace, kv_bytes: int | None = None, disk_bytes: int = 0
) -> Engine:
    """The engine, with room for these prompts."""
    return Engine.load(
        path,
        threads=given.threads,
        context_length=8192,
        cache_directory=given.cache_directory,
        kv_bytes=kv_bytes,
        prefix_disk_bytes=disk_bytes,
        kv_format="auto",  # as the daemon loads it
    )


def run(given: argparse.Namespace) -> Result:
    """Measure everything. Raises OSError or EngineError."""
    machine = this_machine()
    with load(given.model, given, disk_bytes=DISK_BYTES) as engine:
        stories = [
            engine.tokenizer.encode(_STORY.format(town, "cats") * 4)
            for town in ("Ostrand", "Velm", "Karrow", "Dunmere")
        ]
        one, four, one_in, four_in = [], [], [], []
        identical = True
        for _ in range(given.rounds):
            alone, speed, share = together(engine, stories[:1], given.tokens)
            one.append(speed)
            one_in.append(share)
            all_four, speed, share = together(engine, stories, given.tokens)
            four.append(speed)
            four_in.append(share)
            identical = identical and all_four[0] == alone[0]
        gaps = gaps_beside_long_prompts(engine)
    completed, in_order, seconds, preemptions = sixteen(given.model, given)
    longest = max(gaps, key=lambda gap: gap.seconds)
    one_s, four_s = statistics.median(one), statistics.median(four)
    return Result(
        model=given.model.name,
        machine=machine,
        threads=given.threads,
        stream1_tokens_per_s=one_s,
        stream4_tokens_per_s=four_s,
        streams4_ratio=four_s / one_s,
        stream1_in_model=statistics.median(one_in),
        stream4_in_model=statistics.median(four_in),
        identical=identical,
        sixteen_completed=completed,
        sixteen_in_order=in_order,
        sixteen_s=seconds,
        preemptions=preemptions,
        gap_tokens=len(gaps),
        median_gap_s=statistics.median(gap.seconds for gap in gaps),
        longest_gap_s=longest.seconds,
        longest_gap=longest,
    )


def report(r: Result) -> str:
    """For people."""
    return "\n".join(
        [
            f"{r.model}: {r.threads} threads",
            str(r.machine),
            "",
            f"one stream      {r.stream1_tokens_per_s:6.1f} tokens/s,"
            f" {r.stream1_in_model:.0%} of the time in the model",
            f"four streams    {r.stream4_tokens_per_s:6.1f} tokens/s: {r.streams4_ratio:.2f} times,"
            f" {r.stream4_in_model:.0%} of the time in the model",
            f"answers are {'the same tokens' if r.identical else 'NOT the same tokens'} either way",
            f"sixteen at once in {SMALL_KV_BYTES >> 20} MB: {r.sixteen_completed} completed in"
            f" {r.sixteen_s:.1f} s, {'' if r.sixteen_in_order else 'NOT '}in order of priority,"
            f" {r.preemptions} preemptions",
            f"between two of {r.gap_tokens} tokens beside prompts of {LONG_PROMPT_TOKENS}: at most"
            f" {1000 * r.longest_gap_s:.0f} ms, {1000 * r.median_gap_s:.0f} in the median",
            f"the longest: {1000 * r.longest_gap.compute_s:.0f} ms in the model, with"
            f" {r.longest_gap.tokens} tokens in the last step,"
            f" {1000 * r.longest_gap.restore_s:.0f} for blocks from disk and"
            f" {1000 * r.longest_gap.copy_s:.0f} for blocks that go there;"
            f" {1000 * r.longest_gap.stolen_s:.0f} were taken by the machine's host",
        ]
    )


def main() -> int:
    """The command line; gives the exit code."""
    parser = command("streams", __doc__)
    parser.add_argument("model", type=Path, help="a GGUF file")
    parser.add_argument("--tokens", type=int, default=64, help="tokens of an answer")
    parser.add_argument("--rounds", type=int, default=3, help="of measuring")
    given = parser.parse_args()
    if given.tokens < 2 or given.rounds < 1:
        parser.error("--tokens is at least 2, --rounds at least 1")
    return tell(lambda: run(given), report, json=given.json)


if __name__ == "__main__":
    sys.exit(main())
