"""Damaged documents of every type through the loading process: each must end in text or a reason.

    python -m bench.mutate_documents --files 5000 --seed 1

Small valid documents are cut, spliced, flipped and overgrown; members of archives are changed
inside too. Prints what became of them by type, every file that ended the process, and the slowest.
"""

import argparse
import asyncio
import io
import random
import sys
import tempfile
import time
import zipfile
from collections import Counter
from collections.abc import Iterator
from email.message import EmailMessage
from pathlib import Path

import docx
import fpdf
import msgspec
import openpyxl
from PIL import Image, ImageDraw

from rag.errors import WorkerCrashError
from rag.load_requests import LoadReply, LoadRequest
from rag.worker import Worker

SECONDS = 20
WORDS = "The boiler needs one bar. 锅炉压力为一巴。"
_CARD = "BEGIN:VCARD\nVERSION:3.0\nFN:Ann Lee\nTEL;TYPE=CELL:+44 5550 1\nBDAY:19800214\nEND:VCARD\n"
_EVENT = (
    "BEGIN:VCALENDAR\nBEGIN:VEVENT\nSUMMARY:Dentist\nDTSTART:20260314T093000\n"
    "DTEND:20260314T100000\nRRULE:FREQ=WEEKLY;BYDAY=MO\nEND:VEVENT\nEND:VCALENDAR\n"
)
_CONTAINER = (
    '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
    '<rootfile full-path="a/b.opf"/></rootfiles></container>'
)
_PACKAGE = (
    '<package xmlns="http://www.idpf.org/2007/opf"><metadata '
    'xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>Book</dc:title></metadata>'
    '<manifest><item id="x" href="c.xhtml"/></manifest>'
    '<spine><itemref idref="x"/></spine></package>'
)
_ODT = (
    '<office:document-content xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" '
    'xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" '
    'xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0"><office:body><office:text>'
    '<text:h text:outline-level="1">Boiler</text:h><text:p>One<text:s text:c="3"/>bar.</text:p>'
    "<text:list><text:list-item><text:p>first</text:p></text:list-item></text:list>"
    "<table:table><table:table-row><table:table-cell><text:p>a</text:p></table:table-cell>"
    "<table:table-cell><text:p>b</text:p></table:table-cell></table:table-row></table:table>"
    "</office:text></office:body></office:document-content>"
)


def seeds() -> dict[str, bytes]:
    """A small valid document of every type, by extension."""
    return {
        "md": f"# Heating\n\n{WORDS}\n\n- one\n- two\n\n| a | b |\n|---|---|\n| 1 | 2 |\n".encode(),
        "txt": f"Heating\n=======\n\n{WORDS}\n".encode(),
        "html": f"<h1>Heating</h1><p>{WORDS}<ul><li>one<li>two</ul>".encode(),
        "csv": b"Name,Phone\nAnn,1\nBen,2\n",
        "ics": _EVENT.encode(),
        "vcf": _CARD.encode(),
        "eml": _mail(),
        "pdf": _pdf(),
        "docx": _docx(),
        "xlsx": _xlsx(),
        "odt": archive(
            {"mimetype": b"application/vnd.oasis.opendocument.text", "content.xml": _ODT}
        ),
        "epub": archive(
            {
                "META-INF/container.xml": _CONTAINER,
                "a/b.opf": _PACKAGE,
                "a/c.xhtml": f"<html><body><h1>One</h1><p>{WORDS}</p></body></html>",
            }
        ),
        "png": _picture("PNG"),
        "jpg": _picture("JPEG"),
        "tif": _picture("TIFF"),
        "webp": _picture("WEBP"),
    }


