"""BitNet b1.58 (Ma et al. 2024): a norm before the last matrix of each block.

The files that llama.cpp writes name `bitnet` and mean SiLU, unless they say otherwise; those of
bitnet.cpp name `bitnet-b1.58` (and once `bitnet-25`) and mean squared ReLU, as in BitNet 2B4T.
"""

import dataclasses

from engine.architectures.family import Activation, Family

FAMILY = Family(rope="halves", sub_norms=True)
SQUARED = dataclasses.replace(FAMILY, activation=Activation.SQUARED_RELU)
ALIASES = {"bitnet-b1.58": SQUARED, "bitnet-25": SQUARED}
