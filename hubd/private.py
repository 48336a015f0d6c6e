"""Files that only their owner may read: tokens and secrets, kept out of the database.

What is in the database is in every backup and export of it; what is here is not.
"""

import os
import secrets
import threading
from pathlib import Path

import msgspec

from hubd.errors import HubError


def write_private(file: Path, data: bytes) -> None:
    """Replace the file in one step, readable by its owner alone from the first byte."""
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    part = file.with_name(f".{file.name}.{secrets.token_hex(4)}")
    descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as out:
        out.write(data)
        out.flush()
        os.fsync(out.fileno())
    part.replace(file)


class SecretFile:
    """Secrets by name in one private JSON file. Its methods touch the disk."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._changing = threading.Lock()

    def all(self) -> dict[str, str]:
        """Every secret.

        Raises:
            HubError: the file is damaged.
        """
        try:
            return msgspec.json.decode(self._file.read_bytes(), type=dict[str, str])
        except FileNotFoundError:
            return {}
        except (OSError, msgspec.MsgspecError) as error:
            raise HubError(f"{self._file} cannot be used: {error}", "Restore it.") from error

    def put(self, name: str, secret: str) -> None:
        with self._changing:
            write_private(self._file, msgspec.json.encode(self.all() | {name: secret}))

    def remove(self, name: str) -> None:
        with self._changing:
            left = {known: secret for known, secret in self.all().items() if known != name}
            write_private(self._file, msgspec.json.encode(left))
