"""An intent and what was said → a tool call: things by name, room and kind; values as spoken."""

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

import msgspec

from hubd.assistant.understanding.compose import (
    FULL,
    LEAST_SPEED,
    STEPPED,
    VALUED,
    changed_by,
    largest,
)
from hubd.assistant.understanding.intents import SWITCHED
from hubd.assistant.understanding.kinds import measures_a_thing
from hubd.assistant.understanding.likeness import Intent, vocabulary
from hubd.assistant.understanding.mentions import Mentions, named_entities, places
from hubd.assistant.understanding.multiples import FACTORS
from hubd.assistant.understanding.plain import plain
from hubd.assistant.understanding.targets import NOBODY, Targets, find, openings
from hubd.home.model import Entity, Snapshot
from plugins.api import ToolCall
from plugins.days import day_in
from plugins.degrees import unit_of
from plugins.lengths import lengths_in_digits
from plugins.reminder_entries import ALL
from plugins.when import parse

SWITCHING = frozenset({"home.turn_on", "home.turn_off"})
WEATHER, FORECAST = "weather.now", "weather.on"
"""The first needs no entity: there are other sources."""
CLEANS, CLEANS_ROOM = "vacuum.start", "vacuum.clean_area"
"""Where a room is named, that alone."""
MOWING = {"vacuum.start": "mower.start", "vacuum.return_home": "mower.return_home"}
"""What is said of one machine is said of the other."""
TIMER, LONGER, SHORTER = "timers.start", "timers.add", "timers.subtract"
ALARM, NO_ALARM, SNOOZE = "alarms.set", "alarms.cancel", "alarms.snooze"
AGENDA, CLOCK, DATE = "calendar.agenda", "clock.time", "clock.date"
STATE = "home.state"
TALK = "help."
MEASURED = {"climate.temperature": "temperature"}
"""Tools that tell what a sensor of that device class measures."""
_DURATIONS = {
    "en": re.compile(r"(\d+(?:[.,]\d+)?|half an|an|a) ?-?(hour|minute|second|hr|min|sec)s?\b"),
    "de": re.compile(
        r"(\d+(?:[.,]\d+)?|einer? halben?|viertel|einer?|eine)[ -]?"
        r"(stunde|minute|sekunde|std|min|sek)n?\b"
    ),
    "zh": re.compile(r"(\d+(?:\.\d+)?|半)个?(小时|钟头|分钟|分|秒钟|秒)"),
}
_TIMED = {
    "en": re.compile(
        r"\d+ (?:hour|minute|second|hr|min|sec)s?(?: timer)? for (?:the |my |our )?(\w+(?: \w+)?)$"
    ),
    "de": re.compile(
        r"\d+ (?:stunde|minute|sekunde|std|min|sek)n?(?: timer)? (?:für|wegen) "
        r"(?:de[nrms] |das |die |meine?n? )?(\w+)$"
    ),
    "zh": re.compile(
        r"(?:就叫|名字叫|叫做?|[，,的 ]|计时器?|定时器?)([^，,的时叫 ]{1,4})(?:用的)吧?$|"
        r"(?:就叫|名字叫)([\u4e00-\u9fff]{1,4})吧?$|"
        r"^[来定设开]个([\u4e00-\u9fff]{1,4}?)的?(?:计时器|定时器|倒计时)"
    ),
}
"""A duration, and what it is for."""
_NO_NAME = re.compile(
    r"\b(?:timer|now|please|then|long|longer|more|ready|start|go|set|it|that|this|me|us|from|left|"
    r"bitte|jetzt|noch|lang|länger|mehr|los|fertig|stellen|ab|an|ein|mich|uns)\b|计时|定时|闹钟|我"
)
_HALF_OF_IT = re.compile(
    r"\bhalf (?:of what|as \w+ as|of how)\b|(?:\b(?:is|are)|'?s) (?:still )?(?:only|just) half\b|"
    r"\b(?:ist|sind|steht|hängt) (?:ja |noch )?(?:nur|erst|bloß) (?:halb|zur hälfte)\b|才.{0,3}一半"
)
"""Half of what is, which is not half of all; and what is no more than half."""
_IS_SO = re.compile(
    r"(?:\b(?:it is|there's|is|are|reads|says|only|barely)|it's) "
    r"(?:(?:only|just|barely|still|already|about) )*\d+(?:\.\d)? ?(?:degrees|percent|°|%)|"
    r"\b(?:sind|ist|hat|sind's|zeigt|nur|erst) (?:(?:es|hier|dort|noch|nur|gerade|grad|mal|einmal|"
    r"erst|bloß|schon|gerademal) )*\d+(?:,\d)? ?(?:grad|prozent|°|%)|[才只](?:有|剩)?\d+(?:\.\d)?度"
)
"""A value that is, and not one that is wished: "it's only 16 degrees in here"."""
_AND_A_HALF = re.compile(
    r"个半(?:小时|钟头)|(?:hour|minute)s? and (?:a half|a quarter|\S+ quarters)\b"
)
_ONE_OF_HALF_AN_HOUR = re.compile(r"[一1]个半(?:小时|钟头)的?(?:计时|倒计时|定时|闹)")
"""An hour and a half, or one of half an hour: 一个半小时的计时器 is either."""
_MORE = re.compile(
    r"\b(?:another|more|extra|longer|extend|to the timer|"
    r"plus|noch|mehr|länger|verläng\w*|drauf|dran|dazu)\b|延长|加|多|再"
)
_LONGER = re.compile(
    r"\b(?:more|extra|longer|extend\w*|additional|to the timer|"
    r"another \S+ \w+ (?:on|to|at|onto) (?:the|that|my)|"
    r"länger|verläng\w*|mehr|drauf|dran|dazu)\b|延长|[再多]加|加上?\d|再来\d"
)
"""What lets a timer run longer: "another ten minute timer" is a second one."""
_LESS = re.compile(
    r"\b(?:off|minus|shorter|less|kürzer|weniger|weg|abziehen)\b|\bzieh\w* .*\bab$|"
    r"缩短|[减少]\d|减掉|减去"
)
"""What lets a timer end sooner."""
_MOVED = re.compile(
    r"\b(?:move|change|shift|push|postpone|bring|earlier|verschieb\w*|verleg\w*|änder\w*|früher|"
    r"too (?:early|late)|zu (?:früh|spät))\b|[改挪移调]到|改成|推迟|提前|推后|太[早晚]"
)
"""What puts an alarm that there is at another time: a second one is not meant."""
_DATE_OF = re.compile(
    r"\b(?:which|what) (?!day|date|month|year|is\b|was\b|the\b|today)[a-z]+ (?:is|are|was|were)\b|"
    r"\b(?:day|date) (?:is|are|was|were) (?:the|our|my|your|this|that|\w+'s) (?!date|day|today)\w+"
)
"""What is asked of something else: "which bin is it this week", "what date is the party"."""
_KEPT = re.compile(
    r"^(?:lösch|stopp|stornier|schalt|mach|stell|brich|entfern)\w* .*\bnicht\b|\bnicht .*\w{3}en$|"
    r"\b(?:don't|do not|never) (?:cancel|delete|remove|turn|switch|stop|touch)|"
    r"(?:不要|别|不用)(?:取消|关|删|停)"
)
"""What leaves an alarm as it is; "I don't need it" does not."""
_MEASURE = re.compile(
    r"(?:grad|prozent|degrees?|percent|minut|stunde|sekund|hour|stufe|level|punkt)"
)
"""What makes a value of a number."""
_KELVIN = re.compile(r"\b(\d{4}) ?(?:k\b|kelvin|开尔文|开(?=[的，,]|$))")
_OF_MINUTES = re.compile(r"\bminut|分")
_PERCENT = re.compile(r"%|per ?cent|prozent|百分")
_TOLD_OF = re.compile(
    r"\b(?:been|waited|waiting|seit)\b|(?:分钟?|小时|钟头)(?:之后|以后|后)(?!提醒|[叫喊响])[^，,。]"
)
"""What has a duration and is no timer: "we've been at it for twenty minutes", 十分钟之后开饭."""
_UNITS = {
    "hour": "hours", "hr": "hours", "min": "minutes", "minute": "minutes", "stunde": "hours",
    "std": "hours", "小时": "hours", "钟头": "hours", "分钟": "minutes", "分": "minutes",
}  # fmt: skip
_AMOUNTS = {
    "half an": 0.5, "an": 1.0, "a": 1.0, "eine halbe": 0.5, "einer halben": 0.5, "viertel": 0.25,
    "einer": 1.0, "eine": 1.0, "半": 0.5,
}  # fmt: skip


