"""Granite 3 (IBM 2024): multipliers, all of them in the metadata."""

from engine.architectures.family import Family

FAMILY = Family()
