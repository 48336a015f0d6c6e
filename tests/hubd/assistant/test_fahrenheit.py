"""A home whose thermostat counts in Fahrenheit: a usual temperature is set, and nobody is asked."""

import pytest

HOME = """
areas:
  - {name: Living Room}
  - {name: Office}
entities:
  - {id: climate.hall, name: Thermostat, area: Living Room, state: heat,
     attributes: {temperature: 68, current_temperature: 66}}
  - {id: climate.office, name: Office Thermostat, area: Office, state: heat,
     attributes: {temperature: 64, current_temperature: 62}}
"""


@pytest.mark.parametrize(
    ("text", "entity", "temperature", "asks"),
    [
        ("set the thermostat to 70", "climate.hall", 70, None),
        ("thermostat seventy one", "climate.hall", 71, None),
        ("thermostat 71", "climate.hall", 71, None),
        ("put the thermostat at seventy-two", "climate.hall", 72, None),
        ("office 66 degrees", "climate.office", 66, None),
        ("set the office thermostat to sixty four", "climate.office", 64, None),
        ("set the thermostat to 85", "climate.hall", 85, "confirm"),
    ],
)
async def test_degrees_are_those_of_the_thermostat(
    make_house, tmp_path, text, entity, temperature, asks
):
    description = tmp_path / "home.yaml"
    description.write_text(HOME)
    house = await make_house(description)
    (part,) = await house.commands.decider.parts(text, "en", "living_room")
    decision = part.decision
    assert (decision.tool, decision.entities) == ("climate.set", [entity])
    assert decision.arguments["temperature"] == temperature
    assert decision.asks == asks
