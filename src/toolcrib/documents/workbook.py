"""Workbooks of Excel (XLSX): the values of one sheet, row by row."""

from __future__ import annotations

import re
import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from io import BytesIO
from typing import IO, Any
from xml.etree import ElementTree as ET

from toolcrib.core.errors import BadInput, NotFound, TooLarge, UnsupportedContent
from toolcrib.text.display import counted
from toolcrib.text.values import Cell, displayed

MAX_PART_BYTES = 400_000_000
"""Bytes of a part of a workbook, unpacked."""
MAX_WIDTH = 16_384
MAX_DAYS = 2_958_466
"""Days up to the year 9999."""
DAY_ZERO = datetime(1899, 12, 30)  # noqa: DTZ001 - a cell has no time zone
DAY_ZERO_1904 = datetime(1904, 1, 1)  # noqa: DTZ001
FIRST_OF_MARCH_1900 = 61
"""The number of that day: Excel counts a 29th of February before it, which was none."""
DATE_FORMATS = frozenset([*range(14, 23), *range(27, 37), *range(45, 48), *range(50, 59)])
TIME_FORMATS, LENGTH_FORMATS = frozenset((18, 19, 20, 21, 45, 47)), frozenset((46,))
_DATE_CODE = re.compile(r"[dyhs]|m", re.IGNORECASE)
_DAY_CODE = re.compile(r"[dy]|mmm", re.IGNORECASE)
_TIME_CODE = re.compile(r"[hs]", re.IGNORECASE)
_LENGTH_CODE = re.compile(r"\[(?:h+|m+|s+)\]", re.IGNORECASE)
_NOT_CODE = re.compile(r'"[^"]*"|\\.|\[[^\]]*\]|General', re.IGNORECASE)
_WHOLE = re.compile(r"-?\d{1,400}", re.ASCII)
_NUMBER = re.compile(r"-?[\d.]+(?:[eE][-+]?\d+)?", re.ASCII)
_MERGED = re.compile(rb'<(?:\w+:)?mergeCell\s+ref="([A-Z]{1,3})(\d{1,7}):([A-Z]{1,3})(\d{1,7})"')
MERGED_BYTES = 1_000_000
MERGED_CHARS = 100
"""Of one element, which two parts of what is read may share."""
MAX_MERGED = 100_000
_RELATION = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"


