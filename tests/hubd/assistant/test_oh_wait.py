"""What is said after "oh wait, no" is done, and what was said before it is not."""

import pytest


@pytest.mark.parametrize(
    ("text", "language", "entities"),
    [
        ("turn on the kitchen lights... oh wait, no, the bedroom ones", "en",
         ["light.bedroom", "light.bedside"]),
        ("turn on the counter light, hang on, no, the bedroom ones", "en",
         ["light.bedroom", "light.bedside"]),
        ("turn on the counter light oh wait the desk lamp", "en", ["light.desk_lamp"]),
        ("turn on the counter light, oh sorry, I mean the desk lamp", "en", ["light.desk_lamp"]),
        ("turn on the counter light, no no wait, the desk lamp", "en", ["light.desk_lamp"]),
        ("Mach das Flurlicht an, ach warte, nein, die Leselampe", "de", ["light.leselampe"]),
        ("打开厨房灯，哦等等，不对，卧室的", "zh", ["light.bedside"]),
        ("打开厨房灯，等一下，不是，台灯", "zh", ["light.desk"]),
    ],
)  # fmt: skip
async def test_in_one_sentence(make_house, text, language, entities):
    house = await make_house(f"home.{language}.yaml")
    (part,) = await house.commands.decider.parts(text, language, "")
    assert (part.decision.tool, part.decision.entities) == ("home.turn_on", entities)


@pytest.mark.parametrize(
    "text",
    [
        "空调调到二十三，呃，二十五度",
        "把空调调到二十，嗯……二十五度吧，有点闷",
        "那个什么，空调调到二十，嗯，还是二十五吧",
    ],
)
async def test_a_value_after_a_hesitation_is_the_one_that_is_meant(make_house, text):
    house = await make_house("home5.zh.yaml")
    parts = await house.commands.decider.parts(text, "zh", "")
    *_, last = [part.decision for part in parts if part.decision.tool]
    assert (last.tool, last.call.arguments["temperature"]) == ("climate.set", 25)


@pytest.mark.parametrize(
    ("first", "then", "language", "wanted", "dropped"),
    [
        ("turn on the counter light", "oh wait, no, the bedside lamp", "en",
         "light.bedside", "light.counter"),
        ("Mach die Küchenlampe an", "ach warte, nein, die Leselampe", "de",
         "light.leselampe", "light.kuechenlampe"),
        ("打开厨房灯", "哦等一下，不对，床头灯", "zh", "light.bedside", "light.kitchen"),
    ],
)  # fmt: skip
async def test_in_the_next_one(make_house, first, then, language, wanted, dropped):
    house = await make_house(f"home.{language}.yaml")
    await house.say(first, language=language)
    await house.say(then, language=language)
    assert (house.state(wanted), house.state(dropped)) == ("on", "off")


@pytest.mark.parametrize(
    ("text", "language", "tool", "arguments"),
    [
        ("put the bedroom curtains at forty, well, no, a bit less, thirty percent", "en",
         "home.set_position", {"position": 30}),
        ("stell den Vorhang auf vierzig, nein, etwas weniger, dreißig Prozent", "de",
         "home.set_position", {"position": 30}),
        ("remind me in an hour, no, two, two hours, to move the car for the bin lorry", "en",
         "reminders.add", {"when": "in two hours"}),
    ],
)  # fmt: skip
async def test_which_way_it_was_wrong_is_no_value(make_house, text, language, tool, arguments):
    house = await make_house(f"home.{language}.yaml")
    decider = house.commands.decider
    (part,) = await decider.with_proposal(await decider.parts(text, language, ""), text, "")
    assert part.decision.tool == tool
    assert part.decision.call.arguments.items() >= arguments.items()
