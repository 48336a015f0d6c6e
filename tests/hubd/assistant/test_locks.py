"""The lock of a door that is named as the door."""

import pytest

DOORS = """
areas:
  - {name: Hall}
  - {name: Kitchen}
entities:
  - {id: binary_sensor.front, name: Front Door, area: Hall, state: "off",
     attributes: {device_class: door}, aliases: [大门]}
  - {id: lock.front, name: Front Door Lock, area: Hall, state: locked, aliases: [大门锁]}
  - {id: binary_sensor.back, name: Back Door, area: Kitchen, state: "off",
     attributes: {device_class: door}, aliases: [后门]}
  - {id: lock.kitchen, name: Yale, area: Kitchen, state: unlocked, aliases: [智能锁]}
  - {id: binary_sensor.window, name: Kitchen Window, area: Kitchen, state: "off",
     attributes: {device_class: window}, aliases: [窗户]}
"""


@pytest.mark.parametrize(
    ("text", "language", "tool", "entities"),
    [
        ("unlock the front door", "en", "home.unlock", ["lock.front"]),
        ("大门解锁", "zh", "home.unlock", ["lock.front"]),
        ("麻烦把大门解锁,快递小哥在外面等", "zh", "home.unlock", ["lock.front"]),
        ("把后门锁上", "zh", "home.lock", ["lock.kitchen"]),
        ("帮我确认一下大门有没有锁好", "zh", "home.state", ["lock.front"]),
        ("把窗户锁上", "zh", None, []),
    ],
)
async def test_which_lock_is_meant(make_house, tmp_path, text, language, tool, entities):
    description = tmp_path / "home.yaml"
    description.write_text(DOORS, encoding="utf-8")
    house = await make_house(description)
    (part,) = await house.commands.decider.parts(text, language, "hall")
    assert (part.decision.tool, part.decision.entities) == (tool, entities)
