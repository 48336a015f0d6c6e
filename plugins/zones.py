"""Time zones by the names of places: "Tokyo", "Tokio", 东京. No plugin."""

from functools import cache
from pathlib import Path
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

import yaml


def zone_of(place: str) -> ZoneInfo | None:
    """The time zone of a place; ``None`` where it is not known."""
    wanted = " ".join(place.casefold().strip(" .!?。！？").removeprefix("the ").split())
    try:
        return ZoneInfo(_zones()[wanted])
    except (KeyError, ZoneInfoNotFoundError):
        return None


def is_in(said: str) -> str:
    """The longest known place that a text without spaces names; empty where it names none."""
    there = (place for place in _zones() if not place.isascii() and place in said)
    return max(there, key=len, default="")


@cache
def _zones() -> dict[str, str]:
    """Place → zone; looking them up in the system's files takes some milliseconds, once."""
    text = (Path(__file__).parent / "zones.yaml").read_text(encoding="utf-8")
    said: dict[str, list[str]] = yaml.load(
        text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    )
    places = (name for name in sorted(available_timezones()) if "/" in name)
    found = {
        name.rpartition("/")[2].replace("_", " ").casefold(): name
        for name in places
        if not name.startswith(("Etc/", "SystemV/"))
    }
    return found | {place.casefold(): zone for zone, names in said.items() for place in names}
