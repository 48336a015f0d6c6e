"""The name first, and then what of it: "Krümel, los", "Zisterne, wie voll"."""

import pytest

HOME = """
areas: [{name: Hall}]
entities:
  - {id: vacuum.crumb, name: Crumb, aliases: [Krümel, 小白], area: Hall, state: docked}
  - {id: sensor.cistern, name: Cistern, aliases: [Zisterne, 水箱], state: "62",
     attributes: {unit_of_measurement: "%"}}
  - {id: light.hall, name: Hall Light, aliases: [Flurlicht, 走廊灯], area: Hall, state: "off"}
"""


@pytest.mark.parametrize(
    ("text", "language", "tool"),
    [
        ("Crumb, go", "en", "vacuum.start"),
        ("Crumb, off you go", "en", "vacuum.start"),
        ("Crumb, go home", "en", "vacuum.return_home"),
        ("Krümel, los", "de", "vacuum.start"),
        ("Krümel, fahr los", "de", "vacuum.start"),
        ("小白，开工", "zh", "vacuum.start"),
        ("小白，走起", "zh", "vacuum.start"),
        ("Cistern, how full", "en", "home.state"),
        ("Zisterne, wie voll", "de", "home.state"),
        ("Los, mach das Flurlicht an", "de", "home.turn_on"),
        ("Flurlicht an, los", "de", "home.turn_on"),
    ],
)
async def test_it_is_done_or_told_of_what_is_called(make_house, text, language, tool):
    house = await make_house()
    await house.home.load(HOME)
    (part,) = await house.commands.decider.parts(text, language, "")
    assert part.decision.tool == tool
