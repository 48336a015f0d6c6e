"""Files in, by way of the library and the real loading process; the encoder is a hash."""

import asyncio
import os
import zlib

import pytest

from bench.mutate_documents import seeds
from rag.embed import BATCH
from rag.errors import EmbedderError, LibraryClosedError
from rag.loaders import ocr
from rag.types import FileReport

PICTURES = ("png", "jpg", "tif", "webp")


def actions(reports: list[FileReport]) -> dict[str, str]:
    return {report.document: report.action for report in reports}


async def texts_found(library, question: str) -> list[str]:
    return [passage.text for passage in (await library.retrieve(question)).passages]


def pdf_bomb() -> bytes:
    """A page of 2 GB of text operators in a file of a few megabytes."""
    operators = b"(aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa) Tj 0 -1 Td " * 20_000
    compressor = zlib.compressobj(9)
    begin = compressor.compress(b"BT /F1 12 Tf ") + compressor.flush(zlib.Z_FULL_FLUSH)
    block = compressor.compress(operators) + compressor.flush(zlib.Z_FULL_FLUSH)
    stream = begin + block * 2_000
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R "
        b"/Resources << /Font << /F1 5 0 R >> >> >>",
        b"<< /Length %d /Filter /FlateDecode >>\nstream\n" % len(stream) + stream + b"\nendstream",
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    body = b"".join(b"%d 0 obj\n%s\nendobj\n" % (n, o) for n, o in enumerate(objects, start=1))
    return b"%PDF-1.4\n" + body + b"trailer << /Size 6 /Root 1 0 R >>\n%%EOF"


async def test_all_formats_go_in_and_can_be_found(library, folder, make_pdf, make_docx):
    (folder / "manuals").mkdir()
    make_pdf(
        folder / "manuals" / "oven.pdf", [[("Clean the oven", 11, "")], [("E04 sensor", 11, "")]]
    )
    make_docx(folder / "lease.docx", [("Rent", "Heading 1"), ("Due on the third day.", "Normal")])
    (folder / "wifi.md").write_text("# Wi-Fi\n\nThe password is teapot.\n")
    (folder / "bins.txt").write_text("Paper goes out on Tuesday.\n")
    (folder / "school.html").write_text("<h1>School</h1><p>Ends at 15:15.</p>")
    (folder / ".hidden.txt").write_text("nobody sees me")
    reports = await library.ingest([folder])
    assert actions(reports) == dict.fromkeys(
        ["bins.txt", "lease.docx", "manuals/oven.pdf", "school.html", "wifi.md"], "added"
    )
    for question in ["E04 sensor", "rent due", "password", "paper Tuesday", "school ends"]:
        best = (await library.retrieve(question)).passages[0]
        page = await library.page(best.document, best.page)
        assert page.text[best.start : best.end] == best.text
    sensor = (await library.retrieve("E04 sensor")).passages[0]
    assert (sensor.document, sensor.page) == ("manuals/oven.pdf", 2)


async def test_unchanged_files_are_not_read_and_changed_ones_are_replaced(
    library, embedder, folder
):
    path = folder / "a.md"
    path.write_text("The pump is blue.")
    await library.ingest([folder])
    embedder.embedded.clear()
    assert actions(await library.ingest([folder])) == {"a.md": "unchanged"}
    os.utime(path, ns=(1, 1))
    assert actions(await library.ingest([folder])) == {"a.md": "unchanged"}
    assert embedder.embedded == []
    path.write_text("The pump is red now.")
    assert actions(await library.ingest([folder])) == {"a.md": "replaced"}
    assert embedder.embedded == ["a\nThe pump is red now."]
    assert await texts_found(library, "blue pump") == ["The pump is red now."]


