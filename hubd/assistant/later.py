"""A command for a time of day or in an hour: "turn off the fountain at 8 pm". Decides and does
nothing.

What is left without the time has to be a command that is understood by itself, and one that needs
nobody's answer when its time has come. Many commands for a while later ("in ten minutes") are
sentences of the grammar; those for every day are none.
"""

import re
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime

from hubd.assistant.decision import Decision, lacks
from hubd.assistant.understanding.compose import STEPPED, VALUED
from hubd.assistant.understanding.lexicon import Lexicon
from hubd.assistant.understanding.plain import plain
from plugins.api import ToolCall
from plugins.numbers import digits
from plugins.when import parse

LATER = "routines.later"
ROUTINE, TALK = "routines.define", "help."
A_LITTLE = "1点"
"""调暗一点 is a bit dimmer, and not at one."""
_DAY = {
    "en": r"(?:today|tonight|tomorrow(?: morning| afternoon| evening| night)?|"
    r"this (?:morning|afternoon|evening)|in the (?:morning|afternoon|evening)),?",
    "de": r"(?:(?:heute|morgen|übermorgen)(?: früh| morgen| mittag| vormittag| nachmittag| abend|"
    r" nacht)?|(?:am )?(?:morgen|vormittag|nachmittag|abend)|morgens|abends|nachmittags|nachts),?",
}
_HOUR = r"(?:\d{1,2}(?:[:. ][0-5]\d)?|one|noon|midnight)"
_UHR = r"(?:\d{1,2}(?:[:.][0-5]\d)?(?: ?uhr(?: [0-5]?\d\b)?)?|eins|mittag|mitternacht)"
_FOR_A_WHILE = {
    "en": re.compile(
        r"(?P<verb>turn|switch|put) (?:(?P<a>on|off) (?P<b>.+)|(?P<c>.+) (?P<d>on|off)) "
        r"(?:just )?for (?P<span>(?:half )?an hour|a minute|\d+ (?:second|minute|hour)s?)"
    ),
    "de": re.compile(
        r"(?P<verb>mach|mache|schalt|schalte|stell|stelle) (?P<c>.+) "
        r"für (?P<span>eine(?: halbe)? stunde|\d+ (?:sekunde|minute|stunde)n?) (?P<d>an|aus|ein)"
    ),
}
_BACK = {"on": "off", "off": "on", "an": "aus", "ein": "aus", "aus": "an"}
_CLOCK = {
    "en": re.compile(
        rf"\b(?:{_DAY['en']} )?(?:"
        rf"(?:at|around) (?:half past |half |(?:quarter|\d\d?)(?: minutes)? (?:past|to) )?{_HOUR}"
        r"(?: ?(?:[ap]\.?m\b\.?|o'clock))?|\d{1,2}(?:[:. ][0-5]\d)? ?(?:[ap]\.?m\b\.?|o'clock)"
        rf")(?: (?:at night|on the dot|{_DAY['en']}))?(?!\w)(?! ?(?:%|percent|degrees?|per cent))"
    ),
    "de": re.compile(
        rf"\b(?:{_DAY['de']} )?(?:"
        rf"(?:um|gegen|ab) (?:halb |(?:viertel|\d\d?)(?: minuten)? (?:vor|nach) )?{_UHR}"
        r"|\d{1,2}(?:[:.][0-5]\d)? ?uhr(?: [0-5]?\d\b)?|(?:halb|viertel (?:vor|nach)) \d{1,2}"
        rf")(?: {_DAY['de']})?(?!\w)(?! ?(?:%|prozent|grad))"
    ),
    "zh": re.compile(
        r"(?:今天|明天|后天|明(?=[早晚]))?(?:今晚|早上|早晨|上午|中午|下午|晚上|傍晚|凌晨|半夜|夜里|早|晚)?"
        r"(?:\d{1,2}点(?!亮)(?:半|一刻|三刻|\d{1,2}分?|钟|整)?|\d{1,2}[:：][0-5]\d)(?:的?时候|时|，|,)?"
    ),
}
"""Over plain text with its numbers in digits."""
_DELAY = {
    "en": re.compile(r"\bin (?:(?:half )?an hour|\d+ (?:second|minute|hour)s?)\b"),
    "de": re.compile(r"\bin (?:einer(?: halben)? stunde|\d+ (?:sekunde|minute|stunde)n?)\b"),
    "zh": re.compile(r"(?:半|\d+)个?(?:小时|钟头|分钟|秒钟?)(?:之?后|以后)(?:再)?"),
}
_SAYS_A_TIME = re.compile(
    r"[ap]\.?m|o'clock|[:.]\d\d|noon|midnight|half|quarter|tonight|morning|afternoon|evening|night|"
    r"uhr|halb|viertel|mittag|mitternacht|abend|früh|nacht|[点:：]"
)

