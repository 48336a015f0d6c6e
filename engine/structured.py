"""Answers that follow a JSON schema, a regular expression or a grammar, through ``llguidance``.

A guide tells before each token which ones may come. It is computed on a thread of its own while
the model computes the logits, so that it costs next to nothing. Knows nothing of models.
"""

from concurrent.futures import Future, ThreadPoolExecutor
from functools import cached_property
from typing import Any

import llguidance
import numpy as np
import numpy.typing as npt

from engine.errors import InvalidRequestError
from engine.sampling_params import Grammar
from engine.tokenizer import Tokenizer

Mask = npt.NDArray[np.bool_]

MAX_GRAMMAR_CHARACTERS = 256 * 1024
# A small model may write white space for ever where the grammar lets it.
_JSON: Any = {"whitespace_flexible": False, "item_separator": ", ", "key_separator": ": "}


class _Vocabulary:
    """A tokenizer in the form that llguidance asks for."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        count = tokenizer.vocabulary_size
        self._tokenizer = tokenizer
        self.eos_token_id = min(tokenizer.end_of_generation, default=count)
        self.bos_token_id = tokenizer.bos_id
        texts = [tokenizer.token_bytes(token) for token in range(count)]
        # Its mark of a token that no text stands for: 0xFF, which UTF-8 never has, then a name.
        self.tokens = [text or b"\xff[%d]" % token for token, text in enumerate(texts)]
        self.special_token_ids = [token for token, text in enumerate(texts) if not text]

    def __call__(self, text: str) -> list[int]:
        return self._tokenizer.encode(text, add_special=False)


class Guides:
    """Makes guides for one vocabulary. Safe to use from several threads."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="engine-guide")

    def guide(self, grammar: Grammar) -> "Guide":
        """Compile; takes up to some hundred milliseconds, the very first one longer.

        Raises InvalidRequestError for a grammar that cannot be followed.
        """
        if len(grammar.text) > MAX_GRAMMAR_CHARACTERS:
            raise InvalidRequestError(
                f"the grammar has {len(grammar.text)} characters; at most"
                f" {MAX_GRAMMAR_CHARACTERS} are allowed",
                param=grammar.param,
            )
        try:
            matcher = llguidance.LLMatcher(self._vocabulary, _compiled(grammar), log_level=0)
        except ValueError as error:
            raise InvalidRequestError(f"{grammar.param}: {error}", param=grammar.param) from error
        if matcher.is_error():
            raise InvalidRequestError(
                f"{grammar.param}: {matcher.get_error()[:500]}", param=grammar.param
            )
        return Guide(matcher, self._tokenizer.vocabulary_size, self._pool)

    def close(self) -> None:
        """End the thread."""
        self._pool.shutdown(wait=False, cancel_futures=True)

    @cached_property
    def _vocabulary(self) -> llguidance.LLTokenizer:
        return llguidance.LLTokenizer(
            llguidance.TokenizerWrapper(_Vocabulary(self._tokenizer)),
            eos_token=sorted(self._tokenizer.end_of_generation),
        )


class Guide:
    """Where one answer stands in its grammar."""

    def __init__(
        self, matcher: llguidance.LLMatcher, vocabulary: int, pool: ThreadPoolExecutor
    ) -> None:
        self._matcher = matcher
        self._size = vocabulary
        self._pool = pool
        self._next: Future[Mask] | None = None

    def begin(self) -> None:
        """Start to compute the next mask, beside the model's step."""
        if self._next is None:
            self._next = self._pool.submit(self._compute)

    def mask(self) -> Mask:
        """Which tokens may come next, shape (vocabulary,)."""
        self.begin()
        assert self._next is not None
        mask, self._next = self._next.result(), None
        return mask

    def accept(self, token: int) -> None:
        """The token that came."""
        self._matcher.consume_token(token)

    @property
    def complete(self) -> bool:
        """Whether nothing can follow any more."""
        return bool(self._matcher.is_stopped())

    def _compute(self) -> Mask:
        packed = np.frombuffer(self._matcher.compute_bitmask(), dtype=np.uint8)
        bits = np.unpackbits(packed, bitorder="little")
        mask = np.zeros(self._size, dtype=np.bool_)
        count = min(self._size, bits.size)
        mask[:count] = bits[:count]
        return mask


def _compiled(grammar: Grammar) -> str:
    match grammar.kind:
        case "json_schema":
            made = llguidance.LLMatcher.grammar_from_json_schema(grammar.text, overrides=_JSON)
        case "regex":
            made = llguidance.LLMatcher.grammar_from_regex(grammar.text)
        case "grammar":
            made = llguidance.LLMatcher.grammar_from_lark(grammar.text)
    return str(made)
