"""A run that works on the files themselves: a snapshot before it is compared with one after."""

from __future__ import annotations

import asyncio
import stat
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Self

from toolcrib.core.config import data_folder, user_config_file
from toolcrib.core.context import Ctx
from toolcrib.core.errors import Conflict, StorageFailure, ToolError, Unavailable
from toolcrib.execution.runs import folders
from toolcrib.execution.runs.context import RunContext
from toolcrib.execution.runs.folders import PendingRun
from toolcrib.execution.runs.outcome import APPLY_TOOL, Commit, RunOutcome, described
from toolcrib.execution.runs.verdict import (
    GIT,
    NO_GIT,
    ChangeJudge,
    conflict_message,
    protecting,
    recovery_hint,
)
from toolcrib.execution.toolchains import is_among
from toolcrib.files.changes.changes import Changes
from toolcrib.files.changes.copies import FileSource
from toolcrib.files.changes.deltas import Delta, index_digest, is_index, without_refreshed
from toolcrib.files.changes.snapshots import (
    Snapshot,
    clear_set_id_bits,
    compare,
    digest_now,
    identities,
    make_hooks_folders,
    restore_tree,
    take_snapshot,
)
from toolcrib.files.changes.step import BULK_KINDS, Change, ChangeKind
from toolcrib.files.changes.undo_log import HELD, StoredSource
from toolcrib.files.changes.view import ChangedFile, ChangeView
from toolcrib.files.handles import Handle, Root
from toolcrib.files.paths import SafePath, Workspace
from toolcrib.files.repositories.quarantine import RepositoryQuarantine, notes_on
from toolcrib.files.trees import EntryState
from toolcrib.state.blobs import Blobs
from toolcrib.state.store import make_private
from toolcrib.system.threads import Checkpoint, random_id
from toolcrib.text.display import counted, printable, some_of

if TYPE_CHECKING:
    from toolcrib.execution.sandbox.terms import View


LEFT = "left as it is, since others may have written it"
LEFT_TO_UNDO = f"{LEFT}; undo takes away what is new"
LEFT_FOR_GOOD = f"{LEFT}; undo does not touch it either"
MISLEADING = frozenset({"protected (.git/commondir)", "protected (*.git/commondir)"})
"""Nobody writes to what was found there: it makes git use other settings."""
MAX_HASHED_BYTES = 500_000_000
"""Bytes of a changed file up to which its present content is hashed."""
SET_ID_BITS = stat.S_ISUID | stat.S_ISGID
MAX_DISPLAY_CHARS = 100
"""Of a path that lies too deep."""
NO_FILES = "sockets or devices, which undo leaves; each has to be covered in the runs to come"
NOT_LOOKED_INTO = "not looked into (too deep, or closed): undo leaves what the run made there"


