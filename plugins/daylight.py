"""When the sun rises and sets at the house. Shared by plugins; no plugin itself."""

from datetime import date, datetime, tzinfo
from typing import Literal

from plugins.api import Location

SunEvent = Literal["dawn", "sunrise", "sunset", "dusk"]
"""Dawn and dusk are those of civil twilight, the sun six degrees below the horizon: when it gets
light and dark outside."""
SUN_EVENTS: tuple[SunEvent, ...] = ("dawn", "sunrise", "sunset", "dusk")


def location_of(text: str) -> Location | None:
    """The place that ``52.52, 13.41`` says; ``None`` where it says none."""
    if not text.strip():
        return None
    latitude, longitude = (float(part) for part in text.split(","))
    return Location(latitude, longitude)


def sun_time(event: SunEvent, day: date, location: Location, zone: tzinfo) -> datetime | None:
    """When the sun does so on that day, in ``zone``; ``None`` where it does not, as beyond the
    polar circles in summer and in winter."""
    from astral import Observer, sun  # 3 MB, which a hub that is never asked need not have

    try:
        moment: datetime = getattr(sun, event)(Observer(*location), day, tzinfo=zone)
    except ValueError:
        return None
    return moment.replace(microsecond=0)
