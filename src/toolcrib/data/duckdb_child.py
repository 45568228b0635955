"""Files as tables of DuckDB, in a worker's child to which the kernel gives those files alone."""

from __future__ import annotations

import math
import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import duckdb

from toolcrib.core.errors import BadInput, Denied, TooLarge, ToolError, UnsupportedContent
from toolcrib.data.duckdb_csv import (
    decimal,
    dialect,
    has_blanks,
    has_other_numbers,
    head_of,
    lenient,
    names_and_types,
    sample,
    unique,
)
from toolcrib.data.formats import written_table
from toolcrib.data.json_lines import json_or_lines
from toolcrib.data.rows import answer_of, described_column, plain_value
from toolcrib.data.tables import (
    GZIP_SIGN,
    SAMPLE_BYTES,
    BrokenQuotes,
    Table,
    by_quotes_or_lines,
    free_name,
    is_empty,
    left_out,
    read_table,
    sheet_names,
    stream_of,
    total_label,
)
from toolcrib.files.content.kinds import charset_of
from toolcrib.text.display import some_of
from toolcrib.text.values import as_json_cell

if TYPE_CHECKING and sys.platform != "linux":  # `Workers` refuses first: it cannot be confined
    raise ImportError

MEMORY = "1GB"
MAX_CONVERTED_ROWS = 5_000_000
PACKED_RATIO = 10
MAX_CONVERTED_BYTES = 100_000_000
"""Of CSV with numbers that DuckDB does not read as such."""
MAX_CHECKED_BYTES = 20_000_000
"""Of CSV whose quotes are looked at before; DuckDB takes what follows an open one as one cell.
In larger files no total is looked for."""
SAMPLE_ROWS = 50
DISPLAYED_ROWS = 3
COUNTED_BYTES = 200_000_000
"""Of CSV and JSON; the rows of larger files are not counted where nobody asks for it."""
_NOT_NAME = re.compile(r"\W+")
_PLACE = re.compile(r"/proc/self/fd/\d+")
_MALFORMED = re.compile(rf'Malformed JSON in file "({_PLACE.pattern})"')
NO_CLEAN_CSV = ("CSV Error", "Error when sniffing file")
"""What DuckDB says of CSV that it does not read."""
_SUMMING = re.compile(r"\b(?:sum|avg|mean|fsum|kahan_sum)\s*\(", re.IGNORECASE)
_REFUSALS = ("permission", "disabled", "cannot open file", "no files found", "io error")
UTC = "SET TimeZone = 'UTC'"
"""The file of the system's own zone is out of reach."""
SETTINGS = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "allow_community_extensions": "false",
    "python_enable_replacements": "false",
    "memory_limit": MEMORY,
    "temp_directory": "",
}


_OPENED: list[duckdb.DuckDBPyConnection] = []
"""The one connection of this process. DuckDB looks at the machine when it opens one, so that is
done before; it has no threads until it is told of more, which are confined like all else."""


def prepare() -> None:
    """Load what is loaded late."""
    from toolcrib.files.content.kinds import load_codecs

    load_codecs()
    connection = duckdb.connect(config={**SETTINGS, "threads": "1"})
    connection.execute(UTC)
    connection.execute(
        "SELECT 1.5::DECIMAL(9,2), now(), current_date, [1], {'a': 1}, uuid(), INTERVAL 1 DAY, "
        "'1:00'::TIME, 1::HUGEINT, '\\x00'::BLOB, MAP {'a': 1}"
    ).fetchall()
    with suppress(duckdb.Error):
        connection.execute("SELECT * FROM nowhere")
    _OPENED.append(connection)


def query(request: dict[str, Any], data: bytes) -> tuple[dict[str, Any], bytes]:
    """The rows of one SELECT over files.

    Args:
        request: `sql`, `limit`, `save_as`, and `files`: each with its descriptor, name and kind.
        data: nothing.

    Raises:
        Denied: the statement is no SELECT, or reaches for other files.
        BadInput: it is wrong.
        UnsupportedContent: a file cannot be read.
    """
    del data

    def work(opened: _Database) -> tuple[dict[str, Any], bytes]:
        cursor = opened.select(request["sql"])
        names = [column[0] for column in cursor.description or ()]
        types = [str(column[1]) for column in cursor.description or ()]
        answer, saved = answer_of(
            names, types, cursor.fetchmany, request["limit"], request["save_as"]
        )
        notes = [*opened.notes, *opened.totals(request["sql"])]
        answer["notes"] += [*notes, *opened.doubtful_dates(request["sql"], names)]
        return answer, saved

    return _read(request["files"], work, request["sql"])


