"""Qwen 3 (Yang et al. 2025): queries and keys are normed head by head."""

from engine.architectures.family import Family

FAMILY = Family(rope="halves", query_key_norm="head")
