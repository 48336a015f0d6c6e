"""Pages as pictures and where words stand on them, scans read by tesseract, files under way."""

import asyncio
import io
from pathlib import Path

import fpdf
import msgspec
import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFont

from rag import pictures
from rag.errors import LoadError, UnknownDocumentError
from rag.loaders import load, ocr
from rag.loaders.page import PlacedLine

needs_tesseract = pytest.mark.skipif(
    not ocr.languages(), reason="tesseract is not installed (apt install tesseract-ocr)"
)
LETTER = [
    "Fernbridge Dental Practice",
    "Your next check-up is on 14 March at 9:30.",
    "Please bring your insurance card.",
]


def drawn(lines=LETTER, size=44, width=1400) -> Image.Image:
    picture = Image.new("RGB", (width, 160 * len(lines) + 200), "white")
    font = ImageFont.load_default(size)
    for row, line in enumerate(lines):
        ImageDraw.Draw(picture).text((100, 100 + 160 * row), line, fill="black", font=font)
    return picture


def scanned_pdf(path, pages):
    pdf = fpdf.FPDF()
    for lines in pages:
        data = io.BytesIO()
        drawn(lines).save(data, "PNG")
        pdf.add_page()
        pdf.image(data, x=0, y=0, w=210)
    pdf.output(str(path))
    return path


def pixels(png: bytes) -> np.ndarray:
    return np.asarray(Image.open(io.BytesIO(png)).convert("L"))


async def test_a_cited_sentence_is_found_on_the_picture_of_its_page(library, folder, make_pdf):
    filler = [("Other words on this page.", 11, "")] * 5
    cited = "Press the red key for five seconds."
    make_pdf(folder / "m.pdf", [[("First page", 11, "")], [*filler, (cited, 11, ""), *filler]])
    await library.ingest([folder])
    text = (await library.page("m.pdf", 2)).text
    start = text.index(cited)
    marks = await library.marks("m.pdf", 2, start, start + len(cited))
    assert len(marks) == 1
    page = pixels(await library.picture("m.pdf", 2, 800))
    assert page.shape[1] == 800
    left, top, width, height = marks[0]
    rows, columns = page.shape
    inside = page[int(top * rows) : int((top + height) * rows) + 1]
    inside = inside[:, int(left * columns) : int((left + width) * columns) + 1]
    assert inside.min() < 100  # ink
    blank = page.copy()
    blank[int(top * rows) - 2 : int((top + height) * rows) + 3] = 255
    assert (blank < 128).any(axis=1).sum() < (page < 128).any(axis=1).sum()
    assert await library.marks("m.pdf", 1, 0, 0) == []


async def test_of_two_equal_sentences_the_cited_one_is_marked(library, folder, make_pdf):
    make_pdf(folder / "m.pdf", [[("Same words here.", 11, ""), ("Between.", 11, "")] * 2])
    await library.ingest([folder])
    text = (await library.page("m.pdf", 1)).text
    second = text.index("Same", 5)
    tops = [(await library.marks("m.pdf", 1, start, start + 16))[0][1] for start in (0, second)]
    assert tops[0] < tops[1]


async def test_pictures_are_kept_and_old_ones_make_room(library, folder, make_pdf, tmp_path):
    make_pdf(folder / "m.pdf", [[("words", 11, "")]] * 3)
    kept = pictures.Pictures(tmp_path / "pictures")
    try:
        first = await kept.draw(folder / "m.pdf", "ab", 1, 150)
        assert [path.name for path in (tmp_path / "pictures").iterdir()] == ["ab-1-200.png"]
        (folder / "m.pdf").rename(folder / "moved.pdf")
        assert await kept.draw(folder / "m.pdf", "ab", 1, 200) == first
        with pytest.raises(LoadError):
            await kept.draw(folder / "m.pdf", "ab", 2, 200)
        await asyncio.to_thread(pictures._keep, tmp_path / "pictures" / "big.png", b"")
    finally:
        await kept.close()


def test_the_folder_of_pictures_is_bounded(tmp_path, monkeypatch):
    monkeypatch.setattr(pictures, "CACHE_BYTES", 250)
    for number in range(4):
        pictures._keep(tmp_path / f"{number}.png", bytes(100))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["2.png", "3.png"]


async def test_what_cannot_be_drawn_says_why(library, folder, make_pdf):
    (folder / "a.md").write_text("words")
    make_pdf(folder / "m.pdf", [[("words", 11, "")]])
    await library.ingest([folder])
    with pytest.raises(UnknownDocumentError, match="no pages to look at"):
        await library.picture("a.md")
    with pytest.raises(UnknownDocumentError, match="no document"):
        await library.picture("b.pdf")
    with pytest.raises(LoadError, match="no page 9"):
        await library.picture("m.pdf", 9)


@needs_tesseract
async def test_a_photo_of_a_letter_is_read_and_its_lines_are_marked(library, folder):
    drawn().save(folder / "letter.png")
    (report,) = await library.ingest([folder])
    assert report.action == "added"
    text = (await library.page("letter.png")).text
    assert "14 March at 9:30" in text
    assert (await library.documents())[0].type == "picture"
    start = text.index("Your next")
    ((left, top, width, height),) = await library.marks("letter.png", None, start, start + 40)
    rows = drawn().height
    assert top * rows == pytest.approx(260, abs=30)
    assert 0 < left < 0.1
    assert 0 < width <= 1
    assert 0 < height < 0.1
    found = await library.retrieve("When is the dental check-up?")
    assert "14 March" in found.passages[0].text


