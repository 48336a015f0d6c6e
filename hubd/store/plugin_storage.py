"""A plugin's own documents: the ``Storage`` protocol of ``plugins.api`` over one table."""

import asyncio
from typing import Any

import apsw
import msgspec

from hubd.store.database import Database


class PluginStorage:
    """One plugin's JSON objects by key. A plugin cannot see another's."""

    def __init__(self, database: Database, plugin: str) -> None:
        self._database = database
        self._plugin = plugin

    def alone(self) -> asyncio.Lock:
        """The plugin's lock, an asynchronous context manager."""
        return self._database.lock_of(self._plugin)

    async def get(self, key: str) -> dict[str, Any] | None:
        def select(connection: apsw.Connection) -> dict[str, Any] | None:
            row = connection.execute(
                "SELECT value FROM plugin_storage WHERE plugin = ? AND key = ?", (self._plugin, key)
            ).fetchone()
            return _decoded(row[0]) if row else None

        return await self._database.run(select)

    async def put(self, key: str, value: dict[str, Any]) -> None:
        text = msgspec.json.encode(value).decode()

        def upsert(connection: apsw.Connection) -> None:
            connection.execute(
                "INSERT INTO plugin_storage VALUES (?, ?, ?) "
                "ON CONFLICT (plugin, key) DO UPDATE SET value = excluded.value",
                (self._plugin, key, text),
            )

        await self._database.run(upsert)

    async def delete(self, key: str) -> bool:
        def remove(connection: apsw.Connection) -> bool:
            connection.execute(
                "DELETE FROM plugin_storage WHERE plugin = ? AND key = ?", (self._plugin, key)
            )
            return connection.changes() > 0

        return await self._database.run(remove)

    async def all(self) -> dict[str, dict[str, Any]]:
        def select(connection: apsw.Connection) -> dict[str, dict[str, Any]]:
            rows = connection.execute(
                "SELECT key, value FROM plugin_storage WHERE plugin = ? ORDER BY key",
                (self._plugin,),
            )
            return {str(key): _decoded(value) for key, value in rows}

        return await self._database.run(select)


def _decoded(text: object) -> dict[str, Any]:
    return msgspec.json.decode(str(text), type=dict[str, Any])
