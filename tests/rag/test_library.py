import asyncio
import subprocess
import sys
import time

import pytest

from rag import uploads
from rag.errors import DatabaseError, EmbedderError, UnknownDocumentError
from rag.evidence import evidence
from rag.library import Library
from rag.types import PageText
from rag.worker_embedder import WorkerEmbedder


async def kept(tmp_path) -> list[str]:
    uploads = tmp_path / "uploads"
    return await asyncio.to_thread(lambda: sorted(path.name for path in uploads.glob("*")))


@pytest.fixture
def incoming(tmp_path):
    def write(content: bytes | str):
        path = tmp_path / "incoming"
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write


async def test_an_upload_is_kept_under_its_hash_and_named_as_given(library, incoming, tmp_path):
    data = incoming("# Boiler\n\nPress reset.\n")
    (report,) = await library.add_upload("../../etc/Our boiler.MD", data)
    assert (report.document, report.action, report.chunks) == ("Our boiler.MD", "added", 1)
    path = await library.file("Our boiler.MD")
    assert path.parent == tmp_path / "uploads"
    assert len(path.stem) == 64
    assert path.read_bytes() == data.read_bytes()
    assert path.stat().st_mode & 0o777 == 0o600
    (document,) = await library.documents()
    assert (document.document, document.type, document.status) == ("Our boiler.MD", "md", "ready")


async def test_the_same_upload_again_changes_nothing_and_a_new_version_replaces(
    library, incoming, tmp_path
):
    await library.add_upload("wifi.txt", incoming("the password is teapot"))
    (report,) = await library.add_upload("wifi.txt", incoming("the password is teapot"))
    assert report.action == "unchanged"
    (report,) = await library.add_upload("wifi.txt", incoming("the password is kettle"))
    assert report.action == "replaced"
    passages = (await library.retrieve("password")).passages
    assert [passage.text for passage in passages] == ["the password is kettle"]
    assert len(await kept(tmp_path)) == 1


async def test_an_upload_that_was_cut_off_is_gone_at_the_next_start(library, incoming, tmp_path):
    """As a kill leaves it: the copy is there, and no document."""
    folder = tmp_path / "uploads"
    await library.add_upload("wifi.txt", incoming("the password is teapot"))
    (mine,) = await kept(tmp_path)
    await asyncio.to_thread(uploads.keep, folder, "wifi.txt", incoming("the password is kettle"))
    await asyncio.to_thread((folder / ".incoming-half").write_text, "the pass")
    await library.clear_cut_off_uploads()
    assert await kept(tmp_path) == [mine]


async def test_a_mark_on_an_upload_that_has_its_document_deletes_nothing(
    library, incoming, tmp_path
):
    """As a kill after the document was stored, or before it was removed, leaves it."""
    await library.add_upload("wifi.txt", incoming("the password is teapot"))
    await asyncio.to_thread(uploads.mark, [await library.file("wifi.txt")])
    before = await kept(tmp_path)
    await library.clear_cut_off_uploads()
    assert await kept(tmp_path) == [name for name in before if not name.startswith(".")]
    assert (await library.file("wifi.txt")).read_text() == "the password is teapot"


async def test_no_upload_is_deleted_when_the_database_was_lost(library, incoming, tmp_path):
    """Its row may come back from a backup; nor is it deleted at the start after that."""
    data = incoming("the password is kettle")
    kept_as = await asyncio.to_thread(uploads.keep, tmp_path / "uploads", "wifi.txt", data)
    await library.clear_cut_off_uploads(database_lost=True)
    await library.clear_cut_off_uploads()
    assert await kept(tmp_path) == [kept_as.name]


async def test_uploads_without_a_mark_stay_when_the_database_was_lost(tmp_path, library, incoming):
    (tmp_path / "uploads").mkdir(exist_ok=True)
    stray = tmp_path / "uploads" / ("0" * 64 + ".txt")
    await asyncio.to_thread(stray.write_text, "its row is in a backup")
    await library.clear_cut_off_uploads()
    assert await kept(tmp_path) == [stray.name]


