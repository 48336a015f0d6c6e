"""The hub's mirror of a real Home Assistant, and what it does through it."""

import asyncio
import contextlib
import gc
import time
import tracemalloc
from contextlib import asynccontextmanager

import aiohttp
import msgspec
import pytest

from hubd.home.connection import connected
from hubd.home.home_assistant import HomeAssistant
from hubd.home.link import Link
from plugins.api import HomeError


async def until(holds, within_s=10.0):
    async with asyncio.timeout(within_s):
        while not holds():  # noqa: ASYNC110 - what is waited for has no event
            await asyncio.sleep(0.02)


@asynccontextmanager
async def connected_to(process, **options):
    """The hub's side of a running Home Assistant, once it is connected."""
    home = HomeAssistant(Link(url=process.url, token=process.token), **options)
    async with home.running():
        await until(lambda: home.status().state == "connected")
        yield home


async def call_of_owner(process, name, **data):
    await asyncio.to_thread(process.service, name, **data)


async def test_what_is_exposed_to_assist_is_seen(home_assistant, home_assistant_version):
    async with connected_to(home_assistant) as home:
        snapshot = home.snapshot()
        lights = {e.name for e in snapshot.entities if e.domain == "light"}
        assert {"Kitchen Lights", "Bed Light", "Ceiling Lights"} <= lights
        assert snapshot.entity("alarm_control_panel.security") is None
        assert snapshot.entity("weather.demo_weather_south") is None
        assert home.status().version == home_assistant_version


async def test_everything_is_seen_where_it_is_asked_for(home_assistant):
    async with connected_to(home_assistant, everything=True) as home:
        assert home.snapshot().entity("alarm_control_panel.security") is not None


async def test_a_change_is_seen_at_once(home_assistant):
    async with connected_to(home_assistant) as home:
        version = home.snapshot().version
        for service, state in (("turn_off", "off"), ("turn_on", "on")):
            await call_of_owner(home_assistant, f"light.{service}", entity_id="light.bed_light")
            await until(lambda s=state: home.snapshot().entity("light.bed_light").state == s, 2)
        assert home.snapshot().version == version, "states are no change of the household"


async def test_a_service_is_called_and_read_back(home_assistant):
    async with connected_to(home_assistant) as home:
        await home.call("light.turn_off", ["light.kitchen_lights"])
        done = await home.call("light.turn_on", ["light.kitchen_lights"], {"brightness_pct": 50})
        assert [entity.state for entity in done.before] == ["off"]
        assert [entity.state for entity in done.after] == ["on"]
        assert done.after[0].attributes["brightness"] == pytest.approx(128, abs=1)
        assert done.failed == {}
        state = await asyncio.to_thread(home_assistant.state, "light.kitchen_lights")
        assert state == "on"


async def test_a_service_that_answers_is_asked(home_assistant):
    async with connected_to(home_assistant, everything=True) as home:
        told = await home.ask(
            "weather.get_forecasts", "weather.demo_weather_south", {"type": "daily"}
        )
        assert len(told["forecast"]) == 7
        with pytest.raises(HomeError, match="does not answer"):
            await home.ask("weather.get_forecasts", "light.bed_light", {"type": "daily"})
        with pytest.raises(HomeError, match=r"no light\.attic"):
            await home.ask("weather.get_forecasts", "light.attic", {"type": "daily"})
        with pytest.raises(HomeError, match="does not answer"):
            await home.ask("weather.get_nothing", "weather.demo_weather_south")


async def test_what_is_so_already_is_no_failure(home_assistant):
    async with connected_to(home_assistant) as home:
        await home.call("light.turn_on", ["light.bed_light"])
        began = time.monotonic()
        done = await home.call("light.turn_on", ["light.bed_light"])
        assert done.failed == {}
        assert time.monotonic() - began < 1


async def test_a_device_that_does_not_follow_is_told(home_assistant):
    async with connected_to(home_assistant, everything=True) as home:
        asked = {"temperature": 21}
        done = await home.call("climate.set_temperature", ["climate.hvac"], asked)
        assert done.failed == {}
        done = await home.call("lock.lock", ["lock.poorly_installed_door"])
        assert list(done.failed) == ["lock.poorly_installed_door"]
        assert "jammed" in done.failed["lock.poorly_installed_door"]


