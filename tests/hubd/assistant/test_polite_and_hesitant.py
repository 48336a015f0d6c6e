"""Commands among politeness, second thoughts, reasons and slips of speech recognition."""

import pytest

from plugins.lists import split

LAMPS = {"en": "light.desk_lamp", "de": "light.schreibtischlampe", "zh": "light.desk"}


async def decided(make_house, text, language):
    house = await make_house(f"home.{language}.yaml")
    return [part.decision for part in await house.commands.decider.parts(text, language, "")]


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("pause the timer, I've got to answer the phone", "en"),
        ("Halt den Timer kurz an, gell, ich muss schnell ans Telefon", "de"),
        ("Halt den Timer an, ich muss ans Telefon", "de"),
        ("把定时器先暂停一下，我接个电话", "zh"),
        ("暂停计时器，我接电话", "zh"),
    ],
)
async def test_why_a_timer_pauses_does_not_pause_what_plays(make_house, text, language):
    found = await decided(make_house, text, language)
    assert [decision.tool for decision in found if decision.tool] == ["timers.pause"]


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Dürft ich um einen Timer bitten? Eine Stunde und zwanzig Minuten, für den Braten", "de"),
        ("Bitte einen Timer, eine Stunde und zwanzig Minuten", "de"),
        ("a timer, please, one hour and twenty minutes", "en"),
    ],
)
async def test_hours_and_minutes_are_one_time(make_house, text, language):
    (decision,) = await decided(make_house, text, language)
    told = decision.call.arguments if decision.call else {}
    lasts = 60 * told.get("hours", 0) + told.get("minutes", 0)
    assert (decision.tool, lasts) == ("timers.start", 80)


@pytest.mark.parametrize(
    ("text", "language", "tool", "entity", "arguments"),
    [
        ("Sperr die Haustür, na wart, die Schreibtischlampe mein ich, die schaltest ein", "de",
         None, "lock.haustuer", {}),
        ("Heizung auf neunzehn, na, auf zwanzig Grad", "de",
         "climate.set", "climate.heizung", {"temperature": 20}),
        ("空调调到二十四，算了还是二十二吧", "zh",
         "climate.set", "climate.ac", {"temperature": 22}),
        ("set the thermostat to, ooh, eighteen, no, twenty", "en",
         "climate.set", "climate.thermostat", {"temperature": 20}),
    ],
)  # fmt: skip
async def test_second_thoughts_count(make_house, text, language, tool, entity, arguments):
    found = await decided(make_house, text, language)
    if tool is None:
        assert all(entity not in decision.entities for decision in found)
        return
    (decision,) = found
    assert (decision.tool, decision.entities) == (tool, [entity])
    assert decision.call.arguments.items() >= arguments.items()


@pytest.mark.parametrize(
    ("text", "language", "kelvin"),
    [
        ("might I trouble you for the desk lamp at two thousand seven hundred kelvin", "en", 2700),
        ("set the desk lamp to four thousand kelvin", "en", 4000),
        ("the desk lamp at twenty-seven hundred kelvin please", "en", 2700),
        ("set the desk lamp to nineteen hundred kelvin", "en", 1900),
        ("Würdest du die Schreibtischlampe bitte auf zweitausendsiebenhundert Kelvin stellen", "de",
         2700),
        ("dem Onkel seine Schreibtischlampe auf viertausend Kelvin", "de", 4000),
        ("能不能麻烦你把台灯调成五千开尔文", "zh", 5000),
        ("台灯色温四千五百开尔文", "zh", 4500),
    ],
)  # fmt: skip
async def test_a_color_temperature_in_words(make_house, text, language, kelvin):
    (decision,) = await decided(make_house, text, language)
    assert (decision.tool, decision.entities) == ("lights.set", [LAMPS[language]])
    assert decision.call.arguments["kelvin"] == kelvin


@pytest.mark.parametrize(
    ("text", "language", "tool", "entities"),
    [
        ("Könntest bitte den Fernseher stummschalten", "de", "media.mute",
         ["media_player.fernseher"]),
        ("Wenn's dir nix ausmacht, mach bitte das Flurlicht aus", "de", "home.turn_off",
         ["light.flurlicht"]),
        ("Dem Timer, gell, dem gibst, äh, noch zehn Minuten dazu", "de", "timers.add", []),
        ("Was für Wecker hamma?", "de", "alarms.list", []),
        ("would you silence the television please", "en", "media.mute", ["media_player.tv"]),
        ("can sell the time are", "en", "timers.cancel", []),
        ("把大门的锁开一下", "zh", "home.unlock", ["lock.front_door"]),
        ("大门，嗯，还是锁上吧", "zh", "home.lock", ["lock.front_door"]),
        ("那个啥，床头灯给开一下子", "zh", "home.turn_on", ["light.bedside"]),
        ("把电视静个音", "zh", "media.mute", ["media_player.tv"]),
        ("我到底设了几个定时器来着", "zh", "timers.list", []),
    ],
)  # fmt: skip
async def test_more_ways_to_ask(make_house, text, language, tool, entities):
    (decision,) = await decided(make_house, text, language)
    assert (decision.tool, decision.entities) == (tool, entities)


@pytest.mark.parametrize(
    ("text", "language", "tool", "items"),
    [
        ("take teabags back off the shopping list", "en", "lists.remove", ["teabags"]),
        ("take the eggs off of the shopping list", "en", "lists.remove", ["eggs"]),
        ("ad bacon an cockles two the shopping list", "en", "lists.add", ["bacon", "cockles"]),
        ("eggs and bicarb, stick them on the list", "en", "lists.add", ["eggs", "bicarb"]),
        ("Hefe und Rosinen auf d'Liste", "de", "lists.add", ["Hefe", "Rosinen"]),
        ("schreib hefe auf den ein kaufs zettel", "de", "lists.add", ["hefe"]),
        ("那就记上韭菜和虾皮", "zh", "lists.add", ["韭菜", "虾皮"]),
        ("大葱、面粉，加单子里", "zh", "lists.add", ["大葱", "面粉"]),
    ],
)
async def test_items(make_house, text, language, tool, items):
    (decision,) = await decided(make_house, text, language)
    said = decision.call.arguments
    told = said["items"] if tool == "lists.add" else [said["item"]]
    assert decision.tool == tool
    assert [item for one in told for item in split(one)] == items


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("I got two cardigans on", "en"),
        ("we've got the big coats on and all", "en"),
        ("lass mich überlegen, Butter haben wir, die zwei schreibst auf die Liste", "de"),
    ],
)
async def test_a_clause_is_no_item(make_house, text, language):
    assert all(decision.tool is None for decision in await decided(make_house, text, language))


@pytest.mark.parametrize("text", ["提醒我下五三点半开会", "下五三点半提醒我开会"])
async def test_a_misheard_afternoon(make_house, text):
    (decision,) = await decided(make_house, text, "zh")
    assert decision.tool == "reminders.add"
    assert "下午" in "".join(map(str, decision.call.arguments.values()))
