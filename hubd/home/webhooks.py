"""Home Assistant's mobile_app webhook: the hub as a device there, without a token at hand.

One registration makes a secret address; everything else is posted to it. The protocol:
https://developers.home-assistant.io/docs/api/native-app-integration
"""

import asyncio
import secrets
import socket
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

import aiohttp
import msgspec

import hubd
from hubd.home.connection import HomeAwayError, describe
from hubd.home.link import Link, Registration
from plugins.api import HomeError

LIMIT_S = 10.0
APP = {
    "app_version": hubd.__version__,
    "device_name": "hubd",
    "manufacturer": "hubd",
    "model": "home hub",
    "os_version": "",
}


class ForgottenError(HomeError):
    """Home Assistant does not know this registration any more."""


async def register(session: aiohttp.ClientSession, link: Link, push_url: str) -> Registration:
    """Make the hub a device of Home Assistant; the same one again where it was before.

    Raises:
        HomeError: Home Assistant refuses, for instance because mobile_app is not set up.
        HomeAwayError: it does not answer.
    """
    before = link.registration
    device_id = before.device_id if before else secrets.token_hex(16)
    push_token = secrets.token_urlsafe(24)
    body = APP | {
        "app_id": "hubd",
        "app_name": "hubd",
        "device_id": device_id,
        "os_name": "hubd",
        "supports_encryption": False,
        "app_data": _app_data(push_url, push_token),
    }
    headers = {"Authorization": f"Bearer {link.token}"}
    status, text = await _post(
        session, f"{link.url}/api/mobile_app/registrations", body, headers=headers
    )
    if status == 404:
        raise HomeError("Home Assistant runs without mobile_app: add it to configuration.yaml")
    if status != 201:
        raise HomeError(f"Home Assistant does not register the hub (status {status})")
    webhook_id = str(msgspec.json.decode(text)["webhook_id"])
    return Registration(webhook_id=webhook_id, push_token=push_token, device_id=device_id)


async def confirm(
    session: aiohttp.ClientSession, link: Link, registration: Registration, push_url: str
) -> None:
    """Tell where notifications go now; Home Assistant answers only if it knows the registration.

    Raises:
        ForgottenError: it does not.
        HomeAwayError: it does not answer at all.
    """
    data = APP | {"app_data": _app_data(push_url, registration.push_token)}
    await send(session, link, registration, "update_registration", data)


async def send(
    session: aiohttp.ClientSession,
    link: Link,
    registration: Registration,
    kind: str,
    data: Mapping[str, Any] | Sequence[Mapping[str, Any]],
) -> Any:
    """Post a message of one kind (``fire_event``, ``render_template`` …); the decoded reply.

    Raises:
        ForgottenError: the registration was deleted. Home Assistant says 410 until it restarts, and
            after that 200 with nothing, as for any webhook that it does not know.
        HomeAwayError: it does not answer.
        HomeError: it refuses the message.
    """
    url = f"{link.url}/api/webhook/{registration.webhook_id}"
    status, text = await _post(session, url, {"type": kind, "data": data})
    if status in (404, 410) or (status == 200 and not text.strip()):
        raise ForgottenError("Home Assistant does not know the hub any more")
    if status >= 500:
        raise HomeAwayError(f"Home Assistant fails (status {status})")
    if status >= 400:
        raise HomeError(f"Home Assistant refuses {kind} (status {status})")
    return msgspec.json.decode(text)


async def trigger(
    session: aiohttp.ClientSession, link: Link, webhook_id: str, data: Mapping[str, Any]
) -> None:
    """Call an automation's webhook trigger. That it is taken does not mean that anything ran:
    Home Assistant answers 200 to unknown ids too.

    Raises:
        HomeAwayError: it does not answer.
    """
    await _post(session, f"{link.url}/api/webhook/{webhook_id}", data)


async def own_address(url: str) -> str:
    """The address of this machine as the one at ``url`` sees it; no packet is sent.

    Raises:
        OSError: there is no way there.
    """
    parts = urlsplit(url)
    return await asyncio.to_thread(_own_address, parts.hostname or "", parts.port or 80)


def _own_address(host: str, port: int) -> str:
    family, kind, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_DGRAM)[0]
    with socket.socket(family, kind) as probe:
        probe.connect(address)
        return str(probe.getsockname()[0])


def _app_data(push_url: str, push_token: str) -> dict[str, str]:
    return {"push_url": push_url, "push_token": push_token} if push_url else {}


async def _post(
    session: aiohttp.ClientSession,
    url: str,
    body: Mapping[str, Any],
    headers: Mapping[str, str] = {},
) -> tuple[int, str]:
    """Status and text; no address is in the words of an error, since it may be a secret."""
    data = msgspec.json.encode(body)
    try:
        async with (
            asyncio.timeout(LIMIT_S),
            session.post(
                url, data=data, headers={"Content-Type": "application/json", **headers}
            ) as response,
        ):
            return response.status, await response.text()
    except (TimeoutError, OSError, aiohttp.ClientError) as error:
        raise HomeAwayError(f"Home Assistant does not answer: {describe(error)}") from error
