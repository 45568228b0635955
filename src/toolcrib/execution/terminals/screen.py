"""The screen of a terminal, as a person in front of it would see it.

The part of ECMA-48 and xterm's control sequences (invisible-island.net/xterm/ctlseqs)
that text programs use: cursor, erasing, scrolling regions, both screens, tabs, wide
characters, line drawing. Colours are not kept. Pure computation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from toolcrib.execution.terminals.grid import MOST_COLUMNS, Grid
from toolcrib.execution.terminals.sequences import Sequences, Token

MOST_ROWS = 200
SCROLLBACK = 5_000
"""Lines kept that have left the screen at its top."""
TITLE_CHARS = 200
MOST_NUMBER = 99_999

Numbers = list[int]


class Screen:
    """A terminal of `rows` x `columns` characters that takes what a program writes.

    Attributes:
        grid: what is shown.
        title: what the program calls its window.
        application_keys: whether arrows are to be sent in their other form.
        bracketed_paste: whether pasted text is to be marked as such.
        replies: answers to what the program asked its terminal; whoever owns the
            connection sends them and empties this.
    """

    def __init__(self, rows: int = 24, columns: int = 80, scrollback: int = SCROLLBACK) -> None:
        self.grid = Grid(*_size(rows, columns), scrollback)
        self.title = ""
        self.replies = bytearray()
        self.application_keys = False
        self.bracketed_paste = False
        self._sequences = Sequences()

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
            self.application_keys = self.bracketed_paste = False

    def _command(self, value: str) -> None:
        number, _, rest = value.partition(";")
        if number in ("0", "2"):
            self.title = rest[:TITLE_CHARS]

    def _sequence(self, token: Token) -> None:
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

    def _report(self, asked: int, mark: str) -> None:
        if asked == 5:
            self.replies += b"\x1b[0n"
        elif asked == 6:
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
        elif mode == 2004:
            self.bracketed_paste = on
        elif mode == 1048:
            (grid.save if on else grid.restore)()
        elif mode in (47, 1047, 1049) and on != grid.full_screen:
            grid.change_screen(on=on, keeps_cursor=mode == 1049)


def _size(rows: int, columns: int) -> tuple[int, int]:
    return max(1, min(rows, MOST_ROWS)), max(2, min(columns, MOST_COLUMNS))


def _numbers(body: str) -> Numbers:
    """The parameters of a sequence; what is left out is 0."""
    heads = (part.partition(":")[0] for part in body.split(";")) if body else ()
    return [min(int(head[:9]), MOST_NUMBER) if head.isdecimal() else 0 for head in heads]


def _first(numbers: Numbers, default: int = 0) -> int:
    return _at(numbers, 0, default)


def _at(numbers: Numbers, index: int, default: int) -> int:
    """A parameter; 0 and nothing are the default."""
    return (numbers[index] if index < len(numbers) else 0) or default


def _count(act: Callable[[Grid, int], None]) -> Callable[[Grid, Numbers], None]:
    """An action that takes how often, once if nothing is said."""
    return lambda grid, numbers: act(grid, _first(numbers, 1))


def _how(act: Callable[[Grid, int], None]) -> Callable[[Grid, Numbers], None]:
    """An action that takes in which way, 0 if nothing is said."""
    return lambda grid, numbers: act(grid, _first(numbers))


def _column(grid: Grid, column: int) -> None:
    grid.move(grid.row, column)


def _place(grid: Grid, numbers: Numbers) -> None:
    grid.place(_first(numbers, 1) - 1, _at(numbers, 1, 1) - 1)


def _row(grid: Grid, row: int) -> None:
    grid.place(row - 1, grid.column)


def _down_to_start(grid: Grid, count: int) -> None:
    grid.down(count)
    _column(grid, 0)


def _up_to_start(grid: Grid, count: int) -> None:
    grid.up(count)
    _column(grid, 0)


def _region(grid: Grid, numbers: Numbers) -> None:
    grid.set_region(_first(numbers, 1) - 1, _at(numbers, 1, grid.rows) - 1)


def _clear_tabs(grid: Grid, how: int) -> None:
    if how == 3:
        grid.tabs.clear()
    elif how == 0:
        grid.tabs.discard(grid.column)


def _insert_mode(grid: Grid, numbers: Numbers, *, on: bool) -> None:
    if 4 in numbers:
        grid.inserts = on


def _shift(grid: Grid, charset: int) -> None:
    grid.shifted = charset


_CONTROLS: dict[str, Callable[[Grid], None]] = {
    "\b": lambda grid: _column(grid, grid.column - 1),
    "\t": Grid.tab,
    "\n": Grid.line_feed,
    "\x0b": Grid.line_feed,
    "\x0c": Grid.line_feed,
    "\r": lambda grid: _column(grid, 0),
    "\x0e": lambda grid: _shift(grid, 1),
    "\x0f": lambda grid: _shift(grid, 0),
    "\x84": Grid.line_feed,
    "\x85": Grid.next_row,
    "\x8d": Grid.line_back,
}
_ESCAPES: dict[str, Callable[[Grid], None]] = {
    "7": Grid.save,
    "8": Grid.restore,
    "D": Grid.line_feed,
    "E": Grid.next_row,
    "H": lambda grid: grid.tabs.add(grid.column),
    "M": Grid.line_back,
    "c": Grid.reset,
    "#8": lambda grid: grid.fill("E"),
}
_SEQUENCES: dict[str, Callable[[Grid, Numbers], None]] = {
    "@": _count(Grid.insert),
    "A": _count(Grid.up),
    "B": _count(Grid.down),
    "C": _count(lambda grid, count: _column(grid, grid.column + count)),
    "D": _count(lambda grid, count: _column(grid, grid.column - count)),
    "E": _count(_down_to_start),
    "F": _count(_up_to_start),
    "G": _count(lambda grid, column: _column(grid, column - 1)),
    "H": _place,
    "I": _count(Grid.tab),
    "J": _how(Grid.erase_screen),
    "K": _how(Grid.erase_line),
    "L": _count(lambda grid, count: grid.shift_rows(count, down=True)),
    "M": _count(lambda grid, count: grid.shift_rows(count, down=False)),
    "P": _count(Grid.delete),
    "S": _count(Grid.scroll_up),
    "T": _count(Grid.scroll_down),
    "X": _count(Grid.erase),
    "Z": _count(Grid.tab_back),
    "`": _count(lambda grid, column: _column(grid, column - 1)),
    "a": _count(lambda grid, count: _column(grid, grid.column + count)),
    "b": _count(Grid.repeat),
    "d": _count(_row),
    "e": _count(Grid.down),
    "f": _place,
    "g": _how(_clear_tabs),
    "h": lambda grid, numbers: _insert_mode(grid, numbers, on=True),
    "l": lambda grid, numbers: _insert_mode(grid, numbers, on=False),
    "r": _region,
    "s": lambda grid, _: grid.save(),
    "u": lambda grid, _: grid.restore(),
}
