"""How DuckDB is told to read CSV: as our own reader does, so that it guesses types alone."""

from __future__ import annotations

import csv
import gzip
import io
import re
import zlib
from collections.abc import Sequence
from contextlib import suppress
from itertools import islice
from typing import Any

from toolcrib.core.errors import ToolError
from toolcrib.data.tables import (
    GZIP_SIGN,
    SAMPLE_BYTES,
    Table,
    by_quotes_or_lines,
    free_name,
    read_table,
    stream_of,
)
from toolcrib.system.openat import pread
from toolcrib.text.values import NUMERIC

SAMPLED_ROWS = 1000
"""Rows whose numbers are looked at."""
_PLAIN = {
    sign: re.compile(rf"\s*[-+]?\d*(?:[{sign}]\d*)?(?:[eE][+-]?\d+)?\s*", re.ASCII) for sign in ".,"
}
"""A number that DuckDB reads: what else is one to us is in groups, or has a unit."""


def head_of(fd: int) -> bytes:
    """The first bytes of a file, unpacked."""
    head = pread(fd, SAMPLE_BYTES, 0)
    if head.startswith(GZIP_SIGN):
        with suppress(EOFError, OSError, zlib.error):
            return gzip.GzipFile(fileobj=io.BytesIO(head)).read1(SAMPLE_BYTES)
    return head


def sample(file: dict[str, Any]) -> Table | None:
    """A file as a table by our own reader, to look at its first rows."""
    try:
        return by_quotes_or_lines(
            lambda by_line: read_table(stream_of(file["fd"]), file["name"], by_line=by_line)
        )
    except ToolError:
        return None


def has_other_numbers(table: Table) -> bool:
    """Whether there are numbers that DuckDB takes for others, or for texts.

    Those are 1.500 for 1500, 5 EUR, and any beside words such as "n/a".
    """
    plain = _PLAIN[decimal(table)]
    numeric = [
        (n, _PLAIN[form.numbers.decimal])
        for n, form in enumerate(table.formats)
        if form.type in NUMERIC
    ]
    return any(
        not ((plain.fullmatch(cell := str(row[n])) and own.fullmatch(cell)) or not cell.strip())
        for row in islice(table.rows, SAMPLED_ROWS)
        for n, own in numeric
    )


def has_blanks(file: dict[str, Any], table: Table) -> bool:
    """Whether cells begin with blanks, which DuckDB takes for a part of them."""
    head = head_of(file["fd"])
    if f"{table.delimiter} ".encode() not in head:
        return False
    lines = head.decode(errors="replace").splitlines()[:SAMPLED_ROWS]
    with suppress(csv.Error):
        rows = csv.reader(lines, delimiter=table.delimiter)
        return any(cell[:1] == " " for row in rows for cell in row)
    return False


def dialect(table: Table) -> list[str]:
    """The options by which DuckDB parts a file as our own reader does."""
    return [
        f"delim={_quoted(table.delimiter)}",
        "quote='\"', escape='\"', comment=''",
        f"skip={table.titles}",
        f"header={str(table.has_head).lower()}",
    ]


def decimal(table: Table) -> str:
    """The decimal sign that DuckDB is told, which is that of the whole file."""
    commas = any(f.type == "number" and f.numbers.decimal == "," for f in table.formats)
    return "," if commas else "."


def names_and_types(table: Table) -> list[str]:
    """The options that name columns, and leave digits that are no numbers as they are."""
    names = unique(table.columns)
    codes = [name for name, form in zip(names, table.formats, strict=True) if form.codes]
    types = ", ".join(f"{_quoted(name)}: 'VARCHAR'" for name in codes)
    options = [f"names=[{', '.join(map(_quoted, names))}]"]
    return [*options, f"types={{{types}}}"] if codes else options


def lenient(table: Table | None) -> list[str]:
    """The options by which rows that do not fit are left out."""
    options = ["strict_mode=false", "null_padding=true", "ignore_errors=true"]
    if table is not None:  # DuckDB itself would find no types, for it looks at such rows, too
        kinds = {"integer": "BIGINT", "number": "DOUBLE"}
        columns = zip(unique(table.columns), table.formats, strict=True)
        types = (f"{_quoted(name)}: '{kinds.get(f.type, 'VARCHAR')}'" for name, f in columns)
        options += ["auto_detect=false", f"columns={{{', '.join(types)}}}"]
    return options


def unique(names: Sequence[str]) -> list[str]:
    """Names for SQL, which knows no case."""
    found: dict[str, str] = {}
    for name in names:
        own = free_name(name, lambda wanted: wanted.casefold() in found)
        found[own.casefold()] = own
    return list(found.values())


def _quoted(name: str) -> str:
    return "'" + name.replace("'", "''") + "'"
