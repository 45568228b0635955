"""Tables in files (CSV, TSV, XLSX, JSON) as rows of cells. A worker's child reads them."""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import chain, islice, pairwise, takewhile
from typing import Any, BinaryIO, Literal, TypeVar, cast

from toolcrib.core.errors import TooLarge, UnsupportedContent
from toolcrib.data.json_lines import json_or_lines
from toolcrib.documents.workbook import Workbook
from toolcrib.files.content.kinds import charset_of, kind_of
from toolcrib.text.display import MAX_FIELD_LINES, counted, delimiter_of, some_of
from toolcrib.text.values import (
    NUMERIC,
    Cell,
    ColumnFormat,
    NumberFormat,
    column_format,
    date_key,
    displayed,
    is_code,
    type_of,
)

T = TypeVar("T")
SAMPLE_BYTES = 65_536
SAMPLE_ROWS = 1000
LOOKED_AT_ROWS = 30
"""First rows among which titles and the head beneath them are looked for."""
MAX_CELL_CHARS = 1_000_000
MAX_WHOLE_BYTES = 100_000_000
"""Bytes of a file that is not read row by row: a workbook, JSON."""
MAX_COLUMNS = 20_000
MAX_ROW_CHARS = 100
MIN_UTF8_SIGNS = 3
"""So many signs of valid UTF-8 in one line are no accident of windows-1252."""
_TOTAL = re.compile(
    r"\s*(?:(?:grand |sub)?total|sum|(?:gesamt)?summe|gesamt|insgesamt)\s*:?\s*", re.IGNORECASE
)
_YEAR = re.compile(r"(?:19|20)\d\d", re.ASCII)
ZIP_SIGN, GZIP_SIGN, PARQUET_SIGN = b"PK\x03\x04", b"\x1f\x8b", b"PAR1"
SHORTER = "Use a smaller file, or CSV, which is read row by row."


class BrokenQuotes(Exception):
    """A quote is not closed, so what follows would be one cell."""


def by_quotes_or_lines(read: Callable[[bool], T]) -> T:
    """What reading a table gives; where its quotes do not match, each line is one row.

    Args:
        read: takes `by_line` for `read_table`, and may raise BrokenQuotes.
    """
    try:
        return read(False)
    except BrokenQuotes:
        return read(True)


def stream_of(fd: int) -> BinaryIO:
    """An open file from its start; its descriptor stays open."""
    os.lseek(fd, 0, os.SEEK_SET)
    return os.fdopen(fd, "rb", buffering=0, closefd=False)


def is_empty(head: bytes) -> bool:
    """Whether a file that begins so holds nothing."""
    return not head.removeprefix(codecs.BOM_UTF8).strip()


def left_out(names: Sequence[str]) -> str:
    """What is said of files of a folder that hold nothing."""
    return f"Empty, and left out: {some_of(names)}."


def total_label(row: Iterable[str]) -> int:
    """Which cell of a row calls it a total, or -1."""
    return next((number for number, cell in enumerate(row) if _TOTAL.fullmatch(cell)), -1)


@dataclass(slots=True)
class Table:
    """A table that is being read.

    Attributes:
        columns: its names, each once.
        formats: what each column holds, by its first rows.
        rows: the cells of each row, as many as there are columns; texts, or values of JSON.
        notes: what a reader should know; it grows while rows are read.
        delimiter: what parts the cells of a line.
        has_head: whether the first row is the names of the columns.
        titles: how many rows above that one are titles, which are left out.
    """

    columns: list[str]
    formats: list[ColumnFormat]
    rows: Iterator[Sequence[Cell]]
    notes: list[str] = field(default_factory=list)
    delimiter: str = ","
    has_head: bool = True
    titles: int = 0

    @property
    def guesses(self) -> dict[str, str]:
        """How the numbers of a column are read, where that is a guess."""
        return {
            name: f"{name}: {form.note}."
            for name, form in zip(self.columns, self.formats, strict=True)
            if form.guess
        }

    @property
    def doubtful_dates(self) -> dict[str, str]:
        """What is said of columns whose dates do not settle what is day and what is month."""
        return {
            name: f"{name}: dates read as day/month; none of them settles it."
            for name, form in zip(self.columns, self.formats, strict=True)
            if form.doubtful_dates
        }

    @property
    def altered(self) -> list[str]:
        """What is said where cells become numbers that say less."""
        return [
            f"{name}: {form.altered} is the number {displayed(form.numbers.parse(form.altered))}."
            for name, form in zip(self.columns, self.formats, strict=True)
            if form.altered
        ]


