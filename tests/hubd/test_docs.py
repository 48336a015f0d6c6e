"""The documentation says what is: every key, every route, every command."""

import re
import tomllib
from pathlib import Path

import msgspec
import pytest

from hubd.cli import cli
from hubd.config import load_config
from hubd.http.app import FAMILIES
from hubd.settings import Config

DOCS = Path(__file__).parents[2] / "docs"
README = (DOCS.parent / "README.md").read_text()


def test_the_example_configuration_holds_every_key_and_its_default(tmp_path):
    example = re.search(r"```toml\n(.*?)```", (DOCS / "configuration.md").read_text(), re.DOTALL)[1]
    (tmp_path / "hubd.toml").write_text(example)
    described = load_config(tmp_path / "hubd.toml", {})
    defaults = load_config(tmp_path / "none.toml", {"HUBD_THREADS": "2"})
    assert described == defaults
    assert {section: set(table) for section, table in tomllib.loads(example).items()} == {
        section: set(table) for section, table in msgspec.to_builtins(Config()).items()
    }


def test_every_route_is_described():
    page = (DOCS / "http-api.md").read_text()
    named = re.findall(r"/(?:hub|v1|api|healthz|readyz)[\w/-]*", page)
    described = {path.rstrip("/") for path in named}
    for route in (route for family in FAMILIES for route in family.ROUTES):
        fixed = re.split(r"/\{", route.path)[0]
        if fixed.startswith(("/hub", "/v1", "/api", "/healthz", "/readyz")):
            assert fixed in described, route.path


def test_the_commands_of_the_readme_exist():
    for name in re.findall(r"^\.venv/bin/hubd (\w+)", README, re.MULTILINE):
        assert name in cli.commands
    makefile = (DOCS.parent / "Makefile").read_text()
    for target in re.findall(r"^make (\w+)", README, re.MULTILINE):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE)


@pytest.mark.parametrize("page", ["security.md", "reliability.md"])
def test_every_test_that_a_page_names_exists(page):
    """A defence without its test is a claim."""
    text = (DOCS / page).read_text()
    defined = {
        name
        for file in (DOCS.parent / "tests").rglob("test_*.py")
        for name in re.findall(r"^(?:async )?def (test_\w+)", file.read_text(), re.MULTILINE)
    }
    named = set(re.findall(r"`(test_\w+)`", text))
    assert len(named) > 10
    assert named <= defined, named - defined
    for place in re.findall(r"`(tests/[\w/.]+)`", text):
        assert (DOCS.parent / place).exists(), place


def test_every_threat_has_a_test():
    table = (DOCS / "security.md").read_text().partition("| threat |")[2].partition("\n\n")[0]
    rows = [line.split("|") for line in table.splitlines()[2:]]
    assert len(rows) > 20
    for row in rows:
        assert re.search(r"`test", row[3]), row[1]


def test_links_and_pictures_of_the_documentation_lead_somewhere():
    for page in [DOCS.parent / "README.md", *DOCS.glob("*.md")]:
        for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name}: {target}"
