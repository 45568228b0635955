"""`manage_packages`: the packages of a project, by its own manager, in the sandbox."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from toolcrib.core.context import Ctx
from toolcrib.core.result import Result
from toolcrib.core.tool import EXEC, READ, WRITE, Param, tool
from toolcrib.execution.interpreters.programs import find_program, not_installed
from toolcrib.execution.network_access import PACKAGES
from toolcrib.files.paths import SafePath, Workspace, WorkspacePath
from toolcrib.system.threads import in_thread
from toolcrib.tools.system.package_managers import (
    OFFLINE,
    VENV,
    Action,
    Manager,
    command_of,
    manager_of,
    understood,
)

SECONDS = 600.0
MAX_LINES = 100


@tool(
    group="system",
    rights=READ | WRITE | EXEC,
    keywords=("pip", "uv", "npm", "cargo", "dependencies", "install", "upgrade", "vulnerabilities"),
    aliases=("package_manage",),
    argument_aliases={"package_name": "packages", "package": "packages", "name": "packages"},
    destructive=True,
    seconds=SECONDS + 60,
)
async def manage_packages(
    action: Action,
    packages: Annotated[list[str] | None, Param("Names, with versions.", plain=True)] = None,
    manager: Manager | None = None,
    path: Annotated[WorkspacePath | None, Param("The project.", plain=True)] = None,
    *,
    ctx: Ctx,
) -> Result:
    """List, audit, install, update or remove packages of a project.

    pip and uv work in the project's .venv, npm and cargo in the project; all by run_command, in its
    sandbox and with the network of packages alone, about which the user is asked. Off by
    default (run.packages).
    """
    folder = path or ctx.use(Workspace).start(ctx.session.directory)
    chosen, has_venv = await in_thread(
        lambda _: (manager_of(folder, manager or ""), _has_venv(folder)), ctx.deadline
    )
    command = command_of(chosen, action, packages or (), has_venv=has_venv)
    if not find_program(ctx, command.program):
        raise not_installed(command.program)
    run = {"command": command.line, "cwd": folder.absolute, "timeout": SECONDS}
    if action not in OFFLINE:
        run["network"] = [PACKAGES]
    result = await ctx.invoke("run_command", run)
    if result.error is not None:
        return result
    output = result.data if isinstance(result.data, dict) else {}
    listed = understood(chosen, action, str(output.get("stdout", "")))
    data = {**output, "manager": chosen, "action": action, "packages": listed}
    if listed is None:
        return replace(result, text=f"$ {command.line}\n{result.text}", data=data)
    return replace(result, text=f"$ {command.line}\n{_lines(listed)}", data=data, next=None)


def _has_venv(folder: SafePath) -> bool:
    return any(entry.name == VENV for entry in folder.gate.entries(folder))


def _lines(listed: list[dict[str, str]]) -> str:
    if not listed:
        return "none"
    lines = [" ".join(one.values()) for one in listed[:MAX_LINES]]
    more = len(listed) - MAX_LINES
    return "\n".join([*lines, *([f"… {more:,} more (in data)"] if more > 0 else [])])
