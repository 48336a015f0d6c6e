"""MCP both ways, with the real SDK on the other side: a process, a server, and a client."""

import asyncio
import contextlib
import re
import subprocess
import sys
from pathlib import Path

import httpx2
import msgspec
import pytest
import uvicorn
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from hubd.config import ConfigError, load_config
from hubd.events import NoticeBoard
from hubd.http.services import SERVICES
from hubd.mcp import servers
from hubd.mcp.servers import Servers, arguments_of
from hubd.policy import Person
from hubd.schedule import Schedule
from hubd.settings import Config, Http, Mcp, McpServer
from hubd.tool_context import Speaker
from hubd.tools import ArgumentsError, NotConfirmedError, ToolBox
from plugins.api import ToolCall, ToolError

SCRIPT = '''
import asyncio, os, sys
from mcp.server.mcpserver import MCPServer

server = MCPServer("workshop", log_level="CRITICAL")  # its tracebacks take seconds

@server.tool()
def add(a: int, b: int = 1) -> str:
    """Add two numbers."""
    return f"{a + b} by {os.getpid()}"

@server.tool()
def fail() -> str:
    """Fail."""
    raise ValueError("the shelf is empty")

@server.tool()
async def hang() -> str:
    """Never answer."""
    await asyncio.sleep(3600)
    return ""

@server.tool()
def die() -> str:
    """End the process."""
    os._exit(1)

@server.tool()
def environment(name: str) -> str:
    """Tell a variable."""
    return os.environ.get(name, "not set")

@server.tool(name="odd/name")
def odd() -> str:
    """Has an odd name, and says a lot."""
    return "x" * 100_000

if __name__ == "__main__":
    server.run("stdio")
'''


@pytest.fixture
def script(tmp_path):
    path = tmp_path / "workshop.py"
    path.write_text(SCRIPT)
    return path


@pytest.fixture
def box(database, clock):
    return ToolBox(
        [], database=database, schedule=Schedule(database), board=NoticeBoard(), clock=clock
    )


async def until(there):
    """Wait for something that no event tells of."""
    async with asyncio.timeout(30):
        while not there():  # noqa: ASYNC110
            await asyncio.sleep(0.02)


@contextlib.asynccontextmanager
async def connected(box, *configured, tools=1):
    """The servers' keeper for the time of the block, begun when so many tools are there."""
    keeper = asyncio.create_task(Servers(configured, box).run())
    try:
        await until(lambda: len(box.tools()) >= tools)
        yield
    finally:
        keeper.cancel()
        await asyncio.gather(keeper, return_exceptions=True)


def workshop(script, **settings):
    command = [sys.executable, str(script)]
    return McpServer(name="workshop", command=command, **{"risk": "act", **settings})


async def run(box, tool, confirmed=False, **arguments):
    call = ToolCall(tool=f"mcp_workshop.{tool}", arguments=arguments)
    return await box.call(call, Speaker(confirmed=confirmed))


async def test_tools_of_a_process_become_tools_of_the_hub(box, script):
    async with connected(box, workshop(script, environment={"SHELF": "oak"})):
        names = [tool.name for tool in box.tools()]
        assert "mcp_workshop.add" in names
        assert "mcp_workshop.odd_name" in names
        (add,) = [tool for tool in box.tools() if tool.name == "mcp_workshop.add"]
        assert add.description == "Add two numbers."
        assert add.parameters["required"] == ["a"]
        assert (await run(box, "add", a=20, b=1)).text.startswith("21 by ")
        assert (await run(box, "add", a="20")).text.startswith("21 by ")
        assert (await run(box, "environment", name="SHELF")).text == "oak"
        assert (await run(box, "environment", name="HUBD_HTTP_TOKEN")).text == "not set"
        assert len((await run(box, "odd_name")).text) == servers.MAXIMUM_TEXT


@pytest.mark.parametrize("arguments", [{}, {"a": "many"}, {"a": 1, "c": 2}])
async def test_arguments_are_checked_before_they_leave(box, script, arguments):
    async with connected(box, workshop(script)):
        with pytest.raises(ArgumentsError):
            await run(box, "add", **arguments)


async def test_faults_stay_with_the_server(box, script):
    async with connected(box, workshop(script, timeout=3)):
        with pytest.raises(ToolError, match="Error executing tool fail"):
            await run(box, "fail")
        with pytest.raises(ToolError, match=r"longer than 3 seconds"):
            await run(box, "hang")
        assert (await run(box, "add", a=1)).text.startswith("2 by ")


