"""What Home Assistant's own calendar page does and no service offers: events with their ids, put
into a calendar with a rule by which they come again, changed and deleted.

Read at ``/api/calendars/ENTITY`` (https://developers.home-assistant.io/docs/api/rest), written by
the commands ``calendar/event/…`` of its WebSocket (``homeassistant/components/calendar``). Both
look at the user whose token it is as its page does.
"""

from collections.abc import Mapping
from typing import Any

import aiohttp
import msgspec

from hubd.home.connection import CommandError, Connection
from hubd.home.link import Link
from plugins.api import Entity, HomeError

READ = "calendar.read_events"
COMMANDS = {
    "calendar.add_event": "calendar/event/create",
    "calendar.change_event": "calendar/event/update",
    "calendar.delete_event": "calendar/event/delete",
}
LIMIT_S = 30.0


class _Moment(msgspec.Struct, rename="camel"):
    date_time: str = ""
    date: str = ""


async def read(
    session: aiohttp.ClientSession, link: Link, place: Entity, data: Mapping[str, Any]
) -> dict[str, Any]:
    """The events of a calendar between ``start`` and ``end``, as ``calendar.get_events`` tells
    them, with their ids.

    Raises:
        HomeError: it does not answer, or not as is known.
    """
    url = f"{link.url}/api/calendars/{place.id}"
    headers = {"Authorization": f"Bearer {link.token}"}
    limit = aiohttp.ClientTimeout(total=LIMIT_S)
    try:
        async with session.get(url, params=data, headers=headers, timeout=limit) as response:
            if response.status != 200:
                raise HomeError(f"{place.name} does not answer now ({response.status}).")
            events = await response.json()
        return {"events": [_flat(event) for event in events]}
    except (TimeoutError, OSError, aiohttp.ClientError) as error:
        raise HomeError(f"{place.name} does not answer now.") from error
    except (LookupError, ValueError, TypeError, AttributeError) as error:
        raise HomeError(f"What is in {place.name} is not understood.") from error


async def write(
    connection: Connection, service: str, place: Entity, data: Mapping[str, Any]
) -> dict[str, Any]:
    """Change a calendar, as a service of ``COMMANDS``.

    Raises:
        HomeError: it was not done.
    """
    try:
        await connection.command(COMMANDS[service], entity_id=place.id, **data)
    except CommandError as error:
        raise HomeError(f"{place.name} was not changed: {error}") from error
    return {}


def _flat(event: Mapping[str, Any]) -> dict[str, Any]:
    def told(key: str) -> str:
        moment = msgspec.convert(event[key], _Moment)
        return moment.date_time or moment.date

    return {**event, "start": told("start"), "end": told("end")}
