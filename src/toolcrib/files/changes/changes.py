"""The service that changes files: all of a step or nothing, and every step can be undone."""

from __future__ import annotations

import asyncio
import secrets
import sqlite3
import time
from collections.abc import Awaitable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Self

from toolcrib.core.config import Config, data_folder
from toolcrib.core.context import Ctx, Services, Session
from toolcrib.core.errors import (
    Conflict,
    NoResults,
    NotFound,
    PathDenied,
    StorageFailure,
    ToolError,
)
from toolcrib.core.result import well_formed
from toolcrib.files.changes import undo_log
from toolcrib.files.changes.cached_code import refuse_cached_code
from toolcrib.files.changes.change_groups import groups
from toolcrib.files.changes.execution import Executor
from toolcrib.files.changes.preparation import Preparer, names_taken
from toolcrib.files.changes.step import BULK_KINDS, AppliedStep, Change, Step
from toolcrib.files.changes.tree_store import TreeStore
from toolcrib.files.changes.undo_log import LoggedStep, explain_conflict, explain_denial, step_back
from toolcrib.files.changes.undo_schema import SCHEMA
from toolcrib.files.live_runs import without_runs
from toolcrib.files.paths import SafePath, Workspace
from toolcrib.files.repositories.writes import (
    refuse_parts_of_repositories,
    refuse_writes_to_repositories,
)
from toolcrib.files.writer import Trash, staged_prefix
from toolcrib.state.blobs import Blobs
from toolcrib.state.store import Owner, Store
from toolcrib.system.threads import Checkpoint, content_id, explained, random_id
from toolcrib.text.display import counted, printable, some_of

PRUNE_EVERY = 50
SILENT_SECONDS = 600.0
"""After so long a step of a process that cannot be looked up counts as abandoned."""
MAX_QUICK_BYTES = 16_000
MAX_SINCE = 500
KNOWN_AFTERWARDS = ("move", "folder", "remove_folder", "mode")
"""Kinds of changes of which the log learns only when they are made what they left."""
SINCE_PAGE = 20


