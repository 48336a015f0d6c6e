"""The rows of a step as its operations ask for them (see kernels.program).

One memory for all steps of a model, filled anew for each. Between two decoded tokens NumPy's code
has left the caches, and making small arrays takes 100 µs, so this is plain memory (`array`).
Knows nothing of weights or programs.
"""

from array import array
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.kernels.choice_layout import RECORD_BYTES
from engine.kernels.program import (
    CHOICES,
    KEPT_ROWS,
    LOGITS,
    OUTPUTS,
    POSITIONS,
    ROWS,
    SPAN_COUNT,
    SPANS,
    STEP_SLOTS,
    TABLES,
    TOKENS,
)
from engine.kv import KVSequence


class Part(NamedTuple):
    """What a step computes of one sequence."""

    tokens: NDArray[np.int32]
    """int32 (n,), appended to the sequence."""
    sequence: KVSequence
    outputs: int
    """Of how many of the last tokens the result is wanted."""
    choices: int = 0
    """Address of a record of kernels.choice_layout for each output, in whose way the step chooses
    the next token; 0: it does not."""


class StepRows:
    """A step, and the arrays that it points to."""

    def __init__(self, most_rows: int, span_rows: int) -> None:
        """most_rows: of a step; span_rows: of a span."""
        self._span_rows = span_rows
        self._step = memoryview(array("q", bytes(8 * STEP_SLOTS)))
        self.step = np.frombuffer(self._step, np.int64)
        self._tokens = self._room("i", most_rows, TOKENS)
        self._positions = self._room("i", most_rows, POSITIONS)
        self._tables = self._room("q", most_rows, TABLES)
        self._spans = self._room("i", 2 * most_rows, SPANS)
        self._kept = self._room("i", most_rows, KEPT_ROWS)
        self._choices = self._room("q", most_rows, CHOICES)
        self._choices_address = self._step[CHOICES]

    def _room(self, kind: str, count: int, slot: int) -> "memoryview[int]":
        """Memory for so many numbers; its address becomes the slot of the step."""
        numbers = array(kind, [0]) * count
        self._step[slot] = numbers.buffer_info()[0]
        return memoryview(numbers)  # while there is one, the array cannot move

    def fill(self, parts: Sequence[Part], out: NDArray[np.float32]) -> int:
        """Describe the step of these parts, whose results go to `out`; gives the positions that
        the longest sequence has after it."""
        rows = spans = kept = longest = chosen = 0
        for tokens, sequence, outputs, choices in parts:
            first, rows = rows, rows + tokens.size
            length = sequence.length + tokens.size
            self._tokens[first:rows] = array("i", tokens.tolist())
            self._positions[first:rows] = array("i", range(sequence.length, length))
            self._tables[first:rows] = array("q", [sequence.table_address]) * tokens.size
            for row in range(first, rows, self._span_rows):
                here = min(self._span_rows, rows - row)
                self._spans[2 * spans : 2 * spans + 2] = array("i", (row, here))
                spans += 1
            self._kept[kept : kept + outputs] = array("i", range(rows - outputs, rows))
            for output in range(outputs):
                self._choices[kept + output] = choices and choices + RECORD_BYTES * output
            kept, chosen = kept + outputs, chosen or choices
            longest = max(longest, length)
        step = self._step
        step[ROWS], step[SPAN_COUNT], step[OUTPUTS] = rows, spans, kept
        step[LOGITS] = out.ctypes.data
        step[CHOICES] = self._choices_address if chosen else 0
        return longest
