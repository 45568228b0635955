"""Filter, group, sort and cut a table without SQL. A worker's child runs it."""

from __future__ import annotations

import io
import math
import os
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from heapq import nsmallest
from itertools import chain, islice
from typing import Any, BinaryIO

from toolcrib.core.errors import BadInput, TooLarge, UnsupportedContent
from toolcrib.data.formats import written_table
from toolcrib.data.table_columns import TableColumns, as_number
from toolcrib.data.table_filter import Predicate, predicate_of
from toolcrib.data.tables import (
    SAMPLE_BYTES,
    Table,
    by_quotes_or_lines,
    is_empty,
    left_out,
    read_table,
    stream_of,
    total_label,
)
from toolcrib.text.display import counted, some_of
from toolcrib.text.values import (
    Cell,
    ColumnFormat,
    NumberFormat,
    as_json_cell,
    date_key,
    displayed,
    is_missing,
)

MAX_GROUPS = 100_000
MAX_SAVED_ROWS = 5_000_000
FILE_COLUMN = "file"
_CALL = re.compile(r"\s*(\w+)\s*(?:\(\s*(.*?)\s*\)|\s(.+))?\s*", re.DOTALL)
_AGGREGATES = {"avg": "mean", "average": "mean", "total": "sum", "minimum": "min", "maximum": "max"}
FUNCTIONS = ("sum", "mean", "min", "max", "count", "distinct")


@dataclass(frozen=True, slots=True)
class TableRequest:
    """What is asked of a table; see the tool `query_table`.

    `drawn` is for charts: numbers as such, and of more rows than `limit`, so many taken evenly.
    """

    filter: str = ""
    columns: Sequence[str] = ()
    group: Sequence[str] = ()
    aggregate: Sequence[str] = ()
    sort: str = ""
    limit: int = 100
    sheet: str = ""
    save_as: str = ""
    drawn: bool = False


def prepare() -> None:
    """Load what is loaded late."""
    from toolcrib.files.content.kinds import load_codecs

    load_codecs()
    "\u00e9".encode("cp1252")
    read, write = os.pipe()
    os.write(write, "a;b\né;1,5\n".encode("cp1252"))
    os.close(write)
    with os.fdopen(read, "rb", buffering=0) as stream:
        list(read_table(stream, "x.csv").rows)


def query(request: dict[str, Any], data: bytes) -> tuple[dict[str, Any], bytes]:
    """The answer over open files.

    Args:
        request: `files`, each with its name, size and descriptor, and the fields of
            `TableRequest`.
        data: the contents of the files, one after the other, where they are small.

    Returns:
        Columns with types, rows, how many matched; and all of it as a file, where `save_as`
        names a format.

    Raises:
        BadInput: a column or an expression is wrong.
        UnsupportedContent, TooLarge: a file is.
    """
    files = request.pop("files")
    wanted = TableRequest(**request)
    return by_quotes_or_lines(
        lambda by_line: _answered(_joined(files, data, wanted, by_line=by_line), wanted)
    )


def _streams(files: list[dict[str, Any]], data: bytes) -> Iterator[BinaryIO]:
    at = 0
    for file in files:
        if data:
            yield io.BytesIO(data[at : at + file["size"]])
            at += file["size"]
        else:
            yield stream_of(file["fd"])


def _joined(
    files: list[dict[str, Any]], data: bytes, wanted: TableRequest, *, by_line: bool
) -> Table:
    tables, empty = [], []
    for file, stream in zip(files, _streams(files, data), strict=True):
        if len(files) > 1 and is_empty(stream.read(SAMPLE_BYTES)):
            empty.append(file["name"])
            continue
        stream.seek(0)
        table = read_table(stream, file["name"], wanted.sheet, by_line=by_line)
        tables.append((table, file["name"]))
    if not tables:
        raise UnsupportedContent(f"{some_of(empty)} are empty.")
    if len(files) == 1:
        return tables[0][0]
    whole = _whole(tables)
    if empty:
        whole.notes.append(left_out(empty))
    return whole