class Changes:
    """Applies steps. A service; see `Changes.open`.

    Every process that uses the same store takes part in one log; while files change
    place, one lock keeps them apart.
    """

    def __init__(self, store: Store, workspace: Workspace, config: Config) -> None:
        self._log = store.area(SCHEMA)
        self._workspace = workspace
        self._config = config
        self._in_memory = store.path is None
        self._blobs = Blobs(_undo_folder(store.path))
        self.trees = TreeStore(self._blobs.folder / "trees")
        self._owner = str(Owner.current())
        self._made = 0
        self._undropped: set[str] = set()
        self.warnings: list[str] = []

    @classmethod
    def open(cls, services: Services) -> Self:
        """On the store and the workspace of a toolbox."""
        return cls(services.use(Store), services.use(Workspace), services.config)

    async def apply(self, step: Step, ctx: Ctx) -> AppliedStep:
        """Make all changes of a step, or none.

        Every path is checked and what stands there is stored before anything changes. A
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
            Busy: another process holds the lock for long, or a program that goes on could read
                what is protected.
            BadInput, TimedOut: as they say.
        """
        check = Checkpoint(ctx.deadline)
        if step.undoes:
            await asyncio.to_thread(refuse_parts_of_repositories, step.changes)
        elif not step.ignores_reads:  # what runs make was judged by its content
            refuse_cached_code(step.changes)
            await asyncio.to_thread(refuse_writes_to_repositories, step.changes)
        return await _run_to_end(self._apply(step, ctx.session, check), check)

    async def record(
        self, tool: str, session: Session, changes: Sequence[Change], note: str = "", size: int = 0
    ) -> int:
        """Log what was changed already, by a program that worked on the files themselves.

        Args:
            tool: what ran it.
            session: the conversation.
            changes: what was found, in an order in which it could have been done. What undo
                needs of it is stored under `blobs`.
            note: what undo cannot bring back, and why.
            size: bytes that were newly stored for it.

        Returns:
            The number of the step; 0 without changes.

        Raises:
            StorageFailure: it could not be written.
        """
        if not changes:
            return 0
        step = LoggedStep(
            tool=tool, session=session.id, owner=self._owner, state="done", note=note, size=size
        )
        number = await self._save(step.of_changes(changes))
        await self._prune()
        return number

    async def begin_program_step(
        self,
        tool: str,
        session: Session,
        paths: Sequence[str],
        about: Mapping[str, Any],
        undoes: Sequence[int] = (),
    ) -> LoggedStep:
        """Log what a program is about to do that takes it back by its own means, such as git.

        Args:
            tool: what runs it.
            session: the conversation.
            paths: what it works on, absolute.
            about: JSON values by which it is taken back.
            undoes: the steps that it takes back itself.

        Raises:
            StorageFailure: it could not be written; the program must not run then.
        """
        await self.recover()
        step = LoggedStep(
            tool=tool,
            session=session.id,
            owner=self._owner,
            state="open",
            undoes=tuple(undoes),
        ).of_program(paths, about)
        return replace(step, id=await self._save(step))

    async def finish_program_step(
        self, step: LoggedStep, paths: Sequence[str], about: Mapping[str, Any]
    ) -> None:
        """Log that it is done, with what is known then."""
        await self._save(replace(step, state="done").of_program(paths, about))
        await self._prune()

    async def drop_program_step(self, step: LoggedStep) -> None:
        """Forget one that turned out to change nothing."""
        await self._log.write(lambda c: undo_log.drop(c, step.token))

    @property
    def blobs(self) -> Blobs:
        """Where the contents for undo are stored."""
        return self._blobs

    async def forget(self, *numbers: int) -> None:
        """Drop finished steps from the log: what they did was taken back, or never counted."""
        await self._log.write(lambda c: undo_log.forget(c, numbers))

    async def undo_step(self, number: int, ctx: Ctx, tool: str) -> AppliedStep:
        """Take back one step, whatever came after it.

        Raises:
            NoResults: it is not in the log any more.
            Conflict, Unavailable, …: as `undo`.
        """
        step = await self._log.read(lambda c: undo_log.find(c, number))
        if step is None:
            raise NoResults(f"Step {number} is not in the log any more.", hint="Run it again.")
        step = await self._without_undone(step)
        back = await asyncio.to_thread(self._step_back, [step], tool, None)
        back.ignores_reads = True
        return await self.apply(back, ctx)

    def _step_back(
        self,
        steps: Sequence[LoggedStep],
        tool: str,
        only: SafePath | None,
        start: SafePath | None = None,
    ) -> Step:
        return step_back(steps, self._workspace, self._blobs, self.trees, tool, only, start)

    async def since(self, moment: float) -> list[LoggedStep]:
        """The steps that were made after a moment, the last first, 500 at most."""
        await self.recover()
        found: list[LoggedStep] = []
        before = 0
        while rows := await self._log.read(
            partial(undo_log.newest, before=before, count=SINCE_PAGE)
        ):
            found += [s for s in rows if s.time >= moment and self._is_ours(s, "")]
            if rows[-1].time < moment or len(found) >= MAX_SINCE:
                break
            before = rows[-1].id
        return found[:MAX_SINCE]

    async def undo(
        self,
        ctx: Ctx,
        count: int = 1,
        path: SafePath | None = None,
        *,
        number: int = 0,
        session: Session | None = None,
        standing: bool = False,
        tool: str = "undo_changes",
    ) -> tuple[AppliedStep, list[LoggedStep]]:
        """Take back the last steps inside the workspace, as one new step.

        That step can be taken back too, which makes the changes again.

        Args:
            ctx: the call.
            count: how many steps.
            path: only those that touched it, and of them only what was done to it.
            number: this step alone, whatever it did; 0 for the last ones.
            session: only those of this conversation and its agents.
            standing: pass over steps that were taken back already, and those that did that.
            tool: who asks, for the log.

        Returns:
            The new step, and those that were taken back, with the paths where that was done.

        Raises:
            NoResults: there are not so many.
            Conflict: a file was changed since by somebody else, or another process takes
                back the same; nothing was undone.
            PathDenied: something may not be changed; nothing was undone.
            Unavailable: something was not stored.
        """
        latest = await self._log.read(undo_log.last)
        if number:
            found = [await self._without_undone(await self.numbered(number))]
        else:
            found = await self.steps(path, count, session=session, standing=standing)
        if len(found) < count and not number:
            where = f" of {path.display}" if path else ""
            if not found:
                if session is not None and (others := await self.steps(limit=1, standing=True)):
                    raise _others_alone(others[0])
                where = f" to {path.display}" if path else ""
                raise NoResults(
                    f"No change{where} can be undone: none was made here.",
                    hint="Say so: only changes of files are undone here, not memories or plans, "
                    "and not what other programs did.",
                )
            raise NoResults(
                f"Only {counted(len(found), 'step')}{where} can be undone, not {count}.",
                hint="list_changes shows them.",
            )
        only = path.settled() if path is not None and path.parts else None
        start = self._workspace.start(ctx.session.directory)
        back = await asyncio.to_thread(self._step_back, found, tool, only, start)
        back.log_position = latest
        try:
            applied = await self.apply(back, ctx)
        except (Conflict, NotFound) as error:
            if number:
                by = await self._log.read(partial(undo_log.undone_by, step=found[0]))
                if by:
                    raise undo_log.undone_already(number, by) from None
            raise explain_conflict(error, found) from None
        except PathDenied as error:
            raise explain_denial(error, found) from None
        return applied, [_taken_back(step, back) for step in found]

    async def _without_undone(self, step: LoggedStep) -> LoggedStep:
        """A step that is named by its number: what is left of it to take back.

        Nothing is: it is taken as a whole, and what stands there now says why it cannot be.
        """
        undone = await self._log.read(partial(undo_log.undone_paths, step=step))
        return step if undone.issuperset(step.paths) else replace(step, undone=undone)

    async def numbered(self, number: int) -> LoggedStep:
        """A step inside the workspace.

        Raises:
            NoResults: there is none of that number.
        """
        await self.recover()
        step = await self._log.read(lambda c: undo_log.find(c, number))
        if step is None or not self._is_ours(step, ""):
            raise NoResults(f"There is no step {number}.", hint="list_changes shows them.")
        return step

    async def steps(
        self,
        path: SafePath | None = None,
        limit: int = 20,
        *,
        session: Session | None = None,
        standing: bool = False,
    ) -> list[LoggedStep]:
        """The last steps whose paths all lie in the workspace, whoever made them.

        Args:
            path: only those that touched it or what it holds.
            limit: how many at most.
            session: only those of this conversation and its agents.
            standing: only those whose changes still hold: none that was taken back, and none
                that took another back.
        """
        await self.recover()
        within = str(path.settled()) if path is not None and path.parts else ""
        found: list[LoggedStep] = []
        before = 0
        history = undo_log.StandingSteps(within)
        while len(found) < limit:
            rows = await self._log.read(partial(undo_log.newest, before=before))
            ours = [step for step in rows if self._is_ours(step, within)]
            if standing:
                undos = await self._log.read(partial(_undos, steps=ours))
                ours = [
                    history.with_undone(s) for s in ours if history.takes(s, is_undo=s.id in undos)
                ]
            found += [s for s in ours if session is None or session.includes(s.session)]
            if not rows:
                break
            before = rows[-1].id
        return found[:limit]

    async def newest_paths(self) -> tuple[str, ...]:
        """What the last step of any workspace changed, absolute; nothing without a step."""
        await self.recover()
        rows = await self._log.read(undo_log.newest)
        seen = (step for step in rows if not step.tool.startswith(undo_log.HELD))
        return next((step.paths for step in seen if step.paths), ())

    async def show_step(self, number: int) -> None:
        """Let a step be seen and taken back that was recorded for a held run."""
        await self._log.write(lambda c: undo_log.unhide(c, number))

    def _is_ours(self, step: LoggedStep, within: str) -> bool:
        if step.tool.startswith(undo_log.HELD):
            return False  # to take that back would make what is held
        if not all(map(self._workspace.holds, step.paths)):
            return False
        if not within:
            return True
        inside = f"{within}/"
        if any(path == within or path.startswith(inside) for path in step.paths):
            return True
        # A step of a program names the repository where it changed no file in it.
        lies_in = any(within.startswith(f"{path}/") for path in step.paths)
        return lies_in and step.program is None

    async def recover(self) -> None:
        """Finish or roll back the steps that dead processes left behind."""
        if not self._in_memory:
            await self._recover(Checkpoint(None))

    def close(self) -> None:
        """Drop what a store in memory would not find again."""
        if self._in_memory:
            self._blobs.destroy()

    async def _apply(self, step: Step, session: Session, check: Checkpoint) -> AppliedStep:
        await self._recover(check)
        with ExitStack() as end:
            return await self._make(_Transaction(self, step, session, check, end), step, session)

    async def _make(self, work: _Transaction, step: Step, session: Session) -> AppliedStep:
        try:
            for group in groups(step.changes):
                await work.make(group)
            if not work.changes:
                return AppliedStep(0, ())
            number = await self._save(work.logged("made"))
        except BaseException as error:
            await self._roll_back(work, error)
            raise
        await asyncio.to_thread(work.executor.clean_up, work.changes)
        note = well_formed("; ".join([*work.preparer.notes, *work.executor.notes]))
        with suppress(StorageFailure):  # it is made; what is left on disk is found later
            await self._log.write(lambda c: undo_log.finish(c, work.token, note), quick=True)
        if not step.ignores_reads:
            _remember(session, work.changes)
        await self._prune()
        paths = tuple(dict.fromkeys(change.display for change in work.changes))
        undoable = all(change.undoable for change in work.changes)
        return AppliedStep(number, paths, undoable, note, _replaced(work.changes))

    async def _save(self, step: LoggedStep, log_position: int | None = None) -> int:
        def write(connection: sqlite3.Connection) -> int:
            if log_position is not None:
                undo_log.refuse_rivals(connection, step, log_position, self._undropped)
            return undo_log.save(connection, step)

        return await self._log.write(write, quick=len(step.record) < MAX_QUICK_BYTES)

    async def _roll_back(self, work: _Transaction, error: BaseException) -> None:
        if not work.changes:
            return
        problems = await asyncio.to_thread(work.executor.roll_back, work.changes)
        if problems and isinstance(error, ToolError):
            error.message += " " + " ".join(problems)
        self._undropped.add(work.token)  # until the store has forgotten it
        with suppress(StorageFailure):
            await self._log.write(lambda c: undo_log.drop(c, work.token))
            self._undropped.discard(work.token)

    async def _recover(self, check: Checkpoint) -> None:
        for token in tuple(self._undropped):
            with suppress(StorageFailure):
                await self._log.write(partial(undo_log.drop, token=token))
                self._undropped.discard(token)
        found = await self._log.read(undo_log.unfinished, quick=True)
        for step in found:
            if step.owner == self._owner or not _is_abandoned(step):
                continue
            if await self._log.write(partial(undo_log.claim, step=step, owner=self._owner)):
                await self._recover_one(step, check)

    async def _recover_one(self, step: LoggedStep, check: Checkpoint) -> None:
        if step.program is not None:
            note = "it was cut off by the end of its process"
            await self._log.write(lambda c: undo_log.finish(c, step.token, note))
            self.warnings.append(f"{step.tool}: {note}; undo_changes goes back to before it.")
            return
        changes = step.read_changes(self._workspace)
        executor = Executor(step.token, self._blobs.read, lambda: None)

        def work() -> list[str]:
            with self._blobs.locked(check):
                if step.state == "open":
                    return executor.roll_back(changes)
                executor.clean_up(changes)
                return []

        problems = await asyncio.to_thread(work)
        self.warnings += [f"After a process died: {problem}" for problem in problems]
        if step.state == "open":
            self.warnings.append(f"{step.tool} was cut off by the end of its process: taken back.")
            await self._log.write(lambda c: undo_log.drop(c, step.token))
        else:
            await self._log.write(lambda c: undo_log.finish(c, step.token, step.note))

    async def _prune(self) -> None:
        """Now and then forget old steps and drop what nobody needs any more."""
        self._made += 1
        if self._made % PRUNE_EVERY != 1:
            return
        limits = self._config.undo
        oldest = time.time() - limits.keep_days * 86_400
        with suppress(StorageFailure):
            await self._log.write(lambda c: undo_log.prune(c, oldest, limits.keep_bytes))
            if await asyncio.to_thread(self._blobs.begin_sweep):
                packed = await self._log.read(undo_log.records)
                await asyncio.to_thread(lambda: self._sweep(packed))

    def _sweep(self, packed: Sequence[bytes]) -> None:
        wanted = set(undo_log.contents(packed))
        self._blobs.sweep(wanted.__contains__)
        self.trees.sweep(wanted)


