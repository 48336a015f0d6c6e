"""The "dass" before what is told on, noted or reminded of, in German: the grammar's sentences take
it for theirs, and by it `plugins.german_clauses` tells a clause from anything else.
"""

import re

import msgspec

from hubd.assistant.decision import Decision

CLAUSES = {"announce.say": "message", "notes.add": "text", "reminders.add": "what"}
"""Tools and the argument that may be said as a clause."""
_FIRST = re.compile(r"\w+")
_THOUGHT = r"(?:(?:äh+m?|öhm?|hm+|also|dass)\W+)*"


def with_that(decision: Decision, text: str) -> Decision:
    """The decision with the "dass", and the "ich" behind it, that ``text`` has before a clause."""
    call, name = decision.call, CLAUSES.get(decision.tool or "")
    if decision.language != "de" or call is None or name is None:
        return decision
    said = str(call.arguments.get(name, ""))
    first = _FIRST.match(said)
    that = first and re.search(
        rf"\bda(?:ss|ß)\W+{_THOUGHT}(?P<who>(?:ich|wir) )?{first[0]}\b", text, re.IGNORECASE
    )
    if not that:
        return decision
    arguments = {**call.arguments, name: f"dass {that['who'] or ''}{said}"}
    call = msgspec.structs.replace(call, arguments=arguments)
    told = {key: value for key, value in arguments.items() if key in decision.arguments}
    return msgspec.structs.replace(decision, call=call, arguments={**decision.arguments, **told})
