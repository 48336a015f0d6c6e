"""What is meant and not said: complaints, doubts, thanks and topics, decided on as ever."""

import pytest

HOMES = {"en": "home5.en.yaml", "de": "home5.de.yaml", "zh": "home5.zh.yaml"}


async def decided(make_house, text: str, language: str):
    house = await make_house(HOMES[language])
    parts = await house.commands.decider.parts(text, language, house.home.snapshot().areas[0].id)
    return [part.decision for part in parts]


@pytest.mark.parametrize(
    ("text", "language", "tool", "entities"),
    [
        ("it's about to rain and the skylight is open", "en", "home.close", ["cover.skylight"]),
        ("we can go on watching the projector", "en", "media.play", ["media_player.projector"]),
        ("Dusty has done enough for today", "en", "vacuum.return_home", ["vacuum.dusty"]),
        ("is oscars window still open", "en", "home.state", ["binary_sensor.oscar_window"]),
        ("I can't remember if I locked the side door", "en", "home.state", ["lock.side"]),
        ("Die Haustür ist nicht abgeschlossen", "de", "home.lock", ["lock.haustuer"]),
        ("Die Stehlampe blendet ganz schön", "de", "lights.change", ["light.stehlampe"]),
        ("Ich weiß nicht, ob ich die Haustür abgeschlossen habe", "de", "home.state",
         ["lock.haustuer"]),
        ("Krümel, fang an zu saugen", "de", "vacuum.start", ["vacuum.krümel"]),
        ("mach den Beamer lauda", "de", "media.change_volume", ["media_player.beamer"]),
        ("餐厅没人了，灯还都亮着呢", "zh", "home.turn_off", ["light.dining"]),
        ("防盗门锁了没有", "zh", "home.state", ["lock.front"]),
        ("阳台门接锁", "zh", "home.unlock", ["lock.balcony"]),
    ],
)  # fmt: skip
async def test_it_is_understood(make_house, text, language, tool, entities):
    (decision,) = await decided(make_house, text, language)
    assert (decision.tool, decision.entities) == (tool, entities)


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("谢谢你刚才把院门关了", "zh"),
        ("帮我买火车票", "zh"),
        ("Mach die eine Lampe da aus", "de"),
        ("Den Timer", "de"),
        ("明天嘛", "zh"),
    ],
)
async def test_nothing_is_done(make_house, text, language):
    assert [decision.tool for decision in await decided(make_house, text, language)] == [None]


async def test_to_hold_something_on_is_to_stop_it(make_house):
    decisions = await decided(make_house, "halt mal kurz den Beamer an", "de")
    assert "home.turn_on" not in [decision.tool for decision in decisions]


async def test_a_topic_is_taken_up(make_house):
    (decision,) = await decided(make_house, "Den Timer, äh, pausier den mal kurz", "de")
    assert decision.tool == "timers.pause"
