"""Webhooks into the hub, over the application itself."""

import asyncio
import json
import stat
import time

import pytest
from aiohttp import web

from hubd.errors import HubError
from hubd.http.services import SERVICES
from hubd.http.signatures import new_secret, sign, verify
from hubd.http.webhook_actions import check_action
from hubd.http.webhooks import parsed
from hubd.store.webhooks import Webhook

SECRET = new_secret()


@pytest.fixture
async def hub(open_hub, tmp_path):
    async with open_hub(tmp_path) as client:
        yield client


def services(hub):
    return hub.server.app[SERVICES]


@pytest.fixture
def make(hub):
    """``await make(action)`` is the address of a new webhook."""

    async def made(action, callback=""):
        name = action.replace(":", "-").replace(".", "-")
        one = Webhook(name=name, id=f"id-{name}", action=action, secret=SECRET, callback=callback)
        assert await services(hub).webhooks.add(one)
        return f"/api/webhook/{one.id}"

    return made


def bearer(**more):
    return {"Authorization": f"Bearer {SECRET}"} | more


async def test_ask_answers_in_the_response(hub, make):
    path = await make("ask")
    response = await hub.post(path, json={"text": "list timers"}, headers=bearer())
    assert response.status == 200
    assert (await response.json())["answer"] == "No timer is running."


async def test_a_person_says_yes_to_no_question_of_a_webhook(hub, make):
    """A sender may know the conversation; what it was asked there is not the person's."""

    async def say(text):
        body = {"text": text, "conversation": "kitchen"}
        return await (await hub.post("/hub/ask", json=body)).json()

    assert "milk" in (await say("add milk to the shopping list"))["answer"]
    body = {"text": "clear the shopping list", "conversation": "kitchen"}
    await hub.post(await make("ask"), json=body, headers=bearer())
    await say("yes")
    assert "milk" in (await say("what's on the shopping list"))["answer"]


async def test_a_form_and_put_are_taken_too(hub, make):
    path = await make("ask")
    response = await hub.put(path, data={"text": "list timers"}, headers=bearer())
    assert (await response.json())["answer"] == "No timer is running."


async def test_a_tool_runs_with_the_body_as_arguments(hub, make):
    path = await make("tool:timers.start")
    response = await hub.post(path, json={"minutes": 5, "name": "tea"}, headers=bearer())
    assert response.status == 200
    assert "tea" in (await response.json())["text"]
    response = await hub.post(path, json={"minutes": "many"}, headers=bearer())
    assert response.status == 400
    response = await hub.post(path, json={}, headers=bearer())
    assert response.status == 409
    assert (await response.json())["error"]["code"] == "tool_failed"


async def test_notify_and_event_reach_the_pages(hub, make):
    async with services(hub).board.listen() as notices:
        body = {"title": "Door", "message": "Somebody is there."}
        assert (await hub.post(await make("notify"), json=body, headers=bearer())).status == 200
        notice = notices.get_nowait()
        assert notice.event == "notification"
        assert notice.data == body | {"source": "notify"}
        await hub.post(await make("event"), json={"n": 1}, headers=bearer())
        assert notices.get_nowait().data == {"name": "event", "data": {"n": 1}}


async def test_ingest_reads_a_document_in(hub, make):
    body = {"name": "bins", "text": "# Bins\n\nThe green bin goes out on Tuesday."}
    response = await hub.post(await make("ingest"), json=body, headers=bearer())
    assert response.status == 200, await response.text()
    documents = await (await hub.get("/hub/documents")).json()
    assert [document["document"] for document in documents] == ["bins.md"]


@pytest.mark.parametrize(
    ("headers", "data", "status"),
    [
        ({}, b"{}", 401),
        ({"Authorization": "Bearer wrong"}, b"{}", 401),
        (bearer(), b"{not json", 400),
        (bearer(), b"[1]", 400),
        (bearer(), b"{}", 400),
        (bearer(), b"x" * (1024 * 1024 + 1), 413),
        (bearer(**{"Content-Type": "text/plain"}), b"hello", 415),
    ],
)
async def test_each_wrong_call_has_an_honest_status(hub, make, headers, data, status):
    path = await make("ask")
    headers = {"Content-Type": "application/json"} | headers
    response = await hub.post(path, data=data, headers=headers)
    assert response.status == status
    assert (await response.json())["error"]["message"]


async def test_what_is_not_there_and_what_is_not_known(hub, make):
    path = await make("ask")
    assert (await hub.post("/api/webhook/nothing", json={})).status == 404
    assert (await hub.get(path)).status == 405
    assert (await hub.delete(path)).status == 405


async def test_the_same_key_is_carried_out_once(hub, make):
    path = await make("tool:timers.start")
    headers = bearer(**{"Idempotency-Key": "one"})
    first = await hub.post(path, json={"minutes": 5}, headers=headers)
    again = await hub.post(path, json={"minutes": 5}, headers=headers)
    assert await again.json() == await first.json()
    assert again.headers["Idempotent-Replayed"] == "true"
    other = await hub.post(path, json={"minutes": 6}, headers=headers)
    assert other.status == 409
    timers = await (await hub.post("/hub/tools/timers.list", json={})).json()
    assert len(timers["data"]["timers"]) == 1


