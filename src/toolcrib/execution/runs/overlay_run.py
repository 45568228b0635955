"""A run that sees the workspace through an overlay: its changes stay apart until reviewed."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Self

from toolcrib.core.context import Ctx
from toolcrib.core.errors import Conflict, NotFound, StorageFailure, ToolError
from toolcrib.execution.runs import folders
from toolcrib.execution.runs.context import RunContext
from toolcrib.execution.runs.folders import PendingRun, RunFolder
from toolcrib.execution.runs.outcome import (
    APPLY_TOOL,
    RUN_AGAIN,
    Commit,
    RunOutcome,
    cause,
    conflict_message,
    described,
    recovery_hint,
)
from toolcrib.execution.runs.triggers import TriggerReport
from toolcrib.files.changes import overlay_upper
from toolcrib.files.changes.deltas import Delta, RunDeltas, without_refreshed
from toolcrib.files.changes.overlay_upper import OverlayUpper
from toolcrib.files.changes.step import AppliedStep, Change, Step
from toolcrib.files.changes.takeover import Takeover
from toolcrib.files.changes.tree_store import TakeoverRefused
from toolcrib.files.changes.verdict import Verdict, step_of, verdict_on
from toolcrib.files.changes.view import ChangeView
from toolcrib.files.handles import Root, read_plain
from toolcrib.files.paths import SafePath
from toolcrib.files.repositories.packed import MAX_PACKED_BYTES
from toolcrib.system.collector import collect
from toolcrib.system.disk_usage import blocks_of
from toolcrib.system.file_systems import has_own_clock, system_of
from toolcrib.system.threads import Checkpoint
from toolcrib.text.display import size_of, some_of

if TYPE_CHECKING:
    from toolcrib.execution.sandbox.sandbox import Sandbox
    from toolcrib.execution.sandbox.terms import View


# Whether overlays work here, found out by trying one on each root.

PROBE_FILE = ".toolcrib-probe"
OVERLAY_PROBE_SECONDS = 20.0


class OverlayProbe:
    """Remembers for each root whether an overlay of it works.

    Args:
        context: of the runs.
    """

    def __init__(self, context: RunContext) -> None:
        self._context = context
        self._known: dict[tuple[str, int], bool] = {}
        self._lock = asyncio.Lock()

    async def good(self, sandbox: Sandbox) -> bool:
        """Whether all roots can be seen through overlays."""
        for root in self._context.workspace.roots:
            key = root.real, system_of(root.real)
            async with self._lock:
                if key not in self._known:
                    own = await asyncio.to_thread(has_own_clock, root.real)
                    self._known[key] = own and await self._try(sandbox, root)
            if not self._known[key]:
                return False
        return True

    async def _try(self, sandbox: Sandbox, root: Root) -> bool:
        """Run the smallest program there is through an overlay, and look where its file went."""
        from toolcrib.execution.sandbox.terms import Overlay

        folder = self._context.folders.make()
        try:
            upper, work = folder.overlay(0, 0o755)
            confined = await sandbox.spawn(
                ["/bin/sh", "-c", f": > {PROBE_FILE}"],
                cwd=self._context.top(root),
                views={root.real: Overlay(upper, work)},
            )
            await collect(confined, OVERLAY_PROBE_SECONDS, None, 0)
            return (upper / PROBE_FILE).is_file()
        except ToolError:
            return False
        finally:
            await asyncio.to_thread(folder.remove)


SPARSE_FACTOR = 4
"""So many times the disk limit may all new files have together, holes included."""


class OverlayRun:
    """One run through overlays, or a pending one of before.

    Args:
        context: of the runs.
        tool: who asks.
    """

    def __init__(self, context: RunContext, tool: str) -> None:
        self._context = context
        self._tool = tool
        self._roots: list[Root] = list(context.workspace.roots)
        self._folder: RunFolder | None = None
        self._since = 0
        self._keep = False
        self._was_pending = False

    def of_pending(self, pending: PendingRun) -> Self:
        """Take up a pending run.

        Raises:
            NotFound: its folder is gone.
            Busy: another call is at work on it.
        """
        self._folder = self._context.folders.find(pending.id)
        if self._folder is None:
            raise NotFound(f"The held run {pending.id} is gone.", hint="Run it again.")
        self._roots = [self._context.workspace.at(real, ()).root for real in pending.roots]
        self._since, self._was_pending = pending.since, True
        return self

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, kind: object, error: object, trace: object) -> None:
        if self._folder is None:
            return
        if self._keep or (self._was_pending and error is not None):
            self._folder.release()
        else:
            await asyncio.to_thread(self._folder.remove)

    async def prepare(self, ctx: Ctx) -> dict[str, View]:
        """Make the folders; how each root is seen."""
        del ctx
        from toolcrib.execution.sandbox.terms import Overlay

        self._folder = self._context.folders.make()
        views: dict[str, View] = {}
        for number, root in enumerate(self._roots):
            with self._context.top(root).open() as handle:
                mode = handle.status.st_mode & 0o777
            views[root.real] = Overlay(*self._folder.overlay(number, mode))
        self._since = time.time_ns()
        return views

    def kind_before(self, path: SafePath) -> str:
        """The kind of what was there: all in the roots themselves is none of the run's."""
        return "link" if os.path.islink(path.absolute) else "file"  # noqa: PTH114

    def content_before(self, path: SafePath) -> bytes | None:
        """What a file held: what it holds now, see `kind_before`."""
        with suppress(OSError):
            return read_plain(path.absolute, MAX_PACKED_BYTES + 1, follow=False)
        return None

    async def finish(self, ctx: Ctx, commit: Commit, cut: str) -> RunOutcome:
        """Read what was changed, and make it, keep it pending or drop it.

        Args:
            ctx: the call.
            commit: which of them.
            cut: why the run was stopped before its end; "" where it was not.
        """
        if cut == "cancelled":
            return RunOutcome("dropped")
        check = Checkpoint(None)
        try:
            deltas = await self._read(ctx, check)
        except (ToolError, OSError) as error:
            why = cause(error) if isinstance(error, ToolError) else f"it cannot be read: {error}"
            return RunOutcome("dropped", notes=(f"what it changed is gone: {why}",))
        if not (deltas.deltas or deltas.conflicts or deltas.refused):
            return RunOutcome()
        verdict, view = await asyncio.to_thread(self._review, deltas, check)
        if not deltas.deltas and not deltas.conflicts:
            return RunOutcome(notes=tuple(verdict.notes))
        if commit == "never":
            return described(RunOutcome("dropped"), view)
        reasons = _reasons(deltas, verdict, cut)
        if not verdict.deltas and not deltas.conflicts:
            return RunOutcome(notes=tuple(verdict.notes))
        size = self._context.config.run.limits.disk_mb * 1_000_000
        if deltas.size > SPARSE_FACTOR * size:
            reasons.append(f"its new files have {size_of(deltas.size)} in all")
        found = await self._context.triggers.among(verdict.deltas, ctx)
        if commit == "ask" or reasons or found.lines:
            return await self._make_pending(
                ctx,
                await asyncio.to_thread(self._view, verdict, view, found, check),
                [*reasons, *found.lines],
                overtaken=bool(deltas.conflicts),
                for_user=bool(found.lines),
            )
        try:
            applied = await self._apply(ctx, verdict)
        except ToolError as error:
            await self._remember(deltas)
            lost = isinstance(error, Conflict)
            reasons = [conflict_message(error) if lost else cause(error)]
            return await self._make_pending(ctx, view, reasons, overtaken=lost)
        return _applied(applied, view)

    async def apply(self, ctx: Ctx, *, for_user: bool) -> RunOutcome:
        """Make the changes of a pending run, or say why not; it stays pending then.

        Args:
            ctx: the call.
            for_user: whether the user was asked about them. What nobody acted on when they were
                held may be obeyed by now, beside what others have made since.
        """
        assert self._folder is not None
        check = Checkpoint(ctx.deadline)
        deltas = await self._read(ctx, check)
        verdict, view = await asyncio.to_thread(self._review, deltas, check)
        reasons = _reasons(deltas, Verdict(), "")
        overtaken = bool(deltas.conflicts)
        if not reasons and not for_user:
            found = await self._context.triggers.among(verdict.deltas, ctx)
            reasons = list(found.lines)
            if reasons:
                run = self._folder.id
                view = await asyncio.to_thread(self._view, verdict, view, found, check)
                preview = described(RunOutcome(), view, _pending_notes(reasons)).preview
                await self._context.rows.write(lambda c: folders.leave_to_user(c, run, preview))
        if not reasons:
            await self._remember(deltas)  # it may be the end of this process
            try:
                applied = await self._apply(ctx, verdict)
            except Conflict as error:
                reasons, overtaken = [conflict_message(error)], True
            except ToolError as error:
                error.hint = recovery_hint(error) or error.hint
                raise
            else:
                if for_user:
                    triggers = self._context.triggers
                    passed = await asyncio.to_thread(triggers.question_folders, verdict.deltas)
                    triggers.let_pass(passed, ctx.session.id)
                return _applied(applied, view)
        self._keep = True
        outcome = RunOutcome("held", pending_id=self._folder.id, overtaken=overtaken)
        return described(outcome, view, _pending_notes(reasons))

    async def _read(self, ctx: Ctx, check: Checkpoint) -> RunDeltas:
        assert self._folder is not None
        folder, found = self._folder, RunDeltas()
        tried = overlay_upper.recall(folder.path) if self._was_pending else {}
        start = self._context.workspace.start(ctx.session.directory)

        def work() -> None:
            for number, root in enumerate(self._roots):
                OverlayUpper(
                    top=self._context.top(root),
                    folder=folder.upper(number),
                    since=self._since,
                    check=check,
                    max_entries=self._context.config.undo.max_entries,
                    start=start,
                    tried=tried,
                    into=found,
                ).read()
            if found.deltas:
                found.deltas = without_refreshed(found.deltas)

        await asyncio.to_thread(work)
        return found

    def _review(self, deltas: RunDeltas, check: Checkpoint) -> tuple[Verdict, ChangeView]:
        config = self._context.config
        verdict = verdict_on(deltas, self._context.workspace.roots, config.undo, config.workspace)
        view = ChangeView.of(verdict.deltas, check)
        view.notes[:0] = verdict.notes
        return verdict, view

    def _view(
        self, verdict: Verdict, view: ChangeView, found: TriggerReport, check: Checkpoint
    ) -> ChangeView:
        """The same changes, where a person has to decide by what stands first."""
        if not found.lines:
            return view
        view = ChangeView.of(verdict.deltas, check, found.paths)
        view.notes[:0] = verdict.notes
        return view

    async def _remember(self, deltas: RunDeltas) -> None:
        assert self._folder is not None
        await asyncio.to_thread(overlay_upper.remember, self._folder.path, deltas.deltas)

    async def _apply(self, ctx: Ctx, verdict: Verdict) -> AppliedStep:
        """Make the changes: new folders by renaming where that works, the rest by copying."""
        step = await asyncio.to_thread(self._step_of, verdict.deltas, Checkpoint(ctx.deadline))
        try:
            return await self._context.changes.apply(step, ctx)
        except TakeoverRefused:
            step = step_of(verdict.deltas, self._tool, self._context.config.undo)
            return await self._context.changes.apply(step, ctx)

    def _step_of(self, deltas: Sequence[Delta], check: Checkpoint) -> Step:
        assert self._folder is not None
        taken: list[Change] = []
        rest: list[Delta] = []
        for number, root in enumerate(self._roots):
            found = Takeover(self._folder.upper(number), self._context.top(root), check).split(
                deltas
            )
            taken += found[0]
            rest += found[1]
        step = step_of(rest, self._tool, self._context.config.undo)
        step.changes += taken
        return step

    async def _make_pending(
        self,
        ctx: Ctx,
        view: ChangeView,
        reasons: list[str],
        *,
        overtaken: bool,
        for_user: bool = False,
    ) -> RunOutcome:
        assert self._folder is not None
        folder = self._folder

        def measure() -> int:
            folder.drop_work()
            return blocks_of(folder.path)

        size = await asyncio.to_thread(measure)
        outcome = RunOutcome("held", pending_id=folder.id, overtaken=overtaken)
        outcome = described(outcome, view, _pending_notes(reasons))
        pending = PendingRun(
            id=folder.id,
            time=time.time(),
            tool=self._tool,
            session=ctx.session.id,
            kind="overlay",
            since=self._since,
            roots=tuple(root.real for root in self._roots),
            size=size,
            for_user=for_user,
            preview=outcome.preview,
        )
        try:
            await self._context.rows.write(lambda c: folders.add(c, pending))
        except StorageFailure as error:
            reasons = [reason for reason in reasons if APPLY_TOOL not in reason]
            reasons.append(f"it could not be held either: {error.message}")
            return described(RunOutcome("dropped"), view, _pending_notes(reasons))
        self._keep = True
        return outcome


def _reasons(deltas: RunDeltas, verdict: Verdict, cut: str) -> list[str]:
    """Why changes are not made although nobody asked to wait with them."""
    reasons = []
    if deltas.conflicts:
        changed = some_of(list(dict.fromkeys(deltas.conflicts)), 5)
        reasons.append(f"{changed} changed outside of the run meanwhile; {RUN_AGAIN}")
    if cut:
        reasons.append(f"it was stopped before its end ({cut})")
    if verdict.lost:
        reasons.append(f"undo could not bring back {some_of(verdict.lost)}")
    return reasons


def _pending_notes(reasons: list[str]) -> list[str]:
    return [f"nothing was changed: {reason}" for reason in reasons]


def _applied(applied: AppliedStep, view: ChangeView) -> RunOutcome:
    outcome = RunOutcome("applied" if applied.step else "none", step=applied.step)
    return described(outcome, view, [applied.note] if applied.note else [])
