"""What an ingest does with each file, told to every open page: a few times a second at most."""

import asyncio

import msgspec

from hubd.events import NoticeBoard
from hubd.folders import is_private
from hubd.settings import Rag
from rag.activity import Activity
from rag.types import Document

PAUSE_S = 0.25
AT_ONCE = 50
"""Files a notice; a folder of thousands is told of in steps."""


async def tell_of_files(activity: Activity, board: NoticeBoard, settings: Rag) -> None:
    """Publish ``ingest`` notices with the files whose state changed, until cancelled.

    Every page hears them, so those of private collections are left out.
    """
    news: dict[str, Document] = {}
    changed = asyncio.Event()

    def note(document: Document) -> None:
        if is_private(document.collection, settings):
            return
        news.pop(document.path, None)
        news[document.path] = document
        changed.set()

    activity.changed = note
    while True:
        await changed.wait()
        batch = [news.pop(path) for path in list(news)[:AT_ONCE]]
        if not news:
            changed.clear()
        board.publish("ingest", {"files": msgspec.to_builtins(batch)})
        await asyncio.sleep(PAUSE_S)
