"""An ordinary week in standard language: what strangers said that was done wrongly, or not."""

import pytest

ROOM = {"en": "Kitchen", "de": "Küche", "zh": "客厅"}


async def decided(make_house, text, language, home="home43"):
    house = await make_house(f"{home}.{language}.yaml")
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


@pytest.mark.parametrize(
    ("language", "text", "tool", "entities", "arguments"),
    [
        ("en", "Would you mind rolling out the patio awning?", "home.open", ["cover.awning"], {}),
        ("en", "It'd be cool if Owen's light strip was green.", "lights.set",
         ["light.owen_strip"], {}),
        ("en", "It'd be great if the patio awning was open", "home.open", ["cover.awning"], {}),
        ("en", "I want the coffee maker to come on at 5:15 every weekday morning.",
         "routines.later", [], {"command": "turn on the coffee maker", "when": "at 5:15",
                                "every": "every weekday morning"}),
        ("en", "turn on the porch light every Monday morning at six", "routines.later", [],
         {"every": "every monday morning", "when": "at 6"}),
        ("en", "I won't need the coffee maker today", "home.turn_off", ["switch.coffee_maker"],
         {}),
        ("en", "Let me know when 15 minutes are up.", "timers.start", [], {"minutes": 15}),
        ("en", "Um, every two hours, uh, remind me to, you know, drink some water.",
         "reminders.add", [], {"when": "every two hours", "what": "drink some water"}),
        ("en", "don't let the vacuum run any more", "vacuum.stop", ["vacuum.dusty"], {}),
        ("en", "Wake me tomorrow", "alarms.set", [], {"when": "tomorrow"}),
        ("de", "Wecker, noch mal schlummern", "alarms.snooze", [], {}),
        ("de", "Temperatur draußen?", "weather.now", [], {}),
        ("de", "Ich brauche die Kaffeemaschine heute nicht mehr.", "home.turn_off",
         ["switch.kaffeemaschine"], {}),
        ("de", "Ich brauche die Butter nicht mehr", "lists.remove", [], {"item": "Butter"}),
        ("de", "Ich frage mich, wo Leon steckt.", "home.state", ["person.leon"], {}),
        ("de", "Die Eier sollen sechs Minuten kochen, sag mir dann Bescheid.", "timers.start", [],
         {"minutes": 6, "name": "Eier"}),
        ("de", "Ich darf auf keinen Fall vergessen, um 17 Uhr Oma abzuholen.", "reminders.add", [],
         {"what": "um 17 Uhr Oma abzuholen"}),
        ("de", "Es wäre schön, wenn das Terrassenlicht jeden Abend um elf von selbst ausgeht.",
         "routines.later", [], {"every": "jeden abend", "when": "um 11"}),
        ("de", "Schreib mal als Notiz auf, äh, der Zählerstand ist, Moment, 4812.", "notes.add",
         [], {"text": "der Zählerstand ist 4812"}),
        ("de", "Tante Gabi hat jedes Jahr am dritten Mai Geburtstag, das muss in den Kalender.",
         "calendar.add", [], {}),
        ("de", "Wann habe ich den nächsten Zahnarzttermin?", "calendar.next", [],
         {"event": "Zahnarzt"}),
        ("zh", "请问我都定了哪些闹钟？", "alarms.list", [], {}),
        ("zh", "麻烦半个小时以后提醒我收衣服", "reminders.add", [],
         {"when": "半个小时以后", "what": "收衣服"}),
        ("zh", "麻烦通知一下大家，可以吃饭了", "announce.say", [], {"message": "可以吃饭了"}),
        ("zh", "嗯，提醒我，那个，下午四点半去接桐桐", "reminders.add", [],
         {"what": "下午四点半去接桐桐"}),
        ("zh", "明天叫我起床", "alarms.set", [], {"when": "明天"}),
        ("zh", "别让扫地机扫了", "vacuum.stop", ["vacuum.sao_di"], {}),
        ("zh", "扫地机太吵了，别让它扫了", "vacuum.stop", ["vacuum.sao_di"], {}),
        ("zh", "面条煮八分钟就好，到时间喊我一声", "timers.start", [],
         {"minutes": 8, "name": "面条"}),
        ("zh", "请给排骨定个四十分钟的计时器", "timers.start", [], {"minutes": 40, "name": "排骨"}),
        ("zh", "嗯，今年中秋节是，是几月几号来着？", "dates.day", [], {"day": "今年中秋节"}),
        ("zh", "阳台的灯每天晚上六点亮", "routines.later", [],
         {"every": "每天", "when": "晚上6点"}),
    ],
)  # fmt: skip
async def test_what_is_done_in_another_house(make_house, language, text, tool, entities, arguments):
    (decision,) = await decided(make_house, text, language, "home44")
    assert (decision.tool, decision.entities, decision.asks) == (tool, entities, None)
    assert decision.call.arguments.items() >= arguments.items()


async def test_what_lets_nothing_go_on_proposes_no_start(make_house):
    house = await make_house("home44.zh.yaml")
    assert "开始" not in str(await house.say("别让机器人动了", language="zh", area="客厅"))


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
