"""Several answers at once, and answers that quote: how much batching and guessing ahead win.

    hubd bench streams MODEL.gguf [--threads 2] [--tokens 64] [--rounds 3] [--json]

One stream and four take turns, and so do answers with and without tokens guessed ahead, so that a
noisy neighbour hits all of them; figures are medians of rounds, answers greedy and checked to be
the same tokens. The quoting prompts are passages with the instruction to repeat them. Then sixteen
requests come at once, with priorities, to an engine with little memory for keys and values; and
one answer runs while a long prompt arrives: the longest time between two of its tokens.
"""

import argparse
import itertools
import queue
import statistics
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import msgspec

from engine.benchmarks._machine import Machine, this_machine
from engine.chat import Message
from engine.engine import Engine
from engine.errors import EngineError
from engine.generate import Finished, Piece
from engine.protocol import PRIORITIES, Priority
from engine.sampling import SamplingParams
from engine.speculation import MOST_GUESSES

SMALL_KV_BYTES = 256 << 20
COUNTS_AGE_S = 1.1
"""The scheduler's counts are younger."""
_STORY = "The harbour town of {} was known for its lighthouse, its rain and its {}. "
_PASSAGES = (
    "Descaling: fill the tank with one litre of water and 20 ml of citric acid, press both buttons"
    " for five seconds, wait until the light blinks, then rinse twice with fresh water.",
    "The warranty covers parts and labour for 24 months from the date of purchase. It does not"
    " cover the filter, the seals, or damage by limescale. Send the receipt with the device.",
    "Bins: paper is collected on the first Monday of the month, glass on the second Tuesday,"
    " organic waste every Thursday. Put them out before seven in the morning.",
)


class Result(msgspec.Struct, kw_only=True):
    """Everything that is measured. Times in seconds."""

    model: str
    machine: Machine
    threads: int
    stream1_tokens_per_s: float
    stream4_tokens_per_s: float
    """Of all four together, while they decode."""
    streams4_ratio: float
    plain_tokens_per_s: float
    """Of the quoting prompts, without guesses."""
    lookup_tokens_per_s: float
    lookup_ratio: float
    guesses_right: float
    """Share."""
    identical: bool
    """Whether every answer had the same tokens alone, in company, with and without guesses."""
    sixteen_completed: int
    sixteen_in_order: bool
    """Whether each priority ended before the next."""
    sixteen_s: float
    preemptions: int
    longest_gap_s: float
    """Between two tokens of an answer while a long prompt of another arrives."""


def together(
    engine: Engine, prompts: Sequence[Sequence[int]], tokens: int, guesses: int = 0
) -> tuple[list[list[int]], float]:
    """Greedy answers that run side by side, and the tokens/s of all from the moment at which the
    last has begun."""
    outcomes: queue.SimpleQueue[tuple[int, Piece | Finished | EngineError, float]]
    outcomes = queue.SimpleQueue()
    params = SamplingParams(temperature=0.0, max_tokens=tokens, ignore_eos=True, guesses=guesses)
    for index, prompt in enumerate(prompts):

        def sink(outcome: Piece | Finished | EngineError, index: int = index) -> None:
            outcomes.put((index, outcome, time.perf_counter()))

        engine.scheduler.submit(engine.prepare(prompt, params), sink)
    answers: list[list[int]] = [[] for _ in prompts]
    times: list[list[float]] = [[] for _ in prompts]
    running = len(prompts)
    while running:
        index, outcome, now = outcomes.get()
        if isinstance(outcome, EngineError):
            raise outcome
        if isinstance(outcome, Piece):
            answers[index].append(outcome.token)
            times[index].append(now)
        else:
            running -= 1
    begun, ended = max(own[0] for own in times), min(own[-1] for own in times)
    count = sum(begun < moment <= ended for own in times for moment in own)
    return answers, count / (ended - begun)


def sixteen(path: Path, given: argparse.Namespace) -> tuple[int, bool, float, int]:
    """Completed, in order of priority, seconds, preemptions."""
    ended: list[int] = []
    done: queue.SimpleQueue[Finished | EngineError] = queue.SimpleQueue()
    params = SamplingParams(temperature=0.0, max_tokens=given.tokens, ignore_eos=True)
    with load(path, given, kv_bytes=SMALL_KV_BYTES) as engine:
        began = time.perf_counter()
        for number in range(16):
            prompt = engine.tokenizer.encode(_STORY.format(number, "ships") * 60)
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


def longest_gap(engine: Engine) -> float:
    """Seconds between two tokens of an answer while a long prompt is computed beside it."""
    moments: list[float] = []
    params = SamplingParams(temperature=0.0, max_tokens=2000, ignore_eos=True)
    running = engine.scheduler.submit(
        engine.prepare(engine.tokenizer.encode("Rain fell on"), params),
        lambda outcome: moments.append(time.perf_counter()),
    )
    while len(moments) < 20:
        time.sleep(0.01)
    prompt = engine.tokenizer.encode(_STORY.format("Ostrand", "fog") * 90)
    list(engine.generate(prompt, SamplingParams(temperature=0.0, max_tokens=2)))
    running.cancel()
    return max(later - earlier for earlier, later in itertools.pairwise(moments[10:]))


