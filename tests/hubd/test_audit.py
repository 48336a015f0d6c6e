"""What was done is kept, in order, with who, how and with what outcome; what was read is not."""

import pytest

from hubd.http.insight import shown
from hubd.policy import Person
from hubd.settings import Config
from hubd.store import audit as module
from hubd.store.audit import Audit
from plugins.api import ToolCall

ANNA = Person(name="anna", role="member")


async def test_calls_are_kept_newest_first_and_come_in_windows(database):
    async with Audit(database).writing() as audit:
        for number in range(5):
            call = ToolCall(tool="lists.add", arguments={"items": [str(number)]})
            audit.note(call, ANNA, "person", "done", f"added {number}")
        first = await audit.latest(limit=2)
        assert [entry.text for _, entry in first] == ["added 4", "added 3"]
        rest = await audit.latest(before=first[-1][0])
        assert [entry.text for _, entry in rest] == ["added 2", "added 1", "added 0"]
        (entry,) = {(e.person, e.provenance, e.outcome, e.tool) for _, e in first}
        assert entry == ("anna", "person", "done", "lists.add")
    async with Audit(database).writing() as again:
        assert len(await again.latest()) == 5


async def test_only_so_many_are_kept(database, monkeypatch):
    monkeypatch.setattr(module, "KEPT", 3)
    async with Audit(database).writing() as audit:
        for number in range(10):
            audit.note(ToolCall(tool="timers.start"), ANNA, "person", "done", str(number))
        assert [entry.text for _, entry in await audit.latest()] == ["9", "8", "7"]


@pytest.fixture
async def client(open_hub, tmp_path):
    async with open_hub(tmp_path / "home", Config()) as opened:
        yield opened


async def test_what_is_done_failed_or_refused_is_told_and_what_is_read_is_not(client):
    await client.post("/hub/tools/lists.add", json={"items": ["milk"]})
    await client.post("/hub/tools/lists.show", json={})
    await client.post("/hub/tools/lists.complete", json={"item": "no such thing"})
    await client.post("/hub/tools/lists.clear", json={})
    entries = await (await client.get("/hub/audit")).json()
    assert [(entry["tool"], entry["outcome"]) for entry in entries] == [
        ("lists.clear", "unconfirmed"),
        ("lists.complete", "failed"),
        ("lists.add", "done"),
    ]
    assert "milk" in entries[-1]["arguments"]


async def test_settings_are_told_without_secrets(client):
    settings = await (await client.get("/hub/settings")).json()
    assert settings["engine"]["context_length"] == 4096
    assert "token" not in settings["http"]
    assert "api_key" not in settings["engine"]


def test_neither_names_nor_addresses_give_a_secret_away():
    told = shown(
        {
            "a": {
                "token": "s3cret",
                "api_key": "s3cret",
                "url": "https://me:s3cret@host:1/x?k=s3cret",
            }
        }
    )
    assert told == {"a": {"url": "https://host"}}
