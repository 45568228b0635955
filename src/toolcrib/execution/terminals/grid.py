"""The cells of a terminal: what stands where, the cursor, and what scrolled away."""

from __future__ import annotations

from collections import deque
from unicodedata import combining, east_asian_width

MOST_MARKS = 8
"""Combining characters kept on one character."""
MOST_COLUMNS = 500
TAB = 8

_LINES = dict(zip("`afgjklmnopqrstuvwxyz{|}~", "◆▒°±┘┐┌└┼⎺⎻─⎼⎽├┤┴┬│≤≥π≠£·", strict=True))
_BEHIND = ""
"""The second cell of a wide character."""

Cells = list[str]


class Grid:
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
        self.tabs = set(range(0, MOST_COLUMNS, TAB))
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
        cells[column : column + width] = [char] + [_BEHIND] * (width - 1)
        self._last = char
        self._advance(column + width)

    def _advance(self, end: int) -> None:
        self._wrapping = end >= self.columns and self.wraps
        self.column = min(end, self.columns - 1)

    def _mark(self, char: str) -> None:
        """Put a combining character on the one before."""
        cells = self._cells[self.row]
        at = self.column if self._wrapping else self.column - 1
        if at > 0 and cells[at] == _BEHIND:
            at -= 1
        if at >= 0 and len(cells[at]) <= MOST_MARKS:
            cells[at] += char

    def _break_wide(self, cells: Cells, start: int, end: int) -> None:
        """Half of a wide character that is overwritten leaves a blank."""
        if start > 0 and start < len(cells) and cells[start] == _BEHIND:
            cells[start - 1] = " "
        if end < len(cells) and cells[end] == _BEHIND:
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
        for _ in range(min(count, self._bottom - self._top + 1)):
            gone = self._cells.pop(self._top)
            if self._top == 0 and not self.full_screen:
                self._leave(gone)
            self._cells.insert(self._bottom, self._blank())

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
        most = self._bottom if self.row <= self._bottom else self.rows - 1
        self.row, self._wrapping = min(self.row + count, most), False

    def tab(self, count: int = 1) -> None:
        """To the next tab stops."""
        for _ in range(min(count, self.columns)):
            ahead = [at for at in self.tabs if self.column < at < self.columns]
            self.column = min(ahead, default=self.columns - 1)
        self._wrapping = False

    def tab_back(self, count: int) -> None:
        """To the tab stops before."""
        for _ in range(min(count, self.columns)):
            self.column = max((at for at in self.tabs if at < self.column), default=0)
        self._wrapping = False

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
        if cells[-1] == _BEHIND:
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
        """The last character again."""
        if self._last:
            self.write(self._last * min(count, self.columns * self.rows))

    def _blank(self) -> Cells:
        return [" "] * self.columns


def _width(char: str) -> int:
    if combining(char) or char in "\u200b\u200c\u200d\u2060\ufeff" or "\ufe00" <= char <= "\ufe0f":
        return 0
    return 2 if east_asian_width(char) in "WF" else 1
