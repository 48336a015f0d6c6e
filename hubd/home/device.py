"""The hub as a device in Home Assistant: sensors, events, and notifications that come back.

Events are written to the outbox first and told in their order, so none is lost while Home Assistant
is away. Each carries an id. The hub listens to its own events over the WebSocket: one whose answer
got lost on the way, but that was heard, is not told again. What was neither answered nor heard is;
since the order is kept, only the last one told can come twice, with the same id.
"""

import asyncio
import hmac
import logging
import secrets
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import aiohttp
import msgspec

from hubd.config import is_loopback
from hubd.errors import HubError
from hubd.events import Notice, NoticeBoard
from hubd.home import link as links
from hubd.home import webhooks
from hubd.home.connection import HomeAwayError
from hubd.home.home_assistant import HomeAssistant
from hubd.home.link import Link, Registration
from hubd.home.webhooks import ForgottenError
from hubd.paths import Paths
from hubd.store.outbox import Kind, Message, Outbox
from hubd.turn_events import Done
from plugins.api import HomeError

log = logging.getLogger(__name__)

NOTIFY_PATH = "/api/home-assistant/notify"
LOOK_EVERY_S = 10.0
AGAIN_S = 2.0
REFUSED_AGAIN_S = 60.0
NOTICES_LIMIT = 256
EVENTS = {"timer": "hubd_timer_finished", "reminder": "hubd_reminder"}
"""What rings in the hub → the event in Home Assistant."""
ANSWERED = "hubd_answer"
HEARD_LIMIT = 64
"""Ids that are remembered. Only that of the message being told matters."""
RENDERED_LIMIT = 4_000
"""Characters of a rendered template; where there are more, … stands at the end."""
TEXT_LIMIT = 250
"""Home Assistant keeps states of 255 characters at most."""


class Sensor(msgspec.Struct, frozen=True, kw_only=True):
    """A sensor as Home Assistant is told of it."""

    unique_id: str
    name: str
    icon: str
    unit_of_measurement: str | None = None
    device_class: str | None = None
    state_class: str | None = None


class Reading(msgspec.Struct, frozen=True, kw_only=True):
    """A sensor's state; ``None`` where it is not known."""

    state: str | float | int | None
    attributes: dict[str, Any] = {}


SENSORS = (
    Sensor(unique_id="model", name="Model", icon="mdi:brain"),
    Sensor(
        unique_id="tokens_per_second",
        name="Tokens per second",
        icon="mdi:speedometer",
        unit_of_measurement="tokens/s",
        state_class="measurement",
    ),
    Sensor(
        unique_id="first_token",
        name="Time to first token",
        icon="mdi:timer-outline",
        unit_of_measurement="ms",
        device_class="duration",
        state_class="measurement",
    ),
    Sensor(
        unique_id="queue", name="Questions at once", icon="mdi:tray-full", state_class="measurement"
    ),
    Sensor(
        unique_id="memory",
        name="Memory",
        icon="mdi:memory",
        unit_of_measurement="MB",
        device_class="data_size",
        state_class="measurement",
    ),
    Sensor(unique_id="documents", name="Documents", icon="mdi:file-document-multiple"),
    Sensor(
        unique_id="next_timer", name="Next timer", icon="mdi:timer-sand", device_class="timestamp"
    ),
    Sensor(unique_id="last_answer", name="Last answer", icon="mdi:message-text"),
)

Readings = Callable[[], Awaitable[Mapping[str, Reading]]]


