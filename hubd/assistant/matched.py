"""What a sentence of the grammar asks for in this house: its tool, the things it means, and what
has to be asked back before anything is done."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from hubd.assistant.decision import Decision, playing_on
from hubd.assistant.understanding import intents, targets
from hubd.assistant.understanding.fill import measuring
from hubd.assistant.understanding.grammar import Match
from hubd.assistant.understanding.locks import LOCK
from hubd.assistant.understanding.readings import at_no_time
from hubd.assistant.understanding.targets import Targets
from hubd.home.model import Snapshot
from plugins.api import Tool, ToolCall
from plugins.whereabouts import PEOPLE

Tools = Mapping[str, Tool]
"""Those that there are, by name."""
OUTDOORS = "outside temperature"
"""The name that our sentences give to how warm it is out there."""
WEATHER, CLEANS_ROOM = "weather.now", "vacuum.clean_area"
STATE, PLAYER = "home.state", "media_player"
OPEN, UNLOCK = "home.open", "home.unlock"
_OUT_THERE = re.compile(r"\bout(?:side|doors?)\b|\b(?:garden|balcony|porch|patio)\b", re.IGNORECASE)
_OUTSIDE = re.compile(
    r"\bout(?:side|doors?)\b|\b(?:draußen|außen)\b|[室户]外|外[面边头]", re.IGNORECASE
)
TEMPERATURE, TARGET = "climate.temperature", "climate.target"
_PLACE = {"name", "area", "floor"}
_IS_SET = re.compile(
    r"\b(?:set (?:to|at)|target|eingestellt|gestellt|soll(?:wert|temperatur)|zieltemperatur)\b|"
    r"设定|设置|设成|设的|目标温度",
    re.IGNORECASE,
)
"""What asks for what was set."""
_STATES = "HassGetState"
_OF_STATES = (_STATES, "HassClimateGetTemperature", "HassGetWeather")


def tool_of(match: Match) -> str:
    """The name of the tool that a reading would call: our own sentences name it."""
    rule = intents.RULES.get(match.intent)
    return rule.tool if rule else match.intent


def decided(
    match: Match, tools: Tools, snapshot: Snapshot, area: str, language: str
) -> Decision | None:
    """The decision of a grammar hit, asked in the area of that id; ``None`` where no tool does what
    it says."""
    found = _targets_of(match, tools, snapshot, area)
    domain = found.entities[0].domain if found.entities else str(match.slots.get("domain", ""))
    rule = intents.rule_of(match.intent, domain, match.slots) or _own_rule(match, tools)
    if rule is None or rule.tool not in tools:
        return None
    outdoors = _asks_outdoors(match, rule.tool) and not found.entities
    if outdoors and WEATHER in tools and not (found := _measured_outdoors(snapshot)).entities:
        return _of_the_weather(language)
    if rule.tool == OPEN and not found.entities:
        locks = _lock_here(match, snapshot, area)
        found, rule = (locks, intents.Rule(UNLOCK, (LOCK,))) if locks.entities else (found, rule)
    if domain == "person" and not any(one.domain in PEOPLE for one in snapshot.entities):
        return _nobody_known(rule.tool, match, language)
    if rule.domains and rule.needs_entity and not found.entities:
        return _nothing_there(rule.tool, match, language)
    call = intents.call_of(rule, match.intent, match.slots, found.entities)
    decision = Decision(
        route="grammar",
        tool=rule.tool,
        entities=found.ids,
        arguments=match.slots,
        score=1.0,
        reason=f"the grammar's {match.intent}",
        call=call,
        language=language,
    )
    if match.missing or at_no_time(call, language):
        reason = f"{decision.reason}; something that it needs was not said"
        return msgspec.structs.replace(decision, asks="missing", reason=reason)
    return asking(decision, found, tools, snapshot)


def _nobody_known(tool: str, match: Match, language: str) -> Decision:
    """The decision on who is at home where no person is described."""
    return Decision(
        route="grammar",
        tool=tool,
        arguments=match.slots,
        score=1.0,
        reason="it asks where people are, and nobody is described",
        language=language,
        declined="nobody_known",
    )


def asks_what_is_set(text: str) -> bool:
    """Whether it asks what a heater is set to, and not how warm it is."""
    return _IS_SET.search(text) is not None


def of_what_is_set(decision: Decision, text: str) -> Decision:
    """The decision; where it tells how warm it is and ``text`` asks what the heating is set to,
    that. (Home Assistant's sentences have one intent for both, which tells how warm it is.)"""
    heaters = [one for one in decision.entities if one.startswith("climate.")]
    if decision.tool != TEMPERATURE or not heaters or not asks_what_is_set(text):
        return decision
    call = ToolCall(tool=TARGET, arguments={"entities": heaters})
    return msgspec.structs.replace(decision, tool=TARGET, entities=heaters, call=call)


def asking(decision: Decision, found: Targets, tools: Tools, snapshot: Snapshot) -> Decision:
    """The decision, which has a tool and a call, with what has to be asked back first."""
    decision = playing_on(decision, found.entities)
    assert decision.tool is not None
    assert decision.call is not None
    tool, given = tools[decision.tool], decision.call.arguments
    if found.unclear:
        names = " or ".join(f"{entity.name} ({entity.id})" for entity in found.entities)
        return _with(decision, "which", f"it could be {names}")
    missing = [name for name in tool.parameters.get("required", []) if name not in given]
    if missing:
        return _with(decision, "missing", f"{missing[0]} was not said")
    if tool.risk_of(snapshot, given) == "dangerous":
        return _with(decision, "confirm", "a person must confirm it")
    return decision


def _with(decision: Decision, asks: str, why: str) -> Decision:
    reason = f"{decision.reason}; {why}"
    return msgspec.structs.replace(decision, asks=asks, reason=reason)


def _asks_outdoors(match: Match, tool: str) -> bool:
    """Whether it asks how warm it is out there, by whatever name that goes in the house."""
    place = str(match.slots.get("floor") or match.slots.get("area") or "")
    out_there = tool == TEMPERATURE and _OUTSIDE.search(place) is not None
    return out_there or match.slots.get("name") == OUTDOORS


def _targets_of(match: Match, tools: Tools, snapshot: Snapshot, area: str) -> Targets:
    slots: Mapping[str, Any] = match.slots
    rule = intents.RULES.get(match.intent) or _own_rule(match, tools)
    if match.intent in intents.TURN:
        domains: Sequence[str] = tuple(match.domains) or intents.turned_domains()
    elif match.intent == _STATES:
        domains = tuple(match.domains)
    elif rule is None or not rule.domains:
        return targets.NOBODY
    else:
        domains = rule.domains
    if _asks_what_plays(match):
        return targets.what_plays(snapshot, area)
    if tool_of(match) == CLEANS_ROOM:
        slots = {key: value for key, value in slots.items() if key not in ("area", "floor")}
    # "Next song" where no player is means one of the house's, not all of them.
    everywhere = match.everything or not (match.here or tool_of(match).startswith("media."))
    found = targets.find(snapshot, slots, domains, area=area, everywhere=everywhere)
    if tool_of(match) == STATE and not slots.get("name"):
        opening = targets.openings(snapshot, slots, area=area, everywhere=everywhere)
        found = opening if opening.entities else found
    if match.intent == _STATES and not found.entities and slots.get("device_class"):
        sensors = {key: value for key, value in slots.items() if key != "domain"}
        found = targets.find(snapshot, sensors, ("binary_sensor",), area=area, everywhere=True)
    if rule is not None:
        found = found if slots.get("name") else measuring(rule.tool, found)
        if rule.tool == TEMPERATURE and not found.entities and not _PLACE & slots.keys():
            found = targets.find(snapshot, {}, ("climate",), everywhere=True)
    return Targets(found.entities, False) if match.intent in _OF_STATES else found


def _asks_what_plays(match: Match) -> bool:
    """Whether it asks what is heard or watched, and not where: "what's this song?"."""
    asked = match.slots.keys() - {"domain"}
    return tool_of(match) == STATE and match.slots.get("domain") == PLAYER and not asked


def _measured_outdoors(snapshot: Snapshot) -> Targets:
    """The one thermometer out there, if there is just one."""
    found = [
        entity
        for entity in snapshot.entities
        if entity.domain == "sensor"
        and entity.attributes.get("device_class") == "temperature"
        and _OUT_THERE.search(entity.name)
    ]
    return Targets(tuple(found)) if len(found) == 1 else targets.NOBODY


def _of_the_weather(language: str) -> Decision:
    return Decision(
        route="grammar",
        tool=WEATHER,
        score=1.0,
        reason="how warm it is outside, where nothing here measures it",
        call=ToolCall(tool=WEATHER),
        language=language,
    )


def _own_rule(match: Match, tools: Tools) -> intents.Rule | None:
    """A sentence file of ours names its tool, and the domains in a ``domain`` context."""
    tool = tools.get(match.intent)
    if tool is None:
        return None
    names = {slot: slot for slot in match.slots if slot in tool.parameters["properties"]}
    shared = intents.rule_of_tool(tool.name)
    domains = tuple(match.domains) or _as_tuple(match.slots.get("domain"))
    domains = domains or (shared.domains if shared else ())
    if "entities" not in tool.parameters["properties"]:
        domains = ()
    needs_entity = shared.needs_entity if shared else True
    return intents.Rule(tool.name, domains, names, needs_entity)


def _lock_here(match: Match, snapshot: Snapshot, area: str) -> Targets:
    """The lock of a door that shall be opened, where the asking device's room has just one."""
    locks = [e for e in snapshot.entities if e.domain == LOCK and area and e.area == area]
    of_a_door = match.slots.get("device_class") == "door" and not _PLACE & match.slots.keys()
    return Targets(tuple(locks)) if of_a_door and len(locks) == 1 else targets.NOBODY


def _nothing_there(tool: str, match: Match, language: str) -> Decision:
    return Decision(
        route="grammar",
        tool=tool,
        arguments=match.slots,
        score=1.0,
        asks="which",
        reason=f"the grammar's {match.intent}, but nothing here can be meant",
        language=language,
    )


def _as_tuple(value: object) -> tuple[str, ...]:
    if isinstance(value, list):
        return tuple(map(str, value))
    return (value,) if isinstance(value, str) else ()
