"""The Model Context Protocol, both ways: other servers' tools here, and the hub's tools for others.

The SDK is imported when the configuration asks for it and not before: it takes 53 MB and most of a
second.
"""

import asyncio
import importlib

MISSING = "MCP is set up, but its SDK is not installed: pip install 'hubd[mcp]'"


async def load_sdk() -> None:
    """Import the SDK on another thread.

    Raises:
        ImportError: it is not installed; the message says what to do.
    """
    try:
        for module in ("mcp", "mcp.server.streamable_http_manager", "httpx2"):
            await asyncio.to_thread(importlib.import_module, module)
    except ModuleNotFoundError as error:
        raise ImportError(MISSING) from error
