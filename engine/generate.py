"""A request's life: prompt tokens in, pieces of text out.

A ``Generation`` advances by one slice of prefill or one decoded token at a time, so that whoever
owns the model can share it between several. Knows nothing of threads, queues or HTTP.
"""

import time
from collections import deque
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from engine.errors import ContextLengthError, InvalidRequestError
from engine.protocol import FinishReason, Timings
from engine.sampling import Logits, Sampler, SamplingParams, TokenLogprobs, token_logprobs
from engine.tokenizer import Detokenizer, Tokenizer

if TYPE_CHECKING:
    from engine.kv import KVSequence
    from engine.model import Model
    from engine.structured import Guide


class Piece(msgspec.Struct, frozen=True):
    """One generated token and the text that it completes."""

    token: int
    text: str
    """Maybe empty: half a character, or what may become a stop string, waits for the next piece."""
    logprobs: TokenLogprobs | None = None
    """Where the request asks for them."""


class Finished(msgspec.Struct, frozen=True, kw_only=True):
    """How an answer ended, and what it took."""

    reason: FinishReason
    prompt_tokens: int
    cached_tokens: int
    """Of the prompt tokens, those whose keys and values were in the cache already."""
    completion_tokens: int
    """Generated tokens, with the one that ended the answer."""
    timings: Timings


class StopStrings:
    """Holds back text that may turn out to be the beginning of a stop string."""

    def __init__(self, stop: Sequence[str]) -> None:
        self._stop = tuple(stop)
        self._held = ""

    def push(self, text: str) -> tuple[str, bool]:
        """Text that may be shown now, and whether a stop string was met (the rest is dropped)."""
        self._held += text
        found = [at for at in map(self._held.find, self._stop) if at >= 0]
        if found:
            shown, self._held = self._held[: min(found)], ""
            return shown, True
        cut = len(self._held) - self._possible_prefix()
        shown, self._held = self._held[:cut], self._held[cut:]
        return shown, False

    def flush(self) -> str:
        """What is held back, once it is certain that nothing follows."""
        held, self._held = self._held, ""
        return held

    def _possible_prefix(self) -> int:
        """Length of the longest end of the held text with which a stop string begins."""
        longest = min(len(self._held), max(map(len, self._stop), default=1) - 1)
        for length in range(longest, 0, -1):
            if any(stop.startswith(self._held[-length:]) for stop in self._stop):
                return length
        return 0


