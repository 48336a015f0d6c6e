"""Where Home Assistant is and how it lets the hub in: one private file, kept between starts.

The token comes from systemd's credentials where there is one (``home-assistant-token``), else from
the file, which only its owner can read. It is never logged and never leaves this machine but to
the address beside it.
"""

import os
import stat
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

import msgspec

from hubd.errors import BadRequestError, HubError
from hubd.paths import Paths
from hubd.private import write_private

CREDENTIAL = "home-assistant-token"
FILE_NAME = "home-assistant.json"


class Registration(msgspec.Struct, frozen=True, kw_only=True):
    """The hub as a device of Home Assistant's mobile_app integration."""

    webhook_id: str
    """A secret: whoever knows it can act as this hub."""
    push_token: str
    """What Home Assistant's notifications carry, so that nobody else can send any."""
    device_id: str


class Link(msgspec.Struct, frozen=True, kw_only=True):
    """A connection to one Home Assistant."""

    url: str
    """Without a slash at its end."""
    token: str = ""
    registration: Registration | None = None

    def __repr__(self) -> str:
        return f"Link(url={self.url!r})"


def file_of(paths: Paths) -> Path:
    return paths.data / FILE_NAME


def load(paths: Paths, environment: Mapping[str, str] = os.environ) -> Link | None:
    """The link of this home, or ``None`` where there is none.

    Raises:
        HubError: the file cannot be read, or somebody else can read it too.
    """
    file = file_of(paths)
    try:
        mode = file.stat().st_mode
        link = msgspec.json.decode(file.read_bytes(), type=Link)
    except FileNotFoundError:
        return None
    except (OSError, msgspec.MsgspecError) as error:
        raise HubError(
            f"{file} cannot be used: {error}", "Connect again: `hubd home connect URL`."
        ) from error
    if mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise HubError(
            f"{file} can be read by other users of this machine",
            f"Make the token in Home Assistant anew, then: chmod 600 {file}",
        )
    if folder := environment.get("CREDENTIALS_DIRECTORY"):
        credential = Path(folder) / CREDENTIAL
        if credential.is_file():
            return msgspec.structs.replace(link, token=credential.read_text().strip())
    return link


def save(paths: Paths, link: Link) -> None:
    """Keep the link, readable by its owner alone from the first byte, in one step."""
    write_private(file_of(paths), msgspec.json.encode(link))


def forget(paths: Paths) -> bool:
    """Remove the link; whether there was one."""
    try:
        file_of(paths).unlink()
    except FileNotFoundError:
        return False
    return True


def checked_url(text: str) -> str:
    """An address of Home Assistant as it is kept.

    Raises:
        BadRequestError: it is no http(s) address, or holds a password.
    """
    address = text.strip().rstrip("/").removesuffix("/api")
    try:
        parts = urlsplit(address)
        right = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        right = False
    if not right or parts.username or parts.query or parts.fragment:
        raise BadRequestError(
            f"not an address of Home Assistant: {text!r}",
            "Write it as http://homeassistant.local:8123",
        )
    return address
