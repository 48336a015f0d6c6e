"""Tools over HTTP: ``GET /hub/tools`` and ``POST /hub/tools/{name}``."""

import re
from typing import Any

from aiohttp import web

from hubd.assistant.understanding.grammar import LANGUAGES
from hubd.errors import BadRequestError, HubError, NotFoundError
from hubd.http import replies
from hubd.http.body import read_body, reply
from hubd.http.callers import RefusedError, caller_of
from hubd.http.described import describe
from hubd.http.services import SERVICES
from hubd.tool_context import Speaker
from hubd.tools import ArgumentsError, NotPermittedError, UnknownToolError
from plugins.api import ToolCall, ToolError, ToolResult

_LANGUAGE_RANGE = re.compile(
    r"(?P<tag>[a-z]{1,8})(?:-[a-z0-9]{1,8})*(?:\s*;\s*q=(?P<q>[01](?:\.\d{0,3})?))?", re.IGNORECASE
)


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
    """Call one; the body holds its arguments, and ``Accept-Language`` says in which language they
    are and the reply shall be: the first that the household speaks, else English."""
    arguments = await read_body(request, dict[str, Any])
    languages = accepted(request.headers.get("Accept-Language", ""))
    language = next((one for one in languages if one in LANGUAGES), "en")
    speaker = Speaker(person=caller_of(request).person, language=language)
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


def accepted(header: str) -> list[str]:
    """The primary tags of an ``Accept-Language`` header, the best first (RFC 9110, 12.5.4): ``de``
    and ``en`` of ``en;q=0.5, de-AT``. What is no language or not wanted (q=0) is left out."""
    weighed: list[tuple[float, str]] = []
    for part in header.split(","):
        if (found := _LANGUAGE_RANGE.fullmatch(part.strip())) and float(found["q"] or 1) > 0:
            weighed.append((float(found["q"] or 1), found["tag"].lower()))
    return [tag for _, tag in sorted(weighed, key=lambda one: -one[0])]


ROUTES = [web.get("/hub/tools", tools), web.post("/hub/tools/{name}", call)]
