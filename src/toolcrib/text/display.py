"""Sizes, times, names, JSON and CSV as a reader sees them."""

from __future__ import annotations

import csv
import json
import re
import time
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

UNITS = ("bytes", "KB", "MB", "GB", "TB")


def size_of(count: int) -> str:
    """Bytes for a reader: `812 bytes`, `1.2 KB`."""
    size, unit = float(count), 0
    while size >= 1000 and unit < len(UNITS) - 1:
        size, unit = size / 1000, unit + 1
    return counted(count, "byte") if not unit else f"{size:.1f} {UNITS[unit]}"


def moment(when: float) -> str:
    """The local day and minute of a time, as `2026-11-23 09:05`."""
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(when))


def counted(number: int, noun: str, many: str = "") -> str:
    """A number with its noun: `1 file`, `2,000 files`; `many` where an s is not its plural."""
    return f"{number:,} {noun if number == 1 else many or f'{noun}s'}"


def some_of(names: Iterable[str], limit: int = 3) -> str:
    """The first of some names as they can be shown: `a, b, c and 2 more`."""
    listed = [printable(name) for name in names]
    more = f" and {len(listed) - limit:,} more" if len(listed) > limit else ""
    return ", ".join(listed[:limit]) + more


def some_lines(lines: Sequence[str], limit: int) -> str:
    """The first of some lines, with `[2 more]` after them where there are."""
    more = [f"[{len(lines) - limit:,} more]"] if len(lines) > limit else []
    return "\n".join([*lines[:limit], *more])


def with_ellipsis(text: str, limit: int) -> str:
    """A text of so many characters at most; an ellipsis ends one that was longer."""
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def printable(name: str) -> str:
    """A name as it can be shown: what is not text in it is written as an escape."""
    if name.isprintable():
        return name
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in name)


def visible(text: str) -> str:
    """The text with every control and invisible character written out, line feeds kept.

    What a model wrote is shown to a person who decides by it: an escape sequence or a
    character that turns the writing direction must not change what they see.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        _escape(char) if char not in "\n\t" and _is_hidden(char, before) else char
        for before, char in zip(f" {text}", text, strict=False)
    )


BLANK = frozenset("\u115f\u1160\u2800\u3164\uffa0\U0001d159")
"""Letters and signs that look like a space."""
UNSEEN = re.compile(
    "[\u034f\u17b4\u17b5\u180b-\u180f\u2d7f\ufe00-\ufe0f\U0001107f\U00016fe4\U000e0100-\U000e01ef]"
)
"""Marks that are not seen by themselves, such as those that choose a variant of a sign."""


def _is_hidden(char: str, before: str) -> bool:
    if char == "\ufe0f" and unicodedata.category(before) == "So":
        return False  # an emoji, which is seen by it
    return (
        char in BLANK
        or UNSEEN.match(char) is not None
        or unicodedata.category(char) in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")
    )


def _escape(char: str) -> str:
    code = ord(char)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{{{code:x}}}"


MAX_JSON_DEPTH = 40


def formatted_json(value: Any, limit: int) -> tuple[str, bool] | None:
    """A value with two spaces a level; None for one so deep that this would multiply it.

    Args:
        value: what `json.loads` gave.
        limit: characters that are wanted.

    Returns:
        The text up to there, and whether that is all of it.
    """
    if _is_deep(value):
        return None
    parts: list[str] = []
    size = 0
    for part in json.JSONEncoder(ensure_ascii=False, indent=2).iterencode(value):
        parts.append(part)
        size += len(part)
        if size > limit:
            return "".join(parts)[:limit], False
    return "".join(parts), True


def _is_deep(value: Any) -> bool:
    level = [value]
    for _ in range(MAX_JSON_DEPTH):
        level = [
            child
            for item in level
            if isinstance(item, dict | list)
            for child in (item.values() if isinstance(item, dict) else item)
            if isinstance(child, dict | list)
        ]
        if not level:
            return False
    return True


DELIMITERS = ",;\t|"
SAMPLE_CHARS = 65_536
"""Characters by which the delimiter is found."""
MAX_FIELD_LINES = 200
"""Line ends in one field; more comes from a quote that nobody closed."""

AFTER_LAST = "end"
"""A line of one field."""


def delimiter_of(source: str) -> str:
    """The character that parts the most lines of the start alike."""
    sample = source[:SAMPLE_CHARS]
    if len(source) > SAMPLE_CHARS:
        sample = sample.rpartition("\n")[0] or sample
    lines = [line for line in sample.split("\n") if line]

    def score(delimiter: str) -> float:
        # The sample may end within quotes; where all of it stands in them, lines tell as well.
        rows = _parsed(sample, delimiter)[0] or [line.split(delimiter) for line in lines]
        widths = Counter(map(len, rows))
        width, count = widths.most_common(1)[0] if widths else (1, 0)
        return count / len(rows) * (1 + min(width, 20) / 100) if width > 1 else 0.0

    return max(DELIMITERS, key=score)


def rows_of(source: str, delimiter: str) -> list[list[str]] | None:
    """The rows that are not empty; None where quotes do not match, or a field is too long.

    Args:
        source: the text, its line ends line feeds.
        delimiter: what parts the fields.
    """
    rows, is_whole = _parsed(source, delimiter)
    if not is_whole:
        return None
    if any(field.count("\n") > MAX_FIELD_LINES for row in rows for field in row):
        return None
    return rows


def _parsed(source: str, delimiter: str) -> tuple[list[list[str]], bool]:
    """The rows before a quote that is open to the end, and whether they are all."""
    # Such a quote takes the line after the last one in.
    lines = (f"{line}\n" for line in [*source.split("\n"), AFTER_LAST])
    rows: list[list[str]] = []
    try:
        rows += filter(any, csv.reader(lines, delimiter=delimiter, skipinitialspace=True))
    except csv.Error:
        return rows, False
    return rows[:-1], rows[-1] == [AFTER_LAST]


def markdown_table(rows: Sequence[Sequence[str]], columns: int) -> str:
    """Rows as a table of Markdown, the first one as its head; short ones are filled up."""

    def laid_out(row: Sequence[str]) -> str:
        cells = [" ".join(field.split()).replace("|", "\\|") for field in row]
        return f"| {' | '.join(cells + [''] * (columns - len(cells)))} |"

    head, *body = map(laid_out, rows)
    return "\n".join([head, "|" + " --- |" * columns, *body])
