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

_BEGUN_AGAIN = re.compile(r"^(?:(?:äh+m?|öhm?|hm+|also|dass)\W+)*da(?:ss|ß)\W+", re.IGNORECASE)
"""A "dass" that is said once more: „dass, also dass Oma da ist“."""
_HEARD_THAT = re.compile(
    r"^das (?=(?:der|die|das|den|dem|ich|wir|er|sie|es|man|ein\w{0,2}|mein\w*|unser\w*) )",
    re.IGNORECASE,
)
"""A "dass" that was written as it sounds: no article stands before another."""


def with_that(decision: Decision, text: str) -> Decision:
    """The decision with the "dass", and the "ich" behind it, that ``text`` has before a clause."""
    call, name = decision.call, CLAUSES.get(decision.tool or "")
    if decision.language != "de" or call is None or name is None:
        return decision
    said = _HEARD_THAT.sub("dass ", _BEGUN_AGAIN.sub("dass ", str(call.arguments.get(name, ""))))
    first = _FIRST.match(said)
    that = (
        first
        and first[0] != "dass"
        and re.search(
            rf"\bda(?:ss|ß)\W+{_THOUGHT}(?P<who>(?:ich|wir) )?{first[0]}\b", text, re.IGNORECASE
        )
    )
    if that:
        said = f"dass {that['who'] or ''}{said}"
    if said == call.arguments.get(name):
        return decision
    arguments = {**call.arguments, name: said}
    call = msgspec.structs.replace(call, arguments=arguments)
    told = {key: value for key, value in arguments.items() if key in decision.arguments}
    return msgspec.structs.replace(decision, call=call, arguments={**decision.arguments, **told})
