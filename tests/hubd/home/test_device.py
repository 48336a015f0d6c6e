"""The hub as a device, without a Home Assistant; a real one is in tests/e2e."""

from hubd.events import NoticeBoard
from hubd.home.device import HubDevice
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