@pytest.mark.parametrize(
    ("service", "entity", "words"),
    [
        ("light.turn_on", "light.nowhere", "no light.nowhere"),
        ("light.turn_on", "alarm_control_panel.security", "no alarm_control_panel.security"),
        ("light.explode", "light.bed_light", "refused light.explode"),
    ],
)
async def test_what_cannot_be_done_is_an_honest_error(home_assistant, service, entity, words):
    async with connected_to(home_assistant) as home:
        with pytest.raises(HomeError, match=words):
            await home.call(service, [entity])


async def test_registries_are_followed(home_assistant):
    async with connected_to(home_assistant) as home, commands(home_assistant) as command:
        area = await command("config/area_registry/create", name="Attic", aliases=["Loft"])
        await command(
            "config/entity_registry/update",
            entity_id="light.bed_light",
            area_id=area["area_id"],
            aliases=["Night lamp"],
        )
        await until(lambda: home.snapshot().entity("light.bed_light").aliases)
        light = home.snapshot().entity("light.bed_light")
        assert light.aliases == ("Night lamp",)
        attic = next(a for a in home.snapshot().areas if a.id == light.area)
        assert (attic.name, attic.aliases) == ("Attic", ("Loft",))
        for exposed in (False, True):
            await command(
                "homeassistant/expose_entity",
                assistants=["conversation"],
                entity_ids=["light.bed_light"],
                should_expose=exposed,
            )
            await until(lambda e=exposed: bool(home.snapshot().entity("light.bed_light")) == e)


@asynccontextmanager
async def commands(process):
    """Commands of the owner over a WebSocket."""
    async with aiohttp.ClientSession() as session:
        link = Link(url=process.url, token=process.token)
        async with connected(session, link) as connection:
            yield connection.command


async def test_a_wrong_token_is_not_tried_again_and_again(home_assistant):
    home = HomeAssistant(Link(url=home_assistant.url, token="wrong"))
    async with home.running():
        await until(lambda: home.status().state == "refused")
        with pytest.raises(HomeError, match="has not let the hub in"):
            await home.call("light.turn_on", ["light.bed_light"])


def test_the_token_is_in_no_words_about_the_link():
    link = Link(url="http://x", token="secret-token")
    assert "secret-token" not in repr(link)
    status = msgspec.json.encode(HomeAssistant(link).status()).decode()
    assert "secret-token" not in status


# When Home Assistant is away


async def test_it_goes_and_comes_back(make_home_assistant):
    process = make_home_assistant()
    await asyncio.to_thread(process.start)
    async with connected_to(process) as home:
        await asyncio.to_thread(process.stop)
        await until(lambda: home.status().state == "away")
        began = time.monotonic()
        with pytest.raises(HomeError, match=r"has not answered since \d\d:\d\d"):
            await home.call("light.turn_off", ["light.kitchen_lights"])
        assert time.monotonic() - began < 2
        assert home.snapshot().entities, "what was known stays known"
        assert home.snapshot().as_of == home.status().since, "and that it may be old"
        assert home.snapshot() is home.snapshot(), "pages are told of changes alone"
        await asyncio.to_thread(process.start)
        began = time.monotonic()
        await until(lambda: home.status().state == "connected")
        right = {e["entity_id"]: e["state"] for e in await asyncio.to_thread(process.entities)}
        await until(
            lambda: (
                all(e.state == right.get(e.id) for e in home.snapshot().entities)
                and home.snapshot().entities
            )
        )
        assert time.monotonic() - began < 5
        await asyncio.sleep(1)  # time for what might be done late
        assert home.snapshot().as_of is None
        assert home.snapshot().entity("light.kitchen_lights").state == "on"


async def test_a_half_open_connection_is_noticed(make_home_assistant):
    process = make_home_assistant()
    await asyncio.to_thread(process.start)
    async with connected_to(process) as home:
        assert (await home.call("light.turn_on", ["light.kitchen_lights"])).failed == {}
        process.pause()
        began = time.monotonic()
        with pytest.raises(HomeError, match="does not answer; nothing was sent"):
            await home.call("light.turn_off", ["light.kitchen_lights"])
        assert time.monotonic() - began < 2
        process.go_on()
        await asyncio.sleep(2)  # time for what might be done late
        assert await asyncio.to_thread(process.state, "light.kitchen_lights") == "on"
        process.pause()
        await until(lambda: home.status().state == "away", 20)
        process.go_on()
        await until(lambda: home.status().state == "connected", 10)
        done = await home.call("light.turn_off", ["light.kitchen_lights"])
        assert done.failed == {}


