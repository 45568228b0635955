"""The service that changes files: all of a plan or nothing, and every step can be undone."""

from __future__ import annotations

import asyncio
import secrets
import sqlite3
import time
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Self

from toolcrib.core.call import well_formed
from toolcrib.core.config import Config, data_folder
from toolcrib.core.context import Ctx
from toolcrib.core.errors import Conflict, NoResults, StorageFailure, ToolError
from toolcrib.core.services import Services
from toolcrib.core.session import Session
from toolcrib.files.changes import reversal, steps
from toolcrib.files.changes.completion import remember, to_the_end
from toolcrib.files.changes.execution import Making
from toolcrib.files.changes.groups import groups
from toolcrib.files.changes.plan import Applied, Change, Plan
from toolcrib.files.changes.preparation import Preparation
from toolcrib.files.changes.steps import Step
from toolcrib.files.changes.work import Piece
from toolcrib.files.paths import SafePath
from toolcrib.files.staged_entries import staged_prefix
from toolcrib.files.trash import Trash
from toolcrib.files.workspace import Workspace
from toolcrib.state.blobs import Blobs
from toolcrib.state.owner import Owner
from toolcrib.state.store import Store
from toolcrib.system.ids import content_id, random_id
from toolcrib.system.threads import Checkpoint, explained

PRUNE_EVERY = 50
SILENT_SECONDS = 600.0
"""After so long a step of a process that cannot be looked up counts as abandoned."""
QUICK_BYTES = 16_000


