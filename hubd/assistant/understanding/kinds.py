"""What kind of cover a thing is, and what a sensor measures: what Home Assistant says, else what it
is called.

Many integrations give a cover no device class; "Garagentor" is a garage door all the same.
"""

import re
from functools import cache

from hubd.assistant.understanding.plain import plain
from hubd.home.model import Entity

_NAMED = {
    "garage": r"garage|carport|车库",
    "gate": r"\bgate\b|(?:hof|garten|schiebe|roll|einfahrts?)tor\b|院门",
    "awning": r"awning|markise|遮阳|雨[棚篷]|marquise",
    "curtain": r"curtain|drape|vorh[aä]ng|gardine|窗帘|纱帘|布帘|rideau|cortina",
    "shade": r"\bshades?\b",
    "shutter": r"shutter|roll?ladn?|roll?l[aä]den|rollo|jalousie|raff?store|卷帘|volet|persiana",
    "blind": r"\bblinds?\b|百叶|罗马帘|store\b|estor",
    "window": r"window|fenster|skylight|velux|窗户?|fen[eê]tre|ventana",
}
"""Device class → what is called so; the first that fits counts."""
_THINGS = re.compile(
    r"\b(?:fridge|refrigerator|freezer|oven|grill|boiler|water|pool|hot tub|aquarium|tank|soil)\b|"
    r"kühlschrank|gefrier|tiefkühl|ofen\b|kessel|wasser|vorlauf|rücklauf|becken|"
    r"冰箱|冷柜|冰柜|烤箱|水温|热水|鱼缸|泳池"
)
"""What has a temperature that is not a room's."""
_PATTERNS = {kind: re.compile(pattern) for kind, pattern in _NAMED.items()}


def class_of(entity: Entity) -> str | None:
    """The device class of a thing; that of a cover without one after its name."""
    told = entity.attributes.get("device_class")
    if told is not None or entity.domain != "cover":
        return None if told is None else str(told)
    return _by_name(entity.name)


@cache
def _by_name(name: str) -> str | None:
    return next((kind for kind, found in _PATTERNS.items() if found.search(plain(name))), None)


def measures_a_thing(entity: Entity) -> bool:
    """Whether what a sensor measures is of a thing and not of its room: "Fridge Temperature"."""
    return entity.domain == "sensor" and _THINGS.search(plain(entity.name)) is not None
