"""The service that runs programs on the workspace so that what they change can be undone."""

from __future__ import annotations

import asyncio
import os
import shlex
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Self, Unpack

from toolcrib.core.context import Ctx, Services
from toolcrib.core.errors import (
    BadInput,
    Denied,
    NotConfigured,
    NotFound,
    StorageFailure,
    ToolError,
    Unavailable,
)
from toolcrib.execution.runs.background_guard import BackgroundGuard
from toolcrib.execution.runs.context import RunContext
from toolcrib.execution.runs.direct_run import DirectRun, apply_again
from toolcrib.execution.runs.folders import (
    PendingRun,
    all_pending,
    drop,
    find,
    too_many,
)
from toolcrib.execution.runs.outcome import APPLY_TOOL, COMMITS, Commit, RunOutcome, RunResult
from toolcrib.execution.runs.overlay_run import OverlayProbe, OverlayRun
from toolcrib.execution.sandbox.network import PROXY_PORT
from toolcrib.execution.sandbox.terms import NetworkAccess, need_programs
from toolcrib.files.handles import NO_ROOTS
from toolcrib.files.live_runs import begin_run
from toolcrib.files.paths import SafePath
from toolcrib.system.child import run_shielded
from toolcrib.system.collector import Collected, OnOutput, collect
from toolcrib.system.processes import Processes
from toolcrib.system.threads import in_thread_if_large

if TYPE_CHECKING:
    from toolcrib.execution.ports import Ports, RunPorts
    from toolcrib.execution.sandbox.confined import Confined
    from toolcrib.execution.sandbox.preparation import RunOptions
    from toolcrib.execution.sandbox.sandbox import Sandbox


@dataclass(slots=True)
class LiveRun:
    """A process that goes on: a job in the background, a terminal, or a run that is waited for.

    After its end `finish` makes one step of the undo log of what it changed, or holds or drops
    that.

    Attributes:
        confined: the process; read from it, write to it, wait for it, kill it.
        ports: those by which it is reached.
        network: what it may reach.
        guard: watches over what is protected, as long as it runs.
        cut: why it was stopped before its end; "" where it was not.
    """

    confined: Confined
    _finish: Callable[[str], Awaitable[RunOutcome]]
    ports: RunPorts
    network: NetworkAccess
    guard: BackgroundGuard
    cut: str = ""
    _ending: asyncio.Task[RunOutcome] | None = None
    _hurrying: asyncio.Task[None] | None = None

    @property
    def level(self) -> str:
        """The boundary that holds: "strong", "kernel" or "none"."""
        return str(self.confined.level)

    @property
    def addresses(self) -> dict[str, str]:
        """Where each of its ports is reached on this machine."""
        return {str(each.port): each.url for each in self.ports.served}

    async def sweep(self) -> None:
        """Wait for its end, and end what outlived it; its output would have no end else.

        Where a program ends the boundary itself, at level kernel, something can.
        """
        await self.confined.wait()
        await self.confined.kill(0)

    @property
    def is_over(self) -> bool:
        """Whether it ended, and is known what it changed."""
        return self._ending is not None and self._ending.done()

    def hurry(self) -> None:
        """End it at once, with no time to clean up, and log what it changed."""
        if self._hurrying is None and not self.is_over:
            self._hurrying = asyncio.ensure_future(self._end_now())

    async def _end_now(self) -> None:
        await self.confined.kill(0)  # also where `finish` has given it time already
        with suppress(Exception):  # told to whoever waits for it
            await self.finish()

    async def finish(self) -> RunOutcome:
        """End it if it still runs, and say what it changed; more than once gives the same.

        A cancellation waits until that is known and logged.
        """
        if self._ending is None:
            self._ending = asyncio.ensure_future(self._end())
        return await run_shielded(self._ending)

    async def _end(self) -> RunOutcome:
        try:
            await self.confined.kill()
            await self.confined.__aexit__(None, None, None)
        finally:
            await self.ports.close()
            await self.guard.stop()
        outcome = await self._finish(self.cut)
        return replace(outcome, notes=(*dict.fromkeys(self.guard.notes), *outcome.notes))


