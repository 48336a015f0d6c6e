"""Home Assistant as the hub's home: connected for as long as it can be, mirrored, acted on.

States come over the WebSocket and are seen without waiting; services go over REST, and what they
did is read back. Where the WebSocket alone is gone, both go over the webhook. While Home Assistant
is away that is said, and nothing is kept to be run later.
"""

import asyncio
import contextlib
import logging
import random
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, Literal

import aiohttp
import msgspec

from hubd.home import calendar_events
from hubd.home import mirror as wire
from hubd.home.by_webhook import ByWebhook
from hubd.home.carry_out import PING_LIMIT_S, carried_out
from hubd.home.connection import (
    CommandError,
    Connection,
    Handler,
    HomeAwayError,
    TokenRefusedError,
    connected,
    describe,
)
from hubd.home.link import Link
from hubd.home.mirror import Mirror, Place, Registry
from hubd.home.model import Entity, HomeError, Location, ServiceResult, Snapshot
from hubd.home.read_back import failures

log = logging.getLogger(__name__)

BACKOFF_S = (0.2, 0.5, 1.0, 2.0, 3.0)
"""Between attempts; then the last one. Short: at its return the mirror is right within seconds."""
REFUSED_RETRY_S = 600.0
"""Home Assistant bans addresses that try wrong tokens again and again."""
READ_BACK_S = 2.0
READ_AGAIN_S = 0.2
"""Over the webhook states are asked for: nothing tells of a change."""
REGISTRY_SETTLES_S = 0.5
REGISTRY_AGAIN_S = 300.0
"""Exposure has no event of its own for every entity, so registries are read this often too."""
ENTRIES_AT_ONCE = 500
REGISTRIES = ("area", "device", "entity", "floor")

Phase = Literal["connecting", "connected", "away", "refused"]


class HomeStatus(msgspec.Struct, frozen=True, kw_only=True):
    """How it stands with Home Assistant."""

    state: Phase
    url: str
    since: datetime
    """Aware; when this state began."""
    version: str = ""
    entities: int = 0
    problem: str = ""


class _Answer(msgspec.Struct):
    """What a service answers, by entity id."""

    response: dict[str, dict[str, Any] | None] = {}


