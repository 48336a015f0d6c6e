"""Tools that come with a request: a caller's own home, worked by sentence and not by a model.

Home Assistant sends its intent tools and a list of the entities it lets an assistant see. What the
sentence grammar understands becomes a call of such a tool, for an entity of that list and no other,
in milliseconds. The result that comes back is told in words. Opening a door is asked about first;
what was asked is read from the conversation, so nothing is kept between requests.
"""

import functools
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import yaml
from hassil import Intents, TextSlotList, recognize_best

from engine.protocol import ChatMessage, FunctionCall, FunctionTool
from hubd.assistant.understanding.data_files import values
from hubd.policy import OWNER, Person, decide
from plugins.api import Risk

SENTENCES = Path(__file__).with_name("request_tools.en.yaml")
MAXIMUM_UTTERANCE = 300
MAXIMUM_ENTITIES = 2_000
MAXIMUM_CONTEXT = 400_000
"""Characters of a system message that are looked at."""

_STATIC_CONTEXT = re.compile(r"^Static Context:.*\n((?:(?:- |  ).*\n?)+)", re.MULTILINE)
_YES = re.compile(r"\W*(yes|yeah|yep|sure|ok|okay|do it|please do|confirm)\b.{0,20}", re.I)
_NO = re.compile(r"\W*(no|nope|don't|do not|cancel|never mind)\b.{0,20}", re.I)
_ENTRANCE = re.compile(r"\b(garage|gate|door|entrance)\b", re.I)


class Handed(msgspec.Struct, frozen=True, kw_only=True):
    """What the caller gets: a call to carry out, or else words to say."""

    call: FunctionCall | None = None
    text: str = ""


class Entity(msgspec.Struct, frozen=True, kw_only=True):
    """An entity as the caller's prompt lists it."""

    names: tuple[str, ...]
    domain: str
    areas: tuple[str, ...] = ()


class _Match(msgspec.Struct, frozen=True, kw_only=True):
    tool: str
    """The tool's name as it was offered."""
    intent: str
    arguments: dict[str, Any]
    name: str
    """What it is about, as people call it."""
    domain: str


def reply(
    messages: Sequence[ChatMessage], tools: Sequence[FunctionTool], person: Person = OWNER
) -> Handed | None:
    """What to answer ``person`` by the tools on offer, or ``None`` where they do not help."""
    offered = _offered(tools)
    if "HassTurnOn" not in offered or not messages:
        return None
    home = "\n".join(m.text() for m in messages if m.role == "system")[:MAXIMUM_CONTEXT]
    asked = next((m.text() for m in reversed(messages) if m.role == "user"), "")
    if messages[-1].role == "tool":
        return Handed(text=_told(messages, _match(asked, home, offered)))
    if messages[-1].role != "user":
        return None
    if (before := _asked_about(messages, home, offered)) is not None:
        if _YES.fullmatch(asked):
            return _refused(before, person, home) or _handed(before)
        if _NO.fullmatch(asked):
            return Handed(text=f"All right, {_with_article(before.name)} stays as it is.")
    match = _match(asked, home, offered)
    if match is None:
        return None
    if (refused := _refused(match, person, home)) is not None:
        return refused
    return Handed(text=question(match)) if _is_dangerous(match) else _handed(match)


def entities(context: str) -> tuple[Entity, ...]:
    """The entities that a system message lists; empty where it lists none that can be read."""
    found = _STATIC_CONTEXT.search(context + "\n")
    if found is None:
        return ()
    try:
        rows = values(found[1])
    except yaml.YAMLError:
        return ()
    made = []
    for row in rows[:MAXIMUM_ENTITIES] if isinstance(rows, list) else ():
        if isinstance(row, dict) and "names" in row and isinstance(row.get("domain"), str):
            names, areas = _listed(row["names"]), _listed(row.get("areas", ""))
            made.append(Entity(names=names, domain=row["domain"], areas=areas))
    return tuple(made)


def question(match: _Match) -> str:
    """What is asked before something that lets people in."""
    verb = "unlock" if match.domain == "lock" else "open"
    return f"Shall I really {verb} {_with_article(match.name)}?"


def _listed(value: object) -> tuple[str, ...]:
    return tuple(name.strip() for name in str(value).split(",") if name.strip())


def _offered(tools: Sequence[FunctionTool]) -> dict[str, dict[str, Any]]:
    """Functions by their intent's name: ``light__HassLightSet`` is ``HassLightSet``."""
    return {str(tool.function.get("name")).rpartition("__")[2]: tool.function for tool in tools}


@functools.lru_cache(maxsize=1)
def _intents() -> Intents:
    return Intents.from_dict(values(SENTENCES.read_text(encoding="utf-8")))


@functools.lru_cache(maxsize=8)
def _slot_lists(home: str) -> dict[str, TextSlotList]:
    """The names to listen for; the same home comes with every request."""
    listed = entities(home)
    names = [
        (said, name, {"domain": entity.domain})
        for entity in listed
        for name in entity.names
        for said in dict.fromkeys((name, *_as_said(name, entity.domain)))
    ]
    areas = {area for entity in listed for area in entity.areas}
    return {
        "name": TextSlotList.from_tuples(names, allow_template=False, name="name"),
        "area": TextSlotList.from_strings(sorted(areas), allow_template=False, name="area"),
    }


def _as_said(name: str, domain: str) -> list[str]:
    """A lamp is a light: what people also call it."""
    if domain != "light":
        return []
    words = (("light", "lamp"), ("lamp", "light"))
    return [re.sub(rf"\b{word}(s?)\b", rf"{other}\1", name, flags=re.I) for word, other in words]


