"""What was decided, looked at once more before it is done: what the examples speak against, and a
hint beside something that was not understood, is asked about.
"""

import asyncio
from collections.abc import Callable, Sequence

import msgspec

from hubd.assistant.by_likeness.proposals import EVIDENT
from hubd.assistant.by_likeness.second_opinion import (
    asked_about,
    beyond_doubt,
    contradicted,
    named_otherwise,
)
from hubd.assistant.by_likeness.semantic import Semantics
from hubd.assistant.decision import (
    Decision,
    goes_on,
    helps,
    is_open,
    of_what_is_there,
    says_what_not,
)
from hubd.assistant.several import Part
from hubd.assistant.understanding.worded import parts_in
from hubd.home.model import Snapshot

Tells = Callable[[Decision], bool]
"""Whether a decision only tells something."""


async def reconsidered(
    parts: Sequence[Part], semantics: Semantics, tells: Tells, home: Snapshot, area: str
) -> list[Part]:
    """The commands of an utterance, of which at least one was understood; area: the id or the name
    of the asking device's."""
    lost = any(is_open(part.decision) for part in parts)
    found: list[Part] = []
    for part in parts:
        decision = part.decision
        settled = decision.asks == "confirm" or tells(decision) or goes_on(decision)
        settled = settled or of_what_is_there(decision) or says_what_not(decision)
        if decision.tool is not None and not settled:
            decision = await _second(part, semantics, tells, home, area, beside=lost)
        found.append(msgspec.structs.replace(part, decision=decision))
    return found


async def _second(
    part: Part, semantics: Semantics, tells: Tells, home: Snapshot, area: str, *, beside: bool
) -> Decision:
    """The decision on a command; where something else is much likelier meant, that or a question.

    beside: whether it stands beside what is not understood, so that a hint may be its reason
    """
    decision, text, language = part.decision, part.text, part.decision.language
    sure = beyond_doubt(decision, text)
    chances = {} if sure else await semantics.chances(text, language)
    if contradicted(decision, text, chances):
        other = await semantics.propose(text, language, area)
        if other is not None and other.tool == decision.tool:
            other = None
        evident = other is not None and tells(other) and max(chances.values()) >= EVIDENT
        if decision.asks and not evident:
            return decision
        if helps(decision) and not (other and other.entities == decision.entities):
            return asked_about(decision, text, home)
        return other or asked_about(decision, text, home)
    if decision.asks:
        return decision
    if beside and decision.route == "semantic":
        return asked_about(decision, text, home)
    words = await asyncio.to_thread(parts_in, text, decision.tool or "", language)
    named = named_otherwise(decision, words) if words.text else None
    return asked_about(named, text, home) if named else decision
