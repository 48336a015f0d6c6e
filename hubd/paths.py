"""Where everything lives on this machine. Knows directories, not what is in the files.

``HUBD_HOME`` first; then the directories systemd names; then the XDG directories.
"""

import hashlib
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path

import msgspec

from hubd.errors import HubError

SOCKET_PATH_LIMIT = 100
"""Bytes. Linux allows 107 for a Unix socket's path (``sun_path``), other systems as few as 103."""


class Paths(msgspec.Struct, frozen=True, kw_only=True):
    """The directories of one home, and the files the daemon keeps in them."""

    config: Path
    data: Path
    cache: Path
    models: Path
    run: Path

    @property
    def config_file(self) -> Path:
        return self.config / "hubd.toml"

    @property
    def database(self) -> Path:
        return self.data / "hubd.db"

    @property
    def uploads(self) -> Path:
        """Documents that came in over HTTP; the others stay where the family keeps them."""
        return self.data / "uploads"

    @property
    def lock(self) -> Path:
        """Held by the running daemon; beside the data, because that is what must not be shared."""
        return self.data / "hubd.lock"

    @property
    def socket(self) -> Path:
        return self.run / "hubd.sock"

    @property
    def engine_socket(self) -> Path:
        return self.run / "engine.sock"

    @property
    def encoder_socket(self) -> Path:
        """Of an engine that has the embedding model alone."""
        return self.run / "encode.sock"


def find_paths(environment: Mapping[str, str] = os.environ) -> Paths:
    """The directories for this environment; nothing is created."""
    home = environment.get("HUBD_HOME")
    paths = _under(Path(home).expanduser().absolute()) if home else _of_the_system(environment)
    if len(os.fsencode(paths.socket)) + len("engine") > SOCKET_PATH_LIMIT:
        return msgspec.structs.replace(paths, run=_short_runtime_directory(paths.data))
    return paths


def create_directories(paths: Paths) -> None:
    """Create what is missing, readable by the owner alone.

    Raises:
        HubError: a directory cannot be created, or the runtime directory belongs to someone else.
    """
    make_private(paths.config, paths.data, paths.cache, paths.models, paths.run, paths.uploads)
    if paths.run.lstat().st_uid != os.geteuid():  # lstat: somebody's link in /tmp is not ours
        raise HubError(f"{paths.run} belongs to another user", "Remove it, or set HUBD_HOME.")


def make_private(*directories: Path) -> None:
    """Create those that are missing, readable by the owner alone; parents come first.

    Raises:
        HubError: one cannot be created.
    """
    for directory in directories:
        try:
            directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise HubError(
                f"cannot create {directory}: {error.strerror}",
                "Give this user write access to it, or choose another place with HUBD_HOME.",
            ) from error


def _under(home: Path) -> Paths:
    return Paths(
        config=home,
        data=home / "data",
        cache=home / "cache",
        models=home / "models",
        run=home / "run",
    )


def _of_the_system(environment: Mapping[str, str]) -> Paths:
    import platformdirs

    dirs = platformdirs.PlatformDirs("hubd", appauthor=False)
    data = _systemd(environment, "STATE_DIRECTORY") or Path(dirs.user_data_dir)
    return Paths(
        config=_systemd(environment, "CONFIGURATION_DIRECTORY") or Path(dirs.user_config_dir),
        data=data,
        cache=_systemd(environment, "CACHE_DIRECTORY") or Path(dirs.user_cache_dir),
        models=data / "models",
        run=_systemd(environment, "RUNTIME_DIRECTORY") or _runtime_directory(environment, data),
    )


def _systemd(environment: Mapping[str, str], name: str) -> Path | None:
    """systemd joins several directories with colons; the first is ours (systemd.exec(5))."""
    value = environment.get(name, "").split(":")[0]
    return Path(value) if value else None


def _runtime_directory(environment: Mapping[str, str], data: Path) -> Path:
    """The session's runtime directory; a private one where there is no session."""
    of_the_user = Path(environment.get("XDG_RUNTIME_DIR") or f"/run/user/{os.geteuid()}")
    return of_the_user / "hubd" if of_the_user.is_dir() else _short_runtime_directory(data)


def _short_runtime_directory(data: Path) -> Path:
    """A private directory under the temporary one, the same for the same home."""
    digest = hashlib.sha256(os.fsencode(data)).hexdigest()[:16]
    return Path(tempfile.gettempdir()) / f"hubd-{os.geteuid()}-{digest}"
