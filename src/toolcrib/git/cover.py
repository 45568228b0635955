"""What stands in front of git while runs go on, which could lead it elsewhere at any moment.

It does as it is told, and a run may exchange a folder for a link, or a file for another one,
between two of its steps. So it sees and writes the workspace alone then; of what is protected
there only files that are as in the last commit, which any run may read, are as always.
"""

from __future__ import annotations

import asyncio
import os
import stat
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from toolcrib.core.context import Ctx
from toolcrib.core.errors import Busy
from toolcrib.files.live_runs import without_runs
from toolcrib.files.paths import Workspace
from toolcrib.git.layout import stored_file
from toolcrib.system.removal import remove
from toolcrib.system.threads import random_id

if TYPE_CHECKING:
    from toolcrib.execution.sandbox.masks import Kind, Mask

Published = Callable[[Sequence[str]], Awaitable[set[str]]]
"""Gives those of some files whose content any run may read elsewhere."""
HIDDEN: Kind = "hidden file"
Mount = tuple[str, tuple[str, ...]]
"""A place, and the words before it that say how something stands over it."""
MAX_COVERED, MAX_EMPTIED = 2_500, 300
"""Mounts that bubblewrap can be told of; and those of files, of which each takes it longer."""
ISOLATED = ("--unshare-net", "--unshare-ipc", "--unshare-pid", "--proc", "/proc", "--dev", "/dev")
OF_ETC = ("/etc/passwd", "/etc/group")
"""What it reads there to know the user's name."""
FURTHER = {"modules": ("*", "*/*", "*/*/*", "*/modules/*"), "worktrees": ("*",)}
"""Where repositories lie in these folders; modules may have slashes in their names."""


@dataclass(frozen=True, slots=True)
class Cover:
    """What git may do while runs go on.

    Attributes:
        writable: folders beside the workspace.
        readable: what else it may read, there or not.
        sees_all: it may read everything and use the network, for git with the user's keys.
        temporary: where files of ours may be made.
        published: of what is protected from reading, what it may see as it is; None for nothing.
    """

    writable: Sequence[str]
    readable: Sequence[str]
    sees_all: bool
    temporary: Path
    published: Published | None = None

    @asynccontextmanager
    async def words(self, ctx: Ctx) -> AsyncIterator[list[str]]:
        """What stands in front of the program, and its arguments; nothing without namespaces.

        Raises:
            Busy: more is protected than can be covered.
        """
        from toolcrib.execution.sandbox.sandbox import Sandbox

        sandbox = ctx.use(Sandbox)
        report = await sandbox.report()
        if sys.platform == "win32" or report.level != "strong":
            yield []
            return
        found = await covered(ctx)
        hidden = [mask.path for mask in found if mask.kind == HIDDEN]
        seen = await self.published(hidden) if self.published is not None and hidden else set()
        folder = self.temporary / f"{random_id(16)}.cover"
        roots = [root.real for root in ctx.use(Workspace).roots]
        mounts: list[Mount] = [(path, ("--bind", path)) for path in (*roots, *self.writable)]
        try:
            mounts += await asyncio.to_thread(
                lambda: list(_mounts((mask for mask in found if mask.path not in seen), folder))
            )
            mounts.sort(key=lambda mount: mount[0].count("/"))
            around = [word for path, how in mounts for word in (*how, path)]
            yield [report.program, "--die-with-parent", *self._view(), *around]
        finally:
            with suppress(OSError):
                await asyncio.to_thread(remove, folder)

    def _view(self) -> list[str]:
        if sys.platform == "win32":
            return []
        from toolcrib.execution.sandbox.layout import system

        if self.sees_all:
            return ["--ro-bind", "/", "/", "--dev-bind", "/dev", "/dev"]
        readable = (*OF_ETC, *self.readable)
        words = [word for path in readable for word in ("--ro-bind-try", path, path)]
        return [*system(), *ISOLATED, *words]


async def is_covering(ctx: Ctx) -> bool:
    """Whether git would be covered at this moment."""
    from toolcrib.execution.sandbox.sandbox import Sandbox

    with without_runs() as is_alone:
        if is_alone:
            return False
    return sys.platform != "win32" and (await ctx.use(Sandbox).report()).level == "strong"


async def covered(ctx: Ctx) -> list[Mask]:
    """What is covered while runs go on.

    Raises:
        Busy: more is protected than can be covered.
    """
    from toolcrib.execution.sandbox.sandbox import Sandbox

    masks = await ctx.use(Sandbox).protected()
    found = await asyncio.to_thread(lambda: list(islice(_single(masks), MAX_COVERED + 1)))
    emptied = sum(mask.kind == HIDDEN for mask in found)
    if len(found) > MAX_COVERED or emptied > MAX_EMPTIED:
        raise Busy(
            "Too many protected names to work here while programs run.",
            hint="Stop the programs in the background first (list_jobs, stop_job).",
        )
    return found


def _single(masks: Iterable[Mask]) -> Iterator[Mask]:
    """Masks for git: single files of what is hidden, and of modules what git obeys alone.

    No run changes what modules and working trees have of their own, and git may. It blocks.
    """
    if sys.platform == "win32":
        return
    from toolcrib.execution.sandbox.masks import IN_REPOSITORY, Mask

    for mask in masks:
        place = PurePosixPath(mask.path)
        if mask.kind == "fixed" and place.name in FURTHER and place.parent.name.endswith(".git"):
            for level in FURTHER[place.name]:
                names = (*IN_REPOSITORY, "gitdir", "info", "modules")
                found = (p for name in names for p in Path(mask.path).glob(f"{level}/{name}"))
                yield from (Mask(str(path), "fixed") for path in found)
        elif mask.kind == "hidden folder":
            yield Mask(mask.path, "fixed")
            for path, _, files in os.walk(mask.path):
                yield from (Mask(f"{path}/{name}", HIDDEN) for name in files)
        else:
            yield mask


def _mounts(masks: Iterable[Mask], folder: Path) -> Iterator[Mount]:
    """What stands over them. It blocks, and writes files of ours."""
    empty = stored_file(folder / "empty", b"")
    for number, mask in enumerate(masks):
        if mask.kind == "fixed":
            yield mask.path, ("--ro-bind", mask.path)
        elif mask.kind in (HIDDEN, "copy") and _is_plain(mask.path):
            source = stored_file(folder / str(number), mask.data) if mask.data else empty
            yield mask.path, ("--ro-bind", source)


def _is_plain(path: str) -> bool:
    with suppress(OSError):
        return stat.S_ISREG(os.lstat(path).st_mode)
    return False
