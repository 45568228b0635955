"""Numbers and names as a reader sees them."""

from __future__ import annotations

from collections.abc import Sequence

UNITS = ("bytes", "KB", "MB", "GB", "TB")


def size_of(count: int) -> str:
    """Bytes for a reader: `812 bytes`, `1.2 KB`."""
    size, unit = float(count), 0
    while size >= 1000 and unit < len(UNITS) - 1:
        size, unit = size / 1000, unit + 1
    return counted(count, "byte") if not unit else f"{size:.1f} {UNITS[unit]}"


def counted(number: int, noun: str) -> str:
    """A number with its noun: `1 file`, `2,000 files`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def some(names: Sequence[str], most: int = 3) -> str:
    """The first of some names: `a, b, c and 2 more`."""
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def printable(name: str) -> str:
    """A name as it can be shown: what is not text in it is written as an escape."""
    if name.isprintable():
        return name
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in name)
