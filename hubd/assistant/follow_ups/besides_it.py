"""What else there is, besides what was set just before: "any other reminders today?", „Ist am
Freitag sonst noch was?“, 还有别的闹钟吗. Decides and does nothing.
"""

import re

import msgspec

from hubd.assistant.decision import Decision
from hubd.assistant.dialogue import Memory
from hubd.assistant.understanding.plain import NEVER, plain

_IDS = {
    "reminders.list": ("reminders.", "which"),
    "alarms.list": ("alarms.", "which"),
    "timers.list": ("timers.", "timer"),
    "calendar.agenda": ("calendar.", "uid"),
}
"""What tells all that there is → the plugin that sets one, and the argument of the call that takes
that back which says which it is."""
_ELSE = {
    "en": re.compile(r"(?<!what )\b(?:else|others?|another)\b"),
    "de": re.compile(r"\b(?:sonst|andere[rns]?|weitere[rns]?)\b"),
    "zh": re.compile("别的|其他|其它|另外"),
}


def besides_it(decision: Decision, text: str, memory: Memory) -> Decision:
    """The decision, without what was set last where ``text`` asks what else there is."""
    plugin, name = _IDS.get(decision.tool or "", ("", ""))
    call, set_last = decision.call, memory.last
    if call is None or not plugin or not _ELSE.get(decision.language, NEVER).search(plain(text)):
        return decision
    undo = next((one for one in memory.undo if one.tool.startswith(plugin)), None)
    if set_last is None or undo is None or not (set_last.tool or "").startswith(plugin):
        return decision
    if not (which := str(undo.arguments.get(name) or "")):
        return decision
    given = {k: v for k, v in call.arguments.items() if k != "name"}  # "other" is none
    call = msgspec.structs.replace(call, arguments={**given, "besides": which})
    return msgspec.structs.replace(decision, call=call)
