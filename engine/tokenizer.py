"""GGUF vocabulary → tokens and back.

Byte-level BPE through the ``tokenizers`` library, built from the vocabulary, merges, token types
and pre-tokenizer name of a GGUF file. Control tokens are no part of the BPE vocabulary, so plain
text can never become one: only ``encode_with_special`` recognises them. Knows nothing of
templates, models or requests.
"""

import codecs
import hashlib
import logging
import os
import re
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
from tokenizers import Regex, normalizers, pre_tokenizers
from tokenizers import Tokenizer as BpeTokenizer
from tokenizers.models import BPE

from engine.errors import TokenizerError

log = logging.getLogger(__name__)

# tokenizer.ggml.token_type (llama.cpp, enum llama_token_type)
NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE = 1, 2, 3, 4, 5, 6

# Control tokens that end an answer whatever the metadata says; models ship with one of them
# missing from eos_token_id more often than not (llama.cpp, llama_vocab special_eog_ids).
END_OF_GENERATION = frozenset(
    {
        *("<|endoftext|>", "<|end_of_text|>", "<|im_end|>", "<|end|>"),
        *("<|eot_id|>", "<|eom_id|>", "<end_of_turn>", "</s>"),
    }
)

MAX_VOCABULARY = 1_000_000
_CACHE_VERSION = 1


class PreTokenization(msgspec.Struct, frozen=True, kw_only=True):
    """How a family of byte-level BPE vocabularies cuts text before merging."""

    pattern: str | None = None
    """Regular expression of the pieces; ``None`` is the one of GPT-2."""
    single_digits: bool = False
    """Cut every digit off first."""
    ignore_merges: bool = False
    """A piece that is a token as a whole is that token, whatever the merges say."""
    nfc: bool = False
    add_bos: bool = False
    """Default where the file does not say."""


_CONTRACTIONS = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)"
_WORDS = rf"{_CONTRACTIONS}|[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+"
_REST = r" ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"

# tokenizer.ggml.pre → rules, after llama.cpp (src/llama-vocab.cpp) and each model's tokenizer.json.
PRE_TOKENIZERS: dict[str, PreTokenization] = {
    "gpt-2": PreTokenization(),
    "smollm": PreTokenization(single_digits=True),
    "llama-bpe": PreTokenization(
        pattern=rf"{_WORDS}|\p{{N}}{{1,3}}|{_REST}", ignore_merges=True, add_bos=True
    ),
    "qwen2": PreTokenization(pattern=rf"{_WORDS}|\p{{N}}|{_REST}", nfc=True),
}