@needs_tesseract
async def test_scanned_pages_of_a_pdf_are_read_once(library, open_library, folder, monkeypatch):
    """What was recognised before a kill is not recognised again."""
    pages = [["The first page says seven."], ["The second page says eight."]]
    scanned_pdf(folder / "scan.pdf", pages)
    states = []
    library.activity.changed = lambda d: states.append((d.status, d.done, d.total))

    async def stop_after_one():
        if ("reading", 1, 2) in states:
            await library._ingester.close()

    with pytest.raises(Exception, match="closed"):
        await library.ingest([folder], wait_until_idle=stop_after_one)
    await library.close()
    again = await open_library()
    asked = []
    ask = again._ingester._reader._ask

    async def counted(request, *rest):
        asked.append(type(request).__name__)
        return await ask(request, *rest)

    monkeypatch.setattr(again._ingester._reader, "_ask", counted)
    (report,) = await again.ingest([folder])
    assert (report.action, asked.count("RecogniseRequest")) == ("added", 1)
    assert "seven" in (await again.page("scan.pdf", 1)).text
    assert "eight" in (await again.page("scan.pdf", 2)).text
    assert await again._thread.run(again._store.unfinished, "") == {}


@needs_tesseract
def test_chinese_is_read_without_spaces(tmp_path):
    if "chi_sim" not in ocr.languages():
        pytest.skip("apt install tesseract-ocr-chi-sim")
    fonts = ["/usr/share/fonts/truetype/wqy/wqy-zenhei.ttc"]
    fonts += ["/usr/share/fonts/opentype/noto/NotoSansCJK-Regular.ttc"]
    font = next((f for f in fonts if Path(f).exists()), None)
    if font is None:
        pytest.skip("no Chinese font is installed (apt install fonts-wqy-zenhei)")
    picture = Image.new("RGB", (1200, 300), "white")
    text = "请每年检查一次锅炉的压力"
    ImageDraw.Draw(picture).text((60, 100), text, fill="black", font=ImageFont.truetype(font, 56))
    picture.save(tmp_path / "zh.png")
    assert "检查一次锅炉" in ocr.recognise(tmp_path / "zh.png", 1, 60).text


def test_without_tesseract_a_scan_is_refused_with_the_way_out(tmp_path, monkeypatch):
    from rag.load_requests import LoadRequest
    from rag.load_worker import answer

    scanned_pdf(tmp_path / "scan.pdf", [["words"]])
    monkeypatch.setattr(ocr, "languages", lambda: "")
    reply = answer(LoadRequest(path=str(tmp_path / "scan.pdf"), seconds=10))
    assert "tesseract is not installed" in reply.reason
    with pytest.raises(LoadError, match="not installed"):
        ocr.recognise(tmp_path / "scan.pdf", 1, 10)


def test_a_blank_picture_has_no_text(tmp_path):
    Image.new("RGB", (400, 400), "white").save(tmp_path / "blank.png")
    assert load(tmp_path / "blank.png").pages[0].is_scan
    if ocr.languages():
        assert ocr.recognise(tmp_path / "blank.png", 1, 60).text == ""


def test_a_picture_of_too_many_pixels_is_refused(tmp_path):
    path = tmp_path / "bomb.png"
    Image.new("1", (9_000, 9_000)).save(path)
    assert path.stat().st_size < 100_000
    with pytest.raises(LoadError, match="too large: 81 million pixels"):
        load(path)


def test_pages_of_a_tiff_are_pages(tmp_path):
    first, second = drawn(["one"]), drawn(["two"])
    first.save(tmp_path / "fax.tif", save_all=True, append_images=[second])
    document = load(tmp_path / "fax.tif")
    assert (len(document.pages), document.paged) == (2, True)


def test_lines_under_a_span():
    lines = [PlacedLine(5, 0.1, 0.1, 0.5, 0.02), PlacedLine(4, 0.1, 0.2, 0.4, 0.02)]
    at = [mark[1] for mark in pictures.lines_under(lines, 4, 2)]
    assert at == [0.1, 0.2]
    assert pictures.lines_under(lines, 5, 4)[0][1] == 0.2
    assert pictures.lines_under(lines, 9, 3) == []
    assert pictures.visible(" a | b\n") == "ab"


async def test_every_file_is_told_of_from_queued_to_its_end(library, folder):
    for name in ("a", "b"):
        (folder / f"{name}.txt").write_text(f"words of {name}")
    (folder / "c.txt").touch()
    told = []
    library.activity.changed = told.append
    seen = []

    async def look():
        seen.append({d.document: d.status for d in await library.documents()})

    await library.ingest([folder], wait_until_idle=look)
    assert seen[0] == {"a.txt": "embedding", "b.txt": "queued", "c.txt": "queued"}
    steps = [(d.document, d.status) for d in told]
    assert [s for n, s in steps if n == "a.txt"] == ["queued", "reading", "embedding", "ready"]
    assert [s for n, s in steps if n == "c.txt"] == ["queued", "reading", "skipped"]
    assert "empty" in told[-1].reason
    told.clear()
    await library.ingest([folder])
    assert told == []  # nothing changed
    assert {d.status for d in await library.documents()} == {"ready", "skipped"}
    assert msgspec.json.encode(await library.documents())
