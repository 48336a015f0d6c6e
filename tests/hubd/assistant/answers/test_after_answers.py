"""Conversations that go on after an answer from the documents, through the whole application."""

from calendar import month_name
from datetime import UTC, datetime, timedelta

import pytest

from hubd.http.services import SERVICES

FAIR = datetime.now(UTC).date() + timedelta(days=40)
FAIR_DAY = f"{FAIR.day} {month_name[FAIR.month]} {FAIR.year}"

CLUB = f"""# Rowing club

## The regatta

The regatta for beginners is on {FAIR_DAY} at 14:30. The boats are carried down by Omar Fielding,
telephone 555-0188.

## Membership

The membership fee is due on the 8th of each month. It costs 21 pounds.
"""
COOKING = """# Cooking

## Pumpkin stew

For six, ready in fifty minutes.

- 1 kg pumpkin
- 2 onions, 400 ml coconut milk

Simmer the pumpkin until it is soft. It can be frozen for three months.

## Plum tart

- 500 g plums
- 200 g flour

Bake the plum tart at 180 °C for 35 minutes.
"""
DE = f"""# Mietvertrag

## Miete

Die Miete ist zum 3. jedes Monats fällig. Die Miete kostet 980 Euro.

## Hausfest

Das Hausfest ist am {FAIR.day}.{FAIR.month}.{FAIR.year} um 15 Uhr.
"""
ZH = f"""# 社区通知

家长会在{FAIR.year}年{FAIR.month}月{FAIR.day}日晚上7点开始，地点是北楼。
"""


@pytest.fixture
async def hub(open_hub, tmp_path):
    """``await hub(conversation, text)``: the reply as the page gets it."""
    papers = tmp_path / "papers"
    papers.mkdir()
    for name, text in (("club", CLUB), ("cooking", COOKING), ("miete", DE), ("zh", ZH)):
        (papers / f"{name}.md").write_text(text)
    async with open_hub(tmp_path / "home") as client:
        await client.app[SERVICES].library.ingest([papers])

        async def asked(conversation, text, language="en"):
            body = {"text": text, "conversation": conversation, "language": language}
            return await (await client.post("/hub/ask", json=body)).json()

        yield asked


def called(reply):
    return [(action["tool"], action["arguments"]) for action in reply["actions"]]


async def test_where_it_is_from(hub):
    told = await hub("a", "When is the regatta?")
    assert FAIR_DAY in told["answer"]
    for question in ("what page is that on?", "who told you that?", "where does it say so?"):
        reply = await hub("a", question)
        assert reply["answer"].startswith("In club.md, under “The regatta”")
        assert [c["document"] for c in reply["citations"]] == ["club.md"]
        assert reply["citations"][0]["start"] == told["citations"][0]["start"]
    assert "no pages" in (await hub("a", "which page is that?"))["answer"]
    assert (await hub("b", "who told you that?"))["refused"]


async def test_it_is_put_down_and_taken_back(hub):
    await hub("a", "when is the regatta?")
    entry = await hub("a", "put that in the calendar")
    assert called(entry) == [
        ("calendar.add", {"title": "Regatta", "when": f"on {FAIR_DAY} at 14:30"})
    ]
    assert "Regatta" in entry["answer"]
    assert "Regatta" in (await hub("a", "undo"))["answer"]
    question = await hub("a", "remind me of that the day before")
    assert question["asks"] == "missing"
    reminder = await hub("a", "at nine in the morning")
    assert f"{(FAIR - timedelta(days=1)).day} " in reminder["answer"]
    assert reminder["actions"][0]["arguments"]["what"] == "Regatta"


async def test_it_is_named_again_after_other_questions(hub):
    await hub("a", "when is the regatta?")
    await hub("a", "how much is the membership fee?")
    entry = await hub("a", "put the regatta in the calendar")
    assert called(entry)[0][1]["when"] == f"on {FAIR_DAY} at 14:30"


async def test_what_is_due_each_month_comes_each_month(hub):
    await hub("a", "when is the membership fee due?")
    entry = await hub("a", "put it in my calendar")
    assert called(entry)[0][1] == {
        "title": "Pay the membership fee", "when": "every month on the 8th",
    }  # fmt: skip


async def test_a_recipe(hub):
    await hub("a", "how do I make the pumpkin stew?")
    shopping = await hub("a", "add the ingredients to the shopping list")
    items = ["1 kg pumpkin", "2 onions", "400 ml coconut milk"]
    assert called(shopping) == [("lists.add", {"items": items})]
    how_long = await hub("a", "how long does it take?")
    assert how_long["actions"] == []
    assert "fifty minutes" in how_long["answer"]
    timer = await hub("a", "set a timer for that")
    assert called(timer) == [("timers.start", {"minutes": 50, "name": "pumpkin stew"})]
    other = await hub("b", "put the ingredients for the plum tart on the shopping list")
    assert called(other)[0][1]["items"] == ["500 g plums", "200 g flour"]
    none = await hub("c", "add the ingredients to the shopping list")
    assert none["actions"] == []


async def test_a_question_goes_on_with_the_document_and_not_with_the_timers(hub):
    await hub("a", "temperature for the plum tart?")
    how_long = await hub("a", "and how long?")
    assert how_long["actions"] == []
    assert "35 minutes" in how_long["answer"]
    await hub("a", "set a timer for 20 minutes")
    assert called(await hub("a", "how long is left on the timer?"))[0][0] == "timers.list"
    await hub("b", "who carries the boats at the regatta?")
    assert "555-0188" in (await hub("b", "what's his number?"))["answer"]


async def test_nothing_is_called_that(hub):
    for text in ("put that in the calendar", "remind me of that", "add the ingredients to my list"):
        reply = await hub("a", text)
        assert reply["actions"] == []
        assert reply["answer"]


async def test_in_german(hub):
    await hub("a", "Wann ist die Miete fällig?", "de")
    assert (await hub("a", "Wo steht das?", "de"))["answer"] == "In miete.md, unter „Miete“."
    entry = await hub("a", "trag das bitte in den Kalender ein", "de")
    assert called(entry)[0][1] == {"title": "Miete zahlen", "when": "jeden Monat am 3."}
    await hub("b", "Wann ist das Hausfest?", "de")
    await hub("b", "erinnere mich am Tag davor daran", "de")
    reminder = await hub("b", "um 18 Uhr", "de")
    assert reminder["actions"][0]["arguments"]["what"] == "Hausfest"
    assert f"{(FAIR - timedelta(days=1)).day}." in reminder["answer"]


async def test_in_chinese(hub):
    await hub("a", "家长会是什么时候？", "zh")
    assert "zh.md" in (await hub("a", "这写在哪里？", "zh"))["answer"]
    entry = await hub("a", "把这个加到日历里", "zh")
    assert called(entry)[0][1] == {
        "title": "家长会", "when": f"{FAIR.year}年{FAIR.month}月{FAIR.day}日19:00",
    }  # fmt: skip
    assert "北楼" in (await hub("a", "地点呢？", "zh"))["answer"]
