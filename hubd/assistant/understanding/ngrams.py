"""An utterance as its words and pieces of words: a vector that needs no encoder.

Words, pairs of words and the letters within them (in Chinese: characters and runs of them), each
counted at the place that its hash gives (Weinberger et al., 2009), weighted by how few examples
have what is counted there (tf-idf), scaled to length 1. A word that is heard or inflected a little
differently still shares most of its pieces.
"""

import itertools
import zlib
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

PLACES = 1 << 13
"""Some 30 000 different pieces in the examples of a language; four times as many places make one
sentence in two hundred different."""
LETTERS = (3, 4, 5)
"""Lengths of the pieces of words."""
CHARACTERS = (1, 2, 3)
"""The same where words are not written apart."""
PIECES_WEIGH = 0.5
"""A piece of a word against the whole word."""

Vectors = NDArray[np.float32]


def counted(texts: Sequence[str], spaces: bool) -> Vectors:
    """float32 (texts, PLACES), roots of counts; ``spaces`` where words are written apart."""
    rows = np.zeros((len(texts), PLACES), np.float32)
    for row, text in zip(rows, texts, strict=True):
        for piece in _pieces(text, spaces):
            place = zlib.crc32(piece.encode("utf-8", "replace")) % PLACES
            row[place] += PIECES_WEIGH if piece.startswith("#") else 1.0
    return np.sqrt(rows)


def rarity(counts: Vectors) -> Vectors:
    """float32 (PLACES,): the weight of each place by how few of the texts count anything there."""
    found = np.count_nonzero(counts, axis=0)
    return np.asarray(np.log((1 + len(counts)) / (1 + found)) + 1, np.float32)


def scaled(counts: Vectors, rarity: Vectors) -> Vectors:
    """float32 (texts, PLACES), every row of length 1; zero where nothing was said."""
    rows = counts * rarity
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