class Generation:
    """One request from its prompt to its last piece."""

    def __init__(
        self,
        prompt: Sequence[int],
        params: SamplingParams,
        tokenizer: Tokenizer,
        context_length: int,
        guide: "Guide | None" = None,
        shown: Collection[int] = (),
    ) -> None:
        """guide: what the grammar allows. shown: control tokens that are text in this answer.

        Raises InvalidRequestError (ContextLengthError) for a prompt that cannot be computed."""
        if len(prompt) >= context_length:
            raise ContextLengthError(len(prompt), context_length)
        check_tokens(prompt, tokenizer.vocabulary_size)
        self.prompt = list(prompt)
        self._params = params
        self._end = frozenset[int]() if params.ignore_eos else tokenizer.end_of_generation
        room = context_length - len(self.prompt)
        self._limit = min(room, params.max_tokens or room)
        self._sampler = Sampler(
            params, tokenizer.vocabulary_size, self.prompt, tokenizer.token_bytes
        )
        self._guide = guide
        self._shown = {token: tokenizer.token_text(token) for token in shown}
        self._forced = deque(tokenizer.encode(params.prefix, add_special=False))
        self._detokenizer = Detokenizer(tokenizer)
        self._stops = StopStrings(params.stop)
        self._tokens: list[int] = []
        self._cached_tokens = 0
        self._created_at = time.perf_counter()
        self._started_at = self._created_at
        self._first_token_at: float | None = None
        self.finish_reason: FinishReason | None = None

    def start(self, cached_tokens: int) -> None:
        """Work begins, on a cache that holds this many tokens of the prompt already."""
        self._cached_tokens = cached_tokens
        self._started_at = time.perf_counter()

    def advance(self, model: "Model", cache: "KVSequence", slice_tokens: int) -> Piece | None:
        """Prefill up to ``slice_tokens`` of the prompt, or decode one token.

        ``None`` while the prompt is not finished. Sets ``finish_reason`` with the last piece.
        """
        done = cache.length
        if done < len(self.prompt):
            part = self.prompt[done : done + slice_tokens]
            last = done + len(part) == len(self.prompt)
            if last:
                self._begin_mask()
            logits = model.forward(
                np.asarray(part, dtype=np.int32), cache, want="last" if last else "none"
            )
            return self._take(logits[-1]) if last else None
        self._begin_mask()
        logits = model.forward(np.asarray(self._tokens[-1:], dtype=np.int32), cache, want="last")
        return self._take(logits[-1])

    def tokens_in(self, length: int) -> list[int]:
        """The token ids behind the first ``length`` positions of this request's cache."""
        return [*self.prompt, *self._tokens][:length]

    def finished(self, reason: FinishReason) -> Finished:
        """The account of this request, as of now."""
        now = time.perf_counter()
        first = self._first_token_at or now
        prefill_s, decode_s = first - self._started_at, now - first
        prefilled = len(self.prompt) - self._cached_tokens if self._first_token_at else 0
        decoded = max(0, len(self._tokens) - 1)
        return Finished(
            reason=reason,
            prompt_tokens=len(self.prompt),
            cached_tokens=self._cached_tokens,
            completion_tokens=len(self._tokens),
            timings=Timings(
                queue_ms=_ms(self._started_at - self._created_at),
                prefill_ms=_ms(prefill_s),
                first_token_ms=_ms(first - self._created_at),
                decode_ms=_ms(decode_s),
                prefill_tokens_per_s=_rate(prefilled, prefill_s),
                decode_tokens_per_s=_rate(decoded, decode_s),
            ),
        )

    def _begin_mask(self) -> None:
        if self._guide is not None:
            self._guide.begin()

    def _next_token(self, logits: Logits) -> int:
        if self._forced:
            token = self._forced.popleft()
            self._sampler.accept(token)
            return token
        if self._guide is None:
            return self._sampler.sample(logits)
        token = self._sampler.sample(logits, self._guide.mask())
        self._guide.accept(token)
        return token

    def _take(self, logits: Logits) -> Piece:
        token = self._next_token(logits)
        count = self._params.logprobs
        logprobs = None if count is None else token_logprobs(logits, token, count)
        if self._first_token_at is None:
            self._first_token_at = time.perf_counter()
        self._tokens.append(token)
        if token in self._end:
            self.finish_reason = "stop"
            return Piece(token, self._stops.flush())
        text, stopped = self._stops.push(
            self._shown[token] if token in self._shown else self._detokenizer.push(token)
        )
        if stopped:
            self.finish_reason = "stop"
        elif self._guide is not None and self._guide.complete:
            self.finish_reason = "stop"
            text += self._stops.flush()
        elif len(self._tokens) >= self._limit:
            self.finish_reason = "length"
            text += self._stops.flush()
        return Piece(token, text, logprobs)


def check_tokens(tokens: Sequence[int], vocabulary: int) -> None:
    """Raises InvalidRequestError unless there are tokens and all are in the vocabulary."""
    if not tokens:
        raise InvalidRequestError("the prompt is empty; send at least one token", param="prompt")
    if min(tokens) < 0 or max(tokens) >= vocabulary:
        raise InvalidRequestError(
            f"token ids must be 0 to {vocabulary - 1}", param="prompt", code="invalid_token"
        )


def _ms(seconds: float) -> float:
    return round(seconds * 1000, 2)


def _rate(tokens: int, seconds: float) -> float:
    return round(tokens / seconds, 2) if seconds > 0 else 0.0