async def test_an_upload_does_not_replace_a_file_of_a_folder(library, incoming, folder):
    (folder / "wifi.txt").write_text("the password is teapot")
    await library.ingest([folder])
    (report,) = await library.add_upload("wifi.txt", incoming("the password is kettle"))
    assert (report.document, report.action) == ("uploads/wifi.txt", "added")
    (report,) = await library.add_upload("wifi.txt", incoming("the password is saucer"))
    assert (report.document, report.action) == ("uploads/wifi.txt", "replaced")
    passages = (await library.retrieve("password")).passages
    assert {p.text for p in passages} == {"the password is teapot", "the password is saucer"}


async def test_a_bad_upload_is_refused_or_remembered_with_its_reason(library, incoming, tmp_path):
    (report,) = await library.add_upload("song.mp3", incoming(b"ID3"))
    assert (report.action, ".mp3" in report.reason) == ("skipped", True)
    assert await kept(tmp_path) == []
    (report,) = await library.add_upload("a.pdf", incoming("no pdf at all"))
    assert (report.action, "not a pdf" in report.reason) == ("skipped", True)
    (document,) = await library.documents()
    assert (document.status, document.reason) == ("skipped", report.reason)
    with pytest.raises(UnknownDocumentError, match="skipped: named"):
        await library.page("a.pdf")


async def test_an_upload_that_could_not_be_embedded_leaves_no_file(
    library, incoming, embedder, tmp_path
):
    async def fail(texts):
        raise EmbedderError("no encoder")

    embedder.embed = fail
    with pytest.raises(EmbedderError):
        await library.add_upload("a.txt", incoming("words"))
    assert await kept(tmp_path) == []


async def test_removing_deletes_uploads_but_no_file_of_a_folder(
    library, incoming, folder, tmp_path
):
    (folder / "a.txt").write_text("words of a")
    await library.ingest([folder])
    await library.add_upload("b.txt", incoming("words of b"))
    assert await library.remove("a.txt")
    assert await library.remove("b.txt")
    assert not await library.remove("b.txt")
    assert (folder / "a.txt").exists()
    assert await kept(tmp_path) == []
    assert await library.documents() == []
    assert (await library.retrieve("words")).passages == []


async def test_pages(library, folder, make_pdf):
    make_pdf(folder / "a.pdf", [[("First", 11, "")], [("Second", 11, "")]])
    (folder / "b.md").write_text("All of it")
    await library.ingest([folder])
    assert await library.page("a.pdf") == PageText(
        document="a.pdf", page=1, pages=2, text="First", type="pdf"
    )
    assert (await library.page("a.pdf", 2)).text == "Second"
    for number in (None, 1):
        page = await library.page("b.md", number)
        assert (page.page, page.pages, page.text) == (None, 1, "All of it")
    for document, number in [("a.pdf", 3), ("a.pdf", 0), ("b.md", 2), ("c.md", None)]:
        with pytest.raises(UnknownDocumentError, match=document):
            await library.page(document, number)


async def test_the_file_of_a_document(library, folder):
    (folder / "a.txt").write_text("words")
    await library.ingest([folder])
    assert await library.file("a.txt") == folder / "a.txt"
    (folder / "a.txt").unlink()
    with pytest.raises(UnknownDocumentError, match="gone"):
        await library.file("a.txt")
    with pytest.raises(UnknownDocumentError, match="no document"):
        await library.file("../hub.db")


async def test_what_was_ingested_is_there_after_a_restart(open_library, folder):
    (folder / "a.txt").write_text("the pump is blue")
    library = await open_library()
    await library.ingest([folder])
    await library.close()
    again = await open_library()
    assert [p.text for p in (await again.retrieve("pump")).passages] == ["the pump is blue"]