class Filled(NamedTuple):
    """A call, what it touches and whether its things were named."""

    call: ToolCall
    targets: Targets
    named: bool
    """Whether a name, a room or a kind of thing in the utterance chose the targets."""


def fill(
    intent: Intent, said: Mentions, snapshot: Snapshot, area: str, language: str = "en"
) -> Filled | None:
    """The call that ``intent`` is here; ``None`` where something that it needs was not said."""
    values = _values(intent, said, language, unit_of(snapshot.entities))
    if values is None:
        return None
    arguments = {**intent.arguments, **values}
    if intent.tool == WEATHER and (day := day_in(said.text, language)):
        return Filled(ToolCall(tool=FORECAST, arguments={"day": day}), NOBODY, True)
    if intent.tool == TIMER and _MORE.search(said.text):
        return Filled(ToolCall(tool=LONGER, arguments=arguments), NOBODY, True)
    if intent.tool == TIMER and "timers" in said.subjects and _LESS.search(said.text):
        return Filled(ToolCall(tool=SHORTER, arguments=arguments), NOBODY, True)
    if intent.tool in MOWING and _is_mower(said, snapshot):
        mows = msgspec.structs.replace(intent, tool=MOWING[intent.tool], domains=["lawn_mower"])
        return fill(mows, said, snapshot, area, language)
    if not intent.domains and intent.tool != STATE:
        call = ToolCall(tool=intent.tool, arguments=arguments)
        return Filled(call, NOBODY, bool(said.subjects))
    found = _targets(intent, said, snapshot, area)
    if not found.entities:
        return None if intent.tool != WEATHER else Filled(ToolCall(tool=WEATHER), NOBODY, True)
    tool = intent.tool
    if tool == CLEANS and len(said.areas) == 1 and not set(intent.domains) - {"vacuum"}:
        tool, arguments = CLEANS_ROOM, {**arguments, "area": said.areas[0]}
    call = ToolCall(tool=tool, arguments={**arguments, "entities": found.ids})
    named = bool(said.names or said.areas or said.floors or said.domains or said.hints)
    return Filled(call, found, named)


