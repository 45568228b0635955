"""A run that works on the files themselves: how they looked before is kept, and compared after."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

from toolcrib.core.config import data_folder
from toolcrib.core.context import Ctx
from toolcrib.core.errors import Conflict, StorageFailure, ToolError, Unavailable
from toolcrib.core.services import Services
from toolcrib.execution.runs import pending_runs as rows
from toolcrib.execution.runs.comparison import Comparison, pieces_of
from toolcrib.execution.runs.disk.index import Index, Memory, identities, walk
from toolcrib.execution.runs.disk.restore import cover, uncover
from toolcrib.execution.runs.obstacles import overtaken, to_mend
from toolcrib.execution.runs.outcome import Changed, Commit, Outcome
from toolcrib.execution.runs.pending_runs import Held
from toolcrib.execution.runs.view import Shown
from toolcrib.files.changes.changes import Changes
from toolcrib.files.changes.deltas import Delta, without_refreshed
from toolcrib.files.changes.work import Piece
from toolcrib.files.content.sizes import counted, printable, some
from toolcrib.files.paths import SafePath
from toolcrib.files.repositories import without_hooks
from toolcrib.files.roots import Root
from toolcrib.files.tree_images import Image
from toolcrib.files.workspace import Workspace
from toolcrib.state.store import Area
from toolcrib.system.ids import random_id
from toolcrib.system.threads import Checkpoint

if TYPE_CHECKING:
    from toolcrib.execution.sandbox.terms import View

UNMASKED = "protected files inside the workspace could not be masked at this level"


class Covers:
    """Empty folders over which boundaries are put; each stays as long as some run needs it."""

    def __init__(self) -> None:
        self._needed: Counter[tuple[str, str]] = Counter()
        self._lock = threading.Lock()

    def put(self, real: str, top: int, index: Index) -> list[str]:
        """Make those that a tree needs; what others made there is not the user's.

        Args:
            real: the top of the tree.
            top: a descriptor of it.
            index: how it looks; covers are taken out of it.
        """
        with self._lock:
            shared = [way for where, way in self._needed if where == real and way in index.entries]
            for way in shared:
                del index.entries[way]
            ways = [*cover(top, without_hooks(index.entries)), *shared]
            self._needed.update((real, way) for way in ways)
        return ways

    def take(self, real: str, top: int, ways: Sequence[str]) -> None:
        """Remove those that nobody needs any more."""
        with self._lock:
            self._needed.subtract((real, way) for way in ways)
            self._needed = +self._needed
            uncover(top, [way for way in ways if (real, way) not in self._needed])


class Direct:
    """What runs on the files themselves have in common.

    Args:
        folder: where contents are kept from one run to the next.
        services: of the toolbox.
        area: the rows of held runs.
    """

    def __init__(self, folder: Path, services: Services, area: Area) -> None:
        self.workspace = services.use(Workspace)
        self.changes = services.use(Changes)
        self.config = services.config
        self.area = area
        self.covers = Covers()
        self._memories = {root.real: Memory(folder, root.real) for root in self.workspace.roots}

    def run(
        self, tool: str, level: str, commit: Commit = "auto", *, background: bool = False
    ) -> DirectRun:
        """A new run."""
        return DirectRun(self, tool, level, commit, background=background)

    def memory(self, root: Root) -> Memory:
        """What is known of the contents beneath a root."""
        return self._memories[root.real]

    async def apply(self, held: Held, ctx: Ctx) -> Outcome:
        """Make the changes of a held run again."""
        try:
            applied = await self.changes.undo_step(held.step, ctx, held.tool)
        except Conflict as error:
            note = f"nothing was changed: {overtaken(error)}"
            return Outcome("held", held=held.id, notes=(note,), overtaken=True)
        except ToolError as error:
            error.hint = to_mend(error) or error.hint
            raise
        await self.changes.forget(held.since, held.step)
        files = tuple(Changed(printable(path), "changed") for path in applied.paths)
        return Outcome("applied", step=applied.step, files=files)

    async def discard(self, held: Held) -> None:
        """Forget what was taken back."""
        await self.changes.forget(held.since, held.step)


@dataclass(slots=True)
class DirectRun:
    """One run on the files themselves; made by `Direct.run`.

    Args:
        direct: what such runs have in common.
        tool: who asks.
        level: the boundary that holds.
        commit: what shall become of the changes.
        background: whether others work on the files meanwhile, for long.
    """

    direct: Direct
    tool: str
    level: str
    commit: Commit
    background: bool = False
    _before: dict[str, Index] = field(default_factory=dict)
    _began: float = 0.0
    _notes: list[str] = field(default_factory=list)
    _covered: dict[str, list[str]] = field(default_factory=dict)
    _given_up: bool = False

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if error is not None:  # it did not even start, and may be looking still
            self._given_up = True
            await asyncio.to_thread(self._uncover)

    async def prepare(self, ctx: Ctx) -> dict[str, View]:
        """Look at the files and keep what they hold.

        Raises:
            Unavailable: not all could be kept, and the changes are to be taken back.
        """
        from toolcrib.execution.sandbox.terms import Bind

        check = Checkpoint(ctx.deadline)
        self._began = time.time()
        await asyncio.to_thread(self._look_before, check)
        unkept = [way for one in self._before.values() for way in (*one.unkept, *one.unread)]
        cut = any(index.cut for index in self._before.values())
        if self.commit != "auto" and (unkept or cut):
            raise Unavailable(
                f"With commit={self.commit} all files must be kept first, since no overlay works "
                f"here, and {_amount(len(unkept), cut=cut)} of the workspace cannot be.",
                hint="Use commit=auto, or a smaller workspace.",
            )
        if unkept or cut:
            self._notes.append(
                f"{_amount(len(unkept), cut=cut)} could not be kept before the run: changes of "
                "those cannot be undone"
            )
        return {root.real: Bind() for root in self.direct.workspace.roots}

    async def finish(self, ctx: Ctx, commit: Commit, cut: str) -> Outcome:
        """Compare, log what was changed, and take it back where that was asked for."""
        try:
            return await self._finish(ctx, commit, cut)
        except (ToolError, OSError) as error:
            # What the program wrote is not lost with it.
            why = f"what it changed is there, but could not be logged for undo: {error}"
            return Outcome("applied", notes=(*self._notes, why))

    async def _finish(self, ctx: Ctx, commit: Commit, cut: str) -> Outcome:
        comparison = await asyncio.to_thread(self._compare, ctx)
        theirs = await self._theirs()
        deltas = [delta for delta in comparison.deltas if not _is_theirs(delta, theirs)]
        deltas = await asyncio.to_thread(without_refreshed, deltas)
        check = Checkpoint(None)
        shown = await asyncio.to_thread(Shown.of, deltas, check)
        notes = [*self._notes, *comparison.notes]
        if self.level == "kernel":
            notes.append(UNMASKED)
        if not deltas:
            return Outcome(notes=tuple(notes))
        pieces, size = await asyncio.to_thread(self._pieces, deltas)
        lost = [printable(piece.shown) for piece in pieces if not piece.kept]
        note = f"not kept: {some(lost)}" if lost else ""
        step = await self.direct.changes.record(self.tool, ctx.session, pieces, note, size)
        if cut:
            notes.append(f"it was stopped before its end ({cut}); what it had changed is there")
        if lost:
            notes.append(f"undo cannot bring back {some(lost)}")
        if self.background:
            notes.append("what others changed meanwhile is in this step too")
        state = Outcome("applied", step=step)
        if commit != "auto":
            state = await self._withdraw(ctx, commit, step, notes)
        return Outcome(
            state.state,
            state.step,
            state.held,
            tuple(shown.files),
            shown.more,
            shown.diff,
            (*notes, *shown.notes),
        )

    async def _withdraw(self, ctx: Ctx, commit: Commit, step: int, notes: list[str]) -> Outcome:
        """Take the step back, for good or until it is applied."""
        try:
            back = await self.direct.changes.undo_step(step, ctx, self.tool)
        except ToolError as error:
            notes.append(f"the changes could not be taken back: {error.message}")
            return Outcome("applied", step=step)
        if commit == "never":
            # What others saved meanwhile went with it, so undo must be able to bring it back.
            notes.append(
                "it worked on the files themselves, which were put back after it; undo_changes "
                "brings back what it, or others meanwhile, had changed"
            )
            return Outcome("dropped", step=back.step)
        held = Held(
            id=random_id(8),
            time=time.time(),
            tool=self.tool,
            session=ctx.session.id,
            kind="step",
            since=step,
            roots=tuple(root.real for root in self.direct.workspace.roots),
            step=back.step,
        )
        await self.direct.area.write(lambda c: rows.add(c, held))
        notes.append("it worked on the files themselves, which were put back after it")
        return Outcome("held", held=held.id)

    def _look_before(self, check: Checkpoint) -> None:
        for root in self.direct.workspace.roots:
            with self._top(root).open() as handle:
                index = walk(handle.fd, self._skip(root), check)
                memory = self.direct.memory(root)
                memory.keep(handle.fd, index, check)
                if self.background and self.level == "strong":
                    covers = self.direct.covers.put(root.real, handle.fd, index)
                    self._covered[root.real] = covers
            self._before[root.real] = index
            memory.forget_old()
        if self._given_up:
            self._uncover()

    def _compare(self, ctx: Ctx) -> Comparison:
        start = self.direct.workspace.start(ctx.session.directory)
        found = Comparison(
            roots=self.direct.workspace.roots,
            settings=self.direct.config.workspace,
            mends=not self.background,
            masked=self.level == "strong",
        )
        self._uncover()
        for root in self.direct.workspace.roots:
            found.add(
                self._top(root),
                start.parts if start.root == root else ("/",),
                self._before[root.real],
                self.direct.memory(root).blobs,
                self._skip(root),
            )
        return found

    def _uncover(self) -> None:
        for root in self.direct.workspace.roots:
            if self._covered.get(root.real):
                with suppress(ToolError, KeyError), self._top(root).open() as handle:
                    self.direct.covers.take(root.real, handle.fd, self._covered.pop(root.real))

    def _pieces(self, deltas: Sequence[Delta]) -> tuple[list[Piece], int]:
        """The pieces for the log; the contents that they need are kept for it."""
        size, blobs = 0, self.direct.changes.blobs
        pieces = pieces_of(deltas)
        for piece in pieces:
            for digest in piece.digests:
                memory = self.direct.memory(piece.path.root)
                try:
                    size += blobs.adopt(memory.blobs, digest)
                except StorageFailure:
                    piece.kept = False
        return pieces, size

    async def _theirs(self) -> dict[str, Image | None]:
        """What other steps left since the run began: by path, None for what they removed."""
        found: dict[str, Image | None] = {}
        for step in reversed(await self.direct.changes.since(self._began)):
            for piece in self.direct.changes.pieces(step):
                found |= _left_by(piece)
        return found

    def _skip(self, root: Root) -> frozenset[tuple[int, int]]:
        inner = [
            other.real
            for other in self.direct.workspace.roots
            if other != root and other.real.startswith(f"{root.real.rstrip('/')}/")
        ]
        return identities([str(data_folder()), *inner])

    def _top(self, root: Root) -> SafePath:
        return SafePath(root, (), self.direct.workspace.gate, 0)


def _amount(unkept: int, *, cut: bool) -> str:
    more = " and what is beyond the limit of files" if cut else ""
    return f"{counted(unkept, 'file')}{more}"


def _left_by(piece: Piece) -> dict[str, Image | None]:
    path = str(piece.path)
    if piece.do == "remove":
        return {f"{path}/{image.path}".rstrip("/"): None for image in piece.tree}
    if piece.do == "unmake":
        return {path: None}
    if piece.do == "rename":
        return {path: None, str(piece.target): piece.before}
    if piece.do == "plant":
        return {f"{path}/{image.path}".rstrip("/"): image for image in piece.tree} | {
            path: piece.after
        }
    return {path: piece.after}


def _is_theirs(delta: Delta, theirs: dict[str, Image | None]) -> bool:
    """Whether a name is just as another step left it."""
    path = str(delta.path)
    if path not in theirs:
        return False
    known = theirs[path]
    if delta.after is None or known is None:
        return delta.after is known
    return known.kind == delta.after.kind and (
        known.kind != "file" or known.mark == delta.after.mark
    )
