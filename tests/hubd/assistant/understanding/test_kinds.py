"""A cover without a device class is of the kind that it is called after."""

import pytest

from hubd.assistant.understanding.kinds import class_of, measures_a_thing
from hubd.home.model import Entity


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("Garage Door", "garage"),
        ("Garagentor", "garage"),
        ("车库门", "garage"),
        ("Hoftor", "gate"),
        ("Vorhang links", "curtain"),
        ("客厅纱帘", "curtain"),
        ("Rollladen Küche", "shutter"),
        ("Kitchen Blind", "blind"),
        ("Bedroom Window", "window"),
        ("Dachfenster", "window"),
        ("Projector Screen", None),
    ],
)
def test_by_name(name, kind):
    assert class_of(Entity(id="cover.one", name=name, state="open")) == kind


def test_what_home_assistant_says_counts():
    cover = Entity(
        id="cover.one", name="Garage Blind", state="open", attributes={"device_class": "blind"}
    )
    assert class_of(cover) == "blind"


def test_only_covers_are_called_after_their_kind():
    assert class_of(Entity(id="light.one", name="Garage Light", state="on")) is None


@pytest.mark.parametrize(
    ("name", "of_a_thing"),
    [
        ("Fridge Temperature", True),
        ("Kühlschrank Temperatur", True),
        ("Backofen", True),
        ("热水器水温", True),
        ("Temperatur Stube", False),
        ("Offene Küche Temperatur", False),
        ("Coventry Room", False),
        ("Liverpool Bedroom", False),
        ("水房温度", False),
        ("Kitchen Temperature", False),
    ],
)
def test_what_measures_a_thing_tells_of_no_room(name, of_a_thing):
    assert measures_a_thing(Entity(id="sensor.one", name=name, state="20")) is of_a_thing