def _is_mower(said: Mentions, snapshot: Snapshot) -> bool:
    """Whether a mower alone is named."""
    domains = {entity.domain for entity in named_entities(said, snapshot)}
    return domains == {"lawn_mower"}


def _targets(intent: Intent, said: Mentions, snapshot: Snapshot, area: str) -> Targets:
    domains = set(intent.domains)
    named = named_entities(said, snapshot)
    if said.names and not _is_beside_the_point(intent, said, named):
        fitting = [e for e in named if not domains or e.domain in domains]
        if intent.tool in SWITCHING and said.domains - {e.domain for e in named}:
            return NOBODY  # "the lights and the TV": the name is not all that is meant
        if intent.tool in SWITCHING and not said.actions - {"on", "off"}:
            # "The kettle and the kitchen light": both, whichever of them the examples have.
            fitting = [e for e in named if e.domain in SWITCHED] or fitting
        placed = [e for e in fitting if e.area in places(said, snapshot)] or fitting
        # One name of two things is a question; two names are two things.
        return Targets(tuple(placed), unclear=len(placed) > len(set(said.names)))
    everywhere = said.everything and not (said.domains or said.areas or said.floors)
    if everywhere and domains != {"vacuum"}:  # "crumbs everywhere"
        return NOBODY  # everything that there is: nothing that is done by likeness
    if said.domains:
        if not domains:
            domains = set(said.domains)
        elif not domains & said.domains:
            return NOBODY
        else:
            domains &= said.domains
    elif len(domains) > 2:
        return NOBODY  # "start the machine": which?
    if not domains or len(said.areas) > 1 or len(said.floors) > 1:
        return NOBODY
    if intent.tool == STATE and not _speaks_of_a_thing(said):
        return NOBODY  # "what have I got to be reminded of" is of no window
    slots: dict[str, Any] = {}
    if said.areas and intent.needs != "area":
        slots["area"] = said.areas[0]
    if said.floors:
        slots["floor"] = said.floors[0]
    if len(said.classes) == 1:
        slots["device_class"] = next(iter(said.classes))
    if intent.tool == STATE and (opening := openings(snapshot, slots, area=area)).entities:
        return opening
    found = find(snapshot, slots, domains, area=area, everywhere=said.everything)
    return measuring(intent.tool, found)


