"""Documents that are archives inside: ODT, EPUB, XLSX; and what pretends to be one."""

import datetime
import io
import zipfile

import openpyxl
import pytest

from bench.mutate_documents import archive, seeds
from rag import loaders
from rag.errors import LoadError

ODT = """<office:document-content
  xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0"
  xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"
  xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0">
<office:body><office:text>
<text:tracked-changes><text:p>what was deleted</text:p></text:tracked-changes>
<text:h text:outline-level="2">Deposit</text:h>
<text:p>Two<text:s text:c="2"/>months<text:line-break/>of <text:span>rent</text:span>.</text:p>
<text:list><text:list-item><text:p>keys</text:p><text:list><text:list-item>
<text:p>garage</text:p></text:list-item></text:list></text:list-item></text:list>
<table:table><table:table-row><table:table-cell><text:p>Key</text:p></table:table-cell>
<table:table-cell><text:p>4</text:p></table:table-cell></table:table-row></table:table>
</office:text></office:body></office:document-content>"""


def write(path, content):
    path.write_bytes(content)
    return path


def blocks(path):
    (page,) = loaders.load(path).pages
    return [(b.kind, page.text[b.start : b.end]) for b in page.blocks]


def test_odt_in_body_order(tmp_path):
    path = write(tmp_path / "a.odt", archive({"content.xml": ODT}))
    assert blocks(path) == [
        ("heading", "Deposit"),
        ("paragraph", "Two  months\nof rent."),
        ("item", "- keys"),
        ("item", "- garage"),
        ("row", "Key | 4"),
    ]


def test_an_entity_in_odt_is_not_followed(tmp_path):
    (tmp_path / "secret.txt").write_text("the secret")
    doctype = f'<!DOCTYPE x [<!ENTITY e SYSTEM "file://{tmp_path}/secret.txt">]>'
    body = ODT.replace("<office:document-content", f"{doctype}<office:document-content", 1)
    path = write(tmp_path / "a.odt", archive({"content.xml": body.replace("garage", "&e;here")}))
    assert "secret" not in loaders.load(path).pages[0].text


def test_epub_in_the_order_of_its_spine(tmp_path):
    container = (
        '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
        '<rootfile full-path="OPS/book.opf"/></rootfiles></container>'
    )
    package = (
        '<package xmlns="http://www.idpf.org/2007/opf">'
        '<metadata xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>Bread</dc:title></metadata>'
        '<manifest><item id="b" href="text/two.xhtml"/><item id="a" href="text/o%20ne.xhtml"/>'
        '</manifest><spine><itemref idref="a"/><itemref idref="b"/><itemref idref="c"/></spine>'
        "</package>"
    )
    path = write(
        tmp_path / "a.epub",
        archive(
            {
                "META-INF/container.xml": container,
                "OPS/book.opf": package,
                "OPS/text/o ne.xhtml": "<html><title>x</title><body><h2>Rye</h2><p>Four hours.",
                "OPS/text/two.xhtml": "<html><body><h2>Wheat</h2><p>Two hours.</body></html>",
            }
        ),
    )
    assert [text for _, text in blocks(path)] == [
        *("Bread", "Rye", "Four hours."),
        *("Wheat", "Two hours."),
    ]


def test_xlsx_rows_are_records(tmp_path):
    workbook = openpyxl.Workbook()
    sheet = workbook.active
    sheet.title = "Meters"
    sheet.append(["Readings of the house"])
    sheet.append([])
    sheet.append(["Day", "Meter", "kWh", None, "Note"])
    sheet.append([datetime.datetime(2026, 3, 14), "cellar", 1204.0, None, None])
    sheet.append([datetime.datetime(2026, 3, 15, 9, 30), "roof", 3.25, "?", "new; cleaned"])
    hidden = workbook.create_sheet("Hidden")
    hidden.append(["secret", "x"])
    hidden.sheet_state = "hidden"
    workbook.save(tmp_path / "a.xlsx")
    assert blocks(tmp_path / "a.xlsx") == [
        ("heading", "Meters"),
        ("paragraph", "Readings of the house"),
        ("item", "- Day: 2026-03-14; Meter: cellar; kWh: 1204"),
        ("item", "- Day: 2026-03-15 09:30; Meter: roof; kWh: 3.25; ?; Note: new; cleaned"),
    ]


def bomb(name: str) -> bytes:
    """One part of 60 MB of zeros in 60 kB, beside the parts of a good document."""
    data = io.BytesIO(seeds()[name])
    with zipfile.ZipFile(data, "a", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("bomb.xml", bytes(60 * 1024 * 1024))
    return data.getvalue()


def encrypted(name: str) -> bytes:
    """The archive with the bit of encryption set on every part."""
    data = bytearray(seeds()[name])
    at = data.find(b"PK\x01\x02")
    while at >= 0:
        data[at + 8] |= 1
        at = data.find(b"PK\x01\x02", at + 1)
    return bytes(data)


@pytest.mark.parametrize("kind", ["docx", "odt", "epub", "xlsx"])
def test_bombs_encrypted_ones_and_others_have_a_clear_reason(tmp_path, kind):
    cases = {
        "bomb": (bomb(kind), "looks like a ZIP bomb"),
        "locked": (encrypted(kind), "protected by a password"),
        "other": (archive({"notes.txt": "words"}), "ZIP archive, not"),
        "cut": (seeds()[kind][:200], "is damaged"),
        "text": (b"only words", f"not a {kind} document"),
        "ole": (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), "protected by a password"),
    }
    for name, (content, reason) in cases.items():
        with pytest.raises(LoadError, match=reason):
            loaders.load(write(tmp_path / f"{name}.{kind}", content))


def test_protected_odt_and_epub(tmp_path):
    manifest = "<manifest><encryption-data/></manifest>"
    locked = archive({"content.xml": "x", "META-INF/manifest.xml": manifest})
    with pytest.raises(LoadError, match="protected by a password"):
        loaders.load(write(tmp_path / "a.odt", locked))
    data = io.BytesIO(seeds()["epub"])
    with zipfile.ZipFile(data, "a") as packed:
        packed.writestr(
            "META-INF/encryption.xml",
            '<encryption xmlns="urn:x"><CipherReference URI="a/c.xhtml"/></encryption>',
        )
    with pytest.raises(LoadError, match="copy-protected"):
        loaders.load(write(tmp_path / "a.epub", data.getvalue()))