def _whole(named: list[tuple[Table, str]]) -> Table:
    """Tables of several files as one, with a column that names the file."""
    tables = [table for table, _ in named]
    columns = list(dict.fromkeys(chain.from_iterable(table.columns for table in tables)))
    formats: dict[str, ColumnFormat] = {}
    for table in tables:
        for name, form in zip(table.columns, table.formats, strict=True):
            known = formats.get(name)
            formats[name] = form if known is None or known.type == "empty" else _wider(known, form)
    whole = Table(
        [*columns, FILE_COLUMN],
        [*(formats[name] for name in columns), ColumnFormat("text", NumberFormat())],
        iter(()),
    )
    whole.rows = _all_rows(whole, tables, [name for _, name in named])
    return whole


def _wider(one: ColumnFormat, other: ColumnFormat) -> ColumnFormat:
    types = {one.type, other.type} - {"empty"}
    if len(types) == 1:  # dates of one file may leave no doubt, and others do not follow
        day_first = one.day_first or other.day_first
        month_first = (one.month_first or other.month_first) and not day_first
        order = day_first, month_first
        return one if (one.day_first, one.month_first) == order else other
    return replace(one, type="number" if types == {"integer", "number"} else "text")


def _all_rows(whole: Table, tables: list[Table], names: list[str]) -> Iterator[Sequence[Cell]]:
    """The rows of several tables, numbers in the form of the first, dates in one order."""
    for table, name in zip(tables, names, strict=True):
        places = {column: n for n, column in enumerate(table.columns)}
        take = [places.get(column, -1) for column in whole.columns[:-1]]
        same = [
            n < 0 or table.formats[n].numbers == whole.formats[k].numbers
            for k, n in enumerate(take)
        ]
        american = {
            k: whole.columns[k]
            for k, n in enumerate(take)
            if n >= 0 and table.formats[n].month_first and not whole.formats[k].month_first
        }
        for row in table.rows:
            cells: list[Cell] = [row[n] if n >= 0 else "" for n in take]
            if not all(same):
                for k, alike in enumerate(same):
                    if not alike:
                        number = as_number(cells[k], table.formats[take[k]].numbers)
                        cells[k] = cells[k] if number is None else number
            for k in american:
                cells[k] = date_key(displayed(cells[k]), month_first=True) or cells[k]
            yield [*cells, name]
        whole.notes += [f"{name}: {note}" for note in table.notes]
        for column in american.values():
            whole.notes.append(f"{name}: {column} has month/day/year, given as year-month-day")


def _answered(table: Table, wanted: TableRequest) -> tuple[dict[str, Any], bytes]:
    columns, guesses, doubtful = TableColumns(table), table.guesses, table.doubtful_dates
    counts = _Counts()
    rows = counts.over(table.rows, predicate_of(wanted.filter, columns, table.notes))
    grouped = bool(wanted.group or wanted.aggregate)
    if grouped:
        table, rows = _grouped(table, rows, columns, wanted)
        columns = TableColumns(table)
    ordered = [columns.names[place] for place, _, _ in _sort_parts(wanted.sort, columns)]
    table.notes += _new_notes(table.notes, [doubtful.get(name, "") for name in ordered])
    places = columns.places(wanted.columns) or list(range(len(table.columns)))
    limit = MAX_SAVED_ROWS if wanted.save_as else wanted.limit
    selected = _even(rows, limit) if wanted.drawn else _sorted(rows, columns, wanted.sort, limit)
    found = [[row[n] for n in places] for row in selected]
    formats = [table.formats[n] for n in places]
    stored = found
    if wanted.drawn or wanted.save_as in ("json", "jsonl", "rows"):
        stored = [list(map(as_json_cell, row, formats)) for row in found]
    if wanted.drawn:
        found = stored
    listed = [
        {"name": table.columns[n], "type": table.formats[n].type, "note": table.formats[n].note}
        for n in places
    ]
    for _ in rows:  # count the rest
        pass
    total = len(found) if grouped else counts.matched if table.columns else 0
    saved = b""
    if wanted.save_as:
        saved = written_table([table.columns[n] for n in places], stored, wanted.save_as)
    answer = {
        "columns": listed,
        "rows": found[: wanted.limit],
        "total": total,
        "matched": counts.matched,
        "scanned": counts.scanned,
        "notes": [
            *table.notes,
            *(table.altered if stored is not found else ()),
            *_hidden(guesses, {each["name"] for each in listed}, wanted),
        ],
        "saved_rows": len(found) if wanted.save_as else 0,
    }
    return answer, saved


