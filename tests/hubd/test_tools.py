"""Tools: arguments validated, faults and hangs contained, plugins found."""

import asyncio
import sys

import pytest

from hubd.events import NoticeBoard
from hubd.schedule import Schedule
from hubd.tool_context import Speaker
from hubd.tools import (
    ArgumentsError,
    NotConfirmedError,
    ToolBox,
    UnknownToolError,
    find_plugins,
    sentence_files,
)
from plugins.api import Plugin, ToolCall, ToolContext, ToolError, ToolResult

plugin = Plugin("kitchen")


@plugin.tool(risk="act")
async def brew(context: ToolContext, cups: int = 1, strong: bool = False) -> ToolResult:
    """Brew coffee."""
    return ToolResult(text=f"{cups} cups", data={"strong": strong, "in": context.conversation})


@plugin.tool(risk="read")
async def broken(context: ToolContext) -> ToolResult:
    """Fail."""
    raise KeyError("secret detail")


@plugin.tool(risk="read")
async def refuses(context: ToolContext) -> ToolResult:
    """Say why not."""
    raise ToolError("There is no water.")


@plugin.tool(risk="read", timeout_s=0.05)
async def hangs(context: ToolContext) -> ToolResult:
    """Never answer."""
    await asyncio.sleep(3600)
    return ToolResult(text="")


@plugin.tool(risk="act")
async def slow(context: ToolContext) -> ToolResult:
    """Take a moment."""
    await asyncio.sleep(0.1)
    await context.storage.put("slow", {"done": True})
    return ToolResult(text="done")


@plugin.tool(risk="dangerous")
async def gas(context: ToolContext) -> ToolResult:
    """Open the gas."""
    return ToolResult(text="opened")


@plugin.tool(risk="read")
async def remember(context: ToolContext, what: str) -> ToolResult:
    """Keep something."""
    await context.storage.put("it", {"what": what, "at": context.now.isoformat()})
    context.emit("kept", {"what": what})
    return ToolResult(text="kept")


@pytest.fixture
def board():
    return NoticeBoard()


@pytest.fixture
def tools(database, board, clock):
    schedule = Schedule(database)
    return ToolBox([plugin], database=database, schedule=schedule, board=board, clock=clock)


async def run(tools, tool, conversation="", **arguments):
    speaker = Speaker(conversation=conversation)
    return await tools.call(ToolCall(tool=tool, arguments=arguments), speaker)


async def test_a_tool_runs_with_its_arguments_and_conversation(tools):
    result = await run(tools, "kitchen.brew", "c1", cups=2)
    assert (result.text, result.data) == ("2 cups", {"strong": False, "in": "c1"})


async def test_numbers_and_booleans_may_come_as_text(tools):
    result = await run(tools, "kitchen.brew", cups="3", strong="true")
    assert (result.text, result.data["strong"]) == ("3 cups", True)


@pytest.mark.parametrize(
    ("arguments", "word"),
    [({"cups": "many"}, "cups"), ({"sugar": 1}, "sugar"), ({"cups": 1.5}, "cups")],
)
async def test_wrong_arguments_are_refused_by_name(tools, arguments, word):
    with pytest.raises(ArgumentsError, match=word):
        await run(tools, "kitchen.brew", **arguments)


async def test_a_missing_argument_is_refused_by_name(tools):
    with pytest.raises(ArgumentsError, match="what"):
        await run(tools, "kitchen.remember")


async def test_an_unknown_tool_is_answered_with_those_that_there_are(tools):
    with pytest.raises(UnknownToolError, match=r"kitchen\.brew"):
        await run(tools, "kitchen.toast")


async def test_what_a_tool_says_is_said_as_it_is(tools):
    with pytest.raises(ToolError, match=r"^There is no water\.$"):
        await run(tools, "kitchen.refuses")


async def test_a_fault_is_contained_and_its_details_stay_in_the_log(tools):
    with pytest.raises(ToolError) as caught:
        await run(tools, "kitchen.broken")
    assert str(caught.value) == "kitchen.broken failed (KeyError)"


async def test_a_tool_that_hangs_is_ended(tools):
    with pytest.raises(ToolError, match=r"longer than 0\.05 seconds"):
        await run(tools, "kitchen.hangs")


async def test_a_tool_runs_to_its_end_though_its_caller_leaves(tools):
    caller = asyncio.create_task(run(tools, "kitchen.slow"))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    caller.cancel()
    await tools.close()
    assert await tools._context("kitchen", Speaker()).storage.get("slow") == {"done": True}


async def test_a_dangerous_tool_runs_when_it_is_confirmed(tools):
    with pytest.raises(NotConfirmedError, match="confirmation"):
        await run(tools, "kitchen.gas")
    confirmed = Speaker(confirmed=True)
    assert (await tools.call(ToolCall(tool="kitchen.gas"), confirmed)).text == "opened"


async def test_a_tool_reaches_storage_clock_and_pages_through_its_context(tools, board, clock):
    async with board.listen() as queue:
        await run(tools, "kitchen.remember", what="milk")
        assert queue.get_nowait().data == {"what": "milk"}
    stored = await tools._context("kitchen", Speaker()).storage.get("it")
    assert stored == {"what": "milk", "at": clock.time.isoformat()}


def test_tools_are_listed_by_name(tools):
    names = [tool.name for tool in tools.tools()]
    assert names == sorted(names)
    assert "kitchen.brew" in names


def test_the_timers_plugin_is_found_with_its_sentences():
    (timers,) = [found for found in find_plugins() if found.name == "timers"]
    assert {path.name for path in sentence_files(timers)} >= {"timers.en.yaml", "timers.zh.yaml"}


def test_a_plugin_that_does_not_load_is_left_out(tmp_path, monkeypatch):
    (tmp_path / "brokenone.py").write_text("raise RuntimeError('no')")
    (tmp_path / "goodone.py").write_text(
        "from plugins.api import Plugin\nplugin = Plugin('goodone')\n"
    )
    import plugins

    monkeypatch.setattr(plugins, "__path__", [*plugins.__path__, str(tmp_path)])
    names = [found.name for found in find_plugins()]
    for name in ("plugins.goodone", "plugins.brokenone"):
        sys.modules.pop(name, None)
    assert "goodone" in names
    assert "timers" in names


async def test_a_job_of_a_plugin_that_is_gone_is_an_error(tools):
    with pytest.raises(LookupError, match="gone"):
        await tools.run_job("gone", "key")
