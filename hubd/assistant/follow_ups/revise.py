"""What changes the thing done last: "no, the bedroom", "make that ten minutes", "and butter".

Only words that open a correction or go on with a list count, and only after something that they can
change; what was done before is then taken back first, unless the same things are set anew. Decides
and does nothing.
"""

import re
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime

import msgspec

from hubd.assistant.decision import Decision
from hubd.assistant.dialogue import Memory
from hubd.assistant.follow_ups.corrections import WEAK, corrects
from hubd.assistant.follow_ups.follow import follow
from hubd.assistant.follow_ups.listed import ADD, LASTS, OF_A_LIST, is_item, list_call, listed
from hubd.assistant.follow_ups.of_set import in_its_place, made_long, put_right
from hubd.assistant.follow_ups.rescheduled import at_once_instead
from hubd.assistant.follow_ups.set_for_a_time import (
    CHANGES,
    EVENT,
    MOVED_EVENT,
    continuing,
    days_of_week,
    names_a_day,
    title_of,
    when_of,
    which_changed,
)
from hubd.assistant.follow_ups.the_other import in_place_of_it, says_another_was_meant
from hubd.assistant.for_later.later import LATER
from hubd.assistant.route import Router
from hubd.assistant.understanding.fill import TIMER
from hubd.assistant.understanding.lexicon import lexicon
from hubd.assistant.understanding.plain import as_said, plain
from hubd.assistant.understanding.values import NEVER, VALUE
from plugins.api import ToolCall
from plugins.days import DAILY
from plugins.event_words import says_when
from plugins.lengths import length_of
from plugins.lists import items_of
from plugins.numbers import digits
from plugins.when import as_time, parse
from plugins.when_reader import Cycle

OF_EVENTS = frozenset({EVENT, MOVED_EVENT})

_ENOUGH = {
    "en": r"(?:(?:just|only) )?(?P<a>.+?)(?: (?:is|are|will be|would be)|'s|'ll be)"
    r" (?:enough|plenty|sufficient)(?: too)?|(?P<b>.+?) (?:will|would) do",
    "de": r"(?:es )?(?:reich(?:t|en)|genüg(?:t|en)|lang(?:t|en))(?: auch)? (?P<a>.+)|(?P<b>.+?) "
    r"(?:reich(?:t|en)|genüg(?:t|en)|lang(?:t|en)|tut es|tun es|tun's|sind genug)"
    r"(?: auch| schon| doch| völlig)*",
    "zh": r"(?P<a>.+?)(?:就|也)?(?:够|行|可以|好)(?:了|啦|的)?",
}
"""What says that less is enough: "five minutes is enough"."""
_UNIT = re.compile(r"(?:%|[^\W\d]).*$")
_FILLER = {
    "en": r"(?:at|to|for|the|a|an|instead|please|rather|then|in|\s)*",
    "de": r"(?:um|auf|für|in|bitte|lieber|dann|\s)*",
    "zh": r"(?:吧|的|了|在|到|请|之?后|以后|\s)*",
    "fr": r"(?:à|au|pour|sur|de|dans|vers|plutôt|s'il te plaît|\s)*",
    "es": r"(?:al?|las?|para|en|de|mejor|por favor|\s)*",
}
_FILLED = re.compile(r"^(?:it's |es ist |是|在)|(?:吧|的)$")
"""What stands around a time that is corrected."""

