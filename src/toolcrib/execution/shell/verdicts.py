"""What policy is told of a call that runs code: by the boundary, the network and the rules."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from toolcrib.core.context import Ctx
from toolcrib.core.errors import ToolError
from toolcrib.core.policy import Decision
from toolcrib.execution.shell.policy import judge
from toolcrib.files.paths import SafePath
from toolcrib.files.workspace import Workspace
from toolcrib.system.threads import in_thread

HELD = Decision("allow", "the boundary holds it")


async def command_verdict(arguments: Mapping[str, Any], ctx: Ctx) -> Decision | None:
    """For tools with a `command` and perhaps a `cwd`: rules, and what only reads."""
    command = str(arguments.get("command") or "")
    why = await openness(ctx)
    if not command.strip() or not (why or ctx.config.run.rules):
        return Decision("ask", why) if why else HELD
    cwd = arguments.get("cwd")
    may_read = _Reading(ctx, cwd if isinstance(cwd, SafePath) else None)
    # A long command takes seconds to read.
    return await in_thread(
        lambda _: judge(command, ctx.config.run.rules, open_why=why, may_read=may_read),
        ctx.deadline,
    )


async def code_verdict(arguments: Mapping[str, Any], ctx: Ctx) -> Decision | None:
    """For tools that run code of any kind: it is asked about where no boundary holds it."""
    del arguments
    why = await openness(ctx)
    return Decision("ask", why) if why else HELD


async def openness(ctx: Ctx) -> str:
    """Why the boundary does not hold what a run does; empty where it does.

    Where nothing may run at all, there is nothing to ask about either: the run says why.
    """
    from toolcrib.execution.sandbox.sandbox import Sandbox

    settings = ctx.config.run
    if settings.network:
        return f"it may reach {', '.join(settings.network)[:200]}"
    if settings.level != "none":
        return ""
    report = await ctx.use(Sandbox).report()
    return "it runs without a boundary (run.level is none)" if report.level == "none" else ""


class _Reading:
    """Whether a word of a command may name a file: inside the roots, and not protected."""

    def __init__(self, ctx: Ctx, cwd: SafePath | None) -> None:
        self._workspace = ctx.use(Workspace)
        self._directory = cwd.absolute if cwd is not None else ctx.session.directory

    def __call__(self, word: str) -> bool:
        if ".." in word.split("/"):
            return False
        if word == "-":
            return True
        try:
            path = self._workspace.resolve(word, self._directory)
            path.gate.check(path, "read")
        except ToolError:
            return False
        return True
