"""The documentation says what is: every key, every route, every command."""

import re
import tomllib
from pathlib import Path

import msgspec

from hubd.cli import cli
from hubd.config import Config, load_config
from hubd.http.app import FAMILIES

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


def test_links_and_pictures_of_the_documentation_lead_somewhere():
    for page in [DOCS.parent / "README.md", *DOCS.glob("*.md")]:
        for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name}: {target}"
