"""BitNet b1.58 (Ma et al. 2024): a norm before the last matrix of each block.

The activation is in the metadata: squared ReLU in the official model.
"""

from engine.architectures.family import Family

FAMILY = Family(rope="halves", sub_norms=True)
