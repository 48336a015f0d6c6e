"""How far ahead a product asks for its weights, into L2: what a core's own prefetching leaves.

One row waits for memory all the time, and asks for little besides; where several columns share what
is read, the time to multiply it comes on top, unless it is asked for long before: memory takes
0.12 µs, in which two threads multiply 4 kB with four columns. By turns of processes on a Xeon
(AVX-512 VNNI, two threads), against 1 kB for up to four columns and nothing for eight: steps of
SmolLM2 Q8_0 with 2, 4 and 8 rows take 4.2 ms for 5.6, 4.9 for 6.9 and 6.5 for 10.3.
"""

from typing import NamedTuple

from engine.formats.packed import SUPER
from engine.kernels.processor import processor


class Asking(NamedTuple):
    """What suits a family of processors."""

    row: int
    """Bytes ahead of a single row's weights."""
    never: tuple[int, ...] = ()
    """Bits of weights (as in formats.packed) of which asking costs more than it gives."""


ZEN = Asking(1024, (SUPER + 5,))
"""AMD's: 2 kB are as good for 8 bits and take 14 % off 4; 5 bits with super-blocks take 3.1 ms for
74 MB with asking, 2.7 without."""
OTHERS = Asking(2048)
"""A Xeon's token takes 7 to 9 % less than with 1 kB, with 8, 5 and 4 bits, from 98 MB to 1.3 GB;
5 bits with super-blocks come at 32 GB/s, 24 without asking."""
COLUMNS = 4096
"""Bytes ahead with two columns and more."""


def ahead(bits: int, columns: int) -> int:
    """Bytes behind the weights at hand that are asked for; 0: nothing is."""
    asking = ZEN if processor().startswith("znver") else OTHERS
    if bits in asking.never:
        return 0
    return asking.row if columns == 1 else COLUMNS
