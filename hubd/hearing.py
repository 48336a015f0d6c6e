"""Plugins that listen: what one emits, such as a timer that rings, others are told of."""

import asyncio
import logging

from hubd.events import Notice, NoticeBoard
from hubd.tools import ToolBox

log = logging.getLogger(__name__)

NOTICES_LIMIT = 256


class Hearing:
    """Hands notices of the board to the plugins that hear them, one after the other."""

    def __init__(self, tools: ToolBox, board: NoticeBoard) -> None:
        self._tools = tools
        self._notices: asyncio.Queue[Notice] = asyncio.Queue(NOTICES_LIMIT)
        board.observers.append(self._observe)

    async def listen(self) -> None:
        """Tell plugins, for as long as the daemon runs."""
        while True:
            notice = await self._notices.get()
            await self._tools.tell(notice.event, notice.data)

    def _observe(self, notice: Notice) -> None:
        if not any(notice.event in plugin.events for plugin in self._tools.plugins):
            return
        try:
            self._notices.put_nowait(notice)
        except asyncio.QueueFull:
            log.warning("too much happens at once: plugins are not told of it all")
