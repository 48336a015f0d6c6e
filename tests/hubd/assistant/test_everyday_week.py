"""An ordinary week in standard language: what strangers said that was done wrongly, or not."""

import pytest


async def decided(make_house, text, language, area):
    house = await make_house(f"home43.{language}.yaml")
    room = next(one.id for one in house.home.snapshot().areas if one.name == area)
    parts = await house.commands.decider.parts(text, language, room)
    return [part.decision for part in parts]


@pytest.mark.parametrize(
    ("text", "tool", "entities", "arguments"),
    [
        ("Stopp, stopp, also das Rollo, halt das mal an.", "home.stop", ["cover.kitchen"], {}),
        ("Oh, äh, der Staubsauger, halt den mal kurz an.", "vacuum.stop", ["vacuum.robot"], {}),
        ("Mach das Licht halt an", "home.turn_on", ["light.kitchen", "light.worktop"], {}),
        ("Sag mal allen durch, äh, wir fahren in fünf Minuten los.", "announce.say", [],
         {"message": "wir fahren in fünf Minuten los"}),
        ("Notier mal, Leons Schuhgröße ist dreiundvierzig", "notes.add", [],
         {"text": "Leons Schuhgröße ist dreiundvierzig"}),
        ("Wecker schlummern", "alarms.snooze", [], {}),
        ("Auf wie viel, äh, auf wie viel Grad ist die Heizung im Bad eigentlich eingestellt?",
         "climate.target", ["climate.bath"], {}),
        ("Wie warm ist es im Bad?", "climate.temperature", ["climate.bath"], {}),
        ("Den Wecker, äh, den stell mal von sechs auf sieben Uhr um.", "alarms.change", [],
         {"which": "sechs", "to": "sieben Uhr"}),
        ("Brauche ich nachher einen Schirm?", "weather.on", [], {"day": "heute"}),
    ],
)  # fmt: skip
async def test_german(make_house, text, tool, entities, arguments):
    (decision,) = await decided(make_house, text, "de", "Küche")
    assert (decision.tool, decision.entities, decision.asks) == (tool, entities, None)
    assert decision.call.arguments.items() >= arguments.items()


@pytest.mark.parametrize(
    ("text", "tool", "entities", "arguments"),
    [
        ("对了，那个，后门帮我锁一下", "home.lock", ["lock.back"], {}),
        ("后门锁上", "home.lock", ["lock.back"], {}),
        ("后门锁了吗", "home.state", ["lock.back"], {}),
        ("哎呀太吵了，那个扫地机先停一下", "vacuum.stop", ["vacuum.robot"], {}),
        ("大米我已经买回来了，清单上可以划掉了", "lists.complete", [], {"item": "大米"}),
        ("记一下啊，车停在地下二层B区", "notes.add", [], {"text": "车停在地下二层B区"}),
        ("客厅里怎么这么冷啊", "climate.change", ["climate.living"], {"step": "up"}),
    ],
)
async def test_chinese(make_house, text, tool, entities, arguments):
    (decision,) = await decided(make_house, text, "zh", "客厅")
    assert (decision.tool, decision.entities, decision.asks) == (tool, entities, None)
    assert decision.call.arguments.items() >= arguments.items()


@pytest.mark.parametrize(
    ("text", "tool", "entities", "arguments"),
    [
        ("uh, put the TV on, like, mute", "media.mute", ["media_player.tv"], {}),
        ("remind me to pay the electric bill at, uh, noon", "reminders.add", [],
         {"what": "pay the electric bill at noon"}),
        ("wake me at, um, half past six", "alarms.set", [], {"when": "at half past six"}),
        ("The timer needs another three minutes on it.", "timers.add", [], {"minutes": 3}),
        ("The grass is really getting long.", "mower.start", ["lawn_mower.mower"], {}),
    ],
)  # fmt: skip
async def test_english(make_house, text, tool, entities, arguments):
    (decision,) = await decided(make_house, text, "en", "Kitchen")
    assert (decision.tool, decision.entities, decision.asks) == (tool, entities, None)
    assert decision.call.arguments.items() >= arguments.items()


async def test_what_plays_on_is_no_vacuum(make_house):
    house = await make_house("home43.zh.yaml")
    await house.say("扫地机停一下", language="zh", area="客厅")
    assert house.called == ["vacuum.stop"]
    await house.say("接着放吧", language="zh", area="客厅")
    assert "vacuum.start" not in house.called
    await house.say("扫地机停一下", language="zh", area="客厅")
    await house.say("接着扫吧", language="zh", area="客厅")
    assert house.called == ["vacuum.start"]


async def test_what_is_not_here_is_no_sound(make_house):
    (decision,) = await decided(make_house, "turn on the saw na", "en", "Kitchen")
    assert decision.tool is None


async def test_too_loud_alone_is_what_plays(make_house):
    (decision,) = await decided(make_house, "音箱太吵了", "zh", "客厅")
    assert (decision.tool, decision.arguments["step"]) == ("media.change_volume", "down")
