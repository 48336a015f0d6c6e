"""What changes the command that was left for later last: "make it twenty", „nein, lieber samstags“,
再等十分钟, "leave them on after all".

Only after one was left for later, or changed; decides and does nothing. A clause beside it may say
why ("the film's longer than I thought, half past eleven"), and asks for nothing. How it is said is
in rescheduled.yaml.
"""

import re
from collections.abc import Iterator
from datetime import datetime
from functools import partial
from typing import Any, Literal

import msgspec

from hubd.assistant.decision import Decision
from hubd.assistant.dialogue import Memory
from hubd.assistant.follow_ups.same_hour import in_that_hour
from hubd.assistant.follow_ups.set_for_a_time import LATER, continuing, when_of
from hubd.assistant.understanding.data_files import words_beside
from hubd.assistant.understanding.lexicon import Lexicon, lexicon
from hubd.assistant.understanding.plain import plain
from hubd.assistant.understanding.reasons import BREAK, is_conditional
from plugins.api import ToolCall
from plugins.numbers import digits
from plugins.when import When, as_time, parse

_words = partial(words_beside, __file__)

CHANGE, CANCEL, TOLD = "routines.change", "routines.cancel", "routines.scheduled"
_UNIT = re.compile(r"(?: ?(?:%|°|percent|degrees?|prozent|grad|度))?")
_NUMBER = re.compile(r"\d{1,3}")
_QUESTION = ("?", "？")
MOST_HOURS = 12
"""Of a clock."""
MINUTE = 60
"""Seconds."""
_UNITS = {"en": ("minutes", "hours"), "de": ("minuten", "stunden"), "zh": ("分钟", "个小时")}


def rescheduled(text: str, memory: Memory, now: datetime) -> Decision | None:
    """What ``text`` makes of the command that was left for later last: another time or other days,
    or that it is called off; ``None`` where it does neither."""
    last = memory.last
    if last is None or last.tool not in LATER or not memory.undo or last.language not in _words():
        return None
    words = _words()[last.language]
    if re.fullmatch(words["asked"], plain(text)):
        return continuing(last, ToolCall(tool=TOLD, arguments={"which": _which(memory)}))
    if text.rstrip().endswith(_QUESTION):
        return None
    if _never_mind(text, words):
        return _of_that_one(ToolCall(tool=CANCEL, arguments={}), memory, last, now)
    if re.fullmatch(words["one_day"], plain(text)) and _given(last).get("every"):
        reason = "one that repeats is done on all of its days"
        return _unclear(reason, last.language, "not_one_day")
    for said in _clauses(text, lexicon(last.language)):
        if (changed := _changed(said, last, now)) is not None:
            return _of_that_one(changed, memory, last, now)
        if _may_be_its_value(said, last):
            reason = f"{said}: the time or the value of what was left for later"
            return _unclear(reason, last.language, "declined")
    return None


def at_once_instead(text: str, memory: Memory) -> tuple[str, ToolCall] | None:
    """The command that was left for later last, to be done now, and what calls it off: "cancel
    that, turn it off now"; ``None`` where ``text`` does not say so."""
    last = memory.last
    if last is None or last.tool not in LATER or not memory.undo or last.language not in _words():
        return None
    words = _words()[last.language]
    said = [_unopened(plain(one), last.language) for one in BREAK.split(text)]
    *before, now = [one for one in said if one] or [""]
    found = re.fullmatch(words["at_once"], now)
    ways = [way for way in found.groupdict().values() if way] if found else []
    off = [one for one in before if not re.fullmatch(words["never_mind"], one)]
    if not before and (memory.spoken_of is not last or _given(last).get("every")):
        return None  # "turn it off now" alone may be of something else, or only of today
    if found is None or not all(_is_called_off(one, last) for one in off):
        return None
    if not all(_ends_in(way, last) for way in ways):
        return None
    call = ToolCall(tool=CANCEL, arguments={"which": _which(memory)})
    return str(_given(last).get("command", "")), call


def _never_mind(text: str, words: dict[str, Any]) -> bool:
    """Whether ``text`` is a "never mind" and no more, or says besides that somebody does it."""
    if re.search(words["oneself"], plain(text)) is None:
        return re.fullmatch(words["never_mind"], plain(text)) is not None
    return any(re.fullmatch(words["never_mind"], plain(one)) for one in BREAK.split(text))


