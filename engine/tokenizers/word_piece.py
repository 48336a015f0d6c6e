"""WordPiece (BERT) through the ``tokenizers`` library.

A GGUF file marks the beginnings of words with "▁" where BERT's own vocabulary marks the
continuations with "##" (llama.cpp, convert_hf_to_gguf.py, BertModel.set_vocab). As llama.cpp does,
text is put into lower case and loses its accents; so the way back gives words, not the text.
"""

from collections.abc import Mapping
from typing import Any

from tokenizers import Tokenizer, normalizers, pre_tokenizers
from tokenizers.models import WordPiece

from engine.errors import TokenizerError
from engine.gguf_header import named
from engine.tokenizers.vocabulary import CONTROL, Vocabulary, token_id

_WORD, _CONTINUATION = "▁", "##"


class WordPieces:
    """Plain text → ids: the longest token that fits, again and again, word by word."""

    def __init__(self, vocabulary: Vocabulary, metadata: Mapping[str, Any]) -> None:
        self._tokens = vocabulary.tokens
        unknown = token_id(metadata, "unknown", len(vocabulary))
        if unknown is None:
            where = named(metadata, "tokenizer.ggml.unknown_token_id")
            raise TokenizerError(f"{where} is missing; WordPiece needs it")
        pieces = {
            _bert_spelling(token): index
            for index, token in enumerate(vocabulary.tokens)
            if vocabulary.types[index] != CONTROL and not _is_special(token)
        }
        # Under a name that no text has after the normalizer, which drops control characters.
        pieces["\0"] = unknown
        self._model = Tokenizer(WordPiece(vocab=pieces, unk_token="\0"))
        self._model.normalizer = normalizers.BertNormalizer(lowercase=True)
        self._model.pre_tokenizer = pre_tokenizers.BertPreTokenizer()

    def encode(self, text: str) -> list[int]:
        """Ids of a stretch without special tokens."""
        valid = text.encode("utf-8", "replace").decode()
        return list(self._model.encode_batch_fast([valid], add_special_tokens=False)[0].ids)

    def token_bytes(self, token: int) -> bytes:
        """The token's text; the beginning of a word brings the space before it."""
        return self._tokens[token].replace(_WORD, " ").encode("utf-8", "replace")


def _is_special(token: str) -> bool:
    return token.startswith("[") and token.endswith("]") and len(token) > 2


def _bert_spelling(token: str) -> str:
    return token[1:] if token.startswith(_WORD) else _CONTINUATION + token