def read_table(stream: BinaryIO, name: str, sheet: str = "", *, by_line: bool = False) -> Table:
    """A file as a table.

    Args:
        stream: the file, at its start.
        name: its name, for errors and its ending.
        sheet: of a workbook, by name or number; the first for nothing.
        by_line: take each line of CSV by itself, for one whose quotes do not match.

    Raises:
        UnsupportedContent: it holds no table.
        TooLarge: it has to be read whole and is too large for that.
        BrokenQuotes: while rows are read.
    """
    buffered: io.BufferedReader[Any]
    buffered = io.BufferedReader(cast("io.RawIOBase", stream), SAMPLE_BYTES)
    head = buffered.peek(SAMPLE_BYTES)
    if head.startswith(GZIP_SIGN):
        buffered = io.BufferedReader(cast("io.RawIOBase", gzip.GzipFile(fileobj=buffered)))
        head = buffered.peek(SAMPLE_BYTES)
    if head.startswith(ZIP_SIGN):
        rows, notes = Workbook(_whole(buffered, name), name).rows(sheet)
        return _from_rows(rows, ",", notes)
    if head.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] in (b"[", b"{"):
        return from_records(_records(_whole(buffered, name), name))
    kind = kind_of(head)
    if kind is not None and head.startswith(PARQUET_SIGN):
        raise UnsupportedContent(
            f"{name} is a Parquet table.", hint="query_database reads it, and saves it as CSV."
        )
    if kind is not None:
        raise UnsupportedContent(
            f"{name} is no table: {kind.name}.", hint="Tables are CSV, TSV, XLSX and JSON files."
        )
    if is_empty(head):
        raise UnsupportedContent(f"{name} is empty.")
    return _delimited(buffered, head, name, by_line=by_line)


def sheet_names(stream: BinaryIO, name: str) -> list[str]:
    """The sheets of a workbook, in order.

    Raises:
        UnsupportedContent, TooLarge: as of `read_table`.
    """
    return Workbook(_whole(io.BufferedReader(cast("io.RawIOBase", stream)), name), name).names


def _whole(stream: io.BufferedReader[Any], name: str) -> bytes:
    data = stream.read(MAX_WHOLE_BYTES + 1)
    if len(data) > MAX_WHOLE_BYTES:
        raise TooLarge(f"{name} has more than {MAX_WHOLE_BYTES:,} bytes.", hint=SHORTER)
    return data


# Texts with delimiters.


class _MixedBytes:
    """What of a file is in another encoding than most of it: UTF-8 and windows-1252 are told apart.

    Such files come of programs that append to what others wrote.
    """

    def __init__(self) -> None:
        self.count = 0
        codecs.register_error("toolcrib-mixed", self)

    def lines(self, stream: BinaryIO, encoding: str) -> Iterator[str]:
        """The lines of a file of a single-byte encoding, in which some lines may be UTF-8."""
        for part in stream:
            for line in part.splitlines(keepends=True):  # a carriage return alone ends one, too
                yield self._line(line, encoding)

    def _line(self, line: bytes, encoding: str) -> str:
        if not line.isascii():
            with suppress(UnicodeDecodeError):
                text = line.decode()
                if _is_meant(text):
                    self.count += 1
                    return text
        return line.decode(encoding, "replace")

    def __call__(self, error: UnicodeError) -> tuple[str, int]:
        assert isinstance(error, UnicodeDecodeError)
        self.count += 1
        return error.object[error.start : error.end].decode("cp1252", "replace"), error.end


def _is_meant(text: str) -> bool:
    """Whether valid UTF-8 is no accident, as `ß“` of windows-1252 is, which reads as N'Ko."""
    signs = "".join(sign for sign in text if not sign.isascii())
    western = signs.encode("cp1252", "ignore").decode("cp1252")
    return len(signs) >= MIN_UTF8_SIGNS or signs == western


def _delimited(stream: io.BufferedReader[Any], head: bytes, name: str, *, by_line: bool) -> Table:
    encoding = charset_of(head)
    mixed = _MixedBytes()
    if encoding.mark:
        stream.read(len(encoding.mark))
    text: Iterable[str]
    if encoding.name in ("cp1252", "latin-1"):
        text = mixed.lines(cast("BinaryIO", stream), encoding.name)
    else:
        text = io.TextIOWrapper(stream, encoding.name, errors="toolcrib-mixed", newline="")
    sample = encoding.decode(head).replace("\r\n", "\n").replace("\r", "\n")
    delimiter = "\t" if name.lower().endswith((".tsv", ".tab")) else delimiter_of(sample)
    notes = []
    if encoding.name not in ("utf-8", "ascii"):
        notes.append(f"Read as {encoding.label or encoding.name}.")
    csv.field_size_limit(MAX_CELL_CHARS)
    rows = _lines(text, delimiter) if by_line else _rows(text, delimiter)
    if by_line:
        notes.append("Quotes do not match: each line is taken as one row.")
    table = _from_rows(rows, delimiter, notes)
    table.rows = _with_mixed_note(table, table.rows, mixed)
    return table


