"""Kinds of sentences that the eighteenth blind set brought up, in the words of nobody's set."""

import pytest

AREAS = {"en": "Living Room", "de": "Wohnzimmer", "zh": "客厅"}


async def decided(make_house, text, language):
    house = await make_house(f"home15.{language}.yaml")
    name = AREAS[language]
    area = next(area.id for area in house.home.snapshot().areas if area.name == name)
    parts = await house.commands.decider.parts(text, language, area)
    return [part.decision for part in parts]


@pytest.mark.parametrize(
    ("language", "text", "name", "minutes"),
    [
        ("en", "5 minutes for the eggs", "eggs", 5),
        ("en", "pasta, nine minutes", "pasta", 9),
        ("en", "set a timer for the rice, twelve minutes", "rice", 12),
        ("en", "give me eight minutes on the potatoes please", "potatoes", 8),
        ("de", "Zehn Minuten für die Pizza", "pizza", 10),
        ("de", "Timer Kartoffeln, zwanzig Minuten", "kartoffeln", 20),
        ("de", "Timer namens Flammkuchen, zwölf Minuten", "Flammkuchen", 12),
        ("zh", "定个十分钟的计时器，叫排骨", "排骨", 10),
        ("zh", "煮面，五分钟", "煮面", 5),
        ("zh", "定个二十分钟的计时器，名字叫鸡汤，免得我忘了", "鸡汤", 20),
    ],
)
async def test_a_timer_is_called_what_it_is_for(make_house, language, text, name, minutes):
    found = await decided(make_house, text, language)
    assert found[0].tool == "timers.start"
    assert found[0].call.arguments["name"].casefold() == name.casefold()
    assert found[0].call.arguments["minutes"] == minutes


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "ten minutes later the phone rang"),
        ("en", "five minutes ago I put the pasta on"),
        ("de", "Vor zehn Minuten waren die Nudeln noch hart"),
    ],
)
async def test_a_time_and_a_dish_are_not_always_a_timer(make_house, language, text):
    tools = [one.tool for one in await decided(make_house, text, language)]
    assert "timers.start" not in tools


@pytest.mark.parametrize(
    ("language", "text", "query", "player"),
    [
        ("en", "play some Portishead on the kitchen speaker", "Portishead", "media_player.kitchen"),
        ("en", "play something by Abba in the kitchen", "Abba", "media_player.kitchen"),
        ("de", "Spiel bitte auf dem Musikbär La Le Lu", "La Le Lu", "media_player.musikbaer"),
        ("zh", "在厨房音箱上放点王菲的歌", "王菲", "media_player.kitchen"),
    ],
)
async def test_what_is_played_is_the_title_alone(make_house, language, text, query, player):
    (found,) = await decided(make_house, text, language)
    assert (found.tool, found.entities) == ("media.search", [player])
    assert found.call.arguments["query"] == query


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("de", "Geschirrspüler starten"),
        ("en", "start the dishwasher"),
        ("de", "Spiel auf dem Fernseher weiter"),
    ],
)
async def test_what_is_no_title_is_not_searched_for(make_house, language, text):
    tools = [one.tool for one in await decided(make_house, text, language)]
    assert "media.search" not in tools


@pytest.mark.parametrize(
    ("language", "text", "tool", "entities"),
    [
        ("en", "lock the front, no, what am I saying, the back door", "home.lock", ["lock.back"]),
        (
            "en",
            "set the telly volume to thirty, hmm, actually make it twenty",
            "media.set_volume",
            ["media_player.telly"],
        ),
    ],
)
async def test_a_correction_holds_with_thinking_aloud(make_house, language, text, tool, entities):
    (found,) = await decided(make_house, text, language)
    assert (found.tool, found.entities) == (tool, entities)


@pytest.mark.parametrize(
    ("language", "text", "items"),
    [
        ("en", "put milk on the shopping list and hummus", ["milk", "hummus"]),
        ("de", "Setz Mehl auf die Liste und, was war das, Hefe", ["Mehl", "Hefe"]),
    ],
)
async def test_a_second_item_may_come_behind_the_list(make_house, language, text, items):
    (found,) = await decided(make_house, text, language)
    assert found.call.arguments["items"] == items


async def test_what_is_said_behind_the_list_is_not_always_an_item(make_house):
    first, other = await decided(make_house, "put milk on the list and good night", "en")
    assert first.call.arguments["items"] == ["milk"]
    assert other.tool is None


@pytest.mark.parametrize(
    ("language", "text", "step"),
    [
        ("en", "the telly's so loud I can't hear myself think", "down"),
        ("zh", "厨房音箱吵得我听不清你说话", "down"),
        ("zh", "电视声音太小了我听不见", "up"),
    ],
)
async def test_of_too_loud_and_not_heard_the_first_counts(make_house, language, text, step):
    (found,) = await decided(make_house, text, language)
    assert (found.tool, found.call.arguments["step"]) == ("media.change_volume", step)