class Changes:
    """Applies plans. A service; see `Changes.open`.

    Every process that uses the same store takes part in one log; while files change
    place, one lock keeps them apart.
    """

    def __init__(self, store: Store, workspace: Workspace, config: Config) -> None:
        self._log = store.area(steps.SCHEMA)
        self._workspace = workspace
        self._config = config
        self._in_memory = store.path is None
        self._blobs = Blobs(undo_folder(store.path))
        self._owner = str(Owner.current())
        self._made = 0
        self._undropped: set[str] = set()
        self.warnings: list[str] = []

    @classmethod
    def open(cls, services: Services) -> Self:
        """On the store and the workspace of a toolbox."""
        return cls(services.use(Store), services.use(Workspace), services.config)

    async def apply(self, plan: Plan, ctx: Ctx) -> Applied:
        """Make all changes of a plan, or none.

        Every path is checked and what stands there is kept before anything changes. A
        failure, the deadline or a cancellation takes back what was done; after a kill,
        the next use of the log does that. The session is told how the files look now.

        Returns:
            The step; its number is 0 where nothing had to be changed.

        Raises:
            Conflict: a file is not as `expected`, changed since this conversation read
                it, or something stands where nothing may.
            PathDenied: a path is protected or a link, or the system refuses it.
            NotFound: what is to be moved or deleted does not exist.
            TooLarge: a deleted file is larger than what undo keeps.
            StorageFailure: the disk is full; nothing was changed.
            Busy: another process holds the lock for long.
            BadInput, TimedOut: as they say.
        """
        check = Checkpoint(ctx.deadline)
        return await to_the_end(self._apply(plan, ctx.session, check), check)

    async def record(
        self, tool: str, session: Session, pieces: Sequence[Piece], note: str = "", size: int = 0
    ) -> int:
        """Log what was changed already, by a program that worked on the files themselves.

        Args:
            tool: what ran it.
            session: the conversation.
            pieces: what was found, in an order in which it could have been done. What undo
                needs of it is kept under `blobs`.
            note: what undo cannot bring back, and why.
            size: bytes that were newly kept for it.

        Returns:
            The number of the step; 0 without pieces.

        Raises:
            StorageFailure: it could not be written.
        """
        if not pieces:
            return 0
        step = Step(
            id=0,
            token=random_id(12),
            time=time.time(),
            tool=tool,
            session=session.id,
            owner=self._owner,
            state="done",
            undoable=all(piece.kept for piece in pieces),
            note=note,
            undoes=(),
            paths=tuple(dict.fromkeys(p for piece in pieces for p in piece.places)),
            size=size,
            record=steps.pack(piece.to_json() for piece in pieces),
        )
        number = await self._save(step)
        await self._prune()
        return number

    @property
    def blobs(self) -> Blobs:
        """Where the contents for undo are kept."""
        return self._blobs

    def pieces(self, step: Step) -> list[Piece]:
        """What was done in a step."""
        return [Piece.from_json(found, self._workspace) for found in steps.unpack(step.record)]

    async def forget(self, *numbers: int) -> None:
        """Drop finished steps from the log: what they did was taken back, or never counted."""
        await self._log.write(lambda c: steps.forget(c, numbers))

    async def undo_step(self, number: int, ctx: Ctx, tool: str) -> Applied:
        """Take back one step, whatever came after it.

        Raises:
            NoResults: it is not in the log any more.
            Conflict, Unavailable, …: as `undo`.
        """
        step = await self._log.read(lambda c: steps.find(c, number))
        if step is None:
            raise NoResults(f"Step {number} is not in the log any more.", hint="Run it again.")
        plan = reversal.reversal([step], self._workspace, self._blobs, tool, None)
        plan.unseen = True
        return await self.apply(plan, ctx)

    async def since(self, moment: float) -> list[Step]:
        """The steps that were made after a moment, the last first."""
        return [step for step in await self.steps(limit=500) if step.time >= moment]

    async def undo(
        self, ctx: Ctx, count: int = 1, path: SafePath | None = None, *, tool: str = "undo_changes"
    ) -> tuple[Applied, list[Step]]:
        """Take back the last steps inside the workspace, as one new step.

        That step can be taken back too, which makes the changes again.

        Args:
            ctx: the call.
            count: how many steps.
            path: only those that touched it, and of them only what was done to it.
            tool: who asks, for the log.

        Returns:
            The new step, and those that were taken back.

        Raises:
            NoResults: there are not so many.
            Conflict: a file was changed since by somebody else, or another process takes
                back the same; nothing was undone.
            Unavailable: something was not kept.
        """
        seen = await self._log.read(steps.last)
        found = await self.steps(path, count)
        if len(found) < count:
            where = f" of {path.display}" if path else ""
            raise NoResults(
                f"There are {len(found)} steps{where} that can be undone, not {count}.",
                hint="list_changes shows them.",
            )
        only = path.settled() if path is not None and path.parts else None
        start = self._workspace.start(ctx.session.directory)
        plan = reversal.reversal(found, self._workspace, self._blobs, tool, only, start)
        plan.chosen = seen
        try:
            return await self.apply(plan, ctx), found
        except Conflict as error:
            raise reversal.explain(error, found) from None

    async def steps(self, path: SafePath | None = None, limit: int = 20) -> list[Step]:
        """The last steps whose paths all lie in the workspace, whoever made them.

        Args:
            path: only those that touched it or what it holds.
            limit: how many at most.
        """
        await self.recover()
        wanted = str(path.settled()) if path is not None and path.parts else ""
        found: list[Step] = []
        before = 0
        while len(found) < limit:
            rows = await self._log.read(partial(steps.newest, before=before))
            found += [step for step in rows if self._is_ours(step, wanted)]
            if not rows:
                break
            before = rows[-1].id
        return found[:limit]

    def _is_ours(self, step: Step, wanted: str) -> bool:
        if not all(map(self._workspace.holds, step.paths)):
            return False
        if not wanted:
            return True
        inside = f"{wanted}/"
        return any(
            p == wanted or p.startswith(inside) or wanted.startswith(f"{p}/") for p in step.paths
        )

    async def recover(self) -> None:
        """Finish or take back what processes left in the middle that died."""
        if not self._in_memory:
            await self._recover(Checkpoint(None))

    def close(self) -> None:
        """Drop what a store in memory would not find again."""
        if self._in_memory:
            self._blobs.destroy()

    async def _apply(self, plan: Plan, session: Session, check: Checkpoint) -> Applied:
        await self._recover(check)
        work = _Work(self, plan, session, check)
        try:
            for group in groups(plan.changes):
                await work.make(group)
            if not work.pieces:
                return Applied(0, ())
            step = await self._save(work.step("made"))
        except BaseException as error:
            await self._take_back(work, error)
            raise
        await asyncio.to_thread(work.making.clean, work.pieces)
        note = well_formed("; ".join([*work.preparation.notes, *work.making.notes]))
        with suppress(StorageFailure):  # it is made; what is left on disk is found later
            await self._log.write(lambda c: steps.finish(c, work.token, note), quick=True)
        if not plan.unseen:
            remember(session, work.pieces)
        await self._prune()
        paths = tuple(dict.fromkeys(p.shown for p in work.pieces))
        return Applied(step, paths, all(p.kept for p in work.pieces), note)

    async def _save(self, step: Step, chosen: int | None = None) -> int:
        def write(connection: sqlite3.Connection) -> int:
            if chosen is not None:
                steps.refuse_rivals(connection, step, chosen, self._undropped)
            return steps.save(connection, step)

        return await self._log.write(write, quick=len(step.record) < QUICK_BYTES)

    async def _take_back(self, work: _Work, error: BaseException) -> None:
        if not work.pieces:
            return
        problems = await asyncio.to_thread(work.making.take_back, work.pieces)
        if problems and isinstance(error, ToolError):
            error.message += " " + " ".join(problems)
        self._undropped.add(work.token)  # until the store has forgotten it
        with suppress(StorageFailure):
            await self._log.write(lambda c: steps.drop(c, work.token))
            self._undropped.discard(work.token)

    async def _recover(self, check: Checkpoint) -> None:
        for token in tuple(self._undropped):
            with suppress(StorageFailure):
                await self._log.write(partial(steps.drop, token=token))
                self._undropped.discard(token)
        found = await self._log.read(steps.unfinished, quick=True)
        for step in found:
            if step.owner == self._owner or not _is_abandoned(step):
                continue
            if await self._log.write(partial(steps.claim, step=step, owner=self._owner)):
                await self._recover_one(step, check)

    async def _recover_one(self, step: Step, check: Checkpoint) -> None:
        pieces = [Piece.from_json(p, self._workspace) for p in steps.unpack(step.record)]
        making = Making(step.token, self._blobs.read, lambda: None)

        def work() -> list[str]:
            with self._blobs.locked(check):
                if step.state == "open":
                    return making.take_back(pieces)
                making.clean(pieces)
                return []

        problems = await asyncio.to_thread(work)
        self.warnings += [f"After a process died: {problem}" for problem in problems]
        if step.state == "open":
            self.warnings.append(f"{step.tool} was cut off by the end of its process: taken back.")
            await self._log.write(lambda c: steps.drop(c, step.token))
        else:
            await self._log.write(lambda c: steps.finish(c, step.token, step.note))

    async def _prune(self) -> None:
        """Now and then forget old steps and drop what nobody needs any more."""
        self._made += 1
        if self._made % PRUNE_EVERY != 1:
            return
        limits = self._config.undo
        oldest = time.time() - limits.keep_days * 86_400
        with suppress(StorageFailure):
            await self._log.write(lambda c: steps.prune(c, oldest, limits.keep_bytes))
            packed = await self._log.read(steps.records)
            await asyncio.to_thread(lambda: self._sweep(packed))

    def _sweep(self, packed: Sequence[bytes]) -> None:
        self._blobs.sweep(set(steps.digests(packed)).__contains__)


