"""Watched folders on the real file system: new, changed, moved, deleted, away, and a real mount."""

import asyncio
import contextlib
import ctypes
import os
from pathlib import Path

import pytest

from rag import files
from rag.watch import Folder, watch


async def until(condition, seconds=15.0):
    """Waits until ``condition()`` (a coroutine function) is true."""
    async with asyncio.timeout(seconds):
        while not await condition():  # noqa: ASYNC110 - the file system tells no event
            await asyncio.sleep(0.05)


@pytest.fixture
async def watching(library, folder):
    """The library follows the folder while the test runs; yields the reports of each walk."""
    walks = []
    library.watched = [folder]

    async def ingest(one):
        reports = await library.ingest([one.path], collection=one.collection)
        walks.append(reports)
        return reports

    task = asyncio.create_task(
        watch([Folder(folder, "home")], ingest, walk_again=1.0, look_again=0.2)
    )
    yield walks
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task


async def states(library):
    return {d.document: (d.status, d.reason) for d in await library.documents()}


async def test_new_changed_moved_and_deleted_files_follow(library, folder, embedder, watching):
    async def has(*names):
        known = await library.documents()
        return sorted(d.document for d in known if d.status == "ready") == sorted(names)

    (folder / "a.txt").write_text("The pump is blue.")
    await until(lambda: has("a.txt"))
    assert (await library.documents())[0].collection == "home"

    (folder / "sub").mkdir()
    (folder / "sub" / "b.txt").write_text("The valve is red.")
    await until(lambda: has("a.txt", "sub/b.txt"))

    (folder / "a.txt").write_text("The pump is green now.")

    async def is_green():
        found = (await library.retrieve("pump")).passages
        return bool(found) and found[0].text == "The pump is green now."

    await until(is_green)

    embedder.embedded.clear()
    (folder / "sub" / "b.txt").rename(folder / "b.txt")
    await until(lambda: has("a.txt", "b.txt"))
    assert embedder.embedded in ([], ["pump"])  # a moved file keeps vectors

    (folder / "a.txt").unlink()
    await until(lambda: has("b.txt"))


async def test_a_folder_that_is_gone_deletes_nothing_and_comes_back(library, folder, watching):
    (folder / "a.txt").write_text("words of a")

    async def ready():
        return await states(library) == {"a.txt": ("ready", "")}

    await until(ready)
    away = folder.with_name("away")
    folder.rename(away)

    async def told():
        return await states(library) == {"a.txt": ("ready", files.AWAY)}

    await until(told)
    assert [p.text for p in (await library.retrieve("words")).passages] == ["words of a"]
    away.rename(folder)
    await until(ready)
    folder.rename(away)
    await until(told)
    assert await library.forget(folder) == ["a.txt"]
    assert await library.documents() == []


async def test_a_removed_document_does_not_come_back_until_its_file_changes(
    library, folder, watching
):
    (folder / "a.txt").write_text("words of a")
    (folder / "b.txt").write_text("words of b")

    async def both():
        return await states(library) == {"a.txt": ("ready", ""), "b.txt": ("ready", "")}

    await until(both)
    assert await library.remove("a.txt")
    walks = len(watching)

    async def walked():
        return len(watching) > walks + 1

    await until(walked)
    status, reason = (await states(library))["a.txt"]
    assert (status, "you removed it" in reason) == ("skipped", True)
    assert [p.document for p in (await library.retrieve("words")).passages] == ["b.txt"]
    (folder / "a.txt").write_text("new words of a")

    async def again():
        return (await states(library))["a.txt"] == ("ready", "")

    await until(again)


def unmounted_is_possible(folder: Path) -> bool:
    """Mounts a real file system on ``folder``; False where this process may not."""
    libc = ctypes.CDLL(None, use_errno=True)
    return libc.mount(b"tmpfs", os.fsencode(folder), b"tmpfs", 0, b"size=1m") == 0


async def test_an_unmounted_disk_deletes_nothing(library, folder):
    disk = folder / "usb"
    disk.mkdir()
    (folder / "a.txt").write_text("words of a")
    if not unmounted_is_possible(disk):
        pytest.skip("this process may not mount file systems")
    libc = ctypes.CDLL(None)
    try:
        (disk / "b.txt").write_text("words of b")
        await library.ingest([folder])
        assert set(await states(library)) == {"a.txt", "usb/b.txt"}
    finally:
        assert libc.umount2(os.fsencode(disk), 2) == 0
    reports = {r.document: r.reason for r in await library.ingest([folder])}
    assert reports["usb/b.txt"] == files.AWAY
    assert (await states(library))["usb/b.txt"] == ("ready", files.AWAY)
    assert await library.forget(folder) == ["usb/b.txt"]


