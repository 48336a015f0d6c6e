"""How one request wants its tokens chosen: the parameters and their bounds."""

import math
from typing import Literal

import msgspec

from engine.errors import InvalidRequestError

MAX_STOP_STRINGS = 16
MAX_STOP_CHARACTERS = 256
MAX_LOGIT_BIASES = 1024
MAX_BANNED_PHRASES = 64
MAX_TOP_LOGPROBS = 20
MAX_BEAMS = 8


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
