"""StableLM 2 (Bellagente et al. 2024): LayerNorm, biases, partly rotated heads."""

from engine.architectures.family import Family

FAMILY = Family(
    rope="halves",
    layer_norm=True,
    optional_biases=("attn_q", "attn_k", "attn_v"),
)
