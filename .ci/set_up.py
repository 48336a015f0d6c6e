"""Create `.venv` and install the project with its pinned packages, showing one progress bar.

Run by `make venv` with the system's Python: nothing outside the standard library is at hand yet.
"""

import os
import re
import subprocess
import sys
import threading
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ENVIRONMENT = ROOT / ".venv"
BAR_WIDTH = 30


def main() -> int:
    if sys.version_info < (3, 11):
        print(f"hubd needs Python 3.11 or newer; this is {sys.version.split()[0]}.")
        print("Run `make PYTHON=python3.11 …` with a newer one.")
        return 1
    if not (ENVIRONMENT / "bin" / "python").exists():
        try:
            venv.create(ENVIRONMENT, with_pip=True, clear=True)
        except subprocess.CalledProcessError:
            print("Python cannot create virtual environments here.")
            print("On Debian: sudo apt-get install python3-venv")
            return 1
    if (status := install()) == 0:
        (ENVIRONMENT / "installed").touch()
    return status


def install() -> int:
    """Run pip and return its exit status; on failure its output is shown."""
    # The pinned torch is named first: as another package's requirement alone, pip would
    # consider newer builds with several gigabytes of GPU libraries.
    pinned = ["--constraint", "constraints.txt", "torch", "--editable", ".[test,lint]"]
    hashed = ["--require-hashes", "--no-deps", "--requirement", "hashes.txt"]
    itself = ["--no-deps", "--no-build-isolation", "--editable", "."]
    steps = [hashed, itself] if os.environ.get("HUBD_REQUIRE_HASHES") else [pinned]
    return next((status for step in steps if (status := pip_install(step))), 0)


def pip_install(arguments: list[str]) -> int:
    """One run of pip; on failure its output is shown."""
    total = sum(1 for line in (ROOT / "constraints.txt").read_text().splitlines() if "==" in line)
    command = [
        str(ENVIRONMENT / "bin" / "python"), "-m", "pip", "install", "--disable-pip-version-check",
        *arguments,
    ]  # fmt: skip
    log: list[str] = []
    with subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as pip:
        stopped = threading.Event()
        drawing = threading.Thread(target=draw, args=(log, total, stopped), daemon=True)
        drawing.start()
        assert pip.stdout is not None
        log.extend(pip.stdout)
        stopped.set()
        drawing.join()
    if pip.returncode != 0:
        print("".join(log[-30:]))
        print("The Python packages could not be installed; pip's own words are above.")
    return pip.returncode


def draw(log: list[str], total: int, stopped: threading.Event) -> None:
    """Draw the bar until `stopped`: packages found (first half), then installed (second half)."""
    on_terminal = sys.stdout.isatty()
    if not on_terminal:
        print("Installing the Python packages into .venv …", flush=True)
    while not stopped.wait(0.2):
        found = sum(bool(re.match(r"(Collecting|Requirement already)", line)) for line in log)
        installed = len(list(ENVIRONMENT.glob("lib/python*/site-packages/*.dist-info")))
        found, installed = min(found, total), min(installed, total)
        share = (found + installed) / total / 2
        if on_terminal:
            bar = "━" * int(share * BAR_WIDTH)
            width = os.get_terminal_size().columns
            line = (
                f"Python packages  {bar:<{BAR_WIDTH}} {share:4.0%}  {installed}/{total} installed"
            )
            print(f"\r{line[: width - 1]}", end="", flush=True)
    if on_terminal:
        print("\r\033[K", end="")
    print("Python packages: ready")


if __name__ == "__main__":
    sys.exit(main())
