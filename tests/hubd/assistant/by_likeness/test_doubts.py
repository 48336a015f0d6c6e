"""An item that holds a clause is asked about before it is on a list; what is needed for what is no
item."""

import msgspec
import pytest
import yaml

from hubd.assistant.by_likeness.doubts import doubted
from plugins.api import ToolCall
from plugins.lists import items_of


async def test_a_clause_is_asked_about_and_put_on_the_list_after_a_yes(make_house):
    house = await make_house("home.en.yaml")
    asked = await house.say("add the cheese that she likes to the shopping list")
    assert asked == "Shall I put “the cheese that she likes” on the list?"
    assert house.called == []
    await house.say("yes")
    assert house.called == ["lists.add"]


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("setz den Käse, der weg ist, auf die Einkaufsliste", "de"),
        ("购物清单加上没有了的酱油吧", "zh"),
    ],
)
async def test_nothing_is_listed_unasked_that_may_be_none(make_house, text, language):
    house = await make_house(f"home.{language}.yaml")
    await house.say(text, language=language)
    assert house.called == []


@pytest.mark.parametrize(
    ("text", "language", "items"),
    [
        ("add milk and eggs to the list, we need them for the cake", "en", ["milk", "eggs"]),
        ("Marmalade really ought to be on the shopping list", "en", ["Marmalade"]),
        ("setz Milch auf die Liste, die brauchen wir für den Kuchen", "de", ["Milch"]),
        ("Butter müsste auch mal wieder auf die Einkaufsliste", "de", ["Butter"]),
        ("家里鸡蛋吃完了，下次买菜得买", "zh", ["鸡蛋"]),
        ("购物清单加上虾仁，包馄饨要用的", "zh", ["虾仁"]),
        ("把拖把加到购物清单", "zh", ["拖把"]),
    ],
)
async def test_what_says_why_is_no_item(make_house, text, language, items):
    house = await make_house(f"home.{language}.yaml")
    first, *_ = await house.commands.decider.parts(text, language, "")
    assert first.decision.asks is None
    assert items_of(first.decision.call.arguments["items"]) == items


async def test_no_item_that_people_put_on_lists_is_doubted(make_house, assistant_data):
    house = await make_house("home.en.yaml")
    (part,) = await house.commands.decider.parts("add milk to the shopping list", "en", "")
    seen = 0
    for path in sorted(assistant_data.glob("strangers*.*.yaml")):
        data = yaml.safe_load(path.read_text("utf-8"))
        rows = [row for rows in data.values() if isinstance(rows, list) for row in rows]
        for row in rows:
            if row[1] != "lists.add" or "items" not in (row[3:] or [{}])[0]:
                continue
            decision = _with_items(part.decision, row[3]["items"], data["language"][:2])
            assert doubted(decision) is decision, row
            seen += 1
    assert seen > 100


def _with_items(decision, items, language):
    call = ToolCall(tool="lists.add", arguments={"items": [str(item) for item in items]})
    return msgspec.structs.replace(decision, call=call, language=language)
