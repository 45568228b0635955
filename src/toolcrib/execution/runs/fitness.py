"""Whether overlays work here, found out by trying one on each root."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING

from toolcrib.core.errors import ToolError
from toolcrib.execution.runs.disk.folders import Folders
from toolcrib.execution.runs.disk.mounts import has_own_clock, system_of
from toolcrib.files.paths import SafePath
from toolcrib.files.roots import Root
from toolcrib.files.workspace import Workspace

if TYPE_CHECKING:
    from toolcrib.execution.sandbox.sandbox import Sandbox

PROBE = ".toolcrib-probe"
SECONDS = 20.0


class Fitness:
    """Remembers for each root whether an overlay of it works.

    Args:
        folders: where the upper sides would be.
        workspace: has the roots.
    """

    def __init__(self, folders: Folders, workspace: Workspace) -> None:
        self._folders = folders
        self._workspace = workspace
        self._known: dict[tuple[str, int], bool] = {}
        self._lock = asyncio.Lock()

    async def good(self, sandbox: Sandbox) -> bool:
        """Whether all roots can be seen through overlays."""
        for root in self._workspace.roots:
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

        folder = self._folders.make()
        try:
            upper, work = folder.overlay(0, 0o755)
            confined = await sandbox.spawn(
                ["/bin/sh", "-c", f": > {PROBE}"],
                cwd=SafePath(root, (), self._workspace.gate, 0),
                views={root.real: Overlay(upper, work)},
            )
            async with confined:
                with suppress(TimeoutError):
                    await asyncio.wait_for(confined.wait(), SECONDS)
            return (upper / PROBE).is_file()
        except ToolError:
            return False
        finally:
            await asyncio.to_thread(folder.remove)
