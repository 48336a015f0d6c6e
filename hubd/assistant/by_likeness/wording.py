"""The call that an utterance about words and times asks for, from its parts.

``worded`` tells which tool is meant and which words are its parts; here they become arguments, and
what a tool cannot make anything of (a day that is none) is no call. The house is looked at only for
the few tools that have things as well: the player that shall play it.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

from hubd.assistant.by_likeness.timer_names import POINTING
from hubd.assistant.for_later.timed import says_when_again
from hubd.assistant.misread import BOUGHT
from hubd.assistant.understanding.appointments import appointment_in
from hubd.assistant.understanding.bought import is_amount_of_bought, without_amounts
from hubd.assistant.understanding.fluent import fluent
from hubd.assistant.understanding.lexicon import lexicon
from hubd.assistant.understanding.mentions import Mentions
from hubd.assistant.understanding.names import Names
from hubd.assistant.understanding.people import people
from hubd.assistant.understanding.plain import plain
from hubd.assistant.understanding.readings import wonders
from hubd.assistant.understanding.tagger import Parts
from hubd.assistant.understanding.targets import NOBODY, Targets, find
from hubd.home.model import Entity, Snapshot
from plugins.api import Tool, ToolCall
from plugins.days import day_in
from plugins.numbers import chinese_digits, digits
from plugins.when import parse

WHICH = "which"
"""The argument that says which one of those that are kept."""
EVENT = "event"
"""The same of a calendar."""


class Slots(NamedTuple):
    """The arguments that parts become, and whether a tool can do without them."""

    about: str = ""
    when: str = ""
    optional: bool = False
    """Whether ``when`` may be missing."""


SLOTS = {
    "lists.add": Slots("items"),
    "lists.remove": Slots("item"),
    "lists.complete": Slots("item"),
    "reminders.add": Slots("what", "when", optional=True),
    "reminders.cancel": Slots(WHICH),
    "announce.say": Slots("message"),
    "notes.add": Slots("text"),
    "notes.recall": Slots("about"),
    "media.search": Slots("query"),
    "calendar.add": Slots("title", "when"),
    "calendar.move": Slots(EVENT, "to"),
    "calendar.remove": Slots(EVENT),
    "calendar.next": Slots(),
    "weather.on": Slots("", "day"),
    "dates.until": Slots("", "day"),
    "dates.since": Slots("", "day"),
    "dates.day": Slots("", "day"),
    "units.convert": Slots("quantity", "unit"),
    "calculator.calculate": Slots("expression"),
    "alarms.change": Slots("", "to"),
    "chance.coin": Slots(),
    "chance.dice": Slots(),
    "chance.number": Slots(),
    "chance.pick": Slots("between"),
    "clock.sun": Slots(),
    "climate.target": Slots(),
    "humidifiers.set": Slots("", "humidity"),
}
ASKED = frozenset({"humidifiers.set"})
"""Tools of a value that may as well be told: "the humidity is at 50 percent"."""
LISTED = ("lists.", "chance.")
"""Tools that are told several things."""
LONGEST = 5
"""Words of a thing."""
ARTICLES = frozenset({"a", "an", "the", "some", "der", "die", "das", "den", "ein", "eine", "einen"})
WORKS = {
    "media.search": "media_player",
    "climate.target": "climate",
    "humidifiers.set": "humidifier",
}
"""Tools of things, and of which."""
ON_A_PLAYER = re.compile(
    r"\b(?:on|auf) (?:the |my |our |dem |der |den |meine\w? |unsere\w? )\w+|用[\u4e00-\u9fff]+放"
)
"""What says on which player, which may be one that was misheard."""
ENDS = frozenset({"lists.remove", "lists.complete", "reminders.cancel", "calendar.remove"})
"""Tools for what is not wanted any more, and which is said with a "not"."""
BETWEEN = 2
_ONE = re.compile(r"\b(?:one|won|eins?|einem)\b")
_RISES = ("rise", "sunrise", "aufgang", "aufgeht", "geht auf", "hell", "light", "升", "出来", "亮")
"""What is asked of the sun in the morning."""
_MOVES = re.compile(
    r"\b(?:mov|chang|shift|push|postpone|bring|instead|earlier|later|another|rather|"
    r"verschieb|verleg|änder|umstell|früher|später|statt|nach hinten|vorstell|zurück)"
    r"|[改挪移调换]|推|提前|延后|晚|早点|而不是"
)
"""What is said of an alarm that there is."""
_SPEAKS_OF = {
    "notes.recall": re.compile(
        r"\b(?:told|tell|not(?:e|es|ed)|said|say|mention\w*|remember\w*|jot\w*|wrote|written|saved?|"
        r"ask(?:ed)? you|gesagt|sagte|notier\w*|notiz\w*|merk\w*|gemerkt|aufgeschrieben|erzählt|"
        r"gespeichert)\b|[记讲]|说过|告诉|提过|跟你说|存"
    ),
    "chance.pick": re.compile(
        r"\b(?:pick|cho[io]|decid|which|either|toss|entscheid|such|wähl|aussuch|auswähl|welche|los)"
        r"|[选挑抽哪]|决定"
    ),
    "calendar.next": re.compile(
        r"\b(?:appointments?|meetings?|calendar|diary|events?|schedule\w*|agenda|what's on|"
        r"\w*termine?|kalender)\b|安排|日程|日历|预约|约"
    ),
}
"""What has to be spoken of: "where is the spare key" and "when is the next service due" may be
answered by the documents, "pizza or pasta" by who cooks."""
_LISTED_SO = re.compile(
    rf"{BOUGHT.pattern}|\b(?:tick|cross|check|(?:ab)?hak|streich)|[勾划]", re.IGNORECASE
)
"""What says that something is on a list, or shall be."""
_ADDS = re.compile(r"(?:(?:please|can you|could you|and|also|okay|just) )*add\b")
"""What puts goods on a list in English, though no list is named, and"""
_BESIDE_GOODS = frozenset(["a", "an", "some", "more", "the", "and", "of", "please", "too", "also"])
"""what may be said beside them."""
_TO_A_VALUE = re.compile(r"(?:down |up )?to (?:\d|\w+teen|twenty|half )|auf \d|[调到]")
"""What a thing is brought to, and no time: "to 18 at night"."""
_SOON = re.compile(
    r"\b(?:an? (?:minute|moment|sec(?:ond)?)|einer? (?:minute|sekunde|moment))$", re.I
)
"""What says soon, and no time."""
_ABOUT = re.compile(
    r"\b(?:about|around|roughly|like|maybe|etwa|ungefähr|circa|rund)\b|大概|大约|差不多|左右", re.I
)
"""What says that it need not be exact."""
_TOLD_OF = re.compile(r"(?<=\w) (?:is|are|was|ist|sind|war)$|(?<=.)[是在]$", re.IGNORECASE)
"""The verb behind a title that tells when it is."""
_LEFT_OPEN = re.compile(
    r"\b(?:with|at|for|of|from|to|the|an?|my|our|mit|bei|für|von|zu|nach|aus|"
    r"de[rnm]|die|das|eine[mnr]?|mein\w*|unser\w*)$|[跟和与]$",
    re.IGNORECASE,
)
"""What no title ends with: who or what it is stands behind it."""
_OWNER = {
    "en": r"\b(?i:{who})['’]?s? $|\b[A-Z][a-z]+(?<!day)(?:(?<!It|at)['’]s|s['’]) $",
    "de": r"\b(?i:{who})(?:s|['’])? $|\b(?!(?:Das|Des|Was|Bis|Es|Lass)\b)[A-ZÄÖÜ][a-zäöüß]+s $",
    "zh": r"(?:{who})的?$",
}
"""Whose an event is, right before it, and"""
_OF_THEM = {
    "en": r" (?:for|of) (?:our )?(?i:{who})\b",
    "de": r" (?:von|für) (?:unsere[rmn] |de[rmn] )?(?i:{who})\b",
}
"""right behind it."""
_BEFORE_A_TIME = r"(?i:\b(?:in|at|on|by|um|am|about|around|etwa|so)\s+)*"
_AT_BETWEEN = " (?:(?:at|um|gegen) )?"
_IN = {"en": "in ", "de": "in "}
"""What makes a delay of a duration."""


class Worded(NamedTuple):
    """A call, and what it works."""

    call: ToolCall
    targets: Targets


def worded_call(
    tool: Tool, parts: Parts, said: Mentions, snapshot: Snapshot, area: str, language: str
) -> Worded | None:
    """The call of ``tool``; ``None`` where something that it needs was not said.

    area: the id of the asking device's
    """
    slots, speaks_of = SLOTS.get(tool.name), _SPEAKS_OF.get(tool.name)
    if slots is None or (speaks_of and not speaks_of.search(said.text)):
        return None
    arguments: dict[str, Any] = {}
    if slots.about:
        about = _about(tool.name, parts, language)
        about = _to_its_end(about, parts, language) if isinstance(about, str) else about
        about = (
            _of_whom(about, parts, snapshot, language) if about and slots.about == EVENT else about
        )
        if not about or (tool.name.startswith(LISTED) and (_is_half(parts) or _only_points(about))):
            return None
        arguments[slots.about] = (
            _of_a_day(about, parts, language) if slots.about == WHICH else about
        )
    if slots.when and not parts.when and not slots.optional:
        return None
    again = slots.when == "when" and says_when_again(parts.text, language)
    for when in _whens(parts, language) if slots.when else [""]:
        if when and again and not says_when_again(when, language):
            continue  # "every two hours" is not "in two hours"
        given = {**arguments, slots.when: when} if when else arguments
        if (fitting := _fitting(tool, given, said, language)) is not None:
            arguments = fitting
            break
    else:
        return None
    targets = _works(tool.name, said, snapshot, area)
    if tool.name in WORKS:
        if not targets.entities:
            return None
        arguments["entities"] = targets.ids
    return Worded(ToolCall(tool=tool.name, arguments=arguments), targets)


def _only_points(about: str | Sequence[str]) -> bool:
    """Whether an item is only pointed at: "es", 这个."""
    items = [about] if isinstance(about, str) else about
    return any(POINTING.fullmatch(plain(item)) for item in items)


def later_command(text: str, parts: Parts, language: str) -> tuple[str, str] | None:
    """What shall be done, which is ``text`` without its times, and when; ``None`` where no time is
    said."""
    when = _spoken_time(_together(parts.when, text, language), language) if parts.when else None
    if when is None or _SOON.search(when) or _TO_A_VALUE.match(when):
        return None
    command = fluent(text, language)
    for said in parts.when:
        command = re.sub(rf"{_BEFORE_A_TIME}{re.escape(said)}", " ", command, count=1)
    return " ".join(command.split()).strip(" ,，"), when


def _spoken_time(when: str, language: str) -> str | None:
    """``when`` as it is understood: a duration is a delay; ``None`` where it is no time."""
    when = " ".join(_ABOUT.sub(" ", when).split()) if language != "zh" else _ABOUT.sub("", when)
    for spoken in (when, f"{_IN.get(language, '')}{when}"):
        told = parse(spoken, language, datetime.now(UTC))
        if told.at or told.on or told.delay or told.repeat or told.arrival:
            return spoken
    return None


def _whens(parts: Parts, language: str) -> Iterator[str]:
    """What may be the time, likeliest first: who says several corrects themselves, unless they go
    together; and what stands beside a time may be none."""
    if not parts.when:
        yield ""
        return
    said = [one for one in parts.when if not _is_instead(one, parts.text)] or parts.when
    yield _together(said, parts.text, language)
    for part in reversed(said):
        yield part
        words = part.split()
        if len(words) > 1:
            yield " ".join(words[:-1])
            yield " ".join(words[1:])


def _is_instead(when: str, text: str) -> bool:
    """Whether it is the time that is not meant any more: "eight, instead of ten to six"."""
    instead = "instead of|rather than|and not|anstatt|statt|und nicht|而不是|不是"
    return re.search(f"(?:{instead}) ?{re.escape(when)}", text, re.IGNORECASE) is not None


def _together(whens: Sequence[str], text: str, language: str) -> str:
    """Times that do not exclude each other: "tomorrow" and "at five", but of two times the last;
    with the "at" that stands between them in ``text``."""
    kept: list[str] = []
    told: set[str] = set()
    for when in reversed(whens):
        spoken = parse(when, language, datetime.now(UTC))
        kinds = {name for name in ("at", "on", "delay") if getattr(spoken, name)}
        if kept and (not kinds or kinds & told or "delay" in kinds | told):
            continue
        kept.insert(0, when)
        told |= kinds
    if not lexicon(language).spaces:
        return "".join(kept)
    at = _AT_BETWEEN.join(map(re.escape, kept))
    found = re.search(at, text, re.IGNORECASE) if len(kept) > 1 else None
    return found[0] if found else " ".join(kept)


def may_be_meant(tool: str, text: str, language: str) -> bool:
    """Whether it is no question, and no "not" speaks against it: "don't put milk on the list"."""
    known = lexicon(language)
    said = known.fixed(known.stripped(text))
    if known.inquires_first(said) or wonders(text, language):
        return False  # "what do I do with the eggs"
    return tool in ENDS or not (known.negates(said) and known.commands(text))


def is_plain(tool: str, text: str, language: str) -> bool:
    """Whether what is sure may be done unasked: it does not correct itself, and what is put on a
    list is not only hinted at ("we're down to the last tea bag")."""
    if tool in ASKED or lexicon(language).corrected(text):
        return False
    return not tool.startswith("lists.") or _LISTED_SO.search(text) is not None


def adds_goods(call: ToolCall, text: str, language: str) -> bool:
    """Whether ``text`` adds what people buy, and says nothing else: "add milk, eggs and a loaf of
    bread", not "add salt to the soup"."""
    adds = _ADDS.match(plain(text)) if call.tool == "lists.add" and language == "en" else None
    if adds is None:
        return False
    items = [plain(item) for item in call.arguments["items"]]
    beside = set(plain(text)[adds.end() :].split()) - set(" ".join(items).split())
    named = all(is_amount_of_bought(item, language) for item in items)
    return named and without_amounts(beside, language) <= _BESIDE_GOODS


