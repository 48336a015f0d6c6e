"""The weather or the time of another place: "and in Whitby?", „Regnet es in Graz?“, 那多伦多呢？

The weather is known at home alone, and its tool says so where a place is named. Decides and does
nothing.
"""

import re
from datetime import date

import msgspec

from hubd.assistant.decision import Decision
from hubd.assistant.understanding.lexicon import lexicon
from hubd.assistant.understanding.names import called
from hubd.assistant.understanding.plain import NEVER, plain
from hubd.assistant.understanding.reasons import BREAK
from hubd.home.model import Snapshot
from plugins.api import ToolCall
from plugins.days import day_in, span_of
from plugins.zones import is_in, zone_of

TIME = "clock.time"
FORECAST = "weather.on"
WEATHER = frozenset({"weather.now", FORECAST})
SCORE = 0.85
_CITY = re.compile(
    "杭州|南京|苏州|无锡|宁波|成都|重庆|武汉|西安|天津|青岛|济南|大连|沈阳|长春|哈尔滨|厦门|福州|郑州|"
    "长沙|合肥|南昌|昆明|贵阳|南宁|桂林|海口|三亚|太原|石家庄|兰州|拉萨|乌鲁木齐|呼和浩特|银川|西宁|珠海|"
    "东莞|佛山"
)
_CITIES = re.compile(f"{_CITY.pattern}|.+[省市县镇]")
"""Places of which the zone is not known by name, and which are no people."""
_OTHER = {
    "en": re.compile(
        r"(?:and|or|what about|how about|and what about|and how about) (?:in|for|at|over in) "
        r"(?P<place>[^\W\d][\w '-]{1,30}?)(?: then)?",
        re.IGNORECASE,
    ),
    "de": re.compile(
        r"(?:und|oder|wie (?:ist|sieht) es)(?: denn)? (?:in|auf|bei|für) "
        r"(?P<place>[^\W\d][\w '-]{1,30}?)(?: dann| aus)?",
        re.IGNORECASE,
    ),
    "zh": re.compile(
        r"(?:那么?|还有)?(?:在)?(?P<place>[\u4e00-\u9fff]{2,6}?)(?:那边|那里|那儿)?(?:呢|怎么样)"
    ),
}
_THERE = {
    "en": re.compile(
        r"(?:(?:and|so) )*(?:(?:what|how) about|how(?:'s| is| will)(?: it| the weather)?"
        r"(?: be| looking)*|what(?:'s| is| will)(?: it| the weather)?(?: be)? like) "
        r"(?:(?:over|up|down|out) )?there(?: then)?|and (?:over |up |down )?there"
    ),
    "de": re.compile(
        r"(?:und |wie (?:ist|wird|sieht) (?:es|das wetter|'s) )(?:denn |dann )*"
        r"(?:da|dort)(?: (?:drüben|oben|unten|aus|dann|so))*"
    ),
    "zh": re.compile("(?:那|那么)?那(?:边|里|儿|头)的?(?:天气)?(?:会)?(?:呢|怎么样|咋样|如何)"),
}
"""The question for a place that is named in what is told before it."""
_GOES_TO = {
    "en": re.compile(r"\b(?:to|in|at|near|for) (?P<place>[A-Z][\w'-]+(?: [A-Z][\w'-]+)?)"),
    "de": re.compile(r"\b(?:nach|in|auf|bei) (?P<place>[A-ZÄÖÜ][\w-]+(?: [A-ZÄÖÜ][\w-]+)?)"),
}
_NAMED = {
    "en": re.compile(
        r"\b(?:[Ii]n|[Aa]t|[Ff]or|[Oo]ver in) (?P<place>[A-Z][\w'-]+(?: [A-Z][\w'-]+)?)"
    ),
    "de": re.compile(r"\b(?:[Ii]n|[Aa]uf) (?P<place>[A-ZÄÖÜ][\w-]+(?: [A-ZÄÖÜ][\w-]+)?)"),
}
_NO_PLACE = re.compile(
    r"(?:the|my|our|this|that|here|there|it|general|der|die|das|dem|den|hier|da|dort|ordnung|"
    r"zukunft|kürze|richtung|january|february|march|april|may|june|july|august|september|october|"
    r"november|december|januar|februar|märz|mai|juni|juli|oktober|dezember|外面|外边|家里|这里|那里|这边)\b.*",
    re.IGNORECASE,
)
"""What stands where a place does, and is none."""


