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
