"""Requests beside reasons that speak of others, and what is told of a day."""

import pytest


async def decided(house, text, language="en", area="living_room"):
    parts = await house.commands.decider.parts(text, language, area)
    return [(part.decision.tool, part.decision.entities) for part in parts]


@pytest.mark.parametrize(
    ("said", "tool", "entities"),
    [
        (
            "Could you set the desk lamp to forty percent? Ann is reading in there.",
            "lights.set",
            ["light.desk_lamp"],
        ),
        (
            "Ann's friends are coming round for her birthday,"
            " could you turn on the reading lamp, please?",
            "home.turn_on",
            ["light.reading_lamp"],
        ),
        (
            "Could you play some jazz on the kitchen radio? Ann loves it.",
            "media.search",
            ["media_player.kitchen_radio"],
        ),
        (
            "Is the, is the back door locked, I can never remember.",
            "home.state",
            ["lock.back_door"],
        ),
        ("hoover the kitchen", "vacuum.clean_area", ["vacuum.robbie"]),
        ("give me a rundown of the day", "briefing.tell", []),
        ("let me sleep a little longer and ring again later", "alarms.snooze", []),
    ],
)
async def test_what_is_asked_for_is_done_alone(house, said, tool, entities):
    assert await decided(house, said) == [(tool, entities)]


async def test_what_limits_a_request_is_no_reason(house):
    said = "Could you turn off the living room light? But not the reading lamp."
    assert await decided(house, said) == [("home.turn_off", ["light.living_room"])]


@pytest.mark.parametrize(
    ("home", "language", "said"),
    [
        ("home.en.yaml", "en", "Could you turn off the living room light? Actually, leave it."),
        ("home.en.yaml", "en", "turn off the living room light, oh no, just leave it"),
        ("home.de.yaml", "de", "Mach das Wohnzimmerlicht aus, ach, lass es."),
        ("home.zh.yaml", "zh", "把客厅灯关了吧，还是留着吧"),
    ],
)
async def test_what_takes_itself_back_is_not_done(make_house, home, language, said):
    house = await make_house(home)
    assert {tool for tool, _ in await decided(house, said, language)} <= {None, "help.never_mind"}


async def test_what_takes_itself_back_is_told_so(house):
    said = "turn off the living room light, actually, leave it"
    assert await house.say(said) == "All right, I leave it."
    assert house.state("light.living_room") == "on"


@pytest.mark.parametrize(
    ("said", "tool"),
    [
        ("Könntest du mir bitte sagen, welche Wecker gestellt sind? Ich will nicht verschlafen.",
         "alarms.list"),
        ("Spielst du uns im Wohnzimmer bitte etwas von Udo Jürgens? Oma hört den so gern.",
         "media.search"),
        ("Kannst du mir bitte ausrechnen, was zwölf Prozent von zweihundertfünfzig sind?"
         " Lena hat Mathe auf.", "calculator.calculate"),
    ],
)  # fmt: skip
async def test_german_requests(make_house, said, tool):
    house = await make_house("home.de.yaml")
    assert [found for found, _ in await decided(house, said, "de")] == [tool]
