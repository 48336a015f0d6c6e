"""A home in one file, and back: the database, the uploaded documents, the configuration.

A backup is a gzipped tar whose first member, `manifest.json`, names every other one with its size
and SHA-256. The database in it is a consistent copy, taken while the daemon may be writing. The
models and the caches are left out: they can be fetched and made again. Restoring trusts nothing:
only the names that a backup can have, only what the manifest says, and the old home is kept beside.
"""

import contextlib
import hashlib
import io
import os
import re
import shutil
import tarfile
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import IO

import apsw
import msgspec

import hubd
from hubd import lock
from hubd.errors import AlreadyRunningError, HubError
from hubd.paths import Paths
from hubd.settings import SECRETS
from rag.db import connect
from rag.errors import RagError

FORMAT = 1
MANIFEST = "manifest.json"
DATABASE = "hubd.db"
CONFIGURATION = "hubd.toml"
UPLOADS = "uploads"
LEFT_OUT = "(left out of the backup)"
"""In the place of a secret in a configuration that was backed up."""
MANIFEST_LIMIT = 64 * 2**20
_NAME = "hubd-backup-{:%Y%m%d-%H%M%S}.tar.gz"
_PATTERN = "hubd-backup-*.tar.gz"


class Member(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One file of a backup."""

    size: int
    sha256: str


class Manifest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a backup holds."""

    format: int
    version: str
    """Of the hubd that made it."""
    made_at: str
    """ISO 8601, UTC."""
    members: dict[str, Member]


class BackupError(HubError):
    """A backup that cannot be made or used; nothing was changed."""

    code = "backup"


def back_up(paths: Paths, file: Path, *, secrets: bool = False) -> Manifest:
    """Write the home at ``paths`` into ``file``, whole or not at all, readable by its owner alone.

    secrets: also tokens and keys of the configuration; without them they are asked for again.

    Raises:
        BackupError: there is no database, or the file cannot be written.
    """
    if not paths.database.is_file():
        raise BackupError(f"there is nothing to back up: {paths.database} is missing")
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        return _written(paths, file, secrets)
    except (OSError, RagError, apsw.Error) as error:
        raise BackupError(f"the backup {file} was not written: {error}") from error


def _written(paths: Paths, file: Path, secrets: bool, attempts: int = 5) -> Manifest:
    """Begun anew, so many times, when a document was removed while it was copied."""
    with tempfile.TemporaryDirectory(dir=file.parent, prefix=".hubd-backup-") as folder:
        try:
            unfinished, manifest = _unfinished(paths, Path(folder), secrets)
            unfinished.replace(file)
        except FileNotFoundError:
            if attempts == 1:
                raise
        else:
            return manifest
    return _written(paths, file, secrets, attempts - 1)


def _unfinished(paths: Paths, folder: Path, secrets: bool) -> tuple[Path, Manifest]:
    """A whole backup in ``folder``."""
    sources = _sources(paths, folder, secrets)
    manifest = Manifest(
        format=FORMAT,
        version=hubd.__version__,
        made_at=datetime.now(UTC).isoformat(timespec="seconds"),
        members={name: _member(source) for name, source in sources.items()},
    )
    unfinished = folder / "backup"
    with unfinished.open("xb") as out:
        _write(out, manifest, sources)
        out.flush()
        os.fsync(out.fileno())
    unfinished.chmod(0o600)
    return unfinished, manifest


def back_up_into(paths: Paths, folder: Path, *, keep: int, secrets: bool = False) -> Path:
    """A backup named after the time; of those in the folder the newest ``keep`` are left.

    Raises:
        BackupError: as `back_up`; then none is removed.
    """
    file = folder / _NAME.format(datetime.now(UTC))
    back_up(paths, file, secrets=secrets)
    for old in backups_in(folder)[keep:]:
        old.unlink(missing_ok=True)
    return file


def backups_in(folder: Path) -> list[Path]:
    """The backups of a folder, newest first."""
    return sorted(folder.glob(_PATTERN), reverse=True)


def restore(paths: Paths, file: Path) -> Path | None:
    """Put a backup in the place of the home; returns where the old data is now, if there was any.

    Raises:
        BackupError: the file is not a sound backup, or the daemon holds this home; nothing was
            changed.
    """
    paths.data.mkdir(mode=0o700, parents=True, exist_ok=True)
    with contextlib.ExitStack() as stack:
        try:
            stack.enter_context(lock.hold(paths.lock))
        except AlreadyRunningError as error:
            raise BackupError(error.message, "Stop it first, then restore.") from error
        folder = stack.enter_context(tempfile.TemporaryDirectory(dir=paths.data))
        new = Path(folder) / "data"
        new.mkdir(mode=0o700)
        try:
            _read(file, new)
            _check_database(new / DATABASE)
        except (OSError, tarfile.TarError, EOFError) as error:
            raise BackupError(f"{file} is not a sound backup: {error}") from error
        return _exchange(paths, new)


def _sources(paths: Paths, folder: Path, secrets: bool) -> dict[str, Path]:
    """Member names and the files that they are copied from."""
    copy = folder / DATABASE
    _copy_database(paths.database, copy)
    sources = {DATABASE: copy}
    if paths.config_file.is_file():
        text = paths.config_file.read_text(encoding="utf-8")
        configuration = folder / CONFIGURATION
        configuration.write_text(text if secrets else _without_secrets(text), encoding="utf-8")
        sources[CONFIGURATION] = configuration
    for path in sorted(paths.uploads.rglob("*")):
        whole = not path.name.startswith(".")  # not a copy under way, nor a mark of one
        if whole and path.is_file() and not path.is_symlink():
            sources[f"{UPLOADS}/{path.relative_to(paths.uploads).as_posix()}"] = path
    return sources


def _copy_database(database: Path, copy: Path) -> None:
    """A consistent copy, while others write (SQLite's online backup)."""
    with (
        contextlib.closing(connect(database)) as source,
        contextlib.closing(apsw.Connection(str(copy))) as target,
    ):
        with target.backup("main", source, "main") as backup:
            backup.step(-1)
        target.execute("PRAGMA journal_mode = DELETE").fetchall()


def _without_secrets(text: str) -> str:
    """The configuration with secrets commented out, over as many lines as a list has."""
    names = "|".join(SECRETS)
    value = r"(?:\[.*?\][ \t]*(?:#[^\n]*)?|[^\n]*)$"
    secret = rf"(?ms)^([ \t]*)({names})([ \t]*=)[ \t]*{value}"
    return re.sub(secret, rf"\1# \2\3 {LEFT_OUT}", text)


def _member(path: Path) -> Member:
    with path.open("rb") as file:
        return Member(
            size=path.stat().st_size, sha256=hashlib.file_digest(file, "sha256").hexdigest()
        )


def _write(out: IO[bytes], manifest: Manifest, sources: dict[str, Path]) -> None:
    with tarfile.open(fileobj=out, mode="w:gz", compresslevel=6) as tar:
        data = msgspec.json.format(msgspec.json.encode(manifest))
        info = tarfile.TarInfo(MANIFEST)
        info.size = len(data)
        tar.addfile(info, io.BytesIO(data))
        for name, source in sources.items():
            info = tarfile.TarInfo(name)
            info.size = manifest.members[name].size
            info.mode = 0o600
            with source.open("rb") as file:
                tar.addfile(info, file)


def _read(file: Path, into: Path) -> None:
    """Unpack what the manifest names, each member checked; nothing else is written."""
    with tarfile.open(file, mode="r:gz") as tar:
        manifest = _manifest(tar)
        left = dict(manifest.members)
        while (info := tar.next()) is not None:
            member = left.pop(info.name, None)
            if member is None or not info.isreg() or info.size != member.size:
                raise BackupError(f"{file} is not a sound backup: {info.name!r} is not as listed")
            content = tar.extractfile(info)
            assert content is not None
            _copy(content, into / info.name, info.name, member.sha256)
        if left:
            raise BackupError(f"{file} is cut short: {next(iter(left))!r} is missing")


def _manifest(tar: tarfile.TarFile) -> Manifest:
    info = tar.next()
    if info is None or info.name != MANIFEST or not 0 < info.size <= MANIFEST_LIMIT:
        raise BackupError(f"{tar.name!s} is not a backup of hubd")
    content = tar.extractfile(info)
    assert content is not None
    try:
        manifest = msgspec.json.decode(content.read(), type=Manifest)
    except msgspec.DecodeError as error:
        raise BackupError(f"{tar.name!s} is not a backup of hubd: {error}") from error
    if manifest.format != FORMAT:
        raise BackupError(
            f"the backup has format {manifest.format}, this hubd knows {FORMAT}",
            "Use the version of hubd that made it.",
        )
    for name in manifest.members:
        if name not in (DATABASE, CONFIGURATION) and not _is_upload(name):
            raise BackupError(f"the backup holds {name!r}, which no backup of hubd does")
    if DATABASE not in manifest.members:
        raise BackupError("the backup holds no database")
    return manifest


def _is_upload(name: str) -> bool:
    parts = PurePosixPath(name).parts
    return parts[0] == UPLOADS and len(parts) > 1 and ".." not in parts and "\0" not in name


def _copy(content: IO[bytes], path: Path, name: str, sha256: str) -> None:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with path.open("xb") as out:
        shutil.copyfileobj(content, out, 1 << 20)
        out.flush()
        os.fsync(out.fileno())
    path.chmod(0o600)
    with path.open("rb") as written:
        if hashlib.file_digest(written, "sha256").hexdigest() != sha256:
            raise BackupError(f"{name!r} in the backup is damaged")


def _check_database(path: Path) -> None:
    try:
        with contextlib.closing(apsw.Connection(str(path))) as connection:
            found = connection.execute("PRAGMA quick_check").fetchall()
    except apsw.Error as error:
        raise BackupError(f"the database in the backup is damaged: {error}") from error
    if found != [("ok",)]:
        raise BackupError(f"the database in the backup is damaged: {found[0][0]}")


def _exchange(paths: Paths, new: Path) -> Path | None:
    """Move the old files aside and the new ones in."""
    aside = paths.data / f"before-restore-{datetime.now(UTC):%Y%m%d-%H%M%S-%f}"
    old = [path for path in _current(paths) if path.exists()]
    if old:
        aside.mkdir(mode=0o700)
    for path in old:
        path.replace(aside / path.name)
    configuration = new / CONFIGURATION
    if configuration.exists() and not paths.config_file.exists():
        paths.config.mkdir(mode=0o700, parents=True, exist_ok=True)
        shutil.move(configuration, paths.config_file)
    for name in (UPLOADS, DATABASE):  # the database last: with it the home is the new one
        if (new / name).exists():
            (new / name).replace(paths.data / name)
    return aside if old else None


def _current(paths: Paths) -> Iterator[Path]:
    yield from (paths.database.with_name(DATABASE + end) for end in ("-wal", "-shm", ""))
    yield paths.uploads