def _rows(text: Iterable[str], delimiter: str) -> Iterator[list[str]]:
    lines: list[str] = []

    def noted() -> Iterator[str]:
        for line in text:
            lines.append(line)
            yield line

    try:
        for row in csv.reader(noted(), delimiter=delimiter, skipinitialspace=True):
            if len(lines) > 1 or lines[0].count('"') % 2:
                if len(lines) > MAX_FIELD_LINES:
                    raise BrokenQuotes
                # An open quote ends at the next one, some rows on, in the middle of a cell, or
                # with the file.
                list(csv.reader(lines, delimiter=delimiter, skipinitialspace=True, strict=True))
            lines.clear()
            if row:
                yield row
    except csv.Error:
        raise BrokenQuotes from None


def _lines(text: Iterable[str], delimiter: str) -> Iterator[list[str]]:
    for line in text:
        quoting: Literal[0, 3] = csv.QUOTE_NONE if line.count('"') % 2 else csv.QUOTE_MINIMAL
        for row in csv.reader(
            [line.rstrip("\r\n")], delimiter=delimiter, skipinitialspace=True, quoting=quoting
        ):
            if row:
                yield row


def _with_mixed_note(
    table: Table, rows: Iterator[Sequence[Cell]], mixed: _MixedBytes
) -> Iterator[Sequence[Cell]]:
    yield from rows
    if mixed.count:
        table.notes.append(f"{counted(mixed.count, 'place')} with bytes of another encoding.")


def _from_rows(rows: Iterator[Sequence[Cell]], delimiter: str, notes: list[str]) -> Table:
    """A table of rows whose first one may be its head."""
    sample = [list(map(_text, row)) for row in islice(rows, SAMPLE_ROWS + 1)]
    if not sample:
        raise UnsupportedContent("There are no rows.", hint="Use a file that holds a table.")
    titles = _titles_above_head(sample)
    if titles:
        texts = [" ".join(filter(None, map(str.strip, row))) for row in sample[:titles]]
        notes.append(f"Above the head, left out: {some_of([text for text in texts if text])}.")
        sample = sample[titles:]
    width = max(map(len, sample))
    _need_columns(width)
    has_head = _is_head(sample[0], sample[1:], delimiter)
    head, body = (sample[0], sample[1:]) if has_head else ([], sample)
    if not has_head:
        notes.append("It has no head: columns are named by their number.")
    if has_head:
        notes += _longer_than_head(head, body)
    formats = [
        column_format([row[n] for row in body if n < len(row)], delimiter) for n in range(width)
    ]
    table = Table(column_names(head, width), formats, iter(()), notes, delimiter, has_head, titles)
    rest = (list(map(_text, row)) for row in rows)
    table.rows = _even(chain(body, rest), width, table)
    return table


def _is_head(first: Sequence[str], body: Sequence[Sequence[str]], delimiter: str) -> bool:
    """Whether a first row names the columns: it has other cells than those beneath it.

    Years, and numbers that rise, may name columns of numbers; pandas calls one without a name 0.
    """
    if all(_is_value(cell) for cell in first if cell.strip()):
        return False
    numbers: list[float] = []
    for n, cell in enumerate(first):
        if not _is_value(cell) and not date_key(cell):
            continue
        form = column_format([row[n] for row in body if n < len(row)], delimiter)
        if form.type == "date" and form.moment(cell):
            return False
        number = form.numbers.parse(cell) if form.type in NUMERIC else None
        numbers += [] if number is None else [number]
    are_years = all(_YEAR.fullmatch(displayed(number)) for number in numbers)
    rise = len(numbers) > 1 and all(one < other for one, other in pairwise(numbers))
    return are_years or rise or numbers == [0]