def describe(request: dict[str, Any], data: bytes) -> tuple[dict[str, Any], bytes]:
    """The columns of files, with some rows.

    Raises:
        UnsupportedContent: a file cannot be read.
    """
    del data

    def work(opened: _Database) -> tuple[dict[str, Any], bytes]:
        tables = [_described(opened, name, file["size"]) for name, file in opened.names.items()]
        tables += [_broken(name, reason) for name, reason in opened.broken.items()]
        return {"engine": "DuckDB", "tables": tables, "more": 0, "notes": opened.notes}, b""

    return _read(request["files"], work)


def _read(
    files: list[dict[str, Any]],
    work: Callable[[_Database], tuple[dict[str, Any], bytes]],
    sql: str = "",
) -> tuple[dict[str, Any], bytes]:
    """Work on files; where DuckDB cannot read one as CSV, our own reader converts it.

    What is too long for that is read without the rows that do not fit.
    """
    opened = _Database(files, sql)
    try:
        opened.open()
        return work(opened)
    except duckdb.Error as error:
        if not _is_no_clean_csv(error):
            raise explained(error, opened.files, opened.names) from None
    strict = True
    try:
        opened.convert()
    except ToolError:
        strict = False
    try:
        opened.open(strict=strict)
        return work(opened)
    except duckdb.Error as error:
        raise explained(error, opened.files, opened.names) from None


def _described(opened: _Database, name: str, size: int) -> dict[str, Any]:
    cursor = opened.connection.execute(f'SELECT * FROM "{name}" LIMIT {SAMPLE_ROWS}')  # noqa: S608
    sample = [[plain_value(value) for value in row] for row in cursor.fetchall()]
    columns = [
        described_column(column[0], str(column[1]), [row[number] for row in sample])
        for number, column in enumerate(cursor.description or ())
    ]
    rows = None
    if size <= COUNTED_BYTES:
        counted = opened.connection.execute(f'SELECT count(*) FROM "{name}"')  # noqa: S608
        rows = (counted.fetchone() or [None])[0]
    return {
        "name": name,
        "kind": "table",
        "rows": rows,
        "columns": columns,
        "sample": sample[:DISPLAYED_ROWS],
    }


def _broken(name: str, reason: str) -> dict[str, Any]:
    """What is described of a file that cannot be read."""
    return {"name": name, "kind": "table", "rows": None, "columns": [], "sample": []} | {
        "error": reason
    }


