"""Write `hashes.txt`: every pinned package with its file's SHA-256, for `pip --require-hashes`.

    .venv/bin/python .ci/lock.py

Asks pip which files it would install, as it is configured here; nothing is installed, and no
address is written. The hashes are those of this platform's files (the first line says which).
"""

import json
import platform
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HASHES = ROOT / "hashes.txt"
WANTED = ("torch", ".[test,lint]", "setuptools>=80")


def report() -> list[dict[str, dict[str, object]]]:
    """pip's installation report: https://pip.pypa.io/en/stable/reference/installation-report/."""
    command = [
        sys.executable, "-m", "pip", "install", "--dry-run", "--ignore-installed", "--quiet",
        "--constraint", "constraints.txt", "--report", "-", *WANTED,
    ]  # fmt: skip
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, check=True, text=True)
    return list(json.loads(done.stdout)["install"])


def line(package: dict[str, dict[str, object]]) -> str | None:
    """One requirement; none for hubd itself."""
    about, download = package["metadata"], package["download_info"]
    archive = download.get("archive_info")
    if archive is None:
        return None
    assert isinstance(archive, dict)
    return f"{about['name']}=={about['version']} --hash=sha256:{archive['hashes']['sha256']}"


def main() -> None:
    python = ".".join(platform.python_version_tuple()[:2])
    head = f"# {platform.system()} {platform.machine()}, Python {python}; made by .ci/lock.py"
    lines = sorted(filter(None, map(line, report())), key=str.lower)
    HASHES.write_text("\n".join([head, *lines]) + "\n")
    print(f"{HASHES.name}: {len(lines)} packages")


if __name__ == "__main__":
    main()
