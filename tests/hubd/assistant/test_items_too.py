"""A second item of the list, said after the first; and what is no item though it is "aus"."""

import pytest


@pytest.mark.parametrize(
    ("text", "language", "items"),
    [
        ("the milk is all gone and the eggs too", "en", ["milk", "eggs"]),
        ("Mehl ist alle und Backpulver auch", "de", ["Mehl", "Backpulver"]),
        ("Kaffee ist aus und die Filtertüten auch", "de", ["Kaffee", "Filtertüten"]),
        ("Das Mehl ist schon wieder alle", "de", ["Mehl"]),
        ("面粉没了，泡打粉也没了", "zh", ["面粉", "泡打粉"]),
        ("面粉用完了，泡打粉也是", "zh", ["面粉", "泡打粉"]),
    ],
)
async def test_what_is_gone_as_well_is_on_the_list_as_well(make_house, text, language, items):
    house = await make_house(f"home.{language}.yaml")
    (part,) = await house.commands.decider.parts(text, language, "")
    assert part.decision.call is not None
    assert part.decision.call.tool == "lists.add"
    assert part.decision.call.arguments["items"] == items


async def test_both_are_told_and_undone_at_once(make_house):
    house = await make_house("home.de.yaml")
    await house.say("Mehl ist alle und Backpulver auch", language="de")
    assert house.called == ["lists.add"]
    await house.say("rückgängig", language="de")
    listed = await house.say("Was steht auf der Einkaufsliste?", language="de")
    assert "Mehl" not in listed
    assert "Backpulver" not in listed


@pytest.mark.parametrize(
    "text", ["Das Licht ist aus", "Der Fernseher ist aus", "Das Licht ist alle"]
)
async def test_what_is_off_is_no_item_and_needs_not_be_turned_off(make_house, text):
    house = await make_house("home.de.yaml")
    (part,) = await house.commands.decider.parts(text, "de", "")
    assert part.decision.tool is None
