"""Tables as XLSX, by xlsxwriter. Another process, a child, runs this module."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from toolcrib.core.errors import BadInput, TooLarge
from toolcrib.documents.writers.blocks import blocks_of, plain
from toolcrib.text.values import (
    DAY_OR_MONTH,
    NUMERIC,
    ColumnFormat,
    column_format,
    date_key,
    is_missing,
)

MAX_ROWS = 1_048_576
MAX_COLUMNS = 16_384
MAX_CELL_CHARS = 32_767
MAX_NAME_CHARS = 31
MAX_WIDTH = 60
"""Of a column, in characters."""
MEASURED_ROWS = 200
MAX_NOTED, MAX_NOTE_CHARS = 3, 60
"""Parts that a note names, and characters of each."""


@dataclass(frozen=True, slots=True)
class FormattedCell:
    """A number or a date, the number format that displays it as it was written, and that text."""

    value: int | float | datetime
    code: str
    text: str


Cell = str | int | float | bool | None | FormattedCell
Sheets = list[tuple[str, list[list[Cell]]]]
_NUMBER = re.compile(r"-?(?:0|[1-9]\d{0,14})(?:\.\d{1,12})?")
MAX_DIGITS = 15
MAX_WHOLE = 10**MAX_DIGITS
"""Whole numbers from here on lose digits in a spreadsheet; as texts they do not."""
FIRST_YEAR = 1901
"""Spreadsheets have no dates before 1900, and count that year in two ways."""
_AMOUNT = re.compile(
    r"[-+(\u2212]*(?P<before>[^-+(\u2212\d.,]*)[-+\u2212]?(?P<digits>\d[\d.,'\u2019\s]*(?<!\s)|[.,]\d+)"
    r"(?P<after>[^\d)]*)\)?"
)
_LIKE_A_PHONE = re.compile(r"\d+(?:\s\d+)+")
_PLAIN_MOMENT = re.compile(r"\d+([-./])\d+\1\d+(?:[T ,]+\d+:\d\d(?::\d\d)?)?")
_NOT_IN_NAMES = re.compile(r"[\[\]:*?/\\]")


def prepare() -> None:
    """Load the library."""
    create({"title": ""}, b"|a|b|\n|-|-|\n|1.50|2026-01-31|")


def create(request: dict[str, Any], data: bytes) -> tuple[dict[str, Any], bytes]:
    """The workbook; `request` has `title`, and `dates` where texts of rows may be dates.

    Raises:
        BadInput: the content has no table.
        TooLarge: it has more rows, columns or characters than such a file can hold.
    """
    import xlsxwriter  # type: ignore[import-untyped]

    buffer = io.BytesIO()
    # No formulas and no links: what is written is what was sent. No files of its own either.
    options = {"in_memory": True, "strings_to_formulas": False, "strings_to_urls": False,
               "strings_to_numbers": False, "nan_inf_to_errors": True}  # fmt: skip
    book = xlsxwriter.Workbook(buffer, options)
    book.set_properties({"title": request["title"]})
    bold = book.add_format({"bold": True})
    names: set[str] = set()
    styles: dict[str, Any] = {}
    notes: list[str] = []
    sheets = _sheets(data.decode(), notes, dates=request.get("dates", False))
    for name, rows in sheets:
        sheet = book.add_worksheet(_free_name(name, names))
        sheet.freeze_panes(1, 0)
        for number, width in enumerate(_widths(rows)):
            sheet.set_column(number, number, width)
        for number, row in enumerate(rows):
            for place, value in enumerate(row):
                if isinstance(value, FormattedCell):
                    if value.code not in styles:
                        styles[value.code] = book.add_format({"num_format": value.code})
                    sheet.write(number, place, value.value, styles[value.code])
                elif value is not None:
                    sheet.write(number, place, value, None if number else bold)
    book.close()
    return {"notes": [*_left_out(data.decode()), *_formulas(sheets), *notes]}, buffer.getvalue()


def _sheets(content: str, notes: list[str], *, dates: bool) -> Sheets:
    """The tables of JSON or Markdown with their names, checked."""
    found = list(_of_json(content) if _is_json(content) else _of_markdown(content, notes))
    if not any(rows for _, rows in found):
        raise BadInput(
            "There is no table in the content.",
            hint="Send Markdown tables, each under a heading that names its sheet, or JSON rows.",
        )
    for name, rows in found:
        columns = max(map(len, rows), default=0)
        if len(rows) > MAX_ROWS or columns > MAX_COLUMNS:
            raise TooLarge(
                f"The sheet {name or 'Sheet'} has {len(rows):,} rows, {columns:,} columns."
            )
        longest = max((len(c) for row in rows for c in row if isinstance(c, str)), default=0)
        if longest > MAX_CELL_CHARS:
            raise TooLarge(f"A cell has {longest:,} characters, more than {MAX_CELL_CHARS:,}.")
    return [(name, _with_dates(rows, notes)) for name, rows in found] if dates else found


def _is_json(content: str) -> bool:
    return content.lstrip()[:1] in ("[", "{")


def _of_markdown(content: str, notes: list[str]) -> Iterator[tuple[str, list[list[Cell]]]]:
    name = ""
    for block in blocks_of(content):
        if block.kind == "heading":
            name = block.text
        elif block.kind == "table":
            head, *rows = [[plain(cell) for cell in row] for row in block.rows]
            columns: list[list[Cell]] = []
            for column, texts in zip(head, zip(*rows, strict=True), strict=bool(rows)):
                cells, doubtful = _typed(texts)
                columns.append(cells)
                if doubtful:
                    notes.append(f"{column} stays text, for {doubtful} can be read in two ways.")
            yield name, [list(head), *map(list, zip(*columns, strict=True))]
            name = ""


def _left_out(content: str) -> list[str]:
    """A note on what of Markdown is in no table and names none; nothing for JSON."""
    if _is_json(content):
        return []
    left: list[str] = []
    heading = ""
    for block in blocks_of(content):
        if block.kind == "heading":
            left += [heading] if heading else []
            heading = block.text
        elif block.kind == "table":
            heading = ""
        elif block.kind != "rule":
            left.append(" ".join(block.text.split()) or f"a {block.kind}")
    left += [heading] if heading else []
    if not left:
        return []
    parts = "; ".join(text[:MAX_NOTE_CHARS] for text in left[:MAX_NOTED])
    more = f" and {len(left) - MAX_NOTED} more" if len(left) > MAX_NOTED else ""
    return [f"A workbook holds tables alone; left out: {parts}{more}."]


def _formulas(sheets: Sheets) -> list[str]:
    """A note on what looks like a formula: a spreadsheet would run it, so it stays text."""
    cells = (cell for _, rows in sheets for row in rows for cell in row)
    found = next((c for c in cells if isinstance(c, str) and len(c) > 1 and c[0] == "="), "")
    return [f"Formulas stand there as text, such as {found[:MAX_NOTE_CHARS]}."] if found else []


def _of_json(content: str) -> Iterator[tuple[str, list[list[Cell]]]]:
    try:
        value = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise BadInput(
            f"The content is no JSON: {error}.", hint='Send rows as [{"name": "Ann", "age": 3}].'
        ) from None
    sheets = value if isinstance(value, dict) else {"": value}
    for name, rows in sheets.items():
        if not isinstance(rows, list):
            raise BadInput(
                f"The sheet {name!r} has no rows.", hint='Send {"Sheet": [["a", "b"], [1, 2]]}.'
            )
        heads = list(dict.fromkeys(key for row in rows if isinstance(row, dict) for key in row))
        table: list[list[Cell]] = [list(heads)] if heads else []
        for row in rows:
            if isinstance(row, Mapping):
                table.append([_cell(row.get(key)) for key in heads])
            else:
                table.append([_cell(cell) for cell in (row if isinstance(row, list) else [row])])
        yield name, table


def _with_dates(rows: list[list[Cell]], notes: list[str]) -> list[list[Cell]]:
    """Rows whose columns of dates are such, and no texts."""
    if len(set(map(len, rows))) != 1:  # nothing, or no columns
        return rows
    head, *rest = rows
    columns: list[Sequence[Cell]] = []
    for name, cells in zip(head, zip(*rest, strict=True), strict=bool(rest)):
        texts = [cell for cell in cells if isinstance(cell, str)]
        columns.append(cells)
        if column_format(texts).type == "date" and len(texts) + cells.count(None) == len(cells):
            typed, doubtful = _typed(texts)
            dates = iter(typed)
            columns[-1] = [None if cell is None else next(dates) for cell in cells]
            if doubtful:
                notes.append(f"{name} stays text, for {doubtful} can be read in two ways.")
    return [head, *map(list, zip(*columns, strict=True))]


def _cell(value: Any) -> Cell:
    if isinstance(value, int) and abs(value) >= MAX_WHOLE:
        return str(value)
    if value is None or isinstance(value, bool | int | float | str):
        return value
    return json.dumps(value, ensure_ascii=False)


def _typed(texts: Sequence[str]) -> tuple[list[Cell], str]:
    """The cells of a column as what the column holds, and one that leaves that in doubt."""
    form = column_format(texts)
    if form.codes:  # all of them, so that they sort and compare alike
        return list(texts), ""
    doubtful = _doubtful([text for text in texts if not is_missing(text)], form)
    if doubtful:
        return list(texts), doubtful
    if form.type in NUMERIC:
        return [_number(text.strip(), form) for text in texts], ""
    if form.type == "date":
        return [_date(text.strip(), form) for text in texts], ""
    return [_value(text) for text in texts], ""


def _doubtful(texts: list[str], form: ColumnFormat) -> str:
    """A cell of a column that could be something else, too; "" where there is none."""
    if form.type == "date" and form.note == DAY_OR_MONTH and not form.day_first:
        return texts[0]
    if form.type not in NUMERIC:
        return ""
    percents = [text for text in texts if "%" in text]
    if percents and len(percents) < len(texts):
        return percents[0]
    if form.altered and re.fullmatch(r"[\d.,]+", form.altered):  # versions, as 3.9 and 3.10
        return form.altered
    phones = (t for t in texts if _LIKE_A_PHONE.fullmatch(t) and len(t.split()) > 2)
    return texts[0] if form.guess else next(phones, "")


def _number(text: str, form: ColumnFormat) -> Cell:
    """A number that is displayed with the decimals, groups and unit that it was written with."""
    number, found = form.numbers.parse(text), _AMOUNT.fullmatch(text)
    if number is None or sum(map(str.isdigit, text)) > MAX_DIGITS:
        return text
    if found is None:  # a power of ten
        return number
    digits, unit = found["digits"], found["before"] + found["after"]
    whole, _, decimals = digits.partition(form.numbers.decimal)
    code = "#,##0" if not whole.isdigit() and whole else "0"
    code += f".{'0' * len(decimals)}" if decimals else ""
    if "%" in unit:
        number = round(number / 100, len(decimals) + 2)
    code = _literal(found["before"]) + code + _literal(found["after"])
    if "+" in text:
        code = f"+{code};-{code}"
    return number if code == "0" else FormattedCell(number, code, text)


def _literal(unit: str) -> str:
    """What stands beside a number, in a number format."""
    return "%".join(f'"{part}"' if part else "" for part in unit.split("%"))


def _date(text: str, form: ColumnFormat) -> Cell:
    """A date, or a moment without a time zone, displayed as it was written."""
    if not _PLAIN_MOMENT.fullmatch(text):
        return text
    try:
        moment = datetime.fromisoformat(date_key(text, month_first=form.month_first))
    except ValueError:
        return text
    if moment.year < FIRST_YEAR:
        return text
    order = "ymd" if re.match(r"\d{4}", text) else "mdy" if form.month_first else "dmy"
    parts = iter(f"{order}hms")
    code = re.sub(r"\d+", lambda digits: next(parts) * len(digits[0]), text)
    return FormattedCell(moment, code.replace("T", " "), text)


def _value(text: str) -> Cell:
    """A number where a text is just that, so that nothing of it is lost."""
    if not _NUMBER.fullmatch(text):
        return text
    number: int | float = float(text) if "." in text else int(text)
    return number if str(number) == text else text


def _free_name(name: str, taken: set[str]) -> str:
    """A name for a sheet that no other has; case does not tell them apart."""
    bare = _NOT_IN_NAMES.sub(" ", name).strip(" '")[:MAX_NAME_CHARS] or "Sheet"
    free, number = bare, 1
    while free.casefold() in taken:
        number += 1
        free = f"{bare[: MAX_NAME_CHARS - len(str(number)) - 1]} {number}"
    taken.add(free.casefold())
    return free


def _widths(rows: Sequence[Sequence[Cell]]) -> list[float]:
    widths: list[float] = []
    for row in rows[:MEASURED_ROWS]:
        widths += [8.0] * (len(row) - len(widths))
        for place, value in enumerate(row):
            text = value.text if isinstance(value, FormattedCell) else str(value or "")
            widths[place] = max(widths[place], min(len(text) + 2, MAX_WIDTH))
    return widths