def _speaks_of_a_thing(said: Mentions) -> bool:
    """Whether anything is said of the house: a thing, a room, or what is done with it."""
    placed = said.areas or said.floors or said.everything
    return bool(
        placed or said.domains or said.hints or said.classes or said.actions or said.implied
    )


def measuring(tool: str, found: Targets) -> Targets:
    """Of sensors those alone that measure what ``tool`` tells: neither the humidity nor what is in
    the fridge is how warm a room is."""
    wanted = MEASURED.get(tool)
    fitting = tuple(
        entity
        for entity in found.entities
        if entity.domain != "sensor" or entity.attributes.get("device_class") in (wanted, None)
    )
    if not wanted or not fitting:
        return found
    return found._replace(entities=tuple(e for e in fitting if not measures_a_thing(e)))


def _is_beside_the_point(intent: Intent, said: Mentions, named: Sequence[Entity]) -> bool:
    """Whether a screen is named because one cannot see it: "the sun is on the television"."""
    players = all(entity.domain == "media_player" for entity in named)
    return intent.tool == "home.close" and intent.tool in said.implied and players


def _values(intent: Intent, said: Mentions, language: str, unit: str) -> dict[str, Any] | None:
    """The arguments that were said, or ``None`` where one is missing."""
    if intent.tool == "timers.start":
        if said.actions & {"on", "off"} and (said.domains or said.names):
            return None  # "turn on the kitchen lights for ten minutes"
        # "Two minutes more", "another two on that timer": it begins none.
        more = said.difference or _MORE.search(said.text)
        if more and not (_LONGER.search(said.text) and "timers" in said.subjects):
            return None
        if "timers" not in said.subjects and _TOLD_OF.search(said.text):
            return None
        lasting = duration(said.text, language)
        return {**lasting, **_timer_name(said.text, language)} if lasting else None
    if intent.tool == AGENDA:
        day = day_in(said.text, language)
        return {"day": day} if day else {}
    if intent.tool == CLOCK and set(said.unknown) - vocabulary(CLOCK, language):
        return None  # "what time is it in Springfield": not here
    if intent.tool == DATE and _DATE_OF.search(said.text):
        return None
    if intent.tool == NO_ALARM and _KEPT.search(said.text):
        return None  # "Lösch den Wecker nicht"
    if intent.tool == NO_ALARM and "alarms" in said.subjects and (which := _which(said, language)):
        return which
    if intent.tool.startswith(TALK):
        return {}  # "ganz herzlichen Dank" has no value
    if intent.tool == SNOOZE:
        return _minutes(said, language)
    if intent.tool == ALARM and "alarms" in said.subjects and _MOVED.search(said.text):
        return None
    if intent.needs == "time":
        return _time(said.text, language)
    if intent.needs == "area":
        return {"area": said.areas[0]} if len(said.areas) == 1 else None
    if said.difference and intent.tool in STEPPED.values():
        return _difference(intent, said)
    valued = {tool: (domain, argument) for domain, (tool, argument, _) in VALUED.items()}
    if intent.tool not in valued:
        # "20", "green" or "full" where no value is wanted is something that was not understood.
        numbers = () if _only_counts(intent, said) else said.numbers
        spoken = numbers or said.colors or said.actions & {"half", "full", *FACTORS}
        return None if spoken else {}
    if said.difference:
        return None
    warmth = [int(k[1]) for k in _KELVIN.finditer(said.text)] if intent.tool == "lights.set" else []
    if warmth:
        return {"kelvin": warmth[-1]}
    if intent.tool == "lights.set" and said.colors:
        return {"color": said.colors[-1]}
    domain, argument = valued[intent.tool]
    if _HALF_OF_IT.search(said.text) or (_IS_SO.search(said.text) and not said.actions):
        return None
    full = (100.0,) if "full" in said.actions and intent.tool in FULL else ()
    numbers = said.numbers or ((50.0,) if "half" in said.actions else full)
    if len(numbers) != 1 or not 0 <= numbers[0] <= largest(domain, unit):
        return None
    if argument == "percentage" and numbers[0] < LEAST_SPEED and not _PERCENT.search(said.text):
        return None  # "on level 2"
    return {argument: int(numbers[0]) if numbers[0].is_integer() else numbers[0]}


