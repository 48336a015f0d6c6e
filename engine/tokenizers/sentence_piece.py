"""SentencePiece vocabularies of the BPE kind (Llama 2, Mistral, Gemma), from tokens and scores.

Neighbours whose joined text is a token are merged, highest score first, leftmost among equals
(Kudo and Richardson 2018; sentencepiece, bpe_model.cc; llama.cpp, llm_tokenizer_spm). What is no
token in the end becomes its UTF-8 bytes. The ``tokenizers`` library cannot express it: its merges
have a rank for each pair, so that "a"+"aa" and "aa"+"a" are no equals. Tokens are found by their
text in a hash table instead, which takes 60 ms to make from 262 144 entries: no cache is needed.
"""

import heapq
import re
import secrets
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from engine.errors import TokenizerError
from engine.gguf_header import named
from engine.tokenizers.vocabulary import (
    BYTE,
    CONTROL,
    UNKNOWN,
    UNUSED,
    USER_DEFINED,
    Vocabulary,
    numbers,
    token_id,
)

Ints = npt.NDArray[np.int32]
Offsets = npt.NDArray[np.int64]
Hashes = npt.NDArray[np.uint64]
Floats = npt.NDArray[np.float64]

SPACE = "▁"
_SPACE, _LITERAL = ord(SPACE), 0x110000
"""A "▁" of the text itself is no space: it stands as a number beyond Unicode, and becomes bytes."""
PART_CHARACTERS = 1 << 16
"""Merged at a time, which bounds the memory that a long text takes."""


class Table(NamedTuple):
    """Token by text: the mergeable tokens in the order of their hashes, in buckets."""

    text: Ints
    """All tokens' characters in a row."""
    ends: Offsets
    """Where each token ends in ``text``."""
    order: Offsets
    """Token ids by rising hash."""
    hashes: Hashes
    """Of ``order``, times the multiplier once more, so that the first bits depend on all."""
    buckets: Offsets
    """Where in ``order`` the hashes begin whose first bits are the index."""
    shift: np.uint64
    """Hash >> shift is its bucket."""
    multiplier: np.uint64
    """Of the polynomial; drawn by lot, so that no file can have all its tokens in one bucket."""


class SentencePieces:
    """Plain text → ids."""

    def __init__(self, vocabulary: Vocabulary, metadata: Mapping[str, Any]) -> None:
        self._vocabulary = vocabulary
        scores = numbers(metadata, "tokenizer.ggml.scores", len(vocabulary), np.float32)
        if scores is None:
            where = named(metadata, "tokenizer.ggml.scores")
            raise TokenizerError(f"{where} is missing; SentencePiece needs it")
        self._scores = np.nan_to_num(scores).astype(np.float64)
        try:
            self._bytes = _byte_tokens(vocabulary)
        except ValueError as error:
            raise TokenizerError(f"{named(metadata, 'tokenizer.ggml.tokens')}: {error}") from None
        self._unknown = token_id(metadata, "unknown", len(vocabulary)) or 0
        mergeable = ~np.isin(vocabulary.types, (CONTROL, UNKNOWN, USER_DEFINED, UNUSED, BYTE))
        self._table = _table(vocabulary.tokens, mergeable)
        self._words_apart = not _spans_words(self._table, mergeable)

    def encode(self, text: str) -> list[int]:
        """Ids of a stretch without special tokens; releases the GIL."""
        points = np.frombuffer(text.encode("utf-32-le", "replace"), dtype=np.int32).copy()
        points[points == _SPACE] = _LITERAL
        points[points == ord(" ")] = _SPACE
        if not points.size:
            return []
        ids: list[int] = []
        for part in self._cut(points):
            found = _merge(self._table, self._scores, part)
            if found.min() >= 0:
                ids.extend(found.tolist())
            else:
                ids.extend(token for id_ in found.tolist() for token in self._or_bytes(id_))
        return ids

    def token_bytes(self, token: int) -> bytes:
        """UTF-8 of a normal or byte token."""
        spelled = self._vocabulary.tokens[token]
        if self._vocabulary.types[token] == BYTE:
            return bytes([_byte_of(spelled)])
        return spelled.replace(SPACE, " ").encode("utf-8", "replace")

    def _cut(self, points: Ints) -> Iterator[Ints]:
        """Parts of a long text, to bound memory, where no merge goes across."""
        start = 0
        if self._words_apart:
            boundaries = np.flatnonzero((points[1:] == _SPACE) & (points[:-1] != _SPACE)) + 1
            for boundary in boundaries.tolist():
                if boundary - start >= PART_CHARACTERS:
                    yield points[start:boundary]
                    start = boundary
        yield points[start:]

    def _or_bytes(self, found: int) -> list[int]:
        """A token stands for itself, -1 - c for the character c."""
        if found >= 0:
            return [found]
        point = -1 - found
        raw = (SPACE if point == _LITERAL else chr(point)).encode()
        tokens = [self._bytes.get(byte, -1) for byte in raw]
        return [self._unknown] if -1 in tokens else tokens


