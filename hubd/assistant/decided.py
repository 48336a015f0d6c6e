"""What a decision amounts to: whether anything is decided, and how it is told."""

import msgspec

from hubd.assistant.route import Decision
from plugins.api import ToolCall


def is_open(decision: Decision) -> bool:
    """Whether nothing is decided yet."""
    return decision.tool is None and not decision.declined


def lacks(decision: Decision) -> bool:
    """Whether nothing is understood, or not enough."""
    if decision.declined:
        return False
    nowhere = decision.asks == "which" and not decision.entities
    return decision.tool is None or decision.asks == "missing" or nowhere


def answering(call: ToolCall | None, decision: Decision) -> Decision:
    """The decision with the call of a plugin that knows the answer, if there is one."""
    if call is None:
        return decision
    return msgspec.structs.replace(
        decision,
        route="words",
        tool=call.tool,
        arguments=call.arguments,
        score=0.9,
        reason=f"{call.tool.partition('.')[0]} know something of it",
        call=call,
    )


def told(decision: Decision) -> str:
    """What comes of one of several commands."""
    asks = f", asks first: {decision.asks}" if decision.asks else ""
    return f"is {decision.tool}{asks}" if decision.tool else "is not understood"