@dataclass(slots=True)
class Comparison:
    """Collects what differs between a root and its snapshot, and mends what must not.

    Attributes:
        context: of the runs.
        top: the root.
        start: see `OverlayUpper`.
        before: its snapshot.
        restores: whether what must not be changed is put back; else it is only reported.
        masked: whether the run could not change the protected names that were there.
        deltas: what differs and may.
        notes: what may not, and what was done about it.
        paths: all that differs, absolute.
    """

    context: RunContext
    top: SafePath
    start: SafePath
    before: Snapshot
    restores: bool
    masked: bool
    deltas: list[Delta] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)

    def compare(self, skip: frozenset[tuple[int, int]]) -> None:
        """Compare the root with its snapshot; for `skip` see `take_snapshot`."""
        with self.top.open() as handle:
            after = take_snapshot(handle.fd, skip, Checkpoint(), self.before)
            judge = self._judge(handle, after)
            if self._restore(handle, judge) and self.restores:
                after = take_snapshot(handle.fd, skip, Checkpoint(), self.before)
                judge = self._judge(handle, after)
        self.notes += [*judge.repositories.notes, *self._unknown(after)]
        self.paths += [delta.path.absolute for delta in judge.deltas]
        odd = [delta.path for delta in judge.deltas if delta.after and delta.after.kind == "other"]
        if odd:
            self.notes.append(f"{some_of([printable(path.display) for path in odd])}: {NO_FILES}")
        self.deltas += [
            found for delta in judge.deltas if (found := self._loggable(delta)) is not None
        ]

    def _judge(self, handle: Handle, after: Snapshot) -> ChangeJudge:
        context = self.context
        return ChangeJudge.of(
            self._differing(handle, after), context.workspace.roots, context.config.workspace
        )

    def _loggable(self, delta: Delta) -> Delta | None:
        """A change as the log has it; None for what it cannot speak of, or undo must not touch.

        What is new under a protected name, and was not put back, can be taken away by undo.
        """
        if delta.after is not None and delta.after.kind in ("pipe", "other"):
            return None
        if not protecting(delta.path)[1]:
            return delta
        granted = delta.path.granted()
        if (delta.before and self.masked) or protecting(granted)[1]:
            return None
        return replace(delta, path=granted)

    def _restore(self, handle: Handle, judge: ChangeJudge) -> bool:
        """Put back what must not have been changed; whether there was something."""
        wrong: dict[str, str] = {}
        stays: set[str] = set()
        for delta in judge.deltas:
            if found := judge.objection(delta):
                relative, why = "/".join(found.place.parts), found.why
            elif why := _oddity(delta.after):
                relative = "/".join(delta.path.parts)
            else:
                continue
            wrong.setdefault(relative, why)
            if not self.restores and self._loggable(delta) is None:
                stays.add(relative)
        done: dict[str, list[str]] = {}
        for relative, why in wrong.items():
            if any(relative.startswith(f"{other}/") for other in wrong):
                continue
            fate = LEFT_FOR_GOOD if relative in stays else LEFT_TO_UNDO
            if self.restores or why in MISLEADING:
                fate = (
                    "put back" if self._put_back(handle, relative, why) else "could not be put back"
                )
            done.setdefault(f"{why}: {fate}", []).append(printable(self._path(relative).display))
        self.notes += [f"{some_of(paths, 5)}: {text}" for text, paths in done.items()]
        if self.restores and any(why == f"protected ({GIT})" for why in wrong.values()):
            self.notes.append(NO_GIT)
        return bool(done)

    @property
    def _blobs(self) -> Blobs:
        """What the files of the root held."""
        return self.context.caches[self.top.root.real].blobs

    def _path(self, relative: str) -> SafePath:
        return self.top.at(tuple(relative.split("/"))).named_from(self.start)

    def _differing(self, handle: Handle, after: Snapshot) -> list[Delta]:
        gone, fresh = compare(self.before, after)
        found = [self._removed(relative) for relative in gone]
        for relative in fresh:
            delta = self._changed(handle, relative, after)
            if delta is not None:
                found.append(delta)
        return found

    def _unknown(self, after: Snapshot) -> list[str]:
        """A line on what the run may have left where nobody looked."""
        folders = [each for each in after.unread if each not in self.before.unread]
        found = [printable(self._path(each).display)[-MAX_DISPLAY_CHARS:] for each in folders]
        if after.cut and not self.before.cut:
            found.append("what is beyond the limit of files")
        return [f"{some_of(found)} {NOT_LOOKED_INTO}"] if found else []

    def _removed(self, relative: str) -> Delta:
        tree = self.before.tree(relative)
        old = self._stored(tree[0]) if tree[0].kind == "file" else None
        return Delta(self._path(relative), tree, old=old)

    def _changed(self, handle: Handle, relative: str, after: Snapshot) -> Delta | None:
        now = after.entries[relative].image
        was = self.before.entries.get(relative)
        before = was.image if was is not None and was.image.kind == now.kind else None
        path, digest = self._path(relative), ""
        if now.kind == "file" and now.size <= MAX_HASHED_BYTES:
            digest = digest_now(handle.fd, relative, now)
        image = replace(now, path="", digest=digest)
        if before is None:
            new = FileSource(path, now.mark) if now.kind == "file" else None
            return Delta(path, (), image, new=new)
        tree = (replace(before, path=""),)
        if now.kind != "file":
            return Delta(path, tree, image, same=now.kind == "folder")
        same = bool(digest) and digest == before.digest
        if same and (now.mode, now.mtime) == (before.mode, before.mtime):
            return None
        return Delta(path, tree, image, self._stored(before), FileSource(path, now.mark), same)

    def _stored(self, image: EntryState) -> StoredSource | None:
        return StoredSource(self._blobs, image.digest) if image.digest else None

    def _put_back(self, handle: Handle, relative: str, why: str) -> bool:
        if why.startswith("a setuid") and relative not in self.before.entries:
            return clear_set_id_bits(handle.fd, relative)
        return restore_tree(
            handle.fd, relative, self.before.tree(relative), self._blobs.read, Checkpoint()
        )