def _only_counts(intent: Intent, said: Mentions) -> bool:
    """Whether the numbers in a complaint say how many there are of something, and no value: "two
    blankets", "durch drei Wände"."""
    implied = {intent.tool, f"{intent.tool}:{intent.arguments.get('step')}"} & said.implied
    counted = re.findall(r"\d+(?:[.,]\d+)?(?: ([^\W\d]{4,}))?(?!\S)", said.text)
    return bool(implied) and all(word and not _MEASURE.match(word) for word in counted)


def narrowed(filled: Filled, said: Mentions) -> Filled:
    """Of several things the one whose name has a word that nothing else explains: "the ceiling
    light in the boys' room" is not all three of them."""
    words, entities = set(said.unknown), filled.targets.entities
    fitting = tuple(e for e in entities if words & set(plain(e.name).split()))
    if len(entities) < 2 or len(fitting) != 1 or not said.nouns:
        return filled
    targets = Targets(fitting)
    arguments = {**filled.call.arguments, "entities": targets.ids}
    call = ToolCall(tool=filled.call.tool, arguments=arguments)
    return filled._replace(call=call, targets=targets)


def _timer_name(text: str, language: str) -> dict[str, str]:
    """What a timer is for, where that is said last and in few words: "ten minutes, eggs"."""
    pattern = _TIMED.get(language)
    found = pattern.search(text) if pattern else None
    name = next(filter(None, found.groups()), None) if found else None
    return {"name": name} if name and not _NO_NAME.search(name) else {}


def _which(said: Mentions, language: str) -> dict[str, Any]:
    """Which alarm is meant: all, or that of a time or a day; nothing where none is said."""
    if said.everything:
        return {"which": ALL}
    spoken = said.text.replace("-", " ")  # "Sieben-Uhr-Wecker"
    when = parse(spoken, language, datetime.now(UTC))
    if when.at or when.on or when.repeat:
        return {"which": spoken}
    named = [word for word in said.unknown if word not in vocabulary(NO_ALARM, language)]
    return {"which": " ".join(named)} if named else {}


def _difference(intent: Intent, said: Mentions) -> dict[str, Any] | None:
    """By how much; "a bit" where no number is said."""
    if not said.numbers:
        return None if said.actions & {"half", "full", *FACTORS} else {}
    domain = next(domain for domain, tool in STEPPED.items() if tool == intent.tool)
    found = changed_by(domain, {str(intent.arguments.get("step"))}, said.numbers)
    return found[1] if found else None


def _minutes(said: Mentions, language: str) -> dict[str, Any]:
    """How many minutes are said, as in "five more minutes"; nothing where none are: as long as
    always."""
    found = duration(said.text, language) or {}
    minutes = round(60 * found.get("hours", 0) + found.get("minutes", 0))
    if not minutes and len(said.numbers) == 1 and _OF_MINUTES.search(said.text):
        minutes = int(said.numbers[0])
    return {"minutes": minutes} if minutes else {}


def duration(text: str, language: str) -> dict[str, Any] | None:
    """Hours, minutes and seconds that are said in digits; empty where none are, ``None`` where it
    is not clear."""
    found: dict[str, Any] = {}
    if _ONE_OF_HALF_AN_HOUR.search(text):
        return None
    if _AND_A_HALF.search(text):
        text = lengths_in_digits(text, language)
    text = text.replace("分半", ".5分钟")
    for amount, unit in _DURATIONS[language].findall(text):
        number = _AMOUNTS.get(amount) or float(amount.replace(",", "."))
        name = _UNITS.get(unit, "seconds")
        if name in found:
            return None  # two amounts of one unit: two timers, or none
        found[name] = int(number) if float(number).is_integer() else number
    return found


def _time(text: str, language: str) -> dict[str, Any] | None:
    when = parse(text, language, datetime.now(UTC))
    return {"when": text} if when.at and when.whole else None
