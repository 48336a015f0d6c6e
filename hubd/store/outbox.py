"""What Home Assistant is to be told: kept on the disk, in order, until it was told.

Bounded: when Home Assistant is away for long, the oldest messages are forgotten first.
"""

import logging
from typing import Any, Literal

import apsw
import msgspec

from hubd.store.database import Database

log = logging.getLogger(__name__)

LIMIT = 1_000
Kind = Literal["event", "webhook"]


class Message(msgspec.Struct, frozen=True, kw_only=True):
    """One message: an event to fire, or a webhook trigger to call."""

    number: int
    kind: Kind
    name: str
    """The event's type, or the webhook's id."""
    data: dict[str, Any]


class Outbox:
    """The queue. A message stays until ``done``: one cut off by a crash is sent again."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def put(self, kind: Kind, name: str, data: dict[str, Any]) -> None:
        """Append a message; it is on the disk when this returns."""
        body = msgspec.json.encode(data).decode()

        def insert(connection: apsw.Connection) -> int:
            connection.execute(
                "INSERT INTO outbox (kind, name, data) VALUES (?, ?, ?)", (kind, name, body)
            )
            connection.execute(
                "DELETE FROM outbox WHERE number NOT IN "
                "(SELECT number FROM outbox ORDER BY number DESC LIMIT ?)",
                (LIMIT,),
            )
            return connection.changes()

        if lost := await self._database.run(insert):
            log.warning("Home Assistant is away for too long: %d messages forgotten", lost)

    async def first(self) -> Message | None:
        """The oldest message."""

        def select(connection: apsw.Connection) -> Message | None:
            row = connection.execute(
                "SELECT number, kind, name, data FROM outbox ORDER BY number LIMIT 1"
            ).fetchone()
            if row is None:
                return None
            number, kind, name, data = row
            found = {"number": number, "kind": kind, "name": name}
            return msgspec.convert(found | {"data": msgspec.json.decode(str(data))}, Message)

        return await self._database.run(select)

    async def done(self, number: int) -> None:
        """Forget a message that was told."""

        def delete(connection: apsw.Connection) -> None:
            connection.execute("DELETE FROM outbox WHERE number = ?", (number,))

        await self._database.run(delete)

    async def count(self) -> int:
        """How many wait."""

        def select(connection: apsw.Connection) -> int:
            row = connection.execute("SELECT count(*) FROM outbox").fetchone()
            return int(str(row[0])) if row else 0

        return await self._database.run(select)
