"""The home in plain files that need no hubd to be read: JSON for what was said, documents as is."""

import contextlib
import shutil
from pathlib import Path
from typing import Any

import apsw
import msgspec

from hubd.errors import HubError
from hubd.paths import Paths
from rag.db import connect
from rag.errors import RagError


class ExportError(HubError):
    """The export cannot be made."""

    code = "export"


def export(paths: Paths, folder: Path) -> dict[str, int]:
    """Write every table as ``FOLDER/TABLE.json`` (rows as objects) and the uploads beside.

    Search indexes and vectors are left out: they follow from the text. Returns rows by table.

    Raises:
        ExportError: there is no database, the folder is not empty, or it cannot be written.
    """
    if not paths.database.is_file():
        raise ExportError(f"there is nothing to export: {paths.database} is missing")
    if folder.exists() and any(folder.iterdir()):
        raise ExportError(f"{folder} is not empty", "Name a folder that does not exist yet.")
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with contextlib.closing(connect(paths.database)) as connection, connection:
            rows = {table: _rows(connection, table) for table in _tables(connection)}
        for table, content in rows.items():
            data = msgspec.json.format(msgspec.json.encode(content), indent=2)
            (folder / f"{table}.json").write_bytes(data)
        if paths.uploads.is_dir():
            shutil.copytree(paths.uploads, folder / "documents", symlinks=True)
    except (OSError, RagError, apsw.Error) as error:
        raise ExportError(f"the export to {folder} is not complete: {error}") from error
    return {table: len(content) for table, content in rows.items()}


def _tables(connection: apsw.Connection) -> list[str]:
    """Ordinary tables: neither virtual ones nor what those keep their data in."""
    return [
        name
        for name, kind in connection.execute(
            "SELECT name, type FROM pragma_table_list WHERE schema = 'main' ORDER BY name"
        )
        if kind == "table" and not name.startswith("sqlite_")
    ]


def _rows(connection: apsw.Connection, table: str) -> list[dict[str, Any]]:
    """Rows as objects. Bytes, which are vectors here, are left out."""
    cursor = connection.execute(f'SELECT * FROM "{table}"')
    found = []
    for row in cursor:
        names = [column[0] for column in cursor.get_description()]
        pairs = zip(names, row, strict=True)
        found.append({name: value for name, value in pairs if not isinstance(value, bytes)})
    return found
