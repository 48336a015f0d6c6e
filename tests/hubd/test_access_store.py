"""Devices and persons as they are kept."""

from datetime import UTC, datetime, timedelta

import apsw
import pytest

from hubd.errors import BadRequestError, NotFoundError
from hubd.policy import OWNER, Person, limited
from hubd.store.access import PREFIX, Access


async def test_a_secret_is_not_in_the_database(database, paths):
    access = await Access.open(database)
    token, secret = await access.add_token(name="x", person="owner", scopes=("chat",))
    assert secret.startswith(PREFIX)
    assert access.find(secret).token == token.id
    files = [paths.database, paths.database.with_name("hubd.db-wal")]
    kept = b"".join(file.read_bytes() for file in files)
    assert token.id.encode() in kept
    assert secret.encode() not in kept
    assert access.find(secret[:-1]) is None
    assert access.find("") is None


async def test_tokens_and_persons_outlive_the_daemon(database):
    access = await Access.open(database)
    await access.add_person(Person(name="Ann", role="guest", areas=frozenset({"hall"})))
    _, secret = await access.add_token(
        name="x", person="Ann", scopes=("chat", "tools"), tools=("lights",)
    )
    again = await Access.open(database)
    assert again.find(secret) == access.find(secret)
    assert again.find(secret).person == Person(
        name="Ann", role="guest", areas=frozenset({"hall"}), tools=("lights",)
    )
    await again.remove_person("Ann")
    assert again.find(secret) is None
    assert (await Access.open(database)).find(secret) is None
    with pytest.raises(BadRequestError):
        await again.remove_person("owner")
    with pytest.raises(NotFoundError):
        await again.revoke("nothing")


async def test_the_day_of_the_last_use_is_kept(database):
    access = await Access.open(database)
    token, _ = await access.add_token(name="x", person="owner", scopes=("chat",))
    today = datetime.now(UTC).date()
    await access.used(token.id, today)
    await access.used(token.id, today + timedelta(days=1))
    kept = (await Access.open(database)).tokens()
    assert kept[0].used_on == (today + timedelta(days=1)).isoformat()


def test_a_device_may_what_both_may():
    ann = Person(name="Ann", role="member", areas=frozenset({"a", "b"}), tools=("lights", "x.y"))
    both = limited(ann, areas=frozenset({"b", "c"}), tools=("lights.turn_on", "x"), acts=True)
    assert both.areas == {"b"}
    assert set(both.tools) == {"lights.turn_on", "x.y"}
    assert limited(OWNER, areas=None, tools=None, acts=True) == OWNER
    assert limited(ann, areas=frozenset(), tools=(), acts=True).areas == frozenset()
    assert limited(ann, areas=None, tools=(), acts=True).tools == ()


def test_a_database_of_before_gets_its_owner(paths):
    """What was said before there were persons was said by the owner."""
    from hubd.store.database import ACCESS_MIGRATIONS, MIGRATIONS
    from rag.db import connect, migrate

    connection = connect(paths.database)
    migrate(connection, "hub", MIGRATIONS[:1])
    connection.execute("INSERT INTO conversation VALUES ('c', 'now')")
    connection.execute(
        "INSERT INTO turn (conversation, at, utterance, answer, outcome) "
        "VALUES ('c', 'now', 'hello', 'hi', '{}')"
    )
    migrate(connection, "hub", MIGRATIONS)
    migrate(connection, "access", ACCESS_MIGRATIONS)
    assert connection.execute("SELECT person FROM turn").fetchall() == [("owner",)]
    assert isinstance(connection, apsw.Connection)
    connection.close()
