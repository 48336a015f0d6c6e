"""Qwen 3 with a mixture of experts (Yang et al. 2025)."""

from engine.architectures.family import Family

FAMILY = Family(rope="halves", query_key_norm="head", experts="must")