class _Transaction:
    """One step while it is applied."""

    def __init__(
        self, service: Changes, step: Step, session: Session, check: Checkpoint, end: ExitStack
    ) -> None:
        self._service = service
        self._end = end
        self._is_alone: bool | None = None
        self._step = step
        self._session = session
        self._check = check
        self._began = time.time()
        self.token = random_id(12)
        self.changes: list[Change] = []
        self._logged: LoggedStep | None = None
        config = service._config  # noqa: SLF001 - two parts of one thing
        self.preparer = Preparer(
            service.blobs,
            service.trees,
            None if step.undoes or step.ignores_reads else session,
            config.undo,
            config.workspace,
            service._workspace.roots,  # noqa: SLF001
            check,
            staged_prefix(self.token),
            self.is_alone,
            restoring=bool(step.undoes),
            of_run=step.ignores_reads,
            names_taken=names_taken(step.changes) if step.undoes else {},
        )
        if step.undoes:
            end.callback(self.preparer.closed.close)
        trash = Trash.of_desktop() if any(c.trash for c in step.changes) else None
        self.executor = Executor(self.token, service.blobs.read, check, trash)

    def is_alone(self) -> bool:
        """Whether no run goes on; from then on none begins before the end of the step. It blocks.

        Only asked where it matters: nobody waits for a step that no run can meet.
        """
        if self._is_alone is None:
            self._is_alone = self._end.enter_context(without_runs())
        return self._is_alone

    async def make(self, group: Sequence[Change]) -> None:
        """Make one group ready, log it, and do it."""
        ready = await asyncio.to_thread(explained, self.preparer.prepare, group)
        if not ready:
            return
        self.changes += ready
        self._logged = None
        await self._service._save(self.logged("open"), self._step.log_position)  # noqa: SLF001
        if any(change.is_staged for change in ready):
            await asyncio.to_thread(self.executor.stage, ready)
            self._logged = None
            await self._service._save(self.logged("open"))  # noqa: SLF001
        await asyncio.to_thread(self._commit, ready)
        if any(change.kind in KNOWN_AFTERWARDS or _is_placed(change) for change in ready):
            self._logged = None  # only now it is known how these are

    def _commit(self, ready: Sequence[Change]) -> None:
        with self._service.blobs.locked(self._check):
            self.executor.commit(ready)
        for change in ready:
            if change.kind == "mode":
                self.preparer.closed.forget(change.path)
            elif _is_placed(change):
                change.placed_ns = time.time_ns()

    def logged(self, state: str) -> LoggedStep:
        """The row of the log; what was packed once is not packed again."""
        if self._logged is not None:
            return replace(self._logged, state=state)
        self._logged = LoggedStep(
            tool=self._step.tool,
            session=self._session.id,
            owner=self._service._owner,  # noqa: SLF001
            state=state,
            note="; ".join(self.preparer.notes),
            size=self.preparer.added,
            undoes=self._step.undoes,
            token=self.token,
            time=self._began,
        ).of_changes(self.changes)
        return self._logged


