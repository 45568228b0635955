"""With `git.auto_commit`, what a call changed in a clean repository becomes a commit."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import suppress

from toolcrib.core.context import Call, Ctx, Proceed
from toolcrib.core.errors import ToolError
from toolcrib.core.result import Result
from toolcrib.core.tool import EXEC, WRITE
from toolcrib.state.redaction import redact
from toolcrib.text.cleaner import one_line

MESSAGE_CHARS = 100
NOT_CLEAN = "Not committed by git.auto_commit: the repository has other changes."


async def auto_commit(call: Call, proceed: Proceed) -> Result:
    """Commit what the call changes, on the current branch; nothing is pushed."""
    writes = call.tool.rights_for(call.arguments) & (WRITE | EXEC)
    if not call.ctx.config.git.auto_commit or call.tool.group == "git" or not writes:
        return await proceed(call)
    was_clean = await _is_clean(call.ctx)
    started = time.time()
    result = await proceed(call)
    if was_clean is not None:
        try:
            await _commit(call, started, was_clean=was_clean)
        except ToolError as error:
            call.ctx.warn(f"Not committed by git.auto_commit: {error.message}")
    return result


async def _is_clean(ctx: Ctx) -> bool | None:
    """Whether no file that git knows is changed; None outside of a repository."""
    from toolcrib.git.repository import open_repository
    from toolcrib.git.status import status_of

    with suppress(ToolError):
        async with open_repository(ctx) as repository:
            status = await status_of(repository, untracked="no")
            return not status.files and not status.in_progress
    return None


async def _commit(call: Call, started: float, *, was_clean: bool) -> None:
    from toolcrib.files.changes.changes import Changes
    from toolcrib.git.contents import commit_files
    from toolcrib.git.repository import open_repository

    ctx = call.ctx
    steps = [s for s in await ctx.use(Changes).since(started) if s.session == ctx.session.id]
    changed = {path for step in steps for path in step.paths}
    if not changed:
        return
    if not was_clean:
        ctx.warn(NOT_CLEAN)
        return
    async with open_repository(ctx) as repository:
        top = f"{repository.layout.top}/"
        names = sorted(path.removeprefix(top) for path in changed if path.startswith(top))
        note = await commit_files(repository, names, _message(call))
    if note:
        ctx.warn(note)


def _message(call: Call) -> str:
    return one_line(f"{call.tool.name}: {', '.join(_words(call))}", MESSAGE_CHARS).rstrip(": ")


def _words(call: Call) -> Iterator[str]:
    given = call.arguments.items()
    named = {name: str(getattr(value, "display", value)) for name, value in given if value}
    for name, value in redact(named, MESSAGE_CHARS).items():
        if name in ("path", "paths", "source", "destination", "command", "pattern"):
            yield str(value)
