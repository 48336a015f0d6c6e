"""A request's life: prompt tokens in, pieces of text out.

A request says which tokens it wants computed next (``parts``) and goes on with the logits of those
(``choose``), so that whoever owns the model computes those of several requests in one step. What
was chosen becomes text later (``pieces``), while the next step is computed. Knows nothing of
threads, queues or HTTP.
"""

import time
from array import array
from collections import deque
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Protocol

import msgspec

from engine.distribution import Logits
from engine.errors import ContextLengthError, InvalidRequestError
from engine.protocol import FinishReason, Timings
from engine.sampling import Sampler, TokenLogprobs, token_logprobs
from engine.sampling_params import SamplingParams
from engine.speculation import Drafter, LookupDrafter
from engine.step_part import Part
from engine.tokenizer import Detokenizer, Tokenizer

if TYPE_CHECKING:
    from engine.kv import KVSequence
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


class Request(Protocol):
    """What the scheduler asks of a request, all on the compute thread."""

    finish_reason: FinishReason | None
    """Why it ended; None while it goes on."""
    drafted: int
    """Tokens guessed ahead so far."""
    accepted: int
    """Those that were right."""

    @property
    def tokens(self) -> Sequence[int]:
        """What it continues from: the prompt, and what the answer has so far."""

    @property
    def sequences(self) -> "Sequence[KVSequence]":
        """Those whose blocks it holds; the first begins with the first of its tokens."""

    @property
    def pending(self) -> int:
        """Tokens whose keys and values are missing: 1 or few of a request that decodes."""

    def start(self, sequence: "KVSequence") -> None:
        """Begin, or go on after ``pause``, on a sequence that holds a beginning of the tokens."""

    def pause(self) -> None:
        """Give all blocks back; everything else stays."""

    def parts(self, budget: int, *, draft: bool) -> "list[Part]":
        """What it wants computed in the next step, at most ``budget`` tokens of a prompt.

        draft: whether it may guess tokens ahead."""

    def choose(self, logits: Logits) -> bool:
        """Go on with the outputs of the parts, shape (outputs, vocabulary); whether there is
        something to show then."""

    def pieces(self) -> list[Piece]:
        """What was chosen since the last time, as text. Leaves the sequences as they are: a step
        may be under way; if this ends the answer, that step is one too many."""

    def finished(self, reason: FinishReason) -> Finished:
        """The account of this request, as of now."""


