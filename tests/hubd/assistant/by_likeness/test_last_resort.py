"""A long sentence that nothing explains is asked about where the examples are sure of it."""

import pytest


async def decided(make_house, text, language):
    house = await make_house(f"home.{language}.yaml")
    area = {"en": "living_room", "de": "wohnzimmer", "zh": "客厅"}[language]
    decider = house.commands.decider
    parts = await decider.parts(text, language, area)
    (part,) = await decider.with_proposal(parts, text, area)
    return part.decision


@pytest.mark.parametrize(
    ("text", "language", "tool", "entity"),
    [
        ("We're all off to bed now, and the living room blinds are still wide open.", "en",
         "home.close", "cover.living_room_blinds"),
        ("Nobody is out there any more, and the fountain is still going for the birds.", "en",
         "home.turn_off", "switch.fountain"),
        ("Die Kaffeemaschine ist noch aus, und gleich kommen alle zum Frühstück.", "de",
         "home.turn_on", "switch.kaffeemaschine"),
        ("Wir gehen jetzt alle schlafen, und der Brunnen läuft immer noch draußen.", "de",
         "home.turn_off", "switch.brunnen"),
        ("人都走光了，花园里的喷泉还开着呢，真浪费水。", "zh", "home.turn_off", "switch.fountain"),
    ],
)  # fmt: skip
async def test_what_is_still_so_shall_be_otherwise(make_house, text, language, tool, entity):
    decision = await decided(make_house, text, language)
    assert (decision.tool, decision.entities) == (tool, [entity])


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("We're all off to bed now, and the front door is still locked.", "en"),  # dangerous
        ("The neighbours are all off to bed, and their garage door is still wide open.", "en"),
        ("Die Nachbarn sind verreist, und ihr Brunnen läuft immer noch im Garten.", "de"),
        ("Somebody told me that the coffee machine is still on, but I don't care.", "en"),  # not so
        ("Our front door is still locked and Ann has the living room blinds still open.", "en"),
        ("The fountain is still going", "en"),
    ],
)
async def test_what_is_not_so_or_only_told_is_left(make_house, text, language):
    decision = await decided(make_house, text, language)
    assert decision.tool in (None, "home.state")


@pytest.mark.parametrize(
    ("text", "language", "tool"),
    [
        ("Would you, eh, actually, no, you know what, never mind, forget I said anything.", "en",
         "help.never_mind"),
        ("Kannst du mal, hm, wart, ach nee, vergiss es, hat sich schon erledigt.", "de",
         "help.never_mind"),
        ("Vielen lieben Dank, das hast du ganz wunderbar gemacht, ohne dich wär ich heute "
         "aufgeschmissen gewesen.", "de", "help.welcome"),
    ],
)  # fmt: skip
async def test_what_only_tells_is_told_at_once(make_house, text, language, tool):
    decision = await decided(make_house, text, language)
    assert (decision.tool, decision.asks) == (tool, None)


async def test_a_timer_is_asked_to_run_longer(make_house):
    text = "The pudding is still pale, five minutes more on that timer would do it good."
    decision = await decided(make_house, text, "en")
    assert (decision.tool, decision.call.arguments) == ("timers.add", {"minutes": 5})


async def test_a_yes_does_it(house):
    said = "Nobody is out there any more, and the fountain is still going for the birds."
    assert await house.say(said) == "Shall I turn off the Fountain?"
    assert house.called == []
    await house.say("yes please")
    assert (house.called, house.state("switch.fountain")) == (["home.turn_off"], "off")
