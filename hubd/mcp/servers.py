"""Tools of other MCP servers, as tools of the hub: connected, kept connected, contained.

Each server has a task of its own, which connects, looks for changed tools now and then, and begins
again after a pause that grows when the connection breaks. What a server says, names and
descriptions among it, is data from outside: it is bounded here, and decides no risk.
"""

import asyncio
import contextlib
import logging
import re
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from hubd.mcp import load_sdk
from hubd.settings import McpServer
from hubd.tools import ToolBox
from plugins.api import Plugin, Tool, ToolContext, ToolError, ToolResult

if TYPE_CHECKING:
    from mcp import Client
    from mcp.types import CallToolResult
    from mcp.types import Tool as RemoteTool

log = logging.getLogger(__name__)

PREFIX = "mcp_"
"""Before the server's name in the names of its tools: ``mcp_files.read``."""
CONNECT_LIMIT_S = 30.0
LOOK_EVERY_S = 60.0
LOOK_LIMIT_S = 20.0
FIRST_PAUSE_S = 1.0
LONGEST_PAUSE_S = 300.0
STEADY_S = 60.0
"""A connection that lasted so long begins with the first pause again."""
MAXIMUM_TOOLS = 100
MAXIMUM_PAGES = 20
MAXIMUM_SCHEMA = 20_000
MAXIMUM_DESCRIPTION = 1_000
MAXIMUM_TEXT = 8_000
"""Characters."""
_TYPES: dict[str, Any] = {
    "string": str, "integer": int, "number": float, "boolean": bool, "array": list[Any],
    "object": dict[str, Any],
}  # fmt: skip


class Servers:
    """All configured servers."""

    def __init__(self, configured: Sequence[McpServer], tools: ToolBox) -> None:
        self._servers = [Server(one, tools) for one in configured]

    async def run(self) -> None:
        """Keep all of them connected until cancelled."""
        if not self._servers:
            return
        try:
            await load_sdk()
        except ImportError as error:
            log.error("%s", error)
            return
        await asyncio.gather(*(server.keep() for server in self._servers))


class Server:
    """One server: its connection, and the plugin that its tools make."""

    def __init__(self, settings: McpServer, tools: ToolBox) -> None:
        self._settings = settings
        self._box = tools
        self._client: Client | None = None
        self._broken = asyncio.Event()

    async def keep(self) -> None:
        """Connect, and connect again when it breaks, until cancelled."""
        pause, clock = FIRST_PAUSE_S, asyncio.get_running_loop()
        while True:
            began = clock.time()
            try:
                await self._while_connected()
            except Exception as error:  # whatever a server does, the hub goes on
                log.warning("MCP server %s: %s", self._settings.name, reason(error))
            finally:
                self._client = None
            if clock.time() - began > STEADY_S:
                pause = FIRST_PAUSE_S
            await asyncio.sleep(pause)
            pause = min(pause * 2, LONGEST_PAUSE_S)

    async def _while_connected(self) -> None:
        self._broken.clear()
        async with contextlib.AsyncExitStack() as stack:
            async with asyncio.timeout(CONNECT_LIMIT_S):
                client = await stack.enter_async_context(opened(self._settings))
                plugin = self._plugin(await listed(client))
            self._client = client
            self._box.put(plugin)
            log.info("MCP server %s: %d tools", self._settings.name, len(plugin.tools))
            while True:
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self._broken.wait(), LOOK_EVERY_S)
                self._broken.clear()
                async with asyncio.timeout(LOOK_LIMIT_S):
                    self._box.put(self._plugin(await listed(client)))

    def _plugin(self, remote: "Sequence[RemoteTool]") -> Plugin:
        plugin = Plugin(PREFIX + self._settings.name)
        for one in remote:
            tool = self._tool(plugin.name, one)
            if tool is not None and tool.name not in plugin.tools:
                plugin.tools[tool.name] = tool
        return plugin

    def _tool(self, plugin: str, remote: "RemoteTool") -> Tool | None:
        """The tool as the hub's own, or ``None`` where it cannot be one."""
        schema = remote.input_schema
        safe = re.sub(r"[^A-Za-z0-9_-]", "_", remote.name)[:64]
        if not safe or len(msgspec.json.encode(schema)) > MAXIMUM_SCHEMA:
            log.warning("MCP server %s: a tool was left out", self._settings.name)
            return None
        names, arguments = arguments_of(safe, schema)

        async def call(context: ToolContext, **fields: Any) -> ToolResult:
            given = {names[k]: v for k, v in fields.items() if v is not msgspec.UNSET}
            return await self._call(remote.name, given)

        return Tool(
            name=f"{plugin}.{safe}",
            description=(remote.description or remote.name)[:MAXIMUM_DESCRIPTION],
            parameters=schema,
            risk=self._settings.tools.get(remote.name, self._settings.risk),
            timeout_s=self._settings.timeout,
            function=call,
            arguments=arguments,
        )

    async def _call(self, tool: str, arguments: Mapping[str, Any]) -> ToolResult:
        from mcp import MCPError

        client = self._client
        if client is None:
            raise ToolError(f"The MCP server {self._settings.name} is away. It is tried again.")
        try:
            result = await client.call_tool(tool, dict(arguments))
        except MCPError as error:
            self._broken.set()  # look whether it is still there
            said = error.message[:MAXIMUM_TEXT]
            raise ToolError(f"The MCP server {self._settings.name} says: {said}") from error
        except (OSError, RuntimeError) as error:
            self._broken.set()
            raise ToolError(f"The MCP server {self._settings.name} does not answer.") from error
        return told(result)


