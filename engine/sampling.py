"""Logits → the next token, with NumPy; the plain cases are left to the model's own step, by records
of ``kernels.choice_layout``. Knows nothing of models or requests.

The order is the one of Hugging Face and vLLM: logit bias and penalties, what is forbidden,
temperature, then top-k, typical-p, top-p and min-p, each on the renormalised rest.
"""

import math
from array import array
from collections import deque
from collections.abc import Callable, Sequence
from typing import Literal

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
from engine.speculation import MOST_GUESSES

MAX_STOP_STRINGS = 16
MAX_STOP_CHARACTERS = 256
MAX_LOGIT_BIASES = 1024
MAX_BANNED_PHRASES = 64
MAX_TOP_LOGPROBS = 20
MAX_BEAMS = 8
_DRAWN_AHEAD = 64


class Grammar(msgspec.Struct, frozen=True):
    """What an answer has to follow: JSON schema, regular expression or Lark grammar."""

    kind: Literal["json_schema", "regex", "grammar"]
    text: str
    param: str = "grammar"
    """What the request calls it, for messages."""


class SamplingParams(msgspec.Struct, frozen=True, kw_only=True):
    """How one request wants its tokens chosen. Raises InvalidRequestError out of range."""

    temperature: float = 1.0
    """0 is greedy: always the most likely token."""
    top_k: int = 0
    """Keep the k most likely tokens; 0 keeps all."""
    top_p: float = 1.0
    """Keep the most likely tokens up to and including the one that brings their sum to p."""
    min_p: float = 0.0
    """Keep tokens at least this likely in relation to the most likely one."""
    typical_p: float = 1.0
    """Keep the tokens whose surprise is nearest the expected one, up to this probability in sum
    (Meister et al. 2023, Locally Typical Sampling)."""
    dynamic_temperature: float = 0.0
    """Temperature goes from ``temperature`` − this where the model is certain to + this where it
    is not: by the entropy of its distribution, as llama.cpp's dynatemp_range."""
    dynamic_temperature_exponent: float = 1.0
    """Bends the way from the one to the other."""
    mirostat: int = 0
    """2: Mirostat 2.0 (Basu et al. 2021) in place of the filters; 0: off."""
    mirostat_tau: float = 5.0
    """Surprise a token that Mirostat steers for, in bits."""
    mirostat_eta: float = 0.1
    """How fast Mirostat learns."""
    no_repeat_ngram: int = 0
    """No run of this many tokens comes twice in prompt and answer; 0: any may."""
    banned_phrases: tuple[str, ...] = ()
    """Texts that the answer will not hold, however they are cut into tokens."""
    prefix: str = ""
    """The answer's first words."""
    logprobs: int | None = None
    """Report each token's log-probability, with this many of the most likely ones."""
    grammar: Grammar | None = None
    """What the answer has to follow."""
    repetition_penalty: float = 1.0
    """Divides (multiplies, below zero) logits of tokens in prompt or answer (CTRL, section 4.1)."""
    frequency_penalty: float = 0.0
    """Taken off a logit for every time the token is in the answer so far."""
    presence_penalty: float = 0.0
    """Taken off a logit once if the token is in the answer so far."""
    logit_bias: dict[int, float] = {}
    """Token id → what to add to its logit, −100 to 100."""
    seed: int | None = None
    """Same seed, prompt and parameters: same answer."""
    stop: tuple[str, ...] = ()
    """The answer ends before the first of these."""
    max_tokens: int | None = None
    """``None``: until the model ends or the context is full."""
    ignore_eos: bool = False
    """Go on when the model says that it is done; for benchmarks."""
    guesses: int = 7
    """Tokens guessed ahead at most, which changes nothing but the speed (see speculation)."""
    beam_width: int = 1
    """Beginnings that are continued side by side, for the best whole answer: beam search with
    temperature 0, beam sampling above. 1: none of that."""
    length_penalty: float = 1.0
    """Of whole answers: the sum of log-probabilities is divided by the length to this power."""
    early_stopping: bool | Literal["never"] = False
    """True: end with as many whole answers as beams; False: when a better one is unlikely; never:
    when a better one is impossible."""

    def __post_init__(self) -> None:
        _in_range("temperature", self.temperature, 0.0, 100.0)
        _in_range("top_k", self.top_k, 0, 2**31)
        _in_range("top_p", self.top_p, 0.0, 1.0, open_low=True)
        _in_range("min_p", self.min_p, 0.0, 1.0)
        _in_range("typical_p", self.typical_p, 0.0, 1.0, open_low=True)
        _in_range("dynamic_temperature", self.dynamic_temperature, 0.0, 100.0)
        _in_range("dynamic_temperature_exponent", self.dynamic_temperature_exponent, 0.0, 100.0)
        _in_range("mirostat_tau", self.mirostat_tau, 0.0, 100.0)
        _in_range("mirostat_eta", self.mirostat_eta, 0.0, 1.0)
        _in_range("no_repeat_ngram", self.no_repeat_ngram, 0, 2**31)
        if self.grammar is not None and self.prefix:
            raise InvalidRequestError("prefix does not go with a grammar", param="prefix")
        _in_range("guesses", self.guesses, 0, 7)
        _in_range("beam_width", self.beam_width, 1, MAX_BEAMS)
        _in_range("length_penalty", self.length_penalty, -10.0, 10.0)
        if self.beam_width > 1:
            self._check_beams()
        if self.mirostat not in (0, 2):
            raise InvalidRequestError("mirostat must be 0 or 2", param="mirostat")
        if self.logprobs is not None:
            _in_range("logprobs", self.logprobs, 0, MAX_TOP_LOGPROBS)
        _in_range("repetition_penalty", self.repetition_penalty, 0.0, 10.0, open_low=True)
        _in_range("frequency_penalty", self.frequency_penalty, -2.0, 2.0)
        _in_range("presence_penalty", self.presence_penalty, -2.0, 2.0)
        if self.seed is not None:
            _in_range("seed", self.seed, -(2**63), 2**63 - 1)
        if self.max_tokens is not None:
            _in_range("max_tokens", self.max_tokens, 1, 2**31)
        if len(self.logit_bias) > MAX_LOGIT_BIASES:
            raise InvalidRequestError(
                f"logit_bias has {len(self.logit_bias)} entries; at most {MAX_LOGIT_BIASES}",
                param="logit_bias",
            )
        for token, bias in self.logit_bias.items():
            _in_range("logit_bias", token, 0, 2**31)
            _in_range("logit_bias", bias, -100.0, 100.0)
        _check_texts("stop", self.stop, MAX_STOP_STRINGS)
        _check_texts("banned_phrases", self.banned_phrases, MAX_BANNED_PHRASES)

    @property
    def filters(self) -> bool:
        """Whether tokens are left out for how unlikely they are."""
        return self.top_k > 0 or self.typical_p < 1.0 or self.top_p < 1.0 or self.min_p > 0.0

    @property
    def plain(self) -> bool:
        """Whether tokens depend on nothing but logits, temperature, top-k, top-p and min-p."""
        return all(getattr(self, name) == value for name, value in _PLAIN.items())

    def _check_beams(self) -> None:
        """Beams compare sums of log-probabilities; what changes those by the answer so far, or what
        one beam alone would have, does not go with them."""
        plain = SamplingParams()
        for name in _NOT_WITH_BEAMS:
            if getattr(self, name) != getattr(plain, name):
                raise InvalidRequestError(f"{name} does not go with beam_width", param=name)


