"""Items and titles that were misheard are taken as they were meant; others as they were said."""

import pytest
import yaml

from hubd.assistant.by_likeness.misheard_things import apart, as_meant, title_as_meant
from hubd.assistant.evaluate import samples


@pytest.mark.parametrize(
    ("heard", "meant", "language"),
    [
        ("pee nut butter", "peanut butter", "en"),
        ("bred", "bread", "en"),
        ("flower", "flour", "en"),
        ("sear eel", "cereal", "en"),
        ("been bags", "bin bags", "en"),
        ("spiel mittel", "Spülmittel", "de"),
        ("zahn pasta", "Zahnpasta", "de"),
        ("洗解精", "洗洁精", "zh"),
        ("牛乃", "牛奶", "zh"),
        ("鸡但", "鸡蛋", "zh"),
    ],
)
def test_what_sounds_like_an_item_is_one(heard, meant, language):
    assert as_meant(heard, language) == meant


@pytest.mark.parametrize(
    ("said", "language"),
    [
        ("teabags", "en"),
        ("flowers", "en"),
        ("meal worms", "en"),
        ("Milch", "de"),
        ("胶带", "zh"),
        ("leche", "es"),
    ],
)
def test_others_stay(said, language):
    assert as_meant(said, language) == said


@pytest.mark.parametrize("language", ["en", "de", "zh"])
def test_items_that_people_put_on_lists_stay_as_they_are(assistant_data, language):
    """Those of all blind sets, but for the misheard."""
    items = {
        item
        for path in sorted(assistant_data.glob(f"strangers*.{language}.yaml"))
        for sample in samples(yaml.safe_load(path.read_text("utf-8")))
        if sample.style != "misheard"
        for item in sample.arguments.get("items", ())
    }
    assert len(items) > 50
    assert [item for item in sorted(items) if as_meant(item, language) != item] == []


@pytest.mark.parametrize(
    ("heard", "meant", "language"),
    [
        ("周接轮的情天", "周杰伦的晴天", "zh"),
        ("lieder von herbert gröne meier", "lieder von Herbert Grönemeyer", "de"),
        ("some jonny kash", "some Johnny Cash", "en"),
        ("the beetles", "the Beatles", "en"),
        ("mahl helene fischer", "helene fischer", "de"),
        ("von Reinhard Mey", "Reinhard Mey", "de"),
        ("Pulp", "Pulp", "en"),
        ("some Fleetwood Mac for us please", "some Fleetwood Mac", "en"),
        ("us some Fleetwood Mac please", "some Fleetwood Mac", "en"),
        ("uns bitte etwas Jazz", "etwas Jazz", "de"),
        ("Us and Them", "Us and Them", "en"),
        ("Please Please Me", "Please Please Me", "en"),
        ("Please Please Please", "Please Please Please", "en"),
        ("Me and Bobby McGee", "Me and Bobby McGee", "en"),
        ("周杰伦", "周杰伦", "zh"),
    ],
)
def test_what_sounds_like_a_title_is_one(heard, meant, language):
    assert title_as_meant(heard, language) == meant


@pytest.mark.parametrize(
    ("said", "language", "items"),
    [
        ("eggs flower", "en", ["eggs", "flower"]),
        ("apples oat milk", "en", ["apples", "oat milk"]),
        ("garlic bread", "en", ["garlic bread"]),
        ("crisps and dip", "en", ["crisps and dip"]),
        ("Milch Brot Eier", "de", ["Milch", "Brot", "Eier"]),
        ("Butter Milch", "de", ["Butter Milch"]),
        ("Brot vom Bäcker", "de", ["Brot vom Bäcker"]),
    ],
)
def test_items_without_a_pause_are_several(said, language, items):
    assert apart(said, language) == items


@pytest.mark.parametrize("language", ["en", "de", "zh"])
def test_titles_that_people_ask_for_stay_as_they_are(assistant_data, language):
    """Those of all blind sets, but for the misheard."""
    titles = {
        sample.arguments["query"]
        for path in sorted(assistant_data.glob(f"strangers*.{language}.yaml"))
        for sample in samples(yaml.safe_load(path.read_text("utf-8")))
        if sample.style != "misheard" and "query" in sample.arguments
    }
    assert len(titles) > 10
    assert [said for said in sorted(titles) if title_as_meant(said, language) != said] == []


async def test_a_list_gets_the_item_that_was_meant(make_house):
    house = await make_house("home.en.yaml")
    (part,) = await house.commands.decider.parts(
        "add pee nut butter and bred to the shopping list", "en", ""
    )
    assert part.decision.tool == "lists.add"
    assert part.decision.call.arguments["items"] == ["peanut butter", "bread"]


async def test_what_is_taken_off_a_list_is_heard_so_too(make_house):
    house = await make_house("home.zh.yaml")
    (part,) = await house.commands.decider.parts("把鸡但从购物清单里删掉", "zh", "")
    assert part.decision.tool == "lists.remove"
    assert part.decision.call.arguments["item"] == "鸡蛋"
