"""Alarms that there are: what leaves them as they are, and what says more than one thing."""

import pytest


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("don't cancel the alarm", "en"),
        ("put the alarm on", "en"),
        ("put the alarm on for tomorrow", "en"),
        ("no alarm sounded today", "en"),
        ("the alarm went off at seven", "en"),
        ("Lösch den Wecker nicht", "de"),
        ("nicht den Wecker ausmachen", "de"),
        ("Kein Wecker hat heute geklingelt", "de"),
        ("不要取消闹钟", "zh"),
        ("别关闹钟", "zh"),
        ("今天闹钟没响", "zh"),
    ],
)
async def test_they_are_left_as_they_are(make_house, text, language):
    house = await make_house(f"home.{language}.yaml")
    (part,) = await house.commands.decider.parts(text, language, "")
    assert part.decision.tool in (None, "alarms.list")


@pytest.mark.parametrize(
    ("text", "language", "calls"),
    [
        (
            "set an alarm for 7 and a timer for 10 minutes",
            "en",
            [("alarms.set", {"when": "7"}), ("timers.start", {"minutes": 10})],
        ),
        (
            "wake me at seven and remind me at eight to call mum",
            "en",
            [
                ("alarms.set", {"when": "at seven"}),
                ("reminders.add", {"what": "at eight to call mum"}),
            ],
        ),
        (
            "Stell einen Wecker auf sieben und einen Timer auf zehn Minuten",
            "de",
            [("alarms.set", {"when": "sieben"}), ("timers.start", {"minutes": 10})],
        ),
        (
            "七点叫我起床，八点提醒我打电话",
            "zh",
            [
                ("alarms.set", {"when": "七点"}),
                ("reminders.add", {"when": "八点", "what": "打电话"}),
            ],
        ),
        (
            "turn on the counter light for ten minutes",
            "en",
            [
                ("home.turn_on", {"entities": ["light.counter"]}),
                (
                    "routines.later",
                    {"command": "turn the counter light off", "when": "in 10 minutes"},
                ),
            ],
        ),
    ],
)
async def test_two_things_of_one_sentence_are_two(make_house, text, language, calls):
    house = await make_house(f"home.{language}.yaml")
    parts = await house.commands.decider.parts(text, language, "")
    said = [(part.decision.call.tool, part.decision.call.arguments) for part in parts]
    assert said == calls


async def test_the_one_that_is_called_so_is_meant(make_house):
    house = await make_house("home.en.yaml")
    (part,) = await house.commands.decider.parts("turn off the gym alarm", "en", "")
    assert part.decision.call.arguments == {"which": "gym"}
