"""What is taken off a list because somebody bought it, which is ticked off: "cross the milk off,
I've already bought it", 洗衣液划掉，我买回来了. What is not needed any more is taken off.
"""

import msgspec

from hubd.assistant.decision import Decision
from hubd.assistant.understanding.reasons import BREAK
from plugins.ticked import is_bought

REMOVE, COMPLETE = "lists.remove", "lists.complete"


def ticked_off(decision: Decision, text: str) -> Decision:
    """The decision; to tick off what it would take off, where ``text`` says that it was bought."""
    call = decision.call
    if call is None or call.tool != REMOVE:
        return decision
    if not any(is_bought(clause, decision.language) for clause in BREAK.split(text)):
        return decision
    call = msgspec.structs.replace(call, tool=COMPLETE)
    return msgspec.structs.replace(decision, tool=COMPLETE, call=call)
