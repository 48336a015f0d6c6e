"""Tokens guessed ahead by a second, smaller model (Leviathan et al. 2023, Chen et al. 2023).

The draft model says what it would go on with, token by token; the model computes all of that in one
step and keeps what it would have said itself. So a guess changes nothing but the time. Used by the
compute thread alone. Knows nothing of text.
"""

import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Self

from engine.gguf import GGUFFile
from engine.kernels.kv_layout import blocks_for
from engine.kv import BlockPool, ContextFullError, KVSequence, NoFreeBlocksError
from engine.model import Model
from engine.prefix_cache import PrefixCache, common_prefix
from engine.speculation import MOST_GUESSES
from engine.step_part import Part
from engine.tokenizers.vocabulary import read_vocabulary

CATCH_UP_TOKENS = 64
"""Of a prompt, read by the draft model in a step; until it is through nothing is guessed."""
_CONTEXTS = 2
"""Room for so many sequences of full length: with more answers at once nobody guesses."""
_PLAIN_STEPS = 3
"""Without guesses, to know what a token takes then."""
_TRIALS = 4
"""Steps with guesses before they are judged."""
_SHORT_REST, _LONG_REST = 32, 1024
"""Steps without guesses after they did not pay: twice as many each time."""
_WEIGHT = 0.3
"""Of the newest time in a running mean."""


class DraftModel:
    """A loaded draft model, and what it has read."""

    def __init__(self, model: Model) -> None:
        """Use `DraftModel.load`."""
        self.model = model
        blocks = _CONTEXTS * blocks_for(model.config.context_length)
        self.cache = PrefixCache(BlockPool(model.kv_layout, blocks))
        self.resting = 0
        """Steps, of whichever answer, that nothing is guessed for: it did not pay."""
        self.next_rest = _SHORT_REST

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        target: Model,
        cache_directory: Path | None,
    ) -> Self:
        """Load a GGUF file that drafts for `target`, with as many threads and as long a context.

        Raises OSError, ModelFormatError, and ValueError for a file with other tokens.
        """
        check_same_tokens(path, target.gguf)
        context = target.config.context_length
        model = Model.load(
            path,
            threads=target.threads,
            context_length=context,
            cache_directory=cache_directory,
            kv_format="auto",
        )
        return cls(model)

    def drafter(self) -> "ModelDrafter":
        """One that guesses for one answer."""
        return ModelDrafter(self)

    def close(self) -> None:
        """Free the model."""
        self.model.close()


def check_same_tokens(path: str | os.PathLike[str], target: GGUFFile) -> None:
    """ValueError unless both files have the same tokens in the same order."""
    draft = GGUFFile(path)
    try:
        name = draft.path.name
        theirs, ours = (read_vocabulary(file.metadata).tokens for file in (draft, target))
    finally:
        draft.close()
    if theirs == ours:
        return
    pairs = enumerate(zip(theirs, ours, strict=False))
    same = next((i for i, (a, b) in pairs if a != b), min(len(theirs), len(ours)))
    raise ValueError(
        f"draft_model {name} has {len(theirs)} tokens and {target.path.name} {len(ours)}, which"
        f" differ from token {same} on: a draft model needs the same vocabulary"
    )


