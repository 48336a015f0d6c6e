"""How things are, in words: what was measured as it was measured, and no "no" that nobody knows."""

import pytest

HOME = """
areas: [Hall]
entities:
  - {id: sensor.meter, name: Meter, state: "12345678",
     attributes: {unit_of_measurement: kWh, device_class: energy}}
  - {id: sensor.price, name: Price, state: "0.2845", attributes: {unit_of_measurement: EUR/kWh}}
  - {id: sensor.heat, name: Heat, state: "21.6666666667", attributes: {unit_of_measurement: °C}}
  - {id: sensor.rain, name: Rain, state: unavailable, attributes: {unit_of_measurement: mm}}
  - {id: sensor.washer, name: Washer, state: "2026-03-27T13:32:00+00:00",
     attributes: {device_class: timestamp}}
  - {id: sensor.dryer, name: Dryer, state: unknown, attributes: {device_class: timestamp}}
  - {id: lock.front, name: Front Door, state: locked}
  - {id: lock.side, name: Side Door, state: locked}
  - {id: lock.back, name: Back Door, state: unavailable}
  - {id: lock.cellar, name: Cellar, state: unavailable}
  - {id: media_player.tv, name: TV, state: playing,
     attributes: {media_title: Nocturne, media_artist: Chopin}}
  - {id: media_player.radio, name: Radio, state: "off"}
  - {id: person.ann, name: Ann, state: unknown}
  - {id: light.desk, name: Desk Lamp, state: "on"}
  - {id: light.a, name: A, state: "off"}
  - {id: light.b, name: B, state: "off"}
  - {id: light.c, name: C, state: "off"}
  - {id: light.d, name: D, state: "off"}
"""
LAMPS = ["light.desk", "light.a", "light.b", "light.c", "light.d"]
LOCKS = ["lock.front", "lock.side", "lock.back"]


@pytest.fixture
async def tell(workshop):
    await workshop.home.load(HOME)

    async def told(*entities, language="en", **arguments):
        return (await workshop("home.state", language, entities=list(entities), **arguments)).text

    return told


@pytest.mark.parametrize(
    ("language", "entity", "text"),
    [
        ("en", "sensor.meter", "Meter: 12345678 kWh."),
        ("en", "sensor.price", "Price: 0.2845 EUR/kWh."),
        ("de", "sensor.price", "Price: 0,2845 EUR/kWh."),
        ("fr", "sensor.heat", "Heat : 21,67 °C."),
        ("en", "sensor.rain", "Rain: unavailable."),
        ("de", "sensor.rain", "Rain: nicht erreichbar."),
        ("en", "sensor.washer", "Washer: today 14:32."),
        ("zh", "sensor.washer", "Washer：今天 14:32。"),
        ("en", "sensor.dryer", "Dryer: unknown."),
    ],
)
async def test_how_a_thing_is(tell, language, entity, text):
    assert await tell(entity, language=language) == text


async def test_of_what_does_not_tell_there_is_neither_yes_nor_no(tell):
    assert await tell("lock.back", state="locked") == "Back Door: unavailable."
    assert await tell("lock.back", state="unavailable") == "Yes: Back Door."
    both = await tell("lock.back", "lock.cellar", state="unlocked")
    assert both == "Back Door: unavailable. Cellar: unavailable."
    assert await tell("person.ann", "lock.back", state="home") == (
        "Ann: unknown. Back Door: unavailable."
    )


async def test_that_none_is_so_leaves_out_what_does_not_tell(tell):
    assert await tell(*LOCKS, state="unlocked") == "No, none. Unavailable: Back Door."
    assert await tell(*LOCKS[:2], state="unlocked") == "No, none."


async def test_that_some_are_so_tells_of_those_that_do_not_tell(tell):
    assert await tell(*LOCKS, state="locked") == (
        "2 of 3 locked: Front Door and Side Door. Unavailable: Back Door."
    )


async def test_how_many_play_does_not_hold_what_they_play(tell):
    players = ["media_player.tv", "media_player.radio"]
    assert await tell(*players, state="playing") == "1 of 2 playing: TV. Off: Radio."
    assert await tell(*players, state="off") == "1 of 2 off: Radio. Playing: TV."
    assert await tell("media_player.tv") == "TV: playing: Nocturne, Chopin."


@pytest.mark.parametrize("state", ["on", "off"])
@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "The Desk Lamp is on, the other 4 are off."),
        ("de", "Desk Lamp ist an, die anderen 4 sind aus."),
        ("zh", "Desk Lamp开着，其余4个关着。"),
        ("fr", "Desk Lamp est allumé, les 4 autres sont éteints."),
        ("es", "Desk Lamp está encendido, los otros 4 están apagados."),
    ],
)
async def test_the_few_are_named_and_the_others_counted(tell, language, text, state):
    assert await tell(*LAMPS, language=language, state=state) == text
