"""What was done last, with the other one: "and the other one too", „den anderen auch“, 另一个也关;
or with the other one in its place: "no, the other one", „die andere meinte ich“, 不对，是另一盏.

Only where one thing was worked; the other one is of its kind and in its room. Decides and does
nothing.
"""

import re
from collections.abc import Mapping, Sequence

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
_OF_DOMAINS = {
    "light": "light|lamp|lampe|licht|leuchte|盏|灯|lampe|lumière|lámpara|luz",
    "cover": "blind|curtain|shutter|rollo|rollladen|vorhang|扇|窗帘|store|volet|rideau|persiana|"
    "cortina",
    "media_player": "speaker|radio|lautsprecher|box|音箱|音响|enceinte|altavoz",
    "fan": "fan|ventilator|风扇|ventilateur|ventilador",
    "climate": "radiator|heater|heizung|heizkörper|暖气|空调|radiateur|radiador",
    "switch": "switch|plug|socket|schalter|steckdose|开关|插座|prise|enchufe",
}
_NOUNS = "|".join(f"(?P<{domain}>{words})" for domain, words in _OF_DOMAINS.items())
_IN_ITS_PLACE = {
    "en": re.compile(
        r"(?:(?:turn|switch|put|take|use|do|try) )?(?:(?P<done>on|off) )?(?:i (?:mean|meant) )?"
        rf"the other (?:(?:one|{_NOUNS})s?)?(?: (?P<then>on|off))?"
        r"(?: (?:instead|please|i (?:mean|meant|said)|rather|then|over there))*"
    ),
    "de": re.compile(
        r"(?:(?:mach|schalt|nimm|stell)e? )?(?:doch |lieber |bitte )*(?:den|die|das) andere[nr]? ?"
        rf"(?:{_NOUNS})?(?: (?:bitte|doch|lieber|mein(?:t)?e? ich|habe? ich gemeint|gemeint))*"
        r"(?: (?P<done>an|ein|aus))?"
    ),
    "zh": re.compile(
        r"(?:是|要|我要|我说的是|把|(?P<done>打?开|关)?)*另(?:外)?(?:一?个|那个|一?盏|一?扇|一?台|一边)的?"
        rf"(?:{_NOUNS})?(?:(?P<then>打?开|关)(?:了|上|掉)?)?[吧才对]*"
    ),
    "fr": re.compile(rf"(?:(?:je veux dire|plutôt) )?l'autre(?: (?:{_NOUNS}))?(?: plutôt)?"),
    "es": re.compile(rf"(?:(?:digo|mejor) )?(?:el otro|la otra)(?: (?:{_NOUNS}))?(?: mejor)?"),
}
"""What is meant in the place of what was worked, as it is said behind "no"."""
_UNOPENED = {
    "en": re.compile(
        r"the other (?:one|\w+) (?:i (?:mean|meant|said)|instead)|i meant? the other.*"
    ),
    "de": re.compile(
        r"(?:den|die|das) andere[nr]?(?: \w+)? (?:mein(?:t)?e ich|hab(?:e)? ich gemeint)"
    ),
    "zh": re.compile("(?:我说的是|我要的是|我是说)另.*"),
}
"""The same without a "no" before it."""
_TURNED = {"on": "on", "an": "on", "ein": "on", "开": "on", "打开": "on"}
"""What a thing is turned by the words of _IN_ITS_PLACE; else it is off."""
_DOES = {"home.turn_on": "on", "home.open": "on", "home.turn_off": "off", "home.close": "off"}
OPENING_THE_HOUSE = frozenset({"home.unlock"})


def of_the_other(text: str, last: Decision, home: Snapshot) -> Decision | None:
    """What was done last, of the other thing of its kind; ``None`` where ``text`` does not ask for
    it, or there is not exactly one."""
    if _OTHER.get(last.language, NEVER).fullmatch(plain(text)) is None:
        return None
    others = _others(last, home)
    if len(others) != 1 or not _says_the_same(text, last):
        return None
    return _done_with(last, others)


def in_place_of_it(text: str, last: Decision, home: Snapshot) -> Decision | None:
    """What was done last, of the other things of its kind in its place; of several it asks which,
    and where there is none it is declined. ``None`` where ``text``, which is what stands behind a
    "no", does not speak of another one."""
    found = _IN_ITS_PLACE.get(last.language, NEVER).fullmatch(plain(text))
    if found is None or not last.entities:
        return None
    kinds = {one.partition(".")[0] for one in last.entities}
    of_a_kind = {name for name in _OF_DOMAINS if found[name]}
    others = _others(last, home) if of_a_kind <= kinds else []
    if not others or _turns_otherwise(found.groupdict(), last):
        return msgspec.structs.replace(last, tool=None, call=None, entities=[], declined="declined")
    meant = _done_with(last, others)
    return msgspec.structs.replace(meant, asks="which") if len(others) > 1 else meant


def speaks_of_another(text: str, language: str) -> bool:
    """Whether ``text``, which is what stands behind a "no", is of another one and says no more."""
    return _IN_ITS_PLACE.get(language, NEVER).fullmatch(plain(text)) is not None


def says_another_was_meant(text: str, language: str) -> str:
    """The part of ``text`` that says that another one was meant, without a "no" before it; empty
    where it does not."""
    return text if _UNOPENED.get(language, NEVER).fullmatch(plain(text)) else ""


def _others(last: Decision, home: Snapshot) -> list[Entity]:
    """The other things of the kind of the one that was worked last, in its room; empty where that
    opened the house."""
    if last.call is None or len(last.entities) != 1 or last.tool in OPENING_THE_HOUSE:
        return []
    this = next((one for one in home.entities if one.id == last.entities[0]), None)
    return [one for one in home.entities if this is not None and _is_like(one, this)]


def _done_with(last: Decision, things: Sequence[Entity]) -> Decision:
    assert last.call is not None
    ids = [one.id for one in things]
    call = msgspec.structs.replace(last.call, arguments={**last.call.arguments, "entities": ids})
    return msgspec.structs.replace(continuing(last, call), entities=ids)


def _turns_otherwise(said: Mapping[str, str | None], last: Decision) -> bool:
    """Whether a word for on or off that is said is not what was done."""
    word = said.get("done") or said.get("then")
    return bool(word) and _TURNED.get(word or "", "off") != _DOES.get(last.tool or "")


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
    return not said or _DOES.get(last.tool or "") == said
