"""Documents over HTTP with the real library and encoder: in, listed, read, out."""

import asyncio
import json
from pathlib import Path

import aiohttp
import fpdf
import pytest
import pytest_asyncio

from hubd.http import documents as documents_module

BINS = "# Bins\n\nThe paper bin is collected every second Tuesday before seven.\n"


pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    return tmp_path_factory.mktemp("home")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def hub(open_hub, home):
    async with open_hub(home) as client:
        yield client


@pytest.fixture
def uploads(home):
    return (home / "data" / "uploads").resolve()


def form(*files):
    data = aiohttp.FormData(quote_fields=False)
    for name, content in files:
        data.add_field("files", content, filename=name)
    return data


async def listed_as(hub, name):
    """The document of that name in the list, or ``None``."""
    documents = await (await hub.get("/hub/documents")).json()
    return next((one for one in documents if one["document"] == name), None)


async def actions(response):
    assert response.status == 200, await response.text()
    return {file["document"]: file["action"] for file in (await response.json())["files"]}


async def test_an_upload_is_listed_read_found_and_removed(hub, home):
    response = await hub.post("/hub/documents", data=form(("bins.md", BINS.encode())))
    assert await actions(response) == {"bins.md": "added"}
    listed = await listed_as(hub, "bins.md")
    assert (listed["document"], listed["type"], listed["status"]) == ("bins.md", "md", "ready")

    page = await (await hub.get("/hub/documents/page?document=bins.md")).json()
    body = {"text": "When is the paper bin collected?"}
    passages = await (await hub.post("/hub/retrieve", json=body)).json()
    passage = next(one for one in passages if one["document"] == "bins.md")
    assert page["text"][passage["start"] : passage["end"]] == passage["text"]

    file = await hub.get("/hub/documents/file?document=bins.md")
    assert await file.text() == BINS
    assert file.content_type == "text/plain"
    assert file.headers["Content-Disposition"].startswith("inline")

    removed = await hub.delete("/hub/documents?document=bins.md")
    assert await removed.json() == {"removed": True}
    assert await listed_as(hub, "bins.md") is None
    assert not Path(listed["path"]).exists()  # noqa: ASYNC240 - a test may look
    assert list((home / "cache" / "incoming").iterdir()) == []


async def test_paths_are_ingested_and_streamed(hub, tmp_path):
    folder = tmp_path / "household"
    folder.mkdir()
    (folder / "bins.txt").write_text(BINS + "Folder.")
    (folder / "page.html").write_text("<h1>Rent</h1><p>The rent is due on the third.</p>")
    body = {"paths": [str(folder)], "stream": True}
    text = await (await hub.post("/hub/documents", json=body)).text()
    names = [line[7:] for line in text.splitlines() if line.startswith("event: ")]
    assert names[-1] == "done"
    assert set(names[:-1]) == {"progress"}
    again = await hub.post("/hub/documents", json={"paths": [str(folder)]})
    assert set((await actions(again)).values()) == {"unchanged"}
    download = await hub.get("/hub/documents/file?document=page.html")
    assert download.headers["Content-Disposition"].startswith("attachment")


async def test_a_bad_file_is_skipped_by_name_and_the_rest_goes_in(hub, monkeypatch):
    monkeypatch.setattr(documents_module, "FILE_LIMIT", 1000)
    files = form(("good.txt", BINS + "Good."), ("empty.txt", b""), ("large.txt", b"x" * 1001))
    found = await actions(await hub.post("/hub/documents", data=files))
    assert found == {"good.txt": "added", "empty.txt": "skipped", "large.txt": "skipped"}


async def test_names_of_uploads_lead_nowhere(hub, uploads):
    await actions(
        await hub.post("/hub/documents", data=form(("../../../etc/evil.txt", BINS + "Evil.")))
    )
    listed = await listed_as(hub, "evil.txt")
    assert Path(listed["path"]).is_relative_to(uploads)


