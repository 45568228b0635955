"""What a search did not look at, by reason."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Literal

from toolcrib.files.handles import Handle
from toolcrib.files.search.catalog import Catalog
from toolcrib.files.search.hits import MAX_LINE_BYTES
from toolcrib.files.trees import is_open_to_us, readable_size

LeftOutReason = Literal["protected", "unreadable", "binary", "link", "large", "long_lines", "deep"]
REASONS: dict[LeftOutReason, tuple[str, str]] = {
    "protected": ("protected", "protected"),
    "unreadable": ("not readable for lack of rights", "not readable for lack of rights"),
    "binary": ("binary", "binary"),
    "link": ("link", "links"),
    "large": ("large", "large"),
    "long_lines": (f"with a line of more than {MAX_LINE_BYTES // 1_000_000} MB",) * 2,
    "deep": ("folder too deep", "folders too deep"),
}
"""What one and several are called."""
MAX_NAMED = 3
"""Paths of a reason that stand in a text."""
MAX_LISTED = 50
"""Paths of a reason that stand in data."""


@dataclass(slots=True)
class LeftOut:
    """Paths by reason; those of folders end in `/`, and stand for all that is in them."""

    paths: dict[LeftOutReason, list[str]] = field(default_factory=dict)

    def add(self, reason: LeftOutReason, path: str) -> None:
        """One more."""
        self.paths.setdefault(reason, []).append(path)

    def count(self, reason: LeftOutReason) -> int:
        """How many were left out for a reason."""
        return len(self.paths.get(reason, ()))

    def words(self, display: Callable[[str], str]) -> str:
        """What was left out and how to look at it, in one line; "" for nothing."""
        parts, arguments = [], []
        for reason, (one, several) in REASONS.items():
            paths = self.paths.get(reason, [])
            if not paths:
                continue
            named = ", ".join(map(display, paths[:MAX_NAMED]))
            more = ", …" if len(paths) > MAX_NAMED else ""
            name = one if len(paths) == 1 else several
            parts.append(f"{len(paths):,} {name} ({named}{more})")
            if reason == "binary":
                paths = [path for path in paths if _is_document(path)]
            if reason in _ARGUMENTS and paths:
                arguments.append(_ARGUMENTS[reason].format(path=display(paths[0])))
        if not parts:
            return ""
        return f"not searched: {', '.join(parts)}" + (
            f"; {'; '.join(arguments)}" if arguments else ""
        )

    def to_json(self, display: Callable[[str], str]) -> dict[str, Any]:
        """Reasons with their number and their first paths."""
        return {
            reason: {"count": len(paths), "paths": [display(path) for path in paths[:MAX_LISTED]]}
            for reason, paths in self.paths.items()
        }


_ARGUMENTS: dict[LeftOutReason, str] = {
    "link": 'path="{path}" searches what it leads to',
    "large": 'path="{path}" searches it',
    "deep": 'path="{path}" searches it',
    "binary": 'read_file path="{path}" focus="…" finds words in a document',
}
"""The argument that has a thing searched all the same."""

_DOCUMENTS = (
    *(".pdf", ".docx", ".docm", ".pptx", ".pptm", ".ppsx", ".xlsx", ".xlsm", ".doc", ".ppt"),
    *(".xls", ".msg", ".odt", ".ods", ".odp", ".rtf", ".epub"),
)


def _is_document(path: str) -> bool:
    """Whether its name is that of a document, of which `read_file` makes text."""
    return path.lower().endswith(_DOCUMENTS)


def left_out_of(
    catalog: Catalog,
    unsearched: Iterable[str],
    top: Handle,
    fits: Callable[[str], bool],
    *,
    max_bytes: int | None = None,
) -> LeftOut:
    """Why some files were not searched, and what else was left out. It blocks.

    Args:
        catalog: all that there is.
        unsearched: files of it that were not searched, and perhaps some that are not wanted.
        top: the folder, open.
        fits: whether a path is wanted.
        max_bytes: larger files were left alone, where it was told to.
    """
    found = LeftOut()
    for path in sorted(filter(fits, unsearched)):
        reason = None if path in catalog.protected else _why(top, path, max_bytes)
        if reason:
            found.add(reason, path)
    for path in sorted(catalog.links):
        if fits(path):
            found.add("link", path)
    for path in sorted(catalog.protected - catalog.links):
        if path.endswith("/") or fits(path):
            found.add("protected", path)
    for path in sorted(catalog.unread):
        if not is_open_to_us(top, path):
            found.add("unreadable", path)
    return found


def _why(top: Handle, path: str, max_bytes: int | None) -> LeftOutReason | None:
    """Why a file is not among those that were searched; None where it is gone."""
    try:
        size = readable_size(top, path)
    except PermissionError:
        return "unreadable"
    except OSError:
        return None
    return "large" if max_bytes is not None and size > max_bytes else "binary"
