"""A command for a time of day or in an hour: "turn off the fountain at 8 pm". Decides and does
nothing; what is said of when is in ``timed.py``.

What is left without the time has to be a command that is understood by itself, and one that needs
nobody's answer when its time has come. Many commands for a while later ("in ten minutes") are
sentences of the grammar. One may come every day, and wait for the sun: "every evening at sunset".
"""

import re
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime

import msgspec

from hubd.assistant.decision import Decision, lacks
from hubd.assistant.for_later.timed import (
    A_LITTLE,
    Parted,
    as_written,
    each_parted,
    has_happened,
    is_bare,
    knows_times,
    named_command,
    of_the_same,
    parted,
    says_another_time,
    when_it_ends,
    without_and,
)
from hubd.assistant.understanding.announced import tells_when
from hubd.assistant.understanding.compose import STEPPED, VALUED
from hubd.assistant.understanding.lexicon import Lexicon, lexicon
from hubd.assistant.understanding.plain import NEVER, plain
from hubd.assistant.understanding.readings import wonders
from plugins.api import ToolCall
from plugins.when import parse

LATER, ALARM = "routines.later", "alarms.set"
ROUTINE, ROUTINE_RUN, TALK = "routines.define", "routines.run", "help."
OF_NO_THING = frozenset({ROUTINE_RUN, "announce.say"})
"""What can wait, though it names nothing that is worked."""
CLOSING, LIT = frozenset({"home.close", "home.lock"}), frozenset({"home.turn_on", "lights.set"})
_IN_THE_MIDDLE = {
    "en": re.compile(
        r"\w,? and (?:then )?(?:in|after) (?:\w+ ){1,3}(?:minutes?|hours?|seconds?) \w"
    ),
    "de": re.compile(
        r"\w,? und (?:dann )?(?:in|nach) (?:\w+ ){1,3}(?:minuten?|stunden?|sekunden?) \w"
    ),
    "zh": re.compile(
        r"[,，](?:然后)?(?:过)?[\d一二两三四五六七八九十半]+个?(?:半)?(?:分钟|小时)(?:以|之)?后.{2}"
    ),
}
"""A wait between two commands, which is of the second alone."""
_AT = {"en": "at {}", "de": "um {}", "fr": "à {}", "es": "a las {}"}
HALF_A_DAY = 12
"""Hours."""
MOST_TIMES = 4
MOST_THINGS = 3
"""Of what "them" is said to be, by their names."""
_AND = {"en": " and ", "de": " und ", "zh": "和", "fr": " et ", "es": " y "}
SET = frozenset({"alarms", "reminders", "timers"})
"""The plugins of what is set for a time itself."""
Decide = Callable[[str], Awaitable[Sequence[Decision]]]
"""The decisions on what is left, one a command."""
_LONG_WORD = re.compile(r"\w{5,}")
"""That tells a thing: „Rollladen“ of the Schlafzimmerrollladen."""


async def at_a_time(text: str, known: Lexicon, decide: Decide) -> Decision | None:
    """The decision on a command for a time of day; ``None`` where ``text`` is none, or corrects
    itself: what it comes to is looked at then."""
    if not knows_times(known.language) or has_happened(text) or known.corrected(text):
        return None
    if _IN_THE_MIDDLE.get(known.language, NEVER).search(plain(text)):
        return None  # "dim it, and in ten minutes make it bright again": only the second waits
    if _then_undone(text, known):
        return None
    return await _left(parted(text, known), known, decide, text)


async def for_a_while(text: str, known: Lexicon, decide: Decide) -> list[tuple[str, Decision]]:
    """What is to be so for a while, and the command that ends it, with their decisions; empty where
    ``text`` is none."""
    said = when_it_ends(text, known)
    if said is None:
        return []
    command, back, when = said
    now, then = [one for spoken in (command, back) for one in await decide(spoken)]
    if any(one.call is None or one.asks or not one.entities for one in (now, then)):
        return []
    return [(command, now), (back, left_for(as_written(back, text), when, now))]


