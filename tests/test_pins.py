"""Pinned packages: constraints.txt and hashes.txt say the same, and neither names an address."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parent.parent
PIN = re.compile(r"([A-Za-z0-9._-]+)==([^ ]+)")


def pins(name):
    """Version by normalized name (PEP 503), without a local part."""
    found = {}
    for line in (ROOT / name).read_text().splitlines():
        if match := PIN.match(line):
            found[re.sub(r"[-_.]+", "-", match[1]).lower()] = match[2].partition("+")[0]
    return found


def test_every_package_with_a_hash_is_pinned_to_the_same_version():
    pinned, hashed = pins("constraints.txt"), pins("hashes.txt")
    assert len(hashed) > 100
    # Of constraints.txt, setuptools is the one that only builds.
    differing = {
        name: (version, pinned.get(name))
        for name, version in hashed.items()
        if pinned.get(name) != version and name != "setuptools"
    }
    assert differing == {}, "run `make lock`"


def test_each_line_has_a_hash_and_no_address():
    lines = (ROOT / "hashes.txt").read_text().splitlines()[1:]
    for line in lines:
        assert re.fullmatch(r"\S+==\S+ --hash=sha256:[0-9a-f]{64}", line), line
    for name in ("hashes.txt", "constraints.txt"):
        assert "://" not in (ROOT / name).read_text()


def test_what_is_needed_is_there():
    """Every dependency of pyproject.toml has its hash."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    wanted = [*project["dependencies"], *extras["test"], *extras["lint"]]
    names = {re.sub(r"[-_.]+", "-", one.partition("[")[0]).lower() for one in wanted}
    assert names <= set(pins("hashes.txt")), "run `make lock`"