def _fitting(
    tool: Tool, arguments: dict[str, Any], said: Mentions, language: str
) -> dict[str, Any] | None:
    """The arguments, if the tool can make something of them."""
    if special := _SPECIAL.get(tool.name):
        if (more := special(arguments, said, language)) is None:
            return None
        arguments = more
    return arguments if tool.fits is None or tool.fits(arguments, language) else None


def _about(tool: str, parts: Parts, language: str) -> Any:
    """What it is about: several things, each once, or one."""
    if not tool.startswith(LISTED):
        return parts.whole
    known = lexicon(language)
    things = [one for one in dict.fromkeys(parts.about) if known.stripped(one)]
    things = [one for one in things if not _is_denied(one, parts.text)]
    things = _with_amounts(things, parts.text)
    if any(len(plain(one).split()) > LONGEST for one in things):
        return None  # "on my way home from town" is on no list
    return things if tool == "lists.add" else ", ".join(things)


def _with_amounts(things: list[str], text: str) -> list[str]:
    """The things, those of one amount together: "loaf" and "bread" of "a loaf of bread"."""
    kept: list[str] = []
    for thing in things:
        if kept and (amount := f"{kept[-1]} of {thing}").casefold() in text.casefold():
            kept[-1] = amount
        else:
            kept.append(thing)
    return kept


