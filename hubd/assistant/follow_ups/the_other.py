"""What was done last, with the other one: "and the other one too", „den anderen auch“, 另一个也关.

Only where one thing was worked, and its room has exactly one other of its kind; decides and does
nothing.
"""

import re

import msgspec

from hubd.assistant.decision import Decision
from hubd.assistant.follow_ups.set_for_a_time import continuing
from hubd.assistant.understanding.plain import NEVER, plain
from hubd.home.model import Entity, Snapshot

_OTHER = {
    "en": re.compile(
        r"(?:and |now )*(?:do )?the other (?:one|light|lamp|blind|curtain|shutter|speaker)?"
        r" ?(?:too|as well|also|please)*"
    ),
    "de": re.compile(
        r"(?:und |jetzt )*(?:den|die|das) andere[nr]?(?: lampe| rollo| rollladen| vorhang| licht)?"
        r"(?: bitte| gleich| noch)* auch(?: noch| bitte| gleich)*"
    ),
    "zh": re.compile(
        r"(?:还有|那)?另(?:外)?一?(?:个|盏|扇|边)也(?:一样|是|这样|关上?|打?开|关掉|拉上)?(?:吧|了)*"
    ),
}
"""In Chinese what is done may be said once more: then it has to be the same."""
OPENING_THE_HOUSE = frozenset({"home.unlock"})


def of_the_other(text: str, last: Decision, home: Snapshot) -> Decision | None:
    """What was done last, of the other thing of its kind; ``None`` where ``text`` does not ask for
    it, or there is not exactly one."""
    if _OTHER.get(last.language, NEVER).fullmatch(plain(text)) is None:
        return None
    if last.call is None or len(last.entities) != 1 or last.tool in OPENING_THE_HOUSE:
        return None
    this = next((one for one in home.entities if one.id == last.entities[0]), None)
    others = [one for one in home.entities if this is not None and _is_like(one, this)]
    if len(others) != 1 or not _says_the_same(text, last):
        return None
    other = others[0].id
    call = msgspec.structs.replace(
        last.call, arguments={**last.call.arguments, "entities": [other]}
    )
    return msgspec.structs.replace(continuing(last, call), entities=[other])


def _is_like(one: Entity, this: Entity) -> bool:
    """Whether it is another of the kind of that one, in its room."""
    alike = (one.domain, one.area) == (this.domain, this.area)
    kinds = {thing.attributes.get("device_class") for thing in (one, this)}
    return one.id != this.id and alike and len(kinds) == 1


def _says_the_same(text: str, last: Decision) -> bool:
    """Whether a verb that is said is not another one than what was done."""
    if last.language != "zh":
        return True
    said = "on" if re.search("开", text) else "off" if re.search("关|拉上", text) else ""
    done = {"home.turn_on": "on", "home.open": "on", "home.turn_off": "off", "home.close": "off"}
    return not said or done.get(last.tool or "") == said
