"""How long each step of a turn took, and the event that ends one."""

import time
from collections.abc import Sequence

import msgspec

from engine.client import Answered
from hubd.turn_events import Action, Citation, Done, Timings


class Clock:
    """Milliseconds of each step since the turn began; the first mark of a step counts."""

    def __init__(self) -> None:
        self._began = time.perf_counter()
        self._steps: dict[str, float] = {}
        self._tokens: dict[str, int] = {}

    def mark(self, step: str) -> None:
        self._steps.setdefault(step, self.now_ms())

    def answered(self, answered: Answered) -> None:
        """What the model read and wrote, and how much of it was cached."""
        if usage := answered.usage:
            details = usage.prompt_tokens_details
            self._tokens = {
                "prompt_tokens": usage.prompt_tokens,
                "cached_tokens": details.cached_tokens if details else 0,
                "completion_tokens": usage.completion_tokens,
            }

    def timings(self) -> Timings:
        return msgspec.convert({**self._steps, **self._tokens, "total_ms": self.now_ms()}, Timings)

    def now_ms(self) -> float:
        return round((time.perf_counter() - self._began) * 1000, 1)


def done_with(
    answer: str,
    conversation: str,
    clock: Clock,
    *,
    citations: Sequence[Citation] = (),
    actions: Sequence[Action] = (),
    refused: bool = False,
) -> Done:
    """The end of a turn, with its timings."""
    return Done(
        answer=answer,
        citations=list(citations),
        refused=refused,
        actions=list(actions),
        timings=clock.timings(),
        conversation=conversation,
    )