@asynccontextmanager
async def _live() -> AsyncIterator[None]:
    """Let others know that a run goes on."""
    beginning = asyncio.ensure_future(asyncio.to_thread(begin_run))
    try:
        fd = await run_shielded(beginning)
    except asyncio.CancelledError:
        with suppress(Exception):  # it did not even begin
            os.close(await beginning)
        raise
    except OSError as error:
        raise StorageFailure(f"A run cannot be noted: {error.strerror or error}.") from None
    try:
        yield
    finally:
        os.close(fd)


GUARD_AFTER_SECONDS = 0.5
"""A shorter run in the foreground is over before anybody looks."""
STREAM_BYTES = 1_000_000
"""Bytes kept of each stream."""
CROSS_DEVICE_SIGNS = ("cross-device", "os error 18")
NO_PORTS = (
    "Programs have no network at all at level kernel, so nothing can listen on a port: that "
    "needs the sandbox level strong."
)
NOTHING_PENDING = "Nothing is held in this workspace. Run it again."
RENAME_NOTE = (
    "a folder that was there before the run cannot be renamed in one step in here (cross-device "
    "link): mv and shutil.move copy it; in place of git mv: mv, then git add -A. In the "
    "background (background=true) it can."
)
CLONE_SIGN = "hardlink different from source"
CLONE_NOTE = (
    "in here a hard link to a file that was there before the run has another inode number, and git "
    "clone takes that for an attack: git clone --no-hardlinks works, and so does the background "
    "(background=true)."
)


