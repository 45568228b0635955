"""`open_path`: a file or an address, opened for the person."""

from __future__ import annotations

import stat
from collections.abc import Mapping
from typing import Annotated, Any

from toolcrib.core.context import Ctx
from toolcrib.core.errors import BadInput, Denied
from toolcrib.core.result import Result
from toolcrib.core.tool import MACHINE, NET, READ, SEND, Param, Right, tool
from toolcrib.files.paths import SafePath, Workspace, WorkspacePath
from toolcrib.net.egress.public_url import PublicUrl
from toolcrib.system.opener import open_for_person
from toolcrib.system.threads import in_thread

PROGRAMS = frozenset(
    (
        *("appimage", "app", "bat", "cmd", "com", "command", "cpl", "desktop", "exe", "hta", "inf"),
        *("jar", "js", "jse", "lnk", "msc", "msi", "msp", "pif", "ps1", "reg", "scf", "scr", "sh"),
        *("terminal", "tool", "url", "vb", "vbe", "vbs", "ws", "wsf", "wsh", "workflow"),
    )
)
"""Endings of what would be run, where it is opened."""


def _adapt(arguments: dict[str, Any]) -> None:
    target = arguments.pop("target", None)
    if isinstance(target, str) and target:
        arguments["url" if target.lower().startswith(("http:", "https:")) else "path"] = target


def _narrowed(given: Mapping[str, Any]) -> Right:
    """An address can carry data out; a file needs no network."""
    return MACHINE | NET | SEND if given.get("url") else MACHINE | READ


async def _complete(arguments: Mapping[str, Any], ctx: Ctx) -> None:
    """Nobody is asked about a call that opens nothing."""
    path = arguments["path"]
    if bool(arguments["url"]) == (path is not None):
        raise BadInput("Give 'path' or 'url', one of them.", hint="Such as path=report.pdf.")
    if path is not None:
        await in_thread(lambda _: _refuse_programs(path), ctx.deadline)


def _refuse_programs(path: SafePath) -> None:
    """Blocking.

    Raises:
        NotFound: nothing is there.
        Denied: to open it would run it.
    """
    status = path.stat()
    ending = path.name.rpartition(".")[2].lower()
    runs = stat.S_ISREG(status.st_mode) and status.st_mode & 0o111
    if ending in PROGRAMS or runs:
        raise Denied(
            f"{path.display} is a program: opening it could run it.",
            hint="run_command runs it in the sandbox.",
        )


@tool(
    group="ui",
    rights=READ | MACHINE | NET | SEND,
    keywords=("launch", "browser", "program", "start", "default application"),
    aliases=("open_file", "open_in_browser"),
    argument_aliases={"file": "path", "file_path": "path"},
    argument_adapter=_adapt,
    effective_rights=_narrowed,
    policy_check=_complete,
)
async def open_path(
    path: WorkspacePath | None = None,
    url: Annotated[PublicUrl, Param("Or an address.")] = "",
    *,
    ctx: Ctx,
) -> Result:
    """Open something in a program of the user, after asking.

    It opens in the user's own program; you see nothing of it. What would run a program is
    refused. To read a file yourself use read_file.
    """
    opener = ctx.use(Workspace).outside_program("xdg-open")
    if path is None:
        await in_thread(lambda _: open_for_person(str(url), opener), ctx.deadline)
        return Result(f"{url} was opened for the user.", {"url": str(url)})
    await in_thread(lambda _: _refuse_programs(path), ctx.deadline)
    await in_thread(lambda _: open_for_person(path.absolute, opener), ctx.deadline)
    return Result(f"{path.display} was opened for the user.", {"path": path.display}, private=True)
