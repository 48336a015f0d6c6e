"""What would be done, and why; what a decision amounts to and how it is told."""

from collections.abc import Collection
from typing import Any, Literal

import msgspec

from hubd.home.model import Entity
from plugins.api import ToolCall

Asks = Literal["which", "confirm", "missing"]


class Decision(msgspec.Struct, frozen=True, kw_only=True):
    """What would be done, and why."""

    route: Literal["grammar", "words", "semantic", "model", "documents"]
    tool: str | None = None
    entities: list[str] = []
    """The ids of the entities that would be touched, or among which to choose."""
    arguments: dict[str, Any] = {}
    """What was understood, in the grammar's slots."""
    score: float = 0.0
    """1 for a sentence of the grammar, less for words alone, 0 where nothing fits."""
    asks: Asks | None = None
    """What has to be asked back before anything is done."""
    reason: str = ""
    call: ToolCall | None = None
    """The call that carries it out; ``None`` where nothing is to be called."""
    language: str = "en"
    proposed: bool = False
    """Whether it is only likely: it is asked for in words of its own, and done after a "yes"."""
    declined: Literal[
        "", "not_later", "not_awaited", "not_one_day", "nobody_known", "declined", "dropped"
    ] = ""
    """What is said (a key of ``questions``) where it is understood and not done; ``reason`` says
    why."""


def is_open(decision: Decision) -> bool:
    """Whether nothing is decided yet."""
    return decision.tool is None and not decision.declined


BY_NAME = "know it by this name"
"""Why something is meant that a plugin keeps."""


HELPS = "helps against what is complained of"
"""Why something shall be on that nobody named."""


def helps(decision: Decision) -> bool:
    """Whether it is of what helps against what is complained of."""
    return decision.reason.endswith(HELPS)


def goes_on(decision: Decision) -> bool:
    """Whether it was understood from what was said before, and so is like no example."""
    return decision.reason.startswith("it continues ")


NOT_THAT = "; of nothing else that is named"
"""Why something that is named beside what is meant is left alone."""


def of_a_timer_there(decision: Decision) -> bool:
    """Whether it is of a timer that runs, by what that is called: it needs no examples."""
    return decision.reason.startswith("timers know it by ")


def of_what_is_there(decision: Decision) -> bool:
    """Whether it is of something that is kept, by what that is called: it needs no examples."""
    return of_a_timer_there(decision) or decision.reason.endswith(BY_NAME)


def says_what_not(decision: Decision) -> bool:
    """Whether it was said of what it is not meant: what is said of that is like no example."""
    return decision.reason.endswith(NOT_THAT)


def lacks(decision: Decision) -> bool:
    """Whether nothing is understood, or not enough."""
    if decision.declined:
        return False
    nowhere = decision.asks == "which" and not decision.entities
    return decision.tool is None or decision.asks == "missing" or nowhere


def playing_on(decision: Decision, entities: Collection[Entity]) -> Decision:
    """The decision, or where it turns on nothing but players that are paused, that to play: they
    are on already, and "put the radio on" wants to hear something."""
    paused = {(entity.domain, entity.state) for entity in entities} == {("media_player", "paused")}
    if decision.tool != "home.turn_on" or decision.call is None or not paused:
        return decision
    call = ToolCall(tool="media.play", arguments=decision.call.arguments)
    return msgspec.structs.replace(decision, tool=call.tool, call=call)


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


def meaning(call: ToolCall, language: str) -> Decision:
    """The decision on an utterance that is a name which somebody gave."""
    return Decision(
        route="words",
        tool=call.tool,
        arguments=dict(call.arguments),
        score=1.0,
        reason=f"{call.tool.partition('.')[0]} {BY_NAME}",
        call=call,
        language=language,
    )


def is_named(decision: Decision) -> bool:
    """Whether it is on a name which somebody gave."""
    return decision.reason.endswith(BY_NAME)


def told(decision: Decision) -> str:
    """What comes of one of several commands."""
    asks = f", asks first: {decision.asks}" if decision.asks else ""
    return f"is {decision.tool}{asks}" if decision.tool else "is not understood"


def declined(language: str, why: Literal["not_awaited", "declined"]) -> Decision:
    """The decision on what is asked for only under a condition, or only in part."""
    return Decision(
        route="documents",
        reason="what it waits for, or how far it goes, is not understood",
        language=language,
        declined=why,
    )


def taken_back(language: str) -> Decision:
    """The decision on what takes itself back."""
    return Decision(
        route="words",
        score=0.9,
        reason="it takes back what it asked for",
        language=language,
        declined="dropped",
    )