async def at_several_times(text: str, known: Lexicon, decide: Decide) -> list[Decision]:
    """The decisions on commands that are joined, each for a time of its own: "open the curtains
    at sunrise and close them at sunset". Empty where they are not."""
    if has_happened(text):
        return []
    said = each_parted(text, known)
    if not 2 <= len(said) <= MOST_TIMES or not all(one.when for one in said):
        return []
    first, *others = said
    decisions = [await _left(first, known, decide, text)]
    after = first.when
    for one in others:
        command = of_the_same(one.command, first.command, known.language)
        further = Parted(command, one.every or first.every, one.when)
        decisions.append(await _left(further, known, decide, text, after))
        after = one.when
    return [] if None in decisions else [one for one in decisions if one]


async def _left(
    said: Parted, known: Lexicon, decide: Decide, text: str, after: str = ""
) -> Decision | None:
    command, every, when = said
    if when == A_LITTLE or not (every or when) or not command or known.times(command):
        return None
    if known.negates(command) or known.asks(command):
        return None
    if tells_when(text, known.language):
        return None  # "tell everyone dinner is in ten minutes" tells when that is
    _, *others = re.split(r",? (?:and|und) ", command)
    if any(known.inquires_first(known.stripped(other)) for other in others):
        return None  # "turn off the radio in ten minutes, and is the door locked?"
    read = parse(f"{every} {when}", known.language, datetime.now(UTC))
    if (
        read.rest.strip("的时候再就 ")
        or bool(when) != read.said
        or bool(every) != bool(read.repeat)
    ):
        return None
    if says_another_time(command, known.language):
        return None
    if (known.subjects(text) - known.subjects(command)) & SET:
        return None  # "up at 5:40 in the morning, alarm" turns nothing up then
    decisions = await decide(command)
    bare = bool(when) and not every and is_bare(when, command)
    if not decisions or not all(_can_wait(one, bare=bare) for one in decisions):
        return None
    if wonders(text, known.language):
        return None
    command = as_written(command, text).rstrip("?？.!。！ ")
    late = all(map(_is_of_the_evening, decisions))
    arguments = {"command": command, "when": when, "every": every, "after": after, "late": late}
    call = ToolCall(tool=LATER, arguments={name: said for name, said in arguments.items() if said})
    return Decision(
        route=decisions[0].route,
        tool=LATER,
        arguments=dict(call.arguments),
        score=min(one.score for one in decisions),
        reason=f"“{command}” is {decisions[0].tool}, left for {f'{every} {when}'.strip()}",
        call=call,
        language=known.language,
    )


def of_what_was_left(
    text: str, last: Decision | None, last_text: str, things: Sequence[str] = ()
) -> str:
    """ "And turn them off at 11" with what was left for later before, or worked; else as it stands.

    last_text: with what it was said; things: the names of what was worked
    """
    if last is None or last.call is None or not knows_times(last.language):
        return text
    if last.tool != LATER and not last.entities:
        return text
    said = parted(without_and(text), lexicon(last.language))
    before = str(last.call.arguments.get("command", "")) if last.tool == LATER else last_text
    several = _AND.get(last.language, "").join(things)
    named = named_command(several, last.language) if 0 < len(things) <= MOST_THINGS else ""
    anew = last.tool != LATER and not any(_is_told(one, before) for one in things)
    for spoken in (named, before) if anew else (before, named):
        if not (said.command and spoken):
            continue
        command = of_the_same(said.command, plain(spoken), last.language)
        if command != said.command:
            command = as_written(command, spoken)
            break
    else:
        return text
    if said.when in ("", A_LITTLE):
        return text
    every, when = said.every, said.when
    if not every and without_and(text) != text and (days := _same_days(when, last)):
        every, when = days
    if not lexicon(last.language).spaces:
        return f"{every}{when}{command}"
    return f"{command} {every} {when}".strip()


