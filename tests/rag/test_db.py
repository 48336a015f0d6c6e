import stat
import threading
import time

import apsw
import pytest

from rag.db import DatabaseError, DatabaseThread, connect, migrate, transaction


def test_a_connection_has_vectors_full_text_and_full_fsync(tmp_path):
    connection = connect(tmp_path / "hub.db")
    assert connection.execute("SELECT vec_version()").get == "v0.1.9"
    connection.execute("CREATE VIRTUAL TABLE words USING fts5 (text)")
    assert connection.execute("PRAGMA journal_mode").get == "wal"
    assert connection.execute("PRAGMA synchronous").get == 2
    assert connection.execute("PRAGMA foreign_keys").get == 1
    assert stat.S_IMODE((tmp_path / "hub.db").stat().st_mode) == 0o600


def test_extensions_cannot_be_loaded_afterwards(tmp_path):
    connection = connect(tmp_path / "hub.db")
    with pytest.raises(apsw.SQLError, match="not authorized"):
        connection.execute("SELECT load_extension('anything')")


def test_a_file_that_is_no_database_is_named(tmp_path):
    path = tmp_path / "hub.db"
    path.write_bytes(b"not a database at all" * 100)
    with pytest.raises(DatabaseError, match="cannot open the database"):
        connect(path)


def test_migrations_run_once_and_in_order_and_by_room(tmp_path):
    connection = connect(tmp_path / "hub.db")
    first = ("CREATE TABLE a (x)",)
    migrate(connection, "rag", first)
    migrate(connection, "rag", first)
    migrate(connection, "hubd", ("CREATE TABLE c (x)",))
    migrate(connection, "rag", (*first, "INSERT INTO a VALUES (7)"))
    migrate(connection, "rag", (*first, "INSERT INTO a VALUES (7)"))
    assert connection.execute("SELECT x FROM a").fetchall() == [(7,)]


def test_the_file_is_copied_before_it_is_changed(tmp_path):
    connection = connect(tmp_path / "hub.db")
    first = ("CREATE TABLE a (x)", "INSERT INTO a VALUES (1)")
    migrate(connection, "rag", first)
    assert list(tmp_path.glob("*.before-*")) == []  # nothing was in it
    migrate(connection, "rag", (*first, "UPDATE a SET x = 2"))
    copy = tmp_path / "hub.db.before-rag-3"
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    assert connection.execute("SELECT x FROM a").get == 2
    assert apsw.Connection(str(copy)).execute("SELECT x FROM a").get == 1


def test_without_a_copy_nothing_is_changed(tmp_path):
    connection = connect(tmp_path / "hub.db")
    migrate(connection, "rag", ("CREATE TABLE a (x)",))
    connection.execute("INSERT INTO a VALUES (zeroblob(1000000))")
    (tmp_path / "hub.db.before-rag-2").mkdir()
    with pytest.raises(DatabaseError, match="make room"):
        migrate(connection, "rag", ("CREATE TABLE a (x)", "DROP TABLE a"))
    assert connection.execute("SELECT count(*) FROM a").get == 1


def test_a_failing_migration_leaves_nothing_behind(tmp_path):
    connection = connect(tmp_path / "hub.db")
    with pytest.raises(apsw.SQLError):
        migrate(connection, "rag", ("CREATE TABLE a (x); INSERT INTO missing VALUES (1);",))
    assert connection.execute("SELECT count(*) FROM sqlite_schema WHERE name = 'a'").get == 0
    migrate(connection, "rag", ("CREATE TABLE a (x)",))


def test_a_newer_database_is_refused(tmp_path):
    connection = connect(tmp_path / "hub.db")
    migrate(connection, "rag", ("CREATE TABLE a (x)", "CREATE TABLE b (x)"))
    with pytest.raises(DatabaseError, match="newer"):
        migrate(connection, "rag", ("CREATE TABLE a (x)",))


def test_two_writers_wait_for_each_other(tmp_path):
    first, second = connect(tmp_path / "hub.db"), connect(tmp_path / "hub.db")
    first.execute("CREATE TABLE a (x)")

    def write(connection):
        for _ in range(10):
            with transaction(connection):
                highest = connection.execute("SELECT coalesce(max(x), 0) FROM a").get
                connection.execute("INSERT INTO a VALUES (?)", (highest + 1,))

    threads = [threading.Thread(target=write, args=(c,)) for c in (first, second)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert first.execute("SELECT count(*), max(x) FROM a").fetchone() == (20, 20)


def test_a_transaction_is_all_or_nothing(tmp_path):
    connection = connect(tmp_path / "hub.db")
    connection.execute("CREATE TABLE a (x)")

    def fail_halfway():
        with transaction(connection):
            connection.execute("INSERT INTO a VALUES (1)")
            raise RuntimeError("halfway")

    with pytest.raises(RuntimeError, match="halfway"):
        fail_halfway()
    assert not connection.in_transaction
    with transaction(connection):
        connection.execute("INSERT INTO a VALUES (2)")
    assert connection.execute("SELECT x FROM a").fetchall() == [(2,)]


def longest_pause_while(work) -> float:
    """The longest time this thread stood still while ``work`` ran on another, as a share of all."""
    worker = threading.Thread(target=work)
    began = last = time.perf_counter()
    worker.start()
    longest = 0.0
    while worker.is_alive():
        time.sleep(0.001)
        now = time.perf_counter()
        longest, last = max(longest, now - last), now
    return longest / (last - began)


def test_a_large_commit_does_not_hold_up_other_threads(tmp_path):
    connection = connect(tmp_path / "hub.db")
    connection.execute("CREATE TABLE a (x)")

    def write():
        with transaction(connection):
            rows = ((bytes(100_000),) for _ in range(300))
            connection.executemany("INSERT INTO a VALUES (?)", rows)

    assert min(longest_pause_while(write) for _ in range(3)) < 0.5


async def test_the_thread_is_always_the_same_and_passes_errors_on():
    thread = DatabaseThread("test")
    names = {await thread.run(lambda: threading.current_thread().name) for _ in range(5)}
    assert len(names) == 1
    assert threading.current_thread().name not in names
    with pytest.raises(ZeroDivisionError):
        await thread.run(divmod, 1, 0)
    await thread.close()
