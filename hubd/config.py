"""``hubd.toml`` and the environment as one typed tree.

A mistake is one line that says what is allowed. Every key ``[section] key`` is also
``HUBD_SECTION_KEY`` in the environment, which wins over the file. Knows nothing of the parts that
are configured; the keys are those of ``hubd.settings``.
"""

import difflib
import ipaddress
import os
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, get_args, get_origin
from zoneinfo import ZoneInfo

import msgspec
from msgspec import Meta

from hubd.errors import HubError
from hubd.settings import SECRETS, SECTIONS, Announce, Config, Http, Wyoming

CREDENTIAL = "hubd_"
"""Before the name of each credential (systemd.exec(5), LoadCredential with a directory)."""
SHORT_NAMES = {"HUBD_PORT": "HUBD_HTTP_PORT", "HUBD_THREADS": "HUBD_ENGINE_THREADS"}


class ConfigError(HubError):
    """A wrong key or value; the message names the file or variable, the key and what is allowed."""


def load_config(file: Path, environment: Mapping[str, str] = os.environ) -> Config:
    """The configuration: defaults, then ``file``, then systemd's credentials, then the environment.

    Raises:
        ConfigError: a key is not known, a value is not allowed, or the file is not TOML.
    """
    values: dict[str, dict[str, Any]] = {name: {} for name in SECTIONS}
    for section, key, value in _from_file(file):
        values[section][key] = _checked(f"{file}: [{section}] {key}", section, key, value)
    given = _credentials(environment)
    for variable, section, key, text in (
        *_from_environment(given),
        *_from_environment(environment),
    ):
        values[section][key] = _checked(variable, section, key, _parsed(section, key, text))
    config = msgspec.convert(values, Config)
    _check_together(config, file)
    return config


def is_loopback(host: str) -> bool:
    """Whether only programs on this machine can reach a server bound to ``host``."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def _from_file(file: Path) -> Iterator[tuple[str, str, Any]]:
    try:
        document = tomllib.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return
    except OSError as error:
        raise ConfigError(f"{file}: cannot be read: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{file}: not valid TOML: {' '.join(str(error).split())}") from error
    for section, table in document.items():
        if section not in SECTIONS:
            shown = f"[{section}]" if isinstance(table, dict) else section
            raise ConfigError(f"{file}: unknown section {shown}{_nearest(section, SECTIONS)}")
        if not isinstance(table, dict):
            raise ConfigError(f"{file}: {section}: must be a section, written [{section}]")
        for key, value in table.items():
            _check_key(f"{file}: unknown key {key!r} in [{section}]", section, key)
            yield section, key, value


def _credentials(environment: Mapping[str, str]) -> dict[str, str]:
    """Files that systemd handed over (``LoadCredential=hubd:…``), named after variables."""
    folder = environment.get("CREDENTIALS_DIRECTORY")
    if not folder:
        return {}
    try:
        return {
            path.name.removeprefix(CREDENTIAL): path.read_text(encoding="utf-8").strip()
            for path in sorted(Path(folder).glob(f"{CREDENTIAL}HUBD_*"))
        }
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{folder}: a credential cannot be read: {error}") from error


def _from_environment(environment: Mapping[str, str]) -> Iterator[tuple[str, str, str, str]]:
    """Short names first, so that the full name of the same key wins."""
    for short, full in SHORT_NAMES.items():
        if short in environment:
            section, key = full.removeprefix("HUBD_").lower().split("_", 1)
            yield short, section, key, environment[short]
    for variable, text in sorted(environment.items()):
        section, _, key = variable.removeprefix("HUBD_").lower().partition("_")
        if variable.startswith("HUBD_") and section in SECTIONS and key:
            _check_key(f"{variable}: unknown key {key!r} in [{section}]", section, key)
            yield variable, section, key, text


def _check_key(complaint: str, section: str, key: str) -> None:
    known = SECTIONS[section].__struct_fields__
    if key not in known:
        raise ConfigError(f"{complaint}{_nearest(key, known)}")


def _nearest(word: str, known: Mapping[str, Any] | tuple[str, ...]) -> str:
    close = difflib.get_close_matches(word, known, n=1)
    suggestion = f" (did you mean {close[0]!r}?)" if close else ""
    return f"{suggestion}; known: {', '.join(known)}"


def _checked(where: str, section: str, key: str, value: Any) -> Any:
    kind = _kind(section, key)
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        shown = "(secret)" if key in SECRETS else repr(value)
        raise ConfigError(f"{where} = {shown}: must be {_allowed(kind)}") from error


def _parsed(section: str, key: str, text: str) -> Any:
    """A variable's text as a value of the key's type, or as it is when it is not one."""
    base = get_args(_kind(section, key))[0]
    if get_origin(base) is list:
        return [item.strip() for item in text.split(",") if item.strip()]
    try:
        return msgspec.convert(text.strip(), base, strict=False)
    except msgspec.ValidationError:
        return text


def _kind(section: str, key: str) -> Any:
    return next(i.type for i in msgspec.structs.fields(SECTIONS[section]) if i.name == key)


def _allowed(kind: Any) -> str:
    meta = next(part for part in get_args(kind) if isinstance(part, Meta))
    return str(meta.description)


def _check_together(config: Config, file: Path) -> None:
    _check_http(config.http, file)
    _check_wyoming(config.wyoming, file)
    _check_announce(config.announce, file)
    zone = config.assistant.time_zone
    if zone:
        try:
            ZoneInfo(zone)
        except (ValueError, OSError, KeyError) as error:
            kind = _allowed(_kind("assistant", "time_zone"))
            raise ConfigError(
                f"{file}: [assistant] time_zone = {zone!r}: must be {kind}"
            ) from error


def _check_announce(settings: Announce, file: Path) -> None:
    mute = [one for one in settings.speakers if one.startswith("media_player.")]
    if mute and not settings.voice:
        raise ConfigError(f"{file}: [announce] speakers: {mute[0]} needs a [announce] voice")


def _check_http(settings: Http, file: Path) -> None:
    where = f"{file}: [http]"
    if bool(settings.certificate) != bool(settings.private_key):
        raise ConfigError(f"{where} certificate and private_key: set both, or none of them")
    try:
        settings.proxies()
    except ValueError as error:
        kind = _allowed(_kind("http", "trusted_proxies"))
        raise ConfigError(
            f"{where} trusted_proxies = {settings.trusted_proxies!r}: must be {kind}: {error}"
        ) from error


def _check_wyoming(settings: Wyoming, file: Path) -> None:
    where = f"{file}: [wyoming]"
    try:
        allowed = settings.networks()
    except ValueError as error:
        kind = _allowed(_kind("wyoming", "allow"))
        raise ConfigError(f"{where} allow = {settings.allow!r}: must be {kind}: {error}") from error
    if is_loopback(settings.host):
        if settings.announce:
            raise ConfigError(
                f"{where} announce: only this machine can reach {settings.host!r}: set host too, "
                "or announce = false"
            )
    elif not allowed:
        raise ConfigError(
            f"{where} host = {settings.host!r}: any machine could speak to the hub: "
            "name those that may in [wyoming] allow, or set host to 127.0.0.1"
        )
