"""A value that is so many times what it is now: "half as bright", "halb so laut", 亮度减半.

Only where what it is now is known, and is the same of all that is meant. Knows no tools.
"""

from collections.abc import Collection, Mapping

from hubd.home.model import Entity

FACTORS: Mapping[str, float] = {"halve": 0.5, "double": 2.0}
"""Action → how many times as much."""
SHOWN = {"light": ("brightness", 2.55), "media_player": ("volume_level", 0.01),
         "fan": ("percentage", 1.0)}  # fmt: skip
"""Domain → the attribute that tells how much it is, and how much of that is a percent."""
OFF = frozenset({"off", "standby", "unavailable", "unknown"})


def multiplied(action: str, entities: Collection[Entity]) -> tuple[int, tuple[Entity, ...]] | None:
    """The percents that the things shall have, and which of them: those that are on."""
    running = tuple(entity for entity in entities if entity.state not in OFF)
    now = {_percent(entity) for entity in running}
    percent = now.pop() if len(now) == 1 else None
    if percent is None or action not in FACTORS:
        return None
    return max(1, min(100, round(percent * FACTORS[action]))), running


def _percent(entity: Entity) -> float | None:
    """How much it is now; ``None`` where that is not known."""
    attribute, unit = SHOWN.get(entity.domain, ("", 1.0))
    value = entity.attributes.get(attribute)
    return float(value) / unit if isinstance(value, int | float) else None
