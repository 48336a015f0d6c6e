"""The household's endpoints over the whole application, without a language model."""

import asyncio
import json
import re
from pathlib import Path

import pytest

from hubd.http import sse
from hubd.http.body import JSON_LIMIT
from hubd.settings import DEFAULT_MODEL


@pytest.fixture
async def hub(open_hub, tmp_path):
    async with open_hub(tmp_path) as client:
        yield client


async def events_of(response, count):
    """The first ``count`` events of a stream: names and data."""
    found = []
    name = ""
    async for line in response.content:
        field, _, value = line.decode().rstrip("\n").partition(": ")
        if field == "event":
            name = value
        elif field == "data":
            found.append((name, value))
            if len(found) == count:
                break
    return found


async def json_of(response, status=200):
    assert response.status == status, await response.text()
    return await response.json()


async def error_of(response, status):
    return (await json_of(response, status))["error"]


def resident_mb():
    """Memory of the tests' own process, from another file of the kernel than the hub reads."""
    return int(re.search(r"VmRSS:\s+(\d+) kB", Path("/proc/self/status").read_text())[1]) / 1024


async def test_health(hub):
    assert await json_of(await hub.get("/healthz")) == {"status": "ok"}


async def test_ready_means_that_there_is_a_model_to_answer_with(hub, tmp_path):
    reply = await json_of(await hub.get("/readyz"), 503)
    assert reply["ready"] is False
    assert reply["checks"]["engine"] == "off"
    (tmp_path / "models" / DEFAULT_MODEL).touch()
    assert (await json_of(await hub.get("/readyz")))["ready"] is True


async def test_status_tells_engine_documents_and_memory(hub):
    status = await json_of(await hub.get("/hub/status"))
    assert status["engine"] == {
        "state": "off", "message": "", "progress": None, "server": "", "away": "",
    }  # fmt: skip
    assert status["documents"] == {"ready": 0, "skipped": 0}
    assert status["memory"]["engine_mb"] == 0
    # The application runs inside the tests' process here; the daemon's test bounds its own.
    assert status["memory"]["hub_mb"] == pytest.approx(resident_mb(), rel=0.05)


async def test_a_command_is_answered_whole(hub):
    reply = await json_of(await hub.post("/hub/ask", json={"text": "set a timer for 9 minutes"}))
    assert reply["answer"] == "The timer is set for 9 minutes."
    assert set(reply) == {
        "answer", "citations", "refused", "actions", "timings", "conversation", "asks", "speech",
        "prompt", "left_out",
    }  # fmt: skip
    assert reply["actions"][0]["tool"] == "timers.start"


async def test_an_answer_is_also_given_for_the_ear_where_that_is_asked(hub):
    body = {"text": "what is 7 divided by 2", "speech": True}
    done = await json_of(await hub.post("/hub/ask", json=body))
    assert "3.5" in done["answer"]
    assert "3 point 5" in done["speech"]
    plain = await json_of(await hub.post("/hub/ask", json=body | {"speech": False}))
    assert plain["speech"] is None


async def test_a_command_is_streamed(hub):
    body = {"text": "how long is left?", "stream": True}
    response = await hub.post("/hub/ask", json=body)
    assert response.content_type == "text/event-stream"
    events = await events_of(response, 4)
    assert [name for name, _ in events] == ["start", "action", "token", "done"]
    assert '"type"' not in events[-1][1]


async def test_a_conversation_keeps_its_name(hub):
    first = await json_of(await hub.post("/hub/ask", json={"text": "list timers"}))
    body = {"text": "list timers", "conversation": first["conversation"]}
    assert (await json_of(await hub.post("/hub/ask", json=body)))["conversation"] == first[
        "conversation"
    ]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "text"),
        ({"text": 1}, "text"),
        ({"text": ""}, "text"),
        ({"text": "  "}, "text"),
        ({"text": "x" * 8001}, "text"),
        ({"text": "x", "stream": "yes"}, "stream"),
        ({"text": "x", "speed": 1}, "speed"),
        ([], "object"),
    ],
)
async def test_a_wrong_body_is_refused_by_field(hub, body, field):
    error = await error_of(await hub.post("/hub/ask", json=body), 400)
    assert error["code"] == "bad_request"
    assert field in error["message"]


async def test_what_is_no_json_is_refused(hub):
    error = await error_of(await hub.post("/hub/ask", data=b"{text"), 400)
    assert "not JSON" in error["message"]


async def test_a_body_that_is_too_large_is_refused(hub):
    error = await error_of(await hub.post("/hub/ask", data=b"x" * (JSON_LIMIT + 1)), 413)
    assert "larger" in error["message"]


async def test_unknown_addresses_and_methods_are_told_in_json(hub):
    assert "/hub/nothing" in (await error_of(await hub.get("/hub/nothing"), 404))["message"]
    assert "PUT" in (await error_of(await hub.put("/hub/ask"), 405))["message"]


async def test_too_many_questions_at_once_are_told_to_come_back(hub, monkeypatch):
    monkeypatch.setattr("hubd.http.services.TURNS_AT_ONCE", 0)
    response = await hub.post("/hub/ask", json={"text": "list timers"})
    assert (await error_of(response, 429))["code"] == "busy"
    assert int(response.headers["Retry-After"]) > 0


