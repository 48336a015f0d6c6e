"""Home Assistant's messages as the mirror reads them; a real one is in tests/e2e."""

import time
import tracemalloc

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hubd.home.mirror import (
    Mirror,
    Place,
    Registered,
    Registry,
    read_aliases,
    read_areas,
    read_decision,
    read_entities,
    read_exposed,
    read_floors,
    read_place,
    read_temperature_unit,
    tells_hidden,
)
from hubd.home.model import Entity, Location
from hubd.home.read_back import unmet

IDS = st.sampled_from(["light.a", "light.b", "cover.c", "lock.d"])
VALUES = st.one_of(st.integers(), st.text(max_size=5), st.none())
STATES = st.fixed_dictionaries(
    {"s": st.text(max_size=4), "a": st.dictionaries(st.sampled_from("xyz"), VALUES)}
)
CHANGES = st.fixed_dictionaries(
    {},
    optional={
        "+": st.fixed_dictionaries(
            {},
            optional={
                "s": st.text(max_size=4),
                "a": st.dictionaries(st.sampled_from("xyz"), VALUES),
            },
        ),
        "-": st.fixed_dictionaries({"a": st.lists(st.sampled_from("xyz"))}),
    },
)
EVENTS = st.lists(
    st.fixed_dictionaries(
        {},
        optional={
            "a": st.dictionaries(IDS, STATES),
            "c": st.dictionaries(IDS, CHANGES),
            "r": st.lists(IDS, unique=True),
        },
    ),
    max_size=8,
)


@given(EVENTS)
def test_the_mirror_is_what_a_plain_replay_of_the_events_is(events):
    mirror, plain = Mirror(everything=True), {}
    for event in events:
        mirror.apply(event)
        for known, state in event.get("a", {}).items():
            plain[known] = (state["s"], dict(state["a"]))
        for known, change in event.get("c", {}).items():
            if known in plain:
                state, attributes = plain[known]
                more = change.get("+", {})
                attributes = attributes | more.get("a", {})
                for name in change.get("-", {}).get("a", []):
                    attributes.pop(name, None)
                plain[known] = (more.get("s", state), attributes)
        for known in event.get("r", []):
            plain.pop(known, None)
        seen = {e.id: (e.state, e.attributes) for e in mirror.snapshot().entities}
        assert seen == plain


def test_the_version_grows_with_names_and_not_with_states():
    mirror = Mirror(everything=True)
    mirror.apply({"a": {"light.a": {"s": "on", "a": {"friendly_name": "A"}}}})
    version = mirror.snapshot().version
    mirror.apply({"c": {"light.a": {"+": {"s": "off"}}}})
    assert mirror.snapshot().version == version
    mirror.apply({"c": {"light.a": {"+": {"a": {"friendly_name": "B"}}}}})
    assert mirror.snapshot().version > version


@pytest.mark.parametrize(
    ("entity_id", "attributes", "registered", "seen"),
    [
        ("light.a", {}, {}, True),
        ("lock.a", {}, {}, False),
        ("alarm_control_panel.a", {}, {}, False),
        ("sensor.a", {"device_class": "temperature"}, {}, True),
        ("sensor.a", {"device_class": "battery"}, {}, False),
        ("binary_sensor.a", {"device_class": "door"}, {}, True),
        ("light.a", {}, {"hb": True}, False),
        ("switch.a", {}, {"ec": 1}, False),
    ],
)
def test_what_nobody_decided_about_is_seen_as_by_assist(entity_id, attributes, registered, seen):
    mirror = Mirror()
    mirror.load(Registry(entities={entity_id: Registered(ei=entity_id, **registered)}))
    mirror.apply({"a": {entity_id: {"s": "on", "a": attributes}}})
    assert (mirror.entity(entity_id) is not None) == seen


def test_what_somebody_decided_goes_before():
    mirror = Mirror()
    mirror.load(Registry(exposed={"light.a": False, "lock.b": True}, expose_new=True))
    mirror.apply({"a": {"light.a": {"s": "on"}, "lock.b": {"s": "locked"}}})
    assert [entity.id for entity in mirror.snapshot().entities] == ["lock.b"]


def test_areas_come_from_the_entity_or_its_device():
    mirror = Mirror(everything=True)
    mirror.load(
        Registry(
            entities={
                "light.a": Registered(ei="light.a", di="d"),
                "light.b": Registered(ei="light.b", di="d", ai="attic"),
            },
            device_areas={"d": "kitchen"},
            aliases={"light.a": ("Hob light",)},
        )
    )
    mirror.apply({"a": {"light.a": {"s": "on"}, "light.b": {"s": "on"}}})
    assert mirror.entity("light.a").area == "kitchen"
    assert mirror.entity("light.a").aliases == ("Hob light",)
    assert mirror.entity("light.b").area == "attic"
    assert mirror.entity("light.b").name == "b"


