"""Names of tools and arguments as people and models write them, whatever their case and dashes."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import SequenceMatcher

MAX_COMPARED_CHARS = 80


def plain(name: object) -> str:
    """A name without case, spaces, dashes and underscores: `readFile`, `Read File`, `read_file`."""
    text = str(name).strip()
    return text.replace("-", "").replace("_", "").replace(" ", "").lower()


def nearest(
    wanted: object, names: Iterable[str], count: int = 3, min_ratio: float = 0.0
) -> list[str]:
    """The names most like a wrong one, best first.

    Args:
        wanted: what was written.
        names: what there is.
        count: how many at most.
        min_ratio: how alike they must be, from 0 to 1.
    """
    target = plain(wanted)[:MAX_COMPARED_CHARS]
    scored = [(SequenceMatcher(None, target, plain(name)).ratio(), name) for name in names]
    scored.sort(key=lambda item: -item[0])
    return [name for likeness, name in scored[:count] if likeness >= min_ratio]


def name_set(names: str) -> frozenset[str]:
    """The words of a text, for tables of names."""
    return frozenset(names.split())
