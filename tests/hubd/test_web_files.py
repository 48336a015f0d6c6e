"""The page's files: what is shipped, and what is fetched at once."""

import hashlib
import re
from pathlib import Path

import pytest

WEB = Path(__file__).parents[2] / "hubd" / "web"
TEST_VENDOR = Path(__file__).parents[1] / "data" / "vendor"


@pytest.mark.parametrize("folder", [WEB / "vendor", TEST_VENDOR], ids=["page", "tests"])
def test_vendored_files_are_what_was_vendored(folder):
    lines = (folder / "SHA256SUMS").read_text().splitlines()
    sums = {name: digest for digest, name in (line.split() for line in lines)}
    files = {path.name for path in folder.iterdir()} - {"SHA256SUMS"}
    assert set(sums) == files
    for name, digest in sums.items():
        assert hashlib.sha256((folder / name).read_bytes()).hexdigest() == digest, name


def linked(name: str, pattern: str) -> set[str]:
    """The page's files that ``name`` refers to, and those that they refer to."""
    seen: set[str] = set()
    waiting = [name]
    while waiting:
        found = re.findall(pattern, (WEB / waiting.pop()).read_text())
        waiting += set(found) - seen
        seen |= set(found)
    return seen


def test_every_module_is_fetched_at_once():
    """Without the list in the head a module is asked for only when its importer has come."""
    modules = linked("app.js", r'from "/static/([^"]+)"')
    assert linked("index.html", r'modulepreload" href="/static/([^"]+)"') == modules
