"""Requests and replies of ``POST /v1/embeddings``, whoever makes the vectors."""

import base64
from collections.abc import Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from engine.errors import InvalidRequestError
from engine.protocol import Embedding, EmbeddingReply, EmbeddingRequest, Usage
from engine.tokenizer import Tokenizer

MAX_INPUTS = 256

Input = TypeVar("Input")


def listed(inputs: str | list[str | int | list[int]], param: str) -> list[str | list[int]]:
    """One text, several texts, one token list or several → texts and token lists.

    Raises InvalidRequestError for token ids between texts.
    """
    if isinstance(inputs, str):
        return [inputs]
    ids = [entry for entry in inputs if isinstance(entry, int)]
    if ids and len(ids) == len(inputs):
        return [ids]
    if ids:
        raise InvalidRequestError(f"{param} mixes token ids with texts", param=param)
    return [entry for entry in inputs if not isinstance(entry, int)]


def token_lists(
    tokenizer: Tokenizer, inputs: str | list[str | int | list[int]], param: str
) -> list[list[int]]:
    """Token lists of one text, several texts, one token list or several."""
    return [
        tokenizer.encode(entry) if isinstance(entry, str) else entry
        for entry in listed(inputs, param)
    ]


def check_count(inputs: Sequence[Input], param: str = "input") -> Sequence[Input]:
    """The same, unless there are too few or too many: InvalidRequestError."""
    if not 0 < len(inputs) <= MAX_INPUTS:
        raise InvalidRequestError(
            f"{param} has {len(inputs)} entries; send 1 to {MAX_INPUTS}", param=param
        )
    return inputs


def embedding_reply(
    model: str, vectors: NDArray[np.float32], tokens: int, request: EmbeddingRequest
) -> EmbeddingReply:
    """The reply to a request that took so many tokens; vectors: float32 (inputs, dim)."""
    packed = request.encoding_format == "base64"
    data = [
        Embedding(index=index, embedding=_base64(vector) if packed else vector.tolist())
        for index, vector in enumerate(vectors)
    ]
    usage = Usage(prompt_tokens=tokens, total_tokens=tokens)
    return EmbeddingReply(model=model, data=data, usage=usage)


def _base64(vector: NDArray[np.float32]) -> str:
    """Little-endian float32."""
    return base64.b64encode(vector.astype("<f4").tobytes()).decode()
