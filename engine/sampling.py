"""Logits → the next token, with NumPy; the plain cases are left to the model's own step, by records
of ``kernels.choice_layout``. Knows nothing of models or requests.

The order is the one of Hugging Face and vLLM: logit bias and penalties, what is forbidden,
temperature, then top-k, typical-p, top-p and min-p, each on the renormalised rest.
"""

import math
from array import array
from collections import deque
from collections.abc import Callable, Sequence

import msgspec
import numpy as np
import numpy.typing as npt

from engine.distribution import (
    Logits,
    candidates,
    draw,
    draw_from_all,
    falling,
    softmax_weights,
    temperature_of,
)
from engine.errors import InvalidRequestError
from engine.kernels.choice_layout import (
    MIN_P,
    RECORD_SLOTS,
    TEMPERATURE,
    TOKEN,
    TOP_K,
    TOP_P,
    UNIFORM,
)
from engine.sampling_params import SamplingParams
from engine.speculation import MOST_GUESSES

_DRAWN_AHEAD = 64


class TokenLogprobs(msgspec.Struct, frozen=True):
    """How likely the model itself held a token to be, before any sampling parameter."""

    token: int
    logprob: float
    top: tuple[tuple[int, float], ...]
    """The most likely tokens, most likely first."""


class Sampler:
    """Chooses the tokens of one answer, with that answer's penalties and random stream."""

    def __init__(
        self,
        params: SamplingParams,
        vocabulary: int,
        prompt: Sequence[int],
        token_bytes: Callable[[int], bytes] = lambda token: b"",
    ) -> None:
        """token_bytes: the text of a token, which banned phrases are compared with.

        Raises InvalidRequestError for a logit bias on a token outside the vocabulary.
        """
        self._params = params
        self._random = np.random.default_rng(
            None if params.seed is None else params.seed & (2**64 - 1)
        )
        self._uniforms = deque[float]()
        self._plain = params.plain
        self._records = array("d", bytes(8 * RECORD_SLOTS * (1 + MOST_GUESSES)))
        for slot, value in (
            (TEMPERATURE, params.temperature),
            (TOP_K, params.top_k),
            (TOP_P, params.top_p),
            (MIN_P, params.min_p),
        ):
            self._records[slot::RECORD_SLOTS] = array("d", [value]) * (1 + MOST_GUESSES)
        biased = np.fromiter(params.logit_bias.keys(), dtype=np.int64)
        if biased.size and biased.max() >= vocabulary:
            raise InvalidRequestError(
                f"logit_bias names token {biased.max()}; the vocabulary has {vocabulary}",
                param="logit_bias",
            )
        self._biased = biased
        self._biases = np.fromiter(params.logit_bias.values(), dtype=np.float32)
        self._seen: npt.NDArray[np.bool_] | None = None  # few requests ask: 0.2 ms of each
        if params.repetition_penalty != 1.0:
            self._seen = np.zeros(vocabulary, dtype=np.bool_)
            self._seen[np.asarray(prompt, dtype=np.int64)] = True
        self._counts: npt.NDArray[np.int32] | None = None
        if params.frequency_penalty or params.presence_penalty:
            self._counts = np.zeros(vocabulary, dtype=np.int32)
        self._ngrams = _Ngrams(params.no_repeat_ngram)
        for token in prompt if params.no_repeat_ngram else ():
            self._ngrams.add(token)
        self._phrases = [phrase.encode() for phrase in params.banned_phrases]
        self._token_bytes = token_bytes
        self._tail = b""  # of the answer, as much as a banned phrase may begin with
        self._mu = 2 * params.mirostat_tau

    def sample(self, logits: Logits, allowed: npt.NDArray[np.bool_] | None = None) -> int:
        """The next token from logits of shape (vocabulary,), which are left as they are.

        allowed: which tokens may come at all, same shape; at least one.
        """
        adjusted = self._adjust(logits)
        if allowed is not None:
            adjusted[~allowed] = -np.inf
        strict = adjusted.copy() if self._phrases or self._params.no_repeat_ngram else adjusted
        if forbidden := self._ngrams.forbidden():
            strict[forbidden] = -np.inf
        token = self._choose(strict)
        while token is not None and self._completes_phrase(token):
            strict[token] = -np.inf
            token = self._choose(strict)
        if token is None:  # everything is forbidden: better a token that should not than none
            token = int(np.argmax(adjusted))
        self.accept(token)
        return token

    def records(self, rows: int) -> int:
        """Address of records by which the model's step chooses so many tokens, one after the other;
        0 where that is not possible, and ``sample`` is to be asked."""
        if not self._plain:
            return 0
        if self._params.temperature > 0.0:
            self._draw_ahead(rows)
            for row in range(rows):
                self._records[RECORD_SLOTS * row + UNIFORM] = self._uniforms[row]
        return self._records.buffer_info()[0]

    def chosen(self, row: int) -> int | None:
        """The token that the step chose by record ``row``; None where ``sample`` is to be asked
        after all. Each time the next row: what was drawn for it is used up."""
        token = int(self._records[RECORD_SLOTS * row + TOKEN])
        if token < 0:
            return None
        if self._params.temperature > 0.0:
            self._uniforms.popleft()
        return token

    def _draw_ahead(self, count: int) -> None:
        """Have so many random numbers: 64 at once are the same as one by one, and take no longer
        than one does where NumPy has left the caches."""
        while len(self._uniforms) < count:
            self._uniforms.extend(self._random.random(_DRAWN_AHEAD).tolist())

    def _uniform(self) -> float:
        self._draw_ahead(1)
        return self._uniforms.popleft()

    def accept(self, token: int) -> None:
        """Count a token as part of the answer."""
        if self._seen is not None:
            self._seen[token] = True
        if self._counts is not None:
            self._counts[token] += 1
        if self._params.no_repeat_ngram:
            self._ngrams.add(token)
        if self._phrases:
            kept = max(map(len, self._phrases)) - 1
            grown = self._tail + self._token_bytes(token)
            self._tail = grown[len(grown) - kept :] if kept < len(grown) else grown

    def _choose(self, adjusted: Logits) -> int | None:
        likeliest = int(adjusted.argmax())
        if not math.isfinite(adjusted[likeliest]):
            return None
        if self._params.temperature == 0.0:
            return likeliest
        if self._params.mirostat:
            return self._mirostat(adjusted)
        if not self._params.filters:
            weights = softmax_weights(adjusted, temperature_of(adjusted, self._params))
            return draw_from_all(weights, self._uniform())
        tokens, p = candidates(adjusted, self._params)
        return int(tokens[draw(p, self._uniform())])

    def _mirostat(self, adjusted: Logits) -> int:
        """Cut off what is more surprising than mu, draw, and move mu towards tau."""
        weights = softmax_weights(adjusted, temperature_of(adjusted, self._params))
        p = weights.astype(np.float64) / weights.sum(dtype=np.float64)
        tokens = np.flatnonzero(p >= 2.0**-self._mu)
        if not tokens.size:
            tokens = np.array([int(np.argmax(p))])
        kept = p[tokens] / p[tokens].sum()
        drawn = draw(kept, self._uniform())
        surprise = -math.log2(kept[drawn])
        self._mu -= self._params.mirostat_eta * (surprise - self._params.mirostat_tau)
        return int(tokens[drawn])

    def _completes_phrase(self, token: int) -> bool:
        if not self._phrases:
            return False
        text = self._tail + self._token_bytes(token)
        return any(phrase in text for phrase in self._phrases)

    def _adjust(self, logits: Logits) -> Logits:
        params = self._params
        adjusted = logits.astype(np.float32, copy=True)
        if self._biased.size:
            adjusted[self._biased] += self._biases
        if self._seen is not None:
            seen = np.flatnonzero(self._seen)
            penalty = np.float32(params.repetition_penalty)
            values = adjusted[seen]
            adjusted[seen] = np.where(values > 0, values / penalty, values * penalty)
        if self._counts is not None:
            used = np.flatnonzero(self._counts)
            adjusted[used] -= self._counts[used] * np.float32(
                params.frequency_penalty
            ) + np.float32(params.presence_penalty)
        return adjusted


def token_logprobs(logits: Logits, token: int, count: int) -> TokenLogprobs:
    """Log-softmax of the token and of the ``count`` most likely ones."""
    count = min(count, logits.size - 1)
    shifted = logits.astype(np.float64) - float(logits.max())
    logprobs = shifted - math.log(np.exp(shifted).sum())
    best = falling(logprobs.astype(np.float32), np.argpartition(-logprobs, count)[:count])
    top = tuple((int(other), float(logprobs[other])) for other in best)
    return TokenLogprobs(token, float(logprobs[token]), top)


class _Ngrams:
    """Which tokens have followed each run of n − 1 tokens."""

    def __init__(self, n: int) -> None:
        self._n = n
        self._tokens: list[int] = []
        self._followers: dict[tuple[int, ...], list[int]] = {}

    def add(self, token: int) -> None:
        if len(self._tokens) >= self._n - 1:
            self._followers.setdefault(self._last(), []).append(token)
        self._tokens.append(token)

    def forbidden(self) -> list[int]:
        """Tokens that would complete a run that has been there."""
        return self._followers.get(self._last(), []) if self._n else []

    def _last(self) -> tuple[int, ...]:
        return tuple(self._tokens[len(self._tokens) - self._n + 1 :])
