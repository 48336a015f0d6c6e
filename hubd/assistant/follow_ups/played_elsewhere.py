"""What was put on last, in another room as well, or no more in this one: "play it in the kitchen
too", 在客厅也放, "and stop it down here".

Only soon after something was played, and where that room has one player; decides and does nothing.
"""

import re

import msgspec

from hubd.assistant.decision import Decision
from hubd.assistant.dialogue import PLAYED
from hubd.assistant.follow_ups.set_for_a_time import continuing
from hubd.assistant.understanding.names import Names
from hubd.assistant.understanding.plain import NEVER, plain
from hubd.home.model import Entity, Snapshot
from plugins.api import ToolCall

PAUSE = "media.pause"
_ALSO_IN = {
    "en": re.compile(
        r"(?:and |now |please |(?:can|could|will|would) you |i want |i'd like |let's )*"
        r"(?:also )?"
        r"(?:(?:play|put|have) (?:it|that|this|the same(?: thing| music)?)(?: on| playing)? )?"
        r"in (?:the )?(?P<room>.+?) (?:too|as well|also)(?: please)?"
    ),
    "de": re.compile(
        r"(?:und |bitte |jetzt |kannst du |könntest du )*(?:(?:spiel|mach)e? )?(?:(?:das|es) )?"
        r"(?:bitte )?auch (?:in der|im|in|auf der) (?P<room>.+?)"
        r"(?: (?:spielen|abspielen|laufen lassen|an))?(?: bitte)?"
    ),
    "zh": re.compile(r"(?:那|还有|把它)?在?(?P<room>.+?)也(?:放|播放?)(?:一下|一遍)?吧?"),
}
_STOPPED_HERE = {
    "en": re.compile(
        r"(?:and |now |then |but |please |(?:can|could) you |you can )*(?:stop|pause|turn off) "
        r"(?:it|that|the music)(?: (?:down|up|in|over))? here(?: now| then| please)?"
        r"|(?:and |now |then |please )*turn (?:it|that|the music) off (?:(?:down|up|in|over) )?here"
    ),
    "de": re.compile(
        r"(?:und |jetzt |dann |bitte )*(?:mach|stopp|halt)e? (?:es|das|sie|die musik)? ?(?:bitte )?"
        r"hier(?: unten| oben| drin)?(?: bitte)? (?:aus|an)"
        r"|(?:und |jetzt |dann |bitte )*hier(?: unten| oben| drin)? (?:kann|kannst du) "
        r"(?:es|sie|das|die musik) (?:jetzt |wieder )*(?:aus|ausmachen|anhalten)"
    ),
    "zh": re.compile(
        r"(?:那|然后|把)*(?:这边|这里|这儿)(?:的)?(?:音乐|歌)?(?:就|先)?(?:停|停掉|停下来?|暂停|关掉)(?:了)?(?:吧)?"
    ),
}


def stopped_here(text: str, played: Decision, home: Snapshot, area: str) -> Decision | None:
    """The pause of what plays in the room where ``text`` is said; ``None`` where it does not ask
    for it, or not exactly one player plays there."""
    if not area or _STOPPED_HERE.get(played.language, NEVER).fullmatch(plain(text)) is None:
        return None
    playing = [one.id for one in home.entities if _plays_in(one, area) and one.state == "playing"]
    if len(playing) != 1:
        return None
    call = ToolCall(tool=PAUSE, arguments={"entities": playing})
    return msgspec.structs.replace(continuing(played, call), entities=playing)


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
