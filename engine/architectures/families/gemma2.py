"""Gemma 2 (Gemma team 2024): norms around the blocks, soft caps, every other layer has a window."""

from engine.architectures.family import Activation, Family

FAMILY = Family(
    rope="halves",
    activation=Activation.GELU,
    embedding_scaled_by_width=True,
    norms_after=True,
    window_every=2,
    query_scale_by_width=46,
)
