"""A plugin of somebody else: a real package, installed by pip, found by its entry point."""

import asyncio
import subprocess
import sys
import time

import pytest

from hubd.assistant.route import Router
from hubd.containment import MAXIMUM_TEXT
from hubd.events import NoticeBoard
from hubd.schedule import Schedule
from hubd.tools import ToolBox, find_plugins, sentence_files
from plugins.api import ToolCall, ToolError

PROJECT = """
[build-system]
requires = ["setuptools"]
build-backend = "setuptools.build_meta"

[project]
name = "hubd-aquarium"
version = "1.0"

[project.entry-points."hubd.plugins"]
aquarium = "hubd_aquarium.fish:plugin"
broken = "hubd_aquarium.broken:plugin"
not_a_plugin = "hubd_aquarium.fish:NAMES"

[tool.setuptools]
packages = ["hubd_aquarium"]
package-data = {hubd_aquarium = ["*.yaml"]}
"""

FISH = '''
import asyncio
from typing import Annotated

from msgspec import Meta

from plugins.api import Plugin, ToolCall, ToolContext, ToolResult

NAMES = ("guppy", "tetra")
plugin = Plugin("aquarium", sentences="aquarium.{language}.yaml")


@plugin.tool(risk="act")
async def feed(context: ToolContext, pinches: Annotated[int, Meta(ge=1, le=3)] = 1) -> ToolResult:
    """Feed the fish."""
    fed = (await context.storage.get("fed") or {"pinches": 0})["pinches"] + pinches
    await context.storage.put("fed", {"pinches": fed})
    return ToolResult(text=f"{fed} pinches so far.")


@plugin.tool(risk="read")
async def raises(context: ToolContext) -> ToolResult:
    """Fail."""
    raise ZeroDivisionError("a secret of the tank")


@plugin.tool(risk="read", timeout_s=0.2)
async def hangs(context: ToolContext) -> ToolResult:
    """Never answer."""
    await asyncio.Event().wait()
    return ToolResult(text="")


@plugin.tool(risk="read")
async def says_nothing(context: ToolContext) -> ToolResult:
    """Return no result."""


@plugin.tool(risk="read")
async def says_too_much(context: ToolContext) -> ToolResult:
    """Return a book."""
    return ToolResult(text="blub " * 100_000)


@plugin.tool(risk="read")
async def leaks(context: ToolContext) -> ToolResult:
    """Leave tasks behind."""
    for _ in range(3):
        asyncio.create_task(swim(), name="swim")
    return ToolResult(text="They swim.")


async def swim():
    while True:
        await asyncio.sleep(0.01)


@plugin.start
async def begin(context: ToolContext) -> None:
    raise RuntimeError("no water")


@plugin.answers
async def answer(context: ToolContext, question: str) -> ToolCall | None:
    if "tank" in question:
        return ToolCall(tool="timers.cancel")
    raise LookupError(question)
'''

SENTENCES = """
language: en
intents:
  aquarium.feed:
    data:
      - sentences: ["feed the fish [with {pinches} pinches]"]
lists:
  pinches: {range: {from: 1, to: 3}}
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """The folder into which pip installed the package."""
    source, target = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("target")
    package = source / "hubd_aquarium"
    package.mkdir()
    (source / "pyproject.toml").write_text(PROJECT)
    (package / "__init__.py").touch()
    (package / "fish.py").write_text(FISH)
    (package / "broken.py").write_text("import a_module_that_is_not_there\n")
    (package / "aquarium.en.yaml").write_text(SENTENCES)
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps"]
    pip += ["--no-build-isolation", "--target", str(target), str(source)]
    subprocess.run(pip, check=True, capture_output=True, text=True, timeout=120)
    return target


@pytest.fixture
def aquarium(installed, monkeypatch):
    """The plugin, as the hub finds it."""
    monkeypatch.syspath_prepend(str(installed))
    yield next(plugin for plugin in find_plugins() if plugin.name == "aquarium")
    for name in [name for name in sys.modules if name.startswith("hubd_aquarium")]:
        del sys.modules[name]


@pytest.fixture
def box(aquarium, workshop):
    return ToolBox(
        [aquarium],
        database=workshop.database,
        schedule=Schedule(workshop.database),
        board=NoticeBoard(),
        clock=lambda: workshop.time,
    )


async def run(box, tool, **arguments):
    return await box.call(ToolCall(tool=f"aquarium.{tool}", arguments=arguments))


def test_one_that_does_not_load_and_one_that_is_none_are_left_out(aquarium):
    names = [plugin.name for plugin in find_plugins()]
    assert names.count("aquarium") == 1
    assert "timers" in names


async def test_its_sentences_and_tools_work(aquarium, box):
    router = Router(list(aquarium.tools.values()), sentence_files(aquarium))
    call = router.route("please feed the fish with 2 pinches", language="en").call
    assert (await box.call(call)).text == "2 pinches so far."
    assert (await run(box, "feed")).text == "3 pinches so far."


async def test_one_that_raises_is_reported_without_its_secrets(box, caplog):
    with pytest.raises(ToolError, match=r"^aquarium\.raises failed \(ZeroDivisionError\)$"):
        await run(box, "raises")
    assert "tool failed tool=aquarium.raises" in caplog.text


async def test_one_that_hangs_is_ended(box):
    began = time.monotonic()
    with pytest.raises(ToolError, match=r"longer than 0\.2 seconds"):
        await run(box, "hangs")
    assert time.monotonic() - began < 5


async def test_one_that_gives_no_result_has_failed(box):
    with pytest.raises(ToolError, match="TypeError"):
        await run(box, "says_nothing")


async def test_what_is_too_long_is_cut_off(box, caplog):
    assert len((await run(box, "says_too_much")).text) == MAXIMUM_TEXT + 1
    assert "said too much tool=aquarium.says_too_much" in caplog.text


async def test_tasks_left_behind_are_ended_and_reported(box, caplog):
    def swimming():
        return [task for task in asyncio.all_tasks() if task.get_name() == "swim"]

    assert (await run(box, "leaks")).text == "They swim."
    await asyncio.sleep(0.05)
    assert swimming() == []
    assert "plugin left 3 tasks behind, ended: aquarium" in caplog.text


async def test_one_that_does_not_start_holds_nobody_up(box, caplog):
    await box.start()
    assert "plugin did not start: aquarium" in caplog.text
    assert (await run(box, "feed")).text


async def test_one_answers_with_its_own_tools_only(box, caplog):
    assert await box.answer("what lives in the tank") is None
    assert await box.answer("what else") is None
    assert "cannot tell what a text means: aquarium" in caplog.text