def archive(parts: dict[str, str | bytes]) -> bytes:
    """A ZIP archive of ``parts``."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, content in parts.items():
            packed.writestr(name, content)
    return data.getvalue()


def mutations(seed: int, count: int) -> Iterator[tuple[str, bytes]]:
    """``count`` (extension, bytes), the same for the same ``seed``; types take turns."""
    chance = random.Random(seed)
    originals = seeds()
    kinds = sorted(originals)
    for number in range(count):
        kind = kinds[number % len(kinds)]
        data = originals[kind]
        if data.startswith(b"PK") and chance.random() < 0.6:
            yield kind, _inside(data, chance)
        else:
            yield kind, _mutated(data, chance, originals)


def _mutated(data: bytes, chance: random.Random, originals: dict[str, bytes]) -> bytes:
    for _ in range(chance.choice((1, 1, 2, 4, 16))):
        at, length = chance.randrange(len(data) + 1), chance.choice((1, 1, 4, 32, 500))
        piece = data[at : at + length]
        match chance.randrange(7):
            case 0:
                data = data[:at] + bytes([chance.randrange(256)]) + data[at + 1 :]
            case 1:
                data = data[:at] + data[at + length :]
            case 2:
                data = data[:at] + chance.randbytes(length) + data[at:]
            case 3:
                data = data[:at] + piece * chance.choice((2, 10, 1000)) + data[at:]
            case 4:
                data = data[: max(1, at)]
            case 5:
                other = chance.choice(sorted(originals.values()))
                data = data[:at] + other[chance.randrange(len(other)) :] + data[at:]
            case 6:
                number = chance.choice((b"0", b"-1", b"4294967295", b"99999999999999999999"))
                data = data[:at] + number + data[at + len(number) :]
        data = data[: 5 * 1024 * 1024] or b"\0"
    return data


def _inside(data: bytes, chance: random.Random) -> bytes:
    """One member of the archive changed, and the archive itself whole."""
    with zipfile.ZipFile(io.BytesIO(data)) as packed:
        parts: dict[str, str | bytes] = {name: packed.read(name) for name in packed.namelist()}
    name = chance.choice(sorted(parts))
    content = parts[name]
    assert isinstance(content, bytes)
    parts[name] = _mutated(content or b"x", chance, {"other": content or b"x"})
    if chance.random() < 0.1:
        del parts[chance.choice(sorted(parts))]
    return archive(parts)


def _mail() -> bytes:
    message = EmailMessage()
    message["Subject"], message["From"], message["To"] = "Boiler", "a@example.org", "b@example.org"
    message.set_content(WORDS)
    message.add_alternative(f"<p>{WORDS}</p>", subtype="html")
    message.add_attachment(b"data", maintype="image", subtype="png", filename="photo.png")
    return message.as_bytes()


def _pdf() -> bytes:
    pdf = fpdf.FPDF()
    pdf.set_compression(False)
    for number in range(2):
        pdf.add_page()
        pdf.set_font("Helvetica", size=12)
        pdf.multi_cell(0, 6, f"Page {number}: the boiler needs one bar of pressure. " * 3)
    return bytes(pdf.output())


def _docx() -> bytes:
    document = docx.Document()
    document.add_heading("Heating", 1)
    document.add_paragraph(WORDS)
    document.add_table(1, 2).rows[0].cells[0].text = "cell"
    data = io.BytesIO()
    document.save(data)
    return data.getvalue()


def _xlsx() -> bytes:
    workbook = openpyxl.Workbook()
    workbook.active.append(["Name", "Phone"])
    workbook.active.append(["Ann", 5550101])
    data = io.BytesIO()
    workbook.save(data)
    return data.getvalue()


def _picture(kind: str) -> bytes:
    picture = Image.new("RGB", (120, 60), "white")
    ImageDraw.Draw(picture).text((5, 5), "one bar", fill="black")
    data = io.BytesIO()
    picture.save(data, kind)
    return data.getvalue()


async def read(worker: Worker, path: Path) -> LoadReply:
    """What the loading process says of the file, or that the file ended it."""
    request = LoadRequest(path=str(path), seconds=SECONDS + 5)
    try:
        reply = await worker.request(msgspec.msgpack.encode(request), time_limit=SECONDS)
    except WorkerCrashError as error:
        return LoadReply(reason=f"process ended: {error}")
    return msgspec.msgpack.decode(reply, type=LoadReply)


async def run(count: int, seed: int) -> int:
    """Read ``count`` damaged files and print what became of them; 1 when a Python error got out."""
    worker = Worker("rag.load_worker")
    outcomes: Counter[tuple[str, str]] = Counter()
    ended: list[str] = []
    slowest: tuple[float, str] = (0.0, "")
    with tempfile.TemporaryDirectory() as folder:
        for number, (kind, data) in enumerate(mutations(seed, count)):
            path = Path(folder) / f"{number}.{kind}"
            path.write_bytes(data)
            began = time.perf_counter()
            reply = await read(worker, path)
            slowest = max(slowest, (time.perf_counter() - began, path.name))
            outcome = "text" if not reply.reason else "reason"
            if reply.reason.startswith("process ended"):
                outcome = "process ended"
                ended.append(f"{path.name}: {reply.reason}")
            outcomes[kind, outcome] += 1
            path.unlink()
    await worker.close()
    print("| type | text | reason | process ended |\n|---|---|---|---|")
    for kind in sorted({kind for kind, _ in outcomes}):
        row = (outcomes[kind, name] for name in ("text", "reason", "process ended"))
        print(f"| {kind} | " + " | ".join(map(str, row)) + " |")
    print(f"\n{count} files, seed {seed}; slowest {slowest[0]:.1f} s ({slowest[1]})")
    print("\n".join(ended))
    return int(any("exit status 1" in line for line in ended))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--files", type=int, default=5_000)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    return asyncio.run(run(given.files, given.seed))


if __name__ == "__main__":
    sys.exit(main())
