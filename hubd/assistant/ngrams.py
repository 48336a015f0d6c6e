"""An utterance as its words and pieces of words: a vector for the languages without an encoder.

Words, pairs of words and the letters within them (in Chinese: characters and runs of them) that
occur in the examples, weighted by how few examples have them (tf-idf), scaled to length 1. A word
that is heard or inflected a little differently still shares most of its pieces.
"""

import itertools
from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

LETTERS = (3, 4, 5)
"""Lengths of the pieces of words."""
CHARACTERS = (1, 2, 3)
"""The same where words are not written apart."""
PIECES_WEIGH = 0.5
"""A piece of a word against the whole word."""


class Ngrams:
    """The words and pieces of ``texts``; ``spaces`` where words are written apart."""

    def __init__(self, texts: Sequence[str], spaces: bool) -> None:
        self._spaces = spaces
        counts = Counter(piece for text in texts for piece in set(_pieces(text, spaces)))
        self._index = {piece: n for n, piece in enumerate(sorted(counts))}
        found = np.array([counts[piece] for piece in sorted(counts)], np.float32)
        self._rarity = np.log((1 + len(texts)) / (1 + found)) + 1

    def vectors(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """float32 (texts, d), every row of length 1; zero where nothing is known."""
        rows = np.zeros((len(texts), len(self._index)), np.float32)
        for row, text in zip(rows, texts, strict=True):
            for piece in _pieces(text, self._spaces):
                if (column := self._index.get(piece)) is not None:
                    row[column] += PIECES_WEIGH if piece.startswith("#") else 1.0
        rows = np.sqrt(rows) * self._rarity
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        return np.asarray(rows / np.maximum(lengths, 1e-6), np.float32)


def _pieces(text: str, spaces: bool) -> Iterator[str]:
    """Words and pairs as they are, pieces of words behind a ``#``."""
    if not spaces:
        joined = "".join(text.split())
        for length in CHARACTERS:
            yield from (joined[i : i + length] for i in range(len(joined) - length + 1))
        return
    words = text.split()
    yield from words
    yield from map(" ".join, itertools.pairwise(words))
    for word in words:
        edged = f"<{word}>"
        for length in LETTERS:
            yield from (f"#{edged[i : i + length]}" for i in range(len(edged) - length + 1))