async def test_home_assistant_that_goes_while_it_is_at_it_is_told_so(home_assistant):
    """The service is on its way when the line falls silent: what became of it is not known."""
    async with (
        slow_line(home_assistant.port) as (url, line),
        HomeAssistant(Link(url=url, token=home_assistant.token)).running() as home,
    ):
        await until(lambda: home.status().state == "connected")
        line.silent_from = b"/api/services/light/turn_on"
        began = time.monotonic()
        with pytest.raises(HomeError, match="whether it did it is not known"):
            await home.call("light.turn_on", ["light.kitchen_lights"])
        assert time.monotonic() - began < 2


async def test_an_answer_that_takes_ten_seconds_is_not_waited_for(home_assistant):
    async with slow_line(home_assistant.port) as (url, line):
        link = Link(url=url, token=home_assistant.token)
        async with HomeAssistant(link).running() as home:
            await until(lambda: home.status().state == "connected")
            line.delay_s = 10
            began = time.monotonic()
            with pytest.raises(HomeError, match="does not answer; nothing was sent"):
                await home.call("light.turn_on", ["light.kitchen_lights"])
            assert time.monotonic() - began < 2


class Line:
    delay_s = 0.0
    silent_from = b""
    """From the piece that holds these bytes on nothing is carried."""


@asynccontextmanager
async def slow_line(port):
    """A line to a port that carries each piece after ``delay_s``."""
    line = Line()

    async def carry(reader, writer):
        while data := await reader.read(65536):
            if line.silent_from and line.silent_from in data:
                line.delay_s = 3600
            await asyncio.sleep(line.delay_s)
            writer.write(data)
        writer.close()

    async def serve(reader, writer):
        there, back = await asyncio.open_connection("127.0.0.1", port)
        tasks = [
            asyncio.create_task(carry(reader, back)),
            asyncio.create_task(carry(there, writer)),
        ]
        try:
            await asyncio.gather(*tasks)
        except (OSError, asyncio.CancelledError):
            pass
        finally:
            for task in tasks:
                task.cancel()
            back.close()
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", line
    finally:
        server.close()


async def test_a_token_that_is_revoked_ends_the_connection(make_home_assistant):
    process = make_home_assistant()
    await asyncio.to_thread(process.start)
    async with connected_to(process) as home, commands(process) as command:
        tokens = await command("auth/refresh_tokens")
        number = next(t["id"] for t in tokens if t["client_name"] == "hubd")
        with contextlib.suppress(HomeError):
            await command("auth/delete_refresh_token", refresh_token_id=number)
        await until(lambda: home.status().state in ("refused", "away"), 15)
        await until(lambda: home.status().state == "refused", 15)
        with pytest.raises(HomeError, match="has not let the hub in"):
            await home.call("light.turn_on", ["light.bed_light"])


LAMP = {
    "min_color_temp_kelvin": 2000,
    "max_color_temp_kelvin": 6535,
    "min_mireds": 153,
    "max_mireds": 500,
    "effect_list": ["rainbow", "none"],
    "supported_color_modes": ["color_temp", "hs"],
    "color_mode": "hs",
    "brightness": 180,
    "hs_color": [30.0, 60.0],
    "rgb_color": [255, 178, 102],
    "xy_color": [0.5, 0.4],
    "supported_features": 4,
}
"""What a coloured lamp says of itself."""


async def test_a_home_of_two_thousand_entities(make_home_assistant):
    process = make_home_assistant()
    await asyncio.to_thread(process.start)
    headers = {"Authorization": f"Bearer {process.token}"}
    async with aiohttp.ClientSession(headers=headers) as session:

        async def add(number):
            body = {"state": "on", "attributes": LAMP | {"friendly_name": f"Lamp {number}"}}
            url = f"{process.url}/api/states/light.lamp_{number}"
            async with session.post(url, json=body) as response:
                assert response.status == 201

        for start in range(0, 2000, 50):
            await asyncio.gather(*(add(start + n) for n in range(50)))
    async with commands(process) as command:
        await command(
            "homeassistant/expose_entity",
            assistants=["conversation"],
            entity_ids=[f"light.lamp_{number}" for number in range(2000)],
            should_expose=True,
        )
    began = time.monotonic()
    async with connected_to(process) as home:
        took = time.monotonic() - began
        assert len(home.snapshot().entities) > 2000
        assert took < 3
    gc.collect()
    tracemalloc.start()
    try:
        async with connected_to(process) as home:
            assert len(home.snapshot().entities) > 2000
            gc.collect()
            size, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert size < 20_000_000
    assert peak < 40_000_000