_SPANS = {
    "en": (
        (r"\bhalf an hour\b", "30 minutes"),
        (r"\b(?:a )?quarter of an hour\b", "15 minutes"),
        (r"\ban hour\b", "1 hour"),
        (r"\ba minute\b", "1 minute"),
    ),
    "de": (
        (r"\beine[r]? halbe[n]? stunde\b", "30 minuten"),
        (r"\beine[r]? viertelstunde\b", "15 minuten"),
        (r"\beine[r]? stunde\b", "1 stunde"),
        (r"\beine[r]? minute\b", "1 minute"),
    ),
    "zh": ((r"(?<!个)半个?(?:小时|钟头)", "30分钟"), (r"一刻钟", "15分钟")),
    "fr": (
        (r"\bune demi[- ]heure\b", "30 minutes"),
        (r"\bun quart d'heure\b", "15 minutes"),
    ),
    "es": ((r"\bmedia hora\b", "30 minutos"), (r"\bun cuarto de hora\b", "15 minutos")),
}
"""How long, said without a number."""
UNITS = {"hours": 3600, "minutes": 60, "seconds": 1}
"""Of how long a timer runs, in seconds."""
_HALF_OF_IT = re.compile(r"(?<=\beine halbe)$|(?<=\beine ganze)$|(?<=\bhalf)$")
_HOUR = {"de": " stunde", "en": " an hour"}
"""What "a half" is one of."""
_AFTER = {"en": "in {} minutes", "de": "in {} Minuten", "zh": "{}分钟后"}
_NOTHING = re.compile(
    r"^(?:(?:nothing|none|that|this|it|enough|fine|ok(?:ay)?|thanks?|later|not?|never)\b|"
    r"(?:all(?: good| done)?|good|done)$|"
    r"(?:nichts|keine?|danke|passt|reicht|fertig|gut|schon gut|das|so|später|egal)\b|"
    r"[没不够好行算谢])"
)
"""What is no item after a "no"."""


class Revised(msgspec.Struct, frozen=True, kw_only=True):
    """What is meant now, and what has to be taken back first."""

    decision: Decision
    undo: ToolCall | None = None
    said: str
    """The utterance as it would have been said at once."""
    kept: tuple[ToolCall, ...] | None = None
    """What takes back what else was done in the same sentence, and stays."""


Decide = Callable[[str], Awaitable[Decision]]


def says_enough(text: str, language: str) -> str:
    """How long is enough, where ``text`` says that and no more; empty where it does not."""
    said = re.sub(rf"^(?:(?:{WEAK.get(language, NEVER)})[\s,]*)+", "", plain(text))
    found = re.fullmatch(_ENOUGH.get(language, NEVER), said)
    span = next(filter(None, found.groups()), "") if found else ""
    return span if LASTS.fullmatch(_in_digits(span, language)) else ""


def sets_a_value(text: str, language: str, *, bare: bool) -> bool:
    """Whether ``text`` corrects a number and says no more: "no 22" is no new alarm.

    bare: only where the number has no unit: "make it 22 degrees" says enough by itself
    """
    value = _value(corrects(text, language), language)
    return value is not None and (value.isdigit() or not bare)


async def revised(router: Router, text: str, memory: Memory, decide: Decide) -> Revised | None:
    """What ``text`` makes of what ``memory`` holds; ``None`` where it changes nothing of it."""
    last = memory.last
    if last is None or last.call is None:
        return None
    if last.tool in OF_A_LIST and (further := listed(router, text, last)):
        if (await decide(text)).tool is None:  # it names no list of its own
            return Revised(decision=further, said=text)
        return None
    if at_once := at_once_instead(text, memory):
        command, calls_off = at_once
        decision = await decide(command)
        return (
            Revised(decision=decision, undo=calls_off, said=command)
            if _is_clear(decision)
            else None
        )
    if instead := in_its_place(text, last):
        return Revised(decision=instead, undo=_undo(memory), said=text)
    rest = corrects(text, last.language) or says_enough(text, last.language)
    rest = _only_a_value(rest, last.language) or put_right(text, last) or rest
    rest = made_long(text, last) or rest or says_another_was_meant(text, last.language)
    if not rest:
        return None
    if last.tool == LATER:
        return _at_another_time(rest, memory, last)
    if last.tool == ADD:
        return await _other_item(router, text, rest, memory, last, decide)
    if last.entities:
        return await _other_things(router, rest, memory, last, decide)
    if last.tool == TIMER and (other := _other_length(rest, memory, last)):
        return other
    if said := replaced(memory.last_text, rest, last.language):
        decision = await decide(said)
        if decision.tool == last.tool and decision.call != last.call:
            return Revised(decision=decision, undo=_undo(memory), said=said)
    return _other_moment(rest, memory, last)