class HomeAssistant:
    """``plugins.api.Home`` over a Home Assistant. ``async with`` runs it."""

    def __init__(self, link: Link, *, everything: bool = False) -> None:
        self.link = link
        self._mirror = Mirror(everything=everything)
        self._changed = asyncio.Event()
        self._state: Phase = "connecting"
        self._since = _now()
        self._version = ""
        self._problem = ""
        self._stale = asyncio.Event()
        self._old: Snapshot | None = None
        """The snapshot since it is away."""
        self._connection: Connection | None = None
        self.registration = link.registration
        """Of the hub as a device there, while one is known."""
        self.on_connected: Callable[[], Awaitable[None]] | None = None
        """Called each time the connection is there and the mirror is right."""
        self.on_place: Callable[[Place], Awaitable[None]] | None = None
        """Called with where the house stands, each time that is read."""

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator["HomeAssistant"]:
        """Keep the connection for the time of the block."""
        async with aiohttp.ClientSession(raise_for_status=False) as session:
            self._session = session
            task = asyncio.create_task(self._run(), name="home assistant")
            try:
                yield self
            finally:
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)

    def status(self) -> HomeStatus:
        return HomeStatus(
            state=self._state,
            url=self.link.url,
            since=self._since,
            version=self._version,
            entities=len(self._mirror.snapshot().entities),
            problem=self._problem,
        )

    def snapshot(self) -> Snapshot:
        """As ``plugins.api.Home.snapshot``; the last that was known while it is away."""
        now = self._mirror.snapshot()
        if self._state == "connected":
            return now
        if self._old is None or self._old.entities is not now.entities:
            self._old = msgspec.structs.replace(now, as_of=self._since)
        return self._old

    async def hear(self, event: str, handler: Handler) -> None:
        """Have ``handler`` called with each event of that type until the connection ends.

        Nothing is heard where Home Assistant does not let the token's user.
        """
        if self._connection is not None:
            with contextlib.suppress(HomeAwayError):
                await self._hear(self._connection, event, handler)

    def location(self) -> Location | None:
        """As ``plugins.api.Home.location``."""
        return self._mirror.place().location

    def area_of_device(self, device_id: str) -> str:
        """The id of the area where a device is; empty where that is not known."""
        return self._mirror.area_of_device(device_id)

    async def call(
        self, service: str, entities: Sequence[str], data: Mapping[str, Any] = {}
    ) -> ServiceResult:
        """As ``plugins.api.Home.call``.

        Home Assistant answers 200 to an id that it does not know and to one that is in the state
        already, so ids are checked before, and states are read after.
        """
        webhook = self._webhook()
        if webhook is None:
            self._check_connected()
        wanted = list(dict.fromkeys(entities))
        before = tuple(self._known(entity) for entity in wanted)
        body = {**data, "entity_id": wanted} if wanted else dict(data)
        if webhook is not None:
            return await self._call_by_webhook(webhook, service, before, body)
        began = asyncio.get_running_loop().time()
        if not await self._is_alive():
            raise HomeAwayError("Home Assistant does not answer; nothing was sent to it.")
        await carried_out(self._post(body, service), self._is_alive, began)
        after, failed = await self._read_back(service, wanted, data)
        return ServiceResult(before=before, after=after, failed=failed)

    async def ask(
        self, service: str, entity: str, data: Mapping[str, Any] = {}
    ) -> Mapping[str, Any]:
        """As ``plugins.api.Home.ask``."""
        self._check_connected()
        known = self._known(entity)
        if (connection := self._connection) is None:
            raise self._away()
        if service == calendar_events.READ:
            return await calendar_events.read(self._session, self.link, known, data)
        if service in calendar_events.COMMANDS:
            return await calendar_events.write(connection, service, known, data)
        domain, _, name = service.partition(".")
        asked = {"domain": domain, "service": name, "service_data": dict(data)}
        try:
            told = await connection.command(
                "call_service", **asked, target={"entity_id": entity}, return_response=True
            )
            answer = msgspec.convert(told, _Answer).response[entity]
        except (CommandError, msgspec.ValidationError, KeyError) as error:
            # unavailable, or no service of it: that is not the same as an empty answer
            raise HomeError(f"{known.name} does not answer {service} now.") from error
        return answer or {}

    # Acting

    def _check_connected(self) -> None:
        if self._state == "connected":
            return
        if self._state == "refused":
            raise HomeError(f"Home Assistant has not let the hub in since {self._since:%H:%M}.")
        raise self._away()

    def _away(self) -> HomeAwayError:
        return HomeAwayError(f"Home Assistant has not answered since {self._since:%H:%M}.")

    def _known(self, entity_id: str) -> Entity:
        entity = self._mirror.entity(entity_id)
        if entity is None:
            raise HomeError(f"There is no {entity_id} in this household.")
        return entity

    def _webhook(self) -> ByWebhook | None:
        """The other way in, where the WebSocket was there and is gone. None for whom Home Assistant
        has locked out: a token is revoked to end all of it."""
        if self._state != "away" or self.registration is None:
            return None
        return ByWebhook(self._session, self.link, self.registration)

    async def _call_by_webhook(
        self, webhook: ByWebhook, service: str, known: Sequence[Entity], body: Mapping[str, Any]
    ) -> ServiceResult:
        clock = asyncio.get_running_loop().time
        began = clock()
        try:
            before = await webhook.read(known, PING_LIMIT_S)
        except HomeAwayError as error:
            raise self._away() from error
        if len(before) < len(known):  # it is starting, and does not know its own devices yet
            raise self._away()

        async def is_alive() -> bool:
            return await webhook.is_alive(PING_LIMIT_S)

        await carried_out(webhook.call(service, body), is_alive, began)
        wanted, deadline = [entity.id for entity in known], clock() + READ_BACK_S
        while True:
            try:
                after = await webhook.read(known, PING_LIMIT_S)
            except HomeAwayError as error:
                raise HomeAwayError(
                    "Home Assistant does not answer any more; whether it did it is not known."
                ) from error
            failed = failures(service, wanted, after, body)
            if not failed or clock() >= deadline:
                return ServiceResult(before=before, after=after, failed=failed)
            await asyncio.sleep(READ_AGAIN_S)

    async def _is_alive(self) -> bool:
        try:
            async with asyncio.timeout(PING_LIMIT_S):
                if self._connection is None:
                    return False
                await self._connection.ping()
        except (TimeoutError, HomeError):
            return False
        return True

    async def _post(self, body: Mapping[str, Any], service: str) -> None:
        headers = {"Authorization": f"Bearer {self.link.token}"}
        url = f"{self.link.url}/api/services/{service.replace('.', '/', 1)}"
        try:
            async with self._session.post(url, json=body, headers=headers) as response:
                text = await response.text()
                status = response.status
        except (TimeoutError, OSError, aiohttp.ClientError) as error:
            raise HomeAwayError(f"Home Assistant does not answer: {describe(error)}.") from error
        if status == 401:
            raise HomeError("Home Assistant does not take the hub's token any more.")
        if status >= 400:
            raise HomeError(f"Home Assistant refused {service}: {_reason(text)}")

    async def _read_back(
        self, service: str, wanted: Sequence[str], data: Mapping[str, Any]
    ) -> tuple[tuple[Entity, ...], dict[str, str]]:
        """The entities as they are once all are as asked, or time is up; and which are not."""
        deadline = asyncio.get_running_loop().time() + READ_BACK_S
        while True:
            self._changed.clear()
            now = [self._mirror.entity(entity) for entity in wanted]
            after = tuple(entity for entity in now if entity is not None)
            failed = failures(service, wanted, after, data)
            try:
                async with asyncio.timeout_at(deadline):
                    if not failed:
                        return after, failed
                    await self._changed.wait()
            except TimeoutError:
                return after, failed

    # Staying connected

    async def _run(self) -> None:
        failures = 0
        while True:
            try:
                async with connected(self._session, self.link) as connection:
                    await self._live(connection)
                    failures = 0
                self._show("away", "the connection ended")
            except TokenRefusedError as error:
                self._show("refused", str(error))
                await asyncio.sleep(REFUSED_RETRY_S)
            except HomeError as error:
                self._show("away", str(error))
                failures += 1
            except Exception:  # whatever it says, the hub goes on trying
                log.exception("Home Assistant said something that is not understood")
                self._show("away", "it said something that is not understood")
                failures += 1
            pause = BACKOFF_S[min(failures, len(BACKOFF_S) - 1)]
            await asyncio.sleep(pause * random.uniform(0.5, 1.0))

    async def _live(self, connection: Connection) -> None:
        """One connection from the first look at the home to its end."""
        self._connection = connection
        self._stale.clear()
        self._mirror.begin()
        first = asyncio.Event()

        def seen(event: dict[str, Any]) -> None:
            self._mirror.apply(event)
            self._changed.set()
            first.set()

        await connection.subscribe(seen, "subscribe_entities")
        with contextlib.suppress(TimeoutError):  # a home without a single entity says nothing
            async with asyncio.timeout(1):
                await first.wait()
        await self._load(connection)
        for registry in REGISTRIES:
            await self._hear(connection, f"{registry}_registry_updated", self._outdated)
        await self._hear(connection, "homeassistant_started", self._outdated)
        self._version = connection.version
        self._show("connected")
        async with asyncio.TaskGroup() as tasks:
            work = [tasks.create_task(self._reload(connection))]
            if self.on_connected is not None:
                work.append(tasks.create_task(_contained(self.on_connected())))
            await connection.until_closed()
            for task in work:
                task.cancel()

    def _outdated(self, _: dict[str, Any]) -> None:
        self._stale.set()

    async def _hear(self, connection: Connection, event: str, handler: Handler) -> None:
        with contextlib.suppress(CommandError):  # an older version, or a user who is no admin
            await connection.subscribe(handler, "subscribe_events", event_type=event)

    async def _reload(self, connection: Connection) -> None:
        """Read the registries again when one changed, and now and then."""
        while True:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(REGISTRY_AGAIN_S):
                    await self._stale.wait()
            await asyncio.sleep(REGISTRY_SETTLES_S)
            self._stale.clear()
            try:
                await self._load(connection)
            except HomeError as error:
                log.info("the registries cannot be read: %s", error)
            except Exception:  # the connection is of use all the same
                log.exception("the registries are not understood")

    async def _load(self, connection: Connection) -> None:
        display = await connection.command("config/entity_registry/list_for_display")
        entities = wire.read_entities(display)
        exposed = await connection.command("homeassistant/expose_entity/list")
        new = await connection.command(
            "homeassistant/expose_new_entities/get", assistant=wire.ASSISTANT
        )
        devices = await connection.command("config/device_registry/list")
        config = await connection.command("get_config")
        registry = Registry(
            floors=wire.read_floors(await _optional(connection, "config/floor_registry/list")),
            areas=wire.read_areas(await connection.command("config/area_registry/list")),
            entities=entities,
            device_areas={row["id"]: row["area_id"] for row in devices if row.get("area_id")},
            exposed=wire.read_exposed(exposed),
            expose_new=bool(new.get("expose_new", True)),
            tells_hidden=wire.tells_hidden(exposed, entities),
            temperature_unit=wire.read_temperature_unit(config),
            place=wire.read_place(config),
        )
        self._mirror.load(await self._with_entries(connection, registry))
        if self.on_place is not None:
            await self.on_place(registry.place)

    async def _with_entries(self, connection: Connection, registry: Registry) -> Registry:
        """The registry with what only whole entries tell: aliases, and who has been hidden."""
        seen = [known for known in self._mirror.visible(registry) if known in registry.entities]
        aliases: dict[str, tuple[str, ...]] = {}
        decided: dict[str, bool] = {}
        for start in range(0, len(seen), ENTRIES_AT_ONCE):
            part = seen[start : start + ENTRIES_AT_ONCE]
            rows = await connection.command("config/entity_registry/get_entries", entity_ids=part)
            for known, row in rows.items():
                if row:
                    aliases[known] = wire.read_aliases(row)
                    if (decision := wire.read_decision(row)) is not None:
                        decided[known] = decision
        return msgspec.structs.replace(
            registry, aliases=aliases, exposed={**registry.exposed, **decided}
        )

    def _show(self, state: Phase, problem: str = "") -> None:
        if state != self._state:
            self._since, self._old = _now(), None
            log.info("home assistant %s%s", state, f": {problem}" if problem else "")
        self._state, self._problem = state, problem
        self._changed.set()


async def _optional(connection: Connection, kind: str) -> list[dict[str, Any]]:
    """A list that older versions do not have."""
    try:
        return list(await connection.command(kind))
    except CommandError:
        return []


async def _contained(work: Awaitable[None]) -> None:
    """Work beside the connection, whose failure must not end it."""
    try:
        await work
    except HomeError as error:
        log.warning("%s", error)
    except Exception:
        log.exception("what follows a connection to Home Assistant failed")


def _reason(text: str) -> str:
    """Home Assistant's words for a refusal: JSON with a message, or plain text."""
    try:
        decoded = msgspec.json.decode(text)
    except msgspec.DecodeError:
        return text.strip()[:300]
    return str(decoded.get("message", text) if isinstance(decoded, dict) else text)[:300]


def _now() -> datetime:
    return datetime.now().astimezone()
