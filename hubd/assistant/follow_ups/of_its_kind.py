"""Another thing of the kind that was worked last, by its room or by whose it is: „und den im
Schlafzimmer ganz“, 小宇那个也关了, "and the one upstairs as well". Decides and does nothing.
"""

from collections.abc import Sequence

from hubd.assistant.decision import Decision
from hubd.assistant.understanding.kinds import class_of
from hubd.assistant.understanding.names import called
from hubd.assistant.understanding.plain import plain
from hubd.assistant.understanding.targets import OPENINGS, Targets
from hubd.assistant.understanding.whose import is_room_of
from hubd.home.model import Entity, Snapshot

OPEN, CLOSE = "open", "close"
DOWN = frozenset({"home.close"})
UP = frozenset({"home.open"})


def like(last: Decision, found: Targets, home: Snapshot, *, of_one: bool) -> Targets:
    """Those of ``found``, or of what belongs to the persons who are, that are of the kind that was
    worked last; those that were worked, if some of them were.

    of_one: whether it shall be one, so that of several it is not clear which
    """
    worked = [one for one in home.entities if one.id in last.entities]
    domains = {one.domain for one in worked}
    if found.entities and all(one.domain == "person" for one in found.entities):
        found = Targets(tuple(_of_persons(found.entities, home, last.language)))
    there = [one for one in found.entities if one.domain in domains]
    kinds = {class_of(one) for one in worked}
    alike = [one for one in there if class_of(one) in kinds]
    there = alike or [one for one in there if class_of(one) not in OPENINGS]
    there = [one for one in there if one in worked] or there
    return Targets(tuple(there), unclear=of_one and len(there) > 1)


def the_whole_way(last: Decision, found: Targets) -> str:
    """Whether blinds are to open or to close where they shall go as far as they can: as the last
    one did, or to where they are not yet; empty where that is not plain."""
    step = last.call.arguments.get("step") if last.call else None
    if step == "down" or last.tool in DOWN:
        return CLOSE
    if step == "up" or last.tool in UP:
        return OPEN
    at = {one.attributes.get("current_position") for one in found.entities}
    return OPEN if at == {0} else CLOSE if at == {100} else ""


def _of_persons(persons: Sequence[Entity], home: Snapshot, language: str) -> list[Entity]:
    """What stands in the rooms that are called after them, or is itself."""
    rooms = {area.id for area in home.areas for one in persons if is_room_of(area, one, language)}
    names = tuple(plain(name) for one in persons for name in called(one))
    return [
        one
        for one in home.entities
        if one.domain != "person" and (one.area in rooms or plain(one.name).startswith(names))
    ]
