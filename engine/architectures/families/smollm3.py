"""SmolLM 3 (Hugging Face 2025): every fourth layer knows no positions."""

from engine.architectures.family import Family

FAMILY = Family(no_rope_every=4)
