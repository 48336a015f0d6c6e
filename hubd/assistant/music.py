"""On which of several players something of music is meant: in a room with a television that is on
and a speaker, "pause the music" and "next song" are the speaker's, "pause the film" the other's.
"""

import re
from collections.abc import Mapping, Sequence

import msgspec

from hubd.assistant.decision import Decision
from hubd.home.model import Entity, Snapshot

_MUSIC: Mapping[str, re.Pattern[str]] = {
    "en": re.compile(r"\b(?:music|songs?|tunes?|tracks?|albums?|playlists?)\b", re.IGNORECASE),
    "de": re.compile(
        r"musik\b|\b(?:lied(?:er|es)?|songs?|titel|stück|album|playlist)\b", re.IGNORECASE
    ),
    "zh": re.compile(r"音乐|歌|曲|爵士|摇滚|民谣|[上下这那一换][一]?首|专辑|唱|《[^》]*》"),
}
_WATCHED: Mapping[str, re.Pattern[str]] = {
    "en": re.compile(r"\b(?:films?|movies?|episodes?|channels?|watch(?:ing)?)\b", re.IGNORECASE),
    "de": re.compile(r"\b(?:\w*film\w*|folgen?|sender|kanal|serien?|schauen)\b", re.IGNORECASE),
    "zh": re.compile(r"电影|影片|频道|[看集]|电视剧|节目"),
}
_TELEVISION = re.compile(r"\btv\b|telly|television|fernseher|glotze|电视", re.IGNORECASE)


def on_its_player(decision: Decision, text: str, home: Snapshot) -> Decision:
    """The decision; where it would ask on which of several players, and ``text`` speaks of music or
    of what is watched, on the only one that is for that."""
    call, kind = decision.call, _kind(text, decision.language)
    if decision.asks != "which" or call is None or kind is None:
        return decision
    asked = [entity for entity in home.entities if entity.id in decision.entities]
    if not asked or any(entity.domain != "media_player" for entity in asked):
        return decision
    fitting = [entity.id for entity in asked if _is_television(entity) == (kind == "watched")]
    if len(fitting) != 1 or "entities" not in call.arguments:
        return decision
    call = msgspec.structs.replace(call, arguments={**call.arguments, "entities": fitting})
    reason = f"{decision.reason}; the one for what is {kind}"
    return msgspec.structs.replace(decision, entities=fitting, call=call, asks=None, reason=reason)


def heard_on(players: Sequence[Entity], text: str, language: str) -> bool:
    """Whether ``text`` speaks of music, and all of the players are for that."""
    return _kind(text, language) == "heard" and not any(map(_is_television, players))


def _kind(text: str, language: str) -> str | None:
    """``heard`` or ``watched``; ``None``: neither is said, or both are."""
    heard, watched = (of.get(language) for of in (_MUSIC, _WATCHED))
    found = [heard and heard.search(text), watched and watched.search(text)]
    if bool(found[0]) == bool(found[1]):
        return None
    return "heard" if found[0] else "watched"


def _is_television(entity: Entity) -> bool:
    told = entity.attributes.get("device_class")
    return told == "tv" or (told is None and _TELEVISION.search(entity.name) is not None)
