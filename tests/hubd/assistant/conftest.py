"""The real router with all plugins, in a household described by a file of tests/data/assistant."""

from pathlib import Path

import pytest

from hubd.assistant.route import Router
from hubd.home.file import read_description
from hubd.tools import find_plugins, sentence_files

DATA = Path(__file__).parents[2] / "data/assistant"


@pytest.fixture(scope="session")
def assistant_data() -> Path:
    return DATA


@pytest.fixture(scope="session")
def real_router():
    """``real_router("home.en.yaml")``: all tools and sentences over that household."""
    plugins = find_plugins()
    tools = [tool for plugin in plugins for tool in plugin.tools.values()]
    files = [path for plugin in plugins for path in sentence_files(plugin)]

    def made(name: str) -> Router:
        snapshot = read_description((DATA / name).read_text(encoding="utf-8"))
        return Router(tools, files, lambda: snapshot)

    return made
