"""What was put on last, in another room as well: "play it in the kitchen too", 在客厅也放.

Only right after something was played, and where that room has one player; decides and does nothing.
"""

import re

import msgspec

from hubd.assistant.decision import Decision
from hubd.assistant.follow_ups.set_for_a_time import continuing
from hubd.assistant.understanding.names import Names
from hubd.assistant.understanding.plain import NEVER, plain
from hubd.home.model import Entity, Snapshot

PLAYED = "media.search"
_ALSO_IN = {
    "en": re.compile(
        r"(?:and |now |please |(?:can|could) you )*"
        r"(?:(?:play|put) (?:it|that|this|the same)(?: on)? )?"
        r"in (?:the )?(?P<room>.+?) (?:too|as well|also)(?: please)?"
    ),
    "de": re.compile(
        r"(?:und |bitte |jetzt |kannst du |könntest du )*(?:(?:spiel|mach)e? )?(?:(?:das|es) )?"
        r"(?:bitte )?auch (?:in der|im|in|auf der) (?P<room>.+?)"
        r"(?: (?:spielen|abspielen|laufen lassen|an))?(?: bitte)?"
    ),
    "zh": re.compile(r"(?:那|还有|把它)?在?(?P<room>.+?)也(?:放|播放?)(?:一下|一遍)?吧?"),
}


def played_elsewhere(text: str, last: Decision, home: Snapshot) -> Decision | None:
    """The same piece on the player of the room that is named; ``None`` where ``text`` does not ask
    for it, or that room has not exactly one."""
    found = _ALSO_IN.get(last.language, NEVER).fullmatch(plain(text))
    if found is None or last.call is None or last.tool != PLAYED:
        return None
    room = Names.area(home, found["room"])
    there = [one for one in home.entities if room and _plays_in(one, room.id)]
    if len(there) != 1:
        return None
    entities = [there[0].id]
    call = msgspec.structs.replace(
        last.call, arguments={**last.call.arguments, "entities": entities}
    )
    return msgspec.structs.replace(continuing(last, call), entities=entities)


def _plays_in(one: Entity, area: str) -> bool:
    is_television = one.attributes.get("device_class") == "tv"
    return one.domain == "media_player" and one.area == area and not is_television