class Runs:
    """Runs programs behind the boundary. A service; see `Runs.open`.

    At level strong a run sees the workspace through an overlay: its changes go to a folder
    of our own, are looked at, and become one step of the undo log or none. Elsewhere, and
    for what goes on in the background, it works on the files themselves, and what differs
    from before becomes the step.
    """

    def __init__(self, services: Services) -> None:
        self._services = services
        self._config = services.config.run
        self._context = RunContext(services)
        self._workspace = self._context.workspace
        self._rows, self._folders = self._context.rows, self._context.folders
        self._overlays = OverlayProbe(self._context)
        self._swept = False
        self._going: list[LiveRun] = []
        self._ending = False

    @classmethod
    def open(cls, services: Services) -> Self:
        """On the workspace, the store and the undo log of a toolbox."""
        return cls(services)

    @property
    def _sandbox(self) -> Sandbox:
        from toolcrib.execution.sandbox.sandbox import Sandbox

        return self._services.use(Sandbox)

    @property
    def _ports(self) -> Ports:
        from toolcrib.execution.ports import Ports

        return self._services.use(Ports)

    async def run(
        self,
        argv: Sequence[str],
        ctx: Ctx,
        *,
        tool: str,
        cwd: SafePath,
        commit: Commit | None = None,
        seconds: float | None = None,
        on_output: OnOutput | None = None,
        **options: Unpack[RunOptions],
    ) -> RunResult:
        """Run a program to its end, or to the end of its time; then nothing of it is left.

        What was stopped before its end is held under "auto".

        Args:
            argv: the program and its arguments.
            ctx: the call.
            tool: who asks, for the undo log.
            cwd: where it starts.
            commit: "auto" makes the changes, "ask" holds them for `apply`, "never" shows
                and drops them; None is the configured one.
            seconds: how long it may take; None waits for the end.
            on_output: called with each chunk. The program waits while it takes its time.
            options: see `RunOptions`.

        Raises:
            Unavailable: no boundary here, no such program, or nothing could be held back.
            BadInput, NotFound, PathDenied: the folder or the arguments are wrong.
            StorageFailure: no room for the run.
        """
        wanted: tuple[Commit, Commit] = (commit or "auto", self._config.commit)
        strictest = max(wanted, key=COMMITS.index)
        await self._get_ready()
        strategy = await self._strategy(tool, strictest)
        options["look_for_lost"] = True
        ports = await self._ports_of(ctx, (), options)
        running = await self._begin(argv, ctx, cwd, strategy, strictest, ports, options)
        confined = running.confined
        if layered := isinstance(strategy, OverlayRun):
            running.guard.start(GUARD_AFTER_SECONDS)
        try:
            done = await collect(confined, seconds, on_output, STREAM_BYTES)
            running.cut = confined.stopped or ("time" if done.timed_out else "")
        except BaseException:
            running.cut = "cancelled"
            raise
        finally:
            outcome = await running.finish()
        size = done.stdout.size + done.stderr.size
        notes = [*outcome.notes, *confined.notes]
        if layered:
            notes += await in_thread_if_large(size, _overlay_notes, done)
        return RunResult(
            exit_code=done.exit_code,
            stdout=done.stdout,
            stderr=done.stderr,
            timed_out=done.timed_out,
            seconds=done.seconds,
            stopped=confined.stopped,
            level=confined.level,
            outcome=replace(outcome, notes=tuple(notes)),
            network=running.network,
            lost=confined.lost,
        )

    async def _begin(
        self,
        argv: Sequence[str],
        ctx: Ctx,
        cwd: SafePath,
        strategy: OverlayRun | DirectRun,
        commit: Commit,
        ports: RunPorts,
        options: RunOptions,
    ) -> LiveRun:
        """Start a program, with all that is there as long as it runs and goes with it."""
        await self._add_identity(ctx, options)
        if ports.ports or self._ports.has_servers(ctx.session.id):
            options["on_namespace"] = ports.enter
        async with AsyncExitStack() as starting:
            starting.push_async_callback(ports.close)
            await starting.enter_async_context(_live())
            await starting.enter_async_context(strategy)
            views = await strategy.prepare(ctx)
            guard = BackgroundGuard(
                self._workspace,
                self._services.use(Processes),
                lambda: confined,
                strategy.kind_before,
                strategy.content_before,
            )
            try:
                confined = await self._sandbox.spawn(argv, cwd=cwd, views=views, **options)
            except asyncio.CancelledError:  # it may have begun already, and have changed something
                await run_shielded(strategy.finish(ctx, commit, "cancelled"))
                raise
            ending = starting.pop_all()

        async def finish(cut: str) -> RunOutcome:
            async with ending:
                outcome = await strategy.finish(ctx, commit, cut)
            await self._bound()
            return outcome

        access = options.get("network") or NetworkAccess()
        return LiveRun(confined, finish, ports, access, guard)

    async def _ports_of(self, ctx: Ctx, ports: Sequence[int], options: RunOptions) -> RunPorts:
        """The ports of a run that is about to start."""
        level = (await self._sandbox.report()).level
        access = options.get("network") or NetworkAccess()
        if level != "none" and access.hosts and PROXY_PORT in ports:
            raise BadInput(
                f"A run with a network reaches it by port {PROXY_PORT}, which can be no server's.",
                hint="Use another number.",
            )
        offline = level != "none" and not access.hosts
        return self._ports.of_run(ctx.session.id, ports, offline=offline)

    async def _strategy(
        self, tool: str, commit: Commit, *, background: bool = False
    ) -> OverlayRun | DirectRun:
        """Through overlays where they work, else on the files themselves.

        In the background others must see at once what is written, unless it is to be held back.
        """
        report = await self._sandbox.report()
        apart = report.level == "strong" and not (background and commit == "auto")
        if apart and await self._overlays.good(self._sandbox):
            return OverlayRun(self._context, tool)
        return DirectRun(self._context, tool, report.level, commit, background=background)

    async def start(
        self,
        argv: Sequence[str],
        ctx: Ctx,
        *,
        tool: str,
        cwd: SafePath,
        ports: Sequence[int] = (),
        commit: Commit = "auto",
        **options: Unpack[RunOptions],
    ) -> LiveRun:
        """Start a program that goes on after the call; arguments and errors as `run`.

        With commit=auto it works on the files themselves, since others must see at once what it
        writes; else on a layer over them. `LiveRun.finish` must be called at its end,
        whatever that was. `ports` are those by which it is reached.

        Raises:
            Unavailable: no ports, or no layers, at this level of the sandbox.
        """
        await self._get_ready()
        report = await self._sandbox.report()
        open_ports = await self._ports_of(ctx, ports, options)
        if ports and report.level == "kernel":
            raise Unavailable(NO_PORTS, hint=report.fix or "Leave 'ports' out.")
        strategy = await self._strategy(tool, commit, background=True)
        if commit != "auto" and isinstance(strategy, DirectRun):
            raise Unavailable(
                "A command in the background works on the files themselves here: "
                f"commit={commit} cannot be kept.",
                hint=report.fix or "Leave 'commit' out, or run it to its end without background.",
            )
        running = await self._begin(argv, ctx, cwd, strategy, commit, open_ports, options)
        confined = running.confined
        try:
            await open_ports.stay(lambda: confined.namespace, is_bare=report.level == "none")
        except BaseException:
            await running.finish()
            raise
        running.guard.start()
        self._going = [other for other in self._going if not other.is_over] + [running]
        if self._ending:
            running.hurry()
        return running

    async def apply(self, pending_id: str, ctx: Ctx) -> RunOutcome:
        """Make the changes of a pending run, as one step of the undo log.

        Where others changed the same files since, nothing is made and it stays held.

        Raises:
            NotFound: there is no such run, it has expired, or it is of another workspace.
            Denied: it belongs to another conversation.
            Busy: another call is at work on it.
        """
        pending = await self._find(pending_id, ctx)
        if pending.kind == "step":
            outcome = await apply_again(pending, self._context.changes, ctx)
            if outcome.state == "applied":
                folders = self._context.held_folders.pop(pending.id, ())
                self._context.triggers.let_pass(folders, ctx.session.id)
        else:
            strategy = OverlayRun(self._context, pending.tool)
            async with strategy.of_pending(pending):
                outcome = await run_shielded(strategy.apply(ctx, for_user=pending.for_user))
        if outcome.state != "held":
            await self._rows.write(lambda c: drop(c, [pending.id]))
        return outcome

    async def is_for_user(self, pending_id: str, ctx: Ctx) -> bool:
        """Whether only the user can make the changes of a pending run."""
        try:
            return (await self._find(pending_id, ctx)).for_user
        except (NotFound, Denied):  # nothing will be made
            return False
        except ToolError:  # it is not known, and so it is asked
            return True

    async def preview(self, pending_id: str, ctx: Ctx) -> str:
        """What a pending run would change, for a person: its files and a bounded difference."""
        with suppress(ToolError):
            return (await self._find(pending_id, ctx)).preview
        return ""

    async def drop(self, pending_id: str, ctx: Ctx) -> RunOutcome:
        """Throw the changes of a pending run away. Raises as `apply`."""
        pending = await self._find(pending_id, ctx)
        await self._rows.write(lambda c: drop(c, [pending.id]))
        await self._discard(pending)
        return RunOutcome("dropped")

    async def close(self) -> None:
        """Log what goes on has changed; drop what a store in memory would not find again."""
        self.end_soon()
        await asyncio.gather(*(r.finish() for r in self._going), return_exceptions=True)
        await asyncio.to_thread(self._folders.close)

    def end_soon(self) -> None:
        """End what goes on at once: there is little time left to log what it changed."""
        self._ending = True
        for running in self._going:
            running.hurry()

    @property
    def ending(self) -> bool:
        """Whether something that was told to end is still being logged; from any thread."""
        return self._ending and not all(running.is_over for running in self._going)

    async def _add_identity(self, ctx: Ctx, options: RunOptions) -> None:
        """Let git in the run know the user's name."""
        from toolcrib.execution.git_identity import GitIdentity

        found = await self._services.use(GitIdentity).settings(ctx)
        options["env"] = {**found.environment, **(options.get("env") or {})}
        options["readable"] = (*options.get("readable", ()), *found.readable)

    async def _get_ready(self) -> None:
        need_programs()
        if not self._workspace.roots:
            raise NotConfigured(
                "Programs cannot be run: no workspace is configured.",
                hint=NO_ROOTS,
            )
        await self._sweep()
        await self._context.changes.recover()  # half of a change is no place to start from

    async def _find(self, pending_id: str, ctx: Ctx) -> PendingRun:
        await self._sweep()
        wanted = pending_id.strip().lower()
        found = await self._rows.read(lambda c: find(c, wanted))
        if found is None or not self._is_here(found):
            known = await self._rows.read(all_pending)
            ids = [
                pending.id for pending in known if self._is_here(pending) and _is_of(pending, ctx)
            ]
            hint = f"Held now: {', '.join(ids[:5])}." if ids else NOTHING_PENDING
            by_hand = ctx.caller.surface == "cli"
            if by_hand and found is not None and found.roots and not self._is_old(found):
                hint = f"It is held for another workspace: add {_workspace_words(found)}."
            raise NotFound(f"There is no held run {pending_id[:40]}.", hint=hint)
        if not _is_of(found, ctx):
            raise Denied(
                f"Held run {found.id} belongs to another conversation.",
                hint=f"The user can apply it: toolcrib call {APPLY_TOOL} id={found.id}",
            )
        return found

    def _is_here(self, pending: PendingRun) -> bool:
        """Whether it still counts, and all that it ran on is part of this workspace."""
        here = {root.real for root in self._workspace.roots}
        roots = pending.roots
        return not self._is_old(pending) and bool(roots) and here.issuperset(roots)

    def _is_old(self, pending: PendingRun) -> bool:
        return pending.time < time.time() - self._config.pending_hours * 3600

    async def _discard(self, pending: PendingRun) -> None:
        if pending.kind == "step":
            await self._context.changes.forget(pending.since, pending.step)
            return
        with suppress(ToolError):
            folder = self._folders.find(pending.id)
            if folder is not None:
                await asyncio.to_thread(folder.remove)

    async def _bound(self) -> None:
        """Drop pending runs that have expired or for which there is no room."""
        oldest = time.time() - self._config.pending_hours * 3600
        found = await self._rows.read(all_pending, quick=True)
        gone = too_many(found, oldest, self._config.pending_mb * 1_000_000)
        if gone:
            await self._rows.write(lambda c: drop(c, [pending.id for pending in gone]))
            for pending in gone:
                await self._discard(pending)

    async def _sweep(self) -> None:
        """Once a process: remove the folders that dead processes left."""
        if self._swept:
            return
        self._swept = True
        await asyncio.to_thread(self._folders.sweep_others)
        # Locked first and asked for then: a run that is being held keeps its lock until
        # its row is there.
        folders = await asyncio.to_thread(self._folders.abandoned)
        known = {pending.id for pending in await self._rows.read(all_pending)}
        for folder in folders:
            if folder.id in known:
                folder.release()
            else:
                await asyncio.to_thread(folder.remove)
        await self._bound()


def _is_of(pending: PendingRun, ctx: Ctx) -> bool:
    """Whether a call may decide on it: one of its conversation, of its agents', or a person."""
    return ctx.session.includes(pending.session) or ctx.caller.surface == "cli"


def _workspace_words(pending: PendingRun) -> str:
    """The flags of the command line for the workspace of a run."""
    return " ".join(f"--workspace {shlex.quote(root)}" for root in pending.roots)


def _overlay_notes(done: Collected) -> list[str]:
    """What to do about failures that only an overlay has, by what the program said of them."""
    text = f"{done.stdout}\n{done.stderr}".casefold()
    # Of several commands the last may have succeeded, so git's words count at any end.
    notes = [CLONE_NOTE] if CLONE_SIGN in text else []
    if done.exit_code and any(words in text for words in CROSS_DEVICE_SIGNS):
        notes.append(RENAME_NOTE)
    return notes
