"""How tools change the household: call services, read the states back, tell what is so now.

Shared by the plugins of the home; no plugin itself. A state that did not come about is told as
such, never as done.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Annotated, Any

from msgspec import Meta

from plugins.api import Entity, ToolCall, ToolContext, ToolError, ToolResult
from plugins.speech import said_of, say

EntityIds = Annotated[list[str], Meta(min_length=1, max_length=100)]
Reached = Callable[[Entity], bool]
KEPT = {
    "light": ("brightness", "color_name", "color_temp_kelvin"),
    "cover": ("current_position",),
    "valve": ("current_position",),
    "climate": ("temperature",),
    "fan": ("percentage",),
    "humidifier": ("humidity",),
    "media_player": ("volume_level", "is_volume_muted"),
}
"""The attributes that undoing brings back."""


async def act(
    context: ToolContext,
    entities: Sequence[str],
    services: Mapping[str, str] | str,
    said: str,
    *,
    reached: Reached | None = None,
    data: Mapping[str, Any] = {},
    value: Callable[[Entity], object] | None = None,
) -> ToolResult:
    """Call a service on entities of one or more domains, and say what it came to.

    services: domain → service, or one service for all; ``*`` is for any other domain.
    said: the key of the sentence for what was reached.
    reached: whether an entity is now as it was asked to be.

    Raises:
        ToolError: no entity reached it, or one does not take the service.
    """
    by_service: dict[str, list[str]] = {}
    for entity_id in entities:
        if (service := _service(services, entity_id)) is None:
            raise ToolError(say(context.language, "cannot", value=entity_id))
        by_service.setdefault(service, []).append(entity_id)
    before: list[Entity] = []
    after: list[Entity] = []
    failed: dict[str, str] = {}
    for service, ids in by_service.items():
        result = await context.home.call(service, ids, data)
        before += result.before
        after += result.after
        failed |= result.failed
    done = [e for e in after if e.id not in failed and (reached is None or reached(e))]
    sentences = _sentences(context.language, done, said, value)
    sentences += [
        say(context.language, "failed", [entity.name], failed[entity.id])
        if entity.id in failed
        else say(context.language, "did_not", [entity.name], entity.state)
        for entity in after
        if entity not in done
    ]
    if not done:
        raise ToolError(" ".join(sentences) or say(context.language, "nothing_known"))
    text = " ".join(sentences)
    changed = [old for old in before if any(e.id == old.id and e != old for e in done)]
    return ToolResult(
        text=text, data={"entities": [shown(entity) for entity in after]}, undo=undo_of(changed)
    )


async def act_by_value(
    wanted: Mapping[str, float], act_on: Callable[[list[str], float], Awaitable[ToolResult]]
) -> ToolResult:
    """Set things to values of their own: those of one value together. One that is dim already is
    not brought to the brightness of its neighbour.

    wanted: entity id → value
    act_on: sets entities to a value
    """
    ids: dict[float, list[str]] = {}
    for entity_id, value in wanted.items():
        ids.setdefault(value, []).append(entity_id)
    results: list[ToolResult] = []
    told: list[str] = []
    for value, of_value in ids.items():
        try:
            results.append(await act_on(of_value, value))
            told.append(results[-1].text)
        except ToolError as error:
            told.append(str(error))
    if not results:
        raise ToolError(" ".join(told))
    before = [state for r in results if r.undo for state in r.undo.arguments["states"]]
    return ToolResult(
        text=" ".join(told),
        data={"entities": [entity for r in results for entity in r.data["entities"]]},
        undo=ToolCall(tool="home.restore", arguments={"states": before}) if before else None,
    )


def after(first: ToolResult, then: ToolResult) -> ToolResult:
    """Two results of one tool as one, with an undo that brings back what was before the first."""
    states = {
        state["id"]: state
        for result in (then, first)
        if result.undo
        for state in result.undo.arguments["states"]
    }
    undo = ToolCall(tool="home.restore", arguments={"states": list(states.values())})
    return ToolResult(
        text=f"{first.text} {then.text}", data=then.data, undo=undo if states else None
    )


def shown(entity: Entity) -> dict[str, Any]:
    """An entity as programs and the page are told."""
    kept = {k: entity.attributes[k] for k in KEPT.get(entity.domain, ()) if k in entity.attributes}
    return {"id": entity.id, "name": entity.name, "state": entity.state, **kept}


def as_of(context: ToolContext) -> str:
    """What is said before states that may be old; empty while the household can be reached."""
    heard = context.home.snapshot().as_of
    if heard is None:
        return ""
    return say(context.language, "last_heard", value=f"{heard:%H:%M}") + " "


def undo_of(before: Sequence[Entity]) -> ToolCall | None:
    """The call that brings back how the entities were."""
    if not before or any(entity.domain in ("scene", "script", "button") for entity in before):
        return None
    return ToolCall(tool="home.restore", arguments={"states": [shown(e) for e in before]})


def found(context: ToolContext, entities: Sequence[str]) -> list[Entity]:
    """The entities of those ids.

    Raises:
        ToolError: one is not there.
    """
    snapshot = context.home.snapshot()
    known = {entity.id: entity for entity in snapshot.entities}
    missing = [entity_id for entity_id in entities if entity_id not in known]
    if missing:
        raise ToolError(say(context.language, "not_here", value=missing[0]))
    return [known[entity_id] for entity_id in entities]


def _service(services: Mapping[str, str] | str, entity_id: str) -> str | None:
    domain = entity_id.partition(".")[0]
    service = services if isinstance(services, str) else services.get(domain, services.get("*"))
    if service is None:
        return None
    return service if "." in service else f"{domain}.{service}"


def _sentences(
    language: str,
    done: Sequence[Entity],
    said: str,
    value: Callable[[Entity], object] | None,
) -> list[str]:
    """One sentence for all of which the same is said, with the same value."""
    names: dict[tuple[str, str], list[str]] = {}
    for entity in done:
        shown_value = value(entity) if value else ""
        key = f"{shown_value:g}" if isinstance(shown_value, float) else str(shown_value)
        of_class = said_of(said, str(entity.attributes.get("device_class", "")))
        names.setdefault((of_class, key), []).append(entity.name)
    return [say(language, sentence, of, key) for (sentence, key), of in names.items()]
