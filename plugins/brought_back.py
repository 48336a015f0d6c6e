"""What is told of things that are again as they were: "The Desk Lamp is off again." Shared by
plugins; no plugin itself."""

from collections.abc import Mapping, Sequence

from plugins.api import Entity, ToolContext
from plugins.speech import joined, labelled, say, state_word
from plugins.states import ADJECTIVES, measured, told

POSITION, _ENDS = "position", (0, 100)
"""How far a cover is open, and where it is told in a word."""
_PERCENT = ("illuminance", POSITION, "speed", "volume")
"""What is told in percent, likeliest first."""


def told_again(context: ToolContext, before: Mapping[str, Entity], now: Sequence[Entity]) -> str:
    """How the things are by now; one sentence for all of which the same is said.

    before: id → how it was until it was brought back
    """
    language, names, others = context.language, dict[str, list[str]](), list[str]()
    for one in now:
        if how := _again(before.get(one.id, one), one, language):
            names.setdefault(how, []).append(one.name)
        else:
            others.append(labelled(one.name, told(context, one), language))
    sentences = [say(language, "again", of, how) for how, of in names.items()]
    if others:
        sentences.append(say(language, "restored", [joined(language, others)], count=False))
    return " ".join(sentences)


def _again(before: Entity, now: Entity, language: str) -> str:
    """What is said behind "is again": ``off``, ``at 40%``; empty where nothing can be said so."""
    shines = now.domain == "light" and now.state == "on"
    if (shines or now.state == before.state) and (much := _how_much(before, now, language)):
        return much
    if now.state not in ADJECTIVES:
        return ""
    if now.state == "unlocked":
        return say(language, "again_unlocked")
    device_class = str(now.attributes.get("device_class", ""))
    return state_word(now.state, language, device_class, [now.name])


def _how_much(before: Entity, now: Entity, language: str) -> str:
    """What is another value than before, and how bright any light is; empty where nothing is."""
    for quantity in _PERCENT:
        value = measured(now, quantity)
        is_other = now.domain == "light" or value != measured(before, quantity)
        if value is not None and is_other and not (quantity == POSITION and value in _ENDS):
            return say(language, "again_percent", value=round(value))
    for attribute, sentence in (("temperature", "again_degrees"), ("humidity", "again_percent")):
        value = now.attributes.get(attribute)
        if value is not None and value != before.attributes.get(attribute):
            return say(language, sentence, value=float(value))
    return ""