async def test_without_an_encoder_full_text_answers_alone(library, embedder, folder, caplog):
    (folder / "a.txt").write_text("The pump is blue.")
    await library.ingest([folder])

    async def fail(texts):
        raise EmbedderError("the embedding worker failed")

    embedder.embed = fail
    found = await library.retrieve("What colour is the pump?")
    assert [p.text for p in found.passages] == ["The pump is blue."]
    evidence = await library.evidence("What colour is the pump?", found.passages)
    assert [quote.text for quote in evidence.quotes] == ["The pump is blue."]
    assert "without vectors" in caplog.text


async def test_a_section_that_was_found_twice_keeps_its_better_score(
    library, incoming, monkeypatch
):
    """The worse hit came last, and the section was weighed as if nothing had fitted."""
    rows = "\n".join(f"| Dish number {n} | shelf {n} | {150 + n} degrees |" for n in range(40))
    await library.add_upload("oven.md", incoming(f"# Oven\n\n{rows}\n"))
    passages = (await library.retrieve("How hot for dish number 7?")).passages
    assert len(passages) > 1
    seen = []

    async def spied(question, sections, embed, read):
        seen.extend(sections)
        return await evidence(question, sections, embed, read)

    monkeypatch.setattr("rag.library.evidence", spied)
    for order in (passages, passages[::-1]):
        seen.clear()
        await library.evidence("How hot for dish number 7?", order)
        assert len(seen) < len(passages)
        assert max(section.score for section in seen) == max(p.score for p in passages)


async def test_a_file_that_is_no_database_is_refused(tmp_path, embedder):
    (tmp_path / "hub.db").write_bytes(b"words" * 1000)
    with pytest.raises(DatabaseError, match="cannot open the database"):
        await Library.open(tmp_path / "hub.db", embedder=embedder, uploads=tmp_path)


async def test_the_event_loop_is_not_held_up(library, folder):
    for number in range(20):
        (folder / f"{number}.txt").write_text("\n\n".join([f"fact {number} " * 60] * 30))
    longest, last, running = 0.0, time.thread_time(), True

    async def watch():
        nonlocal longest, last
        while running:
            await asyncio.sleep(0.001)
            now = time.thread_time()  # of the loop's thread: other processes do not count
            longest, last = max(longest, now - last), now

    watching = asyncio.create_task(watch())
    await library.ingest([folder])
    await library.retrieve("fact 7")
    running = False
    await watching
    assert longest < 0.05


async def test_with_the_real_encoder_words_need_not_be_shared(tmp_path, folder):
    (folder / "heating.md").write_text("# Radiators\n\nBleed them in autumn with the small key.\n")
    (folder / "pets.md").write_text("# The cat\n\nMinka gets one tablet against worms in spring.\n")
    (folder / "zh.md").write_text("# 锅炉\n\n压力低于零点八巴时,请加水。\n")
    embedder = WorkerEmbedder()
    library = await Library.open(
        tmp_path / "hub.db", embedder=embedder, uploads=tmp_path / "uploads"
    )
    try:
        await library.ingest([folder])
        kitty = await library.retrieve("How often does our kitty take medicine?")
        assert kitty.passages[0].document == "pets.md"
        assert kitty.language == "en"
        chinese = await library.retrieve("锅炉压力太低怎么办?")
        assert chinese.passages[0].document == "zh.md"
        evidence = await library.evidence("When does Minka get her tablet?", kitty.passages)
        assert evidence.quotes[0].text == "Minka gets one tablet against worms in spring."
    finally:
        await library.close()
        await embedder.close()


def test_the_library_is_light_to_import():
    code = "import rag.library, sys; print(*sys.modules)"
    modules = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, check=True, text=True, timeout=60
    ).stdout.split()
    heavy = {"torch", "sentence_transformers", "transformers", "numba", "lxml", "docx", "pypdfium2"}
    assert not heavy & set(modules)