class ModelDrafter:
    """Guesses the next tokens of one answer with a draft model.

    Guesses one more token ahead after all were right and one fewer after one was wrong, and rests
    while a token takes longer with guesses than without. The next answer goes on with the rest:
    where each tried for itself, answers of 80 tokens took 5 to 11 % longer with a useless draft.
    """

    def __init__(self, draft: DraftModel, clock: Callable[[], float] = time.perf_counter) -> None:
        self._draft, self._clock = draft, clock
        self._sequence: KVSequence | None = None
        self._held: list[int] = []  # tokens of the sequence
        self._known = 0  # how many of them are no guesses
        self._ahead = 3
        self._plain_steps = _PLAIN_STEPS  # that are left
        self._trials = 0
        self._plain_s = self._drafted_s = 0.0  # a token takes so long, 0: not known
        self._began: float | None = None

    def guess(self, tokens: Sequence[int], most: int) -> list[int]:
        """Tokens that may follow, at most `most`; none while it rests or has yet to read."""
        self._began = self._clock()
        if self._plain_steps or self._draft.resting or most < 1:
            self._plain_steps = max(0, self._plain_steps - 1)
            self._draft.resting = max(0, self._draft.resting - 1)
            return []
        try:
            return self._continue(tokens, min(most, self._ahead))
        except (ContextFullError, NoFreeBlocksError):
            self._plain_steps, self._began = _SHORT_REST, None
            self.release()
            return []

    def learn(self, guessed: int, right: int) -> None:
        """How many of the guesses for a step were right, at its end."""
        if self._began is None:
            return
        seconds = (self._clock() - self._began) / (right + 1)
        self._began = None
        if not guessed:
            self._plain_s = _mean(self._plain_s, seconds)
            return
        self._ahead = min(self._ahead + 1, MOST_GUESSES) if right == guessed else self._ahead - 1
        self._ahead = max(1, self._ahead)
        self._drafted_s = _mean(self._drafted_s, seconds)
        self._trials += 1
        if self._trials < _TRIALS or not self._plain_s:
            return
        if self._drafted_s > self._plain_s:
            self._rest()
        else:
            self._draft.next_rest = _SHORT_REST

    def release(self) -> None:
        """Give the blocks back; what was read stays known as long as there is room."""
        if self._sequence is not None:
            self._draft.cache.publish(self._held[: self._known], self._sequence)
            self._sequence.release()
        self._sequence, self._held, self._known = None, [], 0

    def _rest(self) -> None:
        draft = self._draft
        draft.resting, draft.next_rest = draft.next_rest, min(2 * draft.next_rest, _LONG_REST)
        self._trials, self._drafted_s, self._plain_s = 0, 0.0, 0.0
        self._began = None
        self.release()

    def _continue(self, tokens: Sequence[int], most: int) -> list[int]:
        """What the draft model goes on with; nothing while there is more to read than in a step.

        Raises ContextFullError, NoFreeBlocksError.
        """
        sequence = self._caught_up(tokens)
        missing = tokens[sequence.length :]
        if len(missing) > CATCH_UP_TOKENS:
            self._read(missing[:CATCH_UP_TOKENS], 0)
            self._known = len(self._held)
            self._began = None  # no measure of a plain step
            return []
        guesses = [self._read(missing, 1)]
        self._known = len(self._held)
        while len(guesses) < most:
            guesses.append(self._read(guesses[-1:], 1))
        return guesses

    def _caught_up(self, tokens: Sequence[int]) -> KVSequence:
        """The sequence, without guesses that were wrong; one token is left to read at least."""
        if self._sequence is None:
            capacity = self._draft.model.config.context_length
            self._sequence = self._draft.cache.begin(tokens, capacity)
            self._known = self._sequence.length
            self._held = list(tokens[: self._known])
            return self._sequence
        right = common_prefix(self._held[self._known :], tokens[self._known :])
        self._known = min(self._known + right, len(tokens) - 1)
        self._sequence.truncate(self._known)
        del self._held[self._known :]
        return self._sequence

    def _read(self, tokens: Sequence[int], outputs: int) -> int:
        """Append tokens to the sequence; the most likely next one if an output is wanted."""
        assert self._sequence is not None, "nothing is read without a sequence"
        self._draft.cache.make_room(self._sequence.blocks_wanted(len(tokens)))
        part = Part(tokens, self._sequence, outputs)
        logits = self._draft.model.step([part])
        self._held += tokens
        return int(logits[-1].argmax()) if outputs else 0


def _mean(before: float, now: float) -> float:
    """A running mean; 0 is none yet."""
    return before + _WEIGHT * (now - before) if before else now
