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
         "reminders.add", {"what": "um 5 an die katze"}),
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
