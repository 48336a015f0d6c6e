"""Texts → unit vectors with an encoder of the BERT family: MiniLM, BGE, E5.

A folder as sentence-transformers keeps it, or a GGUF file. Long work goes in slices, so that an
answer that is being written waits for one slice only.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Literal, Self

import numpy as np
from numpy.typing import NDArray

from engine.encoder import Encoder
from engine.encoders.config import EncoderFile, prompt_of
from engine.encoders.folder import open_folder
from engine.encoders.gguf_file import open_gguf
from engine.weights import Progress

Kind = Literal["query", "passage"]
"""What a text is for: some models were trained with a prefix for each."""
Slice = list[int]
"""Numbers of the texts that are encoded in one step."""


def silent(stage: str, fraction: float) -> None:
    """Progress that nobody watches."""


class TextEncoder:
    """A loaded encoder with its tokenizer. Close it, or use it in a ``with`` block."""

    def __init__(self, file: EncoderFile, encoder: Encoder) -> None:
        """Use ``load``."""
        self.name, self.config = file.name, file.config
        self.encoder = encoder
        self._tokenize = file.tokenize

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        *,
        threads: int | None = None,
        cache_directory: Path | None = None,
        progress: Progress | None = None,
    ) -> Self:
        """Read a folder or a GGUF file. threads: default the cores that this process may use.

        cache_directory: where packed weights are kept; without it they are packed into memory.
        Raises OSError, ModelFormatError or TokenizerError.
        """
        where = Path(path)
        file = open_folder(where) if where.is_dir() else open_gguf(where)
        try:
            return cls(file, Encoder(file, threads, cache_directory, progress or silent))
        finally:
            file.close()

    def tokens(self, texts: Sequence[str], kind: Kind | None = None) -> list[list[int]]:
        """Token ids of each text, cut to what the model sees, with its prompt for that kind."""
        prompt = prompt_of(self.config.prompts, kind) if kind else ""
        return [self._tokenize(prompt + text) for text in texts]

    def slices(
        self, texts: Sequence[Sequence[int]], most: Callable[[], int] | None = None
    ) -> Iterator[Slice]:
        """The texts in slices that fill a step, those of like length together.

        most: asked before each slice how many tokens it may have; a longer text is one by itself.
        """
        waiting = sorted(range(len(texts)), key=lambda number: len(texts[number]), reverse=True)
        while waiting:
            chosen, rows = Slice(), 0
            limit = self.encoder.step_rows if most is None else min(self.encoder.step_rows, most())
            while waiting and (not chosen or rows + len(texts[waiting[-1]]) <= limit):
                chosen.append(waiting.pop())
                rows += len(texts[chosen[-1]])
            yield chosen

    def embed(self, texts: Sequence[str], kind: Kind | None = None) -> NDArray[np.float32]:
        """float32 (texts, dim): vectors of length 1. Blocks until all are done."""
        tokens = self.tokens(texts, kind)
        vectors = np.empty((len(texts), self.config.dim), np.float32)
        for chosen in self.slices(tokens):
            vectors[chosen] = self.encoder.encode([tokens[number] for number in chosen])
        return vectors

    def close(self) -> None:
        """End the encoder's threads."""
        self.encoder.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
