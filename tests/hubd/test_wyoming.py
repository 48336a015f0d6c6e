"""The Wyoming service, spoken to by the library's own client."""

import asyncio
import contextlib
import dataclasses
import json
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from wyoming.asr import Transcript
from wyoming.client import AsyncTcpClient
from wyoming.event import Event
from wyoming.handle import Handled, NotHandled
from wyoming.info import Describe, Info
from wyoming.ping import Ping, Pong

from hubd import wyoming
from hubd.assistant.turn import Utterance
from hubd.config import ConfigError, load_config
from hubd.errors import HubError
from hubd.http.ask import finished
from hubd.http.services import SERVICES
from hubd.settings import Config, Wyoming

HOME = """
areas: [Hall]
entities:
  - {id: light.lamp, name: Lamp, area: Hall, state: off}
  - {id: cover.garage, name: Garage Door, device_class: garage, state: closed}
"""
LOOPBACK = "127.0.0.1"


@pytest.fixture
def listening(open_hub, tmp_path):
    """``async with listening(**settings) as (port, services)``: the service of a hub."""

    @contextlib.asynccontextmanager
    async def opened(**settings):
        async with open_hub(tmp_path, Config(wyoming=Wyoming(**settings))) as hub:
            services = hub.server.app[SERVICES]
            await services.described.load(HOME)
            async with wyoming.listening(services) as port:
                yield port, services

    return opened


async def say(port, text, *, client=None, **fields):
    """What comes back for an utterance; over a connection of its own unless one is given."""
    event = None
    with contextlib.suppress(ConnectionError):  # closed by the hub
        async with contextlib.AsyncExitStack() as stack:
            client = client or await stack.enter_async_context(AsyncTcpClient(LOOPBACK, port))
            await client.write_event(Transcript(text=text, **fields).event())
            event = await asyncio.wait_for(client.read_event(), 30)
    kinds = [kind for kind in (Handled, NotHandled) if event and kind.is_type(event.type)]
    return kinds[0].from_event(event) if kinds else event


def state(services, entity):
    return services.household.snapshot().entity(entity).state


async def test_it_says_what_it_is(listening):
    async with listening() as (port, _), AsyncTcpClient(LOOPBACK, port) as client:
        await client.write_event(Describe().event())
        (program,) = Info.from_event(await client.read_event()).handle
        assert (program.name, program.installed, program.supports_home_control) == (
            "hubd", True, True,
        )  # fmt: skip
        assert {"en", "de", "es", "fr", "zh"} == set(program.models[0].languages)
        await client.write_event(Ping(text="there?").event())
        assert Pong.from_event(await client.read_event()).text == "there?"


async def test_what_is_said_is_done(listening):
    async with listening() as (port, services):
        assert "No timer is running." in (await say(port, "list timers")).text
        done = await say(port, "turn on the lamp", context={"conversation_id": "01ABC"})
        assert isinstance(done, Handled)
        assert done.context == {"conversation_id": "01ABC"}
        assert state(services, "light.lamp") == "on"
        done = await say(port, "schalte die Lamp aus", language="de-DE")
        assert state(services, "light.lamp") == "off", done.text


async def test_answers_are_for_the_ear(listening):
    async with listening() as (port, _):
        said = (await say(port, "what is 7 divided by 2")).text
        assert "3 point 5" in said
        assert "3.5" not in said


async def test_what_is_not_known_is_not_handled(listening):
    async with listening() as (port, _):
        assert isinstance(await say(port, "Who won the match last night?"), NotHandled)
        for wrong in ({}, {"text": 7}, {"text": "x" * 9000}, {"text": " "}):
            async with AsyncTcpClient(LOOPBACK, port) as client:
                await client.write_event(Event("transcript", wrong))
                event = await client.read_event()
                assert NotHandled.is_type(event.type)
                assert event.data["text"]


async def test_a_guest_opens_no_door(listening):
    async with listening() as (port, services):
        for text in ("open the garage door", "yes"):
            await say(port, text, context={"conversation_id": "a"})
        assert state(services, "cover.garage") == "closed"


async def test_a_question_back_is_answered_in_its_own_conversation_alone(listening):
    async with listening(role="member") as (port, services):
        asked = await say(port, "open the garage door", context={"conversation_id": "a"})
        assert asked.text == "Shall I open the Garage Door?"
        await say(port, "yes", context={"conversation_id": "b"})
        await say(port, "yes")
        assert state(services, "cover.garage") == "closed"
        await say(port, "yes", context={"conversation_id": "a"})
        assert state(services, "cover.garage") == "open"