@contextlib.asynccontextmanager
async def opened(settings: McpServer) -> "AsyncIterator[Client]":
    """A connection to the server: a process of ours, or an address."""
    import httpx2
    from mcp import Client, StdioServerParameters
    from mcp.client.streamable_http import streamable_http_client

    if settings.command:
        program, *arguments = settings.command
        process = StdioServerParameters(
            command=program, args=arguments, env=dict(settings.environment)
        )
        async with Client(process, cache=None) as client:
            yield client
        return
    headers = {"Authorization": f"Bearer {settings.token}"} if settings.token else {}
    timeout = httpx2.Timeout(CONNECT_LIMIT_S, read=settings.timeout)
    async with (
        httpx2.AsyncClient(headers=headers, timeout=timeout) as http,
        Client(streamable_http_client(settings.url, http_client=http), cache=None) as client,
    ):
        yield client


async def listed(client: "Client") -> "list[RemoteTool]":
    """The server's tools, page by page, as many as the hub takes."""
    found: list[RemoteTool] = []
    cursor: str | None = None
    for _ in range(MAXIMUM_PAGES):
        page = await client.list_tools(cursor=cursor)
        found += page.tools
        cursor = page.next_cursor
        if cursor is None or len(found) >= MAXIMUM_TOOLS:
            break
    return found[:MAXIMUM_TOOLS]


def arguments_of(
    tool: str, schema: Mapping[str, Any]
) -> tuple[dict[str, str], type[msgspec.Struct]]:
    """Field → property, and the fields as a type: kinds and names are checked here, the rest of
    the schema by the server that made it."""
    properties, required = schema.get("properties"), schema.get("required")
    properties = properties if isinstance(properties, dict) else {}
    required = required if isinstance(required, list) else []
    names = {f"a{number}": str(name) for number, name in enumerate(properties)}
    fields: list[Any] = []
    for field, name in names.items():
        kind = _kind(properties[name])
        fields.append(
            (field, kind) if name in required else (field, kind | msgspec.UnsetType, msgspec.UNSET)
        )
    closed = schema.get("additionalProperties") is not True
    struct = msgspec.defstruct(
        f"{tool}Arguments", fields, kw_only=True, rename=names, forbid_unknown_fields=closed
    )
    return names, struct


def _kind(schema: Any) -> Any:
    """The Python type of a property; ``Any`` where the schema says more than its type."""
    if not isinstance(schema, dict):
        return Any
    values = schema.get("enum")
    if isinstance(values, list) and values and all(isinstance(v, str) for v in values):
        return Literal[tuple(dict.fromkeys(values))]
    said = schema.get("type")
    return _TYPES.get(said, Any) if isinstance(said, str) else Any


def told(result: "CallToolResult") -> ToolResult:
    """What a call came to, as the hub's own tools say it.

    Raises:
        ToolError: the server says that it failed.
    """
    texts = [part.text if part.type == "text" else f"[{part.type}]" for part in result.content]
    text = "\n".join(texts)[:MAXIMUM_TEXT]
    if result.is_error:
        raise ToolError(text or "The tool failed and does not say why.")
    structured = result.structured_content
    data = structured if isinstance(structured, dict) else {}
    return ToolResult(text=text or "Done.", data={"from": "mcp", **data})


def reason(error: BaseException) -> str:
    """The first real error of a group, in one line; its words may not hold an address."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    if isinstance(error, TimeoutError):
        return "it does not answer in time"
    if isinstance(error, FileNotFoundError):
        return f"there is no program {error.filename}"
    return f"the connection is lost ({type(error).__name__})"