def _is_told(name: str, text: str) -> bool:
    """Whether ``text`` speaks of what is called so, by its name or by a word that is in it."""
    said, called = plain(text), plain(name)
    return called in said or any(word in called for word in _LONG_WORD.findall(said))


def _same_days(when: str, last: Decision) -> tuple[str, str] | None:
    """The days of what was left for later before, and the next such hour behind it, where "and off
    at ten" goes on with it and says no day of its own."""
    given, now = last.arguments, datetime.now(UTC)
    every = str(given.get("every", ""))
    before = parse(f"{every} {given.get('when', '')}", last.language, now)
    read = parse(when, last.language, now)
    first = before.at
    if last.tool != LATER or not every or read.at is None or read.on or first is None:
        return None
    other = read.at.replace(hour=(read.at.hour + HALF_A_DAY) % (2 * HALF_A_DAY))
    hours = [read.at] if read.exact or read.at.hour > HALF_A_DAY else [read.at, other]
    at = min(hours, key=lambda one: (one <= first, one))
    return every, _AT.get(last.language, "{}").format(f"{at:%H:%M}")


def _then_undone(text: str, known: Lexicon) -> bool:
    """Whether something is done now, and the same at a time: "turn it on, and off in an hour"."""
    parts = each_parted(text, known)
    if len(parts) != 2 or parts[0].when or parts[0].every:
        return False
    first, then = parts
    same = of_the_same(then.command, first.command, known.language)
    return bool(then.when) and same != then.command


def left_for(command: str, when: str, now: Decision) -> Decision:
    """The decision to carry out a command later, decided on as what is done now."""
    command = _plainly(command, lexicon(now.language))
    call = ToolCall(tool=LATER, arguments={"command": command, "when": when})
    return Decision(
        route=now.route,
        tool=LATER,
        arguments=dict(call.arguments),
        score=now.score,
        reason=f"“{command}”, {when}",
        call=call,
        language=now.language,
    )


def _plainly(command: str, known: Lexicon) -> str:
    """The command without the hesitations and pauses that its time leaves in it: "well, , turn it
    off" is told and shown."""
    if not known.spaces:
        return command
    return ", ".join(clause for clause in command.split(", ") if known.stripped(clause)) or command


def _can_wait(decision: Decision, *, bare: bool) -> bool:
    """Whether something in the home is worked, and not set to what the number may as well be; or
    everyone is told something."""
    if decision.tool is None or decision.route == "semantic":
        return False
    if not decision.entities:
        return decision.tool in OF_NO_THING
    valued = {tool for tool, _, _ in VALUED.values()} | set(STEPPED.values())
    return not (bare and decision.tool in valued)


def _is_of_the_evening(decision: Decision) -> bool:
    """Whether it is rather for the evening: what closes, and light."""
    lights = all(entity.startswith("light.") for entity in decision.entities)
    return decision.tool in CLOSING or (decision.tool in LIT and lights)


_WAKES = {
    "en": re.compile(r"(?:please )?wake (?:me|us)(?: up)?(?: again)?"),
    "de": re.compile(r"(?:bitte )?wecke? (?:mich|uns)(?: (?:bitte|wieder|auf))*|wecken"),
}
_IN = {"en": "in {} minutes", "de": "in {} Minuten"}


def as_alarm(decision: Decision) -> Decision:
    """The decision; where what is left for a while later wakes somebody, that on an alarm. (Home
    Assistant's sentences have any command in front of "in twenty minutes".)"""
    given = decision.call.arguments if decision.call and decision.tool == LATER else {}
    wakes = _WAKES.get(decision.language)
    if given.get("when") or not wakes or not wakes.fullmatch(plain(str(given.get("command", "")))):
        return decision
    minutes = round(60 * float(given.get("hours", 0)) + float(given.get("minutes", 0)))
    when = {"when": _IN[decision.language].format(minutes)}
    call = ToolCall(tool=ALARM, arguments=when)
    return msgspec.structs.replace(decision, tool=ALARM, arguments=dict(when), call=call)


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