def _to_its_end(about: str, parts: Parts, language: str) -> str:
    """``about`` with the name that it breaks off before, up to the next mark or time: "bowling with
    the" goes on with people whom no example knows."""
    if not _LEFT_OPEN.search(about):
        return about
    _, _, behind = parts.text.partition(about)
    behind = re.split(r"[,.;!?，。；！？]", fluent(behind, language).strip(" ,，"))[0].strip()
    for when in parts.when:
        behind = re.sub(rf"{_BEFORE_A_TIME}{re.escape(when)}.*", "", behind)
    between = " " if behind and lexicon(language).spaces else ""
    return f"{about}{between}{behind.strip()}"


def _of_whom(event: str, parts: Parts, snapshot: Snapshot, language: str) -> str:
    """The event with whose it is, where that is said beside it: "Joe's dentist appointment" is not
    Ann's."""
    who = "|".join(map(re.escape, people(snapshot, language)))
    before, said, behind = parts.text.partition(event)
    owner = re.search(_OWNER[language].format(who=who), before) if language in _OWNER else None
    of_them = re.match(_OF_THEM[language].format(who=who), behind) if language in _OF_THEM else None
    return f"{owner[0] if said and owner else ''}{event}{of_them[0] if of_them else ''}"


def _of_a_day(which: str, parts: Parts, language: str) -> str:
    """Which one, and the day that is said beside it: "cancel the pill reminder tomorrow"."""
    day = day_in(plain(parts.text), language)
    said = [which] if not day or day in plain(which) else [day, which]  # where a date counts
    return (" " if lexicon(language).spaces else "").join(said)


