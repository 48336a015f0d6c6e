"""Llama: RMSNorm, rotary positions, grouped-query attention, SwiGLU (Touvron et al. 2023).

Every other family is a difference from this. Mistral's files name this architecture too, and so do
Mixtral's (Jiang et al. 2024), which have experts.
"""

from engine.architectures.family import Family

FAMILY = Family(experts="may")
