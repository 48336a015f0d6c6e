"""A question and a text read together: how well the one answers the other, as a number.

A cross-encoder (Nogueira & Cho 2019, arXiv:1901.04085): an encoder of the BERT family reads
`[CLS] question [SEP] text [SEP]`, and the first token's vector of the last layer, brought to
length 1, times one more vector is the score. It comes as an adapter of an encoder: a LoRA in GGUF
(see `engine.lora`) with that vector as `cls.weight` and what is added as `cls.bias`.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from engine.embed import TextEncoder, silent
from engine.encoder import Encoder
from engine.encoders.config import EncoderFile
from engine.encoders.folder import open_folder
from engine.encoders.gguf_file import open_gguf
from engine.errors import ModelFormatError
from engine.formats import FORMATS
from engine.gguf import GGUFFile
from engine.gguf_header import TensorInfo
from engine.lora import AdapterFile, Adapters
from engine.weights import Progress

WEIGHT, BIAS = "cls.weight", "cls.bias"
QUERY_SHARE = 0.5
"""Of the tokens that are seen, a query has at most so much."""


class Head(NamedTuple):
    """What makes a score of a vector."""

    weight: NDArray[np.float32]
    """(dim,)"""
    bias: float


class _Adapted(NamedTuple):
    """An encoder, as an adapter is checked against it."""

    metadata: Mapping[str, Any]
    tensors: Mapping[str, TensorInfo]


class CrossEncoder(TextEncoder):
    """A loaded cross-encoder with its tokenizer. Close it, or use it in a ``with`` block."""

    def __init__(self, file: EncoderFile, encoder: Encoder, head: Head) -> None:
        """Use ``load_adapted``."""
        super().__init__(file, encoder)
        self.head = head

    @classmethod
    def load_adapted(
        cls,
        path: str | os.PathLike[str],
        adapter: Path,
        *,
        threads: int | None = None,
        cache_directory: Path | None = None,
        progress: Progress | None = None,
    ) -> Self:
        """As ``TextEncoder.load``, of an encoder and what makes a cross-encoder of it.

        Raises OSError, ModelFormatError or TokenizerError.
        """
        where = Path(path)
        file = open_folder(where) if where.is_dir() else open_gguf(where)
        try:
            head = _head(adapter, file.config.dim)
            file = file._replace(config=replace(file.config, pooling="cls"))
            base = _Adapted({"general.architecture": "bert"}, file.tensors.tensors)
            adapters = Adapters.opened([AdapterFile(adapter)], base, frozenset((WEIGHT, BIAS)))
            try:
                encoder = Encoder(file, threads, cache_directory, progress or silent, adapters)
            finally:
                adapters.close()
            return cls(file, encoder, head)
        finally:
            file.close()

    def pairs(self, query: str, documents: Sequence[str]) -> list[list[int]]:
        """Token ids of the query with each document, of both what fits."""
        most = self.config.max_tokens
        (asked,) = self.tokens([query])
        end = asked[-1]
        asked = [*asked[:-1][: int(most * QUERY_SHARE) - 1], end]
        return [
            [*asked, *document[1:-1][: most - len(asked) - 1], end]
            for document in self.tokens(documents)
        ]

    def scores(self, vectors: NDArray[np.float32]) -> NDArray[np.float32]:
        """float32 (pairs,): log odds that a document answers. vectors: float32 (pairs, dim).

        Summed row by row: a product of matrices would depend on how many there are.
        """
        products: NDArray[np.float32] = (vectors * self.head.weight).sum(axis=1)
        return products + np.float32(self.head.bias)

    def read(self, query: str, documents: Sequence[str]) -> NDArray[np.float32]:
        """``scores`` of documents for a query. Blocks until all are done."""
        pairs = self.pairs(query, documents)
        scores = np.empty(len(pairs), np.float32)
        for chosen in self.slices(pairs):
            vectors = self.encoder.encode([pairs[number] for number in chosen])
            scores[chosen] = self.scores(vectors)
        return scores


def _head(adapter: Path, dim: int) -> Head:
    """Raises OSError, or ModelFormatError where it is missing or none for this encoder."""
    file = GGUFFile(adapter)
    try:
        found = []
        for name, shape in ((WEIGHT, (dim,)), (BIAS, (1,))):
            info = file.tensors.get(name)
            if info is None or info.shape != shape or info.type_name != "F32":
                told = "missing" if info is None else f"{info.type_name} {info.shape}"
                raise ModelFormatError(
                    f"adapter {adapter.name}: tensor {name!r} is {told}; F32 {shape} is expected"
                )
            values = FORMATS["F32"].dequantize(file.tensor_bytes(name), shape)
            if not np.isfinite(values).all():
                raise ModelFormatError(f"adapter {adapter.name}: {name!r} is not finite")
            found.append(values)
    finally:
        file.close()
    return Head(found[0], float(found[1][0]))
