"""The screen of a terminal: an emulator of what a person in front of it would see.

The part of ECMA-48 and xterm's control sequences (invisible-island.net/xterm/ctlseqs)
that text programs use: cursor, erasing, scrolling regions, both screens, tabs, wide
characters, line drawing. Colours are not kept. Pure computation.
"""

from __future__ import annotations

import codecs
import re
from bisect import bisect_left, bisect_right, insort
from collections import deque
from collections.abc import Callable, Iterator
from typing import Literal, NamedTuple
from unicodedata import combining, east_asian_width

# The cells of a terminal: what stands where, the cursor, and what scrolled away.

MAX_MARKS = 8
"""Combining characters kept on one character."""
MAX_COLUMNS = 500
TAB_COLUMNS = 8

_LINES = dict(zip("`afgjklmnopqrstuvwxyz{|}~", "◆▒°±┘┐┌└┼⎺⎻─⎼⎽├┤┴┬│≤≥π≠£·", strict=True))
_WIDE_TAIL = ""
"""The second cell of a wide character."""

Cells = list[str]


class ScreenGrid:
    """Two screens of `rows` x `columns` cells, the cursor, and the lines that left at the top.

    Attributes:
        row, column: where the cursor is, from 0.
        full_screen: whether the second screen is shown, as editors and pagers do.
        wraps, inserts, origin: the modes that writing and moving obey.
        drawing: for both character sets, whether letters stand for lines.
        shifted: which of the two is in use.
        scrolled: how many lines have left at the top.
    """

    def __init__(self, rows: int, columns: int, scrollback: int) -> None:
        self.rows, self.columns = rows, columns
        self.scrolled = 0
        self._history: deque[str] = deque(maxlen=scrollback)
        self.reset()

    def reset(self) -> None:
        """Everything as at the start; the history stays."""
        self.row = self.column = 0
        self.full_screen = False
        self.tabs = list(range(0, MAX_COLUMNS, TAB_COLUMNS))
        self._saved = (0, 0, False, (False, False), 0)
        self._last = ""
        self._cells = [self._blank() for _ in range(self.rows)]
        self._other = [self._blank() for _ in range(self.rows)]
        self.reset_modes()

    def reset_modes(self) -> None:
        """The modes as at the start; what is shown stays."""
        self._wrapping = False
        self.wraps = True
        self.inserts = self.origin = False
        self.drawing, self.shifted = [False, False], 0
        self._top, self._bottom = 0, self.rows - 1

    def lines(self) -> list[str]:
        """The rows of the screen, without blanks at their ends."""
        return ["".join(cells).rstrip() for cells in self._cells]

    def history(self, start: int = 0) -> list[str]:
        """Lines that left the screen at the top, from number `start` on, as far as kept."""
        first = self.scrolled - len(self._history)
        return list(self._history)[max(start - first, 0) :]

    @property
    def place_now(self) -> tuple[int, int]:
        """Where the cursor is, as a program counts it, from 1."""
        return self.row + 1 - (self._top if self.origin else 0), self.column + 1

    def fill(self, char: str) -> None:
        """The same character everywhere."""
        self._cells = [[char] * self.columns for _ in range(self.rows)]

    def resize(self, rows: int, columns: int) -> None:
        """Another size; rows at the top go when there is no room for them."""
        extra = self.row - rows + 1
        if extra > 0:
            for cells in self._cells[:extra]:
                self._leave(cells)
            del self._cells[:extra]
            self.row -= extra
        self.rows, self.columns = rows, columns
        for screen in (self._cells, self._other):
            del screen[rows:]
            screen += [self._blank() for _ in range(rows - len(screen))]
            for cells in screen:
                del cells[columns:]
                cells.extend(" " * (columns - len(cells)))
        self.column = min(self.column, columns - 1)
        self._wrapping = False
        self._top, self._bottom = 0, rows - 1

    # Writing

    def write(self, text: str) -> None:
        """Text without control characters, at the cursor."""
        if self.drawing[self.shifted]:
            text = "".join(_LINES.get(char, char) for char in text)
        if text.isascii() and not self.inserts:
            self._write_plain(text)
            return
        for char in text:
            self._put(char)

    def write_lines(self, lines: list[str]) -> None:
        """Lines of characters of one cell each, each with a return and a line feed behind it."""
        at = 0
        while at < len(lines) and not self._only_scrolls:
            self._write_line(lines[at])
            at += 1
        rest = lines[at:]
        if rest and max(map(len, rest)) <= self.columns:
            self._scroll_in(rest)
            return
        for line in rest:
            self._write_line(line)

    def _write_line(self, line: str) -> None:
        if line:
            self.write(line)
        self.next_row()

    @property
    def _only_scrolls(self) -> bool:
        """Whether a short line does nothing but move all others up."""
        whole = self._top == 0 and self.row == self._bottom == self.rows - 1
        plain = not (self.full_screen or self.inserts or self.drawing[self.shifted])
        return whole and plain and self.column == 0 and not self._wrapping

    def _scroll_in(self, lines: list[str]) -> None:
        """What a flood of output comes to: only the last lines can be seen."""
        above = ["".join(cells).rstrip() for cells in self._cells[:-1]]
        blank = self._cells[-1]
        above += [line.rstrip() for line in lines]
        self._last = lines[-1][-1:] or self._last
        self.scrolled += len(lines)
        self._history.extend(above[: len(lines)])
        stay = above[len(lines) :]
        self._cells = [list(line.ljust(self.columns)) for line in stay]
        self._cells.append(blank)

    def _write_plain(self, text: str) -> None:
        """Characters of one cell each, a row at a time."""
        at = 0
        while at < len(text):
            if self._wrapping:
                self.next_row()
            part = text[at : at + self.columns - self.column]
            if not self.wraps and len(part) < len(text) - at:
                part = part[:-1] + text[-1]
                at = len(text)
            cells = self._cells[self.row]
            end = self.column + len(part)
            self._break_wide(cells, self.column, end)
            cells[self.column : end] = part
            at += len(part)
            self._advance(end)
        self._last = text[-1]

    def _put(self, char: str) -> None:
        width = _width(char)
        if width == 0:
            self._mark(char)
            return
        if self._wrapping or (self.column + width > self.columns and self.wraps):
            self.next_row()
        column = min(self.column, self.columns - width)
        cells = self._cells[self.row]
        if self.inserts:
            cells[column:column] = [" "] * width
            del cells[self.columns :]
        self._break_wide(cells, column, column + width)
        cells[column : column + width] = [char] + [_WIDE_TAIL] * (width - 1)
        self._last = char
        self._advance(column + width)

    def _advance(self, end: int) -> None:
        self._wrapping = end >= self.columns and self.wraps
        self.column = min(end, self.columns - 1)

    def _mark(self, char: str) -> None:
        """Put a combining character on the one before."""
        cells = self._cells[self.row]
        at = self.column if self._wrapping else self.column - 1
        if at > 0 and cells[at] == _WIDE_TAIL:
            at -= 1
        if at >= 0 and len(cells[at]) <= MAX_MARKS:
            cells[at] += char

    def _break_wide(self, cells: Cells, start: int, end: int) -> None:
        """Half of a wide character that is overwritten leaves a blank."""
        if start > 0 and start < len(cells) and cells[start] == _WIDE_TAIL:
            cells[start - 1] = " "
        if end < len(cells) and cells[end] == _WIDE_TAIL:
            cells[end] = " "

    # Moving

    def next_row(self) -> None:
        """To the start of the next row."""
        self.column = 0
        self.line_feed()

    def line_feed(self) -> None:
        """Down by one row; the region scrolls at its end."""
        self._wrapping = False
        if self.row == self._bottom:
            self.scroll_up(1)
        elif self.row < self.rows - 1:
            self.row += 1

    def line_back(self) -> None:
        """Up by one row; the region scrolls at its start."""
        self._wrapping = False
        if self.row == self._top:
            self.scroll_down(1)
        elif self.row > 0:
            self.row -= 1

    def scroll_up(self, count: int) -> None:
        """The rows of the region move up; blank ones follow."""
        end = self._top + min(count, self._bottom - self._top + 1)
        gone = self._cells[self._top : end]
        del self._cells[self._top : end]
        if self._top == 0 and not self.full_screen:
            for cells in gone:
                self._leave(cells)
        place = self._bottom + 1 - len(gone)
        self._cells[place:place] = [self._blank() for _ in gone]

    def scroll_down(self, count: int) -> None:
        """The rows of the region move down."""
        count = min(count, self._bottom - self._top + 1)
        del self._cells[self._bottom - count + 1 : self._bottom + 1]
        self._cells[self._top : self._top] = [self._blank() for _ in range(count)]

    def _leave(self, cells: Cells) -> None:
        self.scrolled += 1
        self._history.append("".join(cells).rstrip())

    def move(self, row: int, column: int) -> None:
        """The cursor to a row and a column of the screen."""
        first, last = (self._top, self._bottom) if self.origin else (0, self.rows - 1)
        self.row = max(first, min(row, last))
        self.column = max(0, min(column, self.columns - 1))
        self._wrapping = False

    def place(self, row: int, column: int) -> None:
        """Move to a place as a program counts it."""
        self.move(row + (self._top if self.origin else 0), column)

    def up(self, count: int) -> None:
        """The cursor up, inside the region if it is there."""
        least = self._top if self.row >= self._top else 0
        self.row, self._wrapping = max(self.row - count, least), False

    def down(self, count: int) -> None:
        """The cursor down, inside the region if it is there."""
        bottom = self._bottom if self.row <= self._bottom else self.rows - 1
        self.row, self._wrapping = min(self.row + count, bottom), False

    def tab(self, count: int = 1) -> None:
        """To the next tab stops."""
        at = bisect_right(self.tabs, self.column) + count - 1
        last = self.columns - 1
        self.column = min(self.tabs[at], last) if at < len(self.tabs) else last
        self._wrapping = False

    def tab_back(self, count: int) -> None:
        """To the tab stops before."""
        at = bisect_left(self.tabs, self.column) - count
        self.column = self.tabs[at] if at >= 0 else 0
        self._wrapping = False

    def set_tab(self) -> None:
        """A tab stop at the cursor."""
        if self.column not in self.tabs:
            insort(self.tabs, self.column)

    def clear_tabs(self, how: int) -> None:
        """No tab stop at the cursor (0), none at all (3)."""
        if how == 3:
            self.tabs.clear()
        elif how == 0 and self.column in self.tabs:
            self.tabs.remove(self.column)

    # Erasing and shifting

    def erase_screen(self, how: int) -> None:
        """Blank after the cursor (0), before it (1), everywhere (2), the history (3)."""
        self._wrapping = False
        if how == 3:
            self._history.clear()
            return
        if how in (0, 1):
            self.erase_line(how)
        first, last = {0: (self.row + 1, self.rows), 1: (0, self.row)}.get(how, (0, self.rows))
        if how <= 2:
            self._cells[first:last] = [self._blank() for _ in range(last - first)]

    def erase_line(self, how: int) -> None:
        """Blank the row after the cursor (0), before it (1), all of it (2)."""
        self._wrapping = False
        start = self.column if how == 0 else 0
        end = self.column + 1 if how == 1 else self.columns
        cells = self._cells[self.row]
        self._break_wide(cells, start, end)
        cells[start:end] = [" "] * (end - start)

    def erase(self, count: int) -> None:
        """Blank some cells at the cursor."""
        cells = self._cells[self.row]
        end = min(self.column + count, self.columns)
        self._break_wide(cells, self.column, end)
        cells[self.column : end] = [" "] * (end - self.column)
        self._wrapping = False

    def delete(self, count: int) -> None:
        """Take cells out of the row at the cursor."""
        cells = self._cells[self.row]
        count = min(count, self.columns - self.column)
        self._break_wide(cells, self.column, self.column + count)
        del cells[self.column : self.column + count]
        cells += [" "] * count
        self._wrapping = False

    def insert(self, count: int) -> None:
        """Make room in the row at the cursor."""
        cells = self._cells[self.row]
        count = min(count, self.columns - self.column)
        self._break_wide(cells, self.column, self.column)
        cells[self.column : self.column] = [" "] * count
        del cells[self.columns :]
        if cells[-1] == _WIDE_TAIL:
            cells[-1] = " "
        self._wrapping = False

    def shift_rows(self, count: int, *, down: bool) -> None:
        """Insert or delete whole rows at the cursor."""
        if not self._top <= self.row <= self._bottom:
            return
        top, full = self._top, self.full_screen
        # Rows deleted in the middle are edited away; they have not scrolled off.
        self._top, self.full_screen = self.row, True
        (self.scroll_down if down else self.scroll_up)(count)
        self._top, self.full_screen = top, full
        self.column, self._wrapping = 0, False

    def set_region(self, top: int, bottom: int) -> None:
        """The rows that scroll, the first and the last."""
        bottom = min(bottom, self.rows - 1)
        if top < bottom:
            self._top, self._bottom = top, bottom
            self.place(0, 0)

    # Both screens

    def save(self) -> None:
        """Keep the cursor and how it writes."""
        drawing = (self.drawing[0], self.drawing[1])
        self._saved = (self.row, self.column, self.origin, drawing, self.shifted)

    def restore(self) -> None:
        """The cursor as it was kept."""
        row, column, self.origin, drawing, self.shifted = self._saved
        self.drawing = list(drawing)
        self.move(row, column)

    def change_screen(self, *, on: bool, keeps_cursor: bool) -> None:
        """Show the other screen, or the first again."""
        if on and keeps_cursor:
            self.save()
        self._cells, self._other = self._other, self._cells
        if on:
            self._cells = [self._blank() for _ in range(self.rows)]
        self.full_screen = on
        if not on and keeps_cursor:
            self.restore()

    def repeat(self, count: int) -> None:
        """The last character again, a row of it at most: no program fills a screen so."""
        if self._last:
            self.write(self._last * min(count, self.columns))

    def _blank(self) -> Cells:
        return [" "] * self.columns