def _clauses(text: str, known: Lexicon) -> Iterator[str]:
    """The whole of ``text``, and its last or first clause where the others only say why."""
    yield plain(text)
    said = [plain(one) for one in BREAK.split(text) if known.stripped(one)]
    oneself = _words()[known.language]["oneself"]
    told = [one for one in said if _unopened(one, known.language)]
    pieces = [one for one in told if not re.search(oneself, one)]
    for at in sorted({len(pieces) - 1, 0}, reverse=True) if pieces and len(told) > 1 else ():
        if not any(_asks_for(one, known) for one in pieces[:at] + pieces[at + 1 :]):
            yield pieces[at]


def _asks_for(said: str, known: Lexicon) -> bool:
    stripped = known.stripped(said)
    asked = known.inquires_first(_unopened(said, known.language))
    wants = known.commands(stripped) or asked
    return wants or is_conditional(stripped)


def _changed(whole: str, last: Decision, now: datetime) -> ToolCall | None:
    """The change, still of no command in particular."""
    language = last.language
    words, said = _words()[language], _unopened(whole, language)
    if _is_called_off(whole, last) or _is_called_off(said, last):
        return ToolCall(tool=CANCEL, arguments={})
    if re.fullmatch(words["at_once"], said):
        return None
    if (until := re.fullmatch(words["until"], said)) and not _ends_in(until["way"], last):
        to = until["to"]
        to = as_time(to, language, now) if _NUMBER.fullmatch(to) else _time_in(to, last, now)
        return ToolCall(tool=CHANGE, arguments={"to": to}) if to else None
    for way, sign in (("more", 1), ("less", -1)):
        if found := re.fullmatch(words[way], said):
            span = next(filter(None, found.groupdict().values()), "")
            if minutes := _minutes(span, language, now):
                return ToolCall(tool=CHANGE, arguments={"by": sign * minutes})
    if at := in_that_hour(said, language, when_of(last, now).at):
        return ToolCall(tool=CHANGE, arguments={"to": at})
    found = re.fullmatch(
        f"(?P<put>{words['put']} ?)?(?P<to>.+?)(?P<ending>{words['ending']})", said
    )
    to = found["to"].strip(" ,") if found else ""
    if found is None or not to:
        return None
    ending = found["ending"].strip(" ,")
    corrected = bool(ending) or said != digits(whole, language)
    if re.search(words["enough"], ending) and not _NUMBER.fullmatch(to):
        corrected = False  # that is set anew, so that all of it can be taken back
    put = bool(found["put"]) or (corrected and _waits(last, now))
    if _NUMBER.fullmatch(to):
        to = _in_its_unit(to, last, now) if put else ""
    else:
        to = _time_in(to, last, now) or (_wait_in(to, language, now) if put else "")
    return ToolCall(tool=CHANGE, arguments={"to": to}) if to else None


def _unopened(said: str, language: str) -> str:
    return re.sub(f"^{_words()[language]['opening']}", "", digits(said, language)).strip(" ,")


def _is_called_off(said: str, last: Decision) -> bool:
    """Whether the command shall not be done. "Don't turn it off" is of one that turns off, and
    "leave it on" of none that turns on."""
    words, command = (
        _words()[last.language],
        plain(str(_given(last).get("command", ""))),
    )
    for pattern in words["called_off"]:
        if off := re.fullmatch(pattern, said):
            thing = off.groupdict().get("thing")
            return not thing or _says(command, thing, last.language)
    if same := re.fullmatch(words["same"], said):
        return all(_says(command, way, last.language) for way in same.groupdict().values() if way)
    stays = re.fullmatch(words["stays"], said)
    return stays is not None and not _ends_in(stays["way"], last)


def _ends_in(way: str, last: Decision) -> bool:
    """Whether the command brings about what stays: "leave it off" after "turn it off at six"."""
    return _says(plain(str(_given(last).get("command", ""))), way, last.language)


def _says(command: str, way: str, language: str) -> bool:
    if language == "zh":
        return way in command
    return re.search(rf"(?<!\w){way}", command) is not None


