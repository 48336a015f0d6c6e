"""The hub as a device, without a Home Assistant; a real one is in tests/e2e."""

import asyncio

from aiohttp import web

from hubd.events import NoticeBoard
from hubd.home.device import HubDevice
from hubd.home.home_assistant import HomeAssistant
from hubd.home.link import Link
from hubd.store.outbox import Outbox


async def test_each_event_has_an_id_of_its_own(paths, database):
    """A reminder that comes every day rings with the same id of its own each time."""
    outbox = Outbox(database)
    device = HubDevice(paths, outbox, NoticeBoard())
    device.linked = lambda: True
    ids = []
    for _ in range(2):
        await device.fire("hubd_reminder", {"id": 7, "text": "water the plants"})
        message = await outbox.first()
        assert message.data["text"] == "water the plants"
        ids.append(message.data["id"])
        await outbox.done(message.number)
    assert len(set(ids)) == 2
    assert 7 not in ids


async def test_nothing_is_kept_where_no_home_assistant_is_linked(paths, database):
    outbox = Outbox(database)
    await HubDevice(paths, outbox, NoticeBoard()).fire("hubd_reminder", {"text": "x"})
    assert await outbox.count() == 0


async def test_why_it_is_no_device_there_is_kept(paths, database):
    """A Home Assistant without mobile_app answers 404 to a registration."""
    runner = web.AppRunner(web.Application())
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    device = HubDevice(paths, Outbox(database), NoticeBoard())
    device.listens_at("127.0.0.1", 8400)
    home = HomeAssistant(Link(url=f"http://127.0.0.1:{runner.addresses[0][1]}", token="x"))
    task = asyncio.create_task(device.beside(home))
    try:
        async with asyncio.timeout(5):
            while not device.problem:  # noqa: ASYNC110 - what is waited for has no event
                await asyncio.sleep(0.01)
        assert "without mobile_app" in device.problem
        assert not task.done(), "it tries again"
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await runner.cleanup()