def _width(char: str) -> int:
    if combining(char) or char in "\u200b\u200c\u200d\u2060\ufeff" or "\ufe00" <= char <= "\ufe0f":
        return 0
    return 2 if east_asian_width(char) in "WF" else 1


# What a program sends to a terminal, taken apart: text, control characters, sequences.

Kind = Literal["lines", "text", "control", "escape", "csi", "osc"]

MAX_PENDING_CHARS = 65_536
"""Characters of an unfinished sequence that are held; a longer one is dropped."""

_TOKEN = re.compile(
    r"""
    (?P<lines>(?:[\x20-\x7e]*\r\n)+)
  | (?P<text>[^\x00-\x1f\x7f-\x9f]+)
  | \x1b\[(?P<csi>[0-?]*[\ -/]*[@-~])
  | \x1b\](?P<osc>[^\x07\x1b]*)(?:\x07|\x1b\\)
  | \x1b[PX^_](?:[^\x1b]|\x1b(?!\\))*\x1b\\
  | \x1b(?P<escape>[\ -/]*[0-OQ-WYZ\\`-~])
  | (?P<control>[\x00-\x1a\x1c-\x1f\x7f-\x9f])
    """,
    re.VERBOSE,
)
_UNFINISHED = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*|\][^\x07\x1b]*\x1b?|[PX^_](?:[^\x1b]|\x1b(?!\\))*|[ -/]*)\Z"
)
_INTERRUPTED = re.compile(r"\x1b\[[0-?]*[ -/]*(?P<control>[\x00-\x1a\x1c-\x1f])")


