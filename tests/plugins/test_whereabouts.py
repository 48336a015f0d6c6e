"""Where people are, as it is asked for."""

import pytest

from plugins.api import Entity
from plugins.whereabouts import is_at, is_place

ANN = Entity(id="person.ann", name="Ann", state="home")
BOB = Entity(id="person.bob", name="Bob", state="not_home")
CARLA = Entity(id="person.carla", name="Carla", state="Work")


@pytest.mark.parametrize(
    ("person", "place", "told"),
    [
        (ANN, "home", True),
        (ANN, "in", True),
        (ANN, "schon zu Hause", True),
        (ANN, "家里", True),
        (ANN, "out", False),
        (BOB, "home", False),
        (BOB, "unterwegs", True),
        (BOB, "the gym", None),
        (CARLA, "work", True),
        (CARLA, "home", False),
        (CARLA, "away", True),
        (ANN, "allergic to nuts", None),
        (Entity(id="person.d", name="D", state="unavailable"), "home", None),
    ],
)
def test_what_follows_from_a_state(person, place, told):
    assert is_at(person, place) is told


@pytest.mark.parametrize(
    ("said", "before", "place"),
    [
        ("home", "is ann ", True),
        ("work", "is ann at ", True),
        ("schule", "ist anna in der ", True),
        ("work", "is carla ", True),
        ("allergic to nuts", "is ann ", False),
        ("vegetarisch", "ist anna ", False),
        ("医生", "谁是", False),
        ("公司", "小明在", True),
    ],
)
def test_what_may_be_a_place(said, before, place):
    assert is_place(said, before, {"Work"}) is place
