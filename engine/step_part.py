"""What a step of the model is asked for. Light: who makes parts need not load the kernels."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from engine.kv import KVSequence


class Part(NamedTuple):
    """What a step computes of one sequence."""

    tokens: "Sequence[int] | NDArray[np.int32]"
    """Appended to the sequence."""
    sequence: "KVSequence"
    outputs: int
    """Of how many of the last tokens the result is wanted."""
    choices: int = 0
    """Address of a record of kernels.choice_layout for each output, in whose way the step chooses
    the next token; 0: it does not."""
