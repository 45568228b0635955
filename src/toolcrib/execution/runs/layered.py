"""A run that sees the workspace through an overlay: its changes are apart until looked at."""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace
from types import TracebackType
from typing import TYPE_CHECKING, Self

from toolcrib.core.context import Ctx
from toolcrib.core.errors import Conflict, NotFound, StorageFailure, ToolError
from toolcrib.core.services import Services
from toolcrib.execution.runs import pending_runs as rows
from toolcrib.execution.runs.disk import tried
from toolcrib.execution.runs.disk.folders import Folders, RunFolder
from toolcrib.execution.runs.disk.removal import blocks_of
from toolcrib.execution.runs.disk.upper import Upper
from toolcrib.execution.runs.obstacles import RUN_AGAIN, cause, overtaken, to_mend
from toolcrib.execution.runs.outcome import Commit, Outcome
from toolcrib.execution.runs.pending_runs import Held
from toolcrib.execution.runs.verdict import Judged, judge, plan_of
from toolcrib.execution.runs.view import Shown
from toolcrib.files.changes.changes import Changes
from toolcrib.files.changes.deltas import Reading, without_refreshed
from toolcrib.files.changes.plan import Applied
from toolcrib.files.content.sizes import size_of, some
from toolcrib.files.paths import SafePath
from toolcrib.files.roots import Root
from toolcrib.files.workspace import Workspace
from toolcrib.state.store import Area
from toolcrib.system.threads import Checkpoint

if TYPE_CHECKING:
    from toolcrib.execution.sandbox.terms import View

SPARSE = 4
"""So many times the disk limit may all new files have together, holes included."""


