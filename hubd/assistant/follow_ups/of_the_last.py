"""Which things are meant where none is named: what was worked last, and not what is in the room
where it is said ("a bit quieter" after music was put on in the bathroom, 亮度百分之二十 after the
color of a lamp), what is "there", and "both doors". Decides and does nothing.
"""

import re
from collections.abc import Mapping, Sequence

import msgspec

from hubd.assistant.decision import Decision
from hubd.assistant.music import heard_on
from hubd.assistant.understanding.kinds import class_of
from hubd.assistant.understanding.lexicon import lexicon
from hubd.assistant.understanding.mentions import Mentions
from hubd.assistant.understanding.plain import NEVER, plain
from hubd.assistant.understanding.targets import SINGLE
from hubd.home.model import Entity, Snapshot

BEGINS = "media.search"
"""What goes on with nothing: another piece may be for another room."""
GOES_ON, WORKS = ("media.", "lights."), ("media.", "lights.", "home.")
ONLY_TELLS, TURNED_OFF = "home.state", "home.turn_off"
QUALITIES = frozenset({"brightness", "volume", "color_temperature"})
"""Nouns of what a thing has, and of no thing."""
PLAYER = "media_player"
_THERE = {
    "en": re.compile(r"\w (?:(?:in|over|up|down) )?there(?: too| as well| then| now)*"),
    "de": re.compile(
        r"\w (?:da|dort)\b(?: (?:drin|drüben|oben|unten))?"
        r"(?: (?:an|aus|auf|zu|jetzt|auch|noch|bitte|wieder|hoch|runter|rauf|mal))*"
    ),
    "zh": re.compile("那(?:边|里|儿|屋)"),
}
"""What says where, of a place that was spoken of; at the end, but in Chinese."""
_UP_THERE = {
    "en": re.compile(r"\b(?:in|up|down|over) there\b"),
    "de": re.compile(r"\b(?:da|dort) (?:drin|drinnen|drüben|oben|unten)\b"),
}
"""What says where wherever it stands, and speaks of no floor."""
_BOTH: Mapping[str, tuple[re.Pattern[str], str]] = {
    "en": (re.compile(r"\b[Bb]oth(?: of)?(?: the| my| our)? (?=\w+s\b)"), "the "),
    "de": (re.compile(r"\b(?:die |alle |unsere )?[Bb]eiden? (?=\w{4})"), "die "),
    "zh": (re.compile("(?:那|这)?两[个扇盏台道把](?=(?:大|房|厨|卧|客|楼)?[门窗灯空百卷])"), ""),
    "fr": (re.compile(r"\b[Ll]es deux (?=\w+s\b)"), "les "),
    "es": (re.compile(r"\b(?:l[oa]s dos|amb[oa]s) (?=\w+s\b)"), "los "),
}
"""What says that things are two, and what is said without it."""


def without_both(text: str, language: str) -> str:
    """``text`` without saying that the things are two; empty where it does not: "both doors"."""
    form, instead = _BOTH.get(language, (NEVER, ""))
    rest = form.sub(instead, text, count=1)
    return rest if rest != text else ""


def of_those_meant(
    decision: Decision, text: str, said: Mentions, spoken: Sequence[Decision | None], home: Snapshot
) -> Decision:
    """The decision, of what was worked last or of what is in the room that was spoken of, where
    ``text`` names nothing else.

    said: what ``text`` speaks of
    spoken: what was told last, and what was done
    """
    call = decision.call
    up_there = _UP_THERE.get(decision.language, NEVER).search(plain(text)) is not None
    elsewhere = said.floors and not up_there
    placed = said.names or said.areas or elsewhere or said.everything or said.rooms_not_here
    if call is None or "entities" not in call.arguments or placed:
        return decision
    if up_there or _ends_with(_THERE, text, decision.language):
        return _there(decision, next((one for one in spoken if one and one.entities), None), home)
    return _of_the_last(decision, text, said, spoken[-1], home)


def _ends_with(forms: dict[str, re.Pattern[str]], text: str, language: str) -> bool:
    found = forms.get(language, NEVER).search(plain(text))
    return found is not None and (language == "zh" or found.end() == len(plain(text)))


def _there(decision: Decision, spoken: Decision | None, home: Snapshot) -> Decision:
    """The decision, of what is in the room of the things that were spoken of."""
    things = [one for one in home.entities if spoken and one.id in spoken.entities]
    rooms = {one.area for one in things}
    domains = {one.partition(".")[0] for one in decision.entities}
    there = [one for one in home.entities if one.area in rooms and one.domain in domains]
    if len(rooms) != 1 or None in rooms or not there:
        return decision
    return _of(decision, there, unclear=len(there) > 1 and domains <= SINGLE)


def of_both(decision: Decision, home: Snapshot) -> Decision:
    """The decision, of all things of the kind in the house where it is of one and there are two;
    of more that are asked about it tells as well."""
    kinds = {(one.domain, class_of(one)) for one in home.entities if one.id in decision.entities}
    alike = [one for one in home.entities if (one.domain, class_of(one)) in kinds]
    placed = {"name", "area", "floor"} & decision.arguments.keys()
    clear = len(decision.entities) > 1 and decision.asks != "which"
    if placed or decision.call is None or clear or len(kinds) != 1:
        return decision
    if len(alike) < 2:
        return decision
    return _of(decision, alike, unclear=len(alike) > 2 and decision.tool != ONLY_TELLS)


def _of(decision: Decision, things: Sequence[Entity], *, unclear: bool = False) -> Decision:
    """The decision, of these things and no others."""
    assert decision.call is not None
    ids = [one.id for one in things]
    call = msgspec.structs.replace(
        decision.call, arguments={**decision.call.arguments, "entities": ids}
    )
    asks = "which" if unclear else None if decision.asks == "which" else decision.asks
    return msgspec.structs.replace(decision, entities=ids, call=call, asks=asks)


def _of_the_last(
    decision: Decision, text: str, said: Mentions, last: Decision | None, home: Snapshot
) -> Decision:
    """The decision, of what was worked last."""
    tool = decision.tool or ""
    if last is None or tool == BEGINS or lexicon(decision.language).says_here(text):
        return decision
    worked = (last.tool or "").startswith(WORKS) and last.tool not in (ONLY_TELLS, TURNED_OFF)
    domains = {one.partition(".")[0] for one in (*decision.entities, *last.entities)}
    if not (worked and tool.startswith(GOES_ON) and last.entities and len(domains) == 1):
        return decision
    things = [one for one in home.entities if one.id in last.entities]
    heard = said.nouns == {PLAYER} and heard_on(things, text, decision.language)
    if not (said.nouns <= QUALITIES or heard) or decision.entities == last.entities:
        return decision
    meant = _of(decision, things)
    return msgspec.structs.replace(meant, reason=f"it continues {last.tool}")