class TerminalToken(NamedTuple):
    """One piece of a stream.

    `value` is whole lines of plain text with their ends, other text, the control
    character, or what stands behind `ESC`, `ESC [` or `ESC ]`, without the terminator of
    the last.
    """

    kind: Kind
    value: str


class SequenceParser:
    """Takes bytes in pieces of any size and gives tokens; the split does not matter."""

    def __init__(self) -> None:
        self._decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        self._pending = ""

    def feed(self, data: bytes) -> Iterator[TerminalToken]:
        """The tokens that are complete now."""
        text = self._pending + self._decode(data)
        self._pending = ""
        at = 0
        while at < len(text):
            found = _TOKEN.match(text, at)
            if found is not None:
                at = found.end()
                kind = found.lastgroup
                if kind is not None:  # else a string for devices, which says nothing here
                    yield TerminalToken(kind, found[kind])  # type: ignore[arg-type]
                continue
            crossed = _INTERRUPTED.match(text, at)
            if crossed is not None:  # a control character inside a sequence acts at once
                yield TerminalToken("control", crossed["control"])
                cut = crossed.start("control")
                text = text[at:cut] + text[cut + 1 :]
                at = 0
            elif _UNFINISHED.match(text, at) and len(text) - at <= MAX_PENDING_CHARS:
                self._pending = text[at:]
                return
            else:
                at += 1