Decide = Callable[[str], Awaitable[Sequence[Decision]]]
"""The decisions on what is left, one a command."""


async def at_a_time(text: str, known: Lexicon, decide: Decide) -> Decision | None:
    """The decision on a command for a time of day; ``None`` where ``text`` is none."""
    clock = _CLOCK.get(known.language)
    said = digits(plain(known.fixed(known.stripped(text))), known.language)
    if clock is None or known.negates(said) or known.asks(said):
        return None
    found = list(clock.finditer(said)) or list(_DELAY[known.language].finditer(said))
    when = found[0][0].strip(" ,，") if len(found) == 1 else A_LITTLE
    if when == A_LITTLE:
        return None
    read = parse(when, known.language, datetime.now(UTC))
    command = " ".join(f"{said[: found[0].start()]} {said[found[0].end() :]}".split())
    command = command if known.spaces else command.replace(" ", "")
    command = command.strip(" ,，、")
    if not read.said or read.rest.strip("的时候再 ") or not command or known.times(command):
        return None
    decisions = await decide(command)
    if not decisions or not all(_can_wait(one, bare=_is_bare(when)) for one in decisions):
        return None
    call = ToolCall(tool=LATER, arguments={"command": command, "when": when})
    return Decision(
        route=decisions[0].route,
        tool=LATER,
        arguments=dict(call.arguments),
        score=min(one.score for one in decisions),
        reason=f"“{command}” is {decisions[0].tool}, left for {when}",
        call=call,
        language=known.language,
    )


def for_a_while(text: str, known: Lexicon) -> tuple[str, str, str] | None:
    """What "turn on the fan for ten minutes" does at once, what takes it back, and when: two
    commands and a time; ``None`` where ``text`` is no such one."""
    pattern = _FOR_A_WHILE.get(known.language)
    said = digits(plain(known.fixed(known.stripped(text))), known.language)
    found = pattern.fullmatch(said) if pattern else None
    if found is None:
        return None
    which = found.groupdict()
    verb, span, way = which["verb"], which["span"], which.get("a") or which["d"]
    thing = which.get("b") or which["c"]
    if known.language == "de":
        span = re.sub(
            r"^eine halbe\b", "einer halben", re.sub(r"^eine stunde", "einer stunde", span)
        )
    return f"{verb} {thing} {way}", f"{verb} {thing} {_BACK[way]}", f"in {span}"


def left_for(command: str, when: str, now: Decision) -> Decision:
    """The decision to carry out a command later, beside what is done now."""
    call = ToolCall(tool=LATER, arguments={"command": command, "when": when})
    return Decision(
        route=now.route,
        tool=LATER,
        arguments=dict(call.arguments),
        score=now.score,
        reason=f"“{command}” takes it back, {when}",
        call=call,
        language=now.language,
    )


def _is_bare(when: str) -> bool:
    """Whether a number stands there that may be a value as well: "at 9"."""
    return _SAYS_A_TIME.search(when) is None


def _can_wait(decision: Decision, *, bare: bool) -> bool:
    """Whether something in the home is worked, and not set to what the number may as well be."""
    if decision.tool is None or not decision.entities or decision.route == "semantic":
        return False
    valued = {tool for tool, _, _ in VALUED.values()} | set(STEPPED.values())
    return not (bare and decision.tool in valued)


async def unless_unattended(decision: Decision, decide: Decide) -> Decision:
    """A command for later is declined now where it would not be done then: what needs a person's
    answer finds nobody."""
    if decision.tool != LATER or decision.call is None:
        return decision
    command = str(decision.call.arguments.get("command", ""))
    then = await decide(command)
    if all(one.call is not None and one.asks is None for one in then):
        return decision
    confirmed = any(one.asks == "confirm" or one.declined == "not_later" for one in then)
    reason = (
        "needs a person's yes when it is done" if confirmed else "is nothing to be done as said"
    )
    return Decision(
        route=decision.route,
        reason=f"“{command}” {reason}, so it cannot be left for later",
        language=decision.language,
        declined="not_later" if confirmed else "declined",
    )


async def unless_empty(decision: Decision, decide: Decide) -> Decision:
    """A routine of which no command is understood is none: 弄暗一点就行 gives 行 no name."""
    if decision.tool != ROUTINE or decision.call is None:
        return decision
    said = decision.call.arguments.get("commands", "")
    commands = said if isinstance(said, list) else [said]
    for command in commands:
        for one in await decide(str(command)):
            if not lacks(one) and not (one.tool or "").startswith(TALK):
                return decision
    reason = f"a routine, but “{', '.join(map(str, commands))}” is nothing to be done"
    return Decision(route="documents", reason=reason, language=decision.language)