def of_another_place(text: str, told: Decision | None, home: Snapshot) -> Decision | None:
    """The question that ``told`` answered, of the place that ``text`` names and nothing besides;
    ``None`` where it is no such one."""
    if told is None or told.call is None or told.call.tool not in WEATHER | {TIME}:
        return None
    *before, last = [one for one in BREAK.split(text) if plain(one)] or [""]
    if any(map(lexicon(told.language).inquires, before)):
        return None
    if _THERE.get(told.language, NEVER).fullmatch(plain(last)):
        return _there(" ".join(before), told, home)
    pattern = _OTHER.get(told.language)
    found = pattern.fullmatch(last.strip(" .!?。！？")) if pattern else None
    return _of_the_place(found["place"], told, home) if found else None


def _there(remark: str, told: Decision, home: Snapshot) -> Decision | None:
    """The question of the place, and of the day, that what is told before it names: "we're off to
    Galway on Sunday, what about there?"."""
    if told.language == "zh":
        place = is_in(remark) or next(iter(_CITY.findall(remark)), "")
    else:
        found = _GOES_TO[told.language].search(remark)
        place = found["place"] if found else ""
    of_it = _of_the_place(place, told, home) if place else None
    day = day_in(remark, told.language)
    if of_it is None or of_it.call is None or told.tool not in WEATHER or not day:
        return of_it
    call = ToolCall(tool=FORECAST, arguments={"day": day, "place": place})
    return msgspec.structs.replace(of_it, tool=FORECAST, entities=[], call=call)


def _of_the_place(place: str, told: Decision, home: Snapshot) -> Decision | None:
    """The question that was answered, of another place; ``None`` where that is none."""
    if told.call is None or not _is_place(place, told.language, home):
        return None
    known = zone_of(place) is not None
    if told.call.tool == TIME and not known:
        return None
    if told.language == "zh" and not (known or _CITIES.fullmatch(place)):
        return None
    arguments = {**told.call.arguments, "place": place}
    return msgspec.structs.replace(
        told,
        route="words",
        arguments={"place": place},
        score=SCORE,
        asks=None,
        reason=f"it continues {told.tool}",
        call=ToolCall(tool=told.call.tool, arguments=arguments),
    )


def with_place(decision: Decision, text: str, home: Snapshot) -> Decision:
    """The decision; on the weather with the place elsewhere that ``text`` names."""
    call = decision.call
    if call is None or call.tool not in WEATHER or decision.language not in (*_NAMED, "zh"):
        return decision
    if decision.language == "zh":
        place = is_in(text)
    else:
        found = _NAMED[decision.language].search(text)
        place = found["place"] if found else ""
    if not place or not _is_place(place, decision.language, home):
        return decision
    given = ToolCall(tool=call.tool, arguments={**call.arguments, "place": place})
    return msgspec.structs.replace(decision, call=given)


def _is_place(said: str, language: str, home: Snapshot) -> bool:
    """Whether what stands where a place does may be one: no day, and nothing of this home."""
    if _NO_PLACE.fullmatch(said) or day_in(said, language):
        return False
    if span_of(said, language, date(2026, 1, 1)) is not None:
        return False
    here = {plain(name) for area in home.areas for name in called(area)}
    here |= {plain(name) for floor in home.floors for name in called(floor)}
    here |= {plain(name) for one in home.entities for name in (one.name, *one.aliases)}
    return plain(said) not in here
