"""Commands of git that change something, as steps of the undo log, and taking them back."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from pathlib import Path

from toolcrib.core.context import Ctx
from toolcrib.core.errors import Conflict, Denied, NotFound, ToolError
from toolcrib.files.changes.changes import Changes
from toolcrib.files.changes.comparison import changes_of
from toolcrib.files.changes.copies import FileSource
from toolcrib.files.changes.deltas import Delta
from toolcrib.files.changes.preparation import hash_only, state_path
from toolcrib.files.changes.step import Change
from toolcrib.files.changes.undo_log import LoggedStep
from toolcrib.files.paths import SafePath, Workspace
from toolcrib.files.repositories.places import is_repository, names_of_repository
from toolcrib.files.trees import TreeReader
from toolcrib.git.layout import find_layout
from toolcrib.git.obstacles import (
    refuse_covered,
    refuse_to_overwrite,
    refuse_unseen_changes,
)
from toolcrib.git.precautions import acting_unasked, repositories_among
from toolcrib.git.repository import Repository, inside_of, opened
from toolcrib.git.restoration import affected, refuse_stale, restore, restore_files
from toolcrib.git.snapshots import (
    RepositoryState,
    forget,
    forget_old,
    keep,
    note_time,
    stood_before,
    take_snapshot,
)
from toolcrib.system.child import run_shielded
from toolcrib.system.threads import Checkpoint, in_thread
from toolcrib.text.display import some_of

MAX_LISTED_PATHS = 300
MAX_TRIES = 3
MAX_LIFTED = 5
"""Patterns by which one name may be protected."""


@asynccontextmanager
async def git_step(
    repository: Repository,
    tool: str,
    *,
    files: bool = True,
    untracked: bool = False,
    undoes: Sequence[int] = (),
    before: RepositoryState | None = None,
) -> AsyncIterator[RepositoryState]:
    """Do something in a repository that `undo_changes` can take back.

    What was before is held by a reference of ours before anything changes, and the step stands
    in the log: also of a process that is killed in the middle.

    Args:
        repository: an open one.
        tool: who does it, for the log.
        files: whether files of the working tree may be changed.
        untracked: whether files that git does not know may be changed.
        undoes: the steps that this one takes back.
        before: how it is now, where that is known.
    """
    ctx = repository.ctx
    changes = ctx.use(Changes)
    await refuse_unseen_changes(repository)
    moment = before or await take_snapshot(repository, files=files, untracked=untracked)
    about = {
        "root": repository.folder.root.real,
        "folder": list(repository.folder.parts),
        "changes_files": files,
        "untracked": untracked,
        "then": moment.to_json(),
    }
    top = repository.layout.top
    step = await changes.begin_program_step(tool, ctx.session, [top], about, undoes)
    await keep(repository, step.token, moment)
    await asyncio.to_thread(note_time, repository, step.token, moment)
    about["then"] = moment.to_json()
    try:
        yield moment
        if files and not undoes:
            await _refuse_unasked(repository, moment, untracked=untracked)
    except BaseException:
        await run_shielded(_roll_back(repository, moment, files=files, untracked=untracked))
        await run_shielded(_finish(repository, changes, step, moment, about))
        raise
    await run_shielded(_finish(repository, changes, step, moment, about))


async def _folders_among(repository: Repository, names: Sequence[str]) -> list[str]:
    places = {name: Path(repository.layout.top, name) for name in names}
    return await asyncio.to_thread(
        lambda: [name for name, at in places.items() if at.is_dir() and not at.is_symlink()]
    )


async def _refuse_unasked(
    repository: Repository, before: RepositoryState, *, untracked: bool
) -> None:
    """Refuse what was written of files that act, where nobody was asked about it.

    Raises:
        Denied: they are as before again.
    """
    after = await take_snapshot(repository, untracked=untracked)
    top = repository.layout.top
    names = await affected(repository, before, after)
    written = await asyncio.to_thread(
        lambda: [
            name
            for name in sorted(names)
            if os.path.lexists(f"{top}/{name}") and not stood_before(repository, name, before)
        ]
    )
    if found := await acting_unasked(repository, written):
        try:
            await run_shielded(restore(repository, after, before, files=True))
        except ToolError:  # a job moves the same branch: the files at least
            await run_shielded(restore_files(repository, after, before, sorted(names)))
        raise Denied(
            f"It would have written {some_of(found, 5)}, on which other programs act, and nobody "
            "was asked about that, so it was taken back.",
            hint="Look with git_status. The user can do it in a terminal.",
        )


async def _roll_back(
    repository: Repository, before: RepositoryState, *, files: bool, untracked: bool
) -> None:
    """Take back what a command left that failed; a job may move a branch meanwhile."""
    for _ in range(MAX_TRIES):
        with suppress(ToolError):
            now = await take_snapshot(repository, files=files, untracked=untracked)
            if not now.is_like(before):
                await restore(repository, now, before, files=files)
            return


async def _finish(
    repository: Repository,
    changes: Changes,
    step: LoggedStep,
    before: RepositoryState,
    about: dict[str, object],
) -> None:
    files, untracked = bool(about["changes_files"]), bool(about["untracked"])
    after = await take_snapshot(repository, files=files, untracked=untracked)
    if after.is_like(before):
        await changes.drop_program_step(step)
        await forget(repository, step.token)
        return
    await keep(repository, step.token, before, after)
    names = sorted(await affected(repository, before, after)) if files else []
    top = repository.layout.top
    paths = [f"{top}/{name}" for name in names[:MAX_LISTED_PATHS]] or [top]
    await changes.finish_program_step(step, paths, {**about, "now": after.to_json()})
    await forget_old(repository)


async def log_new_folder(ctx: Ctx, tool: str, folder: SafePath) -> int:
    """Log a folder that git made, with all that it holds: `undo_changes` takes it away again.

    Returns:
        The number of the step; 0 where there is none, as of more than a step may hold.
    """
    place, limits = folder.settled(), ctx.config.undo

    def digest(size: int, chunks: Iterator[bytes]) -> str:
        return hash_only(size, chunks) if size <= limits.max_file_bytes else ""

    def work(check: Checkpoint) -> list[Change]:
        with place.place(whole=True) as opened_place:
            tree = TreeReader(digest, check, limits.max_entries).take(opened_place, folder.display)
        paths = [_lifted(state_path(place, state)) for state in tree]
        return changes_of(
            Delta(path, after=replace(state, path=""), new=FileSource(path, state.mark))
            for path, state in zip(paths, tree, strict=True)
        )

    with suppress(ToolError):  # it is made, whatever is known of it
        changes = await in_thread(work, ctx.deadline)
        return await ctx.use(Changes).record(tool, ctx.session, changes)
    return 0


def _lifted(path: SafePath) -> SafePath:
    """A place that git made, protected or not, as one where that can be taken back."""
    granted = path.granted() if path.gate.pattern(path, "write") else path
    if not granted.gate.pattern(granted, "write"):
        return granted
    for _ in range(MAX_LIFTED):
        if pattern := path.gate.pattern(path, "write"):
            path = path.but_for(pattern)
    return path


async def undo_git_step(ctx: Ctx, step: LoggedStep, tool: str) -> list[str]:
    """Take back a step of git; that is one itself.

    Returns:
        The names of the files that were changed by it.

    Raises:
        Conflict: something that it would touch was changed since.
        NotFound: the repository is not there any more.
    """
    about = step.program or {}
    folder = ctx.use(Workspace).at(about["root"], about["folder"])
    top, layout = await asyncio.to_thread(find_layout, folder, inside_of(ctx))
    if top.parts != folder.parts:
        raise NotFound(
            f"The repository {folder.display} is not there any more.",
            hint="list_changes shows the other steps.",
        )
    files, untracked = bool(about["changes_files"]), bool(about["untracked"])
    before = RepositoryState.from_json(about["then"])
    async with opened(ctx, folder, layout) as repository:
        now = await take_snapshot(repository, files=files, untracked=untracked)
        if "now" in about:
            after = RepositoryState.from_json(about["now"])
            await refuse_stale(repository, now, after, before, files=files)
        names = sorted(await affected(repository, now, before)) if files else []
        # Git takes a folder away where it writes a file, whatever lies in it.
        await refuse_covered(repository, names)
        await refuse_to_overwrite(repository, await _folders_among(repository, names))
        made = await repositories_among(repository.layout.top, names)
        if found := [f for f in made if not is_repository(names_of_repository(f))]:
            raise Conflict(
                f"Nothing was undone: {repository.display(found[0])} would be a git repository.",
                hint="Settings that came there since would run programs: look at them first.",
            )
        async with git_step(
            repository,
            tool,
            files=files,
            untracked=untracked,
            undoes=(step.id,),
            before=now,
        ):
            await restore(repository, now, before, files=files)
    return names
