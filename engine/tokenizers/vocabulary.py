"""A GGUF file's token list, checked: spellings, types and the ids with a meaning of their own."""

from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec
import numpy as np
import numpy.typing as npt

from engine.errors import TokenizerError
from engine.gguf_header import named

# tokenizer.ggml.token_type (llama.cpp, enum llama_token_type)
NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE = 1, 2, 3, 4, 5, 6

MAX_VOCABULARY = 1_000_000

Number = TypeVar("Number", np.int64, np.float32)


class Vocabulary(msgspec.Struct, frozen=True):
    """Tokens in the order of their ids, with their types."""

    tokens: list[str]
    types: npt.NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.tokens)

    def of_type(self, *kinds: int) -> dict[str, int]:
        """Spelling → id of the tokens of these types; the first of several spelled alike."""
        chosen: dict[str, int] = {}
        for index in np.flatnonzero(np.isin(self.types, kinds)).tolist():
            if token := self.tokens[index]:
                chosen.setdefault(token, index)
        return chosen


def read_vocabulary(metadata: Mapping[str, Any]) -> Vocabulary:
    """Raises TokenizerError for a list that is missing, too long, or of the wrong elements."""
    tokens = strings(metadata, "tokenizer.ggml.tokens")
    if not 0 < len(tokens) <= MAX_VOCABULARY:
        raise TokenizerError(
            f"{named(metadata, 'tokenizer.ggml.tokens')} has {len(tokens)} entries;"
            f" 1 to {MAX_VOCABULARY} are allowed"
        )
    types = numbers(metadata, "tokenizer.ggml.token_type", len(tokens), np.int64)
    if types is None:
        types = np.full(len(tokens), NORMAL, dtype=np.int64)
    return Vocabulary(tokens, types)


def token_id(metadata: Mapping[str, Any], name: str, vocabulary: int) -> int | None:
    """The id that the file gives as ``tokenizer.ggml.<name>_token_id``, if it gives one."""
    key = f"tokenizer.ggml.{name}_token_id"
    token = metadata.get(key)
    if token is None:
        return None
    if not isinstance(token, int) or not 0 <= token < vocabulary:
        raise TokenizerError(
            f"{named(metadata, key)} is {token}, outside the vocabulary of {vocabulary}"
        )
    return token


def strings(metadata: Mapping[str, Any], key: str) -> list[str]:
    """A list of strings that has to be there."""
    value = metadata.get(key)
    if not isinstance(value, list) or not set(map(type, value)) <= {str}:
        raise TokenizerError(f"{named(metadata, key)} is missing or is no list of strings")
    return list(value)


def numbers(
    metadata: Mapping[str, Any], key: str, count: int, dtype: type[Number]
) -> npt.NDArray[Number] | None:
    """A list of ``count`` numbers, or None where the file has none."""
    value = metadata.get(key)
    if value is None:
        return None
    length = len(value) if hasattr(value, "__len__") else "no"
    if length != count:
        raise TokenizerError(f"{named(metadata, key)} has {length} entries for {count} tokens")
    if not set(map(type, value)) <= {int, float, bool}:
        raise TokenizerError(f"{named(metadata, key)} is no list of numbers")
    try:
        return np.asarray(value, dtype=dtype)
    except (OverflowError, ValueError) as error:
        raise TokenizerError(f"{named(metadata, key)} has numbers out of range: {error}") from error
