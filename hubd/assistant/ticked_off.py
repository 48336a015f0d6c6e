"""What is crossed off a list because somebody bought it, which is ticked off: "cross the milk off,
I've already bought it", 洗衣液划掉，我买回来了. What is taken off the list goes from it.
"""

import re

import msgspec

from hubd.assistant.decision import Decision
from hubd.assistant.understanding.plain import plain
from hubd.assistant.understanding.reasons import BREAK
from plugins.ticked import is_bought

REMOVE, COMPLETE = "lists.remove", "lists.complete"
_CROSSED = re.compile(
    r"\b(?:cross|scratch|strike|check|tick)(?:es|ed|s)?\b|"
    r"\b(?:streiche?n?|streichst|hake?n?|hakst|abhaken|durchstreichen)\b|[划勾]"
)
"""What says that it stays to be seen."""


def ticked_off(decision: Decision, text: str) -> Decision:
    """The decision; to tick off what it would take off, where ``text`` says that it was bought."""
    call = decision.call
    if call is None or call.tool != REMOVE or not _CROSSED.search(plain(text)):
        return decision
    if not any(is_bought(clause, decision.language) for clause in BREAK.split(text)):
        return decision
    call = msgspec.structs.replace(call, tool=COMPLETE)
    return msgspec.structs.replace(decision, tool=COMPLETE, call=call)
