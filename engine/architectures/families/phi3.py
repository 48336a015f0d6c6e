"""Phi 3 (Abdin et al. 2024): fused matrices, windows, long and short rotary factors."""

from engine.architectures.family import Family

FAMILY = Family(rope="halves", fused=True, window_every=0)
