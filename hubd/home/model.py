"""The household as the hub's parts share it; declared in ``plugins.api``: plugins see it too.

Who implements ``Home``: ``hubd/home/file.py`` (a household described in a file, states kept by the
hub), and the mirror of Home Assistant. Both make changes visible in ``snapshot()`` by themselves.
"""

from plugins.api import (
    Area,
    Entity,
    Floor,
    Home,
    HomeError,
    Location,
    NoAnswerError,
    ServiceResult,
    Snapshot,
)

__all__ = [
    "Area",
    "Entity",
    "Floor",
    "Home",
    "HomeError",
    "Location",
    "NoAnswerError",
    "ServiceResult",
    "Snapshot",
]
