"""A household described in a file: read, refused where it is wrong, changed by services, kept."""

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hubd.home.file import DescriptionError, FileHome, read_description
from hubd.home.model import HomeError
from hubd.store.plugin_storage import PluginStorage

HOME = """
floors: [{name: Ground Floor}]
areas: [{name: Kitchen, floor: Ground Floor, aliases: [Galley]}, Garden]
entities:
  - {id: light.lamp, names: [Lamp, Big Lamp], area: Kitchen, state: off}
  - {domain: cover, name: "Küchen-Rollo", area: galley kitchen, state: {in: zu, out: closed}}
  - {id: lock.door, name: "Trader Joe[']s", state: locked}
  - {id: light.hidden, name: Hidden, is_exposed: false}
"""


@pytest.fixture
async def storage(database):
    return PluginStorage(database, "home description")


def test_a_description_is_read():
    home = read_description(HOME)
    assert [area.name for area in home.areas] == ["Kitchen", "Garden", "galley kitchen"]
    lamp, blind, door = home.entities
    assert (lamp.id, lamp.name, lamp.aliases, lamp.area) == (
        "light.lamp", "Lamp", ("Big Lamp",), "kitchen",
    )  # fmt: skip
    assert (lamp.state, blind.state) == ("off", "closed")
    assert blind.id == "cover.kuchen_rollo"
    assert (door.name, door.aliases) == ("Trader Joe's", ("Trader Joes",))
    assert home.areas[0].floor == home.floors[0].id


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("[", "YAML"),
        ("- a", "entities"),
        ("entities: 7", "entities"),
        ("entities: [7]", r"entities\[0\]"),
        ("entities: [{name: x}]", "id"),
        ("entities: [{id: light.x, name: ''}, {id: light.x}]", "twice"),
        ("areas: 7\nentities: []", "areas"),
        ("entities: []\nareas: [{floor: x}]", r"areas\[0\]"),
        ("entities: [{id: light.x, name: " + "y" * 200 + "}]", "name"),
        ("x: " + "y" * 2**20 + "\nentities: []", "1 MB"),
    ],
)
def test_a_wrong_description_is_refused_with_its_place(text, word):
    with pytest.raises(DescriptionError, match=word):
        read_description(text)


@given(st.text(max_size=80))
def test_any_text_is_read_or_refused(text):
    with contextlib.suppress(DescriptionError):
        assert read_description(text).version == 1


async def test_services_change_states_that_are_kept(storage):
    home = await FileHome.open(storage)
    await home.load(HOME)
    result = await home.call("light.turn_on", ["light.lamp"], {"brightness_pct": 40})
    assert (result.before[0].state, result.after[0].state) == ("off", "on")
    again = await FileHome.open(storage)
    lamp = again.snapshot().entity("light.lamp")
    assert (lamp.state, lamp.attributes["brightness"]) == ("on", 102)
    assert again.snapshot().version == home.snapshot().version


@pytest.mark.parametrize(
    ("service", "entity"),
    [
        ("light.turn_on", "light.none"),
        ("light.dance", "light.lamp"),
        ("lock.unlock", "light.lamp"),
        ("cover.set_cover_position", "cover.kuchen_rollo"),
    ],
)
async def test_what_a_service_cannot_do_is_refused_and_changes_nothing(storage, service, entity):
    home = await FileHome.open(storage)
    await home.load(HOME)
    before = home.snapshot()
    with pytest.raises(HomeError):
        await home.call(service, [entity])
    assert home.snapshot() == before


async def test_a_new_description_is_a_new_version(storage):
    home = await FileHome.open(storage)
    assert home.snapshot().entities == ()
    first = await home.load(HOME)
    second = await home.load("entities: [{id: light.x, name: X}]")
    assert second.version > first.version
    assert len(home.snapshot().entities) == 1