@pytest.mark.parametrize(
    "address",
    ["/hub/documents/page?document=no.md", "/hub/documents/file?document=no.md"],
)
async def test_what_is_not_there_is_not_found(hub, address):
    assert (await hub.get(address)).status == 404
    assert (await hub.delete("/hub/documents?document=no.md")).status == 404


@pytest.mark.parametrize(
    ("address", "field"),
    [
        ("/hub/documents/page", "document"),
        ("/hub/documents/page?document=a.md&page=0", "page"),
        ("/hub/documents/page?document=a.md&page=x", "page"),
    ],
)
async def test_a_wrong_query_is_refused_by_name(hub, address, field):
    response = await hub.get(address)
    assert response.status == 400
    assert field in (await response.json())["error"]["message"]


@pytest.mark.parametrize("body", [{}, {"paths": []}, {"paths": [""]}, {"paths": "x"}])
async def test_paths_must_be_named(hub, body):
    response = await hub.post("/hub/documents", json=body)
    assert response.status == 400
    assert "paths" in (await response.json())["error"]["message"]


async def test_a_part_whose_head_is_no_head_is_refused(hub):
    part = b'--x\r\nContent-Disposition: form-data; name="\x1f"\r\n\r\nnull\r\n--x--\r\n'
    kind = {"Content-Type": "multipart/form-data; boundary=x"}
    response = await hub.post("/hub/documents", data=part, headers=kind)
    assert response.status == 400, await response.text()


async def test_a_form_without_files_or_broken_is_refused(hub):
    data = aiohttp.FormData()
    data.add_field("note", "hello")
    empty = await hub.post("/hub/documents", data=data(), headers={
        "Content-Type": "multipart/form-data; boundary=x"})  # fmt: skip
    assert empty.status == 400
    nothing = aiohttp.MultipartWriter("form-data")
    nothing.append("hello").set_content_disposition("form-data", name="note")
    assert (await hub.post("/hub/documents", data=nothing)).status == 400


async def test_a_pdf_page_comes_as_a_picture_and_files_are_told_of(hub, tmp_path):
    pdf = fpdf.FPDF()
    pdf.add_page()
    pdf.set_font("Helvetica", size=12)
    pdf.cell(text="The meter stands behind the blue door.")
    pdf.output(str(tmp_path / "meter.pdf"))
    async with hub.get("/hub/events") as events:
        content = (tmp_path / "meter.pdf").read_bytes()
        added = await hub.post("/hub/documents", data=form(("meter.pdf", content)))
        assert await actions(added) == {"meter.pdf": "added"}
        told = []
        async with asyncio.timeout(10):
            while not (told and told[-1]["status"] == "ready"):
                line = (await events.content.readline()).decode()
                if line.startswith("event: ingest"):
                    data = (await events.content.readline()).decode()
                    files = json.loads(data.removeprefix("data:"))["files"]
                    # What another test left may still be told of.
                    told += [file for file in files if file["document"] == "meter.pdf"]
    listed = await listed_as(hub, "meter.pdf")
    assert (listed["status"], listed["done"], listed["total"]) == ("ready", 0, 0)

    picture = await hub.get("/hub/documents/picture?document=meter.pdf&page=1&width=300")
    assert (picture.status, picture.content_type) == (200, "image/png")
    assert (await picture.read()).startswith(b"\x89PNG")
    asked = "/hub/documents/marks?document=meter.pdf&page=1&start=4&end=9"
    ((left, top, width, height),) = (await (await hub.get(asked)).json())["marks"]
    assert 0 < left < left + width < 0.5
    assert 0 < top < top + height < 0.2
    for wrong, status in (
        ("picture?document=meter.pdf&page=2", 404),
        ("picture?document=none.pdf", 404),
        ("picture?document=meter.pdf&width=9999", 400),
        ("marks?document=meter.pdf&start=-1&end=2", 400),
    ):
        assert (await hub.get(f"/hub/documents/{wrong}")).status == status