async def test_a_server_that_dies_is_started_again(box, script, monkeypatch):
    monkeypatch.setattr(servers, "FIRST_PAUSE_S", 0.05)
    async with connected(box, workshop(script, timeout=5)):
        first = (await run(box, "add", a=1)).text
        with pytest.raises(ToolError):
            await run(box, "die")
        async with asyncio.timeout(30):
            while True:
                with contextlib.suppress(ToolError):
                    again = (await run(box, "add", a=1)).text
                    break
                await asyncio.sleep(0.05)
        assert again != first
    with pytest.raises(ToolError, match="away"):
        await run(box, "add", a=1)


async def test_without_a_word_about_risk_a_person_is_asked(box, script):
    settings = McpServer(
        name="workshop", command=[sys.executable, str(script)], tools={"environment": "read"}
    )
    async with connected(box, settings):
        with pytest.raises(NotConfirmedError):
            await run(box, "add", a=1)
        assert (await run(box, "add", confirmed=True, a=1)).text.startswith("2")
        assert (await run(box, "environment", name="NOTHING")).text == "not set"


async def test_a_server_that_is_not_there_holds_nobody_up(box, script, caplog):
    nowhere = McpServer(name="nowhere", command=["/no/such/program"])
    silent = McpServer(name="silent", url="http://127.0.0.1:9/mcp?key=s3cret")
    async with connected(box, nowhere, silent, workshop(script)):
        assert (await run(box, "add", a=1)).text.startswith("2 by ")
    assert "MCP server nowhere: there is no program /no/such/program" in caplog.text
    ours = [r.getMessage() for r in caplog.records if r.name.startswith("hubd")]
    assert any("MCP server silent" in line for line in ours)
    assert not any("s3cret" in line for line in ours)


@contextlib.asynccontextmanager
async def web_server(script):
    """The same tools over streamable HTTP, for those who know the word."""
    names = {"__name__": "workshop"}
    exec(compile(script.read_text(), str(script), "exec"), names)
    inner = names["server"].streamable_http_app()

    async def guarded(scope, receive, send):
        headers = dict(scope.get("headers", []))
        if scope["type"] == "http" and headers.get(b"authorization") != b"Bearer open sesame":
            await send({"type": "http.response.start", "status": 401, "headers": []})
            await send({"type": "http.response.body", "body": b""})
            return
        await inner(scope, receive, send)

    settings = uvicorn.Config(guarded, port=0, log_level="error", lifespan="on")
    server = uvicorn.Server(settings)
    serving = asyncio.create_task(server.serve())
    await until(lambda: server.started)
    try:
        port = server.servers[0].sockets[0].getsockname()[1]
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        server.should_exit = True
        await serving


async def test_tools_of_an_address_with_its_token(box, script):
    async with web_server(script) as address:
        settings = McpServer(name="workshop", url=address, token="open sesame", risk="read")
        async with connected(box, settings):
            assert (await run(box, "add", a=1, b=2)).text.startswith("3 by ")


def test_a_schema_becomes_a_type_that_keeps_its_names():
    schema = {
        "properties": {
            "in-file": {"type": "string"},
            "mode": {"enum": ["fast", "slow"]},
            "deep": {"type": "array"},
            "class": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        },
        "required": ["in-file"],
    }
    names, struct = arguments_of("x", schema)
    converted = msgspec.convert({"in-file": "a", "mode": "fast", "class": None}, struct)
    assert {names[f]: getattr(converted, f) for f in struct.__struct_fields__}["class"] is None
    for wrong in ({}, {"in-file": "a", "mode": "odd"}, {"in-file": "a", "other": 1}):
        with pytest.raises(msgspec.ValidationError):
            msgspec.convert(wrong, struct, strict=False)


@pytest.mark.parametrize(
    "schema", [{}, {"properties": 5}, {"properties": {"a": "x"}, "required": 7}]
)
def test_an_odd_schema_breaks_nothing(schema):
    arguments_of("x", schema)


TOKEN = "a long token for tests"
SERVED = Config(http=Http(token=TOKEN), mcp=Mcp(serve=True))


@contextlib.asynccontextmanager
async def mcp_client(hub, token=TOKEN):
    url = str(hub.make_url("/mcp"))
    headers = {"Authorization": f"Bearer {token}"}
    async with (
        httpx2.AsyncClient(headers=headers) as http,
        Client(streamable_http_client(url, http_client=http)) as client,
    ):
        yield client


