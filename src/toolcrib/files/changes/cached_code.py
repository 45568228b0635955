"""Compiled code of Python: what lies in a `__pycache__` is run without a look at its source.

No diff shows what it does, and Python makes it again, so nothing puts it there for Python.
"""

from __future__ import annotations

from collections.abc import Iterable

from toolcrib.core.errors import PathDenied
from toolcrib.files.changes.step import Change
from toolcrib.files.path_rules import fold
from toolcrib.files.repositories.writes import made_by

CODE_CACHE = "__pycache__"
LEFT_OUT = f"Left out, since Python makes it by itself: {CODE_CACHE}"


def is_cached_code(names: Iterable[str]) -> bool:
    """Whether a path lies in a folder of compiled code, or is one."""
    return CODE_CACHE in map(fold, names)


def refuse_cached_code(changes: Iterable[Change]) -> None:
    """Refuse changes that put something into a folder of compiled code, or make one.

    A folder that holds one is moved with it.

    Raises:
        PathDenied: naming the first.
    """
    for change in changes:
        place, _ = made_by(change)
        if place is not None and is_cached_code(place.parts):
            raise PathDenied(
                f"Access denied: Python would run {place.display} without a look at its source.",
                hint=f"Leave {CODE_CACHE} out: Python makes it by itself.",
                rule=CODE_CACHE,
            )
