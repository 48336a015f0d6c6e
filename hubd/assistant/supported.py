"""Whether a call that a model proposed rests on what the person said.

A small model writes a plausible call to any text. So every entity must be named, or be of a kind or
in a room that is; the verb must be said or paraphrased; numbers and texts must come from the
utterance. What fails here is not done.
"""

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from hubd.assistant.understanding.compose import SIMPLE, STEPPED, VALUED
from hubd.assistant.understanding.intents import RULES, SWITCHED
from hubd.assistant.understanding.lexicon import Lexicon
from hubd.assistant.understanding.likeness import vocabulary
from hubd.assistant.understanding.mentions import Mentions, named_entities, places
from hubd.assistant.understanding.plain import plain
from hubd.assistant.understanding.polarity import OPPOSITE, SAME, contradiction, undoes
from hubd.home.model import Entity, Snapshot
from plugins.api import Tool, ToolCall
from rag.lexical import keys

STEP_VERBS = {
    "up": frozenset({"up", "raise", "brighter", "warmer", "louder"}),
    "down": frozenset({"down", "lower", "dimmer", "cooler", "quieter"}),
}
OWN_VERBS: Mapping[str, frozenset[str]] = {
    "home.toggle": frozenset({"toggle"}),
    "home.stop": frozenset({"stop"}),
    "home.activate": frozenset({"on", "run", "start", "play"}),
    "vacuum.stop": frozenset({"stop", "pause", "off"}),
    "vacuum.clean_area": frozenset({"start"}),
    "mower.start": frozenset({"start", "on"}),
    "mower.return_home": frozenset({"home", "stop"}),
    "media.play": frozenset({"play", "on", "start"}),
    "media.pause": frozenset({"pause", "stop", "off"}),
    "media.next": frozenset({"next"}),
    "media.previous": frozenset({"previous"}),
}
"""Tool → the verbs that it does, where the polarity guard knows no opposite of it."""
VALUES = frozenset({*(tool for tool, _, _ in VALUED.values()), "lights.set"})
"""Tools whose value says what is wanted: "the lamp at 40" needs no verb."""

MOST_STRANGE = 1
"""Words that neither the household nor the lexicon nor a tool's examples know, where it tells
something: "arm the security alarm" asks for no list of alarms."""

OF_THE_HOME = frozenset({"entities", "area"})
"""Arguments that name what the home has; others that are texts come from the utterance."""


def domains_of(tool: str) -> frozenset[str]:
    """The domains of the entities that a tool acts on; empty: any, or none."""
    found = {domain for rule in RULES.values() if rule.tool == tool for domain in rule.domains}
    found |= {domain for (_, domain), name in SIMPLE.items() if name == tool}
    found |= {domain for domain, name in STEPPED.items() if name == tool}
    found |= {domain for domain, (name, _, _) in VALUED.items() if name == tool}
    return frozenset(found | set(SWITCHED) if tool == "home.toggle" else found)


def meant(said: Mentions, snapshot: Snapshot, area: str) -> list[Entity]:
    """The entities that an utterance may speak of: by name, else by room and kind of thing.

    ``area`` is the id of the asking device's area: it counts where no room is named. Of a room that
    is not here nothing is meant.
    """
    if said.rooms_not_here:
        return []
    if named := named_entities(said, snapshot):
        placed = [e for e in named if e.area in places(said, snapshot)]
        return placed or named
    kinds, where = said.domains or said.hints, places(said, snapshot)
    if said.areas or said.floors:
        there = [e for e in snapshot.entities if e.area in where]
        return [e for e in there if _is_of(e, kinds, said.classes)] if kinds else there
    if not kinds:
        return []
    everywhere = [e for e in snapshot.entities if _is_of(e, kinds, said.classes)]
    near = [e for e in everywhere if area and e.area == area]
    return near if near and not said.everything else everywhere


def why_not(
    call: ToolCall,
    tool: Tool,
    text: str,
    said: Mentions,
    snapshot: Snapshot,
    area: str,
    lexicon: Lexicon,
) -> str:
    """Why ``call`` does not follow from ``text``; an empty string where it does."""
    wanted = [str(e) for e in call.arguments.get("entities") or ()]
    allowed = {entity.id for entity in meant(said, snapshot, area)}
    if strange := [entity_id for entity_id in wanted if entity_id not in allowed]:
        return f"{strange[0]} is not spoken of"
    if wanted and not said.names and not _all_meant(wanted, said, snapshot, area):
        return "it does not say which of them"
    if not wanted and not speaks_of(tool, said, lexicon):
        return f"it does not speak of {tool.name.partition('.')[0]}"
    if tool.fits is not None and not tool.fits(call.arguments, lexicon.language):
        return f"{tool.name} can make nothing of that"
    if tool.risk != "read" and (why := _why_not_act(call, text, said, lexicon)):
        return why
    if tool.risk == "read" and not wanted:
        usual = vocabulary(call.tool, lexicon.language, examples=2) | lexicon.common
        if len(unusual := set(said.unknown) - usual) > MOST_STRANGE:
            return f"it speaks of {min(unusual)}, which is nothing here"
    return next(_invented(call.arguments, text, said), "")


