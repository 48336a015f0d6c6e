"""Renders ``samples/sources/NAME.pdf.md`` and ``NAME.docx.md`` into ``samples/household``.

The sources are Markdown: headings, paragraphs, lists, tables, ``**bold**``, and ``---`` for a new
page in a PDF. The same sources give the same files: no clock, no machine fonts. Run
``python samples/render.py [FOLDER]`` after a change of a source.
"""

import io
import sys
import zipfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal, NamedTuple

import docx
from docx.enum.text import WD_BREAK
from docx.text.paragraph import Paragraph as DocxParagraph
from fpdf import FPDF
from fpdf.fonts import FontFace
from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode

SAMPLES = Path(__file__).resolve().parent
WRITTEN = datetime(2026, 11, 2, 12, 0, tzinfo=UTC)
"""The date in every file's metadata: fixed, so that rendering again changes nothing."""


class Block(NamedTuple):
    """One piece of a source. ``rows`` holds list items (one cell a row) or table rows."""

    kind: Literal["heading", "paragraph", "bullets", "numbers", "table", "page break"]
    text: str = ""
    level: int = 0
    rows: tuple[tuple[str, ...], ...] = ()


def parse(source: str) -> list[Block]:
    """Markdown to blocks, in order. Raises ``ValueError`` for Markdown the renderer lacks."""
    root = SyntaxTreeNode(MarkdownIt("commonmark").enable("table").parse(source))
    return [block_of(node) for node in root.children]


def block_of(node: SyntaxTreeNode) -> Block:
    """One top-level piece of Markdown as a block."""
    nodes = list(node.walk())
    lines = [part.content.replace("\n", " ") for part in nodes if part.type == "inline"]
    match node.type:
        case "heading":
            return Block("heading", lines[0], level=int(node.tag[1]))
        case "paragraph":
            return Block("paragraph", lines[0])
        case "bullet_list":
            return Block("bullets", rows=tuple((line,) for line in lines))
        case "ordered_list":
            return Block("numbers", rows=tuple((line,) for line in lines))
        case "table":
            columns = sum(part.type == "th" for part in nodes)
            starts = range(0, len(lines), columns)
            return Block("table", rows=tuple(tuple(lines[s : s + columns]) for s in starts))
        case "hr":
            return Block("page break")
    raise ValueError(f"the renderer does not know {node.type} (line {node.map})")


class Page(FPDF):
    """A4 with the document's title above and the page number below."""

    def __init__(self, title: str) -> None:
        super().__init__(format="A4")
        self.set_title(title)
        self.set_creation_date(WRITTEN)
        self.set_margins(22, 18)
        self.set_auto_page_break(True, margin=20)

    def header(self) -> None:
        self.set_font("helvetica", size=8)
        self.set_text_color(110)
        self.cell(0, 5, str(self.title), align="R", new_x="LMARGIN", new_y="NEXT")
        self.set_text_color(0)
        self.ln(4)

    def footer(self) -> None:
        self.set_y(-14)
        self.set_font("helvetica", size=8)
        self.set_text_color(110)
        self.cell(0, 5, str(self.page_no()), align="C")
        self.set_text_color(0)


def render_pdf(blocks: list[Block]) -> bytes:
    """The blocks as a PDF. Core fonts only, so text must be Latin-1."""
    page = Page(blocks[0].text)
    page.add_page()
    for block in blocks:
        match block.kind:
            case "page break":
                page.add_page()
            case "heading":
                page.ln(2)
                points = {1: 20, 2: 15, 3: 12}[block.level]
                page.set_font("helvetica", "B", points)
                page.multi_cell(
                    0, 0.45 * points, block.text, align="L", new_x="LMARGIN", new_y="NEXT"
                )
                page.ln(2)
            case "paragraph":
                write_pdf_text(page, block.text)
            case "bullets" | "numbers":
                for number, (item,) in enumerate(block.rows, 1):
                    mark = f"{number}." if block.kind == "numbers" else "\u00b7"
                    write_pdf_text(page, f"{mark} {item}", indent=5, after=1)
                page.ln(1.5)
            case "table":
                write_pdf_table(page, block.rows)
    return bytes(page.output())


def write_pdf_text(page: Page, text: str, *, indent: float = 0, after: float = 2.5) -> None:
    """A paragraph or list item; ``indent`` and ``after`` (the space below it) in millimetres."""
    page.set_font("helvetica", size=10.5)
    page.set_x(page.l_margin + indent)
    page.multi_cell(0, 5.2, text, align="L", markdown=True, new_x="LMARGIN", new_y="NEXT")
    page.ln(after)


def write_pdf_table(page: Page, rows: tuple[tuple[str, ...], ...]) -> None:
    """A table with its first row bold, columns as wide as their text asks for."""
    page.set_font("helvetica", size=9.5)
    longest = [min(60, max(map(len, column)) + 4) for column in zip(*rows, strict=True)]
    with page.table(
        col_widths=longest,
        line_height=5.2,
        padding=0.8,
        text_align="LEFT",
        markdown=True,
        headings_style=FontFace(emphasis="BOLD"),
        borders_layout="HORIZONTAL_LINES",
    ) as table:
        for row in rows:
            table.row(row)
    page.ln(4)


def render_docx(blocks: list[Block]) -> bytes:
    """The blocks as a Word document with Word's own heading, list and table styles."""
    document = docx.Document()
    document.core_properties.title = blocks[0].text
    document.core_properties.author = ""
    document.core_properties.created = document.core_properties.modified = WRITTEN
    for block in blocks:
        match block.kind:
            case "heading":
                document.add_heading(block.text, level=block.level)
            case "paragraph":
                add_docx_text(document.add_paragraph(), block.text)
            case "bullets" | "numbers":
                style = "List Bullet" if block.kind == "bullets" else "List Number"
                for (item,) in block.rows:
                    add_docx_text(document.add_paragraph(style=style), item)
            case "table":
                table = document.add_table(0, len(block.rows[0]), style="Table Grid")
                for row in block.rows:
                    for cell, text in zip(table.add_row().cells, row, strict=True):
                        add_docx_text(cell.paragraphs[0], text)
            case "page break":
                document.add_paragraph().add_run().add_break(WD_BREAK.PAGE)
    buffer = io.BytesIO()
    document.save(buffer)
    return without_clock(buffer.getvalue())


def add_docx_text(paragraph: DocxParagraph, text: str) -> None:
    """Text into a paragraph, ``**bold**`` parts as bold runs."""
    for index, run in enumerate(text.split("**")):
        if run:
            paragraph.add_run(run).bold = index % 2 == 1


def without_clock(archive: bytes) -> bytes:
    """The same zip with every member dated ``WRITTEN``."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(archive)) as old, zipfile.ZipFile(buffer, "w") as new:
        for name in old.namelist():
            member = zipfile.ZipInfo(name, WRITTEN.timetuple()[:6])
            new.writestr(member, old.read(name), zipfile.ZIP_DEFLATED)
    return buffer.getvalue()


def main(folder: Path) -> None:
    """Render every source into ``folder``."""
    for source in sorted((SAMPLES / "sources").glob("*.md")):
        blocks = parse(source.read_text(encoding="utf-8"))
        target = folder / source.stem
        render = {".pdf": render_pdf, ".docx": render_docx}[target.suffix]
        target.write_bytes(render(blocks))


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else SAMPLES / "household")
