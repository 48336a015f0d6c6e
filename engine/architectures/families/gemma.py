"""Gemma (Gemma team 2024): gated GELU, scaled embeddings. Norm weights have their 1 in the file."""

from engine.architectures.family import Activation, Family

FAMILY = Family(
    rope="halves",
    activation=Activation.GELU,
    embedding_scaled_by_width=True,
)
