"""Wyoming: the hub as a ``handle`` service, so that voice pipelines can put what was said to it.

The protocol (https://github.com/OHF-Voice/wyoming) is a JSON line, data and payload over TCP. It
has no way to prove who calls: only machines that the configuration names are listened to, and
whatever comes this way acts in the one role that it gives.
"""

import asyncio
import contextlib
import hashlib
import ipaddress
import logging
import secrets
import socket
from collections.abc import AsyncIterator
from typing import Annotated, Any, TypeVar

import msgspec
from msgspec import Meta
from wyoming.event import Event, async_write_event
from wyoming.handle import Handled, NotHandled
from wyoming.info import Attribution, Describe, HandleModel, HandleProgram, Info
from wyoming.ping import Ping, Pong

import hubd
from hubd.assistant.turn import Utterance
from hubd.assistant.understanding.grammar import LANGUAGES
from hubd.errors import BadRequestError, HubError
from hubd.http.ask import finished
from hubd.http.services import Services
from hubd.policy import Person
from hubd.settings import Wyoming

log = logging.getLogger(__name__)

VOICE = "voice"
"""The name of whoever speaks to a voice pipeline."""
CONNECTIONS_LIMIT = 16
"""Home Assistant opens one for each utterance."""
MESSAGE_LIMIT = 64 * 1024
"""Bytes of a line, of its data and of its payload. Sound, which is larger, is none of ours."""
IDLE_LIMIT_S = 300.0
WRITE_LIMIT_S = 10.0
DRAIN_S = 10.0
"""For who is being answered when the hub stops."""
SERVICE = "_wyoming._tcp.local."
MULTICAST = ("224.0.0.251", 5353)
ANY = ("0.0.0.0", "::", "")
"""Hosts that stand for every address of this machine."""

Length = Annotated[int, Meta(ge=0, le=MESSAGE_LIMIT)] | None
T = TypeVar("T")


class Header(msgspec.Struct, kw_only=True):
    """The line that begins an event."""

    type: Annotated[str, Meta(max_length=100)]
    data: dict[str, Any] = {}
    data_length: Length = None
    """Bytes of JSON after the line, to be added to ``data``."""
    payload_length: Length = None


class Context(msgspec.Struct, kw_only=True):
    """What a caller says about an utterance: its conversation, and the device that heard it."""

    conversation_id: Annotated[str, Meta(max_length=200)] | None = None
    device_id: Annotated[str, Meta(max_length=200)] | None = None


class Transcript(msgspec.Struct, kw_only=True):
    """What was said. Other fields than these are left alone."""

    text: Annotated[str, Meta(max_length=8_000)]
    language: Annotated[str, Meta(max_length=20)] | None = None
    context: Context | None = None


class BrokenError(HubError):
    """What comes is no event of the protocol, or too large a one: nothing after it can be read."""


async def read_event(reader: asyncio.StreamReader) -> Event | None:
    """The next event; ``None`` at the end of the connection.

    Raises:
        BrokenError: it is none, or larger than ``MESSAGE_LIMIT``.
    """
    try:
        line = await reader.readline()
        if not line:
            return None
        header = msgspec.json.decode(line, type=Header)
        data = await reader.readexactly(header.data_length or 0)
        payload = await reader.readexactly(header.payload_length or 0)
        more = msgspec.json.decode(data, type=dict[str, Any]) if data else {}
    except (asyncio.IncompleteReadError, OSError):
        return None
    except (ValueError, msgspec.MsgspecError, RecursionError) as error:
        raise BrokenError(str(error)) from error
    return Event(type=header.type, data=header.data | more, payload=payload or None)


