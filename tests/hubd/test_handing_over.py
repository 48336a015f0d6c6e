"""A hub that is told to search its vectors in a Qdrant that is not there."""

import socket

import pytest

from hubd.handing_over import elsewhere, keep_complete
from hubd.http.services import SERVICES
from hubd.settings import Config, Rag

pytest.importorskip("qdrant_client", reason="qdrant-client is not installed")


async def test_documents_go_in_and_are_found_while_it_is_away(open_hub, tmp_path, caplog):
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{closed.getsockname()[1]}"
    caplog.set_level("INFO", "hubd.handing_over")
    note = tmp_path / "bins.md"
    note.write_text("The paper bin is collected every second Tuesday.")
    async with open_hub(tmp_path / "home", Config(rag=Rag(url=url, idle_unload=60))) as hub:
        response = await hub.post("/hub/documents", json={"paths": [str(note)]})
        assert [one["action"] for one in (await response.json())["files"]] == ["added"]
        library = hub.server.app[SERVICES].library
        assert not await library.hand_over()
        found = await hub.post("/hub/retrieve", json={"text": "When is waste paper fetched?"})
        assert (await found.json())[0]["document"] == "bins.md"


async def test_what_searches_is_logged_once_for_each_change(monkeypatch, caplog):
    monkeypatch.setattr("hubd.handing_over.EVERY_S", 0.0)
    caplog.set_level("INFO", "hubd.handing_over")
    answers = [False, False, True, True, False]

    class StoppedError(Exception):
        pass

    class Library:
        async def hand_over(self, wait):
            if not answers:
                raise StoppedError
            return answers.pop(0)

    with pytest.raises(StoppedError):
        await keep_complete(Library(), lambda: None)
    assert [record.message.rpartition("=")[2] for record in caplog.records] == [
        "memory",
        "qdrant",
        "memory",
    ]


def test_without_an_address_there_is_none():
    assert elsewhere(Rag()) is None
