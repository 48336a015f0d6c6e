"""A household described in a file, whose states the hub keeps: for homes without Home Assistant.

The description is YAML or JSON: ``floors``, ``areas`` and ``entities``, each with a name; see
docs/home.md. What a service does to a state is in ``hubd/home/services.py``.
"""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import msgspec
import yaml

from hubd.errors import HubError
from hubd.home.model import (
    Area,
    Entity,
    Floor,
    HomeError,
    Location,
    NoAnswerError,
    ServiceResult,
    Snapshot,
)
from hubd.home.services import applied
from plugins.api import Storage

Place = TypeVar("Place", Floor, Area)

MAXIMUM_ENTITIES = 5_000
MAXIMUM_NAME = 120
MAXIMUM_BYTES = 2**20


class DescriptionError(HubError):
    """The description of a household cannot be used; the message says where."""

    code = "bad_request"
    status = 400


class FileHome:
    """``plugins.api.Home`` over a description; what changes is kept in ``storage``."""

    def __init__(self, storage: Storage, snapshot: Snapshot) -> None:
        self._storage = storage
        self._snapshot = snapshot

    @classmethod
    async def open(cls, storage: Storage) -> "FileHome":
        """The household that was loaded last, with its states; an empty one at first."""
        stored = await storage.get("snapshot")
        return cls(storage, msgspec.convert(stored, Snapshot) if stored else Snapshot())

    async def load(self, description: str) -> Snapshot:
        """Replace the household by the one of ``description`` (YAML or JSON).

        Raises:
            DescriptionError: it is not a description; nothing was changed.
        """
        snapshot = read_description(description, version=self._snapshot.version + 1)
        await self._keep(snapshot)
        return snapshot

    def snapshot(self) -> Snapshot:
        return self._snapshot

    async def call(
        self, service: str, entities: Sequence[str], data: Mapping[str, Any] = {}
    ) -> ServiceResult:
        """As ``plugins.api.Home.call``; a service acts on the kept states and nothing else."""
        known = {entity.id: entity for entity in self._snapshot.entities}
        missing = [entity for entity in entities if entity not in known]
        if missing:
            raise HomeError(f"There is no {missing[0]} in this household.")
        before = tuple(known[entity] for entity in dict.fromkeys(entities))
        after = tuple(applied(service, entity, data) for entity in before)
        known.update({entity.id: entity for entity in after})
        await self._keep(msgspec.structs.replace(self._snapshot, entities=tuple(known.values())))
        return ServiceResult(before=before, after=after)

    def location(self) -> Location | None:
        """As ``plugins.api.Home.location``; a description does not tell it."""
        return None

    async def ask(
        self, service: str, entity: str, data: Mapping[str, Any] = {}
    ) -> Mapping[str, Any]:
        """As ``plugins.api.Home.ask``; a household that is kept in a file knows no services."""
        raise NoAnswerError(f"Nothing answers {service} here: this home is not Home Assistant's.")

    async def _keep(self, snapshot: Snapshot) -> None:
        await self._storage.put("snapshot", msgspec.to_builtins(snapshot))
        self._snapshot = snapshot


def read_description(description: str, version: int = 1) -> Snapshot:
    """The household that the text describes.

    Floors and areas may be bare names. An entity has an ``id``, or a ``domain`` from which an id is
    made; ``name`` or ``names``; ``aliases``; its area and an area's floor by name or id. A place
    that is only referred to is made.

    Raises:
        DescriptionError: not YAML, or something is missing, unknown or twice.
    """
    if len(description.encode()) > MAXIMUM_BYTES:
        raise DescriptionError("the description is larger than 1 MB")
    try:
        read = yaml.safe_load(description)
    except (yaml.YAMLError, RecursionError) as error:
        raise DescriptionError(f"the description is neither YAML nor JSON: {error}") from error
    if not isinstance(read, dict) or not isinstance(read.get("entities", []), list):
        raise DescriptionError("the description has no list of entities")
    floors = [_floor(item, n) for n, item in enumerate(_items(read, "floors"))]
    areas = [_area(item, n, floors) for n, item in enumerate(_items(read, "areas"))]
    entities = [
        _entity(item, n, areas)
        for n, item in enumerate(_items(read, "entities"))
        if not isinstance(item, dict) or item.get("is_exposed", True)
    ]
    if len(entities) > MAXIMUM_ENTITIES:
        raise DescriptionError(f"more than {MAXIMUM_ENTITIES} entities")
    _distinct([entity.id for entity in entities])
    return Snapshot(
        floors=tuple(floors), areas=tuple(areas), entities=tuple(entities), version=version
    )


