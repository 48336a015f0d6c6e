"""The rows of a step as its operations ask for them (see kernels.program).

One memory for all steps of a model, filled anew for each. Between two decoded tokens NumPy's code
has left the caches, and making small arrays takes 100 µs, so this is plain memory (`array`).
Knows nothing of weights or programs.
"""

from array import array
from collections.abc import Sequence

import numpy as np

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
from engine.step_part import Part


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

    def fill(self, parts: Sequence[Part], out: int) -> int:
        """Describe the step of these parts, whose results go to the address `out`; gives the
        positions that the longest sequence has after it."""
        row = spans = kept = longest = chosen = 0
        for tokens, sequence, outputs, choices in parts:
            first, position, table = row, sequence.length, sequence.table_address
            for token in tokens:
                self._tokens[row], self._positions[row] = token, position
                self._tables[row] = table
                row, position = row + 1, position + 1
            for start in range(first, row, self._span_rows):
                self._spans[2 * spans] = start
                self._spans[2 * spans + 1] = min(self._span_rows, row - start)
                spans += 1
            for output in range(outputs):
                self._kept[kept] = row - outputs + output
                self._choices[kept] = choices and choices + RECORD_BYTES * output
                kept += 1
            longest, chosen = max(longest, position), chosen or choices
        step = self._step
        step[ROWS], step[SPAN_COUNT], step[OUTPUTS], step[LOGITS] = row, spans, kept, out
        step[CHOICES] = self._choices_address if chosen else 0
        return longest
