"""The filter of a table: conditions on its columns, joined by `and`, `or` and brackets."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from operator import eq, ge, gt, le, lt, ne
from typing import Any, Literal

from toolcrib.core.errors import BadInput
from toolcrib.data.table_columns import TableColumns, as_number
from toolcrib.text.values import NUMERIC, Cell, ColumnFormat, NumberFormat, displayed, is_missing

MAX_DEPTH = 50
OPERATORS = (
    "= != > < >= <= contains, 'not contains', 'starts with', in (a, b), 'between a and b', "
    "'is empty'"
)
_SIGNS = r"!=|<>|>=|<=|==|=|>|<"
_WORDS = r"\b(?:(?:not\s+)?(?:contains|in|between)|starts\s+with|is\s+(?:not\s+)?empty)\b"
_OPERATOR = rf"(?:{_SIGNS}|{_WORDS})"
_AFTER = r"[\s),;\]=<>!&|]|\Z"
_QUOTED = "|".join(
    # An apostrophe within a word opens and closes nothing: O'Brien.
    rf"(?<![^\s(,\[=<>!&|]){q}[^{q}]*(?:{q}(?!{_AFTER})[^{q}]*)*{q}(?={_AFTER})"
    for q in "\"'`"
)
_JOIN = r"(?<![^\s)])(?:and|or)(?![^\s(])|&&|\|\|"
_COMMA = re.compile(rf"(?:{_QUOTED})|(,)")
_AND = re.compile(rf"(?:{_QUOTED})|(?<!\S)(and)(?!\S)", re.IGNORECASE)
_WORD = re.compile(_WORDS, re.IGNORECASE)
_WHOLE_QUOTED = re.compile(_QUOTED, re.DOTALL)
_PART_OF_DATE = re.compile(r"(\d{4})(?:-(\d\d?))?")
_NOT = re.compile(r"\s*not\s+", re.IGNORECASE)
_ORDERED = ("<", ">", "<=", ">=")
_UNEQUAL = ("!=", "<>")
_COMPARED: dict[str, Callable[[Any, Any], bool]] = {
    **dict.fromkeys(("=", "=="), eq),
    **dict.fromkeys(_UNEQUAL, ne),
    "<": lt,
    ">": gt,
    "<=": le,
    ">=": ge,
}
Predicate = Callable[[Sequence[Cell]], bool]
_Kind = Literal["number", "text"] | int
"""As what cells are read; a number is the length of the start of a moment."""


def predicate_of(text: str, columns: TableColumns, notes: list[str]) -> Predicate | None:
    """Whether a row fits a filter; `and` binds closer than `or`.

    Args:
        text: the filter; "" for all rows.
        columns: of the table.
        notes: takes what a reader should know of how the filter was read.

    Raises:
        BadInput: it cannot be read, or names no column.
    """
    return _Parser(text, columns, notes).either() if text.strip() else None


class _Parser:
    """Reads a filter from left to right."""

    def __init__(self, text: str, columns: TableColumns, notes: list[str]) -> None:
        self._text, self._conditions = text, _Conditions(columns, notes)
        tokens = rf"(?P<quoted>{_QUOTED})|(?P<open>\()|(?P<close>\))|(?P<join>{_JOIN})"
        name = self._conditions.odd_name
        if name:  # what is in it joins and brackets nothing
            tokens = rf"(?<![^\s(])(?P<name>{name})|{tokens}"
        found = re.compile(tokens, re.IGNORECASE).finditer(text)
        self._tokens = [(str(m.lastgroup), m.start(), m.end()) for m in found]
        self._ends = dict(self._brackets())
        self._next = self._at = self._depth = 0

    def _brackets(self) -> Iterator[tuple[int, int]]:
        """Each opening bracket, by its number among the tokens, with its closing one."""
        opened: list[int] = []
        for number, (kind, start, _) in enumerate(self._tokens):
            if kind == "open":
                opened.append(number)
            elif kind == "close":
                if not opened:
                    raise self._open_bracket(start)
                yield opened.pop(), number
        if opened:
            raise self._open_bracket(self._tokens[opened[0]][1])

    def _open_bracket(self, start: int) -> BadInput:
        return BadInput(
            f"A bracket has no other: {self._text[max(start - 20, 0) : start + 40].strip()}",
            hint="Close each one; put a text with a bracket of its own in quotes.",
        )

    def either(self) -> Predicate:
        """What is joined by `or`, up to a closing bracket or the end."""
        tests = [self._all()]
        while self._joined("or", "||"):
            tests.append(self._all())
        return tests[0] if len(tests) == 1 else lambda row: any(test(row) for test in tests)

    def _all(self) -> Predicate:
        tests = [self._one()]
        while self._joined("and", "&&"):
            tests.append(self._one())
        return tests[0] if len(tests) == 1 else lambda row: all(test(row) for test in tests)

    def _joined(self, *words: str) -> bool:
        kind, start, end = self._token()
        if kind != "join" or self._text[start:end].lower() not in words:
            return False
        self._next, self._at = self._next + 1, end
        return True

    def _token(self) -> tuple[str, int, int]:
        if self._next < len(self._tokens):
            return self._tokens[self._next]
        return "end", len(self._text), len(self._text)

    def _one(self) -> Predicate:
        """A condition, or what stands in brackets."""
        kind, start, end = self._token()
        before = self._text[self._at : start].strip().lower()
        if kind != "open" or before not in ("", "not"):
            condition = self._condition()
            if not condition.strip():
                raise _unreadable(self._text)
            return self._conditions.test(condition)
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise BadInput(f"More than {MAX_DEPTH} brackets in each other.", hint="Use fewer.")
        self._next, self._at = self._next + 1, end
        test = self.either()
        _, _, closed = self._token()
        self._next, self._depth = self._next + 1, self._depth - 1
        rest = self._text[closed : self._token()[1]]
        if rest.strip():
            raise _unreadable(self._text[start:closed] + rest)
        return (lambda row: not test(row)) if before else test

    def _condition(self) -> str:
        """The text up to the next join or closing bracket that is none of its own."""
        start = self._at
        may_be_range = True
        while True:
            kind, at, end = self._token()
            if kind == "open":
                self._next = self._ends[self._next]
            elif kind == "join":
                is_and = self._text[at:end].lower() == "and"
                if not (
                    may_be_range and is_and and self._conditions.is_range(self._text[start:at])
                ):
                    break
                may_be_range = False
            elif kind in ("close", "end"):
                break
            self._next += 1
        self._at = at
        return self._text[start:at]


class _Conditions:
    """Makes tests of single conditions on the columns of a table."""

    def __init__(self, columns: TableColumns, notes: list[str]) -> None:
        self._columns, self._notes = columns, notes
        odd = sorted({n for n in columns.names if not re.fullmatch(r"\w*", n)}, key=len)
        names = "|".join(re.escape(name) for name in reversed(odd))
        self.odd_name = rf"(?:{names})(?=\s*{_OPERATOR})" if odd else ""
        name = "|".join(filter(None, (_QUOTED, self.odd_name, ".+?")))
        self._pattern = re.compile(
            rf"\s*(?P<name>{name})\s*(?P<operator>{_OPERATOR})\s*(?P<value>.*?)\s*",
            re.IGNORECASE | re.DOTALL,
        )

    def is_range(self, text: str) -> bool:
        """Whether a text is the first half of `a between 1 and 2`."""
        found = self._pattern.fullmatch(text)
        return found is not None and found["operator"].lower().endswith("between")

    def test(self, text: str) -> Predicate:
        """A condition as a test of rows; `not` may stand before it."""
        found, negated = self._pattern.fullmatch(text), _NOT.match(text)
        if found and negated and self._columns.find(found["name"]) is None:
            test = self._single(text[negated.end() :])
            return lambda row: not test(row)
        return self._single(text)

    def _single(self, text: str) -> Predicate:
        found = self._pattern.fullmatch(text)
        if found is None:
            raise _unreadable(text)
        place = self._columns.place(found["name"])
        operator, value = " ".join(found["operator"].lower().split()), found["value"]
        if operator.endswith("empty"):
            if value:
                raise _unreadable(text)
            empty = operator == "is empty"
            return lambda row: is_missing(displayed(row[place])) == empty
        if operator in _ORDERED and not value:
            raise _unreadable(text)
        if operator.endswith("in"):
            if value[:1] in ("(", "[") and value[-1:] not in (")", "]"):
                raise _unreadable(text)
            inside, found_in = operator == "in", self._one_of(place, _items(value))
            return lambda row: found_in(row) == inside
        if operator.endswith("between"):
            middle = next((m for m in _AND.finditer(value) if m[1]), None)
            if middle is None:
                raise _unreadable(text)
            above = self._against(">=", place, self._text(value[: middle.start()]))
            below = self._against("<=", place, self._text(value[middle.end() :]))
            between = operator == "between"
            return lambda row: (above(row) and below(row)) == between
        other = self._columns.find(value) if operator in _COMPARED else None
        if other is not None:
            return self._of_columns(operator, place, other)
        return self._against(operator, place, self._text(value))

    def _text(self, value: str) -> str:
        """What a value says, without its quotes; what looks like more than a value is refused."""
        value = value.strip()
        if _WHOLE_QUOTED.fullmatch(value):
            return value[1:-1].replace(value[0] * 2, value[0])
        if value[:1] in ("'", '"'):
            raise BadInput(
                f"A quote has no other: {value[:100]}",
                hint="Close it, or put the whole text in the other kind of quotes.",
            )
        if re.search("[<>=]", value) or self._has_condition(value):
            raise BadInput(
                f"This is no single value: {value[:100]}",
                hint="Join conditions by and, or; put a text with such signs or words in quotes.",
            )
        return value

    def _has_condition(self, value: str) -> bool:
        """Whether a column with `contains` and the like stands in a value."""
        for operator in _WORD.finditer(value):
            before = f" {value[: operator.start()].rstrip().casefold()}"
            names = filter(None, self._columns.names)
            if any(re.search(rf"\W{re.escape(n.casefold())}\Z", before) for n in names):
                return True
        return False

    def _of_columns(self, operator: str, place: int, other: int) -> Predicate:
        """A comparison of two columns of a row."""
        names, formats = self._columns.names, self._columns.formats
        one, two = formats[place], formats[other]
        numeric = one.type in NUMERIC and two.type in NUMERIC
        if not numeric and operator in _ORDERED and one.type != two.type:
            raise BadInput(
                f"{names[place]} ({one.type}) and {names[other]} ({two.type}) have no order.",
                hint="Compare columns of one type; a text is put in quotes.",
            )
        self._note(
            f"{names[place]} {operator} {names[other]} compares two columns; a text is put in "
            "quotes."
        )
        for each in (place, other):
            self._note_dates(each)
        compare, unequal = _COMPARED[operator], operator in _UNEQUAL

        def key(cell: Cell, form: ColumnFormat) -> Any:
            return as_number(cell, form.numbers) if numeric else _text_key(cell, form)

        def test(row: Sequence[Cell]) -> bool:
            left, right = key(row[place], one), key(row[other], two)
            if left is None or right is None:
                return unequal and left is not right
            return compare(left, right)

        return test

    def _against(self, operator: str, place: int, value: str) -> Predicate:
        """A comparison with a value."""
        low = value.casefold()
        if operator == "contains":
            return lambda row: low in displayed(row[place]).casefold()
        if operator == "not contains":
            return lambda row: low not in displayed(row[place]).casefold()
        if operator == "starts with":
            return lambda row: displayed(row[place]).casefold().startswith(low)
        compare, unequal = _COMPARED[operator], operator in _UNEQUAL
        kind, limit = self._limit(operator, place, value)
        read = _reader(kind, self._columns.formats[place])

        def test(row: Sequence[Cell]) -> bool:
            found = read(row[place])
            return unequal if found is None else compare(found, limit)

        return test

    def _one_of(self, place: int, items: Sequence[str]) -> Predicate:
        """Whether a cell is equal to one of some values; thousands of them take no longer."""
        limits: dict[_Kind, set[Any]] = {}
        for item in items:
            kind, limit = self._limit("=", place, self._text(item))
            limits.setdefault(kind, set()).add(limit)
        form = self._columns.formats[place]
        known = [(_reader(kind, form), values) for kind, values in limits.items()]
        return lambda row: any(read(row[place]) in values for read, values in known)

    def _limit(self, operator: str, place: int, value: str) -> tuple[_Kind, Any]:
        """What a column is compared with, and as what its cells are read for that."""
        form = self._columns.formats[place]
        limit = _number(value, form, operator)
        if limit is not None:
            if NumberFormat().parse(value) not in (None, limit):
                name = self._columns.names[place]
                self._note(f"{value} is read as {displayed(limit)}, for {name} has decimal commas.")
            return "number", limit
        key = form.moment(value) or (_part_of_date(value) if form.type == "date" else "")
        if key and form.type not in NUMERIC:
            if len(key) > len("2026"):
                self._note_dates(place)
            return len(key), key
        self._need_kind(operator, place, value)
        return "text", value.casefold()

    def _need_kind(self, operator: str, place: int, value: str) -> None:
        """Refuse an order of numbers or dates and something else, and tell of what is equal."""
        name, form = self._columns.names[place], self._columns.formats[place]
        if form.type not in (*NUMERIC, "date"):
            return
        kind, example = ("date", "2026-03-31") if form.type == "date" else ("number", "10")
        if operator in _ORDERED:
            near = self._columns.near(value)
            hint = f"A column is named without quotes: {near}. " if near else ""
            column = name if re.fullmatch(r"\w+", name) else f'"{name}"'
            raise BadInput(
                f"{value[:80]} is no {kind}, and {name} has {kind}s.",
                hint=f"{hint}Write it like: {column} {operator} {example}",
            )
        note = f"{value[:80]} is no {kind}, but {name} has {kind}s: compared as text."
        if value and is_missing(value):
            note = f'{note} Empty cells are found by "{name} is empty".'
        if value:
            self._note(note)

    def _note_dates(self, place: int) -> None:
        """Tell how the dates of a column are read, where none of them settles it."""
        if note := self._columns.doubtful_dates.get(self._columns.names[place]):
            self._note(note)

    def _note(self, text: str) -> None:
        if text not in self._notes:
            self._notes.append(text)


def _unreadable(condition: str) -> BadInput:
    return BadInput(
        f"The filter cannot be read: {condition.strip()[:100]}",
        hint='Write it like: city = Berlin and "net amount" >= 10. Operators: '
        f"{OPERATORS}; brackets.",
    )


def _items(value: str) -> list[str]:
    """The parts of a list like `(a, 'b, c')`."""
    if value[:1] + value[-1:] in ("()", "[]"):
        value = value[1:-1]
    items, start = [], 0
    for found in _COMMA.finditer(value):
        if found[1]:
            items.append(value[start : found.start()])
            start = found.end()
    return [item for item in (*items, value[start:]) if item.strip()]


def _reader(kind: _Kind, form: ColumnFormat) -> Callable[[Cell], Any]:
    """What reads a cell as a number, a text or the start of a moment; None where it is none."""
    if kind == "number":
        return lambda cell: as_number(cell, form.numbers)
    if kind == "text":
        return lambda cell: displayed(cell).strip().casefold()
    return lambda cell: form.moment(displayed(cell))[:kind] or None


def _number(value: str, form: ColumnFormat, operator: str) -> int | float | None:
    """The number that a column is compared with; None where it is compared in another way."""
    if form.type not in NUMERIC and not (form.type == "text" and operator in _ORDERED):
        return None
    number = form.numbers.parse(value)
    return NumberFormat().parse(value) if number is None else number


def _part_of_date(value: str) -> str:
    """A year, or a month of one, as the start of the dates in it."""
    found = _PART_OF_DATE.fullmatch(value)
    if found is None or (found[2] and not 1 <= int(found[2]) <= 12):
        return ""
    return f"{found[1]}-{int(found[2]):02}" if found[2] else found[1]


def _text_key(cell: Cell, form: ColumnFormat) -> str | None:
    text = displayed(cell).strip()
    if is_missing(text):
        return None
    return (form.moment(text) if form.type == "date" else "") or text.casefold()
