"""What the cells of a table mean: numbers in English and German form, dates, and their types."""

from __future__ import annotations

import re
from calendar import monthrange
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal

ValueType = Literal["integer", "number", "date", "boolean", "text", "empty"]
NUMERIC: tuple[ValueType, ...] = ("integer", "number")
Cell = str | int | float | bool | None

DAY_OR_MONTH = "day/month or month/day"
_ORDERS = {"day": "day/month", "month": "month/day"}
MISSING = frozenset(("", "na", "n/a", "null", "none", "nan", "-", "#n/a"))
_CURRENCY = r"[\u20ac$\u00a3\u00a5]|(?i:eur|usd|gbp|chf)"
_UNIT = rf"(?:%|{_CURRENCY})"
_AMOUNT = re.compile(
    rf"(?P<bracket>\()?\s*(?P<sign>[-+\u2212])?\s*(?:{_UNIT}\s*)?(?P<inner>[-+\u2212])?"
    rf"(?P<digits>[\d.,][\d.,\s'\u2019_]*(?<!\s)(?:[eE][+-]?\d{{1,3}})?)\s*{_UNIT}?\s*(?P<end>\))?"
)
_HAS_UNIT = re.compile(rf".*{_UNIT}", re.DOTALL)
_DECIMALS = re.compile(r"\d[.,](\d+)\D*$")
_GUESSED_MONEY = re.compile(rf"(?=.*(?:{_CURRENCY}))[^,]+")
"""An amount in points alone: thousands more often than three decimals."""
_SPACED = re.compile(r"[1-9]\d{0,2}(?=([\s'\u2019_]))(?:\1\d{3})+([.,]\d*)?")
_SPACE = re.compile(r"[\s'\u2019_]")
_GROUPED_BY_COMMA = re.compile(r"[1-9]\d{0,2}(,\d{3})+(\.\d*)?")
_GROUPED_BY_POINT = re.compile(r"[1-9]\d{0,2}(\.\d{3})+(,\d*)?")
_PLAIN = re.compile(r"(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,3})?")
_QUICK = re.compile(r"-?[1-9]\d{0,17}|-?\d{1,15}\.\d{1,15}|0", re.ASCII)
_PARTED = re.compile(r"\+?\d+(?:\.\d+){2,}|\+?\d+(?:[\s'\u2019_.]\d+)*[\s'\u2019_]\d+(?:[.,]\d*)?")
_LIKE_A_POWER = re.compile(r"\d+E\d+")
"""An article's number, as `12E4`: programs write powers of ten with a sign, a point or an `e`."""
_ADDRESS = re.compile(r"(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)(?:\.(?!$)|$)){4}", re.ASCII)
_DATES = (
    (re.compile(r"(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})([T ]\s*\d{1,2}:\d\d.*)?"), "year-month-day"),
    (re.compile(r"(\d{1,2})\.(\d{1,2})\.(\d{4}|\d\d)(,? \d{1,2}:\d\d.*)?"), "day.month.year"),
    (re.compile(r"(\d{1,2})/(\d{1,2})/(\d{4}|\d\d)(,? \d{1,2}:\d\d.*)?"), DAY_OR_MONTH),
)
_NAMED_DATE = re.compile(
    r"(?:(?P<day>\d{1,2})(?:\.|st|nd|rd|th)?[\s-]*(?P<month>[^\W\d_]{3,9})\.?"
    r"|(?P<first>[^\W\d_]{3,9})\.?\s+(?P<second>\d{1,2})(?:st|nd|rd|th)?)"
    r"[\s,-]+(?P<year>\d{4}|\d\d)(?P<time>,? \d{1,2}:\d\d.*)?"
)
NAMED_MONTH = "month by name"
_MONTHS = tuple(
    tuple(names.split())
    for names in (
        *("january jänner", "february feber", "march märz mrz maerz"),
        *("april", "may mai", "june juni", "july juli", "august", "september"),
        *("october oktober", "november", "december dezember"),
    )
)
"""In English and German; three letters or more of a name are the month."""
_TIME = re.compile(
    r"(\d{1,4}):(\d\d)(:\d\d(?:\.\d+)?)?(?:\s*([AaPp])[Mm])?\s*(Z|[+-]\d\d(?::?\d\d)?)?"
)
MAX_DIGITS = 400
PHONE_DIGITS = 10
"""So many digits behind a plus are the number of a telephone."""
EXACT = 2**53
"""Whole numbers below it are exact as floats."""
CLEAN_DIGITS = 12
"""A float of at most so many digits, but for the last ones of it, was meant to have no more."""


@dataclass(frozen=True, slots=True)
class NumberFormat:
    """How the numbers of a column are written: `decimal` is a point or a comma."""

    decimal: Literal[".", ","] = "."

    def parse(self, text: str) -> int | float | None:
        """The number that a cell is; None for what is none.

        Currency and percent signs around it are passed over, brackets mean a minus, and blanks
        part groups of three. Digits in other groups are codes: telephones, cards, addresses.
        """
        if self.decimal == "." and _QUICK.fullmatch(text):
            return float(text) if "." in text else int(text)
        found = _AMOUNT.fullmatch(text.strip()) if len(text) <= MAX_DIGITS else None
        if found is None or bool(found["bracket"]) != bool(found["end"]):
            return None
        sign = found["sign"] or found["inner"]
        bare = _ungrouped(found["digits"], self.decimal, plus=sign == "+")
        if not bare.isascii() or not _PLAIN.fullmatch(bare):
            return None
        number = int(bare) if bare.isdigit() else float(bare)
        return -number if (sign in ("-", "\u2212")) != bool(found["bracket"]) else number


