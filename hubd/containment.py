"""What a plugin's fault may come to: an error of the one call, a line in the log, nothing more."""

import asyncio
import inspect
import logging
from typing import Any

import msgspec

from hubd.store.faults import storage_error
from plugins.api import Plugin, Tool, ToolContext, ToolError, ToolResult

log = logging.getLogger(__name__)

MAXIMUM_TEXT = 20_000
"""Characters that a tool may say; more is cut off, and told in the log."""


async def contained(tool: Tool, context: ToolContext, arguments: dict[str, Any]) -> ToolResult:
    """The tool's result, or a ``ToolError`` whatever else it raises."""
    try:
        async with asyncio.timeout(tool.timeout_s):
            result: object = await tool.function(context, **arguments)
        if not isinstance(result, ToolResult):
            raise TypeError(f"a tool's result is a ToolResult, not {type(result).__name__}")
        if len(result.text) > MAXIMUM_TEXT:
            log.warning("a tool said too much tool=%s characters=%d", tool.name, len(result.text))
            return msgspec.structs.replace(result, text=f"{result.text[:MAXIMUM_TEXT]}…")
        return result
    except ToolError:
        raise
    except TimeoutError as error:
        raise ToolError(f"{tool.name} took longer than {tool.timeout_s:g} seconds") from error
    except Exception as error:  # whatever a plugin does, the daemon goes on
        if (storage := storage_error(error)) is not None:
            raise storage from error
        log.exception("tool failed tool=%s", tool.name)
        raise ToolError(f"{tool.name} failed ({type(error).__name__})") from error


def end_what_is_left(plugin: Plugin | None, before: set[asyncio.Task[Any]]) -> None:
    """Cancel the tasks of a plugin that does nothing any more: it asked for none to stay."""
    if plugin is None:
        return
    files = {inspect.unwrap(tool.function).__code__.co_filename for tool in plugin.tools.values()}
    left = [task for task in asyncio.all_tasks() - before if _file_of(task) in files]
    for task in left:
        task.cancel()
    if left:
        log.warning("plugin left %d tasks behind, ended: %s", len(left), plugin.name)


def _file_of(task: asyncio.Task[Any]) -> str | None:
    """The source file of what a task runs."""
    code = getattr(task.get_coro(), "cr_code", None)
    return code.co_filename if code else None
