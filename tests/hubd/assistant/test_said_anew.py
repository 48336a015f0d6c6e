"""Who corrects themselves and says all of it again means what was said last, as it stands."""

import pytest


@pytest.mark.parametrize(
    ("text", "language", "tool", "arguments"),
    [
        ("ten minutes, no wait, twelve, set a timer for twelve minutes, the eggs", "en",
         "timers.start", {"minutes": 12}),
        ("tomorrow, no, the day after tomorrow, will it rain the day after tomorrow", "en",
         "weather.on", {"day": "the day after tomorrow"}),
        ("remind me tomorrow, no, tell me what I've got on tomorrow", "en",
         "calendar.agenda", {"day": "tomorrow"}),
        ("put milk on the list, no wait, add oat milk to the list", "en",
         "lists.add", {"items": ["oat milk"]}),
        ("the hallway light to fifty, no, forget the light, turn on the ceiling fan", "en",
         "home.turn_on", {"entities": ["fan.ceiling_fan"]}),
        ("remind me at four to feed the cat, no, remind me at five", "en",
         "reminders.add", {"what": "at 5 to feed the cat"}),
        ("set a timer for ten minutes, no, set it for twelve", "en",
         "timers.start", {"minutes": 12}),
        ("zehn Minuten, nein, zwölf, stell einen Timer auf zwölf Minuten", "de",
         "timers.start", {"minutes": 12}),
        ("äh, morgen, nein, übermorgen, regnet es übermorgen", "de",
         "weather.on", {"day": "übermorgen"}),
        ("erinnere mich um vier an die Katze, nein, erinnere mich um fünf", "de",
         "reminders.add", {"what": "um 5 an die Katze"}),
        ("十分钟，不是，十二分钟，帮我计时十二分钟", "zh", "timers.start", {"minutes": 12}),
        ("明天，不是，后天，后天会不会下雨啊", "zh", "weather.on", {"day": "后天"}),
        ("那个酱油啊，我是说，从购物清单里把酱油划掉，家里还有一瓶呢", "zh",
         "lists.remove", {"item": "酱油"}),
    ],
)  # fmt: skip
async def test_what_was_said_anew_is_what_is_done(make_house, text, language, tool, arguments):
    house = await make_house(f"home.{language}.yaml")
    (part,) = await house.commands.decider.parts(text, language, "")
    assert part.decision.call is not None, part.decision
    assert part.decision.call.tool == tool
    assert part.decision.call.arguments == arguments


async def test_a_time_before_it_is_not_lost(make_house):
    house = await make_house("home.zh.yaml")
    (part,) = await house.commands.decider.parts(
        "晚上八点，不对，八点半，提醒我给婆婆量血压", "zh", ""
    )
    assert part.decision.call.tool == "reminders.add"
    assert "半" in "".join(map(str, part.decision.call.arguments.values()))