def _replaced(changes: Sequence[Change]) -> frozenset[str]:
    return frozenset(c.display for c in changes if c.kind == "write" and c.before is not None)


def _others_alone(step: LoggedStep) -> NoResults:
    names = some_of([printable(path.rpartition("/")[2]) for path in step.paths])
    return NoResults(
        "This conversation has no change that could be undone.",
        hint=f"Another one made step {step.id} ({step.tool}: {names}): undo_changes with "
        f"id={step.id} undoes that.",
    )


def _taken_back(step: LoggedStep, back: Step) -> LoggedStep:
    """A step with the paths alone where it was taken back."""
    touched = dict.fromkeys(back.undone_paths[step.id])
    known = [path for path in step.paths if path in touched]
    return replace(step, paths=tuple(dict.fromkeys([*known, *touched])))


def _is_placed(change: Change) -> bool:
    """Whether a tree or files of our own were put into the workspace by renaming."""
    return bool(change.stored) and change.kind in ("create_tree", "move_in")


def _undos(connection: sqlite3.Connection, steps: Sequence[LoggedStep]) -> set[int]:
    return {s.id for s in steps if s.undoes and undo_log.takes_back(connection, s)}


def _undo_folder(store: Path | None) -> Path:
    """Where the contents for the log of a store are stored."""
    name = content_id(str(store.absolute())) if store else f"memory-{secrets.token_hex(6)}"
    return data_folder() / "undo" / name