def found_file(path, device, reason=""):
    return files.FoundFile(Path(path), [path], 1, "", reason, device)


@pytest.mark.parametrize(
    ("there", "device", "is_away"),
    [
        ([], 7, True),  # the mount point is empty, and on another disk now
        ([("b.txt", 7)], 7, False),  # the disk is there: the file was deleted
        ([("b.txt", None)], 7, False),  # the numbers changed with a reboot: deleted as well
        ([], None, False),  # never was on another disk
    ],
)
def test_when_a_disk_counts_as_away(tmp_path, there, device, is_away):
    now = tmp_path.stat().st_dev
    known = found_file("x", device or now)

    class Known:
        path, device = str(tmp_path / "a.txt"), known.device

    present = [found_file(tmp_path / name, number or now) for name, number in there]
    assert files.is_away(Known, files.Found(present, [], [tmp_path], [])) is is_away


async def test_a_failed_walk_is_tried_again(tmp_path):
    walks = []

    async def ingest(folder):
        walks.append(folder.path)
        if len(walks) == 1:
            raise OSError("the disk is busy")
        return []

    task = asyncio.create_task(watch([Folder(tmp_path)], ingest, look_again=0.05))

    async def twice():
        return len(walks) == 2

    await until(twice)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


@contextlib.asynccontextmanager
async def names_at_each_walk(folder):
    """What is in the folder at each walk (None: it is not there), as a watch that hardly ever
    walks without a change sees it."""
    walks = []

    async def ingest(one):
        there = one.path.is_dir()
        walks.append(sorted(path.name for path in one.path.iterdir()) if there else None)
        return []

    task = asyncio.create_task(watch([Folder(folder)], ingest, walk_again=300.0, look_again=0.1))

    async def sees(*names, away=False):
        async def seen():
            return walks[-1:] == [None if away else list(names)]

        await until(seen)

    try:
        yield sees
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


async def test_a_folder_that_comes_back_is_walked_at_once_and_watched(tmp_path):
    folder, away = tmp_path / "papers", tmp_path / "away"
    folder.mkdir()
    (folder / "a.txt").write_text("words")
    async with names_at_each_walk(folder) as sees:
        await sees("a.txt")
        folder.rename(away)
        await sees(away=True)
        await asyncio.sleep(0.5)  # nobody watches by now
        away.rename(folder)
        await sees("a.txt")
        (folder / "b.txt").write_text("words")
        await sees("a.txt", "b.txt")


async def test_a_disk_that_is_mounted_on_a_watched_folder_or_unmounted_is_noticed(tmp_path):
    libc = ctypes.CDLL(None)
    async with names_at_each_walk(tmp_path) as sees:
        await sees()
        if not unmounted_is_possible(tmp_path):
            pytest.skip("this process may not mount file systems")
        try:
            (tmp_path / "b.txt").write_text("words")
            await sees("b.txt")
        finally:
            assert libc.umount2(os.fsencode(tmp_path), 2) == 0
        await sees()


async def test_nobody_finds_what_is_in_a_collection_of_others(library, folder, tmp_path):
    secret = tmp_path / "tax"
    secret.mkdir()
    (folder / "a.txt").write_text("The pump is blue.")
    (secret / "b.txt").write_text("The pump was dear.")
    await library.ingest([folder])
    await library.ingest([secret], collection="parents")
    everyone, parents = frozenset({""}), frozenset({"", "parents"})

    async def seen(visible):
        question = await library.retrieve("pump", visible=visible)
        return sorted(p.document for p in question.passages)

    assert await seen(everyone) == ["a.txt"]
    assert await seen(parents) == await seen(None) == ["a.txt", "b.txt"]
    assert await seen(frozenset()) == []
    assert [d.document for d in await library.documents(visible=everyone)] == ["a.txt"]
    assert not await library.shows("b.txt", everyone)
    assert await library.shows("b.txt", parents)
    await library.ingest([secret])  # without a collection: it stays where it is
    assert await seen(everyone) == ["a.txt"]
    (secret / "c.txt").write_text("The pump is new.")
    await library.ingest([secret], collection="")
    assert await seen(everyone) == ["a.txt", "b.txt", "c.txt"]