def _is_denied(thing: str, text: str) -> bool:
    """Whether it is named as what is not meant: "the milk, not the oat milk"."""
    named = rf"\b(?:not|nicht) (?:the |die |das |den |dem )?{re.escape(plain(thing))}"
    return re.search(named, plain(text)) is not None


def _is_half(parts: Parts) -> bool:
    """Whether something is joined to a thing that is none: what was said is not half done."""
    things, text = [plain(thing) for thing in parts.about], plain(parts.text)
    words = {word for thing in things for word in thing.split()}
    for thing in things:
        for joined in re.finditer(rf"\b{re.escape(thing)} (?:and|und|plus|or|oder) (\S+)", text):
            if joined[1] not in words | ARTICLES:
                return True
    return False


def _works(tool: str, said: Mentions, snapshot: Snapshot, area: str) -> Targets:
    domain = WORKS.get(tool)
    if domain is None:
        return NOBODY
    spelled = said.spelled(said.names)
    named = [name for name in spelled if domain in _domains(Names.entities(snapshot, name))]
    areas = said.spelled(said.areas)
    slots = {"area": areas[0]} if len(areas) == 1 else {}
    slots |= {"name": named[0]} if len(named) == 1 else {}
    found = find(snapshot, slots, {domain}, area=area)
    return NOBODY if found.unclear else found