def _new_notes(known: Collection[str], notes: Sequence[str]) -> list[str]:
    """Notes that are none of those that are known, each once."""
    return [note for note in dict.fromkeys(notes) if note and note not in known]


def _hidden(
    guesses: Mapping[str, str], displayed: Collection[str], wanted: TableRequest
) -> list[str]:
    """The guesses that count for an answer in which their columns, with their notes, are not."""
    asks = (wanted.filter, wanted.sort, *wanted.group, *wanted.aggregate)
    text = " ".join(asks).casefold()
    return [
        note
        for name, note in guesses.items()
        if wanted.drawn or (name not in displayed and name.casefold() in text)
    ]


class _Counts:
    """How many rows were looked at, and how many fit."""

    def __init__(self) -> None:
        self.scanned = self.matched = 0

    def over(
        self, rows: Iterator[Sequence[Cell]], test: Predicate | None
    ) -> Iterator[Sequence[Cell]]:
        for row in rows:
            self.scanned += 1
            if test is None or test(row):
                self.matched += 1
                yield row


def _even(rows: Iterator[Sequence[Cell]], limit: int) -> list[Sequence[Cell]]:
    """At most so many rows, taken evenly, though nobody knows how many there are."""
    found: list[Sequence[Cell]] = []
    step = 1
    for number, row in enumerate(rows):
        if number % step:
            continue
        found.append(row)
        if len(found) == 2 * limit:
            found, step = found[::2], 2 * step
    size = len(found)
    return found if size <= limit else [found[n * size // limit] for n in range(limit)]


def _sorted(
    rows: Iterator[Sequence[Cell]], columns: TableColumns, sort: str, limit: int
) -> Iterator[Sequence[Cell]] | list[Sequence[Cell]]:
    """The first rows in an order like `amount desc, name`; memory is taken for those alone."""
    parts = _sort_parts(sort, columns)
    if not parts:
        return islice(rows, limit)

    def key(row: Sequence[Cell]) -> list[Any]:
        return [_sort_key(row[place], form, descending) for place, form, descending in parts]

    return nsmallest(limit, rows, key=key)


def _sort_parts(sort: str, columns: TableColumns) -> list[tuple[int, ColumnFormat, bool]]:
    """The columns of an order, what they hold, and whether they go down."""
    parts = []
    for text in sort.split(",") if sort.strip() else ():
        words = text.strip()
        name, _, direction = words.rpartition(" ")
        descending = direction.lower() in ("desc", "descending", "down")
        if not descending and direction.lower() not in ("asc", "ascending", "up"):
            name = words
        if words.startswith("-") and words not in columns.names:
            name, descending = words[1:], True
        place = columns.place(name or words)
        parts.append((place, columns.formats[place], descending))
    return parts


class _Reversed(str):
    """A text that sorts before those that it is greater than."""

    __slots__ = ()

    def __lt__(self, other: str) -> bool:
        return str.__gt__(self, other)


def _sort_key(cell: Cell, form: ColumnFormat, descending: bool) -> tuple[int, float, str]:
    """Numbers before texts before what is missing, in either direction."""
    number = None if form.type in ("text", "date") else as_number(cell, form.numbers)
    if number is not None:
        return 0, -number if descending else number, ""
    text = displayed(cell)
    if is_missing(text):
        return 2, 0.0, ""
    text = form.moment(text) or text.casefold()
    return 1, 0.0, _Reversed(text) if descending else text


class _Sum:
    """One aggregate of one group.

    `others` counts values that are no numbers, and `other` is the first of them.
    """

    __slots__ = (
        *("_form", "_function", "_numbers", "_place", "_whole", "best", "count"),
        *("has_dates", "has_numbers", "other", "others", "seen"),
    )

    def __init__(self, function: str, place: int, form: ColumnFormat) -> None:
        self._function, self._place, self._form = function, place, form
        self._numbers: list[float] = []
        self._whole = 0
        self.count = 0
        self.best: tuple[tuple[int, float, str], Cell] | None = None
        self.seen: set[str] = set()
        self.has_numbers, self.others, self.other = False, 0, ""
        self.has_dates = form.type == "date"

    def add(self, row: Sequence[Cell]) -> None:
        if self._place < 0:
            self.count += 1
            return
        cell = row[self._place]
        if cell is None or (isinstance(cell, str) and is_missing(cell)):
            return
        if self._function == "distinct":
            self.seen.add(displayed(cell))
            if len(self.seen) > MAX_GROUPS:
                raise TooLarge(f"More than {MAX_GROUPS:,} different values.", hint="Filter first.")
        elif self._function in ("min", "max"):
            if self.has_dates and not self._form.moment(displayed(cell)):
                self._tell_kind(None, cell)
                return
            if self._form.type == "text" and not (self.has_numbers and self.other):
                self._tell_kind(as_number(cell, self._form.numbers), cell)
            key = _sort_key(cell, self._form, self._function == "max")
            if self.best is None or key < self.best[0]:
                self.best = key, cell
        elif self._function == "count":
            self.count += 1
        else:
            number = as_number(cell, self._form.numbers)
            self._tell_kind(number, cell)
            self._add_number(number)

    def _tell_kind(self, number: float | None, cell: Cell) -> None:
        if number is not None:
            self.has_numbers = True
        else:
            self.others += 1
            self.other = self.other or displayed(cell)

    def _add_number(self, number: float | None) -> None:
        if isinstance(number, int):
            self._whole += number
            self.count += 1
        elif number is not None and math.isfinite(number):
            self._numbers.append(number)
            self.count += 1
            if len(self._numbers) > 4096:
                self._numbers = [math.fsum(self._numbers)]

    def value(self) -> Cell:
        if self._function == "distinct":
            return len(self.seen)
        if self._function == "count":
            return self.count
        if self._function in ("min", "max"):
            cell = self.best[1] if self.best else None
            number = None if cell is None else as_number(cell, self._form.numbers)
            return number if number is not None and self._form.type != "text" else cell
        total = math.fsum(self._numbers) + self._whole if self._numbers else self._whole
        if self._function == "sum":
            return total if self.count else None
        return total / self.count if self.count else None


def _grouped(
    table: Table, rows: Iterator[Sequence[Cell]], columns: TableColumns, wanted: TableRequest
) -> tuple[Table, Iterator[Sequence[Cell]]]:
    places = columns.places(wanted.group)
    texts = chain.from_iterable(columns.aggregates(text) for text in wanted.aggregate)
    sums = [_aggregate(text, columns) for text in texts] or [_aggregate("count", columns)]
    groups: dict[tuple[str, ...], list[_Sum]] = {}

    def new_group() -> list[_Sum]:
        return [_Sum(function, place, columns.formats[place]) for function, place, _ in sums]

    row: Sequence[Cell] = ()
    for row in rows:
        key = tuple(displayed(row[place]) for place in places)
        group = groups.get(key)
        if group is None:
            if len(groups) >= MAX_GROUPS:
                raise TooLarge(f"There are more than {MAX_GROUPS:,} groups.", hint="Filter first.")
            group = groups[key] = new_group()
        for part in group:
            part.add(row)
    extremes = [columns.names[n] for function, n, _ in sums if function in ("min", "max")]
    notes = [columns.doubtful_dates.get(name, "") for name in extremes]
    table.notes += _new_notes(table.notes, notes)
    table.notes += _mixed(sums, groups.values())
    table.notes += _alike(groups)
    if () in groups:
        table.notes += _counting_total(row, sums, groups[()], columns)
    if not groups and not places:
        groups[()] = new_group()
    names = [*(columns.names[place] for place in places), *(title for _, _, title in sums)]
    formats = [replace(columns.formats[place], note="") for place in places]
    formats += [_format_of(function, columns.formats[place]) for function, place, _ in sums]
    values = [[*key, *(part.value() for part in group)] for key, group in groups.items()]
    found = Table(names, formats, iter(values), table.notes)
    return found, found.rows


def _alike(groups: Collection[tuple[str, ...]]) -> Iterator[str]:
    """What is said of groups that a filter takes for one."""
    known: dict[tuple[str, ...], tuple[str, ...]] = {}
    for key in groups:
        other = known.setdefault(tuple(part.strip().casefold() for part in key), key)
        if other is not key:
            one, two = (f'"{", ".join(parts)[:40]}"' for parts in (other, key))
            yield f"Groups that differ in case or blanks alone stand apart: {one}, {two}."
            return


def _format_of(function: str, form: ColumnFormat) -> ColumnFormat:
    """What an aggregate of a column holds: the least and the greatest may be no numbers."""
    is_own = function in ("min", "max") and form.type in ("date", "boolean", "text")
    return form if is_own else ColumnFormat("number", NumberFormat())


def _mixed(
    sums: Sequence[tuple[str, int, str]], groups: Collection[Sequence[_Sum]]
) -> Iterator[str]:
    """What became of values that are no numbers, where others of the column are."""
    for number, (function, _, title) in enumerate(sums):
        parts = [group[number] for group in groups]
        other = next((part.other for part in parts if part.other), "")
        if not other:
            continue
        is_extreme = function in ("min", "max")
        if not is_extreme or parts[0].has_dates:
            kind = "date" if is_extreme else "number"
            count = counted(sum(part.others for part in parts), "value")
            yield f"{title} leaves out what is no {kind} ({count}, such as {other[:40]})."
        elif any(part.has_numbers for part in parts):
            yield f"{title} compares texts: some values are no numbers (such as {other[:40]})."


def _counting_total(
    last: Sequence[Cell],
    sums: Sequence[tuple[str, int, str]],
    parts: Sequence[_Sum],
    columns: TableColumns,
) -> Iterator[str]:
    """What is said where the last row is the total of the others and was counted, too."""
    label = total_label(map(displayed, last))
    for (function, place, title), part in zip(sums, parts, strict=True):
        if label < 0 or function not in ("sum", "mean"):
            continue
        own, value = as_number(last[place], columns.formats[place].numbers), part.value()
        whole = float(value or 0) * (part.count if function == "mean" else 1)
        if own and part.count > 2 and math.isclose(whole, 2 * own, rel_tol=1e-9):
            name, text = columns.names[label], displayed(last[label]).strip()
            yield (
                f"{title} counts the last row too, which is the total of the others: "
                f'filter="{name} != {text}" leaves it out.'
            )


def _aggregate(text: str, columns: TableColumns) -> tuple[str, int, str]:
    """The function of an aggregate like `sum(amount)`, its column, and how it is headed."""
    match = _CALL.fullmatch(text)
    name = match[1].lower() if match else ""
    name = _AGGREGATES.get(name, name)
    if match is None or name not in FUNCTIONS:
        raise BadInput(
            f"There is no aggregate {text.strip()[:80]}.",
            hint=f'Write "sum(amount)" or "count". There are: {", ".join(FUNCTIONS)}. '
            "query_database has others, names for them and joins, by SQL.",
        )
    column = (match[2] or match[3] or "").strip()
    if name == "count" and column in ("", "*"):
        return name, -1, "count"
    if not column:
        raise BadInput(f"{name} of which column?", hint=f'Write "{name}(column)".')
    place = columns.place(column)
    return name, place, f"{name}({columns.names[place]})"