def _items(read: dict[str, Any], key: str) -> list[Any]:
    items = read.get(key) or []
    if not isinstance(items, list):
        raise DescriptionError(f"{key} is not a list")
    return items


def _floor(item: Any, number: int) -> Floor:
    where = f"floors[{number}]"
    names = _names(item, where)
    return Floor(id=_id(item, names[0]), name=names[0], aliases=names[1:])


def _area(item: Any, number: int, floors: list[Floor]) -> Area:
    where = f"areas[{number}]"
    names = _names(item, where)
    floor = item.get("floor") if isinstance(item, dict) else None
    return Area(
        id=_id(item, names[0]),
        name=names[0],
        aliases=names[1:],
        floor=_reference(floor, floors, Floor),
    )


def _entity(item: Any, number: int, areas: list[Area]) -> Entity:
    where = f"entities[{number}]"
    if not isinstance(item, dict):
        raise DescriptionError(f"{where} is not an object")
    names = _names(item, where)
    entity_id = item.get("id") or f"{item.get('domain', '')}.{slug(names[0])}"
    if not re.fullmatch(r"[a-z_]+\..+", str(entity_id)):
        raise DescriptionError(f"{where}: an entity needs an id such as light.kitchen, or a domain")
    state = item.get("state", "unknown")
    if isinstance(state, dict):  # as the intents corpus writes what is said and what is stored
        state = state.get("out", "unknown")
    if isinstance(state, bool):  # YAML reads a bare on and off so
        state = "on" if state else "off"
    return Entity(
        id=str(entity_id),
        name=names[0],
        aliases=names[1:],
        area=_reference(item.get("area"), areas, Area),
        state=str(state),
        attributes=dict(item.get("attributes") or {}),
    )


def _names(item: Any, where: str) -> tuple[str, ...]:
    """The name, then the aliases; ``Trader Joe[']s`` is a name and an alias."""
    if isinstance(item, str):
        item = {"name": item}
    if not isinstance(item, dict):
        raise DescriptionError(f"{where} is neither a name nor an object")
    said = item.get("names") or item.get("name") or item.get("id")
    names = [*(said if isinstance(said, list) else [said]), *(item.get("aliases") or [])]
    plain = [form for name in names if isinstance(name, str) for form in _forms(name)]
    plain = [" ".join(name.split()) for name in plain]
    if not plain or not all(plain) or any(len(name) > MAXIMUM_NAME for name in plain):
        raise DescriptionError(f"{where} has no name, or one that is too long")
    return tuple(dict.fromkeys(plain))


def _forms(name: str) -> list[str]:
    """A name with an optional part in brackets, written with it and without it."""
    match = re.fullmatch(r"([^\[\]]*)\[([^\[\]|()]*)\]([^\[\]]*)", name)
    if match is None:
        return [name]
    before, option, after = match.groups()
    return [before + option + after, before + after]


def _reference(said: Any, things: list[Place], make: type[Place]) -> str | None:
    """The id of the place that is meant; a new place where none is described so."""
    if said is None or said == "":
        return None
    for thing in things:
        if said == thing.id or str(said).casefold() == thing.name.casefold():
            return thing.id
    name = str(said)[:MAXIMUM_NAME]
    things.append(make(id=slug(name), name=name))
    return slug(name)


def _id(item: Any, name: str) -> str:
    return str(item["id"]) if isinstance(item, dict) and item.get("id") else slug(name)


def slug(name: str) -> str:
    """A name as the second half of an id: ``Küchen-Lampe`` → ``kuchen_lampe``."""
    plain = unicodedata.normalize("NFKD", name.casefold())
    return re.sub(r"[^\w]+", "_", "".join(c for c in plain if not unicodedata.combining(c)))


def _distinct(ids: Sequence[str]) -> None:
    seen: set[str] = set()
    for one in ids:
        if one in seen:
            raise DescriptionError(f"the entity {one} is described twice")
        seen.add(one)