class Workbook:
    """A workbook.

    Raises:
        UnsupportedContent: it is another kind of file, damaged or encrypted.
    """

    def __init__(self, data: bytes, name: str) -> None:
        self._name = name
        try:
            self._archive = zipfile.ZipFile(BytesIO(data))
            self._parts = set(self._archive.namelist())
            self._sheets = self._listed()
        except (zipfile.BadZipFile, KeyError, ET.ParseError, ValueError) as error:
            raise UnsupportedContent(
                f"{name} is no workbook of Excel, or damaged: {error}.",
                hint="Save it as XLSX or CSV.",
            ) from None
        self._shared = self._shared_texts()
        self._dates = self._date_styles()

    @property
    def names(self) -> list[str]:
        """The names of its sheets, in order."""
        return [name for name, _ in self._sheets]

    def rows(self, sheet: str) -> tuple[Iterator[Sequence[Cell]], list[str]]:
        """The rows of a sheet that hold anything, and notes on it.

        Args:
            sheet: its name, or its number from 1; the first for nothing.

        Raises:
            NotFound: there is none of that name.
        """
        names = self.names
        wanted = sheet.strip()
        number = next((n for n, name in enumerate(names) if name.lower() == wanted.lower()), -1)
        if number < 0 and (not wanted or wanted.isdigit()):
            number = int(wanted or 1) - 1
        if not 0 <= number < len(names):
            raise NotFound(
                f"{self._name} has no sheet {wanted}.", hint=f"Its sheets: {', '.join(names[:50])}."
            )
        by_name = wanted.lower() == names[number].lower()
        others = [name for name in names if name != names[number] and not by_name]
        notes = [f"Sheet {names[number]}; others: {', '.join(others[:20])}."] if others else []
        return self._rows(self._sheets[number][1], notes), notes

    def formula_notes(self, sheet: str) -> list[str]:
        """What is to be known of formulas in a sheet that were not calculated."""
        notes: list[str] = []
        for name, part in self._sheets:
            if name == sheet:
                for _ in self._own_rows(part, notes):
                    pass
        return notes

    def _stream(self, name: str) -> IO[bytes]:
        """A part, unpacked while it is read."""
        info = self._archive.getinfo(name)
        if info.file_size > MAX_PART_BYTES:
            raise TooLarge(f"{self._name} is too large when unpacked.", hint="Save it as CSV.")
        if info.flag_bits & 1:
            raise UnsupportedContent(f"{self._name} is encrypted.")
        return self._archive.open(info)

    def _part(self, name: str) -> Iterator[tuple[str, Any]]:
        """The ends of the elements of a part, with their local names."""
        with self._stream(name) as stream:
            if b"<!DOCTYPE" in stream.read(4096):
                raise BadInput(f"{self._name} holds XML with a DTD.")
        with self._stream(name) as stream:
            for _, element in ET.iterparse(stream):  # noqa: S314
                yield element.tag.rpartition("}")[2], element

    def _listed(self) -> list[tuple[str, str]]:
        targets = {
            e.get("Id"): e.get("Target", "").lstrip("/")
            for tag, e in self._part("xl/_rels/workbook.xml.rels")
            if tag == "Relationship"
        }
        found = []
        self._zero = DAY_ZERO
        for tag, element in self._part("xl/workbook.xml"):
            if tag == "workbookPr" and element.get("date1904") in ("1", "true"):
                self._zero = DAY_ZERO_1904
            if tag == "sheet":
                target = targets.get(element.get(_RELATION), "")
                target = target if target.startswith("xl/") else f"xl/{target}"
                if target in self._parts and "chartsheet" not in target:
                    found.append((element.get("name", ""), target))
        if not found:
            raise ValueError("it has no sheets")
        return found

    def _shared_texts(self) -> list[str]:
        if "xl/sharedStrings.xml" not in self._parts:
            return []
        texts: list[str] = []
        for tag, element in self._part("xl/sharedStrings.xml"):
            if tag == "rPh":  # how it is pronounced
                element.clear()
            if tag == "si":
                texts.append(_joined(element))
                element.clear()
        return texts

    def _date_styles(self) -> dict[int, str]:
        """The styles of cells whose numbers are dates, times or lengths of time."""
        if "xl/styles.xml" not in self._parts:
            return {}
        codes: dict[str, str] = {}
        found: dict[int, str] = {}
        for tag, element in self._part("xl/styles.xml"):
            if tag == "numFmt":
                codes[element.get("numFmtId", "")] = element.get("formatCode", "")
            if tag == "cellXfs":
                for number, style in enumerate(element):
                    known = style.get("numFmtId", "0")
                    kind = _kind(int(known), codes.get(known, ""))
                    if kind:
                        found[number] = kind
        return found

    def _merged(self, part: str) -> list[_MergedRange]:
        """The merged cells of a sheet; they are listed behind its rows."""
        found: set[_MergedRange] = set()
        with self._stream(part) as stream:
            rest = b""
            while len(found) < MAX_MERGED and (chunk := stream.read(MERGED_BYTES)):
                rest += chunk
                for area in _MERGED.finditer(rest):
                    left, top, right, bottom = (each.decode() for each in area.groups())
                    end = min(_column(right), MAX_WIDTH - 1)
                    found.add(_MergedRange(int(top), int(bottom), _column(left), end))
                rest = rest[-MERGED_CHARS:]
        return sorted(found)

    def _rows(self, part: str, notes: list[str]) -> Iterator[list[Cell]]:
        filler = _Filler(self._merged(part))
        for number, row in self._own_rows(part, notes):
            filler.fill(number, row)
            while row and row[-1] in (None, ""):
                row.pop()
            if row:
                yield row
        notes += filler.notes

    def _own_rows(self, part: str, notes: list[str]) -> Iterator[tuple[int, list[Cell]]]:
        """The rows with their numbers, without what merged cells have in common."""
        blank: Counter[int] = Counter()
        zero: Counter[int] = Counter()
        calculated, number = False, 0
        for tag, element in self._part(part):
            if tag != "row":
                continue
            own = element.get("r", "")
            number = int(own) if _WHOLE.fullmatch(own) else number + 1
            row: list[Cell] = []
            for cell in element:
                column = _column(cell.get("r", "")) if cell.get("r") else len(row)
                if column >= MAX_WIDTH:
                    continue
                row += [None] * (column - len(row))
                row.append(self._value(cell))
                if row[-1] in (None, "0") and any(child.tag.endswith("}f") for child in cell):
                    (blank if row[-1] is None else zero)[column] += 1
                elif len(cell) > 1 and not calculated:
                    calculated = any(child.tag.endswith("}f") for child in cell)
            element.clear()
            yield number, row
        if zero and not calculated:
            notes.append(
                f"All {counted(zero.total(), 'formula')} in {_named(zero)} have the value 0. If "
                "they were never calculated, open it in a spreadsheet program and save it there."
            )
        if blank:
            notes.append(
                f"{counted(blank.total(), 'formula')} in {_named(blank)} read as empty, for the "
                "file has no values of them: open it in a spreadsheet program and save it there."
            )

    def _value(self, cell: Any) -> Cell:
        kind = cell.get("t", "n")
        if kind == "inlineStr":
            return _joined(cell)
        text: str | None = next((child.text for child in cell if child.tag.endswith("}v")), None)
        if text is None:
            return None
        if kind == "s":
            index = int(text)
            return self._shared[index] if 0 <= index < len(self._shared) else ""
        if kind == "b":
            return "true" if text == "1" else "false"
        if kind in ("str", "e", "d"):
            return text
        return self._number(text, int(cell.get("s", 0)))

    def _number(self, text: str, style: int) -> str:
        if style in self._dates:
            with suppress(ValueError, OverflowError):
                return self._moment(float(text), self._dates[style])
        if _WHOLE.fullmatch(text):
            return str(int(text))
        try:
            return displayed(float(text))
        except ValueError:
            return text

    def _moment(self, days: float, kind: str) -> str:
        """A date, a time of day, or a length of time: days since the first.

        Raises:
            ValueError: it is none.
        """
        if not 0 <= days < MAX_DAYS:
            raise ValueError(days)
        seconds = round(days * 86_400)
        if kind == "length" or (kind == "time" and days < 1):
            return f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
        moment = self._zero + timedelta(seconds=seconds)
        if self._zero == DAY_ZERO and 1 <= days < FIRST_OF_MARCH_1900 - 1:
            moment += timedelta(days=1)
        return moment.strftime("%Y-%m-%d" if days == int(days) else "%Y-%m-%d %H:%M:%S")