async def test_the_hubs_tools_are_offered(open_hub, tmp_path):
    async with open_hub(tmp_path, SERVED) as hub, mcp_client(hub) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert tools["clock_time"].annotations.read_only_hint
        assert tools["timers_start"].input_schema["type"] == "object"
        started = await client.call_tool("timers_start", {"minutes": 9, "name": "pasta"})
        assert started.content[0].text == "The pasta timer is set for 9 minutes."
        assert started.structured_content["duration_s"] == 540
        listed = await client.call_tool("timers_list", {})
        assert "pasta" in listed.content[0].text


async def test_what_goes_wrong_is_told(open_hub, tmp_path):
    async with open_hub(tmp_path, SERVED) as hub, mcp_client(hub) as client:
        for tool, arguments, word in (
            ("timers_cancel", {}, "No timer"),
            ("timers_start", {"minutes": "many"}, "minutes"),
            ("no_such", {}, "no tool"),
            ("lists_clear", {}, "confirmation"),
        ):
            result = await client.call_tool(tool, arguments)
            assert result.is_error, tool
            assert word in result.content[0].text


async def test_nobody_without_the_token_gets_in(open_hub, tmp_path):
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    async with open_hub(tmp_path, SERVED, paired=False) as hub:
        for headers in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": "Basic eA=="}):
            assert (await hub.post("/mcp", json=body, headers=headers)).status == 401
        assert (await hub.post(f"/mcp?token={TOKEN}", json=body)).status == 401


async def test_a_guest_gets_what_a_guest_may(open_hub, tmp_path):
    async with open_hub(tmp_path, SERVED) as hub:
        access = hub.server.app[SERVICES].access
        await access.add_person(Person(name="Ann", role="guest", tools=("clock", "timers")))
        _, secret = await access.add_token(name="x", person="Ann", scopes=("chat", "tools"))
        async with mcp_client(hub, secret) as client:
            refused = await client.call_tool("lists_add", {"items": ["milk"]})
            assert refused.is_error
            assert "no tool" in refused.content[0].text
            offered = {tool.name for tool in (await client.list_tools()).tools}
            assert {name.partition("_")[0] for name in offered} == {"clock", "timers"}
            assert not (await client.call_tool("timers_list", {})).is_error


async def test_a_browsers_session_is_not_enough(open_hub, tmp_path):
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    async with open_hub(tmp_path, SERVED, paired=False) as hub:
        headers = {"Authorization": f"Bearer {TOKEN}"}
        made = await (await hub.post("/hub/pairing", json={}, headers=headers)).json()
        paired = await hub.post("/hub/pair", json={"code": made["code"], "device": "phone"})
        assert paired.status == 200
        assert (await hub.get("/hub/tools")).status == 200  # the client keeps the cookie
        refused = await hub.post("/mcp", json=body)
        assert refused.status == 401
        assert "Bearer" in (await refused.json())["error"]["hint"]


async def test_it_is_not_there_unless_it_is_wanted(open_hub, tmp_path):
    async with open_hub(tmp_path, Config()) as hub:
        assert (await hub.post("/mcp", json={})).status == 404


def test_the_sdk_is_not_loaded_until_it_is_needed():
    code = "import sys, hubd.daemon; sys.exit('mcp' in sys.modules or 'pint' in sys.modules)"
    root = Path(__file__).parents[2]
    assert subprocess.run([sys.executable, "-c", code], cwd=root, check=False).returncode == 0


def test_the_configurations_of_the_page_are_right(tmp_path):
    page = (Path(__file__).parents[2] / "docs" / "mcp.md").read_text(encoding="utf-8")
    first, second = re.findall(r"```toml\n(.*?)```", page, re.DOTALL)
    (tmp_path / "first.toml").write_text(first)
    files, weather = load_config(tmp_path / "first.toml", {}).mcp.servers
    assert files.command[0] == "npx"
    assert files.risk == "dangerous"
    assert (weather.risk, weather.tools) == ("read", {"delete_all": "dangerous"})
    (tmp_path / "second.toml").write_text(second)
    assert load_config(tmp_path / "second.toml", {}).mcp.serve
    (tmp_path / "both.toml").write_text(first.replace('url = "', 'command = ["x"]\nurl = "'))
    with pytest.raises(ConfigError, match=r"\[mcp\] servers = \(secret\)"):
        load_config(tmp_path / "both.toml", {})