def _ungrouped(digits: str, decimal: str, *, plus: bool) -> str:
    """Digits in groups as plain ones with a decimal point; "" for those of a code."""
    if _SPACE.search(digits):
        if plus or not _SPACED.fullmatch(digits):
            return ""
        digits = _SPACE.sub("", digits)
    if plus and digits.isdigit() and len(digits) >= PHONE_DIGITS:
        return ""
    if decimal == ",":
        if _GROUPED_BY_POINT.fullmatch(digits):
            digits = digits.replace(".", "")
        return digits.replace(",", ".", 1)
    return digits.replace(",", "") if _GROUPED_BY_COMMA.fullmatch(digits) else digits


def number_format(cells: Iterable[str], delimiter: str = ",") -> tuple[NumberFormat, str]:
    """The format that explains the cells of a column, by those that leave no doubt.

    Args:
        cells: some of the column.
        delimiter: of the file: where `;` parts the fields, a comma parts decimals.

    Returns:
        The format, and a cell whose reading is a guess: "" where there is no doubt.
    """
    votes: Counter[str] = Counter()
    doubtful = ""
    for cell in cells:
        found = _AMOUNT.fullmatch(cell) if len(cell) <= MAX_DIGITS else None
        if found is None:
            continue
        bare = _SPACE.sub("", found["digits"])
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
            doubtful = doubtful or cell
    if votes:
        return NumberFormat("," if votes[","] > votes["."] else "."), ""
    return NumberFormat("," if doubtful and delimiter == ";" else "."), doubtful


def date_key(text: str, *, month_first: bool = False) -> str:
    """A date and time that sorts, `2026-03-01 09:05`; "" for what is none.

    Times with an offset are those of UTC.

    Args:
        text: a cell.
        month_first: whether `02/03/2026` is of February: its column says so.
    """
    for pattern, form in _DATES:
        found = pattern.fullmatch(text.strip())
        if found is None:
            continue
        first, month, last = found[1], int(found[2]), found[3]
        year, day = (int(first), int(last)) if len(first) == 4 else (int(last), int(first))
        if form == DAY_OR_MONTH and ((month_first and day <= 12) or month > 12 >= day):
            month, day = day, month
        year += 2000 if year < 70 else 1900 if year < 100 else 0
        if 1 <= month <= 12 and 1 <= day <= monthrange(year, month)[1]:
            return _in_utc(f"{year:04}-{month:02}-{day:02}", (found[4] or "").lstrip(",T "))
    named = _with_number(text.strip())
    return date_key(named) if named else ""


def _with_number(text: str) -> str:
    """A date with the name of a month, `1. März 2024`, as `1.3.2024`; "" for what is none."""
    found = _NAMED_DATE.fullmatch(text)
    if found is None:
        return ""
    name = (found["month"] or found["first"]).casefold()
    for number, names in enumerate(_MONTHS, 1):
        if any(full.startswith(name) for full in names):
            day = found["day"] or found["second"]
            return f"{day}.{number}.{found['year']}{found['time'] or ''}"
    return ""


def time_key(text: str) -> str:
    """A time of day or a length of time that sorts, `0009:05:00`; "" for what is neither."""
    found = _TIME.fullmatch(text.strip())
    return _time(found, 4) if found is not None else ""


def _time(found: re.Match[str], digits: int) -> str:
    hour = int(found[1]) % 12 + 12 * (found[4] in "Pp") if found[4] else int(found[1])
    return f"{hour:0{digits}}:{found[2]}{found[3] or ''}"


def _in_utc(day: str, time: str) -> str:
    found = _TIME.fullmatch(time)
    if found is None:
        return f"{day} {time}".strip()
    key = f"{day} {_time(found, 2)}"
    if not found[5]:
        return key
    try:
        moment = datetime.fromisoformat(f"{key}{found[5]}").astimezone(UTC)
    except (ValueError, OverflowError):
        return key
    return moment.replace(tzinfo=None).isoformat(" ")


@dataclass(frozen=True, slots=True)
class ColumnFormat:
    """What a column holds, judged by some of its cells.

    Attributes:
        type: what nearly all of its cells are.
        numbers: how its numbers are written.
        note: what a reader should know: the form of its dates or numbers.
        month_first: whether its dates are those of Americans.
        day_first: whether one of its dates can be read with the day first alone.
        doubtful_dates: whether all of its dates could be read with the month first, too.
        altered: a cell that says more than its number: `10%`, or the version `1.10`.
        codes: whether it holds digits with leading zeros, behind a plus or in groups, or the
            numbers of articles, that are no numbers.
        guess: whether its numbers may be read in another form, too; the note has one.
    """

    type: ValueType
    numbers: NumberFormat
    note: str = ""
    month_first: bool = False
    codes: bool = False
    guess: bool = False
    day_first: bool = False
    doubtful_dates: bool = False
    altered: str = ""

    def moment(self, text: str) -> str:
        """A date or a time of day of the column that sorts; "" for what is neither."""
        date = date_key(text, month_first=self.month_first)
        return date if date or self.type == "date" else time_key(text)


