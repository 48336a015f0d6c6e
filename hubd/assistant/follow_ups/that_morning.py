"""Which half of the day an hour is of that is said right behind an alarm: after one for a quarter
to seven tomorrow, "and remind me at seven to take the letter" is of that morning, „und erinner mich
um sieben an den Brief“ and 再提醒我七点拿信 too.

Decides and does nothing.
"""

import re
from datetime import datetime, time

import msgspec

from hubd.assistant.decision import Decision
from hubd.assistant.dialogue import Memory
from hubd.assistant.follow_ups.set_for_a_time import (
    ALARM,
    CHANGES,
    REMINDER,
    day_in_words,
    when_of,
    when_said,
)
from hubd.assistant.understanding.plain import plain
from plugins.api import ToolCall
from plugins.next_time import soonest
from plugins.reminders import task_in
from plugins.when import parse

ALARMS = frozenset({ALARM, CHANGES[ALARM]})
_GOES_ON = re.compile(r"(?:and|also|then|plus|und|auch|dann)\b|还有|另外|然后|再|也|那|并")
"""What begins something that goes on with what was said."""
HALF_OF_A_DAY, HOUR = 12, 60


def in_that_half(decision: Decision, text: str, memory: Memory, now: datetime) -> Decision:
    """The decision on a reminder, in the half of the day, and on the day, of the alarm that was set
    just before, where ``text`` says neither."""
    last, call = memory.last, decision.call
    if last is None or last.tool not in ALARMS or memory.told is not None:
        return decision
    if call is None or call.tool != REMINDER or not _GOES_ON.match(plain(text)):
        return decision
    given, language = dict(call.arguments), decision.language
    before, said = when_of(last, now), parse(_said(given), language, now)
    bare = not (said.exact or said.on or said.repeat or said.delay)
    plain_half = before.exact or (before.on and before.on > now.date())
    day = day_in_words(when_said(last), language, before.on, now) if before.on else ""
    if not bare or said.at is None or not plain_half or before.repeat or day is None:
        return decision
    at = _nearest(said.at, soonest(before, now).time())
    task = str(given["what"]) if given.get("when") else task_in(said)
    arguments = {**given, "when": f"{day}{at:%H:%M}", "what": task}
    return msgspec.structs.replace(
        decision, call=ToolCall(tool=REMINDER, arguments=arguments), arguments=arguments
    )


def _said(given: dict[str, object]) -> str:
    return str(given.get("when") or given.get("what") or "")


def _nearest(at: time, before: time) -> time:
    """The hour in that half of the day in which it is nearer to the time before."""
    halves = [at.replace(hour=at.hour % HALF_OF_A_DAY + half) for half in (0, HALF_OF_A_DAY)]
    return min(halves, key=lambda one: abs(_minutes(one) - _minutes(before)))


def _minutes(at: time) -> int:
    return at.hour * HOUR + at.minute