class WyomingServer:
    """Answers callers. ``listening`` runs it."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._settings = services.config.wyoming
        self._callers: dict[asyncio.Task[None], bool] = {}
        """Whether each is being answered now."""
        self._stopping = False

    async def take(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection, from its beginning to its end."""
        task = asyncio.current_task()
        assert task is not None
        peer = str((writer.get_extra_info("peername") or ("",))[0])
        try:
            if not is_allowed(peer, self._settings):
                log.warning("wyoming: %s is not in [wyoming] allow", peer)
            elif len(self._callers) >= CONNECTIONS_LIMIT or self._stopping:
                log.warning("wyoming: too many connections, %s is refused", peer)
            else:
                self._callers[task] = False
                await self._converse(reader, writer, task)
        except asyncio.CancelledError:
            if not self._stopping:  # else `stop` let it go, and asyncio would call that a failure
                raise
        except (BrokenError, OSError, TimeoutError) as error:
            log.info("wyoming: connection of %s ended: %s", peer, error or type(error).__name__)
        finally:
            self._callers.pop(task, None)
            writer.close()

    async def stop(self) -> None:
        """Nobody new; who is being answered gets time, the others are let go."""
        self._stopping = True
        answered = [task for task, busy in self._callers.items() if busy]
        for task in self._callers.keys() - answered:
            task.cancel()
        if answered:
            await asyncio.wait(answered, timeout=DRAIN_S)
        for task in list(self._callers):
            task.cancel()
        await asyncio.gather(*self._callers, return_exceptions=True)

    async def _converse(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, caller: asyncio.Task[None]
    ) -> None:
        """Answer one event after the other. The next is read meanwhile, to see who hangs up."""
        own = secrets.token_hex(8)
        coming = asyncio.create_task(read_event(reader))
        answering: asyncio.Task[Event | None] | None = None
        try:
            while not self._stopping:
                event = await asyncio.wait_for(coming, IDLE_LIMIT_S)
                if event is None:
                    return
                self._callers[caller] = True
                coming = asyncio.create_task(read_event(reader))
                answering = asyncio.create_task(self._answer(event, own))
                await asyncio.wait({answering, coming}, return_when=asyncio.FIRST_COMPLETED)
                if not answering.done() and coming.result() is None:
                    return
                answer = await answering
                if answer is not None:
                    async with asyncio.timeout(WRITE_LIMIT_S):
                        await async_write_event(answer, writer)
                self._callers[caller] = False
        finally:
            left = [task for task in (coming, answering) if task is not None]
            for task in left:
                task.cancel()
            await asyncio.gather(*left, return_exceptions=True)

    async def _answer(self, event: Event, own: str) -> Event | None:
        """What an event is answered with; ``own`` names the conversation that nobody named."""
        if Describe.is_type(event.type):
            return information().event()
        if Ping.is_type(event.type):
            return Pong(text=str(event.data.get("text") or "")[:MESSAGE_LIMIT]).event()
        if event.type != "transcript":
            return None  # callers may send events that a service does not know
        said = Transcript(text="")
        try:
            said = _converted(event.data, Transcript)
            return await self._handled(said, own)
        except HubError as error:
            text = f"{error.message} {error.hint}".strip()
            return NotHandled(text=text, context=_given(said)).event()

    async def _handled(self, said: Transcript, own: str) -> Event:
        """A turn of the assistant.

        Raises:
            HubError: it failed.
        """
        if not said.text.strip():
            raise BadRequestError("Nothing was said.")
        context = said.context or Context()
        services = self._services
        utterance = Utterance(
            text=said.text.strip(),
            conversation=_conversation(context.conversation_id or own),
            language=said.language,
            area=services.household.area_of_device(context.device_id or ""),
            person=Person(name=VOICE, role=self._settings.role),
            speech=True,
        )
        async with services.turns.one():
            done = await finished(services, utterance)
        text = done.answer if done.speech is None else done.speech
        if done.refused:
            return NotHandled(text=text, context=_given(said)).event()
        return Handled(text=text, context=_given(said)).event()


def _conversation(name: str) -> str:
    """The conversation of that name, apart from those of the page whatever the name."""
    return f"wyoming-{hashlib.sha256(name.encode()).hexdigest()[:16]}"


def _given(said: Transcript) -> dict[str, str] | None:
    """The context of an answer: the conversation's own name again."""
    named = said.context.conversation_id if said.context else None
    return {"conversation_id": named} if named else None


