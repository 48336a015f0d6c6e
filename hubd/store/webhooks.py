"""Webhooks into the hub: which there are, and every call of them.

A call with a key is remembered with its answer, so that the same delivery is carried out once.
Secrets are in a private file and not in the database.
"""

import asyncio
from datetime import UTC, datetime, timedelta

import apsw
import msgspec

from hubd.private import SecretFile
from hubd.store.database import Database

KEEP_DELIVERIES = timedelta(days=1)
KEEP_CALLS = 10_000
MAXIMUM_WEBHOOKS = 200


class Webhook(msgspec.Struct, frozen=True, kw_only=True):
    """One way in."""

    name: str
    id: str
    """What stands in its address; cannot be guessed."""
    action: str
    """``ask``, ``notify``, ``event``, ``ingest`` or ``tool:NAME``."""
    secret: str
    """Empty where its file was lost: then nobody can call it."""
    callback: str = ""
    """Where answers of ``ask`` may be sent."""
    created_at: str = ""

    def __repr__(self) -> str:
        return f"Webhook(name={self.name!r}, action={self.action!r})"


class Call(msgspec.Struct, frozen=True, kw_only=True):
    """A line of the log: who called what, and what became of it. No secret, no body."""

    at: str
    webhook: str
    remote: str
    method: str
    bytes: int
    scheme: str
    status: int
    outcome: str


class Delivery(msgspec.Struct, frozen=True, kw_only=True):
    """A call that came before under the same key."""

    digest: str
    """SHA-256 of its body."""
    status: int
    """0 while it is being carried out."""
    answer: bytes


class Webhooks:
    """The tables."""

    def __init__(self, database: Database, secrets: SecretFile) -> None:
        self._database = database
        self._secrets = secrets

    async def add(self, webhook: Webhook) -> bool:
        """Keep a new one; False where its name is taken or there are too many."""

        def insert(connection: apsw.Connection) -> bool:
            (count,) = connection.execute("SELECT count(*) FROM webhook").fetchone() or (0,)
            if int(str(count)) >= MAXIMUM_WEBHOOKS:
                return False
            connection.execute(
                "INSERT INTO webhook VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
                (webhook.name, webhook.id, webhook.action, webhook.callback, _now()),
            )
            return connection.changes() > 0

        # The secret first: a webhook without one could not be called.
        await asyncio.to_thread(self._secrets.put, webhook.id, webhook.secret)
        if await self._database.run(insert):
            return True
        await asyncio.to_thread(self._secrets.remove, webhook.id)
        return False

    async def remove(self, name: str) -> bool:
        """Forget one; whether it was there."""

        def delete(connection: apsw.Connection) -> str | None:
            connection.execute("DELETE FROM webhook_delivery WHERE webhook = ?", (name,))
            row = connection.execute(
                "DELETE FROM webhook WHERE name = ? RETURNING id", (name,)
            ).fetchone()
            return str(row[0]) if row else None

        identity = await self._database.run(delete)
        if identity is not None:
            await asyncio.to_thread(self._secrets.remove, identity)
        return identity is not None

    async def all(self) -> list[Webhook]:
        """All of them, by name."""
        return await self._select("SELECT * FROM webhook ORDER BY name", ())

    async def find(self, identity: str) -> Webhook | None:
        """The one with that id."""
        found = await self._select("SELECT * FROM webhook WHERE id = ?", (identity,))
        return found[0] if found else None

    async def begin(self, webhook: str, key: str, digest: str) -> Delivery | None:
        """The delivery of that key, if it came before; else it is taken down as begun."""

        def take(connection: apsw.Connection) -> Delivery | None:
            oldest = (datetime.now(UTC) - KEEP_DELIVERIES).isoformat()
            connection.execute("DELETE FROM webhook_delivery WHERE at < ?", (oldest,))
            row = connection.execute(
                "SELECT digest, status, answer FROM webhook_delivery WHERE webhook = ? AND key = ?",
                (webhook, key),
            ).fetchone()
            if row:
                names = Delivery.__struct_fields__
                return msgspec.convert(dict(zip(names, row, strict=True)), Delivery)
            connection.execute(
                "INSERT INTO webhook_delivery VALUES (?, ?, ?, ?, 0, x'')",
                (webhook, key, digest, _now()),
            )
            return None

        return await self._database.run(take)

    async def finish(self, webhook: str, key: str, status: int, answer: bytes) -> None:
        """Keep what a delivery was answered. One that failed may be sent again."""

        def update(connection: apsw.Connection) -> None:
            if status >= 500 or status == 429:
                connection.execute(
                    "DELETE FROM webhook_delivery WHERE webhook = ? AND key = ?", (webhook, key)
                )
            else:
                connection.execute(
                    "UPDATE webhook_delivery SET status = ?, answer = ? "
                    "WHERE webhook = ? AND key = ?",
                    (status, answer, webhook, key),
                )

        await self._database.run(update)

    async def forget_unfinished(self) -> None:
        """Deliveries that a stop of the daemon cut off: they may come again."""

        def delete(connection: apsw.Connection) -> None:
            connection.execute("DELETE FROM webhook_delivery WHERE status = 0")

        await self._database.run(delete)

    async def log(self, call: Call) -> None:
        """Take down a call."""

        def insert(connection: apsw.Connection) -> None:
            connection.execute(
                "INSERT INTO webhook_call (at, webhook, remote, method, bytes, scheme, status, "
                "outcome) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                msgspec.structs.astuple(call),
            )
            last = connection.last_insert_rowid()
            connection.execute("DELETE FROM webhook_call WHERE number <= ?", (last - KEEP_CALLS,))

        await self._database.run(insert)

    async def calls(self, limit: int = 50) -> list[Call]:
        """The latest calls, newest first."""

        def select(connection: apsw.Connection) -> list[Call]:
            names = Call.__struct_fields__
            rows = connection.execute(
                f"SELECT {', '.join(names)} FROM webhook_call ORDER BY number DESC LIMIT ?",
                (limit,),
            )
            return [msgspec.convert(dict(zip(names, row, strict=True)), Call) for row in rows]

        return await self._database.run(select)

    async def _select(self, statement: str, values: tuple[str, ...]) -> list[Webhook]:
        def select(connection: apsw.Connection) -> list[tuple[object, ...]]:
            return list(connection.execute(statement, values))

        rows = await self._database.run(select)
        if not rows:
            return []
        secrets = await asyncio.to_thread(self._secrets.all)
        names = ("name", "id", "action", "callback", "created_at")
        found = (dict(zip(names, row, strict=True)) for row in rows)
        return [
            msgspec.convert(one | {"secret": secrets.get(str(one["id"]), "")}, Webhook)
            for one in found
        ]


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
