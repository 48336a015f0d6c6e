"""Lists: items taken apart, ticked off, brought back; and what was said about them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plugins.api import ToolError
from plugins.lists import key_of, split


@pytest.mark.parametrize(
    ("said", "items"),
    [
        ("milk and two dozen eggs", ["milk", "two dozen eggs"]),
        ("bread, butter and some cheese", ["bread", "butter", "cheese"]),
        ("mac and cheese", ["mac and cheese"]),
        ("Milch und Brot", ["Milch", "Brot"]),
        ("牛奶和面包、鸡蛋", ["牛奶", "面包", "鸡蛋"]),
        ("candy", ["candy"]),
        ("那个，折耳根，还有", ["折耳根"]),
        ("butter, oh, and bacon", ["butter", "bacon"]),
        ("milk, what was it, oh yeah, eggs", ["milk", "eggs"]),
        ("Kren und, was war's noch, ach ja, Germ", ["Kren", "Germ"]),
        ("生抽，还有，还有啥子喃，哦对，粉条", ["生抽", "粉条"]),
        ("und", ["und"]),
        ("flour and so is the butter", ["flour", "butter"]),
        ("Mehl und Backpulver auch", ["Mehl", "Backpulver"]),
        ("eggs and milk too", ["eggs", "milk"]),
        ("auch", ["auch"]),
        ("eine Gurke, einen Blumenkohl und das Brot", ["Gurke", "Blumenkohl", "Brot"]),
        ("ein Bund Dill und eine Dose Mais", ["ein Bund Dill", "eine Dose Mais"]),
        ("Milch und keinen Zucker", ["Milch", "Zucker"]),
        ("warte, Tomaten, genau, Reis", ["Tomaten", "Reis"]),
    ],
)
def test_items_are_taken_apart(said, items):
    assert split(said) == items


@pytest.mark.parametrize(
    "name",
    ["shopping", "the Shopping list", "groceries", "购物清单", "", "Einkaufsliste", "la compra"],
)
def test_the_shopping_list_has_many_names(name):
    assert key_of(name) == "shopping"


@given(st.text(min_size=1, max_size=50))
def test_something_always_stays(said):
    assert split(said)


async def test_a_list_is_filled_shown_ticked_and_undone(workshop):
    added = await workshop("lists.add", items=["milk and two dozen eggs"])
    assert added.text == "milk and two dozen eggs: on the shopping list."
    assert (await workshop("lists.show")).data["items"] == ["milk", "two dozen eggs"]
    done = await workshop("lists.complete", item="Milk")
    assert (await workshop("lists.show")).data["items"] == ["two dozen eggs"]
    await workshop.undo(done)
    assert set((await workshop("lists.show")).data["items"]) == {"milk", "two dozen eggs"}
    with pytest.raises(ToolError, match="is not on"):
        await workshop("lists.remove", item="wine")


async def test_an_item_is_there_once_and_lists_are_apart(workshop):
    await workshop("lists.add", items=["milk"])
    await workshop("lists.add", items=["Milk"])
    await workshop("lists.add", items=["call Bob"], list_name="to-do")
    assert (await workshop("lists.show")).data["items"] == ["milk"]
    for name in ("my to-do list", "to do", "too do list"):
        assert (await workshop("lists.show", list_name=name)).data["items"] == ["call Bob"]
    assert (await workshop("lists.show", "zh")).text == "购物清单：milk。"


async def test_an_item_is_known_by_a_part_of_its_words(workshop):
    await workshop("lists.add", items=["two dozen eggs, milk, oat milk and green tea"])
    assert (await workshop("lists.complete", item="egg")).data["items"] == ["two dozen eggs"]
    assert (await workshop("lists.remove", item="milk")).data["items"] == ["milk"]
    assert (await workshop("lists.remove", item="tea and the milk")).data["items"] == [
        "green tea",
        "oat milk",
    ]


async def test_what_could_be_two_items_is_neither(workshop):
    await workshop("lists.add", items=["green tea and black tea"])
    with pytest.raises(ToolError):
        await workshop("lists.remove", item="tea")


@pytest.mark.parametrize(
    ("said", "before"), [("milk and bread", []), ("oats", []), ("milk, jam and tea", ["jam"])]
)
async def test_what_was_put_on_a_list_is_taken_off_again_together(workshop, said, before):
    if before:
        await workshop("lists.add", items=before)
    added = await workshop("lists.add", items=[said])
    await workshop.undo(added)
    assert (await workshop("lists.show")).data["items"] == before


async def test_what_would_be_taken_apart_otherwise_has_no_undo(workshop):
    added = await workshop("lists.add", items=["milk", "mac and cheese"])
    assert added.undo is None


async def test_which_lists_there_are(workshop):
    assert (await workshop("lists.names")).text == "There is no list yet."
    await workshop("lists.add", items=["milk", "bread"])
    begun = await workshop("lists.create", list_name="packing")
    assert begun.text == "The packing list is there. Say what goes on it."
    assert (await workshop("lists.names")).text == (
        "There are these lists: packing (0) and shopping (2)."
    )


@pytest.mark.parametrize(
    ("text", "language", "tool", "arguments"),
    [
        ("what lists do I have", "en", "lists.names", {}),
        ("create a packing list", "en", "lists.create", {"list_name": "packing"}),
        ("tick off the eggs", "en", "lists.complete", {"item": "eggs"}),
        ("Setz Socken auf die Packliste", "de", "lists.add",
         {"items": ["Socken"], "list_name": "Pack"}),
        ("Setz Milch auf die Einkaufsliste", "de", "lists.add", {"items": ["Milch"]}),
        ("把袜子加到行李清单", "zh", "lists.add", {"items": ["袜子"], "list_name": "行李"}),
        ("行李清单上有什么", "zh", "lists.show", {"list_name": "行李"}),
        ("购物清单上有什么", "zh", "lists.show", {}),
    ],
)  # fmt: skip
def test_other_lists_are_understood(understood, text, language, tool, arguments):
    assert understood(text, language) == (tool, arguments)


async def test_a_german_list_is_called_in_one_word(workshop):
    told = await workshop("lists.add", "de", items=["Socken"], list_name="Pack")
    assert told.text == "Socken: auf der Liste Packliste."
