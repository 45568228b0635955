"""Completion of arguments while a person types them: paths, branches, handles, jobs."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from typing import Any

import mcp_types as types
from mcp.shared.exceptions import MCPError

from toolcrib.execution.jobs import Jobs
from toolcrib.surfaces.mcp import prompts, resources
from toolcrib.surfaces.mcp.calls import Context, HostCalls, session_of

MAX_VALUES = 100
"""What the protocol allows in an answer."""
MAX_TYPED = 2_000
GLOB_CHARS = re.compile(r"[*?\[\]]")

Completer = Callable[[HostCalls, Context, str], Awaitable[list[str]]]


async def completed(
    calls: HostCalls, ctx: Context, params: types.CompleteRequestParams
) -> types.CompleteResult:
    """What an argument may go on as; nothing where that is not known.

    Raises:
        MCPError: there is no such prompt, template or argument.
    """
    name, typed = params.argument.name, params.argument.value
    completer = COMPLETERS.get(_known(calls, params.ref, name))
    found: list[str] = []
    if completer is not None and len(typed) <= MAX_TYPED:
        found = await completer(calls, ctx, typed)
    values = found[:MAX_VALUES]
    more = len(found) > len(values)
    return types.CompleteResult(
        completion=types.Completion(values=values, total=len(found), has_more=more)
    )


def _known(calls: HostCalls, ref: Any, name: str) -> str:
    """The name of the argument, where what it belongs to is offered."""
    if isinstance(ref, types.PromptReference):
        for prompt in prompts.listing(calls.toolbox).prompts:
            if prompt.name == ref.name:
                if any(argument.name == name for argument in prompt.arguments or ()):
                    return name
                raise _wrong(f"{prompt.name} has no argument {name[:80]}.")
        raise _wrong(f"There is no prompt {ref.name[:80]}.")
    for kind in resources.kinds(calls.toolbox):
        if ref.uri == kind.template:
            if name == kind.argument:
                return name
            raise _wrong(f"{kind.template} has no variable {name[:80]}.")
    raise _wrong(f"There is no template {ref.uri[:200]}.")


def _wrong(message: str) -> MCPError:
    return MCPError(types.INVALID_PARAMS, message)


async def _paths(calls: HostCalls, ctx: Context, typed: str) -> list[str]:
    """Entries of the folder that is being typed, as the tool lists them; folders end in a /."""
    folder, slash, start = typed.rpartition("/")
    if GLOB_CHARS.search(start) or calls.toolbox.tool("list_directory") is None:
        return []
    arguments = {"path": f"{folder}/" if slash else ".", "glob": f"{start}*"}
    result = await calls.look_up(ctx, "list_directory", arguments)
    if result.error is not None or not isinstance(result.data, dict):
        return []
    found = [
        f"{folder}{slash}{entry['path'].rpartition('/')[2]}"
        + ("/" if entry.get("kind") == "folder" else "")
        for entry in result.data["entries"]
    ]
    return [path for path in found if path.casefold().startswith(typed.casefold())]


async def _branches(calls: HostCalls, ctx: Context, typed: str) -> list[str]:
    if calls.toolbox.tool("git_branch") is None:
        return []
    result = await calls.look_up(ctx, "git_branch", {})
    if result.error is not None or not isinstance(result.data, dict):
        return []
    return [b["name"] for b in result.data["branches"] if b["name"].startswith(typed)]


async def _handles(calls: HostCalls, ctx: Context, typed: str) -> list[str]:
    session = calls.toolbox.conversation(session_of(ctx))
    found = await resources.stored_results(calls.toolbox, session)
    return [handle for handle, _ in found if handle.startswith(typed)]


async def _jobs(calls: HostCalls, ctx: Context, typed: str) -> list[str]:
    session = calls.toolbox.conversation(session_of(ctx))
    found = await calls.toolbox.use(Jobs).list(session, resources.MAX_LISTED)
    return [view.record.id for view in found if view.record.id.startswith(typed)]


async def _depths(calls: HostCalls, ctx: Context, typed: str) -> list[str]:
    del calls, ctx
    return [word for word in ("quick", "thorough") if word.startswith(typed)]


COMPLETERS: dict[str, Completer] = {
    "path": _paths,
    "base": _branches,
    "handle": _handles,
    "id": _jobs,
    "depth": _depths,
}
