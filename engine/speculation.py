"""Guessing tokens ahead, so that one step of the model checks several (Leviathan et al. 2023).

Prompt lookup (Saxena 2023): where the last tokens have been before, in the prompt or in the answer,
what followed then is likely to follow now. Answers that quote their sources gain most. A guess is
only ever kept if it is what the model's own logits give.
"""

from collections.abc import Sequence
from typing import Protocol

LONGEST_MATCH, SHORTEST_MATCH = 3, 2
"""Tokens that have to be the same for what followed them to be a guess."""
MOST_GUESSES = 7
"""A step of 8 rows: one tile of columns of the matrix kernels."""
FEW_GUESSES = 3
"""A step of 4 rows, until guesses were all right: a longer one takes 1.4 times as long. With it the
sample household's answers need 24 % fewer guesses and 3 % more steps than always with the most."""
_LEAST_RIGHT = 0.15
"""Share of guesses that must be right to be worth their time."""
_TRIAL_STEPS = 32
"""Steps without guesses before it is tried again."""


class Drafter(Protocol):
    """Guesses the next tokens of one answer."""

    def guess(self, tokens: Sequence[int], most: int) -> list[int]:
        """Tokens that may follow these, at most ``most``."""

    def learn(self, guessed: int, right: int) -> None:
        """At the end of a step: how many were guessed for it, and how many were right."""

    def release(self) -> None:
        """The answer pauses or has ended."""


class FirstOf:
    """Asks several drafters in turn; the first that guesses learns what came of it."""

    def __init__(self, *drafters: Drafter) -> None:
        """drafters: at least one, the last of which also learns of steps without guesses."""
        self._drafters = drafters
        self._asked = drafters[-1]

    def guess(self, tokens: Sequence[int], most: int) -> list[int]:
        """See ``Drafter``."""
        for drafter in self._drafters:
            self._asked = drafter
            guesses = drafter.guess(tokens, most)
            if guesses:
                return guesses
        return []

    def learn(self, guessed: int, right: int) -> None:
        """See ``Drafter``."""
        self._asked.learn(guessed, right)

    def release(self) -> None:
        """See ``Drafter``."""
        for drafter in self._drafters:
            drafter.release()


class LookupDrafter:
    """Guesses the next tokens of one sequence from what it holds already.

    Guesses few tokens ahead after one was wrong, and most after all were right. Switches itself off
    while guesses are wrong more often than pays, and tries again later.
    """

    def __init__(self) -> None:
        self._indexed = 0
        self._follows: dict[tuple[int, ...], int] = {}  # n-gram → position after its last place
        self._right = 0.5  # running share of guesses that were right
        self._ahead = FEW_GUESSES
        self._resting = 0

    def guess(self, tokens: Sequence[int], most: int) -> list[int]:
        """Tokens that may follow, at most ``most``; none where nothing is known or it rests."""
        if self._resting:
            self._resting -= 1
            return []
        self._index(tokens)
        for size in range(LONGEST_MATCH, SHORTEST_MATCH - 1, -1):
            at = self._follows.get(tuple(tokens[-size:]))
            if at is not None:
                return list(tokens[at : at + min(most, self._ahead)])
        return []

    def learn(self, guessed: int, right: int) -> None:
        """How many of the guesses for a step were right."""
        if not guessed:
            return
        self._ahead = MOST_GUESSES if right == guessed else FEW_GUESSES
        self._right += 0.3 * (right / guessed - self._right)
        if self._right < _LEAST_RIGHT:
            self._resting, self._right = _TRIAL_STEPS, 0.5

    def release(self) -> None:
        """Nothing is held that others could use."""

    def _index(self, tokens: Sequence[int]) -> None:
        """Know the n-grams up to, but not including, the one that ends the tokens."""
        for end in range(self._indexed, len(tokens)):
            for size in range(SHORTEST_MATCH, LONGEST_MATCH + 1):
                if end >= size:
                    self._follows[tuple(tokens[end - size : end])] = end
        self._indexed = len(tokens)
