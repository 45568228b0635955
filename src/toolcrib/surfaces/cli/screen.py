"""Plain text for people: tables that fit the terminal, and nothing that can play tricks on it."""

from __future__ import annotations

import json
import re
import shutil
import sys
import textwrap
import unicodedata
from collections.abc import Iterable, Sequence
from datetime import datetime

from toolcrib.text.display import visible as visible  # noqa: PLC0414 - the commands import it from here

COLUMNS = 80
WORD_OR_WIDE = re.compile(
    r"[\u2e80-\uffef][\u3000-\u303f\uff00-\uff0f\uff1a-\uff1f]*|[^\s\u2e80-\uffef]+\s*|\s+"
)
"""Between these a line may end: a wide character takes the full stop behind it along."""
MAX_COLUMNS = 160


def width() -> int:
    """Columns to fill: the terminal's, or 80 where output goes elsewhere."""
    if not sys.stdout.isatty():
        return COLUMNS
    return max(40, min(shutil.get_terminal_size((COLUMNS, 24)).columns, MAX_COLUMNS))


def columns() -> int:
    """Columns that the terminal really has; 80 where output goes elsewhere."""
    return max(shutil.get_terminal_size((COLUMNS, 24)).columns, 10)


COLOURS = {"red": "\x1b[31m", "dim": "\x1b[2m"}


def coloured(name: str) -> tuple[str, str]:
    """What starts and ends a colour on stderr; nothing where it is no terminal, or by NO_COLOR."""
    from toolcrib.core.config import environment

    plain = environment(("NO_COLOR", "TERM"))
    if not sys.stderr.isatty() or plain.get("NO_COLOR") or plain.get("TERM") == "dumb":
        return "", ""
    return COLOURS[name], "\x1b[0m"


def json_text(value: object, indent: int | None = None) -> str:
    """A value as JSON, in which what could play tricks on a terminal is written as an escape."""
    text = json.dumps(value, ensure_ascii=False, indent=indent)
    if text.isprintable() and text.isascii():
        return text
    return "".join(char if visible(char) == char else _escape(char) for char in text)


def _escape(char: str) -> str:
    """As JSON writes it in ASCII, but for the last character of that, which it leaves as it is."""
    return json.dumps(char)[1:-1] if ord(char) > 0x7F else f"\\u{ord(char):04x}"


def local_time(seconds: float) -> datetime:
    """A time as the clock on the wall says it."""
    return datetime.fromtimestamp(seconds).astimezone()


def one_line(text: str, columns: int) -> str:
    """The text on one line of at most so many columns."""
    flat = visible(" ".join(text.split()))
    if cells(flat) <= columns:
        return flat
    fitting, used = [], 0
    for char in flat:
        used += cells(char)
        if used > columns - 3:
            break
        fitting.append(char)
    return f"{''.join(fitting)}..."


def cells(text: str) -> int:
    """Columns that a text takes; wide East Asian characters take two."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1
        for c in text
    )


def table(
    rows: Iterable[Sequence[str]], right: Sequence[int] = (), indent: str = "", *, cut: bool = True
) -> list[str]:
    """Rows with aligned columns, as wide as the screen.

    Args:
        rows: the cells of each row, all of one length.
        right: the columns that are aligned to the right.
        indent: what each line starts with.
        cut: cut the last column at the edge; else it goes on below itself.
    """
    displayed = [[visible(cell) for cell in row] for row in rows]
    if not displayed:
        return []
    widths = [max(cells(cell) for cell in column) for column in zip(*displayed, strict=True)]
    used = len(indent) + sum(widths[:-1]) + 2 * (len(widths) - 1)
    room = max(8, width() - used)
    lines = []
    for row in displayed:
        parts = [
            _padded(cell, size, to_right=at in right)
            for at, (cell, size) in enumerate(zip(row[:-1], widths[:-1], strict=True))
        ]
        last = one_line(row[-1], room) if cut else _filled(row[-1], room, " " * used)
        lines.append(f"{indent}{'  '.join([*parts, last])}".rstrip())
    return lines


def _filled(text: str, columns: int, below: str) -> str:
    """Lines of so many columns; words stay whole, and wide characters need no space to break."""
    lines = [""]
    for piece in WORD_OR_WIDE.findall(text):
        if lines[-1] and cells((lines[-1] + piece).rstrip()) > columns:
            lines.append("")
        lines[-1] += piece
    return f"\n{below}".join(line.rstrip() for line in lines)


def wrapped(text: str, indent: str = "", more: str = "") -> str:
    """The text in lines that fit, each with an indent; long words stay whole.

    Args:
        text: it.
        indent: before each line.
        more: before further lines, where they are to be told from others.
    """
    return textwrap.fill(
        visible(text),
        width(),
        initial_indent=indent,
        subsequent_indent=more or indent,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _padded(cell: str, size: int, *, to_right: bool) -> str:
    space = " " * (size - cells(cell))
    return f"{space}{cell}" if to_right else f"{cell}{space}"
