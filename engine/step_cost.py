"""How many tokens of a prompt fit into a time, judged by the steps before.

A token takes as long as its matrix products and its attention, which grows with its position: with
SmolLM2-135M the two are equal at about 3 000, so a slice that takes 80 ms at the beginning of a
prompt would take 240 behind 6 000 tokens. Knows nothing of requests.
"""

import math
from collections import deque
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from engine.architectures.config import ModelConfig
    from engine.step_part import Part

FIRST_RATE = 240.0
"""Tokens a second at the beginning of a prompt, until one was measured."""
LEAST_TOKENS = 16
"""A step with fewer says little about one with many."""
STEPS = 3
"""The slowest of so many steps says what the next one may take."""
SLOWNESS_OF_BYTES, SLOWNESS_OF_FLOATS = 1.2, 2.7
"""Of a multiplication in attention, against one in the matrix products; measured with SmolLM2."""


class StepCost:
    """Work is counted in tokens at position 0; the work of a second is learned from every step.

    On two cores that others use as well (load 3), steps of the same work take up to 1.7 times as
    long as the one before.
    """

    def __init__(self, doubled_at: float) -> None:
        """doubled_at: the position at which attention takes as long as everything else."""
        self._doubled_at = doubled_at
        self._work_per_s = deque([FIRST_RATE], maxlen=STEPS)

    def within(self, seconds: float) -> float:
        """The work that a time is enough for."""
        return min(self._work_per_s) * max(seconds, 0.0)

    def work(self, parts: "Sequence[Part]") -> float:
        """Of a step, before it is computed."""
        return sum(
            len(part.tokens)
            * (1 + (part.sequence.length + len(part.tokens) / 2) / self._doubled_at)
            for part in parts
        )

    def tokens(self, work: float, position: int) -> int:
        """How many tokens from a position on are this much work: n with
        n (1 + (position + n/2) / d) = work."""
        d = self._doubled_at
        first = 1 + position / d
        return int(d * (math.sqrt(first * first + 2 * max(work, 0.0) / d) - first))

    def learn(self, work: float, seconds: float) -> None:
        """A step of several tokens took so long."""
        self._work_per_s.append(work / seconds)


def position_of_equal_work(config: "ModelConfig", number_bytes: int) -> float:
    """Where a token's attention takes as long as its matrix products.

    At position p attention has 2 · heads · head_dim · p multiplications in every layer, for scores
    and for sums of values; number_bytes: of keys and values."""
    queries, keys = config.heads * config.head_dim, config.kv_heads * config.head_dim
    projections = 2 * config.dim * (queries + keys)
    feed_forward = 3 * config.dim * config.ffn_dim * max(1, config.experts_used)
    slowness = SLOWNESS_OF_BYTES if number_bytes == 1 else SLOWNESS_OF_FLOATS
    return (projections + feed_forward) / (2 * queries * slowness)
