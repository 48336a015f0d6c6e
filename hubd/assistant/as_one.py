"""Commands of one sentence that are one: items of a list that are said one after the other, and a
timer with its name behind it.
"""

import re

import msgspec

from hubd.assistant.decision import Decision, is_open
from hubd.assistant.several import LISTED, Part
from hubd.assistant.understanding.fill import TIMER
from hubd.assistant.understanding.lexicon import lexicon
from plugins.api import ToolCall

MOST_NAMING = 3
"""Words of a timer's name."""
_CALLED = re.compile(
    r"^(?:called|named|for(?: the)?|namens|für(?: den| die| das)?)\s|^(?:就?叫做?|名字叫)",
    re.IGNORECASE,
)
"""Before a name."""
_JOINING = {"en": " and ", "de": " und "}
"""Between the words of a name that were taken for two commands."""


def with_items_joined(parts: list[Part]) -> list[Part]:
    """The parts, with what goes on the same list one after the other as one command."""
    joined: list[Part] = []
    for part in parts:
        before = joined[-1] if joined else None
        together = _as_one(before.decision, part.decision) if before else None
        if before and together:
            texts = dict.fromkeys((before.text, part.text))
            joined[-1] = Part(text=", ".join(texts), decision=together)
        else:
            joined.append(part)
    return joined


def with_timer_named(parts: list[Part]) -> list[Part]:
    """The parts, or the timer alone where what stands behind it is only its name: "nine minutes,
    rigatoni", "ten minutes, mac and cheese"."""
    timer, *rest = parts
    call = timer.decision.call
    if not rest or call is None or call.tool != TIMER or call.arguments.get("name"):
        return parts
    words = [word for part in rest for word in part.text.split()]
    if len(words) > MOST_NAMING or not all(is_open(part.decision) for part in rest):
        return parts
    known = lexicon(timer.decision.language)
    name = _JOINING.get(known.language, "").join(part.text.strip(" .!。！") for part in rest)
    name = _CALLED.sub("", name)
    if known.commands(name) or known.is_clause(name) or known.asks(name):
        return parts
    call = msgspec.structs.replace(call, arguments={**call.arguments, "name": name})
    named = msgspec.structs.replace(
        timer.decision, call=call, arguments={**timer.decision.arguments, "name": name}
    )
    return [Part(text=f"{timer.text}, {name}", decision=named)]


def _as_one(first: Decision, other: Decision) -> Decision | None:
    """Both as one, where both put items on the same list."""
    calls = first.call, other.call
    if first.asks or other.asks or not all(call and call.tool == LISTED for call in calls):
        return None
    before, after = (dict(call.arguments) for call in calls if call)
    items = [*before.pop("items", ()), *after.pop("items", ())]
    if before != after:
        return None
    call = ToolCall(tool=LISTED, arguments={**before, "items": items})
    return msgspec.structs.replace(first, call=call, arguments={**first.arguments, "items": items})