class Layered:
    """One run through overlays, or a held one of before.

    Args:
        services: of the toolbox.
        folders: where the upper sides are.
        area: the rows of held runs.
        tool: who asks.
    """

    def __init__(self, services: Services, folders: Folders, area: Area, tool: str) -> None:
        self._workspace = services.use(Workspace)
        self._changes = services.use(Changes)
        self._config = services.config
        self._folders = folders
        self._area = area
        self._tool = tool
        self._roots: list[Root] = list(self._workspace.roots)
        self._folder: RunFolder | None = None
        self._since = 0
        self._keep = False
        self._held = False

    def of_held(self, held: Held) -> Self:
        """Take up a held run.

        Raises:
            NotFound: its folder is gone.
            Busy: another call is at work on it.
        """
        self._folder = self._folders.find(held.id)
        if self._folder is None:
            raise NotFound(f"The held run {held.id} is gone.", hint="Run it again.")
        self._roots = [self._workspace.at(real, ()).root for real in held.roots]
        self._since, self._held = held.since, True
        return self

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._folder is None:
            return
        if self._keep or (self._held and error is not None):
            self._folder.release()
        else:
            await asyncio.to_thread(self._folder.remove)

    async def prepare(self, ctx: Ctx) -> dict[str, View]:
        """Make the folders; how each root is seen."""
        del ctx
        from toolcrib.execution.sandbox.terms import Overlay

        self._folder = self._folders.make()
        views: dict[str, View] = {}
        for number, root in enumerate(self._roots):
            with self._top(root).open() as handle:
                mode = handle.status.st_mode & 0o777
            views[root.real] = Overlay(*self._folder.overlay(number, mode))
        self._since = time.time_ns()
        return views

    async def finish(self, ctx: Ctx, commit: Commit, cut: str) -> Outcome:
        """Read what was changed, and make, hold or drop it.

        Args:
            ctx: the call.
            commit: which of them.
            cut: why the run was stopped before its end; "" where it was not.
        """
        check = Checkpoint(None)
        try:
            reading = await self._read(ctx, check)
        except ToolError as error:
            return Outcome("dropped", notes=(f"{error.message} {error.hint}".strip(),))
        except OSError as error:
            return Outcome("dropped", notes=(f"What it changed cannot be read: {error}.",))
        judged, shown = await asyncio.to_thread(self._look, reading, check)
        if not reading.deltas and not reading.conflicts:
            return Outcome(notes=tuple(judged.notes))
        if commit == "never":
            return _outcome(Outcome("dropped"), shown, judged)
        why = _reasons(reading, judged, cut)
        if not judged.deltas and not reading.conflicts:
            return Outcome(notes=tuple(judged.notes))
        size = self._config.run.limits.disk_mb * 1_000_000
        if reading.size > SPARSE * size:
            why.append(f"its new files have {size_of(reading.size)} in all")
        if commit == "ask" or why:
            lost = bool(reading.conflicts)
            return await self._hold(ctx, shown, judged, why, overtaken=lost)
        try:
            applied = await self._apply(ctx, judged)
        except ToolError as error:
            await self._remember(reading)
            lost = isinstance(error, Conflict)
            why = [overtaken(error) if lost else cause(error)]
            return await self._hold(ctx, shown, judged, why, overtaken=lost)
        return _applied(applied, shown, judged)

    async def apply(self, ctx: Ctx) -> Outcome:
        """Make the changes of a held run, or say why not; it stays held then."""
        assert self._folder is not None
        check = Checkpoint(ctx.deadline)
        reading = await self._read(ctx, check)
        judged, shown = await asyncio.to_thread(self._look, reading, check)
        why = _reasons(reading, Judged(), "")
        if not why:
            await self._remember(reading)  # it may be the end of this process
            try:
                return _applied(await self._apply(ctx, judged), shown, judged)
            except Conflict as error:
                why = [overtaken(error)]
            except ToolError as error:
                error.hint = to_mend(error) or error.hint
                raise
        self._keep = True
        held = Outcome("held", held=self._folder.id, overtaken=True)
        return _outcome(held, shown, judged, _held_notes(why))

    async def _read(self, ctx: Ctx, check: Checkpoint) -> Reading:
        assert self._folder is not None
        folder, found = self._folder, Reading()
        known = tried.recall(folder.path)
        start = self._workspace.start(ctx.session.directory)

        def work() -> None:
            for number, root in enumerate(self._roots):
                Upper(
                    top=self._top(root),
                    folder=folder.upper(number),
                    since=self._since,
                    check=check,
                    most=self._config.undo.max_entries,
                    start=start.parts if start.root == root else ("/",),
                    tried=known,
                    into=found,
                ).read()
            found.deltas = without_refreshed(found.deltas)

        await asyncio.to_thread(work)
        return found

    def _look(self, reading: Reading, check: Checkpoint) -> tuple[Judged, Shown]:
        judged = judge(reading, self._workspace.roots, self._config.undo, self._config.workspace)
        return judged, Shown.of(judged.deltas, check)

    async def _remember(self, reading: Reading) -> None:
        assert self._folder is not None
        await asyncio.to_thread(tried.remember, self._folder.path, reading.deltas)

    async def _apply(self, ctx: Ctx, judged: Judged) -> Applied:
        plan = plan_of(judged.deltas, self._tool, self._config.undo)
        return await self._changes.apply(plan, ctx)

    async def _hold(
        self, ctx: Ctx, shown: Shown, judged: Judged, why: list[str], *, overtaken: bool
    ) -> Outcome:
        assert self._folder is not None
        folder = self._folder

        def measure() -> int:
            folder.drop_work()
            return blocks_of(folder.path)

        held = Held(
            id=folder.id,
            time=time.time(),
            tool=self._tool,
            session=ctx.session.id,
            kind="overlay",
            since=self._since,
            roots=tuple(root.real for root in self._roots),
            size=await asyncio.to_thread(measure),
        )
        try:
            await self._area.write(lambda c: rows.add(c, held))
        except StorageFailure as error:
            why.append(f"it could not be held either: {cause(error)}")
            return _outcome(Outcome("dropped"), shown, judged, _held_notes(why))
        self._keep = True
        outcome = Outcome("held", held=held.id, overtaken=overtaken)
        return _outcome(outcome, shown, judged, _held_notes(why))

    def _top(self, root: Root) -> SafePath:
        return SafePath(root, (), self._workspace.gate, 0)


def _reasons(reading: Reading, judged: Judged, cut: str) -> list[str]:
    """Why changes are not made although nobody asked to hold them."""
    why = []
    if reading.conflicts:
        changed = some(list(dict.fromkeys(reading.conflicts)), 5)
        why.append(f"{changed} changed outside of the run meanwhile; {RUN_AGAIN}")
    if cut:
        why.append(f"it was stopped before its end ({cut})")
    if judged.lost:
        why.append(f"undo could not bring back {some(judged.lost)}")
    return why


def _held_notes(why: list[str]) -> list[str]:
    return [f"nothing was changed: {reason}" for reason in why]


def _applied(applied: Applied, shown: Shown, judged: Judged) -> Outcome:
    notes = [applied.note] if applied.note else []
    state: Outcome = Outcome("applied" if applied.step else "none", step=applied.step)
    return _outcome(state, shown, judged, notes)


def _outcome(
    outcome: Outcome, shown: Shown, judged: Judged, more: list[str] | None = None
) -> Outcome:
    return replace(
        outcome,
        files=tuple(shown.files),
        more=shown.more,
        diff=shown.diff,
        notes=(*(more or ()), *judged.notes, *shown.notes),
    )
