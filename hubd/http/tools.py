"""Tools over HTTP: ``GET /hub/tools`` and ``POST /hub/tools/{name}``."""

from typing import Any

from aiohttp import web

from hubd.errors import BadRequestError, HubError, NotFoundError
from hubd.http import replies
from hubd.http.body import read_body, reply
from hubd.http.callers import RefusedError, caller_of
from hubd.http.described import describe
from hubd.http.services import SERVICES
from hubd.tool_context import Speaker
from hubd.tools import ArgumentsError, NotPermittedError, UnknownToolError
from plugins.api import ToolCall, ToolError, ToolResult


class ToolFailedError(HubError):
    """The tool was called and could not do it; the message is the tool's own."""

    code = "tool_failed"
    status = 409


@describe(reply=list[replies.ToolCard])
async def tools(request: web.Request) -> web.StreamResponse:
    """What can be called."""
    return reply(
        [
            {
                "name": tool.name,
                "description": tool.description,
                "parameters": tool.parameters,
                "risk": tool.risk,
            }
            for tool in request.app[SERVICES].tools.tools()
        ]
    )


@describe(body=dict[str, Any], reply=ToolResult)
async def call(request: web.Request) -> web.StreamResponse:
    """Call one; the body holds its arguments."""
    arguments = await read_body(request, dict[str, Any])
    speaker = Speaker(person=caller_of(request).person)
    wanted = ToolCall(tool=request.match_info["name"], arguments=arguments)
    try:
        return reply(await request.app[SERVICES].tools.call(wanted, speaker))
    except UnknownToolError as error:
        raise NotFoundError(str(error)) from error
    except ArgumentsError as error:
        raise BadRequestError(str(error)) from error
    except NotPermittedError as error:
        raise RefusedError(403, "forbidden", str(error), "") from error
    except ToolError as error:
        raise ToolFailedError(str(error)) from error


ROUTES = [web.get("/hub/tools", tools), web.post("/hub/tools/{name}", call)]
