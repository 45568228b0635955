"""What the cells of a table mean: numbers in English and German form, dates, and their types."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

ValueType = Literal["integer", "number", "date", "boolean", "text", "empty"]
Cell = str | int | float | bool | None

MISSING = frozenset(("", "na", "n/a", "null", "none", "nan", "-", "#n/a"))
_SIGNS = re.compile(r"[\s\u00a0\u202f'\u2019_%\u20ac$\u00a3\u00a5]|(?i:eur|usd|gbp|chf)")
_GROUPED_BY_COMMA = re.compile(r"\d{1,3}(,\d{3})+(\.\d*)?")
_GROUPED_BY_POINT = re.compile(r"\d{1,3}(\.\d{3})+(,\d*)?")
_PLAIN = re.compile(r"(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,3})?")
_QUICK = re.compile(r"-?[1-9]\d{0,17}|-?\d{1,15}\.\d{1,15}|0", re.ASCII)
_DATES = (
    (re.compile(r"(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})([T ]\d{1,2}:\d\d.*)?"), "year-month-day"),
    (re.compile(r"(\d{1,2})\.(\d{1,2})\.(\d{4}|\d\d)( \d{1,2}:\d\d.*)?"), "day.month.year"),
    (re.compile(r"(\d{1,2})/(\d{1,2})/(\d{4}|\d\d)( \d{1,2}:\d\d.*)?"), "day/month or month/day"),
)
MAX_DIGITS = 400


@dataclass(frozen=True, slots=True)
class NumberFormat:
    """How the numbers of a column are written: `decimal` is a point or a comma."""

    decimal: Literal[".", ","] = "."

    def parse(self, text: str) -> int | float | None:
        """The number that a cell is; None for what is none.

        Currency signs, percent signs and spaces are passed over, and brackets mean a minus.
        """
        if self.decimal == "." and _QUICK.fullmatch(text):
            return float(text) if "." in text else int(text)
        bare = _SIGNS.sub("", text)
        sign = 1
        if bare.startswith("(") and bare.endswith(")"):
            bare, sign = bare[1:-1], -1
        if bare[:1] in ("-", "+", "\u2212"):
            sign = -sign if bare[0] != "+" else sign
            bare = bare[1:]
        if not bare or len(bare) > MAX_DIGITS or not (bare[0].isdigit() or bare[0] in ".,"):
            return None
        if self.decimal == ",":
            bare = (bare.replace(".", "") if _GROUPED_BY_POINT.fullmatch(bare) else bare).replace(
                ",", ".", 1
            )
        elif _GROUPED_BY_COMMA.fullmatch(bare):
            bare = bare.replace(",", "")
        if not bare.isascii() or not _PLAIN.fullmatch(bare):
            return None
        number = float(bare)
        return sign * int(bare) if bare.isdigit() else sign * number


def number_format(cells: Iterable[str], delimiter: str = ",") -> NumberFormat:
    """The format that explains the cells of a column, by those that leave no doubt.

    Args:
        cells: some of the column.
        delimiter: of the file: where `;` parts the fields, a comma parts decimals.
    """
    votes: Counter[str] = Counter()
    doubtful = 0
    for cell in cells:
        bare = _SIGNS.sub("", cell).lstrip("-+(\u2212").rstrip(")")
        if not bare or not bare[0].isdigit():
            continue
        commas, points = bare.count(","), bare.count(".")
        if commas and points:
            votes["," if bare.rfind(",") > bare.rfind(".") else "."] += 1
        elif commas == 1 and not _GROUPED_BY_COMMA.fullmatch(bare):
            votes[","] += 1
        elif (points == 1 and not _GROUPED_BY_POINT.fullmatch(bare)) or commas > 1:
            votes["."] += 1
        elif points > 1:
            votes[","] += 1
        elif commas or points:
            doubtful += 1
    if votes:
        return NumberFormat("," if votes[","] > votes["."] else ".")
    return NumberFormat("," if doubtful and delimiter == ";" else ".")


def date_key(text: str) -> str:
    """A date and time that sorts, `2026-03-01`; "" for what is none. Days before months."""
    for pattern, _ in _DATES:
        found = pattern.fullmatch(text.strip())
        if found is None:
            continue
        first, month, last, time = found[1], int(found[2]), found[3], found[4] or ""
        year, day = (int(first), int(last)) if len(first) == 4 else (int(last), int(first))
        if month > 12 >= day:  # of a table by Americans
            month, day = day, month
        year += 2000 if year < 70 else 1900 if year < 100 else 0
        if 1 <= month <= 12 and 1 <= day <= 31:
            return f"{year:04}-{month:02}-{day:02}{time}"
    return ""


@dataclass(frozen=True, slots=True)
class ColumnFormat:
    """What a column holds, judged by some of its cells.

    Attributes:
        type: what nearly all of its cells are.
        numbers: how its numbers are written.
        note: what a reader should know: the form of its dates or numbers.
    """

    type: ValueType
    numbers: NumberFormat
    note: str = ""


def column_format(cells: Sequence[str], delimiter: str = ",") -> ColumnFormat:
    """What a column of texts holds."""
    filled = [cell.strip() for cell in cells if not is_missing(cell)]
    numbers = number_format(filled, delimiter)
    if not filled:
        return ColumnFormat("empty", numbers)
    needed = len(filled) * 0.95
    parsed = [number for cell in filled if (number := numbers.parse(cell)) is not None]
    codes = sum(len(cell) > 1 and cell[0] == "0" and cell.isdigit() for cell in filled)
    if len(parsed) >= needed and not codes:
        whole = all(isinstance(number, int) for number in parsed)
        note = "decimal comma" if numbers.decimal == "," else ""
        return ColumnFormat("integer" if whole else "number", numbers, note)
    if sum(bool(date_key(cell)) for cell in filled) >= needed:
        forms = Counter(
            name for cell in filled for pattern, name in _DATES if pattern.fullmatch(cell)
        )
        return ColumnFormat("date", numbers, forms.most_common(1)[0][0])
    if {cell.lower() for cell in filled} <= {"true", "false", "yes", "no", "ja", "nein"}:
        return ColumnFormat("boolean", numbers)
    note = "digits with leading zeros" if codes >= needed else ""
    return ColumnFormat("text", numbers, note)


def is_missing(cell: str) -> bool:
    """Whether a cell says that there is no value."""
    return not cell or (len(cell) < 6 and cell.strip().lower() in MISSING)


def type_of(value: Any) -> ValueType:
    """The type of a value of JSON or of a database."""
    if value is None:
        return "empty"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int):
        return "integer"
    return "number" if isinstance(value, float) else "text"


def displayed(value: Any) -> str:
    """A value as text: whole floats without a point, others without noise of the last digits."""
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else f"{value:.15g}"
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None else str(value)


def as_json_cell(cell: Cell, form: ColumnFormat) -> Cell:
    """A cell of a table as a value of JSON: a number where its column holds numbers."""
    if not isinstance(cell, str):
        return cell
    if form.type in ("integer", "number"):
        number = form.numbers.parse(cell)
        return (None if is_missing(cell) else cell) if number is None else number
    return cell
