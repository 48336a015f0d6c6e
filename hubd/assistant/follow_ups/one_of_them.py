"""Which of several things that were told of "it" is: after "what's playing?" that of the room where
it is said, after "are the doors locked?" the one that is not. Where that is not plain it is asked.

Of what was worked all is meant, as of a room's lamps of which it was told together. Words and what
is remembered: decides and does nothing.
"""

import re
from collections.abc import Sequence

import msgspec

from hubd.assistant.decision import Decision
from hubd.assistant.understanding.plain import NEVER, plain
from hubd.assistant.understanding.targets import ACTIVE, ALREADY, SINGLE
from hubd.home.model import Entity, Snapshot

_IT = {
    "en": re.compile(r"\b(?:it|that|this)\b"),
    "de": re.compile(r"\b(?:es|ihn|das|den|dies|diese[ns])\b"),
    "zh": re.compile("它(?!们)|[这那]个"),
    "fr": re.compile(r"(?:\b|-)(?:le|la|ça|l')\b"),
    "es": re.compile(r"\b(?:l[oa]|est[eoa]|es[eoa])\b|\w[aeiáéí]l[oa]\b"),
}
_THEM = {
    "en": re.compile(r"\b(?:them|those|these|all|both)\b"),
    "de": re.compile(r"\b(?:sie|die|diese|alle|beide)\b"),
    "zh": re.compile("它们|[这那]些|都|全"),
    "fr": re.compile(r"(?:\b|-)les\b|\btou(?:te)?s\b"),
    "es": re.compile(r"l[oa]s\b|\btod[oa]s\b"),
}
_IS_SO = ALREADY | {"home.turn_on": "on"}
"""Tools, and the state in which they change nothing."""
MEDIA = "media."


def the_one_meant(
    decision: Decision | None, text: str, told: Decision | None, home: Snapshot, area: str
) -> Decision | None:
    """The decision that goes on with all that was told of, of the thing alone that ``text``, said
    in the room of that id, means; with the question which, where that is not plain."""
    if decision is None or decision.call is None or told is None or len(told.entities) < 2:
        return decision
    if set(decision.entities) != set(told.entities) or not _speaks_of_one(text, told):
        return decision
    things = [one for one in home.entities if one.id in told.entities]
    changed = [one for one in things if _changes(decision.call.tool, one)] or things
    here = [one for one in changed if area and one.area == area]
    meant = changed if len(changed) == 1 else here or changed
    together = len({one.area for one in things}) == 1 and things[0].domain not in SINGLE
    return _of(decision, meant, unclear=len(meant) > 1 and not together)


def _speaks_of_one(text: str, told: Decision) -> bool:
    """Whether ``text`` says "it", or neither that nor "them" where it was not asked which are so:
    "off" behind "which lights are on?" is of all that are."""
    said, language = plain(text), told.language
    if _THEM.get(language, NEVER).search(said):
        return False
    asked = told.call.arguments.get("state") if told.call else None
    return not asked or _IT.get(language, NEVER).search(said) is not None


def _changes(tool: str, thing: Entity) -> bool:
    if tool.startswith(MEDIA) and tool != "media.play":
        return thing.state in ACTIVE[thing.domain]
    return thing.state != _IS_SO.get(tool)


def _of(decision: Decision, meant: Sequence[Entity], *, unclear: bool) -> Decision:
    assert decision.call is not None
    ids = [one.id for one in meant]
    call = msgspec.structs.replace(
        decision.call, arguments={**decision.call.arguments, "entities": ids}
    )
    asks = "which" if unclear else decision.asks
    return msgspec.structs.replace(decision, entities=ids, call=call, asks=asks)