def _byte_of(spelled: str) -> int:
    """0xAB of "<0xAB>"; ValueError for anything else."""
    found = re.fullmatch("<0x([0-9A-Fa-f]{2})>", spelled)
    if found is None:
        raise ValueError(f"the byte token {spelled!r} is not of the form <0x00> to <0xFF>")
    return int(found[1], 16)


def _byte_tokens(vocabulary: Vocabulary) -> dict[int, int]:
    return {_byte_of(token): index for token, index in vocabulary.of_type(BYTE).items()}


def _table(tokens: list[str], mergeable: npt.NDArray[np.bool_]) -> Table:
    text = np.frombuffer("".join(tokens).encode("utf-32-le", "replace"), dtype=np.int32)
    ends = np.cumsum(np.fromiter(map(len, tokens), dtype=np.int64, count=len(tokens)))
    multiplier = np.uint64(secrets.randbits(64) | 1)
    hashes = _hashes(text, ends, multiplier) * multiplier
    chosen = np.flatnonzero(mergeable)
    order = chosen[np.argsort(hashes[chosen], kind="stable")]
    bits = max(1, int(order.size).bit_length())
    shift = np.uint64(64 - bits)
    limits = np.arange(2**bits, dtype=np.uint64) << shift
    buckets = np.append(np.searchsorted(hashes[order], limits), order.size)
    return Table(text, ends, order, hashes[order], buckets, shift, multiplier)


def _spans_words(table: Table, mergeable: npt.NDArray[np.bool_]) -> bool:
    """Whether a token goes on after the end of a word."""
    text, ends = table.text, table.ends
    after = np.flatnonzero((text[1:] == _SPACE) & (text[:-1] != _SPACE)) + 1
    token = np.searchsorted(ends, after, side="right")
    starts = np.concatenate([[0], ends[:-1]])
    return bool((mergeable[token] & (starts[token] < after)).any())


def _hashes(text: Ints, ends: Offsets, multiplier: np.uint64) -> Hashes:
    """Polynomial hash of every token, all tokens' k-th characters at a time."""
    starts = np.concatenate([[0], ends[:-1]])
    hashes = np.zeros(ends.size, dtype=np.uint64)
    going = np.flatnonzero(starts < ends)
    position = 0
    while going.size:
        characters = text[starts[going] + position].astype(np.uint64)
        hashes[going] = hashes[going] * multiplier + characters
        position += 1
        going = going[starts[going] + position < ends[going]]
    return hashes


@njit(cache=True, nogil=True)
def _find(table: "Table", value: np.uint64, points: Ints, start: int, end: int) -> int:
    """The token spelled points[start:end], whose hash is ``value``; -1 if there is none."""
    mixed = value * table.multiplier
    bucket = mixed >> table.shift
    for at in range(table.buckets[bucket], table.buckets[bucket + 1]):
        token = table.order[at]
        begin = table.ends[token - 1] if token else 0
        if table.hashes[at] == mixed and table.ends[token] - begin == end - start:
            same = True
            for offset in range(end - start):
                same &= table.text[begin + offset] == points[start + offset]
            if same:
                return int(token)
    return -1


@njit(cache=True, nogil=True)
def _merge(table: "Table", scores: Floats, points: Ints) -> Ints:
    """Ids of the tokens that the characters merge into; -1 - c where the character c is none.

    points: code points, shape (n,), n > 0. A symbol is points[i : end[i]], named by its first i.
    """
    n = points.size
    prefix = np.zeros(n + 1, dtype=np.uint64)  # hash of points[:i]: any part's in two operations
    power = np.ones(n + 1, dtype=np.uint64)
    for i in range(n):
        prefix[i + 1] = prefix[i] * table.multiplier + np.uint64(points[i])
        power[i + 1] = power[i] * table.multiplier
    end = np.arange(1, n + 1)
    before = np.arange(-1, n - 1)
    alive = np.ones(n, dtype=np.bool_)
    pairs: list[tuple[float, int, int]] = [(0.0, 0, 0) for _ in range(0)]
    looking = np.arange(n - 1)  # symbols to be looked at with the one that follows
    while True:
        for first in looking:
            if first >= 0 and end[first] < n:
                last = end[end[first]]
                value = prefix[last] - prefix[first] * power[last - first]
                token = _find(table, value, points, first, last)
                if token >= 0:
                    heapq.heappush(pairs, (-float(scores[token]), int(first), int(last)))
        if not pairs:
            break
        _, left, joined = heapq.heappop(pairs)
        right = end[left]
        looking = looking[:0]
        if alive[left] and right < n and end[right] == joined:  # neither has grown meanwhile
            end[left] = joined
            alive[right] = False
            if joined < n:
                before[joined] = left
            looking = np.array([before[left], left])
    ids = np.empty(n, dtype=np.int32)
    length = i = 0
    while i < n:
        value = prefix[end[i]] - prefix[i] * power[end[i] - i]
        token = _find(table, value, points, i, end[i])
        ids[length] = token if token >= 0 else -1 - points[i]
        length += 1
        i = end[i]
    return ids[:length]