async def test_deleted_files_disappear_with_the_next_ingest_of_their_folder(library, folder):
    (folder / "sub").mkdir()
    for name in ("a.txt", "sub/b.txt", "sub/c.txt"):
        (folder / name).write_text(f"words of {name}")
    await library.ingest([folder])
    (folder / "a.txt").unlink()
    (folder / "sub" / "b.txt").unlink()
    assert actions(await library.ingest([folder / "sub"])) == {
        "sub/b.txt": "removed",
        "sub/c.txt": "unchanged",
    }
    assert actions(await library.ingest([folder])) == {"a.txt": "removed", "sub/c.txt": "unchanged"}
    assert [d.document for d in await library.documents()] == ["sub/c.txt"]


async def test_a_missing_folder_removes_nothing(library, folder):
    (folder / "a.txt").write_text("words")
    await library.ingest([folder])
    folder.rename(folder.with_name("elsewhere"))
    (report,) = await library.ingest([folder])
    assert report.action == "skipped"
    assert "nothing was removed" in report.reason
    assert await texts_found(library, "words") == ["words"]


async def test_bad_files_are_named_and_the_rest_goes_in(library, folder, tmp_path, make_pdf):
    (tmp_path / "secret.txt").write_text("outside of the folder")
    bad = {
        "empty.txt": "empty",
        "binary.txt": "binary",
        "huge.pdf": "too large",
        "locked.pdf": "password",
        "not.docx": "not a docx document",
        "picture.jpg": "picture is damaged",
        "out.txt": "leads out of the folder",
        "broken.txt": "broken link",
        "pipe.txt": "not a regular file",
        "wrong.txt": "a PDF",
    }
    (folder / "empty.txt").touch()
    (folder / "binary.txt").write_bytes(bytes(range(256)) * 10)
    (folder / "huge.pdf").touch()
    os.truncate(folder / "huge.pdf", 201 * 1024 * 1024)
    make_pdf(folder / "locked.pdf", [[("secret", 11, "")]], password="x")
    (folder / "not.docx").write_text("plain words")
    (folder / "picture.jpg").write_bytes(b"\xff\xd8\xff")
    (folder / "out.txt").symlink_to(tmp_path / "secret.txt")
    (folder / "broken.txt").symlink_to(folder / "nowhere")
    os.mkfifo(folder / "pipe.txt")
    (folder / "wrong.txt").write_bytes(b"%PDF-1.4")
    (folder / "good.txt").write_text("good words")
    (folder / "link.txt").symlink_to(folder / "good.txt")
    reports = {report.document: report for report in await library.ingest([folder])}
    assert {name for name, r in reports.items() if r.action == "skipped"} == set(bad)
    for name, reason in bad.items():
        assert reason in reports[name].reason
    assert reports["good.txt"].action == reports["link.txt"].action == "added"
    shown = {d.document: d for d in await library.documents()}
    assert all(shown[name].status == "skipped" and shown[name].reason for name in bad)
    again = {report.document: report for report in await library.ingest([folder])}
    assert all(again[name].reason == reports[name].reason for name in bad)


async def test_a_skipped_file_is_tried_again_when_it_changes(library, folder):
    path = folder / "a.txt"
    path.touch()
    assert actions(await library.ingest([path])) == {"a.txt": "skipped"}
    path.write_text("now with words")
    assert actions(await library.ingest([path])) == {"a.txt": "added"}
    path.write_bytes(bytes(500))
    assert actions(await library.ingest([path])) == {"a.txt": "skipped"}
    assert await texts_found(library, "words") == []


async def test_a_file_that_breaks_the_reader_breaks_nothing_else(library, folder):
    (folder / "bomb.pdf").write_bytes(pdf_bomb())
    (folder / "good.txt").write_text("good words")
    reports = {report.document: report for report in await library.ingest([folder])}
    assert reports["bomb.pdf"].action == "skipped"
    assert "damaged" in reports["bomb.pdf"].reason
    assert reports["good.txt"].action == "added"


