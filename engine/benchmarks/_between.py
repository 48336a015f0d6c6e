"""What lies between the steps of a scheduler that decodes: sampling, detokenizing, planning.

Threads do nothing then. What the event loop does with a piece (JSON, sending) is not in it: that
runs while the next step is computed, as does tokenizing of new requests.
"""

import statistics
import threading
import time
from itertools import pairwise
from pathlib import Path

import msgspec

from engine.engine import Engine
from engine.errors import EngineError, TokenizerError
from engine.generate import Finished, Piece
from engine.sampling_params import SamplingParams

_PROMPT = "Once upon a time there was a house in which"
_SKIPPED = 8  # pieces of a stream, while others begin


class Between(msgspec.Struct, frozen=True, kw_only=True):
    """Of one step, in the median of a run; seconds."""

    streams: int
    temperature: float
    compute_s: float
    """In the model."""
    between_s: float
    """From the end of a step to the beginning of the next."""

    @property
    def share(self) -> float:
        """Of the time, that lies between steps."""
        return self.between_s / (self.between_s + self.compute_s)

    def __str__(self) -> str:
        kind = "greedy" if self.temperature == 0 else f"temperature {self.temperature}"
        return (
            f"{self.streams} x {kind}: {1e6 * self.between_s:.0f} µs between steps of"
            f" {1e3 * self.compute_s:.2f} ms ({self.share:.1%})"
        )


class _Stream:
    """Notes time and computing of every step, as the pieces of one answer come."""

    def __init__(self, engine: Engine) -> None:
        self._engine, self.done = engine, threading.Event()
        self.moments: list[tuple[float, float]] = []

    def take(self, outcome: Piece | Finished | EngineError) -> None:
        """A sink: on the compute thread."""
        if isinstance(outcome, Piece):
            self.moments.append((time.perf_counter(), self._engine.scheduler.spent().compute_s))
        else:
            self.done.set()


def all_between(
    path: Path, threads: int | None, cache_directory: Path | None, tokens: int
) -> list[Between]:
    """One answer and four, each token the likeliest or drawn; none of files without a tokenizer."""
    try:
        engine = Engine.load(
            path, threads=threads, cache_directory=cache_directory, kv_format="auto"
        )
    except TokenizerError:
        return []
    try:
        kinds = [(streams, temperature) for temperature in (0.0, 0.7) for streams in (1, 4)]
        return [between_steps(engine, *kind, tokens + 2 * _SKIPPED) for kind in kinds]
    finally:
        engine.close()


def between_steps(engine: Engine, streams: int, temperature: float, tokens: int) -> Between:
    """Decode so many answers side by side; of a step in the middle, what was not computing."""
    params = SamplingParams(
        max_tokens=tokens, temperature=temperature, seed=1, ignore_eos=True, guesses=0
    )
    prompt = engine.tokenizer.encode(_PROMPT, add_special=False)
    watched = [_Stream(engine) for _ in range(streams)]
    for one in watched:
        engine.scheduler.submit(engine.prepare(prompt, params), one.take)
    for one in watched:
        one.done.wait()
    moments = watched[-1].moments[_SKIPPED:-_SKIPPED]
    steps = [(end - begin, until - since) for (begin, since), (end, until) in pairwise(moments)]
    return Between(
        streams=streams,
        temperature=temperature,
        compute_s=statistics.median(compute for _, compute in steps),
        between_s=statistics.median(whole - compute for whole, compute in steps),
    )