class Account:
    """When things happened to a request, and how many tokens it took."""

    def __init__(self, prompt_tokens: int) -> None:
        self._prompt_tokens = prompt_tokens
        self._cached_tokens = 0
        self._created_at = time.perf_counter()
        self._started_at: float | None = None
        self._first_token_at: float | None = None

    def start(self, cached_tokens: int) -> None:
        """Work begins with this many tokens of the prompt in the cache; counts once."""
        if self._started_at is None:
            self._cached_tokens = cached_tokens
            self._started_at = time.perf_counter()

    def first_token(self) -> None:
        """A token has come; the first one counts."""
        if self._first_token_at is None:
            self._first_token_at = time.perf_counter()

    def finished(self, reason: FinishReason, completion_tokens: int) -> Finished:
        """The account, as of now."""
        now = time.perf_counter()
        first, started = self._first_token_at or now, self._started_at or now
        prefill_s, decode_s = first - started, now - first
        prefilled = self._prompt_tokens - self._cached_tokens if self._first_token_at else 0
        return Finished(
            reason=reason,
            prompt_tokens=self._prompt_tokens,
            cached_tokens=self._cached_tokens,
            completion_tokens=completion_tokens,
            timings=Timings(
                queue_ms=_ms(started - self._created_at),
                prefill_ms=_ms(prefill_s),
                first_token_ms=_ms(first - self._created_at),
                decode_ms=_ms(decode_s),
                prefill_tokens_per_s=_rate(prefilled, prefill_s),
                decode_tokens_per_s=_rate(max(0, completion_tokens - 1), decode_s),
            ),
        )


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
    """One answer from its prompt to its last piece."""

    def __init__(
        self,
        prompt: Sequence[int],
        params: SamplingParams,
        tokenizer: Tokenizer,
        context_length: int,
        guide: "Guide | None" = None,
        shown: Collection[int] = (),
        drafter: Drafter | None = None,
    ) -> None:
        """guide: what the grammar allows. shown: control tokens that are text in this answer.
        drafter: who guesses ahead, default what the prompt itself makes likely.

        Raises InvalidRequestError (ContextLengthError) for a prompt that cannot be computed."""
        check_prompt(prompt, tokenizer.vocabulary_size, context_length)
        self.tokens = array("i", prompt)
        self._params = params
        self._prompt_tokens = len(prompt)
        self._end = frozenset[int]() if params.ignore_eos else tokenizer.end_of_generation
        room = context_length - len(prompt)
        self._limit = min(room, params.max_tokens or room)
        self._sampler = Sampler(params, tokenizer.vocabulary_size, prompt, tokenizer.token_bytes)
        self._guide = guide
        self._shown = {token: tokenizer.token_text(token) for token in shown}
        self._forced = deque(tokenizer.encode(params.prefix, add_special=False))
        self._detokenizer = Detokenizer(tokenizer)
        self._stops = StopStrings(params.stop)
        self._account = Account(len(prompt))
        self._sequence: KVSequence | None = None
        self._drafter = drafter or LookupDrafter()
        self._drafts: list[int] = []
        self._in_step = False  # whether the tokens are chosen in the model's step
        self._unshown: list[tuple[int, Logits | None]] = []
        self.drafted = self.accepted = 0
        self.finish_reason: FinishReason | None = None

    @property
    def sequences(self) -> "Sequence[KVSequence]":
        """The one, once it has started."""
        return () if self._sequence is None else (self._sequence,)

    @property
    def pending(self) -> int:
        """Tokens whose keys and values are missing."""
        return len(self.tokens) - (self._sequence.length if self._sequence else 0)

    def start(self, sequence: "KVSequence") -> None:
        """See ``Request``."""
        self._sequence = sequence
        self._account.start(sequence.length)

    def pause(self) -> None:
        """See ``Request``."""
        if self._sequence is not None:
            self._sequence.release()
            self._sequence = None
        self._drafter.release()

    def parts(self, budget: int, *, draft: bool) -> "list[Part]":
        """A slice of prefill, or the last token with guesses of those that follow."""
        assert self._sequence is not None, "parts of a request that has not started"
        done, self._drafts = self._sequence.length, []
        part = self.tokens[done : done + budget]
        last = done + len(part) == len(self.tokens)
        choices = 0
        if last:
            self._begin_mask()
            if draft and len(part) == 1 and not self._forced:
                room = self._limit - (len(self.tokens) - self._prompt_tokens) - 1
                self._drafts = self._drafter.guess(self.tokens, min(room, self._params.guesses))
            if not self._forced:
                choices = self._sampler.records(1 + len(self._drafts))
        self._in_step = choices != 0
        outputs = 1 + len(self._drafts) if last else 0
        return [Part([*part, *self._drafts], self._sequence, outputs, choices)]

    def choose(self, logits: Logits) -> bool:
        """The token after the last one, then the one after each guess that was right.

        A guess changes nothing but the time it takes: what is chosen is what would have been
        chosen without it, from the same logits with the same random numbers.
        """
        assert self._sequence is not None, "logits of a request that has not started"
        if self.finish_reason is None and len(logits):
            before = len(self.tokens)
            for row in range(len(logits)):
                token = self._next_token(row, logits)
                guessed = row < len(self._drafts) and self._drafts[row] == token
                if self.finish_reason is not None or not guessed:
                    break
            right = len(self.tokens) - before - 1
            self._drafter.learn(len(self._drafts), right)
            self.drafted += len(self._drafts)
            self.accepted += right
        if len(logits):
            self._sequence.truncate(len(self.tokens) - 1)
        return bool(self._unshown)

    def pieces(self) -> list[Piece]:
        """See ``Request``."""
        unshown, self._unshown = self._unshown, []
        pieces: list[Piece] = []
        for after, (token, logits) in enumerate(unshown, start=1):
            last = self.finish_reason is not None and after == len(unshown)
            piece, stopped = self._piece(token, logits, last)
            pieces.append(piece)
            if stopped:
                self.finish_reason = "stop"
                del self.tokens[len(self.tokens) - (len(unshown) - after) :]
                break
        return pieces

    def finished(self, reason: FinishReason) -> Finished:
        """The account of this request, as of now."""
        return self._account.finished(reason, len(self.tokens) - self._prompt_tokens)

    def _begin_mask(self) -> None:
        if self._guide is not None:
            self._guide.begin()

    def _next_token(self, row: int, logits: Logits) -> int:
        """Choose a token by its row of logits, and see whether it is the last."""
        token = self._choose(row, logits)
        self._account.first_token()
        self.tokens.append(token)
        told = self._params.logprobs is not None
        self._unshown.append((token, logits[row].copy() if told else None))
        if token in self._end or (self._guide is not None and self._guide.complete):
            self.finish_reason = "stop"
        elif len(self.tokens) - self._prompt_tokens >= self._limit:
            self.finish_reason = "length"
        return token

    def _choose(self, row: int, logits: Logits) -> int:
        if self._in_step:
            token = self._sampler.chosen(row)
            return self._sampler.sample(logits[row]) if token is None else token
        if self._forced:
            token = self._forced.popleft()
            self._sampler.accept(token)
            return token
        if self._guide is None:
            return self._sampler.sample(logits[row])
        token = self._sampler.sample(logits[row], self._guide.mask())
        self._guide.accept(token)
        return token

    def _piece(self, token: int, logits: Logits | None, last: bool) -> tuple[Piece, bool]:
        """A token as text, and whether that has met a stop string; logits: where they are to be
        told as probabilities."""
        if token in self._end:
            return Piece(token, self._stops.flush()), False
        text, stopped = self._stops.push(
            self._shown[token] if token in self._shown else self._detokenizer.push(token)
        )
        if last and not stopped:
            text += self._stops.flush()
        logprobs, count = None, self._params.logprobs
        if logits is not None and count is not None:
            logprobs = token_logprobs(logits, token, count)
        return Piece(token, text, logprobs), stopped


def check_prompt(prompt: Sequence[int], vocabulary: int, context_length: int) -> None:
    """Raises InvalidRequestError for a prompt that is empty, too long or has unknown tokens."""
    if len(prompt) >= context_length:
        raise ContextLengthError(len(prompt), context_length)
    check_tokens(prompt, vocabulary)


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
