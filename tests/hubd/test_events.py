"""The notice board: everyone hears, nobody is waited for."""

import msgspec

from hubd.events import QUEUE_LIMIT, NoticeBoard
from hubd.http.events import changes
from plugins.api import Entity, Snapshot


async def test_everyone_who_listens_hears():
    board = NoticeBoard()
    async with board.listen() as one, board.listen() as two:
        board.publish("timer", {"id": "1"})
        assert one.get_nowait() == two.get_nowait()


async def test_who_comes_later_does_not_hear():
    board = NoticeBoard()
    board.publish("timer", {"id": "1"})
    async with board.listen() as queue:
        assert queue.empty()


async def test_a_listener_that_does_not_keep_up_is_dropped_and_told():
    board = NoticeBoard()
    async with board.listen() as slow, board.listen() as quick:
        for number in range(QUEUE_LIMIT + 1):
            board.publish("tick", {"number": number})
            assert quick.get_nowait().data == {"number": number}
        assert slow.get_nowait() is None
        assert board.listeners == 1


async def test_closing_ends_every_listener():
    board = NoticeBoard()
    async with board.listen() as queue:
        board.close()
        assert queue.get_nowait() is None
    assert board.listeners == 0


def test_what_went_and_came_back_since_the_last_look_is_told():
    """A page may have fetched the household in between, and shows what it saw then."""
    lock = Entity(id="lock.front", name="Front Door", state="locked")
    lamp = Entity(id="light.hall", name="Lamp", state="on")
    before = Snapshot(entities=(lock, lamp))
    after = Snapshot(entities=(msgspec.structs.replace(lock), lamp))
    assert after == before
    assert changes(before, after) == {"version": 0, "entities": [lock]}