class _Database:
    """A database in memory whose views are the files, closed to everything else."""

    def __init__(self, files: list[dict[str, Any]], sql: str) -> None:
        self.notes: list[str] = []
        self.names: dict[str, dict[str, Any]] = {}
        self.files: list[dict[str, Any]] = []
        self.broken: dict[str, str] = {}
        self.connection = _OPENED[0]
        self._sql = sql.casefold()
        filled = self._filled(files)
        self._is_one_file = len(filled) == 1
        for file in filled:
            with self._leaving_out(file):
                self.files += self._parts(file)
        new = [file for file in self.files if "memory" not in file]
        for file in new:
            # Memory for what may have to be converted: DuckDB is told now what it may read.
            file["memory"] = os.memfd_create("table")
            file["place"] = f"/proc/self/fd/{file['fd']}"
        if new:
            self._lock([f"/proc/self/fd/{file[key]}" for file in new for key in ("fd", "memory")])
        for file in self.files:
            with self._leaving_out(file):
                if file.get("sheet"):
                    self._convert_sheet(file, sql)
                elif not self._is_readable(file):
                    self._convert(file)
                elif file["kind"] == "csv":
                    self._convert_values(file)

    @contextmanager
    def _leaving_out(self, file: dict[str, Any]) -> Iterator[None]:
        """Leave out a file of a folder that cannot be read, unless the SQL needs it."""
        try:
            yield
        except (duckdb.Error, ToolError) as error:
            name = re.escape(file["table"].casefold())
            is_used = re.search(rf"\b{name}\b", self._sql) is not None
            may_be_converted = file["kind"] == "csv" and not file.get("converted")
            if self._is_one_file or is_used or (_is_no_clean_csv(error) and may_be_converted):
                raise
            if not isinstance(error, ToolError):
                error = explained(error, self.files, self.names)
            self.broken[file["table"]] = error.message

    def _parts(self, file: dict[str, Any]) -> list[dict[str, Any]]:
        """A file, or the sheets of a workbook, of which the first is called after the file."""
        file["table"] = stem = _plain(file["name"].rpartition("/")[2].split(".")[0])
        if file["kind"] != "xlsx":
            return [file]
        first, *others = sheet_names(stream_of(file["fd"]), file["name"])
        if not others:
            return [file]
        base = "" if self._is_one_file else f"{stem}_"
        parts = [{**file, "sheet": sheet, "table": f"{base}{_plain(sheet)}"} for sheet in others]
        names = ", ".join(part["table"] for part in parts)
        self.notes.append(f"{file['name']}: sheet {first} is {stem}; other sheets: {names}.")
        return [{**file, "sheet": first}, *parts]

    def _convert_sheet(self, file: dict[str, Any], sql: str) -> None:
        """Convert a sheet that is asked for, and the first that holds anything."""
        is_first = all(other["kind"] == "xlsx" for other in self.files)
        if is_first or not sql or file["table"].casefold() in sql.casefold():
            with suppress(UnsupportedContent):  # it holds nothing
                self._convert(file)

    def _filled(self, files: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Those of several files that hold anything."""
        empty = [file for file in files if is_empty(head_of(file["fd"]))]
        if len(empty) == len(files):
            names = some_of([file["name"] for file in files])
            raise UnsupportedContent(f"{names} {'is' if len(files) == 1 else 'are'} empty.")
        if empty:
            self.notes.append(left_out([file["name"] for file in empty]))
        return [file for file in files if file not in empty]

    def open(self, *, strict: bool = True) -> None:
        """Make the views, over those that were there."""
        self.names = {}
        for file in self.files:
            if file["kind"] == "xlsx" or file["table"] in self.broken:
                continue  # a sheet that nobody asks for, or a file that cannot be read
            with self._leaving_out(file):
                self._add(file, file["place"], strict=strict)
        if not self.names:
            raise UnsupportedContent("There are no rows.", hint="Use a file that holds a table.")
        if self._is_one_file and "data" not in map(str.casefold, self.names):
            name = next(iter(self.names))
            self.connection.execute(f'CREATE OR REPLACE VIEW data AS SELECT * FROM "{name}"')  # noqa: S608

    def convert(self) -> None:
        """Convert what is read in place as CSV.

        Raises:
            TooLarge: a file is too long for that.
        """
        for file in self.files:
            if file["kind"] == "csv" and not file.get("converted"):
                self._convert(file)

    def _lock(self, places: list[str]) -> None:
        """Let DuckDB itself refuse all but some files: a second belt beside the kernel's."""
        listed = ", ".join(f"'{place}'" for place in places)
        for setting in (
            f"threads = {max(min(os.cpu_count() or 1, 4), 1)}",
            f"allowed_paths = [{listed}]",
            "enable_external_access = false",
            "lock_configuration = true",
        ):
            self.connection.execute(f"SET {setting}")

    def select(self, sql: str) -> duckdb.DuckDBPyConnection:
        """Run a statement that DuckDB's own parser calls a SELECT.

        Raises:
            Denied: it is another, or there are several.
        """
        found = self.connection.extract_statements(sql)
        if len(found) != 1 or _type_name(found[0]) != "SELECT":
            kinds = ", ".join(_type_name(statement) for statement in found[:5]) or "nothing"
            raise Denied(
                f"Only one SELECT is run here; this is {kinds}.", hint="Send one SELECT statement."
            )
        return self.connection.execute(found[0])

    def totals(self, sql: str) -> Iterator[str]:
        """What is said where a table that SQL sums ends with the total of its other rows."""
        low = sql.casefold()
        for name, file in self.names.items() if _SUMMING.search(sql) else ():
            is_used = name.casefold() in low or (self._is_one_file and "data" in low)
            if not is_used or file["kind"] != "csv" or file["size"] > MAX_CHECKED_BYTES:
                continue
            cursor = self.connection.execute(
                f'SELECT * FROM "{name}" OFFSET greatest((SELECT count(*) FROM "{name}") - 1, 0)'  # noqa: S608
            )
            columns = [column[0] for column in cursor.description or ()]
            last = cursor.fetchone() or ()
            label = total_label(map(str, last))
            if label < 0 or f"'{last[label]}'".casefold() in low:
                continue
            quoted = ['"' + column.replace('"', '""') + '"' for column in columns]
            sums = ", ".join(f"sum(try_cast({column} AS DOUBLE))" for column in quoted)
            wholes = self.connection.execute(f'SELECT {sums} FROM "{name}"').fetchone() or ()  # noqa: S608
            if any(map(_is_total, last, wholes)):
                yield (
                    f"{file['name']}: the last row is the total of the others, which sums of all "
                    f"rows count as well; WHERE {quoted[label]} <> '{last[label]}' leaves it out."
                )

    def doubtful_dates(self, sql: str, listed: Sequence[str]) -> Iterator[str]:
        """What is said where columns of a question became dates that no date of them settles."""
        words = set(re.findall(r"\w+", sql.casefold()))
        for name, file in self.names.items():
            if not self._is_one_file and name.casefold() not in words:
                continue
            for column, note in file.get("doubtful_dates", {}).items():
                is_used = column in listed or words.issuperset(
                    re.findall(r"\w+", column.casefold())
                )
                if is_used and self._is_date(name, column):
                    yield note

    def _is_date(self, name: str, column: str) -> bool:
        quoted = column.replace('"', '""')
        cursor = self.connection.execute(f'SELECT "{quoted}" FROM "{name}" LIMIT 0')  # noqa: S608
        types = [str(found[1]) for found in cursor.description or ()]
        return types[:1] in (["DATE"], ["TIMESTAMP"])

    def _is_readable(self, file: dict[str, Any]) -> bool:
        """Whether DuckDB can read a file in place, as far as that is seen at once."""
        fd, kind = file["fd"], file["kind"]
        if kind in ("parquet", "json"):
            return True
        head = os.pread(fd, SAMPLE_BYTES, 0)
        packed = head.startswith(GZIP_SIGN)
        plain = kind == "csv" and (packed or charset_of(head).name in ("utf-8", "ascii"))
        return plain and (file["size"] > MAX_CHECKED_BYTES or _quotes_match(fd, file["name"]))

    def _convert_values(self, file: dict[str, Any]) -> None:
        """Convert a file whose values DuckDB reads as others, or say that it is too large."""
        table = sample(file)
        if table is None:
            return
        numbers = has_other_numbers(table)
        is_plain = len(table.columns) > 1 and not table.titles
        if not numbers and is_plain and not has_blanks(file, table):
            return
        packed = os.pread(file["fd"], 2, 0) == GZIP_SIGN
        with suppress(TooLarge):
            if file["size"] <= MAX_CONVERTED_BYTES // (PACKED_RATIO if packed else 1):
                self._convert(file)
                return
        if numbers:
            self.notes.append(
                f"{file['name']} is too large to be converted, so DuckDB reads its numbers: 1.500 "
                "is 1.5, and those in other groups or with units are texts."
            )

    def _convert(self, file: dict[str, Any]) -> None:
        """Write a file into memory as CSV, by our own reader."""

        def converted(by_line: bool) -> tuple[Table, bytes]:
            stream, sheet = stream_of(file["fd"]), file.get("sheet", "")
            table = read_table(stream, file["name"], sheet, by_line=by_line)
            rows = (list(map(as_json_cell, row, table.formats)) for row in _limited(table.rows))
            return table, written_table(table.columns, rows, "csv")

        table, content = by_quotes_or_lines(converted)
        name = f"{file['name']}, {file['sheet']}" if file.get("sheet") else file["name"]
        self._note(name, [*table.notes, *table.guesses.values(), *table.altered])
        view = memoryview(content)
        while view:
            view = view[os.write(file["memory"], view) :]
        file["place"] = f"/proc/self/fd/{file['memory']}"
        file["kind"] = "csv"
        file["converted"] = Table(unique(table.columns), table.formats, iter(()))

    def _note(self, name: str, notes: list[str]) -> None:
        """Remember what is to be known of a file, each once: files may be opened anew."""
        new = [f"{name}: {note}" for note in notes]
        self.notes += [note for note in new if note not in self.notes]

    def _add(self, file: dict[str, Any], place: str, *, strict: bool) -> None:
        name = self._name(file["table"])
        kind = file["kind"]
        if kind == "parquet":
            source = f"read_parquet('{place}')"
        elif kind == "json":
            source = f"read_json_auto('{place}', maximum_object_size=50000000)"
        else:
            source = f"read_csv('{place}'{self._options(file, strict=strict)})"
        self.connection.execute(f'CREATE OR REPLACE VIEW "{name}" AS SELECT * FROM {source}')  # noqa: S608
        self.names[name] = file

    def _options(self, file: dict[str, Any], *, strict: bool) -> str:
        """How DuckDB reads a file: as our own reader does, so that it guesses types alone."""
        converted = file.get("converted")
        table = converted or sample(file)
        options = [] if table is None else dialect(table)
        if not strict:
            options += lenient(table)
            self.notes.append(
                f"{file['name']} is not clean CSV: rows that do not fit are left out."
            )
        elif table is not None:
            names = unique(table.columns)
            file["doubtful_dates"] = Table(names, table.formats, iter(())).doubtful_dates
            options += names_and_types(table)
            if not converted:
                self._note(file["name"], [*table.notes, *table.altered])
        if converted:
            options.append("sample_size=-1")  # a text may stand behind numbers
        if table is not None and not converted and decimal(table) == ",":
            options.append("decimal_separator=','")
        if not converted and os.pread(file["fd"], 2, 0) == GZIP_SIGN:
            options.append("compression='gzip'")
        return "".join(f", {option}" for option in options)

    def _name(self, base: str) -> str:
        known = set(map(str.casefold, self.names))
        return free_name(base, lambda name: name.casefold() in known)


def _plain(name: str) -> str:
    """A name that SQL takes without quotes."""
    return _NOT_NAME.sub("_", name).strip("_") or "data"


def _type_name(statement: duckdb.Statement) -> str:
    try:
        return str(statement.type.name)
    except ValueError:  # one that the Python side has no name for
        return "another"


def _quotes_match(fd: int, name: str) -> bool:
    try:
        for _ in read_table(stream_of(fd), name).rows:
            pass
    except BrokenQuotes:
        return False
    return True


def _limited(rows: Any) -> Any:
    for number, row in enumerate(rows):
        if number >= MAX_CONVERTED_ROWS:
            raise TooLarge("The table is too long to be converted.", hint="Save it as UTF-8 CSV.")
        yield row


def _is_total(last: Any, whole: Any) -> bool:
    """Whether the last cell of a column is the sum of those above it."""
    is_number = isinstance(last, (int, float, Decimal)) and not isinstance(last, bool)
    return bool(is_number and last and whole) and math.isclose(whole, 2 * last, rel_tol=1e-9)


def _is_no_clean_csv(error: Exception) -> bool:
    return any(sign in str(error) for sign in NO_CLEAN_CSV)


def _broken_line(error: duckdb.Error, files: Sequence[dict[str, Any]]) -> str:
    """What our own reader says of JSON that DuckDB cannot read, for it counts lines wrongly."""
    place = _MALFORMED.search(str(error))
    file = next((f for f in files if place is not None and f.get("place") == place[1]), None)
    if file is None or file["size"] > MAX_CHECKED_BYTES:
        return ""
    data = os.pread(file["fd"], file["size"], 0)
    try:
        json_or_lines(charset_of(data[:SAMPLE_BYTES]).decode(data))
    except ValueError as found:
        return f"{file['name']} is not valid JSON: {found}."
    except RecursionError:
        pass
    return ""


def explained(error: duckdb.Error, files: Sequence[dict[str, Any]], names: Any) -> ToolError:
    """What an error of DuckDB means here."""
    broken = _broken_line(error, files)
    if broken:
        return UnsupportedContent(broken, hint="Mend it first.")
    text = " ".join(str(error).replace("\n", " ").split())
    low = text.lower()
    text = text.partition(" LINE 1: CREATE OR REPLACE VIEW")[0]
    real = {file.get("place", ""): file["name"] for file in files}
    text = _PLACE.sub(lambda place: real.get(place[0], "the file"), text)[:400]
    if isinstance(error, duckdb.OutOfMemoryException) or "out of memory" in low:
        return TooLarge("The question needs too much memory.", hint="Filter or aggregate more.")
    if isinstance(error, duckdb.PermissionException) or any(sign in low for sign in _REFUSALS):
        tables = ", ".join(list(names)[:30])
        hint = f"In the SQL, write the name of a table and no path: {tables}."
        return Denied(
            f"DuckDB refuses: {text}", hint=hint if tables else "Only the named files can be read."
        )
    if isinstance(error, duckdb.InvalidInputException) and ("csv" in low or "json" in low):
        return UnsupportedContent(f"A file cannot be read: {text}", hint="Try query_table.")
    tables = ", ".join(list(names)[:30])
    if "(VARCHAR" in text and "No function matches" in text:
        return BadInput(
            f"DuckDB: {text.partition(' Candidate functions')[0]}",
            hint="Texts are no numbers: query_table sums those like 1.234,50; here write "
            "replace(replace(x, '.', ''), ',', '.')::DOUBLE.",
        )
    return BadInput(
        f"DuckDB: {text}", hint=f"The tables are: {tables}. describe_database shows more."
    )