class HubDevice:
    """What Home Assistant sees of the hub. ``listen`` runs always, ``beside`` while connected."""

    def __init__(
        self, paths: Paths, outbox: Outbox, board: NoticeBoard, timer_webhook: str = ""
    ) -> None:
        self._paths = paths
        self._outbox = outbox
        board.observers.append(self._observe)
        self._notices: asyncio.Queue[Notice] = asyncio.Queue(NOTICES_LIMIT)
        self._timer_webhook = timer_webhook
        self._wake = asyncio.Event()
        self._listening = asyncio.Event()
        self._host, self._port, self._scheme, self._name = "", 0, "http", ""
        self._registration: Registration | None = None
        self._heard: deque[object] = deque(maxlen=HEARD_LIMIT)
        self.last_answer: Done | None = None
        self.linked: Callable[[], bool] = lambda: False
        """Whether there is a Home Assistant to tell anything."""
        self.readings: Readings | None = None
        """The sensors' states; given by the daemon once its parts are there."""
        self.problem = ""
        """Why the hub is no device there, or gets no notifications; empty when all is well."""

    def listens_at(self, host: str, port: int, scheme: str = "http", name: str = "") -> None:
        """Where the hub answers: known once the daemon listens.

        name: the one in its certificate, by which Home Assistant must call it then.
        """
        self._host, self._port, self._scheme = host, port, scheme
        self._name = name if scheme == "https" else ""
        self._listening.set()

    async def fire(self, event: str, data: Mapping[str, Any]) -> None:
        """Fire an event in Home Assistant, now or when it is back; nothing where none is linked."""
        await self._put("event", event, data)

    async def _put(self, kind: Kind, name: str, data: Mapping[str, Any]) -> None:
        if not self.linked():
            return
        # A reminder that comes again has the id that it had: each message gets one of its own.
        await self._outbox.put(kind, name, {**data, "id": secrets.token_hex(8)})
        self._wake.set()

    async def answered(self, question: str, done: Done) -> None:
        """A turn ended."""
        self.last_answer = done
        told = {"question": question[:TEXT_LIMIT], "answer": done.answer, "refused": done.refused}
        await self.fire(ANSWERED, told)

    async def render(self, template: str) -> str:
        """What Home Assistant makes of a template.

        Raises:
            HomeAwayError: it is not connected, does not know the hub yet, or does not answer.
            HomeError: it refuses, or the template is wrong.
        """
        link, registration = links.load(self._paths), self._registration
        if link is None or registration is None or not self.linked():
            raise HomeAwayError("Home Assistant is not connected.")
        asked = {"text": {"template": template}}
        async with aiohttp.ClientSession() as session:
            told = await webhooks.send(session, link, registration, "render_template", asked)
        text = told.get("text") if isinstance(told, dict) else None
        if isinstance(text, dict):
            raise HomeError(f"Home Assistant cannot make the report: {text.get('error')}")
        whole = str(text).strip()
        return whole if len(whole) <= RENDERED_LIMIT else f"{whole[:RENDERED_LIMIT]} …"

    def is_from_home(self, push_token: str) -> bool:
        """Whether a notification carries the secret that Home Assistant was given."""
        known = self._registration
        return known is not None and hmac.compare_digest(
            push_token.encode(), known.push_token.encode()
        )

    async def listen(self) -> None:
        """Turn what happens in the hub into events, for as long as the daemon runs."""
        while True:
            await self._note(await self._notices.get())

    def _observe(self, notice: Notice) -> None:
        self._wake.set()
        if notice.event in EVENTS and notice.data.get("state") == "ringing":
            try:
                self._notices.put_nowait(notice)
            except asyncio.QueueFull:
                log.warning("too much happens at once: Home Assistant is not told of it all")

    async def _note(self, notice: Notice) -> None:
        await self.fire(EVENTS[notice.event], notice.data)
        if self._timer_webhook and notice.event == "timer":
            await self._put("webhook", self._timer_webhook, notice.data)

    # While connected

    async def beside(self, home: HomeAssistant) -> None:
        """Keep Home Assistant up to date until the connection ends (and this is cancelled)."""
        await self._listening.wait()
        for event in (*EVENTS.values(), ANSWERED):
            await home.hear(event, self._hear)
        async with aiohttp.ClientSession() as session:
            while True:
                try:
                    await self._keep(session, home)
                except ForgottenError:
                    log.info("Home Assistant forgot the hub: registering it again")
                    self._registration = home.registration = None
                except HomeAwayError as error:
                    log.info("%s", error)
                except HomeError as error:
                    self.problem = str(error)
                    log.warning("%s", error)
                    await asyncio.sleep(REFUSED_AGAIN_S)
                await asyncio.sleep(AGAIN_S)

    def _hear(self, event: Mapping[str, Any]) -> None:
        """An event that Home Assistant has fired: it was told, whatever became of the answer."""
        data = event.get("data")
        if isinstance(data, dict):
            self._heard.append(data.get("id"))

    async def _keep(self, session: aiohttp.ClientSession, home: HomeAssistant) -> None:
        link = home.link
        registration = home.registration = await self._registered(session, link)
        sensors = {sensor.unique_id: sensor for sensor in SENSORS}
        told: dict[str, Reading] = {}
        for name, reading in (await self._read()).items():
            data = _described(sensors[name], reading)
            await webhooks.send(session, link, registration, "register_sensor", data)
            told[name] = reading
        while True:
            self._wake.clear()
            await self._flush(session, link, registration)
            now = await self._read()
            changed = [_state(name, now[name]) for name in now if now[name] != told.get(name)]
            if changed:
                await webhooks.send(session, link, registration, "update_sensor_states", changed)
                told = dict(now)
            try:
                async with asyncio.timeout(LOOK_EVERY_S):
                    await self._wake.wait()
            except TimeoutError:
                await webhooks.send(session, link, registration, "get_config", {})

    async def _read(self) -> Mapping[str, Reading]:
        return await self.readings() if self.readings else {}

    async def _registered(self, session: aiohttp.ClientSession, link: Link) -> Registration:
        """The registration that Home Assistant knows; a new one where it has none."""
        push_url = await self._push_url(link)
        known = self._registration or self._kept()
        if known is not None:
            try:
                await webhooks.confirm(session, link, known, push_url)
                self._registration = known
                return known
            except ForgottenError:
                pass
        made = await webhooks.register(
            session, msgspec.structs.replace(link, registration=known), push_url
        )
        kept = links.load(self._paths) or link
        links.save(self._paths, msgspec.structs.replace(kept, registration=made))
        self._registration = made
        return made

    def _kept(self) -> Registration | None:
        try:
            kept = links.load(self._paths)
        except HubError:
            return None
        return kept.registration if kept else None

    async def _push_url(self, link: Link) -> str:
        """Where Home Assistant can reach this hub; empty where it cannot."""
        try:
            seen = await webhooks.own_address(link.url)
        except OSError:
            return ""
        if is_loopback(self._host) and not is_loopback(seen):
            self.problem = (
                "Home Assistant runs on another machine and the hub answers this one only: "
                "set [http] host and token for notifications to arrive."
            )
            return ""
        self.problem = ""
        host = self._name or (f"[{seen}]" if ":" in seen else seen)
        return f"{self._scheme}://{host}:{self._port}{NOTIFY_PATH}"

    async def _flush(
        self, session: aiohttp.ClientSession, link: Link, registration: Registration
    ) -> None:
        """Tell what waits, in its order."""
        while (message := await self._outbox.first()) is not None:
            try:
                if message.kind == "webhook" or message.data.get("id") not in self._heard:
                    await self._tell(session, link, registration, message)
            except (ForgottenError, HomeAwayError):
                raise
            except HomeError as error:
                log.warning("%s %s is dropped: %s", message.kind, message.name, error)
            await self._outbox.done(message.number)

    async def _tell(
        self,
        session: aiohttp.ClientSession,
        link: Link,
        registration: Registration,
        message: Message,
    ) -> None:
        if message.kind == "webhook":
            await webhooks.trigger(session, link, message.name, message.data)
            return
        data = {"event_type": message.name, "event_data": message.data}
        await webhooks.send(session, link, registration, "fire_event", data)


def _state(name: str, reading: Reading) -> dict[str, Any]:
    state = reading.state[:TEXT_LIMIT] if isinstance(reading.state, str) else reading.state
    return {
        "unique_id": name,
        "type": "sensor",
        "state": state,
        "attributes": reading.attributes,
        "icon": next(sensor.icon for sensor in SENSORS if sensor.unique_id == name),
    }


def _described(sensor: Sensor, reading: Reading) -> dict[str, Any]:
    described = {k: v for k, v in msgspec.structs.asdict(sensor).items() if v is not None}
    return _state(sensor.unique_id, reading) | described