def column_format(cells: Sequence[str], delimiter: str = ",") -> ColumnFormat:
    """What a column of texts holds."""
    filled = [cell.strip() for cell in cells if not is_missing(cell)]
    numbers, doubtful = number_format(filled, delimiter)
    if not filled:
        return ColumnFormat("empty", numbers)
    needed = len(filled) * 0.95
    parsed = [number for cell in filled if (number := numbers.parse(cell)) is not None]
    codes = sum(len(cell) > 1 and cell[0] == "0" and cell.isdigit() for cell in filled)
    are_codes = _are_codes(filled, numbers)
    if len(parsed) >= needed and not codes and not are_codes:
        whole = all(isinstance(number, int) for number in parsed)
        note = "decimal comma" if numbers.decimal == "," else ""
        guess = bool(doubtful) and (bool(note) or bool(_GUESSED_MONEY.fullmatch(doubtful)))
        if guess:
            note = f"{note or 'decimal point'}, a guess: {doubtful} is {numbers.parse(doubtful)}"
        kind: ValueType = "integer" if whole else "number"
        return ColumnFormat(kind, numbers, note, guess=guess, altered=_altered(filled))
    order = _date_order(filled)
    month_first, day_first = order == "month", order == "day"
    if sum(bool(date_key(cell, month_first=month_first)) for cell in filled) >= needed:
        forms = Counter(
            name for cell in filled for pattern, name in _DATES if pattern.fullmatch(cell)
        ) or Counter((NAMED_MONTH,))
        note = forms.most_common(1)[0][0]
        unsettled = note == DAY_OR_MONTH and not order
        note = f"{_ORDERS[order]}/year" if note == DAY_OR_MONTH and order else note
        return ColumnFormat(
            "date", numbers, note, month_first, day_first=day_first, doubtful_dates=unsettled
        )
    if {cell.lower() for cell in filled} <= {"true", "false", "yes", "no", "ja", "nein"}:
        return ColumnFormat("boolean", numbers)
    note = "digits with leading zeros" if codes >= needed else ""
    codes = codes or are_codes or any(cell[0] == "+" and cell[1:].isdigit() for cell in filled)
    return ColumnFormat("text", numbers, note, month_first, bool(codes))


def _altered(cells: Sequence[str]) -> str:
    """A cell that is not the same as a number: one with a unit, or perhaps a version."""
    for cell in cells:
        if _HAS_UNIT.match(cell):
            return cell
    decimals = {cell: found[1] for cell in cells if (found := _DECIMALS.search(cell))}
    if len(set(map(len, decimals.values()))) == 1:  # all of them prices, perhaps
        return ""
    return next((cell for cell, digits in decimals.items() if digits.endswith("0")), "")


def _are_codes(cells: Sequence[str], numbers: NumberFormat) -> bool:
    """Whether digits in groups are those of telephones, cards, articles or addresses.

    A column of which one such cell is no number holds none, though others may look like one.
    """
    if any(map(_LIKE_A_POWER.fullmatch, cells)):
        return True
    parted = [cell for cell in cells if _PARTED.fullmatch(cell)]
    if any(numbers.parse(cell) is None for cell in parted):
        return True
    pointed = [cell for cell in cells if cell.count(".") > 1]
    return len(pointed) == len(cells) and all(map(_ADDRESS.fullmatch, pointed))


def _date_order(cells: Sequence[str]) -> str:
    """What dates like `02/03/2026` begin with, "month" or "day"; "" where none leaves no doubt."""
    pattern = _DATES[-1][0]
    dates = [found for cell in cells if (found := pattern.fullmatch(cell))]
    if any(int(date[1]) > 12 for date in dates):
        return "day"
    return "month" if any(int(date[2]) > 12 for date in dates) else ""


def is_code(cell: str) -> bool:
    """Whether a cell is made of digits in groups, be they those of a number or not."""
    return bool(_PARTED.fullmatch(cell.strip()))


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
        if value.is_integer() and abs(value) < EXACT:
            return str(int(value))
        short = f"{value:.15g}"  # as spreadsheets have them: 0.1 + 0.2 is 0.3
        digits = sum(map(str.isdigit, short.partition("e")[0].lstrip("-0.")))
        return short if digits <= CLEAN_DIGITS else repr(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None else str(value)


def as_json_cell(cell: Cell, form: ColumnFormat) -> Cell:
    """A cell of a table as a value of JSON: a number where its column holds numbers."""
    if not isinstance(cell, str):
        return cell
    if form.type in NUMERIC:
        number = form.numbers.parse(cell)
        return (None if is_missing(cell) else cell) if number is None else number
    return cell