def _match(text: str, home: str, offered: dict[str, dict[str, Any]]) -> _Match | None:
    if not text.strip() or len(text) > MAXIMUM_UTTERANCE:
        return None
    result = recognize_best(text.strip(), _intents(), slot_lists=_slot_lists(home))
    if result is None or result.intent.name not in offered:
        return None
    function = offered[result.intent.name]
    slots = {name: entity.value for name, entity in result.entities.items()}
    domain = str(slots.pop("kind", "") or (result.context or {}).get("domain", ""))
    known = function.get("parameters", {}).get("properties", {})
    if domain and result.intent.name != "GetLiveContext":
        slots["domain"] = [domain]
    return _Match(
        tool=str(function["name"]),
        intent=result.intent.name,
        arguments={name: _whole(value) for name, value in slots.items() if name in known},
        name=str(slots.get("name") or f"{domain}s in the {slots.get('area')}"),
        domain=domain,
    )


def _whole(value: Any) -> Any:
    """40 rather than 40.0: some schemas ask for integers."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _handed(match: _Match) -> Handed:
    arguments = msgspec.json.encode(match.arguments).decode()
    return Handed(call=FunctionCall(match.tool, arguments))


def _refused(match: _Match, person: Person, home: str) -> Handed | None:
    """The policy's words where the person may not. Areas are known by name here, not by id."""
    risk: Risk = "read" if match.intent == "GetLiveContext" else "act"
    if _is_dangerous(match):
        risk = "dangerous"
    areas = frozenset(_slug(name) for name in _areas(match, home)) or frozenset({""})
    decided = decide(risk, "person", person, match.intent, areas)
    return Handed(text=decided.reason) if decided.verdict == "deny" else None


def _areas(match: _Match, home: str) -> set[str]:
    """Names of the areas that a match is about."""
    if "name" not in match.arguments:
        return {str(match.arguments["area"])} if "area" in match.arguments else set()
    name = str(match.arguments["name"])
    return {area for entity in entities(home) if name in entity.names for area in entity.areas}


def _slug(name: str) -> str:
    """As Home Assistant makes the id of an area from its name."""
    return re.sub(r"\W+", "_", name.casefold()).strip("_")


def _is_dangerous(match: _Match) -> bool:
    """What lets people into the house."""
    if match.domain == "lock":
        return match.intent == "HassTurnOff"
    opens = match.intent in ("HassTurnOn", "HassSetPosition")
    return opens and match.domain in ("cover", "valve") and bool(_ENTRANCE.search(match.name))


def _asked_about(
    messages: Sequence[ChatMessage], home: str, offered: dict[str, dict[str, Any]]
) -> _Match | None:
    """What the question before this message was about, if there was one."""
    if len(messages) < 3 or messages[-2].role != "assistant" or messages[-3].role != "user":
        return None
    before = _match(messages[-3].text(), home, offered)
    if before is None or messages[-2].text().strip() != question(before):
        return None
    return before


# What came back


def _told(messages: Sequence[ChatMessage], asked: _Match | None) -> str:
    """The result of the last call in words."""
    result = _decoded(messages[-1].text())
    if problem := _problem(result):
        return f"Home Assistant did not do it: {problem}"
    done = _found(result, "success")
    if isinstance(done, list):
        names = [str(item["name"]) for item in done if isinstance(item, dict) and "name" in item]
        if failed := _found(result, "failed"):
            return f"Home Assistant did not do it for {len(failed)} of the devices."
        if names or asked:
            return f"{_past(asked)} {', '.join(names) or (asked.name if asked else '')}.".strip()
        return "Done."
    if asked is not None and asked.intent == "GetLiveContext":
        return _state(result, asked.name)
    return "Done."


def _decoded(text: str) -> Any:
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return text


def _problem(result: Any) -> str:
    """The error in a result, empty if there is none: ``{"error": …}`` in several shapes."""
    if not isinstance(result, dict):
        return ""
    if result.get("error") is True:
        inner = result.get("data")
        return _problem(inner) or (inner if isinstance(inner, str) else "") or "it says no reason."
    error = result.get("error")
    return str(result.get("error_text") or error) if isinstance(error, str) else ""


def _found(result: Any, key: str) -> Any:
    """``key`` of the result or of the ``data`` within it, two levels deep."""
    for _ in range(3):
        if not isinstance(result, dict):
            return None
        if isinstance(result.get(key), list):
            return result[key]
        result = result.get("data")
    return None


def _state(result: Any, name: str) -> str:
    """The state of one entity from an overview of all."""
    text = result if isinstance(result, str) else _longest_text(result)
    rows = re.split(r"^- ", text, flags=re.MULTILINE)
    for row in rows:
        names = re.search(r"names: *(.*)", row)
        state = re.search(r"state: *(.*)", row)
        if names and state and name.casefold() in map(str.casefold, _listed(names[1])):
            return f"{name} is {state[1].strip().strip(chr(39) + chr(34))}."
    return f"Home Assistant does not say how {_with_article(name)} is."


def _longest_text(value: Any) -> str:
    if isinstance(value, str):
        return value
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return max((_longest_text(part) for part in inner), key=len, default="")


def _past(asked: _Match | None) -> str:
    if asked is None:
        return "Done:"
    opens = {"HassTurnOn": "Opened", "HassTurnOff": "Closed"}
    locks = {"HassTurnOn": "Locked", "HassTurnOff": "Unlocked"}
    switches = {"HassTurnOn": "Turned on", "HassTurnOff": "Turned off"}
    by_domain = {"cover": opens, "valve": opens, "lock": locks}
    return by_domain.get(asked.domain, switches).get(asked.intent, "Set")


def _with_article(name: str) -> str:
    return name if re.match(r"(the|my|our)\b", name, re.I) else f"the {name}"
