"""Answers that outlive a connection, and the conversations that keep them."""

import asyncio
import json

import pytest

from hubd.errors import BusyError
from hubd.http import answers as module
from hubd.http.answers import Answer, Answers
from hubd.settings import Config
from hubd.store.conversations import excerpt


async def test_a_reader_who_comes_back_goes_on_where_it_broke():
    step = asyncio.Event()

    async def events():
        yield "start", {"conversation": "c"}
        yield "token", {"text": "Half"}
        await step.wait()
        yield "token", {"text": " and whole."}
        yield "done", {}

    answers, answer = Answers(), Answer("How?")
    answers.start(answer, events())
    first = answers.follow(answer)
    read = [await anext(first), await anext(first)]
    await first.aclose()
    assert answers.running() == [answer]
    assert answer.conversation == "c"
    step.set()
    rest = [event async for event in answers.follow(answer, after=2)]
    names = [(number, name) for number, name, _ in read + rest]
    assert names == [(1, "start"), (2, "token"), (3, "token"), (4, "done")]
    assert rest[0][2] == {"text": " and whole."}
    assert answers.running() == []
    await answers.close()


async def test_two_readers_read_the_same():
    async def events():
        for number in range(50):
            yield "token", {"text": str(number)}
            if number % 7 == 0:
                await asyncio.sleep(0)

    answers, answer = Answers(), Answer("How?")
    answers.start(answer, events())

    async def read():
        return [frame async for frame in answers.follow(answer)]

    one, two = await asyncio.gather(read(), read())
    assert one == two
    assert len(one) == 50


async def test_an_answer_that_nobody_reads_is_abandoned(monkeypatch):
    monkeypatch.setattr(module, "ALONE_S", 0.05)
    ended = asyncio.Event()

    async def events():
        try:
            yield "token", {"text": "a"}
            await asyncio.sleep(60)
        finally:
            ended.set()

    answers, answer = Answers(), Answer("How?")
    answers.start(answer, events())
    reader = answers.follow(answer)
    await anext(reader)
    await reader.aclose()
    back = answers.follow(answer, after=1)  # in time: it goes on
    waiting = asyncio.ensure_future(anext(back))
    await asyncio.sleep(0.15)
    assert not ended.is_set()
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    await back.aclose()
    await asyncio.wait_for(ended.wait(), 5)
    assert answer.ended


async def test_who_stops_it_tells_the_others():
    async def events():
        yield "token", {"text": "a"}
        await asyncio.sleep(60)

    answers, answer = Answers(), Answer("How?")
    answers.start(answer, events())
    reader = answers.follow(answer)
    await anext(reader)
    answers.stop(answer)
    (last,) = [frame async for frame in reader]
    assert last == (2, "error", module.STOPPED)


async def test_there_is_a_bound_and_what_is_complete_makes_room(monkeypatch):
    monkeypatch.setattr(module, "ANSWERS_LIMIT", 2)

    async def short():
        yield "done", {}

    async def long():
        yield "token", {"text": "a"}
        await asyncio.sleep(60)

    answers = Answers()
    answers.start(done := Answer("1"), short())
    assert len([frame async for frame in answers.follow(done)]) == 1
    answers.start(Answer("2"), long())
    answers.start(Answer("3"), long())
    assert answers.find(done.id) is None
    with pytest.raises(BusyError):
        answers.start(Answer("4"), long())
    await answers.close()


@pytest.fixture
async def client(open_hub, tmp_path):
    async with open_hub(tmp_path / "home", Config()) as opened:
        yield opened


async def said(client, text: str, conversation: str | None = None) -> list[tuple[str, dict]]:
    """The events of a resumable answer."""
    body = {"text": text, "resumable": True} | (
        {"conversation": conversation} if conversation else {}
    )
    response = await client.post("/hub/ask", json=body)
    assert response.status == 200
    frames = (await response.text()).strip().split("\n\n")
    rows = [frame.splitlines() for frame in frames]
    return [
        (event.removeprefix("event: "), json.loads(data.removeprefix("data: ")))
        for _, event, data in rows
    ]


async def test_an_answer_can_be_read_again_after_its_end(client):
    events = await said(client, "set a tea timer for 9 minutes")
    assert [name for name, _ in events] == ["answer", "start", "action", "token", "done"]
    answer = events[0][1]["answer"]
    again = await client.get(f"/hub/answers/{answer}?after=3")
    assert [line for line in (await again.text()).splitlines() if line.startswith("event")] == [
        "event: token",
        "event: done",
    ]
    assert (await client.get("/hub/answers/unknown")).status == 404


async def test_a_conversation_is_read_searched_renamed_shortened_deleted_and_taken_back(client):
    events = await said(client, "put 100% cocoa on the shopping list")
    name = events[-1][1]["conversation"]
    await said(client, "put olives on the shopping list", name)
    await said(client, "put bread on the shopping list")
    path = f"/hub/conversations/{name}"

    async def found(containing: str) -> list[str]:
        reply = await client.get("/hub/conversations", params={"containing": containing})
        return [entry["conversation"] for entry in await reply.json()]

    transcript = await (await client.get(path)).json()
    assert [turn["utterance"] for turn in transcript["turns"]] == [
        "put 100% cocoa on the shopping list",
        "put olives on the shopping list",
    ]
    assert transcript["turns"][1]["outcome"]["actions"][0]["tool"] == "lists.add"
    assert len(await found("")) == 2
    assert await found("OLIVES") == [name]
    assert await found("100%") == [name]
    assert await found("100_") == []
    await client.patch(path, json={"title": "  The   party "})
    assert await found("the party") == [name]
    assert (await client.delete(f"{path}/turns?keep=1")).status == 200
    assert await found("olives") == []
    assert (await client.delete(path)).status == 200
    assert (await client.get(path)).status == 404
    assert await found("cocoa") == []
    assert (await client.delete(path)).status == 404
    assert (await client.post(f"{path}/restore")).status == 200
    assert (await (await client.get(path)).json())["title"] == "The party"


async def test_every_page_hears_of_a_turn(client):
    async with client.get("/hub/events") as events:
        await events.content.readuntil(b"\n\n")
        await said(client, "set a tea timer for 9 minutes")
        heard = []
        while b"change" not in b"".join(heard) or b'"turn"' not in b"".join(heard):
            heard.append(await asyncio.wait_for(events.content.readuntil(b"\n\n"), 10))
    changes = [frame for frame in heard if frame.startswith(b"event: conversation")]
    assert [b'"answering"' in changes[0], b'"turn"' in changes[-1]] == [True, True]


async def test_a_state_that_changes_is_told_to_every_page(client):
    home = "entities: [{id: light.desk, name: Desk, state: 'off'}]"
    await client.put("/hub/home", json={"description": home})
    async with client.get("/hub/events") as events:
        await events.content.readuntil(b"\n\n")
        await client.post("/hub/tools/home.turn_on", json={"entities": ["light.desk"]})
        frame = b""
        while not frame.startswith(b"event: home"):
            frame = await asyncio.wait_for(events.content.readuntil(b"\n\n"), 10)
    (entity,) = json.loads(frame.decode().partition("data: ")[2])["entities"]
    assert (entity["id"], entity["state"]) == ("light.desk", "on")


def test_an_excerpt_shows_where_the_words_stand():
    text = f"{'x ' * 100}the hook hangs{' y' * 100}"
    shown = excerpt(text, "HOOK")
    assert "the hook hangs" in shown
    assert shown.startswith("…")
    assert shown.endswith("…")
    assert len(shown) < 140
    assert excerpt("the hook", "ladder") == ""