def _oddity(after: EntryState | None) -> str:
    """What no run may leave, whatever it is called; "" for nothing of the kind."""
    if after is not None and after.kind == "file" and after.mode & SET_ID_BITS:
        return "a setuid or setgid program"
    return "a named pipe" if after is not None and after.kind == "pipe" else ""


def changes_of(deltas: Iterable[Delta]) -> list[Change]:
    """What the log says about changes that were made already."""
    found: list[Change] = []

    def add(kind: ChangeKind, delta: Delta) -> Change:
        change = Change(kind, delta.path, number=len(found) + 1)
        found.append(change)
        return change

    for delta in deltas:
        before, after = delta.before, delta.after
        if before and (after is None or after.kind == "link"):
            change = add("delete", delta)
            change.tree, change.before = before, before[0]
            change.undoable = _is_stored(before)
        if after is None:
            continue
        if after.kind == "link":
            change = add("create_tree", delta)
            change.tree, change.after = (after,), after
        elif after.kind == "folder":
            change = add("mode" if before else "folder", delta)
            change.before, change.after = (before[0] if before else None), after
        else:
            change = add("write", delta)
            change.before, change.after = (before[0] if before else None), after
            change.undoable = not before or bool(before[0].digest)
            if delta.new is not None and is_index(delta.path):
                with suppress(ToolError):
                    change.index_digest = index_digest(delta.new)
    return found


