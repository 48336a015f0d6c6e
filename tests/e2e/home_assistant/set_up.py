"""Install the Home Assistant that the tests run, in an environment of its own; print its Python.

It lies in $HUBD_TEST_HOME_ASSISTANT, or in the user's cache. Nothing outside the standard library
is imported: .ci/run and the tests call this as a program.
"""

import os
import subprocess
import sys
import venv
from pathlib import Path

VERSION = "2024.3.3"
"""The newest that runs on Python 3.11."""

PACKAGES = (
    f"homeassistant=={VERSION}",
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
)


def folder() -> Path:
    """Where the environment is, or will be."""
    if named := os.environ.get("HUBD_TEST_HOME_ASSISTANT"):
        return Path(named)
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return cache / "hubd-tests" / f"home-assistant-{VERSION}"


def python() -> Path:
    return folder() / "bin" / "python"


def is_installed() -> bool:
    return (folder() / "installed").is_file()


def install() -> None:
    """Make the environment; what is there already is used again.

    Raises:
        subprocess.CalledProcessError: a package cannot be had; its output holds pip's words.
    """
    if is_installed():
        return
    venv.create(folder(), with_pip=True, clear=True)
    command = [str(python()), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*command, *PACKAGES], check=True, capture_output=True, text=True)
    (folder() / "installed").touch()


def main() -> int:
    if sys.version_info[:2] != (3, 11):
        print(f"Home Assistant {VERSION} needs Python 3.11, this is {sys.version.split()[0]}")
        return 1
    try:
        install()
    except subprocess.CalledProcessError as error:
        print(f"Home Assistant {VERSION} cannot be installed:\n{error.output}\n{error.stderr}")
        return 1
    print(python())
    return 0


if __name__ == "__main__":
    sys.exit(main())