MAX_ROWS = 200
SCROLLBACK = 5_000
"""Lines kept that have left the screen at its top."""
TITLE_CHARS = 200
MAX_NUMBER = 99_999

Numbers = list[int]


class Screen:
    """A terminal of `rows` x `columns` characters that takes what a program writes.

    Attributes:
        grid: what is shown.
        title: what the program calls its window.
        application_keys: whether arrows are to be sent in their other form.
        replies: answers to what the program asked its terminal; whoever owns the
            connection sends them and empties this.
    """

    def __init__(self, rows: int = 24, columns: int = 80, scrollback: int = SCROLLBACK) -> None:
        self.grid = ScreenGrid(*_size(rows, columns), scrollback)
        self.title = ""
        self.replies = bytearray()
        self.application_keys = False
        self._sequences = SequenceParser()

    def feed(self, data: bytes) -> None:
        """Show what a program has written; the pieces may be cut anywhere."""
        for _ in self.steps(data):
            pass

    def steps(self, data: bytes) -> Iterator[None]:
        """The same, sequence by sequence: a few bytes can ask for a lot of work."""
        for token in self._sequences.feed(data):
            if token.kind == "lines":
                self.grid.write_lines(token.value.split("\r\n")[:-1])
            elif token.kind == "text":
                self.grid.write(token.value)
            elif token.kind == "control":
                self._control(token.value)
            elif token.kind == "escape":
                self._escape(token.value)
            elif token.kind == "csi":
                self._sequence(token)
            else:
                self._command(token.value)
            yield

    def resize(self, rows: int, columns: int) -> None:
        """Another size."""
        self.grid.resize(*_size(rows, columns))

    def _control(self, char: str) -> None:
        action = _CONTROLS.get(char)
        if action is not None:
            action(self.grid)

    def _escape(self, value: str) -> None:
        if value in _ESCAPES:
            _ESCAPES[value](self.grid)
        elif len(value) == 2 and value[0] in "()":
            self.grid.drawing[value[0] == ")"] = value[1] == "0"
        if value == "c":
            self.application_keys = False

    def _command(self, value: str) -> None:
        number, _, rest = value.partition(";")
        if number in ("0", "2"):
            self.title = rest[:TITLE_CHARS]

    def _sequence(self, token: TerminalToken) -> None:
        final, body = token.value[-1], token.value[:-1]
        if body[:1] == "?":
            self._private(final, _numbers(body[1:]))
        elif body[:1] == ">" and final == "c":
            self.replies += b"\x1b[>0;0;0c"
        elif body == "!" and final == "p":
            self.grid.reset_modes()
            self.application_keys = False
        elif final == "n":
            self._report(_first(_numbers(body)), "")
        elif final == "c" and not any(_numbers(body)):
            self.replies += b"\x1b[?1;2c"
        elif final in _SEQUENCES and not body.strip("0123456789;:"):
            _SEQUENCES[final](self.grid, _numbers(body))

    def _private(self, final: str, numbers: Numbers) -> None:
        if final == "n":
            self._report(_first(numbers), "?")
        elif final in "JK":
            _SEQUENCES[final](self.grid, numbers)
        elif final in "hl":
            for number in numbers:
                self._switch(number, on=final == "h")

    def _report(self, request: int, mark: str) -> None:
        if request == 5:
            self.replies += b"\x1b[0n"
        elif request == 6:
            row, column = self.grid.place_now
            self.replies += f"\x1b[{mark}{row};{column}R".encode()

    def _switch(self, mode: int, *, on: bool) -> None:
        grid = self.grid
        if mode == 1:
            self.application_keys = on
        elif mode == 6:
            grid.origin = on
            grid.place(0, 0)
        elif mode == 7:
            grid.wraps = on
        elif mode == 1048:
            (grid.save if on else grid.restore)()
        elif mode in (47, 1047, 1049) and on != grid.full_screen:
            grid.change_screen(on=on, keeps_cursor=mode == 1049)


