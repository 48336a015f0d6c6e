"""What a restored home still needs: secrets that were not in its backup, and how to set them."""

import contextlib
import re

import apsw

from hubd.home.link import file_of
from hubd.paths import Paths
from hubd.private import SecretFile
from hubd.store.backup import LEFT_OUT


def missing_secrets(paths: Paths) -> list[str]:
    """A sentence for each secret that the home at ``paths`` lacks and how to set it again.

    Devices need nothing: the digests of their tokens are in the database.
    """
    told = []
    if paths.config_file.is_file():
        section = ""
        for line in paths.config_file.read_text(encoding="utf-8").splitlines():
            if head := re.match(r"\s*(\[\w+\])", line):
                section = head[1]
            if LEFT_OUT in line:
                key = line.strip("# \t").partition("=")[0].strip()
                told.append(f"Set {section} {key} again in {paths.config_file}.")
    told += [
        f"Make the webhook {name} again: `hubd webhook remove {name}`, then `hubd webhook add`."
        for name in _webhooks_without_secret(paths)
    ]
    if not file_of(paths).exists():
        told.append("If Home Assistant was connected: `hubd home connect URL` with a new token.")
    return told


def _webhooks_without_secret(paths: Paths) -> list[str]:
    known = SecretFile(paths.data / "webhook-secrets.json").all()
    flags = apsw.SQLITE_OPEN_READONLY
    with contextlib.closing(apsw.Connection(str(paths.database), flags=flags)) as connection:
        rows = list(connection.execute("SELECT name, id FROM webhook ORDER BY name"))
    return [str(name) for name, identity in rows if identity not in known]
