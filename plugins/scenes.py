"""The scene that fits what somebody says who leaves, goes to bed or comes home: "we're off" is the
one for being away. No plugin itself."""

import re
from typing import NamedTuple

from plugins.api import Entity, Snapshot

ACTIVATED = frozenset({"scene", "script"})


class _Occasion(NamedTuple):
    said: re.Pattern[str]
    called: re.Pattern[str]
    """What a scene for it is called."""


_OCCASIONS = tuple(
    _Occasion(re.compile(said, re.IGNORECASE), re.compile(called, re.IGNORECASE))
    for said, called in (
        (
            r"\b(?:leaving|i'm off|we're off|off to work|heading out|going out)$|"
            r"\b(?:ich gehe|wir gehen|(?:bin|sind) (?:dann )?weg|gehen aus dem haus)$|"
            r"出门|出去|走了|走啦|上班去|离家",
            r"\b(?:away|leav\w+|goodbye|out)\b|abwesen|verlassen|\bweg\b|离家|出门|外出",
        ),
        (
            r"\b(?:good night|bed|bedtime|to sleep)$|gute nacht|\b(?:ins bett|schlafen)$|"
            r"晚安|睡",
            r"\b(?:good ?night|night ?time|night mode|bed ?time|sleep\w*)\b|^night$|"
            r"gute nacht|nachtmodus|^nacht$|schlaf|睡眠|睡觉|晚安",
        ),
        (
            r"\b(?:i'm|we're) (?:home|back)$|\b(?:zu hause|daheim|wieder da)$|回来|到家|回家",
            r"\b(?:home|arriv\w+|welcome)\b|heimkomm|willkommen|zu ?hause|ankunft|回家|到家",
        ),
        (r"\bmovie|\bfilm|电影|观影", r"\bmovie|\bfilm|cinema|kino|电影|观影"),
    )
)


def scene_for(said: str, home: Snapshot) -> Entity | None:
    """The only scene or script that is called after what ``said`` tells; ``None``: there is none,
    or there are several."""
    text = said.strip(" .!。！").replace("’", "'")
    for occasion in _OCCASIONS:
        if occasion.said.search(text) is None:
            continue
        found = [
            entity
            for entity in home.entities
            if entity.domain in ACTIVATED
            and any(occasion.called.search(name) for name in (entity.name, *entity.aliases))
        ]
        if len(found) == 1:
            return found[0]
    return None
