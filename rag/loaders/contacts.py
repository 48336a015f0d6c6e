"""Contacts (.vcf): each card under the person's name, one line a number, address or date."""

from pathlib import Path

from rag.errors import LoadError
from rag.loaders.contentlines import ContentLine, content_lines, fields, unescaped
from rag.loaders.page import LoadedDocument, PageBuilder, collapse
from rag.loaders.text import decode

CARDS = 50_000
_LABELS = {
    "TEL": "Phone",
    "EMAIL": "E-mail",
    "ADR": "Address",
    "BDAY": "Birthday",
    "ANNIVERSARY": "Anniversary",
    "ORG": "Organisation",
    "TITLE": "Title",
    "ROLE": "Role",
    "NICKNAME": "Nickname",
    "URL": "Web page",
    "NOTE": "Note",
}
_KINDS = {"CELL": "mobile", "HOME": "home", "WORK": "work", "FAX": "fax"}
_STRUCTURED = ("ADR", "ORG")


def read(path: Path) -> LoadedDocument:
    """All cards as one page of text.

    Raises:
        LoadError: it holds no cards, or too many.
    """
    text = decode(path.read_bytes())
    if "BEGIN:VCARD" not in text[:2_000].upper():
        raise LoadError("named .vcf, but the content is no vCard")
    builder = PageBuilder()
    card: list[ContentLine] = []
    cards = 0
    for line in content_lines(text):
        if line.name == "BEGIN":
            card = []
        elif line.name == "END":
            cards += 1
            _add(builder, card)
            card = []
        else:
            card.append(line)
        if cards > CARDS:
            raise LoadError(f"the file has more than {CARDS:,} cards")
    return LoadedDocument("vcf", [builder.build()])


def _add(builder: PageBuilder, card: list[ContentLine]) -> None:
    name = next((unescaped(line.value) for line in card if line.name == "FN"), "")
    if not name:  # family name; given name; …
        parts = next((fields(line.value) for line in card if line.name == "N"), [])
        name = " ".join(reversed([part for part in parts[:2] if part]))
    if not name:
        return
    builder.heading(name, 1)
    for line in card:
        if label := _LABELS.get(line.name):
            builder.item(f"{label}{_kind(line)}: {_value(line)}")


def _kind(line: ContentLine) -> str:
    kinds = [word for mark, word in _KINDS.items() if mark in line.parameters]
    return f" ({', '.join(kinds)})" if kinds else ""


def _value(line: ContentLine) -> str:
    if line.name in _STRUCTURED:
        return ", ".join(part for part in fields(line.value) if part)
    value = collapse(unescaped(line.value)).removeprefix("tel:").removeprefix("mailto:")
    if line.name in ("BDAY", "ANNIVERSARY") and len(value) == 8 and value.isdecimal():
        return f"{value[:4]}-{value[4:6]}-{value[6:]}"
    return value
