"""A line that passes no WebSockets: what is still done, over the webhook alone."""

import asyncio
import contextlib
import json
import threading
import time
from contextlib import asynccontextmanager

import aiohttp
import pytest

from hubd.home import webhooks
from hubd.home.by_webhook import ByWebhook
from hubd.home.home_assistant import HomeAssistant
from hubd.home.link import Link
from plugins.api import Entity, HomeError


class Line:
    """A proxy before Home Assistant that may end WebSockets, or carry nothing back."""

    def __init__(self, port):
        self.there = port
        self.url = ""
        self.websockets = True
        self.silent_from = b""
        """From the piece that holds these bytes on no answer is carried, on no connection."""
        self.silent = False
        self._sockets = []

    async def end_websockets(self):
        self.websockets = False
        for writer in self._sockets:
            writer.transport.abort()
        self._sockets.clear()

    async def serve(self, reader, writer):
        there, back = await asyncio.open_connection("127.0.0.1", self.there)
        answers = asyncio.create_task(self._carry(there, writer))
        try:
            while data := await reader.read(65536):
                if data.startswith(b"GET /api/websocket"):
                    if not self.websockets:
                        writer.write(b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n")
                        break
                    self._sockets.append(writer)
                if self.silent_from and self.silent_from in data:
                    self.silent = True
                back.write(data)
        except OSError:
            pass
        finally:
            answers.cancel()
            back.close()
            writer.close()

    async def _carry(self, there, writer):
        while data := await there.read(65536):
            if not self.silent:
                writer.write(data)
        writer.close()


@asynccontextmanager
async def line_to(port):
    line = Line(port)
    server = await asyncio.start_server(line.serve, "127.0.0.1", 0)
    line.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield line
    finally:
        server.close()


@contextlib.contextmanager
def running_line(port):
    """The line on a loop of its own, and what has a coroutine run there."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()

    def do(work):
        return asyncio.run_coroutine_threadsafe(work, loop).result(10)

    line = line_to(port)
    try:
        yield do(line.__aenter__()), do
    finally:
        do(line.__aexit__(None, None, None))
        do(_end_all())
        loop.call_soon_threadsafe(loop.stop)
        thread.join(5)
        loop.close()


async def _end_all():
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)


def kept(folder):
    """The hub's link file."""
    return json.loads((folder / "data" / "home-assistant.json").read_text())


async def until(holds, within_s=10.0):
    async with asyncio.timeout(within_s):
        while not holds():  # noqa: ASYNC110 - what is waited for has no event
            await asyncio.sleep(0.02)


@asynccontextmanager
async def without_websockets(process):
    """The hub's side, registered, after its WebSocket was ended; and the line."""
    async with line_to(process.port) as line, aiohttp.ClientSession() as session:
        link = Link(url=line.url, token=process.token)
        made = await webhooks.register(session, link, "")
        home = HomeAssistant(
            Link(url=line.url, token=process.token, registration=made), everything=True
        )
        async with home.running():
            await until(lambda: home.status().state == "connected")
            await line.end_websockets()
            await until(lambda: home.status().state == "away")
            yield home, line


async def test_a_service_is_done_and_read_back(home_assistant):
    process = home_assistant
    await asyncio.to_thread(process.service, "light.turn_off", entity_id="light.bed_light")
    async with without_websockets(process) as (home, _):
        # Somebody switches it in between: the mirror does not know, and what was is told anyway.
        await asyncio.to_thread(process.service, "light.turn_on", entity_id="light.bed_light")
        done = await home.call("light.turn_on", ["light.bed_light"], {"brightness_pct": 50})
        assert [entity.state for entity in done.before] == ["on"]
        assert done.after[0].attributes["brightness"] == pytest.approx(128, abs=1)
        assert done.failed == {}
        assert await asyncio.to_thread(process.state, "light.bed_light") == "on"
        done = await home.call("lock.lock", ["lock.poorly_installed_door"])
        assert "jammed" in done.failed["lock.poorly_installed_door"]
        assert home.status().state == "away"


@pytest.mark.parametrize(
    ("service", "entity", "words"),
    [
        ("light.turn_on", "light.nowhere", "no light.nowhere"),
        ("light.explode", "light.bed_light", "refused light.explode; its log says why"),
    ],
)
async def test_what_cannot_be_done_is_an_honest_error(home_assistant, service, entity, words):
    async with without_websockets(home_assistant) as (home, _):
        with pytest.raises(HomeError, match=words):
            await home.call(service, [entity])


async def test_every_state_of_the_demo_home_can_be_told(home_assistant):
    async with aiohttp.ClientSession() as session:
        link = Link(url=home_assistant.url, token=home_assistant.token)
        webhook = ByWebhook(session, link, await webhooks.register(session, link, ""))
        right = {e["entity_id"]: e for e in await asyncio.to_thread(home_assistant.entities)}
        asked = [Entity(id=known, name=known, state="?") for known in right]
        told = await webhook.read([*asked, Entity(id="light.gone", name="Gone", state="?")])
        assert [entity.id for entity in told] == list(right)
        assert {entity.id: entity.state for entity in told} == {
            known: row["state"] for known, row in right.items()
        }


async def test_home_assistant_that_is_gone_too_is_told_within_two_seconds(make_home_assistant):
    process = make_home_assistant()
    await asyncio.to_thread(process.start)
    async with without_websockets(process) as (home, line):
        process.pause()
        try:
            began = time.monotonic()
            with pytest.raises(HomeError, match=r"has not answered since \d\d:\d\d"):
                await home.call("light.turn_off", ["light.kitchen_lights"])
            assert time.monotonic() - began < 2
        finally:
            process.go_on()
        await asyncio.sleep(1)  # time for what might be done late
        assert await asyncio.to_thread(process.state, "light.kitchen_lights") == "on"
        line.silent_from = b'"call_service"'
        began = time.monotonic()
        with pytest.raises(HomeError, match="whether it did it is not known"):
            await home.call("light.turn_off", ["light.kitchen_lights"])
        assert time.monotonic() - began < 2.5


async def test_a_hub_that_was_deleted_there_does_nothing_any_more(make_home_assistant):
    process = make_home_assistant()
    await asyncio.to_thread(process.start)
    async with without_websockets(process) as (home, _):
        path = "/api/config/config_entries/entry"
        for entry in await asyncio.to_thread(process.request, "GET", path):
            if entry["domain"] == "mobile_app":
                await asyncio.to_thread(process.request, "DELETE", f"{path}/{entry['entry_id']}")
        with pytest.raises(HomeError, match="has not answered since"):
            await home.call("light.turn_off", ["light.kitchen_lights"])


def test_a_person_says_it_while_a_proxy_passes_no_websockets(
    home_assistant, start, connect, tmp_path_factory, eventually
):
    """The whole way: a daemon, a sentence, and the light in Home Assistant."""
    folder = tmp_path_factory.mktemp("hub")
    (folder / "hubd.toml").write_text("[engine]\npreload = false\n[rag]\npreload = false\n")
    hub = start(folder)
    with running_line(home_assistant.port) as (line, do):
        connect(hub, home_assistant, line.url)
        eventually(lambda: kept(folder).get("registration"))
        home_assistant.service("light.turn_off", entity_id="light.kitchen_lights")
        do(line.end_websockets())

        def is_away():
            with hub.client() as client:
                return client.get("/hub/home-assistant").json()["status"]["state"] == "away"

        eventually(is_away)
        said = hub.command("ask", "turn on the kitchen lights").stdout
        assert "Kitchen Lights" in said
        assert home_assistant.state("light.kitchen_lights") == "on"
        assert "does not answer" not in said