async def test_tools_are_listed_and_called(hub):
    tools = await json_of(await hub.get("/hub/tools"))
    names = [tool["name"] for tool in tools]
    assert names == sorted(names)
    assert {"help.show", "timers.cancel", "timers.list", "timers.start"} <= set(names)
    start = next(tool for tool in tools if tool["name"] == "timers.start")
    assert start["risk"] == "act"
    assert set(start["parameters"]["properties"]) == {"hours", "minutes", "seconds", "name"}
    reply = await json_of(await hub.post("/hub/tools/timers.start", json={"minutes": 1}))
    assert set(reply) == {"text", "data", "undo"}
    undone = await json_of(
        await hub.post("/hub/tools/timers.cancel", json=reply["undo"]["arguments"])
    )
    assert "cancelled" in undone["text"]


@pytest.mark.parametrize(
    ("accepted", "text"),
    [
        ("de-AT, en;q=0.5", "Es läuft kein Timer."),
        ("en;q=0.5, zh-CN;q=0.9", "没有正在运行的计时器。"),
        ("fi, *;q=0.1, de;q=0, nonsense;q=much", "No timer is running."),
        ("", "No timer is running."),
    ],
)
async def test_a_tool_answers_in_the_language_that_the_caller_reads(hub, accepted, text):
    headers = {"Accept-Language": accepted}
    nothing = await hub.post("/hub/tools/timers.cancel", headers=headers)
    assert (await error_of(nothing, 409))["message"] == text


async def test_tool_errors_have_honest_statuses(hub):
    assert (await error_of(await hub.post("/hub/tools/no.such"), 404))["code"] == "not_found"
    wrong = await hub.post("/hub/tools/timers.start", json={"minutes": "x"})
    assert "minutes" in (await error_of(wrong, 400))["message"]
    nothing = await hub.post("/hub/tools/timers.cancel")
    assert await error_of(nothing, 409) == {
        "code": "tool_failed",
        "message": "No timer is running.",
        "hint": "",
    }


async def test_open_pages_hear_of_timers(hub):
    async with hub.get("/hub/events") as response:
        ((name, _),) = await events_of(response, 1)
        assert name == "engine"
        await hub.post("/hub/tools/timers.start", json={"minutes": 1, "name": "tea"})
        ((name, data),) = await events_of(response, 1)
        assert name == "timer"
        assert '"state":"started"' in data
        assert '"name":"tea"' in data


async def test_a_quiet_stream_has_a_heartbeat(hub, monkeypatch):
    monkeypatch.setattr(sse, "HEARTBEAT_S", 0.05)
    async with hub.get("/hub/events") as response, asyncio.timeout(5):
        lines = [line async for line in _lines(response, 6)]
    assert b": \n" in lines


async def _lines(response, count):
    for _ in range(count):
        yield await response.content.readline()


async def test_who_leaves_is_no_listener_any_more(hub):
    from hubd.http.services import SERVICES

    board = hub.app[SERVICES].board
    async with hub.get("/hub/events") as response:
        await events_of(response, 1)
        assert board.listeners == 1
    async with asyncio.timeout(5):
        while board.listeners:  # noqa: ASYNC110 - the server notices in its own time
            await asyncio.sleep(0.01)


async def test_a_page_of_static_files(hub):
    page = await hub.get("/")
    assert page.content_type == "text/html"
    script = await hub.get("/static/app.js")
    assert script.content_type == "text/javascript"
    assert (
        await hub.get("/static/app.js", headers={"If-None-Match": script.headers["ETag"]})
    ).status == 304


async def test_a_file_is_packed_for_those_who_take_it(hub):
    plain = await hub.get("/static/app.js", headers={"Accept-Encoding": "identity"})
    packed = await hub.get("/static/app.js", headers={"Accept-Encoding": "br;q=1, gzip;q=0.5"})
    refused = await hub.get("/static/app.js", headers={"Accept-Encoding": "gzip;q=0"})
    assert "Content-Encoding" not in plain.headers
    assert "Content-Encoding" not in refused.headers
    assert packed.headers["Content-Encoding"] == "gzip"
    assert int(packed.headers["Content-Length"]) < int(plain.headers["Content-Length"]) / 2
    assert await packed.read() == await plain.read() == await refused.read()
    assert packed.headers["Vary"] == "Accept-Encoding"
    assert packed.headers["ETag"] != plain.headers["ETag"]
    same = await hub.get("/static/app.js", headers={"If-None-Match": packed.headers["ETag"]})
    assert same.status == 304
    assert await same.read() == b""
    other = await hub.get("/static/app.js", headers={"If-None-Match": '"other"'})
    assert other.status == 200


async def test_the_service_worker_keeps_every_file_of_the_page_under_one_version(hub):
    text = await (await hub.get("/worker.js")).text()
    files = json.loads(text.partition("FILES = ")[2].partition(";\n")[0])
    assert {"/", "/static/app.js", "/static/strings/zh.js", "/static/icon-512.png"} <= set(files)
    assert "/static/worker.js" not in files
    for path in files:
        assert (await hub.get(path)).status == 200, path
    again = await (await hub.get("/worker.js")).text()
    assert again == text


@pytest.mark.parametrize(
    "path",
    ["/static/../http/app.py", "/static/%2e%2e/http/app.py", "/static/", "/static/nothing.js"],
)
async def test_nothing_outside_the_pages_folder_is_served(hub, path):
    from yarl import URL

    assert (await hub.get(URL(path, encoded=True))).status == 404
