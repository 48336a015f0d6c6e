"""Conversations, plugin storage and jobs: what was written is there after a restart."""

import asyncio
from datetime import UTC, datetime, timedelta

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hubd.store import jobs
from hubd.store.conversations import Conversations
from hubd.store.database import MIGRATIONS, Database
from hubd.store.plugin_storage import PluginStorage
from hubd.turn_events import Done, Timings
from rag.db import connect, migrate
from rag.types import Passage, Reranking

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def done(answer):
    return Done(answer=answer, citations=[], refused=False, actions=[], timings=Timings())


async def said(conversations, conversation, *turns):
    for utterance, answer in turns:
        await conversations.append(conversation, utterance, done(answer))


def texts(messages):
    return [(message.role, message.text()) for message in messages]


async def test_history_is_the_last_messages_oldest_first(database):
    conversations = Conversations(database)
    await said(conversations, "c", ("one", "1"), ("two", "2"), ("three", "3"))
    assert texts(await conversations.history("c", 3)) == [
        ("assistant", "2"),
        ("user", "three"),
        ("assistant", "3"),
    ]


async def test_the_last_turns_are_told_with_what_came_of_them(database):
    conversations = Conversations(database)
    await said(conversations, "c", ("one", "1"), ("two", "2"), ("three", "3"))
    assert await conversations.recent("c", 2) == [("two", done("2")), ("three", done("3"))]
    assert await conversations.recent("c", 2, "somebody else") == []


async def test_conversations_are_apart(database):
    conversations = Conversations(database)
    await said(conversations, "a", ("hello", "hi"))
    assert await conversations.history("b", 10) == []


async def test_a_conversation_is_still_there_after_a_restart(paths):
    first = await Database.open(paths.database)
    await said(Conversations(first), "c", ("one", "1"))
    await first.close()
    second = await Database.open(paths.database)
    assert texts(await Conversations(second).history("c", 10)) == [
        ("user", "one"),
        ("assistant", "1"),
    ]
    await second.close()


async def test_the_list_tells_turns_and_the_first_utterance(database):
    conversations = Conversations(database)
    await said(conversations, "c", ("one", "1"), ("two", "2"))
    (entry,) = await conversations.list()
    assert (entry.conversation, entry.turns, entry.first) == ("c", 2, "one")


async def test_a_turn_keeps_what_was_retrieved_and_who_put_it_in_order(database):
    conversations = Conversations(database)
    await said(conversations, "c", ("one", "1"), ("two", "2"))
    passage = Passage(document="a.txt", page=None, start=0, end=3, text="two", score=0.5)
    reranking = Reranking(model="m", milliseconds=3, places=[2, 1])
    await conversations.explain("c", [passage], reranking)
    transcript = await conversations.transcript("c")
    assert [
        msgspec.json.decode(turn.reranking, type=Reranking | None) for turn in transcript.turns
    ] == [
        None,
        reranking,
    ]
    assert msgspec.json.decode(transcript.turns[1].passages, type=list[Passage]) == [passage]


def test_names_of_conversations_cannot_be_guessed():
    names = {Conversations.new() for _ in range(100)}
    assert len(names) == 100
    assert all(len(name) >= 16 for name in names)


async def test_plugins_do_not_see_each_others_documents(database):
    mine, other = PluginStorage(database, "mine"), PluginStorage(database, "other")
    await mine.put("key", {"a": 1})
    assert await other.get("key") is None
    assert await other.all() == {}
    assert not await other.delete("key")
    assert await mine.get("key") == {"a": 1}


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.dictionaries(st.text(), st.dictionaries(st.text(), json_values, max_size=3), max_size=4))
def test_whatever_a_plugin_puts_it_gets_back(paths, documents):
    async def there_and_back():
        database = await Database.open(paths.database)
        storage = PluginStorage(database, "plugin")
        for key in await storage.all():
            await storage.delete(key)
        for key, value in documents.items():
            await storage.put(key, value)
        stored = await storage.all()
        await database.close()
        return stored

    assert asyncio.run(there_and_back()) == documents


async def test_a_transaction_that_fails_leaves_nothing(database):
    def work(connection):
        connection.execute("INSERT INTO conversation (id, started_at) VALUES ('x', 'now')")
        raise ValueError("stop")

    with pytest.raises(ValueError, match="stop"):
        await database.run(work)
    count = "SELECT count(*) FROM conversation"
    assert await database.run(lambda c: c.execute(count).fetchone()) == (0,)


async def test_a_job_that_is_set_again_is_another_job(database):
    first = await jobs.put(database, "p", "key", NOON)
    second = await jobs.put(database, "p", "key", NOON + timedelta(hours=1))
    assert await jobs.begin(database, first.id) is None
    await jobs.finish(database, first.id)
    assert [job.id for job in await jobs.pending(database)] == [second.id]


async def test_attempts_are_counted_before_a_job_runs(database):
    job = await jobs.put(database, "p", "key", NOON)
    assert [(await jobs.begin(database, job.id)).attempts for _ in range(2)] == [1, 2]


async def test_pending_jobs_come_most_overdue_first(database):
    await jobs.put(database, "p", "late", NOON + timedelta(hours=2))
    await jobs.put(database, "p", "early", NOON)
    assert [job.key for job in await jobs.pending(database)] == ["early", "late"]
    assert (await jobs.pending(database))[0].due == NOON


async def test_alarms_of_before_are_kept_with_the_reminders(tmp_path):
    connection = connect(tmp_path / "hubd.db")
    migrate(connection, "hub", MIGRATIONS[:2])
    connection.execute("INSERT INTO plugin_storage VALUES ('alarms', 'a1', '{}')")
    connection.execute("INSERT INTO job (plugin, key, due) VALUES ('alarms', 'a1', '2026-03-28')")
    connection.close()
    database = await Database.open(tmp_path / "hubd.db")
    assert await PluginStorage(database, "reminders").all() == {"a1": {}}
    named = await database.run(lambda db: db.execute("SELECT plugin, key FROM job").fetchall())
    assert named == [("reminders", "a1")]
    await database.close()
