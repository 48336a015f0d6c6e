"""GGUF vocabulary → tokens and back.

One face for every kind of vocabulary in ``engine/tokenizers/``. Control tokens are no part of what
those encode, so plain text can never become one: only ``encode_with_special`` recognises them.
Knows nothing of templates, models or requests.
"""

import codecs
import re
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property, lru_cache
from typing import Any, Protocol

from engine.errors import TokenizerError
from engine.gguf_header import named
from engine.tokenizers.byte_level import ByteLevelBpe
from engine.tokenizers.pre_tokenizers import pre_tokenization
from engine.tokenizers.sentence_piece import SPACE, SentencePieces
from engine.tokenizers.vocabulary import (
    CONTROL,
    UNKNOWN,
    UNUSED,
    USER_DEFINED,
    read_vocabulary,
    token_id,
)
from engine.tokenizers.word_piece import WordPieces

LONG_CHARACTERS, LONGEST_CHARACTERS = 1_000, 100_000
"""Stretches between control tokens of such a length are remembered: a system prompt of 2 000 tokens
takes 2.2 ms, for every question again."""
LONG_TEXTS = 8

# Control tokens that end an answer whatever the metadata says; models ship with one of them
# missing from eos_token_id more often than not (llama.cpp, llama_vocab special_eog_ids).
END_OF_GENERATION = frozenset(
    {
        *("<|endoftext|>", "<|end_of_text|>", "<|im_end|>", "<|end|>"),
        *("<|eot_id|>", "<|eom_id|>", "<end_of_turn>", "</s>"),
    }
)


class _Pieces(Protocol):
    """What each kind of vocabulary does with text that has no special tokens in it."""

    def encode(self, text: str) -> list[int]: ...

    def token_bytes(self, token: int) -> bytes: ...


