"""A value that is so many times what it is now."""

import pytest

HOME = """
areas: [{name: Office}, {name: Hall}]
entities:
  - {id: light.desk, name: Desk Lamp, aliases: [Schreibtischlampe, 台灯], area: Office, state: "on",
     attributes: {brightness: 102}}
  - {id: light.shelf, name: Shelf Lamp, area: Office, state: "off"}
  - {id: light.plain, name: Plain Lamp, aliases: [Flurlampe, 走廊灯], area: Hall, state: "on"}
  - {id: media_player.radio, name: Radio, aliases: [收音机], area: Office, state: playing,
     attributes: {volume_level: 0.3}}
"""


@pytest.fixture
async def parts(make_house):
    house = await make_house()
    await house.home.load(HOME)
    return house.commands.decider.parts


@pytest.mark.parametrize(
    ("text", "language", "tool", "entity", "arguments"),
    [
        ("make the desk lamp half as bright", "en", "lights.set", "light.desk", {"brightness": 20}),
        ("dim the desk lamp by half", "en", "lights.set", "light.desk", {"brightness": 20}),
        ("cut the brightness of the desk lamp in half", "en", "lights.set", "light.desk",
         {"brightness": 20}),
        ("the lights in the office half as bright", "en", "lights.set", "light.desk",
         {"brightness": 20}),
        ("make the desk lamp twice as bright", "en", "lights.set", "light.desk",
         {"brightness": 80}),
        ("make the radio half as loud", "en", "media.set_volume", "media_player.radio",
         {"volume": 15}),
        ("set the desk lamp to half", "en", "lights.set", "light.desk", {"brightness": 50}),
        ("Mach die Schreibtischlampe halb so hell", "de", "lights.set", "light.desk",
         {"brightness": 20}),
        ("Halbiere die Helligkeit der Schreibtischlampe", "de", "lights.set", "light.desk",
         {"brightness": 20}),
        ("Das Radio doppelt so laut bitte", "de", "media.set_volume", "media_player.radio",
         {"volume": 60}),
        ("台灯亮度减半", "zh", "lights.set", "light.desk", {"brightness": 20}),
        ("把台灯调暗一半", "zh", "lights.set", "light.desk", {"brightness": 20}),
        ("收音机音量减半", "zh", "media.set_volume", "media_player.radio", {"volume": 15}),
    ],
)  # fmt: skip
async def test_half_as_much_is_half_of_what_it_is(parts, text, language, tool, entity, arguments):
    (part,) = await parts(text, language, "")
    call = part.decision.call
    assert call is not None
    assert (call.tool, call.arguments) == (tool, {**arguments, "entities": [entity]})


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("make the plain lamp half as bright", "en"),  # nobody knows how bright it is
        ("make the shelf lamp half as bright", "en"),  # it is off
        ("Mach die Flurlampe halb so hell", "de"),
        ("走廊灯亮度减半", "zh"),
    ],
)
async def test_of_what_is_not_known_there_is_no_half(parts, text, language):
    (part,) = await parts(text, language, "")
    assert part.decision.call is None


async def test_what_was_spoken_of_may_be_halved(make_house):
    house = await make_house()
    await house.home.load(HOME)
    await house.say("set the desk lamp to 40 percent", area="Office")
    await house.say("make it half as bright", area="Office")
    assert house.called == ["lights.set"]
    brightness = house.home.snapshot().entity("light.desk").attributes["brightness"]
    assert round(brightness / 2.55) == 20