def information() -> Info:
    """What the hub is, for those who ask with ``describe``."""
    source = Attribution(name="hubd", url="")
    model = HandleModel(
        name="household",
        attribution=source,
        installed=True,
        description="The household's own assistant",
        version=hubd.__version__,
        languages=list(LANGUAGES),
    )
    program = HandleProgram(
        name="hubd",
        attribution=source,
        installed=True,
        description="Home smart hub: commands, timers, lists, the family's documents",
        version=hubd.__version__,
        models=[model],
        supports_home_control=True,
    )
    return Info(handle=[program])


def is_allowed(peer: str, settings: Wyoming) -> bool:
    """Whether the configuration lets a machine of this address speak."""
    try:
        address = ipaddress.ip_address(peer.partition("%")[0])
    except ValueError:
        return False
    mapped = getattr(address, "ipv4_mapped", None)
    known = mapped or address
    return known.is_loopback or any(known in network for network in settings.networks())


def _converted(data: dict[str, Any], kind: type[T]) -> T:
    try:
        return msgspec.convert(data, kind)
    except msgspec.ValidationError as error:
        raise BadRequestError(f"That is no transcript: {error}") from error


@contextlib.asynccontextmanager
async def listening(services: Services) -> AsyncIterator[int]:
    """Answer, and be found, for the time of the block; yields the port.

    Raises:
        HubError: the port cannot be used, or what announces it is not installed.
    """
    settings = services.config.wyoming
    server = WyomingServer(services)
    try:
        doors = await asyncio.start_server(
            server.take, settings.host, settings.port, limit=MESSAGE_LIMIT
        )
    except OSError as error:
        raise HubError(
            f"cannot listen on {settings.host} port {settings.port}: {error.strerror or error}",
            "Another program may use it: choose another with [wyoming] port.",
        ) from error
    port = int(doors.sockets[0].getsockname()[1])
    async with contextlib.AsyncExitStack() as stack:
        stack.push_async_callback(server.stop)
        stack.callback(doors.close)
        if settings.announce:
            await stack.enter_async_context(announced(settings.host, port))
        log.info("wyoming: listening host=%s port=%d role=%s", settings.host, port, settings.role)
        yield port


@contextlib.asynccontextmanager
async def announced(host: str, port: int) -> AsyncIterator[None]:
    """Told to the network by multicast DNS (zeroconf) for the time of the block.

    Without a network that is said in the log, and nothing else is the worse for it.

    Raises:
        HubError: the package ``zeroconf`` is not installed.
    """
    try:
        from zeroconf import Error, InterfaceChoice
        from zeroconf.asyncio import AsyncServiceInfo, AsyncZeroconf
    except ImportError as error:
        raise HubError(
            "[wyoming] announce needs the package zeroconf",
            "Install it with `pip install 'hubd[announce]'`, or set announce = false.",
        ) from error

    async def announce() -> None:
        try:
            address = _own_address() if host in ANY else host
            interfaces = InterfaceChoice.Default if host in ANY else [host]
            multicast = AsyncZeroconf(interfaces=interfaces)
        except (OSError, Error) as error:
            log.warning("wyoming: cannot be announced: %s", error)
            return
        name = f"hubd-{socket.gethostname()}.{SERVICE}"
        info = AsyncServiceInfo(SERVICE, name, port=port, parsed_addresses=[address])
        try:
            await multicast.async_register_service(info, allow_name_change=True)
            log.info("wyoming: announced as %s at %s", info.name, address)
            await asyncio.Event().wait()
        except (OSError, Error) as error:
            log.warning("wyoming: cannot be announced: %s", error)
        finally:  # closing takes the announcement back
            await multicast.async_close()

    task = asyncio.create_task(announce(), name="wyoming announcement")
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


def _own_address() -> str:
    """This machine's address towards the network; no packet is sent.

    Raises:
        OSError: there is no network.
    """
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect(MULTICAST)
        return str(probe.getsockname()[0])
