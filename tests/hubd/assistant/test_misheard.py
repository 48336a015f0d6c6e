"""What is heard wrongly is done as it was meant, and nothing is done that nobody meant."""

import pytest


@pytest.fixture
async def decided(make_house):
    async def decide(home, area, text):
        house = await make_house(home)
        place = next(a.id for a in house.home.snapshot().areas if a.name == area)
        return await house.commands.decider.parts(text, home.split(".")[-2], place)

    return decide


@pytest.mark.parametrize(
    ("home", "area", "text", "tool", "entities"),
    [
        ("home27.en.yaml", "Family Room", "turn off the vanity lights in the up stares bathroom",
         "home.turn_off", ["light.vanity"]),
        ("home27.en.yaml", "Family Room", "counsel my alarm for two morrow", "alarms.cancel", []),
        ("home27.en.yaml", "Family Room", "how worm is it in the mane bedroom",
         "climate.temperature", ["climate.main_bedroom"]),
        ("home26.en.yaml", "Front Room", "dim the dining room light two fort he percent",
         "lights.set", ["light.dining_pendant"]),
        ("home26.en.yaml", "Front Room", "give me for more minutes on that time her",
         "timers.add", []),
        ("home26.de.yaml", "Wohnzimmer",
         "stelle die heizung im wohnzimmer auf ein und zwanzig krad",
         "climate.set", ["climate.wohnzimmer"]),
        ("home26.de.yaml", "Wohnzimmer", "lösche den eimer für die kartoffeln",
         "timers.cancel", []),
        ("home26.zh.yaml", "客厅", "露台的折阳篷还开着妈", "home.state", ["cover.terrace_awning"]),
        ("home26.zh.yaml", "客厅", "明天早上七店叫我起创", "alarms.set", []),
    ],
)  # fmt: skip
async def test_misheard_commands_are_carried_out(decided, home, area, text, tool, entities):
    (part,) = await decided(home, area, text)
    assert part.decision.tool == tool
    assert sorted(part.decision.entities) == entities


@pytest.mark.parametrize(
    ("home", "area", "text"),
    [
        ("home27.en.yaml", "Family Room", "biscuit get of the so far your paws are filthy"),
        ("home27.en.yaml", "Family Room", "the male man left us some body elses package again"),
        ("home26.en.yaml", "Front Room", "i cant believe shea ate the hole cake"),
        ("home26.en.yaml", "Front Room", "is the fence tall enough"),
        ("home26.en.yaml", "Front Room", "off on off"),
        ("home26.en.yaml", "Front Room", "turn on the sauna"),
        ("home26.de.yaml", "Wohnzimmer", "Sauna an"),
        ("home26.de.yaml", "Wohnzimmer", "ich hab vom schwimmen so einen muskel karter"),
        ("home26.zh.yaml", "客厅", "妈你的降压要放在抽替里了"),
    ],
)
async def test_what_asks_for_nothing_does_nothing(decided, home, area, text):
    parts = await decided(home, area, text)
    assert [part.decision.tool for part in parts] == [None]


async def test_a_correction_is_never_heard_as_something_else(decided):
    """ "Nein" sounds like nine."""
    parts = await decided(
        "home25.de.yaml", "Wohnzimmer", "Ähm, mach mal, äh, die Stehlampe, nein, die LED-Leiste an."
    )
    assert [(p.decision.tool, p.decision.entities) for p in parts] == [
        ("home.turn_on", ["light.living_strip"])
    ]


async def test_a_title_is_what_was_heard(decided):
    (part,) = await decided("home26.en.yaml", "Front Room", "play sum fleet would mac")
    assert "fleet" in part.decision.call.arguments["query"]
