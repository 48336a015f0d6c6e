"""OLMo 2 (OLMo team 2024): norms after the blocks; queries and keys normed over their width.

OLMo 3 names this architecture too: three layers with a window, whose rotation is not stretched, and
one without. OLMo 2 has no windows.
"""

from engine.architectures.family import Family

FAMILY = Family(
    rope="halves",
    norms_before=False,
    norms_after=True,
    query_key_norm="width",
    window_every=4,
    local_rope_base=500_000.0,
)