def _kind(number: int, code: str) -> str:
    """Whether a format is for a `date`, a `time` of day or a `length` of time; "" for none."""
    if number in LENGTH_FORMATS or _LENGTH_CODE.search(code):
        return "length"
    bare = _NOT_CODE.sub("", code)
    if number in TIME_FORMATS or (_TIME_CODE.search(bare) and not _DAY_CODE.search(bare)):
        return "time"
    return "date" if number in DATE_FORMATS or _DATE_CODE.search(bare) else ""


@dataclass(frozen=True, slots=True, order=True)
class _MergedRange:
    """Cells that are one, from the first row and column to the last."""

    top: int
    bottom: int
    left: int
    right: int


class _Filler:
    """Puts the text of merged cells into each of them, row by row.

    A number stays in the first, for it would be counted in each. Titles and empty rows stay, too.
    """

    def __init__(self, merged: list[_MergedRange]) -> None:
        self._coming = merged[::-1]
        self._open: list[tuple[_MergedRange, Cell]] = []
        self._texts: set[int] = set()
        self._numbers: set[int] = set()

    def fill(self, number: int, row: list[Cell]) -> None:
        """Fill the row of this number."""
        filled = sum(cell not in (None, "") for cell in row)
        while self._coming and self._coming[-1].top <= number:
            area = self._coming.pop()
            value = row[area.left] if area.top == number and area.left < len(row) else None
            if value not in (None, ""):
                self._open.append((area, value))
        self._open = [each for each in self._open if each[0].bottom >= number]
        for area, value in self._open:
            if filled <= (area.top == number):  # a title, or nothing else
                continue
            if isinstance(value, str) and not _NUMBER.fullmatch(value):
                row += [None] * (area.right + 1 - len(row))
                row[area.left : area.right + 1] = [value] * (area.right + 1 - area.left)
                self._texts.add(area.left)
            else:
                self._numbers.add(area.left)

    @property
    def notes(self) -> Iterator[str]:
        """What was done to cells of the table."""
        if self._texts:
            letters = _named(self._texts)
            yield f"Merged cells in {letters}: their text stands in each of their cells."
        if self._numbers:
            letters = _named(self._numbers)
            yield f"Merged cells in {letters}: their number stands in the first cell alone."


def _named(columns: Iterable[int]) -> str:
    """The names of some columns."""
    return ", ".join(_letters(column) for column in sorted(columns)[:20])


def _letters(column: int) -> str:
    """The name of a column in a spreadsheet: `AC` for 28."""
    name = ""
    while column >= 0:
        name = chr(65 + column % 26) + name
        column = column // 26 - 1
    return name


def _joined(element: Any) -> str:
    return "".join(e.text or "" for e in element.iter() if e.tag.endswith("}t"))


def _column(reference: str) -> int:
    """The number of a column from 0: 28 for `AC7`."""
    number = 0
    for letter in reference:
        if not letter.isalpha():
            break
        number = number * 26 + ord(letter.upper()) - 64
    return max(number - 1, 0)