def _titles_above_head(sample: Sequence[Sequence[str]]) -> int:
    """How many first rows are titles: nearly empty ones above a row that names the columns.

    Only where that is beyond doubt: the names are texts, each once, in most columns, beneath them
    stand numbers or dates, and a title fills one cell or is parted from them by an empty row.
    Two cells directly above may be the head of rows that go on with a list.
    """
    filled = [sum(bool(cell.strip()) for cell in row) for row in sample[:LOOKED_AT_ROWS]]
    width = max(filled)
    number = next((n for n, count in enumerate(filled) if count > 2 or count * 2 > width), 0)
    head, body = sample[number], sample[number + 1 : LOOKED_AT_ROWS]
    names = [cell.strip() for cell in head if cell.strip()]
    if not number or not body or len(names) < max(2, width - width // 4):
        return 0
    if any(count > 1 for count in takewhile(bool, reversed(filled[:number]))):
        return 0
    if len(set(names)) < len(names) or any(_is_value(n) and not _YEAR.fullmatch(n) for n in names):
        return 0
    if sum(count * 2 <= width for count in filled[number + 1 :]) * 5 > len(body):
        return 0
    return number if _has_values_beneath(head, body) else 0


def _has_values_beneath(head: Sequence[str], body: Sequence[Sequence[str]]) -> bool:
    """Whether a column is named by a text and holds numbers or dates."""
    named = (n for n, cell in enumerate(head) if cell.strip() and not _is_value(cell))
    columns = ([row[n] for row in body if n < len(row)] for n in named)
    return any(column_format(cells).type in ("integer", "number", "date") for cells in columns)


def _need_columns(count: int) -> None:
    if count > MAX_COLUMNS:
        raise TooLarge(
            f"There are more than {MAX_COLUMNS:,} columns.", hint="Use a table with fewer of them."
        )


def _longer_than_head(head: Sequence[str], body: Sequence[Sequence[str]]) -> list[str]:
    """What is said of rows with more cells than the head, as of `$1,200.50` without quotes."""
    longer = [row for row in body if any(cell.strip() for cell in row[len(head) :])]
    if not longer:
        return []
    first = " | ".join(longer[0])[:MAX_ROW_CHARS]
    rows = counted(len(longer), "row")
    return [f"{rows} with more cells than the head, perhaps parted wrongly: {first}"]


def _text(cell: Cell) -> str:
    return cell if isinstance(cell, str) else "" if cell is None else str(cell)


def _is_value(cell: str) -> bool:
    formats = NumberFormat(","), NumberFormat(".")
    return is_code(cell) or any(form.parse(cell) is not None for form in formats)


def free_name(base: str, is_taken: Callable[[str], bool]) -> str:
    """A name that nothing has yet: as it is, or with a number behind it."""
    name, turn = base, 2
    while is_taken(name):
        name, turn = f"{base}_{turn}", turn + 1
    return name


def column_names(head: Sequence[str], width: int) -> list[str]:
    """Names for all columns, each once."""
    names: list[str] = []
    taken: set[str] = set()
    for number in range(width):
        plain = " ".join(head[number].split()) if number < len(head) else ""
        name = free_name(plain or f"column{number + 1}", taken.__contains__)
        taken.add(name)
        names.append(name)
    return names


def _even(rows: Iterator[list[str]], width: int, table: Table) -> Iterator[list[str]]:
    """Rows of one width; what is beyond it is counted."""
    longer = 0
    for row in rows:
        if len(row) < width:
            yield row + [""] * (width - len(row))
        else:
            longer += any(row[width:])
            yield row[:width] if len(row) > width else row
    if longer:
        table.notes.append(f"{counted(longer, 'row')} with more cells than columns were cut.")


# JSON.


def _records(data: bytes, name: str) -> list[dict[str, Any]]:
    text = charset_of(data[:SAMPLE_BYTES]).decode(data)
    try:
        value = json_or_lines(text)
    except ValueError as error:
        raise UnsupportedContent(f"{name} is not valid JSON: {error}.") from None
    except RecursionError:
        raise UnsupportedContent(f"{name} is JSON nested too deep.") from None
    if isinstance(value, dict):
        lists = [item for item in value.values() if isinstance(item, list) and item]
        value = max(lists, key=len) if lists else [value]
    records = [item if isinstance(item, dict) else {"value": item} for item in value]
    if not records:
        raise UnsupportedContent(f"{name} has no records.", hint="Use query_json to look into it.")
    return records


def from_records(records: Sequence[dict[str, Any]]) -> Table:
    """Objects of JSON as a table; what is nested in them is JSON text."""
    columns = list(dict.fromkeys(str(key) for record in records for key in record))
    _need_columns(len(columns))
    sample = records[:SAMPLE_ROWS]
    formats = []
    for column in columns:
        types = {type_of(record.get(column)) for record in sample} - {"empty"}
        if types and types <= {"integer", "number"}:
            kind = "number" if "number" in types else "integer"
            formats.append(ColumnFormat(kind, NumberFormat()))  # type: ignore[arg-type]
        else:
            formats.append(column_format([_flat(r.get(column)) for r in sample]))
    rows = ([_cell(record.get(column)) for column in columns] for record in records)
    return Table(columns, formats, rows)


def _cell(value: Any) -> Cell:
    if value is None or isinstance(value, str | int | float | bool):
        return value
    return json.dumps(value, ensure_ascii=False)


def _flat(value: Any) -> str:
    cell = _cell(value)
    return "" if cell is None else cell if isinstance(cell, str) else json.dumps(cell)