class _Work:
    """One plan on its way."""

    def __init__(self, changes: Changes, plan: Plan, session: Session, check: Checkpoint) -> None:
        self._changes = changes
        self._plan = plan
        self._session = session
        self._check = check
        self._time = time.time()
        self.token = random_id(12)
        self.pieces: list[Piece] = []
        config, blobs = changes._config, changes._blobs  # noqa: SLF001 - two parts of one thing
        self.preparation = Preparation(
            blobs,
            None if plan.undoes or plan.unseen else session,
            config.undo,
            config.workspace,
            check,
            staged_prefix(self.token),
            restoring=bool(plan.undoes),
        )
        trash = Trash.of_desktop() if any(c.trash for c in plan.changes) else None
        self.making = Making(self.token, blobs.read, check, trash)
        self._blobs = blobs

    async def make(self, group: Sequence[Change]) -> None:
        """Make one group ready, log it, and do it."""
        fresh = await asyncio.to_thread(explained, self.preparation.prepare, group)
        if not fresh:
            return
        self.pieces += fresh
        await self._changes._save(self.step("open"), self._plan.chosen)  # noqa: SLF001
        if any(piece.do in ("put", "plant") for piece in fresh):
            await asyncio.to_thread(self.making.stage, fresh)
            await self._changes._save(self.step("open"))  # noqa: SLF001
        await asyncio.to_thread(self._commit, fresh)

    def _commit(self, fresh: Sequence[Piece]) -> None:
        with self._blobs.locked(self._check):
            self.making.commit(fresh)

    def step(self, state: str) -> Step:
        """The row of the log."""
        return Step(
            id=0,
            token=self.token,
            time=self._time,
            tool=self._plan.tool,
            session=self._session.id,
            owner=self._changes._owner,  # noqa: SLF001
            state=state,
            undoable=all(piece.kept for piece in self.pieces),
            note="; ".join(self.preparation.notes),
            undoes=self._plan.undoes,
            paths=tuple(dict.fromkeys(p for piece in self.pieces for p in piece.places)),
            size=self.preparation.added,
            record=steps.pack(piece.to_json() for piece in self.pieces),
        )


def undo_folder(store: Path | None) -> Path:
    """Where the contents for the log of a store are kept."""
    name = content_id(str(store.absolute())) if store else f"memory-{secrets.token_hex(6)}"
    return data_folder() / "undo" / name


def _is_abandoned(step: Step) -> bool:
    alive = Owner.parse(step.owner).is_alive()
    return time.time() - step.time > SILENT_SECONDS if alive is None else not alive
