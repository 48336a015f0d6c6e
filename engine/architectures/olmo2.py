"""OLMo 2 (OLMo team 2024): norms after the blocks; queries and keys normed over their width."""

from engine.architectures.family import Family

FAMILY = Family(
    rope="halves",
    norms_before=False,
    norms_after=True,
    query_key_norm="width",
)
