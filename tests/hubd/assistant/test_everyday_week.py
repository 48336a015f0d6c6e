"""An ordinary week in standard language: what strangers said that was done wrongly, or not."""

import pytest

ROOM = {"en": "Kitchen", "de": "Küche", "zh": "客厅"}


async def decided(make_house, text, language):
    house = await make_house(f"home43.{language}.yaml")
    room = next(one.id for one in house.home.snapshot().areas if one.name == ROOM[language])
    parts = await house.commands.decider.parts(text, language, room)
    return [part.decision for part in parts]


@pytest.mark.parametrize(
    ("language", "text", "tool", "entities", "arguments"),
    [
        ("de", "Stopp, stopp, also das Rollo, halt das mal an.", "home.stop",
         ["cover.kitchen"], {}),
        ("de", "Oh, äh, der Staubsauger, halt den mal kurz an.", "vacuum.stop",
         ["vacuum.robot"], {}),
        ("de", "Dann mach doch halt das Licht an", "home.turn_on",
         ["light.kitchen", "light.worktop"], {}),
        ("de", "Mach das Licht halt an", "home.turn_on", ["light.kitchen", "light.worktop"], {}),
        ("de", "Sag mal allen durch, äh, wir fahren in fünf Minuten los.", "announce.say", [],
         {"message": "wir fahren in fünf Minuten los"}),
        ("de", "Notier mal, Leons Schuhgröße ist dreiundvierzig", "notes.add", [],
         {"text": "Leons Schuhgröße ist dreiundvierzig"}),
        ("de", "Wecker schlummern", "alarms.snooze", [], {}),
        ("de", "Auf wie viel, äh, auf wie viel Grad ist die Heizung im Bad eigentlich eingestellt?",
         "climate.target", ["climate.bath"], {}),
        ("de", "Wie warm ist es im Bad?", "climate.temperature", ["climate.bath"], {}),
        ("de", "Den Wecker, äh, den stell mal von sechs auf sieben Uhr um.", "alarms.change", [],
         {"which": "sechs", "to": "sieben Uhr"}),
        ("de", "Brauche ich nachher einen Schirm?", "weather.on", [], {"day": "heute"}),
        ("zh", "对了，那个，后门帮我锁一下", "home.lock", ["lock.back"], {}),
        ("zh", "后门锁上", "home.lock", ["lock.back"], {}),
        ("zh", "后门锁了吗", "home.state", ["lock.back"], {}),
        ("zh", "哎呀太吵了，那个扫地机先停一下", "vacuum.stop", ["vacuum.robot"], {}),
        ("zh", "大米我已经买回来了，清单上可以划掉了", "lists.complete", [], {"item": "大米"}),
        ("zh", "记一下啊，车停在地下二层B区", "notes.add", [], {"text": "车停在地下二层B区"}),
        ("zh", "客厅里怎么这么冷啊", "climate.change", ["climate.living"], {"step": "up"}),
        ("en", "uh, put the TV on, like, mute", "media.mute", ["media_player.tv"], {}),
        ("en", "remind me to pay the electric bill at, uh, noon", "reminders.add", [],
         {"what": "pay the electric bill at noon"}),
        ("en", "wake me at, um, half past six", "alarms.set", [], {"when": "at half past six"}),
        ("en", "The timer needs another three minutes on it.", "timers.add", [], {"minutes": 3}),
        ("en", "The grass is really getting long.", "mower.start", ["lawn_mower.mower"], {}),
        ("en", "mute the TV, it's too loud in here", "media.mute", ["media_player.tv"], {}),
    ],
)  # fmt: skip
async def test_what_is_done(make_house, language, text, tool, entities, arguments):
    (decision,) = await decided(make_house, text, language)
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
    (decision,) = await decided(make_house, "turn on the saw na", "en")
    assert decision.tool is None


async def test_too_loud_alone_is_what_plays(make_house):
    (decision,) = await decided(make_house, "音箱太吵了", "zh")
    assert (decision.tool, decision.arguments["step"]) == ("media.change_volume", "down")


async def test_who_counts_the_days_every_day_asks_once(make_house):
    house = await make_house("home40.zh.yaml")
    text = "小满天天掰着手指头算，十一月二十号她生日，到底还剩几天啊"
    decider = house.commands.decider
    (part,) = await decider.with_proposal(await decider.parts(text, "zh", ""), text, "")
    assert part.decision.tool == "dates.until"
