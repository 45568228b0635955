"""Filter, group, sort and cut a table without SQL. A worker's child runs it."""

from __future__ import annotations

import io
import math
import os
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from heapq import nsmallest
from itertools import chain, islice
from typing import Any, BinaryIO

from toolcrib.core.errors import BadInput, TooLarge
from toolcrib.data.formats import written_table
from toolcrib.data.tables import BrokenQuotes, Table, read_table
from toolcrib.data.values import (
    NUMERIC,
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
OPERATORS = (
    "= != > < >= <= contains, 'not contains', 'starts with', in (a, b), 'between a and b', "
    "'is empty'"
)
_QUOTED = r"\"[^\"]*\"|'[^']*'"
_JOIN = re.compile(rf"({_QUOTED})|\s+(and|or)\s+", re.IGNORECASE)
_CONDITION = re.compile(
    rf"\s*({_QUOTED}|.+?)\s*"
    r"(!=|<>|>=|<=|==|=|>|<|\bnot\s+contains\b|\bcontains\b|\bstarts\s+with\b|\bis\s+not\s+empty\b"
    r"|\bis\s+empty\b|\bnot\s+in\b|\bin\b|\bnot\s+between\b|\bbetween\b)\s*(.*?)\s*",
    re.IGNORECASE | re.DOTALL,
)
_BETWEEN = re.compile(
    rf"\b(between)\s+({_QUOTED}|.+?)\s+and\s+({_QUOTED}|(?:(?!\s(?:and|or)\s).)+)|{_QUOTED}",
    re.IGNORECASE | re.DOTALL,
)
_CALL = re.compile(r"\s*(\w+)\s*(?:\(\s*(.*?)\s*\)|\s(.+))?\s*", re.DOTALL)
_AGGREGATES = {"avg": "mean", "average": "mean", "total": "sum", "minimum": "min", "maximum": "max"}
_COMMA = re.compile(r",(?![^(]*\))")
FUNCTIONS = ("sum", "mean", "min", "max", "count", "distinct")
Predicate = Callable[[Sequence[Cell]], bool]


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
    try:
        return _answered(_joined(files, data, wanted, by_line=False), wanted)
    except BrokenQuotes:
        return _answered(_joined(files, data, wanted, by_line=True), wanted)


def _streams(files: list[dict[str, Any]], data: bytes) -> Iterator[BinaryIO]:
    at = 0
    for file in files:
        if data:
            yield io.BytesIO(data[at : at + file["size"]])
            at += file["size"]
        else:
            os.lseek(file["fd"], 0, os.SEEK_SET)
            yield os.fdopen(file["fd"], "rb", buffering=0, closefd=False)


def _joined(
    files: list[dict[str, Any]], data: bytes, wanted: TableRequest, *, by_line: bool
) -> Table:
    tables = [
        read_table(stream, file["name"], wanted.sheet, by_line=by_line)
        for file, stream in zip(files, _streams(files, data), strict=True)
    ]
    if len(tables) == 1:
        return tables[0]
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
    whole.rows = _all_rows(whole, tables, [file["name"] for file in files])
    return whole


def _wider(one: ColumnFormat, other: ColumnFormat) -> ColumnFormat:
    types = {one.type, other.type} - {"empty"}
    if len(types) == 1:  # dates of one file may leave no doubt, and others do not follow
        day_first = one.day_first or other.day_first
        month_first = (one.month_first or other.month_first) and not day_first
        form = one if one.month_first == month_first else other
        return replace(form, month_first=month_first, day_first=day_first)
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


def as_number(cell: Cell, form: NumberFormat) -> int | float | None:
    """The number that a cell holds, if any."""
    if isinstance(cell, str):
        return form.parse(cell) if cell else None
    return cell if isinstance(cell, int | float) else None


class _Columns:
    """The columns of a table by what a caller calls them."""

    def __init__(self, table: Table) -> None:
        self.names = table.columns
        self.formats = table.formats
        self._places = {name.casefold(): n for n, name in reversed(list(enumerate(self.names)))}
        self._places |= {name: n for n, name in enumerate(self.names)}

    def place(self, name: str) -> int:
        """Raises BadInput where there is no such column."""
        bare = name.strip()
        if len(bare) > 1 and bare[0] in "\"'`[" and bare[-1] in "\"'`]":
            bare = bare[1:-1]
        for spelling in (bare, bare.casefold()):
            if spelling in self._places:
                return self._places[spelling]
        near = get_close_matches(bare, self.names, 1, 0.6)
        guess = f" Did you mean {near[0]}?" if near else ""
        listed_names = ", ".join(self.names[:60]) + (" …" if len(self.names) > 60 else "")
        raise BadInput(
            f"There is no column {bare[:80]}.{guess}",
            hint=f"The columns are: {listed_names}",
            unknown_columns=[bare[:80]],
        )

    def places(self, names: Sequence[str]) -> list[int]:
        """The columns of a list, of which one text may name several: `city, amount`.

        Raises:
            BadInput: there is no such column.
        """
        found = []
        for name in names:
            parts = [name] if self._is_one(name) else name.split(",")
            found += [self.place(part) for part in parts if part.strip()]
        return found

    def aggregates(self, text: str) -> list[str]:
        """Those that one text names, unless what it names is a column with a comma."""
        name = text.strip().removesuffix(")").partition("(" if "(" in text else " ")[2]
        return [text] if name.strip().casefold() in self._places else _COMMA.split(text)

    def _is_one(self, name: str) -> bool:
        bare = name.strip()
        return "," not in bare or bare[0] in "\"'`[" or bare.casefold() in self._places


def predicate_of(text: str, columns: _Columns) -> Predicate | None:
    """Whether a row fits a filter; `and` binds closer than `or`.

    Raises:
        BadInput: it cannot be read, or names no column.
    """
    if not text.strip():
        return None
    text = _BETWEEN.sub(lambda m: f"{m[1]} {m[2]}\0{m[3]}" if m[1] else m[0], text)
    groups: list[list[Predicate]] = [[]]
    start = 0
    for found in chain(_JOIN.finditer(text), (None,)):
        if found is not None and not found[2]:
            continue
        groups[-1].append(_condition(text[start : found.start() if found else None], columns))
        if found is not None:
            start = found.end()
            if found[2].lower() == "or":
                groups.append([])
    if len(groups) == 1 and len(groups[0]) == 1:
        return groups[0][0]
    return lambda row: any(all(test(row) for test in group) for group in groups)


def _condition(text: str, columns: _Columns) -> Predicate:
    match = _CONDITION.fullmatch(text)
    if match is None:
        raise _unreadable(text)
    place = columns.place(match[1])
    operator = " ".join(match[2].lower().split())
    form, value = columns.formats[place], match[3]
    if operator.endswith("empty"):
        empty = operator == "is empty"
        return lambda row: is_missing(displayed(row[place])) == empty
    if operator.endswith("in"):
        values = [_bare(v) for v in re.findall(rf"{_QUOTED}|[^,]+", value.strip("()[] "))]
        tests = [_comparison("=", place, form, item) for item in values]
        inside = operator == "in"
        return lambda row: any(test(row) for test in tests) == inside
    if operator.endswith("between"):
        low, both, high = value.partition("\0")
        if not both:
            raise _unreadable(text)
        above = _comparison(">=", place, form, _bare(low))
        below = _comparison("<=", place, form, _bare(high))
        between = operator == "between"
        return lambda row: (above(row) and below(row)) == between
    return _comparison(operator, place, form, _bare(value))


def _unreadable(condition: str) -> BadInput:
    return BadInput(
        f"The filter cannot be read: {condition.strip()[:100]}",
        hint=f'Write it like: city = Berlin and "net amount" >= 10. Operators: {OPERATORS}.',
    )


def _bare(value: str) -> str:
    value = value.strip()
    quoted = len(value) > 1 and value[0] == value[-1] and value[0] in "\"'"
    return value[1:-1] if quoted else value


_COMPARED: dict[str, Callable[[Any, Any], bool]] = {
    "=": lambda a, b: a == b,
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "<>": lambda a, b: a != b,
    ">": lambda a, b: a > b,
    "<": lambda a, b: a < b,
    ">=": lambda a, b: a >= b,
    "<=": lambda a, b: a <= b,
}


def _comparison(operator: str, place: int, form: ColumnFormat, value: str) -> Predicate:
    low = value.casefold()
    if operator == "contains":
        return lambda row: low in displayed(row[place]).casefold()
    if operator == "not contains":
        return lambda row: low not in displayed(row[place]).casefold()
    if operator == "starts with":
        return lambda row: displayed(row[place]).casefold().startswith(low)
    compare, unequal = _COMPARED[operator], operator in ("!=", "<>")
    if form.type in NUMERIC or (form.type == "text" and operator in ("<", ">", "<=", ">=")):
        limit = NumberFormat().parse(value)
        limit = form.numbers.parse(value) if limit is None else limit
        if limit is not None:

            def of_numbers(row: Sequence[Cell]) -> bool:
                number = as_number(row[place], form.numbers)
                return unequal if number is None else compare(number, limit)

            return of_numbers
    key = form.moment(value)
    if key:

        def of_moments(row: Sequence[Cell]) -> bool:
            found = form.moment(displayed(row[place]))
            return unequal if not found else compare(found[: len(key)], key)

        return of_moments
    return lambda row: compare(displayed(row[place]).strip().casefold(), low)


def _answered(table: Table, wanted: TableRequest) -> tuple[dict[str, Any], bytes]:
    columns, guesses = _Columns(table), table.guesses
    counts = _Counts()
    rows = counts.over(table.rows, predicate_of(wanted.filter, columns))
    if wanted.group or wanted.aggregate:
        table, rows = _grouped(table, rows, columns, wanted)
        columns = _Columns(table)
    places = columns.places(wanted.columns) or list(range(len(table.columns)))
    limit = MAX_SAVED_ROWS if wanted.save_as else wanted.limit
    selected = _even(rows, limit) if wanted.drawn else _sorted(rows, columns, wanted.sort, limit)
    found = [[row[n] for n in places] for row in selected]
    if wanted.drawn:
        formats = [table.formats[n] for n in places]
        found = [list(map(as_json_cell, row, formats)) for row in found]
    listed = [
        {"name": table.columns[n], "type": table.formats[n].type, "note": table.formats[n].note}
        for n in places
    ]
    for _ in rows:  # count the rest
        pass
    total = len(table.columns) and (counts.results or counts.matched)
    saved = b""
    if wanted.save_as:
        saved = written_table([table.columns[n] for n in places], found, wanted.save_as)
    answer = {
        "columns": listed,
        "rows": found[: wanted.limit],
        "total": total if not (wanted.group or wanted.aggregate) else len(found),
        "matched": counts.matched,
        "scanned": counts.scanned,
        "notes": [*table.notes, *_hidden(guesses, {each["name"] for each in listed}, wanted)],
        "saved_rows": len(found) if wanted.save_as else 0,
    }
    return answer, saved


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
        self.scanned = self.matched = self.results = 0

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
    rows: Iterator[Sequence[Cell]], columns: _Columns, sort: str, limit: int
) -> Iterator[Sequence[Cell]] | list[Sequence[Cell]]:
    """The first rows in an order like `amount desc, name`; memory is taken for those alone."""
    if not sort.strip():
        return islice(rows, limit)
    parts = []
    for text in sort.split(","):
        words = text.strip()
        name, _, direction = words.rpartition(" ")
        descending = direction.lower() in ("desc", "descending", "down")
        if not descending and direction.lower() not in ("asc", "ascending", "up"):
            name = words
        if words.startswith("-") and words not in columns.names:
            name, descending = words[1:], True
        place = columns.place(name or words)
        parts.append((place, columns.formats[place], descending))

    def key(row: Sequence[Cell]) -> list[Any]:
        return [_sort_key(row[place], form, descending) for place, form, descending in parts]

    return nsmallest(limit, rows, key=key)


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
    """One aggregate of one group."""

    __slots__ = ("_form", "_function", "_numbers", "_place", "_whole", "best", "count", "seen")

    def __init__(self, function: str, place: int, form: ColumnFormat) -> None:
        self._function, self._place, self._form = function, place, form
        self._numbers: list[float] = []
        self._whole = 0
        self.count = 0
        self.best: tuple[tuple[int, float, str], Cell] | None = None
        self.seen: set[str] = set()

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
            key = _sort_key(cell, self._form, self._function == "max")
            if self.best is None or key < self.best[0]:
                self.best = key, cell
        elif self._function == "count":
            self.count += 1
        else:
            self._add_number(as_number(cell, self._form.numbers))

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
    table: Table, rows: Iterator[Sequence[Cell]], columns: _Columns, wanted: TableRequest
) -> tuple[Table, Iterator[Sequence[Cell]]]:
    places = columns.places(wanted.group)
    texts = chain.from_iterable(columns.aggregates(text) for text in wanted.aggregate)
    sums = [_aggregate(text, columns) for text in texts] or [_aggregate("count", columns)]
    groups: dict[tuple[str, ...], list[_Sum]] = {}
    for row in rows:
        key = tuple(displayed(row[place]) for place in places)
        group = groups.get(key)
        if group is None:
            if len(groups) >= MAX_GROUPS:
                raise TooLarge(f"There are more than {MAX_GROUPS:,} groups.", hint="Filter first.")
            group = groups[key] = [
                _Sum(function, place, columns.formats[place]) for function, place, _ in sums
            ]
        for part in group:
            part.add(row)
    if not groups and not places:
        groups[()] = [_Sum(f, p, columns.formats[p]) for f, p, _ in sums]
    form = ColumnFormat("number", NumberFormat())
    ends = {"date", "boolean", "text"}  # of which the least and the greatest are of their kind
    key_formats = [
        replace(columns.formats[p], type=columns.formats[p].type, note="") for p in places
    ]
    found = Table(
        [*(columns.names[place] for place in places), *(title for _, _, title in sums)],
        [
            *key_formats,
            *(
                columns.formats[place]
                if function in ("min", "max") and columns.formats[place].type in ends
                else form
                for function, place, _ in sums
            ),
        ],
        iter([[*key, *(part.value() for part in group)] for key, group in groups.items()]),
        table.notes,
    )
    return found, found.rows


def _aggregate(text: str, columns: _Columns) -> tuple[str, int, str]:
    """The function of an aggregate like `sum(amount)`, its column, and how it is headed."""
    match = _CALL.fullmatch(text)
    name = match[1].lower() if match else ""
    name = _AGGREGATES.get(name, name)
    if match is None or name not in FUNCTIONS:
        raise BadInput(
            f"There is no aggregate {text.strip()[:80]}.",
            hint=f'Write "sum(amount)" or "count". There are: {", ".join(FUNCTIONS)}.',
        )
    column = (match[2] or match[3] or "").strip()
    if name == "count" and column in ("", "*"):
        return name, -1, "count"
    if not column:
        raise BadInput(f"{name} of which column?", hint=f'Write "{name}(column)".')
    place = columns.place(column)
    return name, place, f"{name}({columns.names[place]})"
