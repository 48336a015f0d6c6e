"""Install a Home Assistant that the tests run, in an environment of its own; print its Python.

``set_up.py [VERSION] [--look]``: with --look nothing is installed. It lies in
$HUBD_TEST_HOME_ASSISTANT, or in the user's cache, one folder a version. Nothing outside the
standard library is imported: .ci/run, make and the tests call this as a program.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

LIMIT_S = 900
"""For all its packages."""


class Release(NamedTuple):
    """A version of Home Assistant, and what its integrations of the tests need beside it."""

    python: str
    packages: tuple[str, ...]
    follow: bool = False
    """Whether its own list of versions is kept to."""


RELEASES = {
    # The newest that runs on Python 3.11.
    "2024.3.3": Release(
        "3.11",
        (
            "josepy<2",  # with 2.x every request is a 500
            "hassil==1.6.1",
            "home-assistant-intents==2024.3.12",
            "mutagen",
            "ha-ffmpeg==3.1.0",
            "PyTurboJPEG",
            "Pillow==10.2.0",
            "numpy",
            "psutil-home-assistant==0.0.1",
            "PyNaCl==1.5.0",
            "ical==7.0.3",
        ),
    ),
    # The first with conversation agents over Ollama and Wyoming as they are today.
    "2025.4.4": Release(
        "3.13",
        (
            "hassil==2.2.3",
            "home-assistant-intents==2025.3.28",
            "mutagen",
            "ha-ffmpeg",
            "PyTurboJPEG",
            "Pillow",
            "numpy",
            "psutil-home-assistant",
            "PyNaCl",
            "ollama==0.4.7",
            "wyoming==1.5.4",
            "pymicro-vad==1.0.1",
            "pyspeex-noise==1.0.2",
            "ical==9.1.0",
        ),
        follow=True,
    ),
}


class CannotError(Exception):
    """Why this version cannot be had here."""


def folder(version: str) -> Path:
    """Where the environment is, or will be."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    above = os.environ.get("HUBD_TEST_HOME_ASSISTANT") or cache / "hubd-tests"
    return Path(above) / f"home-assistant-{version}"


def is_installed(version: str) -> bool:
    """Whether it is there, with all that is wanted beside it today."""
    installed = folder(version) / "installed"
    return installed.is_file() and installed.read_text().split() == _packages(version)


def _packages(version: str) -> list[str]:
    return [package.replace(" ", "") for package in RELEASES[version].packages]


def interpreter(version: str) -> str:
    """A Python that this version runs on: this one, one on the PATH, or one of pyenv.

    Raises:
        CannotError: there is none.
    """
    wanted = RELEASES[version].python
    if ".".join(map(str, sys.version_info[:2])) == wanted:
        return sys.executable
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv") / "versions"
    found = [str(path) for path in sorted(pyenv.glob(f"{wanted}.*/bin/python"))]
    if on_path := shutil.which(f"python{wanted}"):
        found.append(on_path)
    for candidate in reversed(found):  # a shim of pyenv may stand for a version that is not there
        told = subprocess.run([candidate, "-V"], capture_output=True, text=True, check=False)
        if told.stdout.startswith(f"Python {wanted}."):
            return candidate
    raise CannotError(f"Home Assistant {version} needs Python {wanted}, which is not here")


def install(version: str) -> None:
    """Make the environment; what is there already is used again.

    Raises:
        CannotError: there is no Python for it, or a package cannot be had.
    """
    if is_installed(version):
        return
    release, home = RELEASES[version], folder(version)
    made_by = interpreter(version)
    pip = [
        str(home / "bin" / "python"),
        "-m",
        "pip",
        "install",
        "-q",
        "--disable-pip-version-check",
    ]
    itself = f"homeassistant=={version}"
    try:
        _run([made_by, "-m", "venv", "--clear", str(home)])
        known: list[str] = []
        if release.follow:
            _run([*pip, "--no-deps", itself])
            (versions,) = home.glob("lib/python*/site-packages/homeassistant/package_constr*.txt")
            known = ["--constraint", str(versions)]
        _run([*pip, *known, itself, *release.packages])
    except (subprocess.SubprocessError, OSError) as error:
        words = f"{getattr(error, 'output', '')}\n{getattr(error, 'stderr', '')}"
        raise CannotError(
            f"Home Assistant {version} cannot be installed: {error}\n{words}"
        ) from None
    (home / "installed").write_text("\n".join(_packages(version)))


def _run(command: list[str]) -> None:
    subprocess.run(command, check=True, capture_output=True, text=True, timeout=LIMIT_S)


def main() -> int:
    arguments = [one for one in sys.argv[1:] if one != "--look"]
    version = arguments[0] if arguments else "2024.3.3"
    try:
        if "--look" not in sys.argv:
            install(version)
        elif not is_installed(version):
            raise CannotError(f"Home Assistant {version} is not installed: make home-assistant")
    except CannotError as error:
        print(error)
        return 1
    print(folder(version) / "bin" / "python")
    return 0


if __name__ == "__main__":
    sys.exit(main())
