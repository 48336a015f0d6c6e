"""How things are, in words, and whether they are as it was asked. Shared by plugins; no plugin
itself."""

from collections.abc import Sequence

from plugins.api import Entity, ToolContext
from plugins.speech import joined, number, say, state_word
from plugins.whereabouts import PEOPLE, is_at

NAMED = 8
"""So many things are told by their names."""
FEW = 4
"""So many things are told as well that are not as it was asked."""
_OF = {
    "en": "{0} of {1} {2}", "de": "{0} von {1} {2}", "zh": "{1}个里{0}个{2}",
    "fr": "{0} sur {1} {2}", "es": "{0} de {1} {2}",
}  # fmt: skip


def answer(context: ToolContext, things: Sequence[Entity], state: str) -> str:
    """Whether things are as it was asked. Where some are and some are not, it is told how many, so
    that it is true whether any or all of them were meant."""
    language = context.language
    if all(one.domain in PEOPLE and is_at(one, state) is None for one in things):
        return how(context, things)
    alike = [one for one in things if _is_in(one, state, language)]
    others = [one for one in things if one not in alike]
    if not others:
        return say(language, "yes", [_names(context, alike)])
    if not alike and len(things) == 1:
        return say(language, "no", [things[0].name], told(things[0], language))
    if not alike:
        return say(language, "none_in_state")
    word = told(alike[0], language)
    count = _OF.get(language, _OF["en"]).format(len(alike), len(things), word)
    text = say(language, "state", [count], _names(context, alike))
    if len(others) <= max(len(alike), FEW):
        text = f"{text} {_by_state(context, others)}"
    return text


def how(context: ToolContext, things: Sequence[Entity]) -> str:
    """``Ann: at home.``"""
    language = context.language
    return " ".join(say(language, "state", [e.name], told(e, language)) for e in things[:NAMED])


def told(entity: Entity, language: str) -> str:
    """How a thing is, in words: ``open``, ``19.5 °C``, ``playing: Nocturne, Chopin``."""
    unit = entity.attributes.get("unit_of_measurement")
    if unit:
        try:
            return f"{number(float(entity.state), language)} {unit}"
        except ValueError:  # "unavailable"
            return f"{entity.state} {unit}"
    word = state_word(entity.state, language, str(entity.attributes.get("device_class", "")))
    played = _played(entity)
    return f"{word}: {played}" if played else word


def _is_in(entity: Entity, state: str, language: str) -> bool:
    """A sensor's "on" is called open, wet or detected by what it senses."""
    if entity.domain in PEOPLE:
        return is_at(entity, state) is True
    sensed = str(entity.attributes.get("device_class", ""))
    called = {entity.state, *(state_word(entity.state, one, sensed) for one in ("en", language))}
    spoken = entity.attributes.get("spoken")
    return state.casefold() in {word.casefold() for word in called} or spoken == state


def _names(context: ToolContext, things: Sequence[Entity]) -> str:
    names = [one.name for one in things]
    if len(names) <= NAMED:
        return joined(context.language, names)
    more = say(context.language, "and_more", value=len(names) - NAMED)
    return f"{', '.join(names[:NAMED])} {more}"


def _by_state(context: ToolContext, things: Sequence[Entity]) -> str:
    """``Unlocked: Back Door. Unavailable: Side Door.``"""
    words: dict[str, list[Entity]] = {}
    for one in things:
        words.setdefault(told(one, context.language), []).append(one)
    return " ".join(
        say(context.language, "state", [f"{word[:1].upper()}{word[1:]}"], _names(context, alike))
        for word, alike in words.items()
    )


def _played(entity: Entity) -> str:
    """Title and artist of what a player plays, or has paused; empty where it does not say."""
    if entity.state not in ("playing", "paused"):
        return ""
    said = (entity.attributes.get(key) for key in ("media_title", "media_artist"))
    return ", ".join(str(one) for one in said if one)