_NOT_WITH_BEAMS = (
    "grammar",
    "prefix",
    "mirostat",
    "logprobs",
    "logit_bias",
    "no_repeat_ngram",
    "banned_phrases",
    "repetition_penalty",
    "frequency_penalty",
    "presence_penalty",
)


_PLAIN = {
    "typical_p": 1.0,
    "dynamic_temperature": 0.0,
    "mirostat": 0,
    "no_repeat_ngram": 0,
    "banned_phrases": (),
    "grammar": None,
    "repetition_penalty": 1.0,
    "frequency_penalty": 0.0,
    "presence_penalty": 0.0,
    "logit_bias": {},
}
"""What a request must leave as it is for its tokens to be chosen in the model's own step."""


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
        self._seen = np.zeros(vocabulary, dtype=np.bool_)
        self._seen[np.asarray(prompt, dtype=np.int64)] = True
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
        self._seen[token] = True
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
        if params.repetition_penalty != 1.0:
            seen = np.flatnonzero(self._seen)
            penalty = np.float32(params.repetition_penalty)
            values = adjusted[seen]
            adjusted[seen] = np.where(values > 0, values / penalty, values * penalty)
        if params.frequency_penalty or params.presence_penalty:
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


def _in_range(name: str, value: float, low: float, high: float, *, open_low: bool = False) -> None:
    too_low = value <= low if open_low else value < low
    if too_low or value > high or not math.isfinite(value):
        above = "above" if open_low else "at least"
        raise InvalidRequestError(
            f"{name} is {value}; it must be {above} {low:g} and at most {high:g}", param=name
        )


def _check_texts(name: str, texts: tuple[str, ...], most: int) -> None:
    if len(texts) > most:
        raise InvalidRequestError(f"{name} has {len(texts)} strings; at most {most}", param=name)
    if not all(0 < len(text) <= MAX_STOP_CHARACTERS for text in texts):
        raise InvalidRequestError(
            f"each {name} string must have 1 to {MAX_STOP_CHARACTERS} characters", param=name
        )
