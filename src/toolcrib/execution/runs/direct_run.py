"""A run that works on the files themselves: a snapshot before it is compared with one after."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Self

from toolcrib.core.config import data_folder, user_config_file
from toolcrib.core.context import Ctx
from toolcrib.core.errors import Conflict, StorageFailure, ToolError, Unavailable
from toolcrib.execution.runs import folders
from toolcrib.execution.runs.context import RunContext
from toolcrib.execution.runs.folders import PendingRun, RunFolder
from toolcrib.execution.runs.outcome import (
    APPLY_TOOL,
    Commit,
    RunOutcome,
    conflict_message,
    described,
    recovery_hint,
)
from toolcrib.execution.toolchains import is_among
from toolcrib.files.changes.changes import Changes
from toolcrib.files.changes.comparison import Comparison, OtherSteps, changes_of
from toolcrib.files.changes.deltas import Delta, without_refreshed
from toolcrib.files.changes.snapshots import (
    Snapshot,
    identities,
    make_hooks_folders,
    take_snapshot,
)
from toolcrib.files.changes.step import Change
from toolcrib.files.changes.undo_log import HELD
from toolcrib.files.changes.view import ChangedFile, ChangeView
from toolcrib.files.handles import Root
from toolcrib.files.paths import SafePath, Workspace
from toolcrib.files.repositories.packed import MAX_PACKED_BYTES
from toolcrib.files.repositories.quarantine import RepositoryQuarantine, notes_on
from toolcrib.state.store import make_private
from toolcrib.system.threads import Checkpoint, random_id
from toolcrib.text.display import counted, printable, some_of

if TYPE_CHECKING:
    from toolcrib.execution.sandbox.terms import View


MEANWHILE = "what others changed meanwhile"
UNMASKED = "protected files inside the workspace could not be masked at this level"


@dataclass(slots=True)
class DirectRun:
    """One run on the files themselves.

    Args:
        context: of the runs.
        tool: who asks.
        level: the boundary that holds.
        commit: what becomes of the changes.
        background: whether others work on the files meanwhile, for long.
    """

    context: RunContext
    tool: str
    level: str
    commit: Commit = "auto"
    background: bool = False
    _folder: RunFolder | None = None
    _before: dict[str, Snapshot] = field(default_factory=dict)
    _began: float = 0.0
    _notes: list[str] = field(default_factory=list)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, kind: object, error: object, trace: object) -> None:
        if self._folder is not None:
            await asyncio.to_thread(self._folder.remove)

    async def prepare(self, ctx: Ctx) -> dict[str, View]:
        """Take a snapshot of the files and of their contents.

        Raises:
            Unavailable: not all could be kept, and the changes are to be taken back.
            StorageFailure: no room for the run.
        """
        from toolcrib.execution.sandbox.terms import Bind

        check = Checkpoint(ctx.deadline)
        self._began = time.time()
        self._folder = folder = self.context.folders.make()
        await asyncio.to_thread(_make_own_folder, self.context.workspace)
        await asyncio.to_thread(self._take_snapshots, check, folder.path)
        unkept = [
            relative for one in self._before.values() for relative in (*one.unkept, *one.unread)
        ]
        cut = any(index.cut for index in self._before.values())
        if self.commit != "auto" and (unkept or cut):
            raise Unavailable(
                f"With commit={self.commit} all files must be kept first, since no overlay works "
                f"here, and {_file_count(len(unkept), cut=cut)} of the workspace cannot be.",
                hint="Use commit=auto, or a smaller workspace.",
            )
        if unkept or cut:
            self._notes.append(
                f"{_file_count(len(unkept), cut=cut)} could not be kept before the run: changes of "
                "those cannot be undone"
            )
        return {root.real: Bind() for root in self.context.workspace.roots}

    def kind_before(self, path: SafePath) -> str:
        """The kind of what was there before the run; "" for nothing."""
        snapshot = self._before.get(path.root.real)
        entry = snapshot.entries.get("/".join(path.parts)) if snapshot is not None else None
        return "" if entry is None else entry.image.kind

    def content_before(self, path: SafePath) -> bytes | None:
        """What a file held before the run; None where that is not known."""
        snapshot, cache = self._before.get(path.root.real), self.context.caches[path.root.real]
        entry = snapshot.entries.get("/".join(path.parts)) if snapshot is not None else None
        if entry is None or not entry.image.digest or entry.image.size > MAX_PACKED_BYTES:
            return None
        with suppress(ToolError, OSError):
            return b"".join(cache.blobs.read(entry.image.digest))
        return None

    async def finish(self, ctx: Ctx, commit: Commit, cut: str) -> RunOutcome:
        """Compare, log what was changed, and take it back where that was asked for."""
        try:
            return await self._finish(ctx, commit, cut)
        except (ToolError, OSError) as error:
            # What the program wrote is not lost with it.
            why = f"what it changed is there, but could not be logged for undo: {error}"
            return RunOutcome("applied", notes=(*self._notes, why))

    async def _finish(self, ctx: Ctx, commit: Commit, cut: str) -> RunOutcome:
        compared = await asyncio.to_thread(self._compare, ctx)
        if self.background:
            paths = [path for each in compared for path in each.paths]
            quarantine = RepositoryQuarantine(
                self.context.workspace, self.kind_before, self.content_before
            )
            quarantined = await asyncio.to_thread(quarantine.take, paths)
            if quarantined:
                self._notes += notes_on(quarantined)
                compared = await asyncio.to_thread(self._compare, ctx)
        others = await OtherSteps.since(self._began, self.context.changes, self.context.workspace)
        deltas = [delta for each in compared for delta in each.deltas if not others.made(delta)]
        deltas = await asyncio.to_thread(without_refreshed, deltas)
        check = Checkpoint(None)
        notes = [*self._notes, *(note for each in compared for note in each.notes)]
        notes += await asyncio.to_thread(_notes_on_names, deltas)
        if self.level == "kernel":
            notes.append(UNMASKED)
        if not deltas:
            return RunOutcome(notes=tuple(notes))
        triggers = await self.context.triggers.among(deltas, ctx)
        view = await asyncio.to_thread(ChangeView.of, deltas, check, triggers.paths)
        notes += triggers.lines
        if triggers.lines and commit == "auto" and not self.background:
            commit = "ask"
        changes, size = await asyncio.to_thread(self._changes, deltas)
        lost = [printable(change.display) for change in changes if not change.undoable]
        note = f"not kept: {some_of(lost)}" if lost else MEANWHILE * self.background
        tool = f"{HELD}{self.tool}" if commit != "auto" else self.tool
        step = await self.context.changes.record(tool, ctx.session, changes, note, size)
        if cut:
            notes.append(f"it was stopped before its end ({cut}); what it had changed is there")
        if lost:
            notes.append(f"undo cannot bring back {some_of(lost)}")
        if self.background:
            notes.append(f"{MEANWHILE} is in this step too")
        state = RunOutcome("applied", step=step)
        if commit != "auto":
            preview = described(state, view, notes).preview
            for_user = bool(triggers.lines) or commit == "never"
            state = await self._withdraw(ctx, commit, step, notes, preview, for_user=for_user)
            places = await asyncio.to_thread(self.context.triggers.question_folders, deltas)
            self.context.held_folders[state.pending_id] = places
        return described(state, view, notes)

    async def _withdraw(
        self,
        ctx: Ctx,
        commit: Commit,
        step: int,
        notes: list[str],
        preview: str,
        *,
        for_user: bool,
    ) -> RunOutcome:
        """Take the step back, for good or until it is applied."""
        try:
            back = await self.context.changes.undo_step(step, ctx, f"{HELD}{self.tool}")
        except ToolError as error:
            await self.context.changes.show_step(step)
            notes.append(f"the changes could not be taken back: {error.message}")
            return RunOutcome("applied", step=step)
        pending = PendingRun(
            id=random_id(8),
            time=time.time(),
            tool=self.tool,
            session=ctx.session.id,
            kind="step",
            since=step,
            roots=tuple(root.real for root in self.context.workspace.roots),
            step=back.step,
            for_user=for_user,
            preview=preview,
        )
        await self.context.rows.write(lambda c: folders.add(c, pending))
        notes.append("it worked on the files themselves, which were put back after it")
        if commit == "never":
            # What others saved meanwhile went with it, so the user must be able to bring it back.
            notes.append(
                f"{APPLY_TOOL} id={pending.id}, which asks the user, brings back what it, or "
                "others meanwhile, had changed"
            )
            return RunOutcome("dropped")
        return RunOutcome("held", pending_id=pending.id)

    def _take_snapshots(self, check: Checkpoint, folder: Path) -> None:
        for root in self.context.workspace.roots:
            with self.context.top(root).open() as handle:
                index = take_snapshot(handle.fd, self._skip(root), check)
                is_masked = self.background and self.level == "strong"
                if is_masked and make_hooks_folders(handle.fd, index):
                    index = take_snapshot(handle.fd, self._skip(root), check)
                memory = self.context.caches[root.real]
                memory.keep(handle.fd, index, check, folder)
            self._before[root.real] = index
            memory.forget_old()

    def _compare(self, ctx: Ctx) -> list[Comparison]:
        """What differs, root by root."""
        start = self.context.workspace.start(ctx.session.directory)
        found: list[Comparison] = []
        for root in self.context.workspace.roots:
            comparison = Comparison(
                top=self.context.top(root),
                workspace=self.context.workspace,
                config=self.context.config.workspace,
                blobs=self.context.caches[root.real].blobs,
                start=start,
                before=self._before[root.real],
                restores=not self.background,
                masked=self.level == "strong",
            )
            comparison.compare(self._skip(root))
            found.append(comparison)
        return found

    def _changes(self, deltas: Sequence[Delta]) -> tuple[list[Change], int]:
        """The changes for the log; the contents that they need are kept for it."""
        size, blobs = 0, self.context.changes.blobs
        changes = changes_of(deltas)
        for change in changes:
            for digest in change.digests:
                memory = self.context.caches[change.path.root.real]
                try:
                    size += blobs.adopt(memory.blobs, digest)
                except StorageFailure:
                    change.undoable = False
        return changes, size

    def _skip(self, root: Root) -> frozenset[tuple[int, int]]:
        inner = [
            other.real
            for other in self.context.workspace.roots
            if other != root and is_among(other.real, [root.real])
        ]
        return identities([str(data_folder()), *inner])


async def apply_again(pending: PendingRun, changes: Changes, ctx: Ctx) -> RunOutcome:
    """Make the changes of a pending run again, that was taken back as a step of the undo log."""
    try:
        applied = await changes.undo_step(pending.step, ctx, pending.tool)
    except Conflict as error:
        note = f"nothing was changed: {conflict_message(error)}"
        return RunOutcome("held", pending_id=pending.id, notes=(note,), overtaken=True)
    except ToolError as error:
        error.hint = recovery_hint(error) or error.hint
        raise
    await changes.forget(pending.since, pending.step)
    files = tuple(ChangedFile(printable(path), "changed") for path in applied.paths)
    return RunOutcome("applied", step=applied.step, files=files)


def _file_count(unkept: int, *, cut: bool) -> str:
    more = " and what is beyond the limit of files" if cut else ""
    return f"{counted(unkept, 'file')}{more}"


def _notes_on_names(deltas: Iterable[Delta]) -> list[str]:
    """That files were written which have more names: package managers link them to a store."""
    found = []
    for delta in deltas:
        if delta.after is not None and delta.after.kind == "file" and delta.before:
            with suppress(OSError):
                if os.lstat(delta.path.absolute).st_nlink > 1:
                    found.append(printable(delta.path.display))
    words = "written under other names too (hard links), which may lie outside of the workspace"
    return [f"{words}: {some_of(found)}"] if found else []


def _make_own_folder(workspace: Workspace) -> None:
    """Make the folder of our settings where a run could: it is masked only where it is there.

    What a run put into it would be obeyed, and its tools imported, at the next start.
    """
    folder = user_config_file().parent
    if folder.name == "toolcrib" and workspace.holds(str(folder)) and not folder.exists():
        with suppress(OSError):
            make_private(folder)
