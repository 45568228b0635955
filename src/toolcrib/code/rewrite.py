"""Changes of several source files at once: shown as a difference, then made whole or not at all."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from toolcrib.code.places import Place
from toolcrib.code.project import Project
from toolcrib.core.context import Ctx
from toolcrib.core.errors import PathDenied
from toolcrib.core.result import Result
from toolcrib.core.tool import Tool, decide
from toolcrib.files.changes.changes import Changes
from toolcrib.files.changes.step import Step
from toolcrib.files.content.faithful import Splice
from toolcrib.files.paths import SafePath

MAX_DIFF_LINES = 120
"""Lines of differences in an answer."""
DRY_RUN_NOTE = "Nothing is changed yet: dry_run=false does it."


@dataclass(frozen=True, slots=True)
class RewriteSummary:
    """What was planned: the beginning of the answer, values, and lines behind it."""

    head: str
    data: dict[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


@dataclass(slots=True)
class Rewrite:
    """New texts for files, collected first; paths are those of the project.

    Attributes:
        splices: changes of files that exist, in any order, not overlapping.
        created: whole texts of files that do not exist yet.
    """

    project: Project
    tool: Tool
    splices: dict[str, list[Splice]] = field(default_factory=dict)
    created: dict[str, str] = field(default_factory=dict)

    def replace(self, path: str, *splices: Splice) -> None:
        """Add changes of a file."""
        self.splices.setdefault(path, []).extend(splices)

    def rename(self, places: Iterable[Place], new: str) -> None:
        """Put a new name at each place."""
        for path, group in groupby(sorted(places), key=lambda place: place.path):
            starts = _starts(self.project.text(path))
            for p in group:
                at = starts[p.line - 1]
                written = f"{p.before}{new}{p.after}"
                self.replace(path, Splice(at + p.column, at + p.end_column, written))

    def create(self, path: str, text: str) -> None:
        """Add a file that does not exist."""
        self.created[path] = text

    def after(self, path: str) -> str:
        """The text that a file will have."""
        if path in self.created:
            return self.created[path]
        return self.project.source(path).faithful.spliced_text(self._ordered(path))

    def difference(self) -> str:
        """All changes as one unified diff. It blocks."""
        parts: list[str] = []
        for path in sorted({*self.splices, *self.created}):
            display = self.project.display(path)
            before = "" if path in self.created else self.project.text(path)
            lines = difflib.unified_diff(
                before.splitlines(keepends=True),
                self.after(path).splitlines(keepends=True),
                f"a/{display}" if before else "/dev/null",
                f"b/{display}",
                n=1,
            )
            parts += [line if line.endswith("\n") else f"{line}\n" for line in lines]
        return "".join(parts)

    def step(self) -> Step:
        """The changes to apply. It blocks.

        Raises:
            PathDenied: one of the files may not be written.
            BadInput: a new name does not exist in the encoding of a file.
        """
        step = Step(self.tool.name)
        for path in sorted(self.splices):
            source = self.project.source(path)
            self._need_allowed(source.path)
            data = source.faithful.spliced(self._ordered(path))
            step.write(source.path, data, expected=source.fingerprint)
        for path in sorted(self.created):
            file = self.project.scope.file(path)
            self._need_allowed(file)
            step.write(file, self.created[path].encode(), expected="")
        return step

    def _ordered(self, path: str) -> list[Splice]:
        return sorted(self.splices[path], key=lambda splice: (splice.start, splice.end))

    def _need_allowed(self, path: SafePath) -> None:
        decision = decide(self.project.ctx.config.policy, self.tool, path.spellings())
        if decision.action != "allow":
            raise PathDenied(
                f"Access denied: {path.display} may not be changed by policy.",
                hint="Nothing was changed. The user can allow it in the configuration.",
            )

    async def carry_out(
        self, head: str, data: dict[str, Any], ctx: Ctx, *, dry_run: bool, notes: Iterable[str] = ()
    ) -> Result:
        """Show the changes, and make them unless it is a dry run.

        Args:
            head: what happens, without "Would": "rename f to g in 3 places of 2 files".
            data: goes with the answer.
            ctx: the call.
            dry_run: only show them.
            notes: lines that stand behind the difference.
        """
        from toolcrib.system.threads import in_thread

        difference = await in_thread(lambda _: self.difference(), ctx.deadline)
        step = await in_thread(lambda _: self.step(), ctx.deadline)
        verb, done = ("Would ", head) if dry_run else ("Done: ", head)
        lines = [f"{verb}{done}.", _cut(difference), *notes]
        files = [self.project.display(p) for p in sorted({*self.splices, *self.created})]
        values = {**data, "dry_run": dry_run, "files": files, "diff": difference}
        if dry_run:
            lines.append(DRY_RUN_NOTE)
            return Result("\n".join(lines), values, private=True)
        applied = await ctx.use(Changes).apply(step, ctx)
        if applied.note:
            lines.append(applied.note)
        return Result("\n".join(lines), {**values, "step": applied.step}, private=True)


def _cut(difference: str) -> str:
    lines = difference.rstrip("\n").split("\n")
    if len(lines) <= MAX_DIFF_LINES:
        return "\n".join(lines)
    return "\n".join(
        [*lines[:MAX_DIFF_LINES], f"[{len(lines) - MAX_DIFF_LINES:,} more lines of difference]"]
    )


def _starts(text: str) -> list[int]:
    starts, at = [0], text.find("\n")
    while at >= 0:
        starts.append(at + 1)
        at = text.find("\n", at + 1)
    return starts