async def test_names_that_clash_get_parent_folders(library, tmp_path):
    for folder in ("kitchen", "cellar", "x/cellar"):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "manual.txt").write_text(f"the {folder}")
    paths = [tmp_path / f / "manual.txt" for f in ("kitchen", "cellar", "x/cellar")]
    reports = await library.ingest(paths)
    assert [r.document for r in reports] == [
        "manual.txt",
        "cellar/manual.txt",
        "x/cellar/manual.txt",
    ]
    assert set(actions(await library.ingest(paths)).values()) == {"unchanged"}


async def test_a_path_given_twice_is_ingested_once(library, folder):
    (folder / "a.txt").write_text("words")
    reports = await library.ingest([folder, folder / "a.txt", folder / ".." / folder.name])
    assert actions(reports) == {"a.txt": "added"}
    assert len(reports) == 1


async def test_progress_is_told_and_idleness_awaited_between_batches(library, folder):
    (folder / "a.txt").write_text("\n\n".join(["word " * 140] * 20))
    (folder / "b.txt").write_text("short")
    told, waited = [], 0

    async def wait_until_idle():
        nonlocal waited
        waited += 1

    await library.ingest([folder], progress=told.append, wait_until_idle=wait_until_idle)
    assert waited == 4
    steps = [(p.document, p.files_done, p.chunks_done, p.chunks_total) for p in told]
    assert steps == [
        *[("a.txt", 0, 0, 0), ("a.txt", 0, 8, 20), ("a.txt", 0, 16, 20), ("a.txt", 0, 20, 20)],
        *[("b.txt", 1, 0, 0), ("b.txt", 1, 1, 1)],
    ]
    assert {p.files_total for p in told} == {2}


async def test_an_interrupted_ingest_goes_on_where_it_was(library, embedder, folder):
    for name in ("a", "b", "c"):
        (folder / f"{name}.txt").write_text(f"words of {name}")
    embed = embedder.embed

    async def fail_on_b(texts):
        if "words of b" in texts[0]:
            raise EmbedderError("the embedding worker failed")
        return await embed(texts)

    embedder.embed = fail_on_b
    with pytest.raises(EmbedderError):
        await library.ingest([folder])
    assert [d.document for d in await library.documents()] == ["a.txt"]
    embedder.embed = embed
    assert actions(await library.ingest([folder])) == {
        "a.txt": "unchanged",
        "b.txt": "added",
        "c.txt": "added",
    }


async def test_two_ingests_at_once_take_turns(library, folder):
    for number in range(5):
        (folder / f"{number}.txt").write_text(f"words {number}")
    first, second = await asyncio.gather(library.ingest([folder]), library.ingest([folder]))
    assert {r.action for r in first} == {"added"}
    assert {r.action for r in second} == {"unchanged"}


async def test_a_cancelled_ingest_leaves_the_library_usable(library, embedder, folder):
    (folder / "a.txt").write_text("words")
    reached, embed = asyncio.Event(), embedder.embed

    async def stuck(texts):
        reached.set()
        await asyncio.Event().wait()

    embedder.embed = stuck
    ingest = asyncio.create_task(library.ingest([folder]))
    await reached.wait()
    ingest.cancel()
    with pytest.raises(asyncio.CancelledError):
        await ingest
    embedder.embed = embed
    assert actions(await library.ingest([folder])) == {"a.txt": "added"}


async def test_closing_ends_a_running_ingest(open_library, embedder, folder):
    library = await open_library()
    (folder / "a.txt").write_text("\n\n".join(["word " * 140] * 20))
    first_batch, go_on = asyncio.Event(), asyncio.Event()

    async def wait_until_idle():
        if embedder.embedded:
            first_batch.set()
            await go_on.wait()

    ingest = asyncio.create_task(library.ingest([folder], wait_until_idle=wait_until_idle))
    await first_batch.wait()
    closing = asyncio.create_task(library.close())
    await asyncio.sleep(0.05)
    go_on.set()
    with pytest.raises(LibraryClosedError):
        await ingest
    await closing
    assert await (await open_library()).documents() == []


