"""Home Assistant's entities as the hub knows them: registries and states in, snapshots out.

Only what Home Assistant exposes to Assist is seen, unless everything is asked for. Pure: knows the
messages of the WebSocket, not the connection.
"""

from collections.abc import Iterable, Mapping
from typing import Any
from zoneinfo import ZoneInfo

import msgspec

from hubd.home.model import Area, Entity, Floor, Location, Snapshot

ASSISTANT = "conversation"
MAXIMUM_ENTITIES = 10_000
MAXIMUM_NAME = 120
MAXIMUM_STATE = 255

# What Home Assistant exposes to Assist of entities about which nobody has decided yet.
DOMAINS = frozenset(
    ("climate", "cover", "fan", "humidifier", "light", "media_player", "scene", "script", "switch",
     "todo", "vacuum", "water_heater")
)  # fmt: skip
SENSORS = frozenset(
    ("aqi", "carbon_dioxide", "carbon_monoxide", "humidity", "pm10", "pm25", "temperature",
     "volatile_organic_compounds")
)  # fmt: skip
BINARY_SENSORS = frozenset(
    ("door", "garage_door", "lock", "motion", "opening", "presence", "window")
)


class Registered(msgspec.Struct, frozen=True, kw_only=True):
    """What the entity registry says of an entity, in the names of ``list_for_display``."""

    ei: str
    en: str | None = None
    """Its name."""
    ai: str | None = None
    """Its area."""
    di: str | None = None
    """Its device, whose area is also the entity's."""
    ec: int | None = None
    """Set for entities that configure or diagnose a device."""
    hb: bool = False
    """Hidden by somebody."""


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """Where the house stands."""

    location: Location | None = None
    """``None`` where that is not known."""
    time_zone: str = ""
    """``Europe/Berlin``; empty where that is not known."""


