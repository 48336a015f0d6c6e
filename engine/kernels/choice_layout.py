"""How the step of a model is told by what rule to choose a token, and where it leaves it.

A record is 8 float64. Whoever wants a token fills one and names its address with the part of the
step (see step_rows); the operation `kernels.choosing.choose` writes the token into it.
"""

TEMPERATURE = 0  # 0: the most likely token
TOP_K = 1  # most tokens that may be drawn; 0: all
TOP_P = 2  # they are the most likely ones that together have this share
MIN_P = 3  # and at least this likely in relation to the most likely one
UNIFORM = 4  # a random number from [0, 1)
TOKEN = 5  # what was chosen; -1: nothing, for no logit is a finite maximum
RECORD_SLOTS = 8
RECORD_BYTES = 8 * RECORD_SLOTS

CHUNK = 256
"""Logits whose highest and whose sum of weights are kept, so that most need no second look."""


def room_bytes(vocabulary: int) -> int:
    """What each share of `choose` needs: sums and highest weights of chunks, then all weights, then
    weights and tokens of those that are kept."""
    chunks = (vocabulary + CHUNK - 1) // CHUNK
    return 12 * (chunks + vocabulary)