class Tokenizer:
    """Text → token ids and back, for one vocabulary. Safe to use from several threads."""

    def __init__(self, metadata: Mapping[str, Any]) -> None:
        """Build from GGUF metadata.

        Raises TokenizerError when the metadata is incomplete or of an unsupported kind.
        """
        self._vocabulary = read_vocabulary(metadata)
        count = len(self._vocabulary)
        self.add_bos = self.add_eos = self._space_prefix = self._words_only = False
        self._pieces = self._pieces_of(metadata)
        self.bos_id = token_id(metadata, "bos", count)
        self.eos_id = token_id(metadata, "eos", count)
        self.add_bos = bool(metadata.get("tokenizer.ggml.add_bos_token", self.add_bos))
        self.add_eos = bool(metadata.get("tokenizer.ggml.add_eos_token", self.add_eos))
        if self._words_only:
            # BERT's [CLS] and [SEP]; "seperator" is how the key is spelled.
            self.bos_id = token_id(metadata, "cls", count) if self.bos_id is None else self.bos_id
            separator = token_id(metadata, "seperator", count)
            self.eos_id = self.eos_id if separator is None else separator
        self.control = self._vocabulary.of_type(CONTROL)
        self._user_defined = {
            self._spelled(token): index
            for token, index in self._vocabulary.of_type(USER_DEFINED).items()
        }
        self._always = _alternation(self._user_defined)
        self.end_of_generation = self._end_of_generation(metadata)

    @property
    def vocabulary_size(self) -> int:
        return len(self._vocabulary)

    def token_text(self, token: int) -> str:
        """The token as the file spells it, for control tokens their name."""
        return self._vocabulary.tokens[token]

    def encode(self, text: str, *, add_special: bool = True) -> list[int]:
        """Token ids of plain text. Control tokens spelled out in it stay plain text.

        ``add_special`` adds the begin and end tokens that the model file asks for, no others.
        Characters that the vocabulary cannot spell become U+FFFD or the unknown token. Long texts
        release the GIL.
        """
        ids = self._encode_plain(text)
        if add_special:
            if self.add_bos and self.bos_id is not None:
                ids.insert(0, self.bos_id)
            if self.add_eos and self.eos_id is not None:
                ids.append(self.eos_id)
        return ids

    def encode_with_special(self, text: str) -> list[int]:
        """Token ids of trusted text: control tokens spelled out in it are recognised."""
        ids: list[int] = []
        for part in self.split_special(text):
            ids.extend([part] if isinstance(part, int) else self._encode_plain(part))
        return ids

    def split_special(self, text: str) -> list[str | int]:
        """Cut trusted text at its control tokens: plain stretches and token ids, in order."""
        if self._special is None:
            return [text] if text else []
        parts = self._special.split(text)
        return [self.control.get(part, part) for part in parts if part]

    def token_bytes(self, token: int) -> bytes:
        """The UTF-8 bytes (maybe an incomplete character) of one token; none for control tokens."""
        kind = self._vocabulary.types[token]
        if kind in (CONTROL, UNUSED):
            return b""
        if kind == UNKNOWN:
            return "\N{REPLACEMENT CHARACTER}".encode()
        if kind == USER_DEFINED:
            return self._spelled(self._vocabulary.tokens[token]).encode("utf-8", "replace")
        return self._pieces.token_bytes(token)

    def decode(self, tokens: Iterable[int]) -> str:
        """Text of the tokens. Control tokens vanish; broken UTF-8 becomes U+FFFD.

        The space that ``encode`` puts before a text in some vocabularies is taken off again.
        """
        text = b"".join(map(self.token_bytes, tokens)).decode("utf-8", "replace")
        return text.removeprefix(" ") if self._space_prefix or self._words_only else text

    def _pieces_of(self, metadata: Mapping[str, Any]) -> _Pieces:
        match metadata.get("tokenizer.ggml.model"):
            case "gpt2":
                rules = pre_tokenization(metadata)
                self.add_bos = rules.add_bos
                return ByteLevelBpe(self._vocabulary, metadata, rules)
            case "llama":
                self.add_bos = True
                self._space_prefix = bool(metadata.get("tokenizer.ggml.add_space_prefix", True))
                return SentencePieces(self._vocabulary, metadata)
            case "bert":
                self.add_bos = self.add_eos = self._words_only = True
                return WordPieces(self._vocabulary, metadata)
            case kind:
                raise TokenizerError(
                    f"{named(metadata, 'tokenizer.ggml.model')} is {kind!r}; this engine reads"
                    " 'gpt2' (byte-level BPE), 'llama' (SentencePiece) and 'bert' (WordPiece)"
                )

    def _encode_plain(self, text: str) -> list[int]:
        if LONG_CHARACTERS <= len(text) <= LONGEST_CHARACTERS:
            return list(self._remembered(text))
        return self._encode_anew(text)

    @cached_property
    def _remembered(self) -> Callable[[str], tuple[int, ...]]:
        """The tokens of a long text; of those used last they are known."""
        return lru_cache(LONG_TEXTS)(lambda text: tuple(self._encode_anew(text)))

    def _encode_anew(self, text: str) -> list[int]:
        if not text:
            return []
        if self._space_prefix:
            text = " " + text
        if self._always is None:
            return self._pieces.encode(text)
        ids: list[int] = []
        for number, stretch in enumerate(self._always.split(text)):
            found = [self._user_defined[stretch]] if number % 2 else self._pieces.encode(stretch)
            ids.extend(found)
        return ids

    def _spelled(self, token: str) -> str:
        """A user-defined token as it stands in text."""
        return token.replace(SPACE, " ") if isinstance(self._pieces, SentencePieces) else token

    @cached_property
    def _special(self) -> re.Pattern[str] | None:
        return _alternation(self.control)

    def _end_of_generation(self, metadata: Mapping[str, Any]) -> frozenset[int]:
        count = len(self._vocabulary)
        named = (token_id(metadata, name, count) for name in ("eos", "eot", "eom"))
        by_text = (self.control.get(token) for token in END_OF_GENERATION)
        return frozenset(token for token in (*named, *by_text) if token is not None)


class Detokenizer:
    """Tokens of one answer → text as it grows, never half a character."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def push(self, token: int) -> str:
        """The text that ``token`` completes; bytes of an unfinished character are held back.

        What is still held back when the answer ends is half a character, and is dropped.
        """
        return self._decoder.decode(self._tokenizer.token_bytes(token))


def _alternation(tokens: Iterable[str]) -> re.Pattern[str] | None:
    longest_first = sorted(tokens, key=len, reverse=True)
    if not longest_first:
        return None
    return re.compile("(" + "|".join(map(re.escape, longest_first)) + ")")
