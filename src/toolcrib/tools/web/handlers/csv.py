"""Tables as text: CSV, TSV and their kin."""

from __future__ import annotations

import csv
from collections import Counter
from itertools import islice

from toolcrib.tools.web.document import Document, Raw, decode

DELIMITERS = ",;\t|"
SAMPLE = 65_536
"""Characters by which the delimiter is found."""
MAX_ROWS = 200
MAX_COLUMNS = 12
MAX_TABLE = 20_000
"""Characters; above one of these three the rows stay as they are."""
MAX_LINES = 50
"""Line ends in one field; more comes from a quote that nobody closed."""


def convert(raw: Raw) -> Document:
    """A small table as Markdown, a wide or long one as its rows; the size as a note."""
    source, encoding = decode(raw)
    source = source.replace("\r\n", "\n").replace("\r", "\n").removeprefix("\ufeff")
    plain = Document(source, "csv", encoding=encoding)
    rows = _rows(source, _delimiter(raw, source))
    if rows is None or not rows:
        return plain
    columns = max(map(len, rows))
    plain.notes.append(f"{_counted(len(rows), 'row')}, {_counted(columns, 'column')}.")
    if raw.format != "markdown" or not 1 < columns <= MAX_COLUMNS or len(rows) > MAX_ROWS:
        return plain
    table = _table(rows, columns)
    if len(table) > MAX_TABLE:
        return plain
    return Document(table, "csv", encoding=encoding, notes=plain.notes)


def _delimiter(raw: Raw, source: str) -> str:
    """The character that parts the most lines of the sample alike."""
    if "tab-separated" in raw.media_type or raw.media_type == "text/tsv":
        return "\t"
    sample = source[:SAMPLE]
    if len(source) > SAMPLE:
        sample = sample.rpartition("\n")[0] or sample

    def score(delimiter: str) -> float:
        rows = _rows(sample, delimiter) or []
        widths = Counter(map(len, rows))
        width, count = widths.most_common(1)[0] if widths else (1, 0)
        return count / len(rows) * (1 + min(width, 20) / 100) if width > 1 else 0.0

    return max(DELIMITERS, key=score)


def _rows(source: str, delimiter: str) -> list[list[str]] | None:
    """The rows that are not empty; None where quotes do not match."""
    lines = source.split("\n")
    reader = csv.reader((f"{text}\n" for text in lines), delimiter=delimiter, skipinitialspace=True)
    try:
        rows = [row for row in reader if any(row)]
    except csv.Error:
        return None
    if any(field.count("\n") > MAX_LINES for row in rows for field in islice(row, 1_000)):
        return None
    return rows


def _table(rows: list[list[str]], columns: int) -> str:
    def laid_out(row: list[str]) -> str:
        cells = [" ".join(field.split()).replace("|", "\\|") for field in row]
        return f"| {' | '.join(cells + [''] * (columns - len(cells)))} |"

    head, *body = rows
    return "\n".join([laid_out(head), "|" + " --- |" * columns, *map(laid_out, body)])


def _counted(number: int, what: str) -> str:
    return f"{number:,} {what}" + ("" if number == 1 else "s")
