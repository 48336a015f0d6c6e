"""What goes on with a list, an alarm or a reminder: "clear it", "what's on it", "and on Saturday".

Only after something was done with one of these; decides and does nothing.
"""

import re
from datetime import UTC, datetime

import msgspec

from hubd.assistant.decision import Decision
from hubd.assistant.dialogue import Memory
from hubd.assistant.understanding.plain import plain
from plugins.api import ToolCall
from plugins.when import When, parse

SCORE = 0.85
LISTS = "lists."
ALARM, REMINDER = "alarms.set", "reminders.add"
_CLEARED = re.compile(
    r"(?:clear|empty|wipe|delete) (?:it|that|them|the list)(?: all| out)?"
    r"|(?:leere?|lösche?) (?:sie|die|die liste)(?: ganz)?"
    r"|(?:把(?:它|清单))?清空(?:它|了|吧)?|(?:全|全都|全部)(?:删掉|删了|划掉)(?:吧)?"
)
_SHOWN = re.compile(
    r"what(?:'s| is)(?: now| still)? on (?:it|that|there|the list)(?: now)?|what does it say"
    r"|(?:show|read)(?: me)? (?:it|that|the list)(?: out)?"
    r"|was (?:steht|ist) (?:jetzt |noch |alles )?(?:drauf|darauf|auf der liste)"
    r"|(?:zeig|lies) (?:sie )?(?:mir )?(?:vor|her)"
    r"|(?:上面|里面|清单上)(?:现在|还)?(?:都)?有(?:什么|啥|哪些)(?:了)?"
)
_AND = {
    "en": re.compile(r"(?:and|also|and also)(?: again| another(?: one)?| one)?(?: for)?\s+"),
    "de": re.compile(r"(?:und|auch|und auch)(?: noch)?(?: eine[nr]?| mal)?\s+"),
    "zh": re.compile("(?:还有|再加一个|再来一个|另外|那|然后)"),
}


def continued(text: str, memory: Memory) -> Decision | None:
    """What ``text`` asks for after what was done last; ``None`` where it does not go on with it."""
    last = memory.last
    if last is None or last.call is None or last.tool is None:
        return None
    said, now = plain(text), datetime.now(UTC)
    if last.tool.startswith(LISTS):
        which = {k: v for k, v in last.call.arguments.items() if k == "list_name"}
        if _CLEARED.fullmatch(said):
            cleared = _decision(last, ToolCall(tool="lists.clear", arguments=which))
            return msgspec.structs.replace(cleared, asks="confirm")
        if _SHOWN.fullmatch(said):
            return _decision(last, ToolCall(tool="lists.show", arguments=which))
    if last.tool in (ALARM, REMINDER) and (when := _another_time(said, last, now)):
        given = dict(last.call.arguments)
        if last.tool == REMINDER and not given.get("when"):
            given["what"] = parse(str(given["what"]), last.language, now).rest
        return _decision(last, ToolCall(tool=last.tool, arguments={**given, "when": when}))
    return None


def _another_time(said: str, last: Decision, now: datetime) -> str:
    """The time that is all that is said behind an "and"; of a day alone, at the same hour; empty
    where it is none."""
    opening = _AND.get(last.language)
    found = opening.match(said) if opening else None
    if found is None or last.call is None:
        return ""
    rest = said[found.end() :]
    when = parse(rest, last.language, now)
    if when.rest or not (when.said or when.on):
        return ""
    if when.said:
        return rest
    before = _when_of(last, now)
    return f"{rest} {before.at:%H:%M}" if before.at else ""


def _when_of(last: Decision, now: datetime) -> When:
    assert last.call is not None
    given = last.call.arguments
    return parse(str(given.get("when") or given.get("what") or ""), last.language, now)


def _decision(last: Decision, call: ToolCall) -> Decision:
    return Decision(
        route="words",
        tool=call.tool,
        arguments=call.arguments,
        score=SCORE,
        reason=f"it continues {last.tool}",
        call=call,
        language=last.language,
    )