def _is_stored(tree: Sequence[EntryState]) -> bool:
    return all(image.digest for image in tree if image.kind == "file") and not any(
        image.kind == "other" for image in tree
    )


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
    _before: dict[str, Snapshot] = field(default_factory=dict)
    _began: float = 0.0
    _notes: list[str] = field(default_factory=list)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, kind: object, error: object, trace: object) -> None:
        del kind, error, trace

    async def prepare(self, ctx: Ctx) -> dict[str, View]:
        """Take a snapshot of the files and of their contents.

        Raises:
            Unavailable: not all could be kept, and the changes are to be taken back.
        """
        from toolcrib.execution.sandbox.terms import Bind

        check = Checkpoint(ctx.deadline)
        self._began = time.time()
        await asyncio.to_thread(_make_own_folder, self.context.workspace)
        await asyncio.to_thread(self._take_snapshots, check)
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
            quarantine = RepositoryQuarantine(self.context.workspace, self.kind_before)
            quarantined = await asyncio.to_thread(quarantine.take, paths)
            if quarantined:
                self._notes += notes_on(quarantined)
                compared = await asyncio.to_thread(self._compare, ctx)
        others, began, git_paths = await self._changes_of_others()
        deltas = [
            delta
            for each in compared
            for delta in each.deltas
            if not _is_by_others(delta, others, began) and not _is_by_git(delta, git_paths)
        ]
        deltas = await asyncio.to_thread(without_refreshed, deltas)
        check = Checkpoint(None)
        view = await asyncio.to_thread(ChangeView.of, deltas, check)
        notes = [*self._notes, *(note for each in compared for note in each.notes)]
        if self.level == "kernel":
            notes.append(UNMASKED)
        if not deltas:
            return RunOutcome(notes=tuple(notes))
        triggers = await self.context.triggers.among(deltas, ctx)
        notes += triggers
        if triggers and commit == "auto" and not self.background:
            commit = "ask"
        changes, size = await asyncio.to_thread(self._changes, deltas)
        lost = [printable(change.display) for change in changes if not change.undoable]
        note = f"not kept: {some_of(lost)}" if lost else ""
        tool = f"{HELD}{self.tool}" if commit != "auto" else self.tool
        step = await self.context.changes.record(tool, ctx.session, changes, note, size)
        if cut:
            notes.append(f"it was stopped before its end ({cut}); what it had changed is there")
        if lost:
            notes.append(f"undo cannot bring back {some_of(lost)}")
        if self.background:
            notes.append("what others changed meanwhile is in this step too")
        state = RunOutcome("applied", step=step)
        if commit != "auto":
            state = await self._withdraw(ctx, commit, step, notes, for_user=bool(triggers))
        return described(state, view, notes)

    async def _withdraw(
        self, ctx: Ctx, commit: Commit, step: int, notes: list[str], *, for_user: bool
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
            for_user=for_user or commit == "never",
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

    def _take_snapshots(self, check: Checkpoint) -> None:
        for root in self.context.workspace.roots:
            with self.context.top(root).open() as handle:
                index = take_snapshot(handle.fd, self._skip(root), check)
                is_masked = self.background and self.level == "strong"
                if is_masked and make_hooks_folders(handle.fd, index):
                    index = take_snapshot(handle.fd, self._skip(root), check)
                memory = self.context.caches[root.real]
                memory.keep(handle.fd, index, check)
            self._before[root.real] = index
            memory.forget_old()

    def _compare(self, ctx: Ctx) -> list[Comparison]:
        """What differs, root by root."""
        start = self.context.workspace.start(ctx.session.directory)
        found: list[Comparison] = []
        for root in self.context.workspace.roots:
            comparison = Comparison(
                context=self.context,
                top=self.context.top(root),
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

    async def _changes_of_others(self) -> tuple[States, States, list[str]]:
        """What other steps left since the run began: by path, None for what they removed.

        And what the first of them found, as far as it is known; and the paths of steps of git,
        which takes back itself what it did in its own folder.
        """
        found: States = {}
        began: States = {}
        git_paths: list[str] = []
        for step in reversed(await self.context.changes.since(self._began)):
            git_paths += step.paths if step.program is not None else ()
            for change in step.read_changes(self.context.workspace):
                found |= _left_by(change)
                if change.kind == "write":
                    began.setdefault(str(change.path), change.before)
        return found, began, git_paths

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


def _make_own_folder(workspace: Workspace) -> None:
    """Make the folder of our settings where a run could: it is masked only where it is there.

    What a run put into it would be obeyed, and its tools imported, at the next start.
    """
    folder = user_config_file().parent
    if folder.name == "toolcrib" and workspace.holds(str(folder)) and not folder.exists():
        with suppress(OSError):
            make_private(folder)


States = dict[str, EntryState | None]


def _left_by(change: Change) -> States:
    path = str(change.path)
    if change.kind == "delete":
        return {f"{path}/{image.path}".rstrip("/"): None for image in change.tree}
    if change.kind in BULK_KINDS:
        states = change.tree if change.kind == "move_in" else (None,) * len(change.tree)
        return dict(zip(change.absolute_paths, states, strict=True))
    if change.kind == "remove_folder":
        return {path: None}
    if change.kind == "move":
        return {path: None, str(change.target): change.before}
    if change.kind == "create_tree":
        return {f"{path}/{image.path}".rstrip("/"): image for image in change.tree} | {
            path: change.after
        }
    return {path: change.after}


def _is_by_git(delta: Delta, paths: Sequence[str]) -> bool:
    """Whether it lies in the `.git` of a repository in which a step of git was made."""
    if GIT not in delta.path.parts:
        return False
    top = delta.path.ancestor(delta.path.parts.index(GIT)).absolute
    return any(is_among(path, [top]) for path in paths)


def _is_by_others(delta: Delta, others: States, began: States) -> bool:
    """Whether a name is just as another step left it, which found it as it was before the run."""
    path = str(delta.path)
    if path not in others:
        return False
    if path in began:
        first, before = began[path], delta.before
        if (first.mark if first else "") != (before[0].mark if before else ""):
            return False  # the run had changed it before: what was there is in no other step
    known = others[path]
    if delta.after is None or known is None:
        return delta.after is known
    return known.kind == delta.after.kind and (
        known.kind != "file" or known.mark == delta.after.mark
    )