def test_registries_are_read_as_all_versions_write_them():
    area = {"area_id": "k", "name": " Big\nkitchen ", "aliases": ["Galley", None, ""]}
    (read,) = read_areas([area])
    assert (read.name, read.aliases, read.floor) == ("Big kitchen", ("Galley",), None)
    assert read_floors([{"floor_id": "g", "name": "Ground"}])[0].id == "g"
    display = {"entities": [{"ei": "light.a", "en": "A", "ec": 1, "tk": "x"}]}
    assert read_entities(display)["light.a"].ec == 1
    rows = {"light.a": {"conversation": False}, "light.b": {"cloud.alexa": True}}
    assert read_exposed({"exposed_entities": rows}) == {"light.a": False}
    assert read_aliases({"aliases": None}) == ()
    assert read_decision({"options": {"conversation": {"should_expose": False}}}) is False
    assert read_decision({"options": {"conversation": {}}}) is None
    assert read_decision({"options": None}) is None
    registered = {"light.a": Registered(ei="light.a")}
    assert tells_hidden({"exposed_entities": {"light.a": {}}}, registered)
    assert not tells_hidden({"exposed_entities": {"light.b": {"conversation": True}}}, registered)


def test_what_is_listed_nowhere_is_hidden_where_only_the_exposed_are_listed():
    """Home Assistant 2025 does not name what somebody has hidden."""
    mirror = Mirror()
    mirror.apply({"a": {name: {"s": "on"} for name in ("light.a", "light.b", "light.c")}})
    registry = Registry(
        entities={"light.a": Registered(ei="light.a")},
        exposed={"light.b": True},
        tells_hidden=False,
    )
    mirror.load(registry)
    assert {entity.id for entity in mirror.snapshot().entities} == {"light.a", "light.b"}
    mirror.load(msgspec.structs.replace(registry, exposed={"light.a": False, "light.b": True}))
    assert {entity.id for entity in mirror.snapshot().entities} == {"light.b"}
    mirror.load(msgspec.structs.replace(registry, tells_hidden=True))
    assert {entity.id for entity in mirror.snapshot().entities} == {"light.a", "light.b", "light.c"}


def test_two_thousand_entities_are_light():
    states = {
        f"light.lamp_{n}": {"s": "on", "a": {"friendly_name": f"Lamp {n}", "brightness": n % 255}}
        for n in range(2000)
    }
    message = msgspec.json.encode({"a": states})
    tracemalloc.start()
    mirror = Mirror()
    began = time.perf_counter()
    mirror.apply(msgspec.json.decode(message))
    mirror.load(Registry(entities={known: Registered(ei=known) for known in states}))
    for n in range(200):
        mirror.apply({"c": {f"light.lamp_{n}": {"+": {"s": "off"}}}})
        mirror.snapshot()
    took = time.perf_counter() - began
    size, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(mirror.snapshot().entities) == 2000
    assert size < 10_000_000
    assert took < 3


@pytest.mark.parametrize(
    ("service", "state", "data", "words"),
    [
        ("light.turn_on", "on", {}, ""),
        ("light.turn_on", "off", {}, "still off"),
        ("light.turn_on", "unavailable", {}, "unavailable"),
        ("light.turn_off", "on", {}, "still on"),
        ("cover.open_cover", "opening", {}, ""),
        ("cover.close_cover", "open", {}, "still open"),
        ("lock.lock", "jammed", {}, "still jammed"),
        ("climate.set_temperature", "heat", {"temperature": 21}, ""),
        ("climate.set_temperature", "heat", {"temperature": 25}, "its temperature is 21"),
        ("select.select_option", "eco", {"option": "eco"}, ""),
        ("select.select_option", "eco", {"option": "boost"}, "its option is eco"),
        ("cover.set_cover_position", "opening", {"position": 60}, ""),
    ],
)
def test_whether_an_entity_did_what_was_asked(service, state, data, words):
    entity = Entity(
        id=f"{service.partition('.')[0]}.x",
        name="X",
        state=state,
        attributes={"temperature": 21.0, "current_position": 0},
    )
    reason = unmet(service, entity, data)
    assert words in reason
    assert bool(words) == bool(reason)


def test_a_scene_is_not_read_back_as_a_switch():
    scene = Entity(id="scene.x", name="X", state="2026-01-01T00:00:00")
    assert unmet("scene.turn_on", scene, {}) == ""


@pytest.mark.parametrize(
    ("config", "told"),
    [({"unit_system": {"temperature": "°F"}}, "°F"), ({"unit_system": {}}, None), ({}, None)],
)
def test_heaters_have_the_unit_of_the_home(config, told):
    mirror = Mirror(everything=True)
    mirror.load(Registry(temperature_unit=read_temperature_unit(config)))
    mirror.apply(
        {"a": {"climate.a": {"s": "heat", "a": {"temperature": 70}}, "light.b": {"s": "on"}}}
    )
    assert mirror.entity("climate.a").attributes.get("temperature_unit") == told
    assert "temperature_unit" not in mirror.entity("light.b").attributes


@pytest.mark.parametrize(
    ("config", "place"),
    [
        (
            {"latitude": 52.37, "longitude": 4.89, "time_zone": "Europe/Amsterdam"},
            Place(location=Location(52.37, 4.89), time_zone="Europe/Amsterdam"),
        ),
        ({"latitude": 0, "longitude": 190, "time_zone": "Mars/Olympus"}, Place()),
        ({"latitude": "north", "time_zone": "../etc/passwd"}, Place()),
        ({}, Place()),
    ],
)
def test_where_the_house_stands(config, place):
    assert read_place(config) == place
