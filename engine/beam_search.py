"""Beam search and beam sampling: several beginnings of an answer are continued side by side, and
the best whole one is given at the end.

The rules are those of ``generate(num_beams=…)`` of the transformers library, so that the same model
gives the same tokens: which candidates count, the length penalty, and when to stop. Beams share the
blocks of the prompt, and of what they have in common. Knows nothing of threads or queues.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from engine.distribution import Logits, candidates
from engine.generate import Account, Finished, Piece, StopStrings, check_prompt
from engine.protocol import FinishReason
from engine.sampling_params import SamplingParams
from engine.step_part import Part
from engine.tokenizer import Detokenizer, Tokenizer

if TYPE_CHECKING:
    from engine.kv import KVSequence

Floats = npt.NDArray[np.float32]


class _Finished(NamedTuple):
    score: float
    tokens: list[int]


class BeamSearch:
    """One request whose answer is searched for. ``temperature`` 0 takes the most likely candidates,
    above 0 they are drawn."""

    def __init__(
        self,
        prompt: Sequence[int],
        params: SamplingParams,
        tokenizer: Tokenizer,
        context_length: int,
    ) -> None:
        """Raises InvalidRequestError (ContextLengthError) for a prompt that cannot be computed."""
        check_prompt(prompt, tokenizer.vocabulary_size, context_length)
        self.tokens = list(prompt)
        self._params = params
        self._tokenizer = tokenizer
        self._end = frozenset[int]() if params.ignore_eos else tokenizer.end_of_generation
        room = context_length - len(prompt)
        self._limit = min(room, params.max_tokens or room)
        self._random = np.random.default_rng(
            None if params.seed is None else params.seed & (2**64 - 1)
        )
        self._beams: list[list[int]] = [[]]
        self._scores = np.zeros(1, np.float32)
        self._sequences: list[KVSequence] = []
        self._finished: list[_Finished] = []
        self._account = Account(len(prompt))
        self._answer: list[int] = []
        self._unshown: list[Piece] = []
        self.finish_reason: FinishReason | None = None
        self.drafted = self.accepted = 0

    @property
    def sequences(self) -> "Sequence[KVSequence]":
        """One a beam, in the order of the beams."""
        return self._sequences

    @property
    def pending(self) -> int:
        """Tokens that a beam lacks at most."""
        if not self._sequences:
            return len(self.tokens)
        lacking = [len(whole) - seq.length for whole, seq in self._wanted()]
        return max(lacking) + (len(self._sequences) < len(self._beams))

    def start(self, sequence: "KVSequence") -> None:
        """See ``generate.Request``."""
        self._sequences = [sequence]
        self._account.start(sequence.length)

    def pause(self) -> None:
        """See ``generate.Request``."""
        for sequence in self._sequences:
            sequence.release()
        self._sequences = []

    def parts(self, budget: int, *, draft: bool) -> "list[Part]":
        """The prompt, then what the beams lack, then the last token of each."""
        if len(self._sequences) < len(self._beams):  # it was paused: all go on from the prompt
            prompt = self._sequences[0]
            if prompt.length >= len(self.tokens):
                more = len(self._beams) - 1
                self._sequences += [prompt.fork(len(self.tokens)) for _ in range(more)]
        wanted = self._wanted()
        if self.pending == 1:
            return [Part(whole[-1:], seq, 1) for whole, seq in wanted]
        parts = []
        for whole, sequence in wanted:
            last = len(whole) - (len(self._sequences) == len(self._beams))
            piece = whole[sequence.length : min(last, sequence.length + budget)]
            budget -= len(piece)
            if piece:
                parts.append(Part(piece, sequence, 0))
        return parts

    def choose(self, logits: Logits) -> bool:
        """Continue the beams; there is something to show once the best answer is certain."""
        if not len(logits):
            return False
        self._account.first_token()
        scores, parents, tokens = self._candidates(logits)
        length = len(self._beams[0]) + 1
        ends = np.array([token in self._end for token in tokens]) | (length >= self._limit)
        width = self._params.beam_width
        self._keep_finished(scores, parents, tokens, ends, length)
        running = np.flatnonzero(~ends)
        running = running[np.argsort(-scores[running], kind="stable")][:width]
        over = len(self._finished) == width and self._params.early_stopping is True
        if not running.size or over or not self._can_improve(scores[running[0]], length):
            self._end_with_best()
            return True
        self._continue(parents[running].tolist(), tokens[running].tolist())
        self._scores = scores[running]
        return False

    def pieces(self) -> list[Piece]:
        """See ``generate.Request``: the best answer, at its end."""
        pieces, self._unshown = self._unshown, []
        return pieces

    def finished(self, reason: FinishReason) -> Finished:
        """The account of this request, as of now."""
        return self._account.finished(reason, len(self._answer))

    def _wanted(self) -> "list[tuple[list[int], KVSequence]]":
        """What each sequence has to hold."""
        if len(self._sequences) < len(self._beams):
            return [(self.tokens, self._sequences[0])]
        beams = zip(self._beams, self._sequences, strict=True)
        return [([*self.tokens, *beam], sequence) for beam, sequence in beams]

    def _candidates(
        self, logits: Logits
    ) -> tuple[Floats, npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Sums of log-probabilities, beams and tokens of the best continuations of all beams, or of
        those drawn without replacement, in the order in which they count."""
        count = max(2, 1 + len(self._end)) * self._params.beam_width
        if self._params.temperature == 0.0:
            log_p = _log_softmax(logits)
        else:
            log_p = np.full(logits.shape, -np.inf, np.float32)
            for beam, row in enumerate(logits):
                kept, p = candidates(row, self._params)
                with np.errstate(divide="ignore"):  # a probability that rounds to 0
                    log_p[beam, kept] = np.log(p)
        sums = (log_p + self._scores[:, None]).ravel()
        keys = sums
        if self._params.temperature > 0.0:
            # The largest of log p + Gumbel noise are a draw without replacement (Vieira 2014).
            keys = sums + self._random.gumbel(size=sums.size).astype(np.float32)
        count = min(count, int(np.isfinite(keys).sum()))
        best = np.argpartition(-keys, count - 1)[:count]
        best = best[np.argsort(-keys[best], kind="stable")]
        beams, tokens = np.divmod(best, logits.shape[1])
        return sums[best], beams, tokens

    def _keep_finished(
        self,
        scores: Floats,
        parents: npt.NDArray[np.int64],
        tokens: npt.NDArray[np.int64],
        ends: npt.NDArray[np.bool_],
        length: int,
    ) -> None:
        """Of the answers that end here and are among the first, keep the best with those before."""
        width = self._params.beam_width
        for index in np.flatnonzero(ends[:width]):
            score: float = float(scores[index]) / length**self._params.length_penalty
            answer = [*self._beams[parents[index]], int(tokens[index])]
            self._finished.append(_Finished(score, answer))
        self._finished.sort(key=lambda answer: -answer.score)
        del self._finished[width:]

    def _can_improve(self, best: float, length: int) -> bool:
        """Whether the best running beam may still beat the worst of the finished answers."""
        if len(self._finished) < self._params.beam_width:
            return True
        if self._params.early_stopping == "never" and self._params.length_penalty > 0.0:
            length = self._limit
        possible: float = float(best) / length**self._params.length_penalty
        return possible > self._finished[-1].score

    def _continue(self, parents: list[int], tokens: list[int]) -> None:
        """Beams become those of their parents with one more token."""
        sequences: list[KVSequence] = []
        for index, parent in enumerate(parents):
            own = self._sequences[parent]
            sequences.append(own.fork() if parent in parents[:index] else own)
        for parent, sequence in enumerate(self._sequences):
            if parent not in parents:
                sequence.release()
        self._sequences = sequences
        self._beams = [
            [*self._beams[parent], token] for parent, token in zip(parents, tokens, strict=True)
        ]

    def _end_with_best(self) -> None:
        detokenizer, stops = Detokenizer(self._tokenizer), StopStrings(self._params.stop)
        best = self._finished[0].tokens
        self.finish_reason = "stop" if best[-1] in self._end else "length"
        pieces: list[Piece] = []
        for token in best:
            text, stopped = "", False
            if token not in self._end:
                text, stopped = stops.push(detokenizer.push(token))
            pieces.append(Piece(token, text))
            if stopped:
                self.finish_reason = "stop"
                break
        else:
            pieces[-1] = Piece(best[-1], pieces[-1].text + stops.flush())
        self._answer = [piece.token for piece in pieces]
        self._unshown = pieces


def _log_softmax(logits: Logits) -> Floats:
    shifted = logits - logits.max(axis=1, keepdims=True)
    sums: Floats = np.exp(shifted).sum(axis=1, keepdims=True)
    result: Floats = shifted - np.log(sums)
    return result
