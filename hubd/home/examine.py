"""What can be wrong between the hub and Home Assistant, found out step by step, and what to do."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

import aiohttp
import msgspec

from hubd.home.connection import (
    CommandError,
    Connection,
    HomeAwayError,
    TokenRefusedError,
    connected,
)
from hubd.home.link import Link
from hubd.home.mirror import ASSISTANT

LIMIT_S = 5.0
OLDEST = (2023, 5)
"""The first that says what is exposed to Assist; the oldest that the tests run is 2024.3."""
NEW_TOKEN = (
    "Make a new one in Home Assistant (your name, then Security, then Long-lived access tokens) "
    "and connect again: `hubd home connect URL`."
)
BY_STATUS = {
    301: ("it sends callers on to {location}", "Connect to that address."),
    302: ("it sends callers on to {location}", "Connect to that address."),
    307: ("it sends callers on to {location}", "Connect to that address."),
    308: ("it sends callers on to {location}", "Connect to that address."),
    400: (
        "it refuses the request as one of a proxy that it does not trust",
        "Add the proxy to `http: trusted_proxies` in Home Assistant, or connect directly.",
    ),
    401: ("it does not take the token", NEW_TOKEN),
    403: (
        "it has banned this machine, after wrong tokens",
        "Remove this machine's address from ip_bans.yaml in Home Assistant and restart it.",
    ),
    502: ("a proxy answers, Home Assistant behind it does not", "Is Home Assistant running?"),
    503: ("a proxy answers, Home Assistant behind it does not", "Is Home Assistant running?"),
    504: ("a proxy answers, Home Assistant behind it does not", "Is Home Assistant running?"),
}


class Problem(msgspec.Struct, frozen=True, kw_only=True):
    """The first thing that is wrong."""

    text: str
    hint: str


class Reached(msgspec.Struct, frozen=True, kw_only=True):
    """All is well: what was found."""

    version: str
    exposed: int


async def examine(link: Link) -> Problem | Reached:
    """The first problem on the way to a working connection, or what is at its end."""
    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=LIMIT_S)) as session:
        config = await _asked(session, link)
        if isinstance(config, Problem):
            return config
        if problem := _problem_of(config):
            return problem
        try:
            async with connected(session, link) as connection:
                return await _exposed(connection, str(config.get("version")))
        except TokenRefusedError:
            return Problem(text="Home Assistant does not take the token", hint=NEW_TOKEN)
        except CommandError as error:
            if error.code == "unknown_command":
                return _too_old(str(config.get("version")))
            return Problem(
                text=f"the token's user may not do all that is needed ({error.code})",
                hint="Make the token as a user who is an administrator of Home Assistant.",
            )
        except HomeAwayError as error:
            return Problem(
                text=f"the WebSocket does not open: {error}",
                hint="A proxy between must pass WebSockets on (Upgrade and Connection headers).",
            )


async def _asked(session: aiohttp.ClientSession, link: Link) -> dict[str, Any] | Problem:
    """Home Assistant's configuration, or why it is not told."""
    headers = {"Authorization": f"Bearer {link.token}"}
    try:
        async with session.get(
            f"{link.url}/api/config", headers=headers, allow_redirects=False
        ) as response:
            status, body = response.status, await response.read()
            location = response.headers.get("Location", "")
    except (TimeoutError, OSError, aiohttp.ClientError) as error:
        return _unreachable(link.url, error)
    if status in BY_STATUS:
        text, hint = BY_STATUS[status]
        return Problem(text=f"{link.url}: {text.format(location=location)}", hint=hint)
    try:
        config = msgspec.json.decode(body) if status == 200 else None
    except msgspec.DecodeError:
        config = None
    if not isinstance(config, dict) or "components" not in config:
        return Problem(
            text=f"{link.url}: what answers there is not Home Assistant (status {status})",
            hint="Its address is the one in your browser, for instance "
            "http://homeassistant.local:8123.",
        )
    return config


def _unreachable(url: str, error: BaseException) -> Problem:
    parts = urlsplit(url)
    where = f"{parts.hostname} port {parts.port or (443 if parts.scheme == 'https' else 80)}"
    if isinstance(error, aiohttp.ClientConnectorDNSError):
        return Problem(
            text=f"there is no machine named {parts.hostname}",
            hint="Use its number (such as http://192.168.1.5:8123); names that end in .local "
            "need mDNS on this machine.",
        )
    if isinstance(error, aiohttp.ClientConnectorCertificateError):
        reason = getattr(error.certificate_error, "verify_message", "") or "it is not valid"
        return Problem(
            text=f"the TLS certificate of {where} is not trusted: {reason}",
            hint="Connect by the name in the certificate, have this machine trust who signed it, "
            "or connect by http:// inside the house.",
        )
    if isinstance(error, aiohttp.ClientConnectorSSLError):
        return Problem(text=f"{where} does not speak TLS", hint="Try http:// instead of https://.")
    if isinstance(error, TimeoutError):
        return Problem(
            text=f"{where} does not answer",
            hint="Is the machine on, and does no firewall stand between?",
        )
    if isinstance(error, aiohttp.ClientConnectorError):
        return Problem(
            text=f"nothing listens on {where}",
            hint="Is Home Assistant running? Its port is 8123 unless somebody changed it.",
        )
    return Problem(
        text=f"{where} does not speak HTTP as Home Assistant does",
        hint="Try https:// where the address is http://, and the port that your browser uses.",
    )


def _problem_of(config: Mapping[str, Any]) -> Problem | None:
    version = str(config.get("version"))
    if (numbers := _numbers(version)) and numbers < OLDEST:
        return _too_old(version)
    if config.get("recovery_mode"):
        return Problem(
            text="Home Assistant runs in recovery mode, without its devices",
            hint="Its configuration has a mistake: its log says which. Correct it and restart it.",
        )
    if config.get("state") != "RUNNING":
        return Problem(
            text=f"Home Assistant is still starting ({config.get('state')})",
            hint="The hub connects by itself when it is up; look again in a minute.",
        )
    for component in ("websocket_api", "mobile_app"):
        if component not in config["components"]:
            return Problem(
                text=f"Home Assistant runs without {component}",
                hint=f"Add `default_config:` or `{component}:` to its configuration.yaml.",
            )
    return None


def _numbers(version: str) -> tuple[int, ...]:
    """Year and month of a version such as 2024.3.3; nothing where it is none."""
    try:
        return tuple(int(part) for part in version.split(".")[:2])
    except ValueError:
        return ()


def _too_old(version: str) -> Problem:
    return Problem(
        text=f"Home Assistant {version} is too old for the hub",
        hint=f"Update it: {'.'.join(map(str, OLDEST))} is the oldest that can work.",
    )


async def _exposed(connection: Connection, version: str) -> Problem | Reached:
    result = await connection.command("homeassistant/expose_entity/list")
    rows: Mapping[str, Mapping[str, Any]] = result.get("exposed_entities") or {}
    decided = [row[ASSISTANT] for row in rows.values() if ASSISTANT in row]
    new = await connection.command("homeassistant/expose_new_entities/get", assistant=ASSISTANT)
    if not any(decided) and not new.get("expose_new"):
        return Problem(
            text="no entity is exposed to Assist, so the hub sees none",
            hint="In Home Assistant: Settings, Voice assistants, Expose.",
        )
    return Reached(version=version, exposed=sum(map(bool, decided)))
