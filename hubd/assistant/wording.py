"""The call that an utterance about words and times asks for, from its parts.

``worded`` tells which tool is meant and which words are its parts; here they become arguments, and
what a tool cannot make anything of (a day that is none) is no call. The house is looked at only for
the few tools that have things as well: the player that shall play it.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from hubd.assistant.understanding.lexicon import lexicon
from hubd.assistant.understanding.mentions import Mentions
from hubd.assistant.understanding.plain import plain
from hubd.assistant.understanding.tagger import Parts
from hubd.assistant.understanding.targets import NOBODY, Targets, find
from hubd.home.model import Snapshot
from plugins.api import Tool, ToolCall
from plugins.numbers import digits


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
    "reminders.cancel": Slots("which"),
    "announce.say": Slots("message"),
    "notes.add": Slots("text"),
    "notes.recall": Slots("about"),
    "media.search": Slots("query"),
    "calendar.add": Slots("title", "when"),
    "calendar.move": Slots("event", "to"),
    "calendar.remove": Slots("event"),
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
LISTED = ("lists.", "chance.")
"""Tools that are told several things."""
LONGEST = 5
"""Words of a thing."""
WORKS = {
    "media.search": "media_player",
    "climate.target": "climate",
    "humidifiers.set": "humidifier",
}
"""Tools of things, and of which."""
ENDS = frozenset({"lists.remove", "lists.complete", "reminders.cancel", "calendar.remove"})
"""Tools for what is not wanted any more, and which is said with a "not"."""
BETWEEN = 2
_RISES = ("rise", "sunrise", "aufgang", "aufgeht", "geht auf", "hell", "light", "升", "出来", "亮")
"""What is asked of the sun in the morning."""


_MOVES = re.compile(
    r"\b(?:mov|chang|shift|push|postpone|bring|instead|earlier|later|make|another|not|rather|"
    r"verschieb|verleg|änder|stell|früher|später|statt|lieber|doch|vor|nach hinten|zurück|um)"
    r"|[改挪移调换]|推|提前|延后|晚|早点|而不是"
)
"""What is said of an alarm that there is."""


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
    slots = SLOTS.get(tool.name)
    if slots is None:
        return None
    arguments: dict[str, Any] = {}
    if slots.about:
        about = _about(tool.name, parts, language)
        if not about:
            return None
        arguments[slots.about] = about
    if slots.when and not parts.when and not slots.optional:
        return None
    # Somebody who says several times corrects themselves, or one of them is no time.
    whens = dict.fromkeys((" ".join(parts.when), *reversed(parts.when))) if slots.when else [""]
    fitting = (
        call
        for when in whens
        if (
            call := _fitting(tool, arguments | ({slots.when: when} if when else {}), said, language)
        )
    )
    if (arguments := next(fitting, {})) == {} and slots != Slots():
        return None
    targets = _works(tool.name, said, snapshot, area)
    if tool.name in WORKS:
        if not targets.entities:
            return None
        arguments["entities"] = targets.ids
    return Worded(ToolCall(tool=tool.name, arguments=arguments), targets)


def may_be_meant(tool: str, text: str, language: str) -> bool:
    """Whether no "not" speaks against it: "don't put milk on the list" adds none."""
    known = lexicon(language)
    if tool in ENDS:
        return True
    return not (known.negates(known.fixed(known.stripped(text))) and known.commands(text))


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
    if any(len(plain(one).split()) > LONGEST for one in things):
        return None  # "on my way home from town" is on no list
    return things if tool == "lists.add" else ", ".join(things)


def _works(tool: str, said: Mentions, snapshot: Snapshot, area: str) -> Targets:
    domain = WORKS.get(tool)
    if domain is None:
        return NOBODY
    spelled = [name for name in said.areas if plain(name) in said.text]
    slots = {"area": spelled[0]} if len(spelled) == 1 else {}
    found = find(snapshot, slots, {domain}, area=area)
    return NOBODY if found.unclear else found


def _sun(arguments: Mapping[str, Any], said: Mentions, language: str) -> dict[str, Any]:
    rises = any(word in said.text for word in _RISES)
    return {**arguments, "event": "sunrise" if rises else "sunset"}


def _between(arguments: Mapping[str, Any], said: Mentions, language: str) -> dict[str, Any] | None:
    if len(said.numbers) < BETWEEN:
        return None
    low, high = sorted(int(number) for number in said.numbers[-BETWEEN:])
    return {**arguments, "low": low, "high": high}


def _humidity(arguments: Mapping[str, Any], said: Mentions, language: str) -> dict[str, Any] | None:
    spoken = "".join(one for one in digits(plain(arguments["humidity"]), language) if one.isdigit())
    return {"humidity": int(spoken)} if spoken and 0 < int(spoken) <= 100 else None


def _moved(arguments: Mapping[str, Any], said: Mentions, language: str) -> dict[str, Any] | None:
    """ "Alarm, quarter past six" sets one."""
    return dict(arguments) if _MOVES.search(said.text) else None


_SPECIAL: dict[str, Callable[[Mapping[str, Any], Mentions, str], dict[str, Any] | None]] = {
    "clock.sun": _sun,
    "chance.number": _between,
    "humidifiers.set": _humidity,
    "alarms.change": _moved,
}
