"""Byte-level BPE (GPT-2 and its kin) through the ``tokenizers`` library.

Control tokens are no part of the library's vocabulary, so plain text can never become one.
"""

from collections.abc import Mapping
from typing import Any

from tokenizers import Tokenizer, normalizers
from tokenizers.models import BPE

from engine.errors import TokenizerError
from engine.gguf_header import named
from engine.tokenizers.pre_tokenizers import PreTokenization, parts, pre_tokenizer
from engine.tokenizers.vocabulary import BYTE, NORMAL, Vocabulary, strings


def _byte_alphabet() -> dict[int, str]:
    """GPT-2's printable stand-in of every byte (openai/gpt-2, encoder.py, bytes_to_unicode)."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in printable]
    return {byte: chr(byte) for byte in printable} | {
        byte: chr(256 + rank) for rank, byte in enumerate(others)
    }


_BYTE_TO_CHAR = _byte_alphabet()
_CHAR_TO_BYTE = {ord(char): chr(byte) for byte, char in _BYTE_TO_CHAR.items()}


class ByteLevelBpe:
    """Plain text → ids. 49 152 tokens take 0.1 s to build; to load them from JSON takes longer."""

    def __init__(
        self,
        vocabulary: Vocabulary,
        metadata: Mapping[str, Any],
        rules: PreTokenization,
    ) -> None:
        self._tokens = vocabulary.tokens
        self._bpe = _build(vocabulary.of_type(NORMAL, BYTE), metadata, rules)
        self._missing = bytes(
            byte for byte, char in _BYTE_TO_CHAR.items() if self._bpe.token_to_id(char) is None
        )

    def encode(self, text: str) -> list[int]:
        """Ids of a stretch without special tokens; long ones release the GIL."""
        if not text:
            return []
        ids: list[int] = []
        for part in parts(self._replace_unspellable(text)):
            # encode() holds the GIL all along; the batch call releases it.
            ids.extend(self._bpe.encode_batch_fast([part], add_special_tokens=False)[0].ids)
        return ids

    def token_bytes(self, token: int) -> bytes:
        """UTF-8 of a normal token, maybe half a character."""
        spelled = self._tokens[token]
        try:
            return spelled.translate(_CHAR_TO_BYTE).encode("latin-1")
        except UnicodeEncodeError:
            return spelled.encode("utf-8", "replace")

    def _replace_unspellable(self, text: str) -> str:
        """Characters whose UTF-8 bytes the vocabulary lacks become U+FFFD."""
        raw = text.encode("utf-8", "replace")
        if len(raw.translate(None, self._missing)) == len(raw):
            return raw.decode("utf-8")
        unspellable = set(self._missing)
        return "".join(
            "\N{REPLACEMENT CHARACTER}" if unspellable.intersection(char.encode()) else char
            for char in raw.decode("utf-8")
        )


def _build(
    vocabulary: dict[str, int], metadata: Mapping[str, Any], rules: PreTokenization
) -> Tokenizer:
    merges = strings(metadata, "tokenizer.ggml.merges")
    pairs = [(merge[: (cut := merge.find(" ", 1))], merge[cut + 1 :]) for merge in merges]
    try:
        bpe = Tokenizer(BPE(vocab=vocabulary, merges=pairs, ignore_merges=rules.ignore_merges))
    except Exception as error:  # the library raises bare Exception for a bad vocabulary
        merges_named = named(metadata, "tokenizer.ggml.merges")
        raise TokenizerError(f"{merges_named} do not fit the vocabulary: {error}") from error
    bpe.pre_tokenizer = pre_tokenizer(rules)
    if rules.nfc:
        bpe.normalizer = normalizers.NFC()
    return bpe