@pytest.mark.parametrize(
    ("text", "language", "tool", "arguments"),
    [
        ("晚上九点，呃，九点半吧，提醒我洗奶瓶", "zh", "reminders.add",
         {"when": "晚上9点半", "what": "洗奶瓶"}),
        ("晚上九点，九点半吧，提醒我洗奶瓶", "zh", "reminders.add",
         {"when": "晚上9点半", "what": "洗奶瓶"}),
        ("提醒我晚上九点，呃，晚上九点半洗奶瓶", "zh", "reminders.add",
         {"what": "晚上9点半洗奶瓶"}),
        ("后天早上七点，呃，七点一刻叫我起床", "zh", "alarms.set", {"when": "后天早上七点一刻"}),
        ("明天七点半叫我起床，八点吧", "zh", "alarms.set", {"when": "明天8点"}),
        ("计时十分钟，呃，十五分钟", "zh", "timers.start", {"minutes": 15}),
        ("半小时后，呃，四十分钟后提醒我关火", "zh", "reminders.add",
         {"when": "四十分钟后", "what": "关火"}),
        ("at nine tonight, uh, half past nine maybe, remind me to wash the bottles", "en",
         "reminders.add", {"when": "at half past 9 tonight", "what": "wash the bottles"}),
        ("wake me tomorrow at seven, um, quarter past seven", "en",
         "alarms.set", {"when": "tomorrow at quarter past 7"}),
        ("set a timer for ten minutes, uh, fifteen minutes", "en",
         "timers.start", {"minutes": 15}),
        ("erinner mich um neun, äh, um halb zehn an die Fläschchen", "de",
         "reminders.add", {"what": "um halb 10 an die Fläschchen"}),
        ("morgen um sieben, ähm, Viertel nach sieben wecken", "de",
         "alarms.set", {"when": "morgen um Viertel nach 7"}),
        # another kind of value, or two of a kind that are both meant
        ("remind me at nine, um, two pills to take", "en",
         "reminders.add", {"what": "at nine, two pills to take"}),
        ("购物清单加鸡蛋，嗯，十个馒头", "zh", "lists.add", {"items": ["鸡蛋，十个馒头"]}),
    ],
)  # fmt: skip
async def test_a_value_said_after_a_pause_corrects_one_of_its_kind(
    make_house, text, language, tool, arguments
):
    house = await make_house(f"home54.{language}.yaml")
    (part,) = await house.commands.decider.parts(text, language, "")
    assert part.decision.call is not None, part.decision
    assert part.decision.call.tool == tool
    assert part.decision.call.arguments == arguments


@pytest.mark.parametrize(
    ("text", "language", "wanted"),
    [
        ("明天早上八点提醒我吃药，十点提醒我浇花", "zh",
         [("明天早上八点", "吃药"), ("明天 十点", "浇花")]),
        ("晚上七点提醒我喂猫，八点提醒我浇花", "zh",
         [("晚上七点", "喂猫"), ("今晚 八点", "浇花")]),
        ("明天早上八点提醒我吃药，十分钟后提醒我关火", "zh",
         [("明天早上八点", "吃药"), ("十分钟后", "关火")]),
        ("remind me tomorrow at eight to take my pills and at ten to call Ann", "en",
         [("", "tomorrow at eight to take my pills"), ("", "tomorrow at ten to call Ann")]),
        ("erinner mich am Samstag um neun ans Paket und um elf an den Markt", "de",
         [("", "am Samstag um neun ans Paket"), ("", "am Samstag um elf an den Markt")]),
    ],
)  # fmt: skip
async def test_the_second_of_two_reminders_is_of_the_same_day(make_house, text, language, wanted):
    house = await make_house(f"home54.{language}.yaml")
    parts = await house.commands.decider.parts(text, language, "")
    calls = [part.decision.call for part in parts]
    assert [(c.arguments.get("when", ""), c.arguments["what"]) for c in calls if c] == wanted


async def test_what_a_device_shall_do_is_no_time_of_a_reminder(make_house):
    house = await make_house("home54.zh.yaml")
    parts = await house.commands.decider.parts("关掉厨房灯，七点提醒我吃药", "zh", "")
    calls = [part.decision.call for part in parts]
    assert [(c.tool, c.arguments.get("when")) for c in calls if c] == [
        ("home.turn_off", None), ("reminders.add", "七点"),
    ]  # fmt: skip


async def test_what_was_told_to_somebody_else_is_not_done(make_house):
    house = await make_house("home.de.yaml")
    text = "Ja, ich hab dem Jörg gesagt, ne, mach die Küchenlampe an, und was macht er, nix."
    for part in await house.commands.decider.parts(text, "de", ""):
        assert part.decision.tool is None


@pytest.mark.parametrize(
    ("text", "understood"),
    [
        ("when I say movie time, turn off the hallway light", True),
        ("when I say movie time, frobnicate the widget", False),
    ],
)
async def test_a_routine_has_something_to_do(make_house, text, understood):
    house = await make_house("home.en.yaml")
    (part,) = await house.commands.decider.parts(text, "en", "")
    assert (part.decision.tool == "routines.define") is understood