async def test_a_connection_is_a_conversation_where_none_is_named(listening):
    async with listening(role="member") as (port, services), AsyncTcpClient(LOOPBACK, port) as one:
        assert "Shall I open" in (await say(port, "open the garage door", client=one)).text
        await say(port, "yes", client=one)
        assert state(services, "cover.garage") == "open"


async def test_the_conversation_of_somebody_else_cannot_be_named(listening):
    async with listening(role="member") as (port, services):
        asked = await finished(
            services, Utterance(text="open the garage door", conversation="page")
        )
        assert asked.asks == "confirm"
        await say(port, "yes", context={"conversation_id": "page"})
        assert state(services, "cover.garage") == "closed"


# What is not let in


async def raw(port, data):
    """What comes back for bytes, until the hub closes the connection or says nothing for long."""
    reader, writer = await asyncio.open_connection(LOOPBACK, port)
    writer.write(data)
    try:
        with contextlib.suppress(ConnectionError):
            return await asyncio.wait_for(reader.read(), 5)
        return b""
    finally:
        writer.close()


@pytest.mark.parametrize(
    "data",
    [
        b"hello\n",
        b"[]\n",
        b"{}\n",
        b'{"type": 7}\n',
        b'{"type": "transcript", "data_length": 1000000000}\n',
        b'{"type": "transcript", "data_length": -5}\n',
        b'{"type": "audio-chunk", "payload_length": 1000000000}\n',
        b'{"type": "transcript", "data_length": 2}\n[]',
        b'{"type": "transcript", "data": ' + b"[" * 50_000 + b"\n",
        b"x" * (3 * wyoming.MESSAGE_LIMIT),
    ],
)
async def test_what_is_no_event_ends_the_connection(listening, data):
    async with listening() as (port, _):
        assert await raw(port, data) == b""
        assert "No timer" in (await say(port, "list timers")).text


async def test_events_of_other_services_are_left_alone(listening):
    async with listening() as (port, _), AsyncTcpClient(LOOPBACK, port) as client:
        await client.write_event(Event("audio-chunk", {"rate": 16000}, b"\0" * 2048))
        assert "No timer" in (await say(port, "list timers", client=client)).text


async def test_there_are_only_so_many_connections(listening):
    async with listening() as (port, _), contextlib.AsyncExitStack() as stack:
        clients = [
            await stack.enter_async_context(AsyncTcpClient(LOOPBACK, port))
            for _ in range(wyoming.CONNECTIONS_LIMIT)
        ]
        for client in clients:
            assert "No timer" in (await say(port, "list timers", client=client)).text
        assert await say(port, "list timers") is None
        await clients[0].disconnect()
        async with asyncio.timeout(5):
            while await say(port, "list timers") is None:  # noqa: ASYNC110
                await asyncio.sleep(0.02)


async def test_who_says_nothing_is_let_go(listening, monkeypatch):
    monkeypatch.setattr(wyoming, "IDLE_LIMIT_S", 0.2)
    async with listening() as (port, _):
        began = time.monotonic()
        assert await raw(port, b"") == b""
        assert 0.1 < time.monotonic() - began < 3


async def test_the_end_waits_for_who_is_being_answered_and_for_nobody_else(listening):
    async with contextlib.AsyncExitStack() as stack, contextlib.AsyncExitStack() as clients:
        port, services = await stack.enter_async_context(listening())
        idle = await clients.enter_async_context(AsyncTcpClient(LOOPBACK, port))
        async with services.assistant.commands.decider._routing:  # nobody is understood meanwhile
            waiting = asyncio.create_task(say(port, "list timers"))
            await until(lambda: services.turns.running == 1)
            closing = asyncio.create_task(stack.aclose())
            await until(lambda: refused(port))
            assert not closing.done()
        assert "No timer" in (await waiting).text
        assert await idle.read_event() is None
        began = time.monotonic()
        await closing
        assert time.monotonic() - began < 5


async def test_who_hangs_up_is_not_answered(listening):
    async with listening() as (port, services):
        async with services.assistant.commands.decider._routing:
            client = AsyncTcpClient(LOOPBACK, port)
            await client.connect()
            await client.write_event(Transcript(text="turn on the lamp").event())
            await until(lambda: services.turns.running == 1)
            await client.disconnect()
            await until(lambda: services.turns.running == 0)
        assert "No timer" in (await say(port, "list timers")).text
        assert state(services, "light.lamp") == "off"


async def until(holds, within_s=5.0):
    async with asyncio.timeout(within_s):
        while True:
            held = holds()
            if await held if asyncio.iscoroutine(held) else held:
                return
            await asyncio.sleep(0.01)


async def refused(port):
    try:
        _, writer = await asyncio.open_connection(LOOPBACK, port)
    except ConnectionError:
        return True
    writer.close()
    return False


