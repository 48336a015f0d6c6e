"""Granite 3 with a mixture of experts (IBM 2024)."""

from engine.architectures.family import Family

FAMILY = Family(experts="may")
