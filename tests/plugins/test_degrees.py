"""Celsius or Fahrenheit: what the heaters' numbers mean, and what asks first for it."""

import pytest

from plugins.api import Entity, Snapshot
from plugins.climate import heating_risk
from plugins.degrees import unit_of


def heaters(*attributes):
    return [Entity(id=f"climate.{i}", name=str(i), attributes=a) for i, a in enumerate(attributes)]


@pytest.mark.parametrize(
    ("attributes", "unit"),
    [
        ([{"current_temperature": 68, "temperature": 70}], "°F"),
        ([{"current_temperature": 19.5, "temperature": 21}], "°C"),
        ([{"current_temperature": None, "temperature": 66}], "°F"),
        ([{"temperature_unit": "°F", "current_temperature": 40}], "°F"),
        ([{"temperature_unit": "°C", "current_temperature": 80}], "°C"),  # a sauna
        ([{"current_temperature": 80}, {"temperature": 20}, {"temperature": 18}], "°C"),
        ([{"current_temperature": 68}, {"current_temperature": 1}], "°F"),
        ([{}], "°C"),
        ([], "°C"),
    ],
)
def test_the_unit_is_told_or_what_makes_sense(attributes, unit):
    assert unit_of(heaters(*attributes)) == unit


@pytest.mark.parametrize(
    ("state", "modes", "risk"),
    [
        ("cool", ["off", "cool", "heat"], "act"),
        ("fan_only", None, "act"),
        ("off", ["off", "cool", "dry"], "act"),
        ("off", ["off", "cool", "heat"], "dangerous"),
        ("off", None, "dangerous"),
        ("heat_cool", ["off", "heat_cool"], "dangerous"),
        ("heat", ["off", "heat"], "dangerous"),
    ],
)
def test_what_only_cools_is_not_heated(state, modes, risk):
    attributes = {"current_temperature": 27} | ({"hvac_modes": modes} if modes else {})
    thing = Entity(id="climate.ac", name="AC", state=state, attributes=attributes)
    home = Snapshot(entities=(thing,))
    assert heating_risk(home, {"entities": ["climate.ac"], "temperature": 29}) == risk


@pytest.mark.parametrize(
    ("attributes", "temperature", "risk"),
    [
        ({"current_temperature": 68}, 72, "act"),
        ({"current_temperature": 68}, 80, "dangerous"),
        ({"current_temperature": 19}, 22, "act"),
        ({"current_temperature": 19}, 28, "dangerous"),
        ({"current_temperature": 19}, 72, "dangerous"),
    ],
)
def test_only_what_is_very_warm_asks_first(attributes, temperature, risk):
    home = Snapshot(entities=tuple(heaters(attributes)))
    arguments = {"entities": ["climate.0"], "temperature": temperature}
    assert heating_risk(home, arguments) == risk
