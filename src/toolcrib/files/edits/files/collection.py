"""The files of a folder that one pattern would change."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field

from toolcrib.core.context import Ctx
from toolcrib.core.errors import PathDenied, TooLarge, ToolError, UnsupportedContent
from toolcrib.core.policy import decide
from toolcrib.core.tool import Tool
from toolcrib.files.content.faithful import Splice
from toolcrib.files.edits.files.loader import MAX_BYTES, Loaded, load
from toolcrib.files.edits.pattern_replacement import Replacing
from toolcrib.files.paths import SafePath
from toolcrib.files.search.scope import scope_of, walk
from toolcrib.system.threads import Checkpoint

MOST_FILES = 1_000
MOST_BYTES = 200_000_000
"""Bytes of all files that are changed at once: they are held in memory."""
SECONDS = 15.0
"""After so long a dry run shows what it found, and says that there may be more."""
NARROWER = "Narrow it with path and glob, or change them in several calls."


@dataclass(frozen=True, slots=True)
class Change:
    """What changes in one file."""

    display: str
    loaded: Loaded
    splices: list[Splice]


@dataclass(slots=True)
class Gathered:
    """The files that change, and how many were left out, by reason.

    `partly`: the time of a dry run was up before all files were looked at.
    """

    changes: list[Change] = field(default_factory=list)
    left_out: dict[str, int] = field(default_factory=dict)
    partly: bool = False

    def leave_out(self, reason: str) -> None:
        """Count a file that is not looked at or not changed."""
        self.left_out[reason] = self.left_out.get(reason, 0) + 1


def gather(
    folder: SafePath,
    globs: list[str],
    pattern: Replacing,
    tool: Tool,
    ctx: Ctx,
    check: Checkpoint,
    *,
    until: float | None = None,
) -> Gathered:
    """Look through a file, or the files of a folder. It blocks.

    Files that are binary, too large, protected, links, or ruled out by the policy are left
    out; hidden and ignored ones are not looked at.

    Args:
        folder: the file or folder.
        globs: which files.
        pattern: what is replaced.
        tool: the tool whose policy holds for each file.
        ctx: the call.
        check: called between two files.
        until: a `time.monotonic()` value after which it stops with what it found.

    Raises:
        TooLarge: more than MOST_FILES would change, or more than MOST_BYTES.
        NotFound, PathDenied: there is no such folder, or it cannot be read.
    """
    gathered = Gathered()
    size = 0
    for display, path in _files(folder, globs, pattern, check):
        if until is not None and time.monotonic() > until:
            gathered.partly = True
            break
        change = None if path is None else _change(display, path, pattern, gathered)
        if path is None or change is None:
            continue
        reason = _barred(path, tool, ctx)
        if reason:
            gathered.leave_out(reason)
            continue
        gathered.changes.append(change)
        size += change.loaded.size
        if len(gathered.changes) > MOST_FILES:
            raise TooLarge(f"More than {MOST_FILES:,} files would change.", hint=NARROWER)
        if size > MOST_BYTES:
            raise TooLarge(f"Files of more than {MOST_BYTES:,} bytes would change.", hint=NARROWER)
    return gathered


def _files(
    folder: SafePath, globs: list[str], pattern: Replacing, check: Checkpoint
) -> Iterator[tuple[str, SafePath | None]]:
    """The files to look at closely, each as a call would name it; None after each folder."""
    with folder.open() as handle:
        if handle.kind == "file":
            yield folder.display, folder
            return
    scope = scope_of(folder, globs)
    with scope.real.open() as top:
        for level in walk(scope, top, check):
            yield level.prefix, None
            for number, name in enumerate(level.files):
                path = f"{level.prefix}{name}"
                if scope.globs and not scope.globs.fits(path):
                    continue
                if not number % 100:
                    check()
                    yield path, None
                if pattern.may_fit(level.read(name, MAX_BYTES)):
                    yield scope.display(path), scope.file(path)


def _change(display: str, path: SafePath, pattern: Replacing, gathered: Gathered) -> Change | None:
    try:
        loaded = load(path)
        splices = pattern.splices(loaded.text)
    except UnsupportedContent:
        gathered.leave_out("not text")
    except TooLarge:
        gathered.leave_out("too large")
    except ToolError:
        gathered.leave_out("not readable")
    else:
        return Change(display, loaded, splices) if splices else None
    return None


def _barred(path: SafePath, tool: Tool, ctx: Ctx) -> str:
    """Why a file may not be written; "" where it may."""
    decision = decide(ctx.config.policy, tool, path.spellings())
    if decision.action != "allow":
        return "not allowed by policy"
    try:
        with path.place():
            return ""
    except PathDenied:
        return "protected, a link, or with several names"
