"""Which thing is meant where none is named: the one that was worked last, and not those of the room
where it is said: "a bit quieter" after music was put on in the bathroom, 亮度百分之二十 after the
color of a lamp. Decides and does nothing.
"""

import msgspec

from hubd.assistant.decision import Decision
from hubd.assistant.music import heard_on
from hubd.assistant.understanding.lexicon import lexicon
from hubd.assistant.understanding.mentions import Mentions
from hubd.home.model import Snapshot

BEGINS = "media.search"
"""What goes on with nothing: another piece may be for another room."""
GOES_ON, WORKS = ("media.", "lights."), ("media.", "lights.", "home.")
ONLY_TELLS = "home.state"
QUALITIES = frozenset({"brightness", "volume", "color_temperature"})
"""Nouns of what a thing has, and of no thing."""
PLAYER = "media_player"


def of_the_last(
    decision: Decision, text: str, said: Mentions, last: Decision | None, home: Snapshot
) -> Decision:
    """The decision, of what was worked last where ``text`` names nothing else.

    said: what ``text`` speaks of
    """
    call, tool = decision.call, decision.tool or ""
    if last is None or call is None or "entities" not in call.arguments or tool == BEGINS:
        return decision
    worked = (last.tool or "").startswith(WORKS) and last.tool != ONLY_TELLS
    domains = {one.partition(".")[0] for one in (*decision.entities, *last.entities)}
    if not (worked and tool.startswith(GOES_ON) and last.entities and len(domains) == 1):
        return decision
    placed = said.names or said.areas or said.floors or said.everything or said.rooms_not_here
    if placed or lexicon(decision.language).says_here(text):
        return decision
    things = [one for one in home.entities if one.id in last.entities]
    heard = said.nouns == {PLAYER} and heard_on(things, text, decision.language)
    if not (said.nouns <= QUALITIES or heard) or decision.entities == last.entities:
        return decision
    ids = [one.id for one in things]
    call = msgspec.structs.replace(call, arguments={**call.arguments, "entities": ids})
    return msgspec.structs.replace(
        decision,
        entities=ids,
        call=call,
        asks=None if decision.asks == "which" else decision.asks,
        reason=f"it continues {last.tool}",
    )
