"""Items of a list that were misheard are put down as they were meant; others as they were said."""

import pytest
import yaml

from hubd.assistant.evaluate import samples
from hubd.assistant.misheard_items import as_meant


@pytest.mark.parametrize(
    ("heard", "meant", "language"),
    [
        ("pee nut butter", "peanut butter", "en"),
        ("bred", "bread", "en"),
        ("sear eel", "cereal", "en"),
        ("been bags", "bin bags", "en"),
        ("spiel mittel", "Spülmittel", "de"),
        ("zahn pasta", "Zahnpasta", "de"),
        ("洗解精", "洗洁精", "zh"),
        ("牛乃", "牛奶", "zh"),
    ],
)
def test_what_sounds_like_an_item_is_one(heard, meant, language):
    assert as_meant(heard, language) == meant


@pytest.mark.parametrize(
    ("said", "language"),
    [("teabags", "en"), ("meal worms", "en"), ("Milch", "de"), ("胶带", "zh"), ("leche", "es")],
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


async def test_a_list_gets_the_item_that_was_meant(make_house):
    house = await make_house("home.en.yaml")
    (part,) = await house.commands.decider.parts(
        "add pee nut butter and bred to the shopping list", "en", ""
    )
    assert part.decision.tool == "lists.add"
    assert part.decision.call.arguments["items"] == ["peanut butter", "bread"]
