"""Which tools and entities a model may choose from for one utterance, and how it must write them.

The few that matter, by words and, where vectors are to be had, by meaning. The JSON schema of the
calls names the tools and the entities of this home as the only possible ones: an invented device
cannot be written, nor a number that nobody said.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from hubd.assistant.supported import domains_of, meant, speaks_of
from hubd.assistant.understanding.lexicon import Lexicon
from hubd.assistant.understanding.mentions import Mentions
from hubd.assistant.understanding.polarity import contradiction
from hubd.home.model import Entity, Snapshot
from plugins.api import Tool
from rag.lexical import keys

MOST_TOOLS = 15
MOST_ENTITIES = 15
NONE = "none"
"""The tool that does nothing: the model says that no other fits."""
REASONS = ("question", "unclear", "unknown")
INTERNAL = frozenset(
    {"calendar.restore", "home.restore", "notes.drop", "reminders.restore", "routines.restore"}
)
"""What undo calls; nobody says it."""
TEXT_LIMIT = 120
"""Characters of a text argument."""


class Offer(NamedTuple):
    """What a model may choose from."""

    tools: tuple[Tool, ...]
    entities: tuple[Entity, ...]
    schema: dict[str, Any]
    """JSON schema of one call: ``{"tool": …, "arguments": {…}}``."""


def offered(
    tools: Sequence[Tool],
    said: Mentions,
    snapshot: Snapshot,
    area: str,
    lexicon: Lexicon,
    similar: Mapping[str, float] = {},
) -> Offer:
    """The tools and entities that may be meant by an utterance, the likeliest first.

    similar: tool → likeness of its examples with the utterance, -1 to 1.
    """
    entities = tuple(meant(said, snapshot, area)[:MOST_ENTITIES])
    rated = [
        (likely + similar.get(tool.name, 0.0), tool.name, tool)
        for tool in tools
        if tool.name not in INTERNAL
        and (likely := _likely(tool, said, entities, lexicon)) > 0
        and not (tool.risk != "read" and contradiction(tool.name, said.text, {}, lexicon))
    ]
    chosen: list[Tool] = []
    calls: list[dict[str, Any]] = []
    for _, _, tool in sorted(rated, key=lambda one: (-one[0], one[1])):
        call = _call(tool, said, entities)
        if call is not None and len(chosen) < MOST_TOOLS:
            chosen.append(tool)
            calls.append(call)
    nothing = _object(
        {"tool": {"const": NONE}, "arguments": _object({"reason": {"enum": list(REASONS)}})}
    )
    return Offer(tuple(chosen), entities, {"anyOf": [*calls, nothing]})


def _likely(tool: Tool, said: Mentions, entities: Sequence[Entity], lexicon: Lexicon) -> float:
    """How much the words speak for a tool; 0 where nothing does."""
    properties = tool.parameters.get("properties", {})
    shared = len(keys(said.text) & keys(f"{tool.name} {tool.description}".replace(".", " ")))
    if "entities" in properties and "entities" in tool.parameters.get("required", ()):
        domains = domains_of(tool.name)
        fitting = any(not domains or entity.domain in domains for entity in entities)
        return 1.0 + shared + 2.0 * (tool.name in said.implied) if fitting else 0.0
    return 1.0 + shared if speaks_of(tool, said, lexicon) else 0.0


def _call(tool: Tool, said: Mentions, entities: Sequence[Entity]) -> dict[str, Any] | None:
    """The schema of a call of ``tool``; ``None`` where something that it needs was not said."""
    required = list(tool.parameters.get("required", ()))
    properties: dict[str, Any] = {}
    for name, schema in tool.parameters.get("properties", {}).items():
        if name == "entities":
            narrowed = _entities(tool, entities)
        else:
            narrowed = _narrowed(name, schema, said)
        if narrowed is not None:
            properties[name] = narrowed
    if not set(required) <= set(properties):
        return None
    if not required and tool.risk != "read" and not properties and tool.parameters["properties"]:
        return None
    arguments = _object(properties, required)
    return _object({"tool": {"const": tool.name}, "arguments": arguments})


def _entities(tool: Tool, entities: Sequence[Entity]) -> dict[str, Any] | None:
    domains = domains_of(tool.name)
    fitting = [e.id for e in entities if not domains or e.domain in domains]
    if not fitting:
        return None
    return {"type": "array", "items": {"enum": fitting}, "minItems": 1, "maxItems": len(fitting)}


def _narrowed(name: str, schema: Mapping[str, Any], said: Mentions) -> dict[str, Any] | None:
    """An argument's schema with the numbers that were said; ``None``: it cannot be given."""
    if "pattern" in schema and name != "step":
        return None  # a form that the utterance would have to be brought into
    if "enum" in schema or "const" in schema:
        return {key: schema[key] for key in ("enum", "const") if key in schema}
    kinds = _kinds(schema)
    if kinds & {"integer", "number"}:
        smallest, largest = _bounds(schema)
        numbers = [
            int(number) if number.is_integer() else number
            for number in dict.fromkeys((*said.numbers, *_half(said)))
            if smallest <= number <= largest and (number.is_integer() or "number" in kinds)
        ]
        return {"enum": numbers} if numbers else None
    if name == "step":
        return {"enum": ["up", "down"]}
    if name == "color":
        return {"enum": list(dict.fromkeys(said.colors))} if said.colors else None
    if "string" in kinds:
        return _text(schema)
    if "array" in kinds and "string" in _kinds(schema.get("items", {})):
        return {"type": "array", "items": _text(schema["items"]), "minItems": 1, "maxItems": 5}
    return {"type": "boolean"} if kinds == {"boolean"} else None


def _text(schema: Mapping[str, Any]) -> dict[str, Any]:
    longest = min(TEXT_LIMIT, schema.get("maxLength", TEXT_LIMIT))
    return {"type": "string", "minLength": 1, "maxLength": longest}


def _half(said: Mentions) -> tuple[float, ...]:
    return (50.0,) if "half" in said.actions else ()


def _kinds(schema: Mapping[str, Any]) -> set[str]:
    kind = schema.get("type")
    if isinstance(kind, str):
        return {kind}
    return {kind for one in schema.get("anyOf", ()) for kind in _kinds(one)}


def _bounds(schema: Mapping[str, Any]) -> tuple[float, float]:
    """The least and the largest number that a schema allows."""
    every: tuple[Mapping[str, Any], ...] = (schema, *schema.get("anyOf", ()))
    one = next((one for one in every if "minimum" in one or "maximum" in one), {})
    return one.get("minimum", float("-inf")), one.get("maximum", float("inf"))


def _object(properties: dict[str, Any], required: Sequence[str] | None = None) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties if required is None else required),
        "additionalProperties": False,
    }
