"""The hub's tools offered to MCP clients, over the SDK's own server.

The SDK speaks ASGI; ``Offer.answer`` is called with a request in that form. Whoever calls is a
person of the household to the policy, and a model to its caution: what is dangerous is not done
from here, because nobody can be asked.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, MutableMapping
from typing import TYPE_CHECKING, Any

import msgspec

import hubd
from hubd.errors import HubError
from hubd.mcp import load_sdk
from hubd.mcp.servers import PREFIX
from hubd.policy import OWNER, Person, decide
from hubd.tool_context import Speaker
from hubd.tools import ToolBox
from plugins.api import Tool, ToolCall, ToolError

if TYPE_CHECKING:
    from mcp.server.lowlevel import Server
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
    from mcp.types import CallToolRequestParams, CallToolResult, ListToolsResult
    from mcp.types import Tool as OfferedTool

log = logging.getLogger(__name__)

PERSON = "hubd.person"
"""The key of the caller in the ASGI scope."""
READY_LIMIT_S = 30.0
MAXIMUM_BODY = 1_000_000

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]


class Offer:
    """The server of the tools; it is made when somebody calls for the first time."""

    def __init__(self, tools: ToolBox) -> None:
        self._tools = tools
        self._wanted = asyncio.Event()
        self._ready: asyncio.Future[StreamableHTTPSessionManager] = asyncio.Future()

    async def run(self) -> None:
        """Own the server from the first call on, until cancelled."""
        await self._wanted.wait()
        try:
            await load_sdk()
        except ImportError as error:
            self._ready.set_exception(HubError(str(error)))
            return
        from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

        manager = StreamableHTTPSessionManager(
            self._server(), json_response=True, stateless=True, max_request_body_size=MAXIMUM_BODY
        )
        async with manager.run():
            self._ready.set_result(manager)
            await asyncio.Event().wait()

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request, in ASGI's form.

        Raises:
            HubError: the SDK is not installed.
            TimeoutError: the server does not come up.
        """
        self._wanted.set()
        async with asyncio.timeout(READY_LIMIT_S):
            manager = await asyncio.shield(self._ready)
        await manager.handle_request(scope, receive, send)

    def _server(self) -> "Server[Any]":
        from mcp.server.lowlevel import Server
        from mcp.types import CallToolResult, ListToolsResult, TextContent

        def said(text: str, *, failed: bool) -> CallToolResult:
            return CallToolResult(content=[TextContent(type="text", text=text)], is_error=failed)

        async def listed(context: Any, _: Any) -> "ListToolsResult":
            return ListToolsResult(tools=self.offered(_person(context)))

        async def called(context: Any, params: "CallToolRequestParams") -> "CallToolResult":
            person = _person(context)
            tool = self._by_name(person).get(params.name)
            if tool is None:
                return said(f"There is no tool {params.name}.", failed=True)
            call = ToolCall(tool=tool.name, arguments=params.arguments or {})
            try:
                speaker = Speaker(person=person, provenance="model")
                result = await self._tools.call(call, speaker)
            except ToolError as error:
                return said(str(error), failed=True)
            answer = said(result.text, failed=False)
            answer.structured_content = msgspec.to_builtins(result.data)
            return answer

        return Server("hubd", version=hubd.__version__, on_list_tools=listed, on_call_tool=called)

    def offered(self, person: Person) -> "list[OfferedTool]":
        """The tools that a person may use, in the protocol's words."""
        from mcp.types import Tool as OfferedTool
        from mcp.types import ToolAnnotations

        return [
            OfferedTool(
                name=name,
                description=tool.description,
                input_schema={"type": "object", **tool.parameters},
                annotations=ToolAnnotations(
                    read_only_hint=tool.risk == "read", destructive_hint=tool.risk == "dangerous"
                ),
            )
            for name, tool in self._by_name(person).items()
        ]

    def _by_name(self, person: Person) -> dict[str, Tool]:
        """The protocol's name → tool. What came from other servers is not passed on."""
        return {
            tool.name.replace(".", "_"): tool
            for tool in self._tools.tools()
            if not tool.name.startswith(PREFIX)
            and decide("read", "person", person, tool.name, frozenset()).verdict == "allow"
        }


def _person(context: Any) -> Person:
    """Who calls: the door put them into the scope of the request."""
    person = context.request.scope.get(PERSON)
    return person if isinstance(person, Person) else OWNER
