"""The disk and the database file: full, read-only, locked, damaged. Clear states, nothing lost."""

import contextlib
import json

import apsw
import pytest

from hubd.http.services import SERVICES
from hubd.store import faults
from hubd.store.backup import back_up_into
from hubd.store.repair import set_aside_if_damaged

ITEM = {"list_name": "shopping", "items": ["milk"]}


@pytest.fixture
async def hub(open_hub, tmp_path):
    async with open_hub(tmp_path / "home") as client:
        yield client


def services(hub):
    return hub.server.app[SERVICES]


async def add(hub, item):
    response = await hub.post(
        "/hub/tools/lists.add", json={"list_name": "shopping", "items": [item]}
    )
    return response.status, await response.json()


async def items(hub):
    response = await hub.post("/hub/tools/lists.show", json={"list_name": "shopping"})
    return (await response.json())["text"]


async def test_a_full_disk_is_told_and_passes(hub):
    """SQLite's own limit of pages is its own error for a full disk, in the same place."""
    assert (await add(hub, "milk"))[0] == 200
    database = services(hub).database

    def limit(connection):
        (pages,) = connection.execute("PRAGMA page_count").fetchone()
        connection.execute(f"PRAGMA max_page_count = {pages}").fetchall()

    await database.look(limit)
    for number in range(200):
        status, told = await add(hub, f"{number} " + "x" * 80)
        if status != 200:
            break
    assert status == 503, told
    assert told["error"]["code"] == "storage"
    assert "room" in told["error"]["hint"]
    ask = await hub.post("/hub/ask", json={"text": "list timers", "conversation": "c" * 60})
    assert ask.status in (200, 503)
    await database.look(lambda db: db.execute("PRAGMA max_page_count = 1073741823").fetchall())
    assert (await add(hub, "bread"))[0] == 200
    said = await items(hub)
    assert "milk" in said
    assert "bread" in said
    assert f"{number - 1} x" in said
    assert f"{number} x" not in said


async def test_a_disk_that_is_read_only_is_told_and_passes(hub):
    database = services(hub).database
    await database.look(lambda db: db.execute("PRAGMA query_only = ON").fetchall())
    status, told = await add(hub, "milk")
    assert (status, told["error"]["code"]) == (503, "storage")
    await database.look(lambda db: db.execute("PRAGMA query_only = OFF").fetchall())
    assert (await add(hub, "milk"))[0] == 200


async def test_readiness_tells_of_each(hub, monkeypatch):
    async def state():
        return (await (await hub.get("/readyz")).json())["checks"]["database"]

    assert await state() == "ok"
    monkeypatch.setattr(faults, "LOW_BYTES", 2**62)
    assert await state() == "full"
    told = await (await hub.get("/readyz")).json()
    assert told["ready"] is False
    assert "room" in told["hint"]
    monkeypatch.undo()
    monkeypatch.setattr("os.access", lambda *_: False)
    assert await state() == "read_only"
    monkeypatch.undo()
    assert await state() == "ok"


async def test_a_database_that_somebody_holds_is_told_and_passes(hub):
    path = str(services(hub).paths.database)
    with contextlib.closing(apsw.Connection(path)) as other:
        other.execute("BEGIN IMMEDIATE")
        told = await (await hub.get("/readyz")).json()
        assert told["checks"]["database"] == "locked"
        assert (await hub.get("/healthz")).status == 200
        other.execute("ROLLBACK")
    assert (await add(hub, "milk"))[0] == 200
    assert (await (await hub.get("/readyz")).json())["checks"]["database"] == "ok"


@pytest.mark.parametrize(
    ("error", "state"),
    [
        (apsw.FullError("x"), "full"), (apsw.BusyError("x"), "locked"),
        (apsw.CorruptError("x"), "damaged"), (apsw.IOError("x"), "failed"),
        (OSError(28, "x"), "full"), (OSError(30, "x"), "read_only"),
    ],
)  # fmt: skip
def test_every_fault_of_the_disk_says_what_to_do(error, state):
    told = faults.storage_error(error)
    assert told.status == 503
    assert told.hint == faults.HINTS[state]


def test_what_is_no_fault_of_the_disk_is_not_called_one():
    assert faults.storage_error(ValueError("x")) is None
    assert faults.storage_error(FileNotFoundError(2, "x")) is None
    assert faults.storage_error(apsw.ConstraintError("x")) is None


# Damaged


def spoil(database):
    """Bytes in the middle of the file, as a failing disk leaves them."""
    with database.open("r+b") as file:
        file.seek(4096)
        file.write(b"\xff" * 8192)


def test_a_damaged_database_is_set_aside_and_the_newest_backup_offered(light, home, hubd):
    with light() as daemon:
        assert daemon.post("/hub/tools/lists.add", ITEM)[0] == 200
    newest = back_up_into(home, home.data / "backups", keep=7)
    for part in ("-wal", "-shm"):
        home.database.with_name(f"hubd.db{part}").unlink(missing_ok=True)
    home.database.write_bytes(b"this is no database" * 1000)
    with light() as daemon:
        status = json.loads(hubd("status", "--json").stdout)
        assert "was damaged" in status["set_aside"]
        assert str(newest) in status["set_aside"]
        ready = daemon.get("/readyz")[1]
        assert ready["checks"]["database"] == "ok"
    (aside,) = home.data.glob("hubd.db.damaged-*")
    assert aside.read_bytes().startswith(b"this is no database")
    assert hubd("restore", str(newest)).returncode == 0
    with light() as daemon:
        shown = daemon.post("/hub/tools/lists.show", {"list_name": "shopping"})
        assert shown[0] == 200
        assert "milk" in shown[1]["text"]
        assert json.loads(hubd("status", "--json").stdout)["set_aside"] == ""


def test_pages_that_were_spoiled_are_found_after_a_bad_end(light, home):
    with light() as daemon:
        for number in range(30):
            body = {"list_name": f"list {number}", "items": [f"{number} " + "x" * 80]}
            assert daemon.post("/hub/tools/lists.add", body)[0] == 200
    with contextlib.closing(apsw.Connection(str(home.database))) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    assert set_aside_if_damaged(home) is None
    spoil(home.database)
    home.database.with_name("hubd.db-wal").write_bytes(b"\0" * 32)
    assert set_aside_if_damaged(home) is not None
    assert not home.database.exists()
    assert set_aside_if_damaged(home) is None


def test_a_sound_database_and_none_at_all_stay(home):
    assert set_aside_if_damaged(home) is None
    home.data.mkdir(parents=True)
    with contextlib.closing(apsw.Connection(str(home.database))) as connection:
        connection.execute("PRAGMA journal_mode = WAL").fetchall()
        connection.execute("CREATE TABLE a (b)")
        connection.execute("BEGIN EXCLUSIVE")
        assert set_aside_if_damaged(home) is None  # held by somebody: not damaged
    assert set_aside_if_damaged(home) is None