def _byte_alphabet() -> dict[int, str]:
    """GPT-2's printable stand-in of every byte (openai/gpt-2, encoder.py, bytes_to_unicode)."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in printable]
    return {byte: chr(byte) for byte in printable} | {
        byte: chr(256 + rank) for rank, byte in enumerate(others)
    }


_BYTE_TO_CHAR = _byte_alphabet()
_CHAR_TO_BYTE = {ord(char): chr(byte) for byte, char in _BYTE_TO_CHAR.items()}


class Tokenizer:
    """Text → token ids and back, for one vocabulary. Safe to use from several threads."""

    def __init__(self, metadata: Mapping[str, Any], *, cache_file: Path | None = None) -> None:
        """Build from GGUF metadata; ``cache_file`` keeps the built tokenizer between starts.

        Raises TokenizerError when the metadata is incomplete or of an unsupported kind.
        """
        self._tokens, self._types = _vocabulary(metadata)
        self.rules = _pre_tokenization(metadata)
        self._bpe = _load_or_build(self._tokens, self._types, metadata, self.rules, cache_file)
        self.bos_id = _token_id(metadata, "bos", len(self._tokens))
        self.eos_id = _token_id(metadata, "eos", len(self._tokens))
        self.add_bos = bool(metadata.get("tokenizer.ggml.add_bos_token", self.rules.add_bos))
        self.add_eos = bool(metadata.get("tokenizer.ggml.add_eos_token", False))
        self.control = self._of_type(CONTROL)
        user_defined = self._of_type(USER_DEFINED)
        self._always = _alternation(user_defined)
        self._special = _alternation({**user_defined, **self.control})
        self._literal = {**user_defined, **self.control}
        self.end_of_generation = self._end_of_generation(metadata)
        self._missing = bytes(b for b, char in _BYTE_TO_CHAR.items() if self._lacks(char))

    @property
    def vocabulary_size(self) -> int:
        return len(self._tokens)

    def token_text(self, token: int) -> str:
        """The token as the file spells it (byte-level alphabet), for control tokens their name."""
        return self._tokens[token]

    def encode(self, text: str, *, add_special: bool = True) -> list[int]:
        """Token ids of plain text. Control tokens spelled out in it stay plain text.

        ``add_special`` adds the begin and end tokens that the model file asks for, no others.
        Characters whose UTF-8 bytes the vocabulary lacks become U+FFFD. Long texts release the GIL.
        """
        ids = self._encode_stretches(text, self._always)
        if add_special:
            if self.add_bos and self.bos_id is not None:
                ids.insert(0, self.bos_id)
            if self.add_eos and self.eos_id is not None:
                ids.append(self.eos_id)
        return ids

    def encode_with_special(self, text: str) -> list[int]:
        """Token ids of trusted text: control tokens spelled out in it are recognised."""
        return self._encode_stretches(text, self._special)

    def split_special(self, text: str) -> list[str | int]:
        """Cut trusted text at its control tokens: plain stretches and token ids, in order."""
        if self._special is None:
            return [text] if text else []
        parts = self._special.split(text)
        return [self._literal.get(part, part) for part in parts if part]

    def token_bytes(self, token: int) -> bytes:
        """The UTF-8 bytes (maybe an incomplete character) of one token; none for control tokens."""
        kind, spelled = self._types[token], self._tokens[token]
        if kind in (CONTROL, UNKNOWN, UNUSED):
            return b""
        if kind == USER_DEFINED:
            return spelled.encode("utf-8", "replace")
        try:
            return spelled.translate(_CHAR_TO_BYTE).encode("latin-1")
        except UnicodeEncodeError:
            return spelled.encode("utf-8", "replace")

    def decode(self, tokens: Iterable[int]) -> str:
        """Text of the tokens. Control tokens vanish; broken UTF-8 becomes U+FFFD."""
        return b"".join(map(self.token_bytes, tokens)).decode("utf-8", "replace")

    def _encode_stretches(self, text: str, special: re.Pattern[str] | None) -> list[int]:
        text = self._replace_unspellable(text)
        if special is None:
            return self._encode_plain(text)
        ids: list[int] = []
        for stretch in special.split(text):
            token = self._literal.get(stretch)
            ids.extend(self._encode_plain(stretch) if token is None else [token])
        return ids

    def _encode_plain(self, text: str) -> list[int]:
        if not text:
            return []
        # encode() holds the GIL all along; the batch call releases it.
        encoding = self._bpe.encode_batch_fast([text], add_special_tokens=False)[0]
        return list(encoding.ids)

    def _replace_unspellable(self, text: str) -> str:
        raw = text.encode("utf-8", "replace")
        if len(raw.translate(None, self._missing)) == len(raw):
            return raw.decode("utf-8")
        unspellable = set(self._missing)
        return "".join(
            "\N{REPLACEMENT CHARACTER}" if unspellable.intersection(char.encode()) else char
            for char in raw.decode("utf-8")
        )

    def _lacks(self, char: str) -> bool:
        return self._bpe.token_to_id(char) is None

    def _of_type(self, kind: int) -> dict[str, int]:
        return {
            token: index
            for index, token in enumerate(self._tokens)
            if self._types[index] == kind and token
        }

    def _end_of_generation(self, metadata: Mapping[str, Any]) -> frozenset[int]:
        named = (_token_id(metadata, name, len(self._tokens)) for name in ("eos", "eot", "eom"))
        by_text = (index for token, index in self.control.items() if token in END_OF_GENERATION)
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


def cache_file_for(directory: Path, content_hash: str) -> Path:
    """Where the tokenizer of the model with this content hash is kept."""
    name = hashlib.sha256(f"{_CACHE_VERSION}:{content_hash}".encode()).hexdigest()[:32]
    return directory / f"tokenizer-{name}.json"


def _vocabulary(metadata: Mapping[str, Any]) -> tuple[list[str], list[int]]:
    kind = metadata.get("tokenizer.ggml.model")
    if kind != "gpt2":
        raise TokenizerError(
            f"tokenizer.ggml.model is {kind!r}; this engine reads 'gpt2' (byte-level BPE)"
        )
    tokens = _strings(metadata, "tokenizer.ggml.tokens")
    if not 0 < len(tokens) <= MAX_VOCABULARY:
        raise TokenizerError(
            f"tokenizer.ggml.tokens has {len(tokens)} entries; 1 to {MAX_VOCABULARY} are allowed"
        )
    types = metadata.get("tokenizer.ggml.token_type")
    types = [NORMAL] * len(tokens) if types is None else [int(kind) for kind in types]
    if len(types) != len(tokens):
        raise TokenizerError(
            f"tokenizer.ggml.token_type has {len(types)} entries for {len(tokens)} tokens"
        )
    return tokens, types


def _pre_tokenization(metadata: Mapping[str, Any]) -> PreTokenization:
    name = metadata.get("tokenizer.ggml.pre")
    if name not in PRE_TOKENIZERS:
        known = ", ".join(sorted(PRE_TOKENIZERS))
        raise TokenizerError(f"tokenizer.ggml.pre is {name!r}; this engine knows: {known}")
    return PRE_TOKENIZERS[name]


def _token_id(metadata: Mapping[str, Any], name: str, vocabulary: int) -> int | None:
    token = metadata.get(f"tokenizer.ggml.{name}_token_id")
    if token is None:
        return None
    if not 0 <= int(token) < vocabulary:
        raise TokenizerError(
            f"tokenizer.ggml.{name}_token_id is {token}, outside the vocabulary of {vocabulary}"
        )
    return int(token)


def _strings(metadata: Mapping[str, Any], key: str) -> list[str]:
    value = metadata.get(key)
    if not isinstance(value, Sequence) or not all(isinstance(entry, str) for entry in value):
        raise TokenizerError(f"{key} is missing or is no list of strings")
    return list(value)


def _alternation(tokens: Mapping[str, int]) -> re.Pattern[str] | None:
    if not tokens:
        return None
    longest_first = sorted(tokens, key=len, reverse=True)
    return re.compile("(" + "|".join(map(re.escape, longest_first)) + ")")


def _load_or_build(
    tokens: list[str],
    types: list[int],
    metadata: Mapping[str, Any],
    rules: PreTokenization,
    cache_file: Path | None,
) -> BpeTokenizer:
    vocabulary = {
        token: index for index, token in enumerate(tokens) if types[index] in (NORMAL, BYTE)
    }
    if cache_file is not None and (cached := _read_cache(cache_file, vocabulary)) is not None:
        return cached
    built = _build(vocabulary, metadata, rules)
    if cache_file is not None:
        _write_cache(cache_file, built)
    return built


def _build(
    vocabulary: dict[str, int], metadata: Mapping[str, Any], rules: PreTokenization
) -> BpeTokenizer:
    merges = _strings(metadata, "tokenizer.ggml.merges")
    pairs = [(merge[: (cut := merge.find(" ", 1))], merge[cut + 1 :]) for merge in merges]
    try:
        bpe = BpeTokenizer(BPE(vocab=vocabulary, merges=pairs, ignore_merges=rules.ignore_merges))
    except Exception as error:  # the library raises bare Exception for a bad vocabulary
        raise TokenizerError(f"the merges do not fit the vocabulary: {error}") from error
    bpe.pre_tokenizer = pre_tokenizer(rules)
    if rules.nfc:
        bpe.normalizer = normalizers.NFC()
    return bpe


def pre_tokenizer(rules: PreTokenization) -> pre_tokenizers.PreTokenizer:
    """The rules in the terms of the ``tokenizers`` library."""
    steps: list[pre_tokenizers.PreTokenizer] = []
    if rules.single_digits:
        steps.append(pre_tokenizers.Digits(individual_digits=True))
    if rules.pattern is not None:
        steps.append(pre_tokenizers.Split(Regex(rules.pattern), behavior="isolated"))
    steps.append(pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=rules.pattern is None))
    return pre_tokenizers.Sequence(steps)


def _read_cache(path: Path, vocabulary: Mapping[str, int]) -> BpeTokenizer | None:
    try:
        cached = BpeTokenizer.from_str(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except Exception as error:  # the library raises bare Exception for bad JSON
        log.warning("tokenizer cache %s is damaged, building it again: %s", path.name, error)
        return None
    if cached.get_vocab(with_added_tokens=False) != vocabulary:
        log.warning("tokenizer cache %s is of another vocabulary, building it again", path.name)
        return None
    return cached


def _write_cache(path: Path, bpe: BpeTokenizer) -> None:
    """Write beside, then rename. A cache that cannot be written costs time, nothing else."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=path.name)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(bpe.to_str())
        Path(temporary).replace(path)
    except OSError as error:
        log.warning("cannot keep the tokenizer in %s: %s", path.parent, error)
