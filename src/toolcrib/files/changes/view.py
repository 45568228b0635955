"""Changes of files as a reader sees them: a list, and a bounded difference."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from toolcrib.core.errors import ToolError
from toolcrib.files.changes.deltas import Delta
from toolcrib.files.changes.sources import Source, whole_content
from toolcrib.files.content.difference import differences
from toolcrib.files.edits.report import preview
from toolcrib.files.path_rules import GENERATED_FOLDERS
from toolcrib.files.paths import SafePath
from toolcrib.text.display import counted, printable, size_of, visible

Kind = Literal["created", "changed", "deleted"]
MAX_FILES = 500
MAX_DIFF_LINES = 200
MAX_FILE_DIFF_LINES = 60
MAX_TEXT_BYTES = 200_000
"""Bytes of a side of a file up to which its lines are compared."""
MAX_READ_BYTES = 8_000_000
"""Bytes that are read for the lines of one run in all."""
ANYBODY_RUNS = 0o111
MAX_TARGET_CHARS = 200
_IDLE = re.compile(r"(?:^|(?<=/))\./+|(?<=/)/+")
"""What leads nowhere in a path."""
MAX_READ_FILES = 200
"""Of so many files the lines are read."""


@dataclass(frozen=True, slots=True)
class ChangedFile:
    """One file that a run changed.

    Attributes:
        path: as a call would name it.
        added, removed: lines of a text file; 0 for what is no text or was too large, and beyond
            the first `MAX_READ_FILES`.
        size: bytes that it has now; of a deleted one, that it had.
        target: where a link leads.
        extent: what a person is told of it: its lines, its size where there are none to be seen,
            where it leads, whether it can be run.
    """

    path: str
    kind: Kind
    added: int = 0
    removed: int = 0
    size: int = 0
    target: str = ""
    extent: str = field(default="+0 -0", compare=False)

    def to_json(self) -> dict[str, Any]:
        """As JSON values."""
        return asdict(self)


@dataclass(slots=True)
class ChangeView:
    """The changes of a run as a reader sees them: a list, and a bounded difference.

    Attributes:
        files: what was changed, at most `MAX_FILES`; folders that programs fill (`.git`,
            `node_modules`) are counted in `notes` instead.
        more: how many changed files are not in `files`, those of such folders included.
        diff: a unified diff of the text files, bounded.
        notes: a line for each folder whose content is only counted.
        foremost: how many of the first files a person has to see by name.
    """

    check: Callable[[], None]
    files: list[ChangedFile] = field(default_factory=list)
    more: int = 0
    notes: list[str] = field(default_factory=list)
    foremost: int = 0
    _pieces: list[str] = field(default_factory=list)
    _lines: int = 0
    _read: int = 0

    @classmethod
    def of(
        cls,
        deltas: Sequence[Delta],
        check: Callable[[], None],
        foremost: Collection[SafePath] = frozenset(),
    ) -> ChangeView:
        """What some changes look like.

        Args:
            deltas: the changes.
            check: called between two steps.
            foremost: those that come first and are shown whatever folder they are in, since a
                person decides by them.
        """
        view = cls(check)
        deltas = sorted(deltas, key=lambda delta: delta.path not in foremost)
        bulk: dict[str, Counter[str]] = {}
        filled = {(d.path.root, d.path.parts[:-1]) for d in deltas if d.after is not None}
        for delta in deltas:
            check()
            is_new_folder = not delta.before and delta.kind == "folder"
            if is_new_folder and (delta.path.root, delta.path.parts) in filled:
                continue  # what is in it says so
            for name, kind, size in _names(delta):
                folder = "" if delta.path in foremost else _bulk_of(name)
                if folder:
                    bulk.setdefault(folder, Counter())[kind] += 1
                    view.more += 1
                elif len(view.files) >= MAX_FILES:
                    view.more += 1
                else:
                    view._add(delta, name, kind, size)
                    view.foremost += delta.path in foremost
        for folder, counts in bulk.items():
            text = ", ".join(f"{count:,} {kind}" for kind, count in counts.items())
            files = counted(sum(counts.values()), "file")
            view.notes.append(f"{printable(folder)}/: {files} ({text})")
        return view

    @property
    def diff(self) -> str:
        """The difference of all text files."""
        return "\n".join(self._pieces)

    def _add(self, delta: Delta, name: str, kind: Kind, size: int) -> None:
        added = removed = 0
        sides = None if delta.same or len(delta.before) > 1 else self._sides(delta)
        if sides is not None:
            before, after = sides
            for block in differences(before.splitlines(), after.splitlines(), self.check):
                added += block.b2 - block.b1
                removed += block.a2 - block.a1
            self._show(name, kind, before, after)
        target = _target(delta) if kind != "deleted" else ""
        has_lines = bool(added or removed or not size or name.endswith("/"))
        lines = (
            f"+{added} -{removed}" if has_lines else f"{size_of(size)}, its content is not shown"
        )
        parts = ["a link to " + target] if target else [] if delta.same else [lines]
        parts += [run] if kind != "deleted" and (run := _leave_to_run(delta)) else []
        extent = ", ".join(parts) or "its content is as it was"
        self.files.append(ChangedFile(printable(name), kind, added, removed, size, target, extent))

    def _sides(self, delta: Delta) -> tuple[str, str] | None:
        """Both sides of a text file; None where one is no text."""
        before = self._text(delta.old) if delta.before else ""
        after = self._text(delta.new) if delta.after is not None else ""
        return (before, after) if before is not None and after is not None else None

    def _show(self, name: str, kind: Kind, before: str, after: str) -> None:
        if self._lines >= MAX_DIFF_LINES or before == after:
            return
        max_lines = min(MAX_FILE_DIFF_LINES, MAX_DIFF_LINES - self._lines)
        text = preview(before.replace("\r\n", "\n"), after.replace("\r\n", "\n"), max_lines)
        text = visible(text)  # a person decides by it
        if not text:
            text = "[only line ends differ]"
        plain = printable(name)
        heads = (
            "--- /dev/null" if kind == "created" else f"--- a/{plain}",
            "+++ /dev/null" if kind == "deleted" else f"+++ b/{plain}",
        )
        self._pieces += [*heads, text]
        self._lines += text.count("\n") + 3

    def _text(self, source: Source | None) -> str | None:
        """A file as text; None where it is none, cannot be read or is too large."""
        if source is None or self._read >= MAX_READ_BYTES or len(self.files) >= MAX_READ_FILES:
            return None
        with suppress(ToolError, OSError):
            data = whole_content(source, MAX_TEXT_BYTES)
            self._read += len(data or b"")
            if data is None or b"\0" in data:
                return None
            with suppress(UnicodeDecodeError):
                return data.decode("utf-8-sig")
            return data.decode("latin-1")
        return None


def _target(delta: Delta) -> str:
    """Where a link leads, for a reader; "" for what is none."""
    if delta.after is None or not delta.is_link:
        return ""
    target = printable(_IDLE.sub("", delta.after.target)) or "."
    half = MAX_TARGET_CHARS // 2
    return target if len(target) <= 2 * half else f"{target[:half]} … {target[-half:]}"


def _leave_to_run(delta: Delta) -> str:
    """Whether it is a program by now that was none, or the other way round."""
    before, after = delta.before, delta.after
    if after is None or after.kind != "file":
        return ""
    old = before[0].mode if before and before[0].kind == "file" else 0o644
    was, now = bool(old & ANYBODY_RUNS), bool(after.mode & ANYBODY_RUNS)
    return "" if was == now else "it can be run now" if now else "it can be run no more"


def _names(delta: Delta) -> list[tuple[str, Kind, int]]:
    """The files that a change is about: path, what happened, bytes."""
    path, before, after = delta.path.display, delta.before, delta.after
    path += "/" if delta.kind == "folder" else ""
    if after is not None and before and not delta.replaces:
        return [(path, "changed", after.size)]
    found: list[tuple[str, Kind, int]] = []
    for image in before:
        if image.kind != "folder" or len(before) == 1:
            inner = f"{path.rstrip('/')}/{image.path}".rstrip("/")
            inner += "/" if image.kind == "folder" else ""
            found.append((inner, "deleted", image.size))
    if after is not None:
        found.append((path, "created", after.size))
    return found


def _bulk_of(path: str) -> str:
    """The folder whose content is only counted; "" where there is none above the path."""
    names = path.split("/")
    depth = next((n for n, name in enumerate(names[:-1], 1) if name in GENERATED_FOLDERS), 0)
    return "/".join(names[:depth])