def _all_meant(wanted: Collection[str], said: Mentions, snapshot: Snapshot, area: str) -> bool:
    """Whether all things of a kind are wanted that the words may mean, and these are in one room:
    "kill the lights" is not any lamp, nor, where nobody knows the room, those of the house."""
    domains = {entity_id.partition(".")[0] for entity_id in wanted}
    alike = [entity for entity in meant(said, snapshot, area) if entity.domain in domains]
    if {entity.id for entity in alike} != set(wanted):
        return False
    placed = said.areas or said.floors or said.everything
    return bool(placed) or len({entity.area for entity in alike}) == 1


def _why_not_act(call: ToolCall, text: str, said: Mentions, lexicon: Lexicon) -> str:
    """What speaks against changing something."""
    step = call.arguments.get("step")
    if why := contradiction(call.tool, text, call.arguments, lexicon):
        return why
    if said.times and call.arguments.get("entities"):
        return "it says when, and this is done at once"
    if said.difference and call.tool in VALUES:
        return "the number says by how much, not to what"
    if lexicon.asks(said.text):
        return "it is a question or a condition, not a command"
    if said.actions & OPPOSITE.get(call.tool, set()) and call.tool not in said.implied:
        return f"it says the opposite of {call.tool} as well"
    if any(undoes(call.tool, other.partition(":")[0]) for other in said.implied):
        return f"it says the opposite of {call.tool}"
    unknown = set(said.unknown) - vocabulary(call.tool, lexicon.language)
    if call.arguments.get("entities"):
        # "the lamp on the desk" is not any lamp of this room.
        if unknown and not said.names:
            return f"it speaks of {min(unknown)}, which is nothing here"
        if not has_verb(call.tool, said, call.arguments):
            return f"it does not say to do {call.tool}"
    strange = unknown - lexicon.common
    if strange and not _has_texts(call) and not verb_is_known(call.tool, said, step):
        return f"{min(strange)} is no known verb"
    return ""


def _has_texts(call: ToolCall) -> bool:
    """Whether a call is given words of the utterance: no lexicon knows what goes on a list."""
    given = {name: value for name, value in call.arguments.items() if name not in OF_THE_HOME}
    return any(isinstance(value, str | list) for value in given.values())


def speaks_of(tool: Tool, said: Mentions, lexicon: Lexicon) -> bool:
    """Whether an utterance has to do with what a tool without entities is about."""
    plugin = tool.name.partition(".")[0]
    if lexicon.knows_subject(plugin):
        return plugin in said.subjects
    described = f"{tool.name.replace('.', ' ').replace('_', ' ')} {tool.description}"
    return bool(keys(said.text) & keys(described))


def verb_is_known(tool: str, said: Mentions, step: object = None) -> bool:
    """Whether a word of the lexicon says what shall be done, so that an unknown one beside it may
    be anything but the verb: "frobnicate the kitchen" does nothing."""
    return bool(said.actions) or tool in said.implied or f"{tool}:{step}" in said.implied


def has_verb(tool: str, said: Mentions, arguments: Mapping[str, Any]) -> bool:
    """Whether the verb of a tool is said or paraphrased, or its value says enough."""
    if tool in said.implied or f"{tool}:{arguments.get('step')}" in said.implied:
        return True
    if tool in VALUES:
        return bool(said.numbers or said.colors or said.actions & {"half", "full"})
    verbs = SAME.get(tool, frozenset()) | OWN_VERBS.get(tool, frozenset())
    if step := arguments.get("step"):
        verbs = STEP_VERBS.get(str(step), frozenset())
    return bool(verbs & said.actions) if verbs else tool not in STEPPED.values()


def _invented(arguments: Mapping[str, Any], text: str, said: Mentions) -> Iterator[str]:
    """The values that were not said."""
    numbers = {*said.numbers, *({50.0} if "half" in said.actions else ())}
    known = f"{plain(text)} {said.text}"
    for name, value in arguments.items():
        if name in ("entities", "step"):
            continue
        for one in value if isinstance(value, list) else [value]:
            if isinstance(one, bool):
                continue
            if isinstance(one, int | float) and one and float(one) not in numbers:
                yield f"{name} {one:g} was not said"
            elif isinstance(one, str) and not _is_said(one, known, said.colors):
                yield f"{name} “{one}” was not said"


def _is_said(value: str, text: str, others: Collection[str]) -> bool:
    return plain(value) in text or value in others


def _is_of(entity: Entity, kinds: Collection[str], classes: Collection[str]) -> bool:
    if entity.domain not in kinds:
        return False
    device_class = entity.attributes.get("device_class")
    return not classes or device_class is None or device_class in classes
