"""Gemma 3 (Gemma team 2025): queries and keys normed; five layers with a window, one without."""

from engine.architectures.family import Activation, Family

FAMILY = Family(
    rope="halves",
    activation=Activation.GELU,
    embedding_scaled_by_width=True,
    norms_after=True,
    query_key_norm="head",
    window_every=6,
    local_rope_base=10_000.0,
    query_scale_by_width=62,
)
