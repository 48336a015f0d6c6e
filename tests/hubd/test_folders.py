"""Watched folders and collections: the configuration, who may see what, and the running daemon."""

import asyncio

import pytest

from hubd.config import ConfigError, load_config
from hubd.folders import keep_reading, visible_to, watched
from hubd.http.services import SERVICES
from hubd.policy import OWNER, Person
from hubd.settings import Config, Rag


def test_folders_are_paths_with_or_without_a_collection(monkeypatch):
    monkeypatch.setenv("HOME", "/home/ann")
    settings = Rag(folders=["/papers", "parents = ~/tax", "/odd=name"])
    assert [(str(f.path), f.collection) for f in watched(settings)] == [
        ("/papers", ""),
        ("/home/ann/tax", "parents"),
        ("/odd=name", ""),
    ]


def test_who_may_see_which_collection():
    settings = Rag(folders=["parents=/tax", "school=/school"], private=["parents: Ann, Ben"])
    assert visible_to(OWNER, settings) is None
    assert visible_to(Person(name="ann", role="member"), settings) == {"", "school", "parents"}
    assert visible_to(Person(name="Cleo", role="child"), settings) == {"", "school"}


def test_a_wrong_entry_says_what_is_allowed(tmp_path):
    file = tmp_path / "hubd.toml"
    file.write_text('[rag]\nprivate = ["parents"]\n')
    with pytest.raises(ConfigError, match="COLLECTION: NAME, NAME"):
        load_config(file, {})


async def test_pages_hear_that_a_disk_is_away(open_hub, tmp_path):
    folder = tmp_path / "papers"
    folder.mkdir()
    (folder / "bins.md").write_text("The bins are emptied on Tuesdays.")
    settings = Rag(folders=[str(folder)], idle_unload=60)
    async with open_hub(tmp_path / "home", Config(rag=settings)) as client:
        services = client.app[SERVICES]

        async def idle():
            pass

        async with services.board.listen() as notices:
            reading = asyncio.create_task(
                keep_reading(services.library, settings, services.board, idle)
            )

            async def next_change():
                while True:
                    notice = await notices.get()
                    if notice.event == "documents":
                        return [file["action"] for file in notice.data["files"]]

            async with asyncio.timeout(60):
                assert await next_change() == ["added"]
                folder.rename(tmp_path / "away")
                assert await next_change() == []
            reading.cancel()
            await asyncio.gather(reading, return_exceptions=True)


async def test_pages_hear_of_a_watched_folder_and_not_of_a_private_one(open_hub, tmp_path):
    for name in ("papers", "tax"):
        (tmp_path / name).mkdir()
        (tmp_path / name / f"{name}.md").write_text(f"The {name} are in the blue box.")
    settings = Rag(
        folders=[f"family={tmp_path}/papers", f"parents={tmp_path}/tax"], private=["parents: Ann"]
    )
    async with open_hub(tmp_path / "home", Config(rag=settings)) as hub:
        services = hub.app[SERVICES]
        async with services.board.listen() as notices, asyncio.timeout(60):
            reading = asyncio.create_task(
                keep_reading(
                    services.library, settings, services.board, services.turns.wait_until_idle
                )
            )
            told, collections = [], {}
            while collections != {"papers.md": "family", "tax.md": "parents"}:
                notice = await notices.get()
                told.append(notice)
                documents = await (await hub.get("/hub/documents")).json()
                collections = {
                    d["document"]: d["collection"] for d in documents if d["status"] == "ready"
                }
            reading.cancel()
    names = [file["document"] for notice in told for file in notice.data["files"]]
    assert "papers.md" in names
    assert "tax.md" not in names