def _is_abandoned(step: LoggedStep) -> bool:
    alive = Owner.parse(step.owner).is_alive()
    return time.time() - step.time > SILENT_SECONDS if alive is None else not alive


def _remember(session: Session, changes: Sequence[Change]) -> None:
    """Tell a conversation how the files look that it changed."""
    for change in changes:
        path = change.path.real_absolute
        if change.kind == "write" and change.after is not None:
            seen = session.reads.get(path)
            if change.merged and seen and change.before and seen != change.before.mark:
                continue  # others changed it too, which the conversation has not read
            session.remember_read(path, change.after.mark)
        elif change.kind in BULK_KINDS:
            for state in change.tree:
                session.changed |= session.reads.pop(f"{path}/{state.path}", None) is not None
        elif change.kind in ("delete", "move", "create_tree"):
            for known in [k for k in session.reads if k == path or k.startswith(f"{path}/")]:
                mark = session.reads.pop(known)
                session.changed = True
                if change.kind == "move" and change.target is not None:
                    there = change.target.real_absolute
                    session.remember_read(there + known[len(path) :], mark)


async def _run_to_end(work: Awaitable[AppliedStep], check: Checkpoint) -> AppliedStep:
    """Wait for work that must not be left in the middle: cancelled, it takes itself back."""
    task = asyncio.ensure_future(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        check.stop()
        while not task.done():
            with suppress(asyncio.CancelledError):
                await asyncio.wait([task])
        if not task.cancelled():
            task.exception()
        raise
