"""What was done in the house, by whom and with what outcome: the last ten thousand calls.

Written beside the work, in order, by one task; a call does not wait for it.
"""

import asyncio
import contextlib
import functools
import logging
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Literal

import apsw
import msgspec

from hubd.policy import Person, Provenance
from hubd.store.database import Database
from plugins.api import ToolCall

log = logging.getLogger(__name__)

KEPT = 10_000
WAITING = 1_000
"""Entries on their way to the disk; beyond that a burst is dropped, and said so in the log."""
ARGUMENTS_LIMIT = 2_000

Outcome = Literal["done", "failed", "denied", "unconfirmed"]


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """One call of a tool that does something, or would have."""

    at: str
    """ISO 8601, UTC."""
    tool: str
    arguments: str
    """As JSON, cut at two thousand characters."""
    person: str
    provenance: str
    outcome: Outcome
    text: str
    """What the tool said, or why it was not done."""


class Audit:
    """The log of what was done."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._waiting: asyncio.Queue[Entry] = asyncio.Queue(WAITING)

    def note(
        self, call: ToolCall, person: Person, provenance: Provenance, outcome: Outcome, text: str
    ) -> None:
        """Keep a call; returns at once."""
        entry = Entry(
            at=datetime.now(UTC).isoformat(timespec="milliseconds"),
            tool=call.tool,
            arguments=msgspec.json.encode(call.arguments).decode()[:ARGUMENTS_LIMIT],
            person=person.name,
            provenance=provenance,
            outcome=outcome,
            text=text,
        )
        try:
            self._waiting.put_nowait(entry)
        except asyncio.QueueFull:
            log.error("the audit log is behind; not kept: tool=%s", call.tool)

    @contextlib.asynccontextmanager
    async def writing(self) -> AsyncIterator["Audit"]:
        """Entries go to the disk for the time of the block, the last ones at its end."""
        task = asyncio.create_task(self._write())
        try:
            yield self
        finally:
            await self._waiting.join()
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def latest(self, limit: int = 100, before: int | None = None) -> list[tuple[int, Entry]]:
        """The newest first, each with its number; only those numbered below ``before``."""
        await self._waiting.join()
        names = ", ".join(Entry.__struct_fields__)

        def select(connection: apsw.Connection) -> list[tuple[int, Entry]]:
            rows = connection.execute(
                f"SELECT number, {names} FROM audit WHERE ? IS NULL OR number < ? "
                "ORDER BY number DESC LIMIT ?",
                (before, before, limit),
            )
            return [
                (
                    int(str(row[0])),
                    msgspec.convert(
                        dict(zip(Entry.__struct_fields__, row[1:], strict=True)), Entry
                    ),
                )
                for row in rows
            ]

        return await self._database.run(select)

    async def _write(self) -> None:
        while True:
            entry = await self._waiting.get()
            try:
                await self._database.run(functools.partial(_insert, entry=entry))
            except Exception:  # the hub goes on without it
                log.exception("an entry of the audit log was not written")
            finally:
                self._waiting.task_done()


def _insert(connection: apsw.Connection, entry: Entry) -> None:
    names = ", ".join(Entry.__struct_fields__)
    marks = ", ".join("?" * len(Entry.__struct_fields__))
    connection.execute(
        f"INSERT INTO audit ({names}) VALUES ({marks})", msgspec.structs.astuple(entry)
    )
    connection.execute(
        "DELETE FROM audit WHERE number <= (SELECT max(number) FROM audit) - ?", (KEPT,)
    )
