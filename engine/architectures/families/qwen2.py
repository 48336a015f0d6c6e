"""Qwen 2 and 2.5 (Yang et al. 2024): queries, keys and values have biases."""

from engine.architectures.family import Family

FAMILY = Family(rope="halves", biases=("attn_q", "attn_k", "attn_v"))
