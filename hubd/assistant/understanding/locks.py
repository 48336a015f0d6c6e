"""The lock of a door that is named as the door: "lock the front door", where a sensor tells whether
it is open, and the lock is called after it."""

import re
from collections.abc import Collection

from hubd.assistant.understanding.names import called
from hubd.assistant.understanding.plain import plain
from hubd.home.model import Entity, Snapshot

LOCK = "lock"
DOORS = frozenset({"door", "opening"})
"""Device classes of the sensors at a door."""


def locks_of(named: Collection[Entity], snapshot: Snapshot) -> list[Entity]:
    """The locks of the doors that are named; a lock that is named itself is meant alone."""
    if any(one.domain == LOCK for one in named):
        return [one for one in named if one.domain == LOCK]
    doors = [one for one in named if _is_door(one)]
    locks = [one for one in snapshot.entities if one.domain == LOCK]
    names = {plain(name) for door in doors for name in called(door)}
    after = [
        one for one in locks if any(door in plain(name) for name in called(one) for door in names)
    ]
    return after or [one for one in locks if any(one.area == door.area for door in doors)]


def locked_up(text: str, snapshot: Snapshot) -> str:
    """``text`` (Chinese) with the verb of locking before the door: 后门锁一下 is 锁上后门, where
    the lock of the 后门 is a 后门锁 as well."""
    for lock in (one for one in snapshot.entities if one.domain == LOCK):
        names = called(lock)
        for door in (name for name in names if f"{name}锁" in names):
            said = f"[把将]?{re.escape(door)}(?:帮我|给我)?锁一下"
            text = re.sub(said, f"锁上{door}", text)
    return text


def _is_door(entity: Entity) -> bool:
    return entity.domain == "binary_sensor" and entity.attributes.get("device_class") in DOORS