class Registry(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that is known of the home but its states."""

    floors: tuple[Floor, ...] = ()
    areas: tuple[Area, ...] = ()
    entities: Mapping[str, Registered] = {}
    device_areas: Mapping[str, str] = {}
    """Device id → area id."""
    exposed: Mapping[str, bool] = {}
    """Entity id → what somebody, or Home Assistant itself, has decided."""
    expose_new: bool = True
    tells_hidden: bool = True
    """Whether ``exposed`` names what is hidden too. Since 2025 Home Assistant lists only what is
    exposed; then an entity that is in no registry either is hidden unless it is listed."""
    aliases: Mapping[str, tuple[str, ...]] = {}
    temperature_unit: str = ""
    """Of the heaters' numbers, ``°C`` or ``°F``: their states do not have it."""
    place: Place = Place()
    """Where the house stands."""


class Mirror:
    """The home as it is now, kept right by ``apply``."""

    def __init__(self, *, everything: bool = False) -> None:
        self._everything = everything
        self._registry = Registry()
        self._states: dict[str, tuple[str, dict[str, Any]]] = {}
        self._entities: dict[str, Entity] = {}
        self._snapshot: Snapshot | None = Snapshot()
        self._version = 0

    def snapshot(self) -> Snapshot:
        """What may be seen and touched."""
        if self._snapshot is None:
            self._snapshot = Snapshot(
                floors=self._registry.floors,
                areas=self._registry.areas,
                entities=tuple(self._entities.values()),
                version=self._version,
            )
        return self._snapshot

    def place(self) -> Place:
        """Where the house stands, as far as that is known."""
        return self._registry.place

    def entity(self, entity_id: str) -> Entity | None:
        return self._entities.get(entity_id)

    def area_of_device(self, device_id: str) -> str:
        """The id of its area; empty where it has none, or is not known."""
        return self._registry.device_areas.get(device_id, "")

    def visible(self, registry: Registry) -> list[str]:
        """The ids that are seen with this registry."""
        return [known for known in self._states if self._is_exposed(known, registry)]

    def load(self, registry: Registry) -> None:
        """Other names, areas and exposures; states stay."""
        self._registry = registry
        made = (self._made(entity_id) for entity_id in self._states)
        self._entities = {entity.id: entity for entity in made if entity is not None}
        self._version += 1
        self._snapshot = None

    def begin(self) -> None:
        """Forget all states: a new connection tells them all."""
        self._states.clear()

    def apply(self, event: Mapping[str, Any]) -> None:
        """One event of ``subscribe_entities``: added, changed and removed."""
        for entity_id, state in (event.get("a") or {}).items():
            if len(self._states) < MAXIMUM_ENTITIES or entity_id in self._states:
                self._states[entity_id] = (_state(state.get("s")), dict(state.get("a") or {}))
                self._update(entity_id)
        for entity_id, change in (event.get("c") or {}).items():
            if entity_id in self._states:
                self._change(entity_id, change)
        for entity_id in event.get("r") or ():
            self._states.pop(entity_id, None)
            self._update(entity_id)

    def _change(self, entity_id: str, change: Mapping[str, Any]) -> None:
        state, attributes = self._states[entity_id]
        come, gone = change.get("+") or {}, change.get("-") or {}
        attributes = {
            name: value
            for name, value in (attributes | (come.get("a") or {})).items()
            if name not in (gone.get("a") or ())
        }
        self._states[entity_id] = (_state(come.get("s", state)), attributes)
        self._update(entity_id)

    def _update(self, entity_id: str) -> None:
        before, after = self._entities.get(entity_id), self._made(entity_id)
        if after is None:
            self._entities.pop(entity_id, None)
        else:
            self._entities[entity_id] = after
        if _identity(before) != _identity(after):
            self._version += 1
        if before is not None or after is not None:
            self._snapshot = None

    def _made(self, entity_id: str) -> Entity | None:
        if entity_id not in self._states or not self._is_exposed(entity_id, self._registry):
            return None
        state, attributes = self._states[entity_id]
        known = self._registry.entities.get(entity_id, Registered(ei=entity_id))
        fallback = entity_id.partition(".")[2].replace("_", " ")
        name = attributes.get("friendly_name") or known.en or fallback
        if entity_id.startswith("climate.") and self._registry.temperature_unit:
            attributes = {"temperature_unit": self._registry.temperature_unit, **attributes}
        return Entity(
            id=entity_id,
            name=clean(str(name)),
            aliases=self._registry.aliases.get(entity_id, ()),
            area=known.ai or self._registry.device_areas.get(known.di or ""),
            state=state,
            attributes=attributes,
        )

    def _is_exposed(self, entity_id: str, registry: Registry) -> bool:
        if self._everything:
            return True
        decided = registry.exposed.get(entity_id)
        if decided is not None:
            return decided
        known = registry.entities.get(entity_id)
        if known is None and not registry.tells_hidden:
            return False
        if not registry.expose_new or (known and (known.hb or known.ec is not None)):
            return False
        kind = str(self._states[entity_id][1].get("device_class"))
        domain = entity_id.partition(".")[0]
        return (
            domain in DOMAINS
            or (domain == "sensor" and kind in SENSORS)
            or (domain == "binary_sensor" and kind in BINARY_SENSORS)
        )


def read_floors(rows: Iterable[Mapping[str, Any]]) -> tuple[Floor, ...]:
    """Of ``config/floor_registry/list``."""
    return tuple(
        Floor(id=str(row["floor_id"]), name=clean(str(row["name"])), aliases=read_aliases(row))
        for row in rows
    )


def read_areas(rows: Iterable[Mapping[str, Any]]) -> tuple[Area, ...]:
    """Of ``config/area_registry/list``."""
    return tuple(
        Area(
            id=str(row["area_id"]),
            name=clean(str(row["name"])),
            aliases=read_aliases(row),
            floor=row.get("floor_id"),
        )
        for row in rows
    )


def read_entities(result: Mapping[str, Any]) -> dict[str, Registered]:
    """Of ``config/entity_registry/list_for_display``."""
    rows = msgspec.convert(result.get("entities") or [], list[Registered])
    return {row.ei: row for row in rows[:MAXIMUM_ENTITIES]}


def read_exposed(result: Mapping[str, Any]) -> dict[str, bool]:
    """Of ``homeassistant/expose_entity/list``: what is decided about Assist."""
    rows: Mapping[str, Mapping[str, Any]] = result.get("exposed_entities") or {}
    return {entity: bool(row[ASSISTANT]) for entity, row in rows.items() if ASSISTANT in row}


def read_decision(row: Mapping[str, Any]) -> bool | None:
    """What an entry of ``config/entity_registry/get_entries`` says about Assist, if anything."""
    decided = ((row.get("options") or {}).get(ASSISTANT) or {}).get("should_expose")
    return None if decided is None else bool(decided)


def tells_hidden(result: Mapping[str, Any], registered: Mapping[str, Registered]) -> bool:
    """Whether ``homeassistant/expose_entity/list`` names every registered entity, as it once did,
    and not only those that are exposed to something."""
    rows = result.get("exposed_entities") or {}
    return all(known in rows for known in registered)


def read_temperature_unit(config: Mapping[str, Any]) -> str:
    """Of ``get_config``; empty where it is not told."""
    return str((config.get("unit_system") or {}).get("temperature") or "")


def read_place(config: Mapping[str, Any]) -> Place:
    """Of ``get_config``: what it tells of it, and is on earth."""
    latitude, longitude = config.get("latitude"), config.get("longitude")
    location = None
    if isinstance(latitude, int | float) and isinstance(longitude, int | float):
        on_earth = abs(latitude) <= 90 and abs(longitude) <= 180
        location = Location(float(latitude), float(longitude)) if on_earth else None
    return Place(location=location, time_zone=_known_zone(str(config.get("time_zone") or "")))


def _known_zone(name: str) -> str:
    """The name of a time zone, where this machine knows it; else empty."""
    try:
        ZoneInfo(name)
    except (ValueError, OSError, KeyError):
        return ""
    return name


def read_aliases(row: Mapping[str, Any]) -> tuple[str, ...]:
    """The aliases of a registry's entry; newer versions list ``null`` for the name itself."""
    aliases = row.get("aliases") or ()
    return tuple(clean(alias) for alias in aliases if isinstance(alias, str) and alias.strip())


def clean(text: str) -> str:
    """A name from outside: one line, not too long."""
    return " ".join(text.split())[:MAXIMUM_NAME]


def _state(value: Any) -> str:
    return str(value)[:MAXIMUM_STATE]


def _identity(entity: Entity | None) -> tuple[object, ...] | None:
    return None if entity is None else (entity.id, entity.name, entity.aliases, entity.area)
