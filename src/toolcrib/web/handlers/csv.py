"""Tables as text: CSV, TSV and their kin."""

from __future__ import annotations

from toolcrib.files.content.sizes import counted
from toolcrib.files.content.tables import delimiter_of, markdown_table, rows_of
from toolcrib.web.conversion.document import Document, Raw, decode

MAX_ROWS = 200
MAX_COLUMNS = 12
MAX_TABLE = 20_000
"""Characters; above one of these three the rows stay as they are."""


def convert(raw: Raw) -> Document:
    """A small table as Markdown, a wide or long one as its rows; the size as a note."""
    source, encoding = decode(raw)
    source = source.replace("\r\n", "\n").replace("\r", "\n").removeprefix("\ufeff")
    plain = Document(source, "csv", encoding=encoding)
    rows = rows_of(source, _delimiter(raw, source))
    if rows is None or not rows:
        return plain
    columns = max(map(len, rows))
    plain.notes.append(f"{counted(len(rows), 'row')}, {counted(columns, 'column')}.")
    if raw.format != "markdown" or not 1 < columns <= MAX_COLUMNS or len(rows) > MAX_ROWS:
        return plain
    table = markdown_table(rows, columns)
    if len(table) > MAX_TABLE:
        return plain
    return Document(table, "csv", encoding=encoding, notes=plain.notes)


def _delimiter(raw: Raw, source: str) -> str:
    if "tab-separated" in raw.media_type or raw.media_type == "text/tsv":
        return "\t"
    return delimiter_of(source)