def _is_clear(decision: Decision) -> bool:
    return decision.call is not None and decision.asks is None


def _only_a_value(rest: str, language: str) -> str:
    return rest if _value(rest, language) else ""


def _other_length(rest: str, memory: Memory, last: Decision) -> Revised | None:
    """The timer that was set last, for another while: "sorry, fifteen", „eine halbe“."""
    assert last.call is not None
    said = _HALF_OF_IT.sub(_HOUR.get(last.language, ""), rest)
    units = [unit for unit in UNITS if last.call.arguments.get(unit)]
    if (length := length_of(said, last.language)) is not None:
        seconds = round(length.total_seconds())
    elif len(units) == 1 and (number := digits(said, last.language)).isdigit():
        seconds = int(number) * UNITS[units[0]]
    else:
        return None
    kept = {k: v for k, v in last.call.arguments.items() if k not in UNITS}
    given = {"minutes": seconds // 60} if seconds % 60 == 0 else {"seconds": seconds}
    if not seconds:
        return None
    call = ToolCall(tool=TIMER, arguments={**kept, **given})
    return Revised(decision=continuing(last, call), undo=_undo(memory), said=memory.last_text)


def _other_moment(rest: str, memory: Memory, last: Decision) -> Revised | None:
    """Another time of the reminder, alarm or event that was set or changed last: 是晚上十点."""
    now = datetime.now(UTC)
    said = as_time(_FILLED.sub("", rest), last.language, now) or _after_that(rest, last, now)
    if last.tool in OF_EVENTS and said and says_when(said, last.language, now):
        moved: dict[str, object] = {"event": title_of(last, now), "to": said}
        return Revised(
            decision=continuing(last, ToolCall(tool=MOVED_EVENT, arguments=moved)), said=rest
        )
    if last.tool not in CHANGES or not memory.undo or not said:
        return None
    said = _each_week(said, last, now) or said
    changed: dict[str, object] = {"to": said, "which": which_changed(memory)}
    return Revised(
        decision=continuing(last, ToolCall(tool=CHANGES[last.tool], arguments=changed)), said=rest
    )


def _each_week(said: str, last: Decision, now: datetime) -> str:
    """A day of the week as each of them, where it is said of what comes every week; else empty."""
    before, then = when_of(last, now), parse(said, last.language, now)
    weekly = before.repeat and before.repeat != DAILY and before.cycle == Cycle()
    if not weekly or then.said or not then.on or not names_a_day(said, last.language):
        return ""
    return days_of_week((then.on.weekday(),), last.language)


def _after_that(rest: str, last: Decision, now: datetime) -> str:
    """From now on so long, where a reminder or alarm was for after a while: "a whole hour"."""
    length = length_of(rest, last.language)
    if length is None or when_of(last, now).delay is None:
        return ""
    return _AFTER[last.language].format(round(length.total_seconds() / 60))


def _at_another_time(rest: str, memory: Memory, last: Decision) -> Revised | None:
    """What was left for later, at another time or after another while."""
    assert last.call is not None
    when = replaced(str(last.call.arguments.get("when", "")), rest, last.language)
    if not when:
        return None
    arguments = {**last.call.arguments, "when": when}
    call = ToolCall(tool=LATER, arguments=arguments)
    decision = msgspec.structs.replace(last, arguments=arguments, call=call)
    return Revised(
        decision=decision, undo=_undo(memory), said=memory.last_text, kept=memory.undo[1:]
    )


async def _other_item(
    router: Router, text: str, rest: str, memory: Memory, last: Decision, decide: Decide
) -> Revised | None:
    """Another item in the place of the only one, or of the one that ends in the same word: "milk
    and bread", "no, oat milk"."""
    assert last.call is not None
    known = lexicon(last.language)
    items = items_of([str(one) for one in last.call.arguments.get("items", ())])
    alike = items if len(items) == 1 else [one for one in items if _ends_alike(one, rest)]
    is_one = is_item(rest, known) and not _NOTHING.search(rest)
    if len(alike) != 1 or not is_one or (await decide(rest)).tool is not None:
        return None
    meant = as_said(text, rest)
    instead = [meant if one == alike[0] else one for one in items]
    decision = list_call(router, last, ADD, {**last.call.arguments, "items": instead}, meant, known)
    return Revised(decision=decision, undo=_undo(memory), said=text) if decision else None


def _ends_alike(item: str, other: str) -> bool:
    """Whether one is a kind of the other: "milk" and "oat milk", "Milch" and "Hafermilch"."""
    one, two = plain(item), plain(other)
    return one.endswith(two) or two.endswith(one)


async def _other_things(
    router: Router, rest: str, memory: Memory, last: Decision, decide: Decide
) -> Revised | None:
    """The same with other things, another value, or a whole other command."""
    if (other := in_place_of_it(rest, last, router.snapshot())) is not None:
        undo = None if other.declined else _undo(memory)
        return Revised(decision=other, undo=undo, said=rest)
    decision = follow(router, rest, last, router.snapshot())
    if decision is None or _kind(decision.tool) != _kind(last.tool):
        if of_the_first := _of_the_one_before(router, rest, memory):
            return of_the_first
        decision = await decide(rest)
        if decision.tool != last.tool:
            return None
    again = set(decision.entities) & set(last.entities)
    return Revised(decision=decision, undo=None if again else _undo(memory), said=rest)


def _of_the_one_before(router: Router, rest: str, memory: Memory) -> Revised | None:
    """The same of what was done in the same sentence before: "turn on the hall light and close the
    blind", "no, the bedroom light"."""
    if memory.beside is None:
        return None
    before, back = memory.beside
    decision = follow(router, rest, before, router.snapshot())
    if decision is None or decision.tool != before.tool or decision.entities == before.entities:
        return None
    kept = tuple(call for call in memory.undo if call not in back)
    return Revised(decision=decision, undo=next(iter(back), None), said=rest, kept=kept)


def _undo(memory: Memory) -> ToolCall | None:
    return memory.undo[0] if memory.undo else None


def _kind(tool: str | None) -> str:
    return (tool or "").partition(".")[0]


def replaced(before: str, value: str, language: str) -> str:
    """``before`` with its last number, and the unit, as ``value`` says; empty where that is no
    value: ("wake me at 7", "half past eight") → "wake me at half past 8"."""
    if language not in VALUE:
        return ""
    old, meant = _in_digits(before, language), _value(value, language)
    spans = list(re.finditer(VALUE[language], old))
    if meant is None or not spans:
        return ""
    span = spans[-1]
    if meant.replace(".", "").isdigit() and (unit := _UNIT.search(re.split(r"\d", span[0])[-1])):
        meant += ("" if not lexicon(language).spaces else " ") + unit[0].strip()
    capitals = {word.casefold(): word for word in re.findall(r"\w+", before)}
    said = old[: span.start()] + meant + old[span.end() :]
    return re.sub(r"\w+", lambda word: capitals.get(word[0], word[0]), said)


def _in_digits(text: str, language: str) -> str:
    """The plain text with its numbers in digits, and "half an hour" as one of them."""
    said = plain(text)
    for words, meant in _SPANS.get(language, ()):
        said = re.sub(words, meant, said)
    return digits(said, language)


def _value(text: str, language: str) -> str | None:
    """The number, with its unit, that ``text`` is and nothing else."""
    if language not in VALUE:
        return None
    filler = _FILLER[language]
    only = re.fullmatch(rf"{filler}({VALUE[language]}){filler}", _in_digits(text, language))
    return only[1] if only else None