async def test_another_machine_must_be_named(listening):
    try:
        own = wyoming._own_address()
    except OSError:
        pytest.skip("this machine has no network")
    if own.startswith("127."):
        pytest.skip("this machine has no address but loopback")
    for allow, taken in (["203.0.113.1"], False), ([f"{own}/32"], True):
        async with listening(host="0.0.0.0", allow=allow) as (port, _):
            event = None
            with contextlib.suppress(ConnectionError):
                async with AsyncTcpClient(own, port) as client:
                    await client.write_event(Describe().event())
                    event = await client.read_event()
            assert (event is not None) == taken


@pytest.mark.parametrize(
    ("peer", "allow", "allowed"),
    [
        ("127.0.0.1", [], True),
        ("::1", [], True),
        ("::ffff:127.0.0.1", [], True),
        ("192.168.1.5", [], False),
        ("192.168.1.5", ["192.168.1.0/24"], True),
        ("::ffff:192.168.1.5", ["192.168.1.5"], True),
        ("192.168.2.5", ["192.168.1.0/24"], False),
        ("fe80::1%eth0", ["fe80::/10"], True),
        ("", ["0.0.0.0/0"], False),
    ],
)
def test_who_may_speak(peer, allow, allowed):
    assert wyoming.is_allowed(peer, Wyoming(allow=allow)) == allowed


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('host = "0.0.0.0"', "any machine could speak"),
        ('allow = ["nobody"]', "addresses or networks"),
        ('allow = ["192.168.1.5/24"]', "host bits"),
        ("announce = true", "only this machine"),
        ('role = "king"', "owner, member, guest or child"),
    ],
)
def test_settings_that_do_not_go_together(tmp_path, text, words):
    file = tmp_path / "hubd.toml"
    file.write_text(f"[wyoming]\nport = 10400\n{text}\n")
    with pytest.raises(ConfigError, match=words):
        load_config(file, {})


async def test_a_port_that_is_taken_is_told(listening):
    async with listening() as (port, services):
        taken = Config(wyoming=Wyoming(port=port))
        with pytest.raises(HubError, match=f"cannot listen on 127.0.0.1 port {port}"):
            async with wyoming.listening(dataclasses.replace(services, config=taken)):
                pass


# The framing


def read(data):
    async def run():
        reader = asyncio.StreamReader(limit=wyoming.MESSAGE_LIMIT)
        reader.feed_data(data)
        reader.feed_eof()
        return await wyoming.read_event(reader)

    return asyncio.run(run())


@settings(deadline=None)
@given(st.binary(max_size=300))
def test_no_bytes_do_more_than_end_the_connection(data):
    with contextlib.suppress(wyoming.BrokenError):
        assert isinstance(read(data), Event | None)


@settings(deadline=None)
@given(
    st.text(max_size=20),
    st.dictionaries(st.text(max_size=5), st.integers() | st.text(max_size=9) | st.none()),
    st.binary(max_size=50),
)
def test_an_event_is_read_as_it_was_written(kind, data, payload):
    head = {"type": kind, "data": {"a": 1, **data}, "payload_length": len(payload)}
    split = {"type": kind, "data_length": 0, "payload_length": len(payload)}
    body = json.dumps({"a": 1, **data}).encode()
    split["data_length"] = len(body)
    for written in (
        json.dumps(head).encode() + b"\n" + payload,
        json.dumps(split).encode() + b"\n" + body + payload,
    ):
        event = read(written)
        assert (event.type, event.data, event.payload or b"") == (kind, {"a": 1, **data}, payload)


# Being found


async def test_it_is_announced_and_taken_back():
    from zeroconf import ServiceStateChange
    from zeroconf.asyncio import AsyncServiceBrowser, AsyncServiceInfo, AsyncZeroconf

    seen: dict[str, ServiceStateChange] = {}

    def changed(zeroconf, service_type, name, state_change):
        seen[name] = state_change

    watcher = AsyncZeroconf(interfaces=[LOOPBACK])
    try:
        browser = AsyncServiceBrowser(watcher.zeroconf, wyoming.SERVICE, handlers=[changed])
        async with wyoming.announced(LOOPBACK, 10477):
            await until(lambda: ServiceStateChange.Added in seen.values(), 10)
            (name,) = seen
            info = AsyncServiceInfo(wyoming.SERVICE, name)
            assert await info.async_request(watcher.zeroconf, 3000)
            assert (info.port, info.parsed_addresses()) == (10477, [LOOPBACK])
        await until(lambda: seen[name] is ServiceStateChange.Removed, 10)
        await browser.async_cancel()
    finally:
        await watcher.async_close()