def load(path: Path, given: argparse.Namespace, kv_bytes: int | None = None) -> Engine:
    """The engine, with room for these prompts."""
    return Engine.load(
        path,
        threads=given.threads,
        context_length=4096,
        cache_directory=given.cache_directory,
        kv_bytes=kv_bytes,
    )


def run(given: argparse.Namespace) -> Result:
    """Measure everything. Raises OSError or EngineError."""
    machine = this_machine()
    with load(given.model, given) as engine:
        stories = [
            engine.tokenizer.encode(_STORY.format(town, "cats") * 4)
            for town in ("Ostrand", "Velm", "Karrow", "Dunmere")
        ]
        quotes = [
            engine.encode_chat([Message("user", f"Repeat this text word by word:\n\n{passage}")])
            for passage in _PASSAGES
        ]
        one, four, plain, lookup = [], [], [], []
        identical = True
        for _ in range(given.rounds):
            alone, speed = together(engine, stories[:1], given.tokens)
            one.append(speed)
            all_four, speed = together(engine, stories, given.tokens)
            four.append(speed)
            identical = identical and all_four[0] == alone[0]
            for prompt in quotes:
                expected, speed = together(engine, [prompt], given.tokens)
                plain.append(speed)
                found, speed = together(engine, [prompt], given.tokens, MOST_GUESSES)
                lookup.append(speed)
                identical = identical and expected == found
        time.sleep(COUNTS_AGE_S)
        counts = engine.scheduler.counts()
        gap = longest_gap(engine)
    completed, in_order, seconds, preemptions = sixteen(given.model, given)
    one_s, four_s = statistics.median(one), statistics.median(four)
    plain_s, lookup_s = statistics.harmonic_mean(plain), statistics.harmonic_mean(lookup)
    return Result(
        model=given.model.name,
        machine=machine,
        threads=given.threads or machine.cores,
        stream1_tokens_per_s=one_s,
        stream4_tokens_per_s=four_s,
        streams4_ratio=four_s / one_s,
        plain_tokens_per_s=plain_s,
        lookup_tokens_per_s=lookup_s,
        lookup_ratio=lookup_s / plain_s,
        guesses_right=counts.accepted_tokens / max(1, counts.drafted_tokens),
        identical=identical,
        sixteen_completed=completed,
        sixteen_in_order=in_order,
        sixteen_s=seconds,
        preemptions=preemptions,
        longest_gap_s=gap,
    )


def report(r: Result) -> str:
    """For people."""
    return "\n".join(
        [
            f"{r.model}: {r.threads} threads",
            str(r.machine),
            "",
            f"one stream      {r.stream1_tokens_per_s:6.1f} tokens/s",
            f"four streams    {r.stream4_tokens_per_s:6.1f} tokens/s: {r.streams4_ratio:.2f} times",
            f"quoting         {r.plain_tokens_per_s:6.1f} tokens/s",
            f"  with guesses  {r.lookup_tokens_per_s:6.1f} tokens/s: {r.lookup_ratio:.2f} times,"
            f" {r.guesses_right:.0%} of the guesses right",
            f"answers are {'the same tokens' if r.identical else 'NOT the same tokens'} either way",
            f"sixteen at once in {SMALL_KV_BYTES >> 20} MB: {r.sixteen_completed} completed in"
            f" {r.sixteen_s:.1f} s, {'' if r.sixteen_in_order else 'NOT '}in order of priority,"
            f" {r.preemptions} preemptions",
            f"longest wait for a token beside a long prompt: {1000 * r.longest_gap_s:.0f} ms",
        ]
    )


def main() -> int:
    """The command line; gives the exit code. An error is one line, never a traceback."""
    parser = argparse.ArgumentParser(
        prog="hubd bench streams", description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument("model", type=Path, help="a GGUF file")
    parser.add_argument("--threads", type=int, help="compute threads (default: all cores)")
    parser.add_argument("--tokens", type=int, default=64, help="tokens of an answer")
    parser.add_argument("--rounds", type=int, default=3, help="of measuring")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--cache-directory", type=Path, help="where packed weights are kept")
    given = parser.parse_args()
    if given.tokens < 2 or given.rounds < 1:
        parser.error("--tokens is at least 2, --rounds at least 1")
    try:
        result = run(given)
    except (EngineError, OSError, ValueError) as error:
        print(error, file=sys.stderr)
        return 1
    print(msgspec.json.encode(result).decode() if given.json else report(result))
    return 0


if __name__ == "__main__":
    sys.exit(main())
