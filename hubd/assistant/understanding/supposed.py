"""What a wish is likeliest about that names nothing it could be about: what is in the room that is
spoken of, or in the one where it is said.

"The neighbours can see right onto our plates" is about the blinds there, and "it's all lit up in
the bathroom and nobody's in" about its lights. Who fills in so much has to ask.
"""

from hubd.assistant.understanding.fill import Filled, fill
from hubd.assistant.understanding.likeness import Intent
from hubd.assistant.understanding.mentions import Mentions, named_entities
from hubd.home.model import Snapshot

BESIDE = frozenset({"person", "weather", "zone"})
"""Domains of what is spoken of beside what is wished: "Grandad's shivering up there"."""


def supposed(
    intent: Intent, said: Mentions, snapshot: Snapshot, area: str, language: str
) -> Filled | None:
    """The call that ``intent`` is about the things of a room; ``None`` where there are none, or
    something that can be worked is called by its name."""
    named = named_entities(said._replace(names=said.spelled(said.names)), snapshot)
    if not intent.domains or any(entity.domain not in BESIDE for entity in named):
        return None
    unnamed = said._replace(
        names=(), areas=said.spelled(said.areas), floors=said.spelled(said.floors)
    )
    places = unnamed._replace(numbers=(), nouns=frozenset(), actions=frozenset())
    for less in (unnamed, unnamed._replace(numbers=()), places):
        filled = fill(intent, less, snapshot, area, language)
        if filled and filled.targets.entities:
            return filled
    return None
