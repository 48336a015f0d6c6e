"""The tools of the household: what they do, what they say from reading back, how they undo it."""

import pytest

from hubd.home.model import HomeError, ServiceResult
from hubd.tools import ArgumentsError, NotConfirmedError
from plugins.api import ToolError


async def test_switching_is_told_from_the_states(workshop):
    result = await workshop("home.turn_on", entities=["light.ceiling", "fan.fan"])
    assert result.text == "Ceiling and Fan are on."
    assert workshop.entity("light.ceiling").state == "on"
    await workshop.undo(result)
    assert workshop.entity("light.ceiling").state == "off"
    assert (await workshop("home.turn_off", entities=["light.counter"])).text == "Counter is off."


@pytest.mark.parametrize(
    ("language", "text"),
    [("zh", "Ceiling已打开。"), ("de", "Ceiling ist an."), ("fr", "Ceiling : allumé."),
     ("es", "Ceiling: encendido."), ("xx", "Ceiling is on.")],
)  # fmt: skip
async def test_it_is_told_in_the_language_that_was_spoken(workshop, language, text):
    assert (await workshop("home.turn_on", language, entities=["light.ceiling"])).text == text


async def test_what_was_on_already_has_nothing_to_undo(workshop):
    assert (await workshop("home.turn_on", entities=["light.counter"])).undo is None


async def test_brightness_is_set_and_brought_back(workshop):
    result = await workshop("lights.set", entities=["light.counter"], brightness=80)
    assert result.text == "Counter is at 80%."
    await workshop("lights.change", entities=["light.counter"], step="up")
    assert workshop.entity("light.counter").attributes["brightness"] == 255
    await workshop.undo(result)
    assert workshop.entity("light.counter").attributes["brightness"] == 51


@pytest.mark.parametrize(
    ("before", "by", "after"), [(80, None, 55), (30, None, 15), (5, None, 3), (30, 20, 10)]
)
async def test_darker_is_never_next_to_nothing_at_once(workshop, before, by, after):
    await workshop("lights.set", entities=["light.counter"], brightness=before)
    said = {} if by is None else {"by": by}
    darker = await workshop("lights.change", entities=["light.counter"], step="down", **said)
    assert darker.text == f"Counter is at {after}%."


async def test_covers_climate_fans_and_players(workshop):
    assert (await workshop("home.close", entities=["cover.blind"])).text == "Blind is closed."
    moved = await workshop("home.set_position", entities=["cover.blind"], position=30)
    assert moved.text == "Blind is at 30%."
    assert (await workshop("climate.change", entities=["climate.heater"], step="up")).text == (
        "Heater is set to 21 degrees."
    )
    assert (await workshop("climate.temperature", entities=["climate.heater"])).text == (
        "Heater: 19.5 degrees."
    )
    assert (await workshop("fans.set_speed", entities=["fan.fan"], percentage=50)).text == (
        "Fan is at 50%."
    )
    damper = await workshop("humidifiers.set", entities=["humidifier.damp"], humidity=55)
    assert damper.text == "Humidifier is set to 55% humidity."
    await workshop.undo(damper)
    assert workshop.entity("humidifier.damp").attributes["humidity"] == 45
    quieter = await workshop("media.change_volume", entities=["media_player.radio"], step="down")
    assert quieter.text == "The volume of Radio is at 30%."
    await workshop.undo(quieter)
    assert workshop.entity("media_player.radio").attributes["volume_level"] == 0.4
    assert (await workshop("media.pause", entities=["media_player.radio"])).text == (
        "Radio is paused."
    )


async def test_a_humidifier_that_is_off_is_turned_on_with_what_it_is_set_to(workshop):
    await workshop("home.turn_off", entities=["humidifier.damp"])
    damper = await workshop("humidifiers.set", entities=["humidifier.damp"], humidity=55)
    assert damper.text == "Humidifier is on. Humidifier is set to 55% humidity."
    assert workshop.entity("humidifier.damp").state == "on"
    await workshop(damper.undo.tool, **damper.undo.arguments)
    assert workshop.entity("humidifier.damp").state == "off"


async def test_robots_scenes_and_the_weather(workshop):
    assert (await workshop("vacuum.start", entities=["vacuum.robbie"])).text == (
        "Robbie is cleaning."
    )
    await workshop("vacuum.clean_area", entities=["vacuum.robbie"], area="Kitchen")
    with pytest.raises(ToolError, match="room"):
        await workshop("vacuum.clean_area", entities=["vacuum.robbie"], area="Attic")
    assert (await workshop("mower.start", entities=["lawn_mower.clippy"])).text == (
        "Clippy is mowing."
    )
    assert (await workshop("home.activate", entities=["scene.movie"])).undo is None
    assert (await workshop("weather.now")).text == "Home: rainy, 8 °C."


async def test_what_plays_is_told_with_title_and_artist(workshop):
    await workshop("media.search", entities=["media_player.radio"], query="Blue Train")
    told = (await workshop("home.state", entities=["media_player.radio"])).text
    assert told.endswith("Radio: playing: Blue Train.")


async def test_states_are_told(workshop):
    locked = await workshop("home.state", entities=["lock.front"], state="locked")
    assert locked.text == "Yes, the Front Door is locked."
    off = await workshop("home.state", entities=["light.ceiling"], state="on")
    assert off.text == "No, Ceiling is off."


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("home.unlock", {"entities": ["lock.front"]}),
        ("home.open", {"entities": ["cover.garage"]}),
        ("home.set_position", {"entities": ["cover.garage"], "position": 10}),
        ("climate.set", {"entities": ["climate.heater"], "temperature": 28}),
        ("home.restore", {"states": [{"id": "lock.front", "state": "unlocked"}]}),
        ("lists.clear", {}),
    ],
)
async def test_danger_needs_a_confirmation(workshop, tool, arguments):
    with pytest.raises(NotConfirmedError):
        await workshop(tool, **arguments)
    assert workshop.entity("lock.front").state == "locked"
    await workshop(tool, confirmed=True, **arguments)


@pytest.mark.parametrize("entities", [[], ["light.none"], ["lock.front"], "light.ceiling"])
async def test_wrong_entities_are_refused(workshop, entities):
    with pytest.raises((ArgumentsError, ToolError)):
        await workshop("lights.set", entities=entities, brightness=10)


async def test_what_did_not_come_about_is_never_told_as_done(workshop, monkeypatch):
    before = workshop.home.snapshot()

    async def deaf(service, entities, data=None):
        same = tuple(e for e in before.entities if e.id in entities)
        return ServiceResult(before=same, after=same)

    monkeypatch.setattr(workshop.home, "call", deaf)
    with pytest.raises(ToolError, match=r"^Ceiling did not do it: still off\.$"):
        await workshop("home.turn_on", entities=["light.ceiling"])

    async def broken(service, entities, data=None):
        raise HomeError("Home Assistant does not answer.")

    monkeypatch.setattr(workshop.home, "call", broken)
    with pytest.raises(ToolError, match="does not answer"):
        await workshop("home.turn_on", entities=["light.ceiling"])
