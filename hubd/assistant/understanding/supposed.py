"""What a wish is likeliest about that names nothing it could be about: what is in the room that is
spoken of, or in the one where it is said.

"The neighbours can see right onto our plates" is about the blinds there, and "it's all lit up in
the bathroom and nobody's in" about its lights. Who fills in so much has to ask.
"""

from collections.abc import Sequence

from hubd.assistant.understanding.fill import Filled, fill
from hubd.assistant.understanding.likeness import Intent
from hubd.assistant.understanding.mentions import Mentions, named_entities
from hubd.assistant.understanding.plain import plain
from hubd.home.model import Snapshot

NOBODY_S = frozenset({"person", "weather", "zone"})
"""Domains of what is spoken of beside what is wished: "Grandad's shivering up there"."""


def supposed(
    intent: Intent, said: Mentions, snapshot: Snapshot, area: str, language: str
) -> Filled | None:
    """The call that ``intent`` is about the things of a room; ``None`` where there are none, or
    something else is named."""
    if not intent.domains or _is_named(said, snapshot):
        return None
    unnamed = said._replace(
        names=(), areas=_spelled(said.areas, said), floors=_spelled(said.floors, said)
    )
    places = unnamed._replace(numbers=(), nouns=frozenset(), actions=frozenset())
    for less in (unnamed, unnamed._replace(numbers=()), places):
        filled = fill(intent, less, snapshot, area, language)
        if filled and filled.targets.entities:
            return filled
    return None


def _is_named(said: Mentions, snapshot: Snapshot) -> bool:
    """Whether something that can be worked is called by its name: "Decken" is no "Deckenlampe"."""
    exact = said._replace(names=_spelled(said.names, said))
    return any(one.domain not in NOBODY_S for one in named_entities(exact, snapshot))


def _spelled(names: Sequence[str], said: Mentions) -> tuple[str, ...]:
    """Those that are said as they are written: "Teller" is no "Keller"."""
    return tuple(name for name in names if plain(name) in said.text)