def _size(rows: int, columns: int) -> tuple[int, int]:
    return max(1, min(rows, MAX_ROWS)), max(2, min(columns, MAX_COLUMNS))


def _numbers(body: str) -> Numbers:
    """The parameters of a sequence; what is left out is 0."""
    heads = (part.partition(":")[0] for part in body.split(";")) if body else ()
    return [min(int(head[:9]), MAX_NUMBER) if head.isdecimal() else 0 for head in heads]


def _first(numbers: Numbers, default: int = 0) -> int:
    return _at(numbers, 0, default)


def _at(numbers: Numbers, index: int, default: int) -> int:
    """A parameter; 0 and nothing are the default."""
    return (numbers[index] if index < len(numbers) else 0) or default


def _count_action(act: Callable[[ScreenGrid, int], None]) -> Callable[[ScreenGrid, Numbers], None]:
    """An action that takes how often, once if nothing is said."""
    return lambda grid, numbers: act(grid, _first(numbers, 1))


def _mode_action(act: Callable[[ScreenGrid, int], None]) -> Callable[[ScreenGrid, Numbers], None]:
    """An action that takes in which way, 0 if nothing is said."""
    return lambda grid, numbers: act(grid, _first(numbers))


def _column(grid: ScreenGrid, column: int) -> None:
    grid.move(grid.row, column)


