"""Services over the webhook alone, for when the WebSocket is gone and Home Assistant is not.

A proxy may end WebSockets and pass everything else on, and after a connection that broke off there
are seconds until the next one. States are then told by templates: the mirror's are old.
"""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

import aiohttp
import msgspec

from hubd.home import webhooks
from hubd.home.connection import HomeAwayError
from hubd.home.link import Link, Registration
from hubd.home.model import Entity
from hubd.home.webhooks import ForgottenError
from plugins.api import HomeError

MARK = "state:"
"""Before the JSON: without it Home Assistant makes Python of what looks like it, and text else."""
STATE = (
    "{% set now = states[wanted] %}{% if now %}"
    "{% set told = now.attributes.items() | rejectattr(1, 'datetime') %}"
    f"{MARK}{{{{ {{'s': now.state, 'a': dict(told)}} | to_json }}}}"
    "{% endif %}"
)
"""Of one entity; a time among its attributes would be no JSON."""


class _Told(msgspec.Struct, frozen=True, kw_only=True):
    s: str
    a: dict[str, Any]


class ByWebhook:
    """What Home Assistant lets one registration do."""

    def __init__(
        self, session: aiohttp.ClientSession, link: Link, registration: Registration
    ) -> None:
        self._session, self._link, self._registration = session, link, registration

    async def read(
        self, entities: Sequence[Entity], within_s: float = webhooks.LIMIT_S
    ) -> tuple[Entity, ...]:
        """The entities as they are now, without those that are gone.

        Raises:
            HomeAwayError: Home Assistant does not answer in time, or does not know the hub.
            HomeError: it cannot tell a state.
        """
        asked = {
            entity.id: {"template": STATE, "variables": {"wanted": entity.id}}
            for entity in entities
        }
        try:
            async with asyncio.timeout(within_s):
                told = await self._send("render_template", asked)
        except TimeoutError as error:
            raise HomeAwayError("Home Assistant does not answer") from error
        except ForgottenError as error:
            raise HomeAwayError(str(error)) from error
        return tuple(now for entity in entities if (now := _as_told(entity, told)) is not None)

    async def is_alive(self, within_s: float) -> bool:
        """Whether Home Assistant answers in that time."""
        try:
            await self.read((), within_s)
        except HomeError:
            return False
        return True

    async def call(self, service: str, data: Mapping[str, Any]) -> None:
        """Have a service done, and wait until it is.

        Home Assistant answers to a service that it refuses as it does to a hub that it does not
        know: 200, and nothing. The next message shows which it was; its log says why it refused.

        Raises:
            HomeAwayError: it does not answer, or does not know the hub.
            HomeError: it refuses.
        """
        domain, _, name = service.partition(".")
        body = {"domain": domain, "service": name, "service_data": data}
        try:
            await self._send("call_service", body)
        except ForgottenError:
            await self.read(())
            raise HomeError(f"Home Assistant refused {service}; its log says why.") from None

    async def _send(self, kind: str, data: Mapping[str, Any]) -> Any:
        return await webhooks.send(self._session, self._link, self._registration, kind, data)


def _as_told(entity: Entity, told: Any) -> Entity | None:
    """The entity with the state of a rendered template; ``None`` where there is no such entity."""
    text = told.get(entity.id) if isinstance(told, dict) else None
    if text in ("", None):
        return None
    try:
        state = msgspec.json.decode(str(text).removeprefix(MARK), type=_Told)
    except msgspec.MsgspecError as error:
        raise HomeError(f"Home Assistant cannot tell the state of {entity.name}.") from error
    return msgspec.structs.replace(entity, state=state.s, attributes=state.a)
