"""CSV files and Excel workbooks: each row a record that says what its values are of."""

import csv
import datetime
import io
import itertools
from collections.abc import Iterable, Iterator
from pathlib import Path

from rag.errors import LoadError
from rag.loaders import archive
from rag.loaders.page import LoadedDocument, PageBuilder, collapse
from rag.loaders.text import decode

ROWS = 200_000
"""Of all sheets together."""
COLUMNS = 500
_DELIMITERS = ",;\t|"
_SNIFFED = 20_000
_WHAT = "the Excel workbook"


def read(path: Path) -> LoadedDocument:
    """Rows as records, ``- Name: Anna; Phone: 5550 101``, under the name of their sheet.

    The first row with two values names the columns.

    Raises:
        LoadError: damaged, encrypted, or too many rows.
    """
    builder = PageBuilder()
    if path.suffix.lower() == ".xlsx":
        for title, rows in _sheets(path):
            builder.heading(title, 1)
            _add_records(builder, rows)
        return LoadedDocument("xlsx", [builder.build()])
    try:
        _add_records(builder, _csv_rows(decode(path.read_bytes())))
    except csv.Error as error:
        raise LoadError(f"the table is damaged: {error}") from error
    return LoadedDocument("csv", [builder.build()])


def _csv_rows(text: str) -> Iterator[list[str]]:
    try:
        dialect: type[csv.Dialect] | str = csv.Sniffer().sniff(text[:_SNIFFED], _DELIMITERS)
    except csv.Error:
        dialect = "excel"
    return csv.reader(io.StringIO(text), dialect)


def _add_records(builder: PageBuilder, rows: Iterable[list[str]]) -> None:
    header: list[str] | None = None
    for number, row in enumerate(rows):
        if number >= ROWS:
            raise LoadError(f"the table has more than {ROWS:,} rows")
        cells = [collapse(cell) for cell in row[:COLUMNS]]
        filled = sum(bool(cell) for cell in cells)
        if header is None and filled >= 2:
            header = cells
        elif header is None:
            builder.paragraph(" ".join(cells))
        elif filled:
            builder.item(_record(header, cells))


def _record(header: list[str], cells: list[str]) -> str:
    pairs = itertools.zip_longest(header, cells, fillvalue="")
    return "; ".join(f"{name}: {cell}" if name else cell for name, cell in pairs if cell)


def _sheets(path: Path) -> list[tuple[str, list[list[str]]]]:
    """Each visible sheet's title and rows of formatted values; formulas as last computed."""
    import openpyxl

    with archive.opened(path, _WHAT) as parts:
        if "xl/workbook.xml" not in parts.namelist():
            raise LoadError("named .xlsx, but the content is a ZIP archive, not an Excel workbook")
        workbook = openpyxl.load_workbook(
            path, read_only=True, data_only=True, keep_links=False, keep_vba=False
        )
        try:
            left = ROWS
            sheets = []
            for sheet in workbook.worksheets:
                if sheet.sheet_state != "visible":
                    continue
                sheet.reset_dimensions()  # what the file claims may be a million empty rows
                values = sheet.iter_rows(values_only=True, max_col=COLUMNS)
                rows = [[_shown(cell) for cell in row] for row in itertools.islice(values, left)]
                left -= len(rows)
                if left <= 0:
                    raise LoadError(f"{_WHAT} has more than {ROWS:,} rows")
                sheets.append((str(sheet.title), rows))
        finally:
            workbook.close()
    return sheets


def _shown(value: object) -> str:
    """A cell as a person reads it: dates without midnight, whole numbers without ``.0``."""
    if value is None:
        return ""
    if isinstance(value, datetime.datetime):
        midnight = value.time() == datetime.time()
        return value.date().isoformat() if midnight else value.isoformat(" ", "minutes")
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else f"{value:.10g}"
    return str(value)