def _place(grid: ScreenGrid, numbers: Numbers) -> None:
    grid.place(_first(numbers, 1) - 1, _at(numbers, 1, 1) - 1)


def _row(grid: ScreenGrid, row: int) -> None:
    grid.place(row - 1, grid.column)


def _down_to_start(grid: ScreenGrid, count: int) -> None:
    grid.down(count)
    _column(grid, 0)


def _up_to_start(grid: ScreenGrid, count: int) -> None:
    grid.up(count)
    _column(grid, 0)


def _region(grid: ScreenGrid, numbers: Numbers) -> None:
    grid.set_region(_first(numbers, 1) - 1, _at(numbers, 1, grid.rows) - 1)


def _insert_mode(grid: ScreenGrid, numbers: Numbers, *, on: bool) -> None:
    if 4 in numbers:
        grid.inserts = on


def _shift(grid: ScreenGrid, charset: int) -> None:
    grid.shifted = charset


_CONTROLS: dict[str, Callable[[ScreenGrid], None]] = {
    "\b": lambda grid: _column(grid, grid.column - 1),
    "\t": ScreenGrid.tab,
    "\n": ScreenGrid.line_feed,
    "\x0b": ScreenGrid.line_feed,
    "\x0c": ScreenGrid.line_feed,
    "\r": lambda grid: _column(grid, 0),
    "\x0e": lambda grid: _shift(grid, 1),
    "\x0f": lambda grid: _shift(grid, 0),
    "\x84": ScreenGrid.line_feed,
    "\x85": ScreenGrid.next_row,
    "\x8d": ScreenGrid.line_back,
}
_ESCAPES: dict[str, Callable[[ScreenGrid], None]] = {
    "7": ScreenGrid.save,
    "8": ScreenGrid.restore,
    "D": ScreenGrid.line_feed,
    "E": ScreenGrid.next_row,
    "H": ScreenGrid.set_tab,
    "M": ScreenGrid.line_back,
    "c": ScreenGrid.reset,
    "#8": lambda grid: grid.fill("E"),
}
_SEQUENCES: dict[str, Callable[[ScreenGrid, Numbers], None]] = {
    "@": _count_action(ScreenGrid.insert),
    "A": _count_action(ScreenGrid.up),
    "B": _count_action(ScreenGrid.down),
    "C": _count_action(lambda grid, count: _column(grid, grid.column + count)),
    "D": _count_action(lambda grid, count: _column(grid, grid.column - count)),
    "E": _count_action(_down_to_start),
    "F": _count_action(_up_to_start),
    "G": _count_action(lambda grid, column: _column(grid, column - 1)),
    "H": _place,
    "I": _count_action(ScreenGrid.tab),
    "J": _mode_action(ScreenGrid.erase_screen),
    "K": _mode_action(ScreenGrid.erase_line),
    "L": _count_action(lambda grid, count: grid.shift_rows(count, down=True)),
    "M": _count_action(lambda grid, count: grid.shift_rows(count, down=False)),
    "P": _count_action(ScreenGrid.delete),
    "S": _count_action(ScreenGrid.scroll_up),
    "T": _count_action(ScreenGrid.scroll_down),
    "X": _count_action(ScreenGrid.erase),
    "Z": _count_action(ScreenGrid.tab_back),
    "`": _count_action(lambda grid, column: _column(grid, column - 1)),
    "a": _count_action(lambda grid, count: _column(grid, grid.column + count)),
    "b": _count_action(ScreenGrid.repeat),
    "d": _count_action(_row),
    "e": _count_action(ScreenGrid.down),
    "f": _place,
    "g": _mode_action(ScreenGrid.clear_tabs),
    "h": lambda grid, numbers: _insert_mode(grid, numbers, on=True),
    "l": lambda grid, numbers: _insert_mode(grid, numbers, on=False),
    "r": _region,
    "s": lambda grid, _: grid.save(),
    "u": lambda grid, _: grid.restore(),
}