async def test_two_of_the_same_key_at_once_run_once(hub, make):
    path = await make("tool:timers.start")
    headers = bearer(**{"Idempotency-Key": "one"})
    both = await asyncio.gather(
        *(hub.post(path, json={"minutes": 5}, headers=headers) for _ in range(2))
    )
    assert sorted(one.status for one in both) in ([200, 200], [200, 409])
    timers = await (await hub.post("/hub/tools/timers.list", json={})).json()
    assert len(timers["data"]["timers"]) == 1


async def test_a_signed_delivery_cannot_be_replayed(hub, make):
    path = await make("tool:timers.start")
    body = json.dumps({"minutes": 5}).encode()
    now = int(time.time())
    headers = {
        "Content-Type": "application/json",
        "webhook-id": "msg_1",
        "webhook-timestamp": str(now),
        "webhook-signature": sign(SECRET, "msg_1", now, body),
    }
    for _ in range(3):
        assert (await hub.post(path, data=body, headers=headers)).status == 200
    timers = await (await hub.post("/hub/tools/timers.list", json={})).json()
    assert len(timers["data"]["timers"]) == 1


async def test_a_sender_that_hangs_up_does_not_cut_it_off(hub, make):
    path = await make("tool:timers.start")
    headers = bearer(**{"Idempotency-Key": "gone"})
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.003):
            await hub.post(path, json={"minutes": 5}, headers=headers)
    response = await hub.post(path, json={"minutes": 5}, headers=headers)
    while response.status == 409:
        await asyncio.sleep(0.05)
        response = await hub.post(path, json={"minutes": 5}, headers=headers)
    timers = await (await hub.post("/hub/tools/timers.list", json={})).json()
    assert len(timers["data"]["timers"]) == 1


async def test_too_many_calls_are_told_when_to_come_back(hub, make):
    path = await make("event")
    answers = [await hub.post(path, json={}, headers=bearer()) for _ in range(25)]
    late = [answer for answer in answers if answer.status == 429]
    assert late
    assert int(late[0].headers["Retry-After"]) > 0


async def test_every_call_is_in_the_log_without_secrets(hub, make):
    path = await make("ask")
    await hub.post(path, json={"text": "list timers"}, headers=bearer())
    await hub.post(path, json={}, headers={"Authorization": "Bearer wrong-secret"})
    await hub.post("/api/webhook/none", json={})
    calls = await services(hub).webhooks.calls()
    assert [(call.webhook, call.status) for call in calls] == [
        ("(unknown)", 404),
        ("ask", 401),
        ("ask", 200),
    ]
    assert calls[2].scheme == "bearer"
    for call in calls:
        assert SECRET not in repr(call)
        assert "wrong-secret" not in repr(call)


async def test_the_owners_list_is_not_open_to_strangers(hub):
    del hub.session.headers["Authorization"]
    for method, path in (("get", ""), ("post", ""), ("get", "/calls"), ("delete", "/x")):
        assert (await getattr(hub, method)(f"/hub/webhooks{path}")).status == 401


async def test_ask_calls_back_signed(hub, make):
    got = asyncio.get_running_loop().create_future()

    async def receive(request):
        body = await request.read()
        sender = verify(SECRET, request.headers, body, time.time())
        got.set_result((sender.key, json.loads(body)))
        return web.Response()

    app = web.Application()
    app.router.add_post("/back", receive)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    path = await make("ask", f"http://127.0.0.1:{runner.addresses[0][1]}/back")
    body = {"text": "list timers", "callback": True}
    response = await hub.post(path, json=body, headers=bearer())
    assert response.status == 202
    async with asyncio.timeout(10):
        key, answer = await got
    assert key == answer["delivery"] == (await response.json())["delivery"]
    assert answer["answer"] == "No timer is running."
    await runner.cleanup()


def test_an_action_must_be_known_and_need_nobody():
    tools = {"timers.start": "act", "locks.open": "dangerous"}
    assert check_action("tool:timers.start", tools) == "tool:timers.start"
    for action in ("dance", "tool:none", "tool:locks.open", "timers.start"):
        with pytest.raises(HubError, match="action"):
            check_action(action, tools)


def test_an_empty_body_is_an_empty_object():
    assert parsed("application/json", None, b"") == {}
    assert parsed("application/x-www-form-urlencoded", None, b"a=1&b=") == {"a": "1", "b": ""}
    with pytest.raises(HubError, match="form"):
        parsed("application/x-www-form-urlencoded", None, b"&".join([b"a=1"] * 300))


async def test_a_secret_is_in_no_copy_of_the_database(hub, make, tmp_path):
    path = await make("event")
    file = tmp_path / "data" / "webhook-secrets.json"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert SECRET in file.read_text()
    for part in (tmp_path / "data").glob("hubd.db*"):
        assert SECRET.encode() not in part.read_bytes()
    assert await services(hub).webhooks.remove("event")
    assert SECRET not in file.read_text()
    assert (await hub.post(path, json={}, headers=bearer())).status == 404


async def test_without_its_secret_a_webhook_is_closed(hub, make, tmp_path):
    path = await make("event")
    (tmp_path / "data" / "webhook-secrets.json").unlink()
    for token in ("", SECRET):
        headers = {"Authorization": f"Bearer {token}"}
        assert (await hub.post(path, json={}, headers=headers)).status == 401
