"""Which entities are meant by a kind of thing in a place."""

import pytest

from hubd.assistant.understanding.targets import find
from hubd.home.file import read_description

HOME = """
areas: [{name: Kitchen}, {name: Bedroom}, {name: Study}]
entities:
  - {id: cover.kitchen, name: Kitchen Blind, area: Kitchen, state: open,
     attributes: {device_class: blind}}
  - {id: cover.bedroom, name: Long Drapes, area: Bedroom, state: open,
     attributes: {device_class: curtain}}
  - {id: cover.roller, name: Roller, area: Bedroom, state: open,
     attributes: {device_class: shutter}}
  - {id: cover.garage, name: Garage Door, area: Study, state: closed,
     attributes: {device_class: garage}}
"""


@pytest.mark.parametrize(
    ("area", "device_class", "meant"),
    [
        ("Kitchen", "curtain", ["cover.kitchen"]),
        ("Kitchen", "shutter", ["cover.kitchen"]),
        ("Kitchen", "garage", []),
        ("Bedroom", "curtain", ["cover.bedroom"]),
        ("Bedroom", "shutter", ["cover.roller"]),
        ("Bedroom", "blind", ["cover.roller"]),
        ("Study", "curtain", []),
    ],
)
def test_what_hangs_at_the_windows_of_a_room_goes_by_any_word_for_it(
    area: str, device_class: str, meant: list[str]
) -> None:
    slots = {"area": area, "device_class": device_class, "domain": "cover"}
    assert find(read_description(HOME), slots, {"cover"}).ids == meant