async def test_a_newer_reader_reads_unchanged_files_again(open_library, folder, monkeypatch):
    (folder / "a.txt").write_text("words")
    await (await open_library()).ingest([folder])
    monkeypatch.setattr("rag.ingest.READER_VERSION", 99)
    assert actions(await (await open_library()).ingest([folder])) == {"a.txt": "replaced"}


async def test_another_encoder_embeds_what_is_stored_and_goes_on_after_a_failure(
    open_library, embedder, folder, monkeypatch
):
    for number in range(2 * BATCH):
        (folder / f"{number}.txt").write_text(f"words of document {number}")
    await (await open_library()).ingest([folder])
    embedder.model = "another encoder"
    library, embed, calls = await open_library(), embedder.embed, []

    async def fail_the_second_time(texts):
        calls.append(len(texts))
        if len(calls) == 2:
            raise EmbedderError("gone")
        return await embed(texts)

    monkeypatch.setattr(embedder, "embed", fail_the_second_time)
    with pytest.raises(EmbedderError):
        await library.ingest([folder])
    assert (await library.retrieve("document 3")).passages  # by its words, meanwhile
    del embedder.embedded[:]
    reports = await (await open_library()).ingest([folder])
    assert set(actions(reports).values()) == {"unchanged"}
    assert (calls, len(embedder.embedded)) == ([BATCH, BATCH, 1, BATCH], BATCH)


async def test_control_characters_stay_out_of_names(library, folder):
    (folder / "a\n\x1b[31mb.txt").write_text("words")
    (report,) = await library.ingest([folder])
    assert (report.document, report.action) == ("a\ufffd\ufffd[31mb.txt", "added")
    assert await library.file(report.document) == folder / "a\n\x1b[31mb.txt"


async def test_a_name_that_is_not_unicode_is_reported(library, folder):
    with open(os.fsencode(folder) + b"/caf\xe9.txt", "wb") as file:  # noqa: PTH123, ASYNC230
        file.write(b"words")
    (report,) = await library.ingest([folder])
    assert report.document == "caf\ufffd.txt"
    assert "not valid UTF-8" in report.reason


async def test_what_may_not_be_read_is_reported_and_not_forgotten(library, folder):
    (folder / "closed").mkdir()
    (folder / "closed" / "a.txt").write_text("words")
    (folder / "b.txt").write_text("more words")
    await library.ingest([folder])
    (folder / "closed").chmod(0)
    (folder / "b.txt").chmod(0)
    if os.access(folder / "b.txt", os.R_OK):
        pytest.skip("this user may read everything")
    reasons = {r.document: r.reason for r in await library.ingest([folder])}
    (folder / "closed").chmod(0o700)
    assert "no permission" in reasons["closed"]
    assert "no permission" in reasons["b.txt"]
    assert [d.document for d in await library.documents()] == ["b.txt", "closed/a.txt"]


async def test_a_file_of_every_type_is_read_and_found(library, folder):
    """By way of the real loading process; pictures where tesseract is installed."""
    papers = seeds() | {"tsv": b"Name\tPhone\nAnn\t5550101\n"}
    for kind, content in papers.items():
        (folder / f"paper.{kind}").write_bytes(content)
    reports = {
        r.document: r
        for r in await library.ingest([folder])
        if r.document in {f"paper.{kind}" for kind in papers}
    }
    for kind in papers:
        name = f"paper.{kind}"
        if kind in PICTURES and not ocr.languages():
            assert (reports[name].action, "tesseract" in reports[name].reason) == ("skipped", True)
            continue
        assert reports[name].action == "added", reports[name].reason
        text = (await library.page(name)).text
        found = (await library.retrieve(" ".join(text.split()[:12]), 20)).passages
        assert any(name in (passage.document, *passage.also_in) for passage in found), kind