def _time_in(said: str, last: Decision, now: datetime) -> str:
    """The time or the days that ``said`` is and nothing else."""
    when = parse(said, last.language, now)
    if (when.said or when.on or when.repeat) and not re.search(r"\w", when.rest):
        return said
    return as_time(said, last.language, now)


def _wait_in(span: str, language: str, now: datetime) -> str:
    """How long it is to wait, as a time: "20 minutes" → "in 20 minutes"."""
    words = _words()[language]
    for form, read in words["span"].items():
        span = re.sub(form, read, span)
    said = str(words["in"]).format(span)
    when = parse(said, language, now)
    return said if when.delay is not None and not re.search(r"\w", when.rest) else ""


def _minutes(span: str, language: str, now: datetime) -> float:
    wait = parse(_wait_in(span, language, now), language, now).delay
    return wait.total_seconds() / MINUTE if wait else 0.0


def _in_its_unit(number: str, last: Decision, now: datetime) -> str:
    """A bare number, as a wait where the command was to wait so long, else as an hour; empty where
    it may be a value of the command."""
    given, language = _given(last), last.language
    if _has_a_number(last) and not _is_rather_an_hour(number, last, now):
        return ""
    in_hours = bool(given.get("hours")) or re.search(_words()[language]["hours"], _before(last))
    if _waits(last, now):
        return _wait_in(f"{number} {_UNITS[language][bool(in_hours)]}", language, now)
    return as_time(number, language, now)


def _is_rather_an_hour(number: str, last: Decision, now: datetime) -> bool:
    """Whether a number is one of the clock's and far from the values of the command: "make it
    seven" after "set the heating to twenty at six"."""
    values = re.findall(r"\d+", digits(plain(str(_given(last).get("command", ""))), last.language))
    apart = all(int(value) > MOST_HOURS for value in values)
    return apart and 0 < int(number) <= MOST_HOURS and not _waits(last, now)


def _before(last: Decision) -> str:
    """When the command was to be done, as that was said last."""
    given = _given(last)
    return str(given.get("to") or given.get("when") or "")


def _waits(last: Decision, now: datetime) -> bool:
    """Whether the command waits for a while to pass, and not for a time of day."""
    given = _given(last)
    if any(given.get(unit) for unit in ("minutes", "hours", "seconds")):
        return True
    return parse(_before(last), last.language, now).delay is not None


def _given(last: Decision) -> dict[str, Any]:
    return last.arguments | (last.call.arguments if last.call else {})


def _has_a_number(last: Decision) -> bool:
    """Whether the command that was left for later sets something to a number."""
    command = digits(plain(str(_given(last).get("command", ""))), last.language)
    return any(letter.isdigit() for letter in command)


def _may_be_its_value(said: str, last: Decision) -> bool:
    """Whether a number alone may be the time or the value: "make it nineteen" after "set the
    heating to twenty at six"."""
    words, opened = _words()[last.language], digits(said, last.language)
    said = _unopened(said, last.language)
    put = words["put"] if said == opened else f"(?:{words['put']})?"
    number = rf"{put} ?{_NUMBER.pattern}{_UNIT.pattern}{words['ending']}"
    return _has_a_number(last) and re.fullmatch(number, said) is not None


def _unclear(reason: str, language: str, why: Literal["declined", "not_one_day"]) -> Decision:
    return Decision(route="documents", reason=reason, language=language, declined=why)


def _which(memory: Memory) -> str:
    """The id of the command that was left or changed last."""
    undo = memory.undo[0].arguments
    return str(undo.get("instead_of") or undo["which"])


def _of_that_one(call: ToolCall, memory: Memory, last: Decision, now: datetime) -> Decision:
    """The change of the command that was left or changed last, which stays known by its words."""
    call = msgspec.structs.replace(call, arguments={**call.arguments, "which": _which(memory)})
    to = str(call.arguments.get("to", ""))
    when = parse(to, last.language, now) if to else When()
    given = _given(last)
    kept = {
        "command": given.get("command", ""),
        "every": to if when.repeat else given.get("every", ""),
    }
    decision = continuing(last, call)
    return msgspec.structs.replace(decision, arguments={**call.arguments, **kept})
