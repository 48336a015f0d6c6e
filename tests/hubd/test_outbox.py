"""What waits for Home Assistant."""

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hubd.store.outbox import Outbox


async def test_messages_stay_in_order_until_they_are_done(database):
    outbox = Outbox(database)
    for number in range(3):
        await outbox.put("event", "hubd_test", {"n": number})
    assert (await outbox.first()).data == {"n": 0}
    first = await outbox.first()
    await outbox.done(first.number)
    assert (await outbox.first()).data == {"n": 1}
    assert await outbox.count() == 2


async def test_the_oldest_are_forgotten_first(database, monkeypatch):
    monkeypatch.setattr("hubd.store.outbox.LIMIT", 5)
    outbox = Outbox(database)
    for number in range(9):
        await outbox.put("event", "hubd_test", {"n": number})
    assert await outbox.count() == 5
    assert (await outbox.first()).data == {"n": 4}


@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=10, deadline=None
)
@given(data=st.dictionaries(st.text(max_size=5), st.one_of(st.integers(0, 9), st.text())))
async def test_data_comes_back_as_it_was(database, data):
    outbox = Outbox(database)
    await outbox.put("webhook", "some-id", data)
    message = await outbox.first()
    await outbox.done(message.number)
    assert (message.kind, message.name, message.data) == ("webhook", "some-id", data)