def _domains(entities: Iterable[Entity]) -> set[str]:
    return {entity.domain for entity in entities}


def _sun(arguments: Mapping[str, Any], said: Mentions, language: str) -> dict[str, Any]:
    rises = any(word in said.text for word in _RISES)
    return {**arguments, "event": "sunrise" if rises else "sunset"}


def _between(arguments: Mapping[str, Any], said: Mentions, language: str) -> dict[str, Any] | None:
    """The last two numbers; "one" is one here: "between one and fifty"."""
    spoken = _ONE.sub("1", said.text)
    spoken = chinese_digits(spoken) if language == "zh" else digits(spoken, language)
    numbers = [int(number) for number in re.findall(r"\d+", spoken)]
    if len(numbers) < BETWEEN:
        return None
    low, high = sorted(numbers[-BETWEEN:])
    return {**arguments, "low": low, "high": high} if low < high else None


def _humidity(arguments: Mapping[str, Any], said: Mentions, language: str) -> dict[str, Any] | None:
    spoken = "".join(one for one in digits(plain(arguments["humidity"]), language) if one.isdigit())
    return {"humidity": int(spoken)} if spoken and 0 < int(spoken) <= 100 else None


def _moved(arguments: Mapping[str, Any], said: Mentions, language: str) -> dict[str, Any] | None:
    """ "Alarm, quarter past six" sets one."""
    return dict(arguments) if _MOVES.search(said.text) else None


def _timed(arguments: Mapping[str, Any], said: Mentions, language: str) -> dict[str, Any] | None:
    """What is told as the time has to be one, and is on the day that is said besides: "the day
    after tomorrow at eleven" is not today."""
    if not (when := str(arguments.get("when", ""))):
        return dict(arguments)
    if (spoken := _spoken_time(when, language)) is None:
        return None
    about = plain(str(arguments.get("what", arguments.get("title", ""))))
    day, told = day_in(said.text, language), parse(spoken, language, datetime.now(UTC))
    if day and day not in about and not (told.on or told.repeat or told.delay):
        spoken = f"{day} {spoken}" if lexicon(language).spaces else f"{day}{spoken}"
    return {**arguments, "when": spoken}


def _entered(arguments: Mapping[str, Any], said: Mentions, language: str) -> dict[str, Any] | None:
    """An event at its time, without the verb that tells of it: "the dentist is on the third at
    four, and it isn't in the calendar yet"."""
    if (timed := _timed(arguments, said, language)) is None:
        return None
    return {**timed, "title": _TOLD_OF.sub("", str(timed.get("title", "")))}


def _appointment(
    arguments: Mapping[str, Any], said: Mentions, language: str
) -> dict[str, Any] | None:
    """Whatever is next, or the appointment that is named."""
    name = appointment_in(said.text, language)
    return {**arguments, "event": name} if name else dict(arguments)


_SPECIAL: dict[str, Callable[[Mapping[str, Any], Mentions, str], dict[str, Any] | None]] = {
    "clock.sun": _sun,
    "chance.number": _between,
    "humidifiers.set": _humidity,
    "alarms.change": _moved,
    "reminders.add": _timed,
    "calendar.add": _entered,
    "calendar.next": _appointment,
}
