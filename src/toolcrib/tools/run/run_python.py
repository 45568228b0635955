"""`run_python`: Python code behind the boundary."""

from __future__ import annotations

import asyncio
import re
from typing import Annotated

from toolcrib.core.context import Ctx
from toolcrib.core.errors import install_line
from toolcrib.core.result import Result
from toolcrib.core.tool import EXEC, READ, WRITE, Param, Seconds, other_names, tool
from toolcrib.execution.command_policy import code_verdict
from toolcrib.execution.interpreters.pictures import VARIABLE, PictureFolder
from toolcrib.execution.interpreters.python import (
    DATA_PACKAGES,
    NO_PACKAGES,
    PACKAGES,
    Python,
    clean_code,
    python_for,
)
from toolcrib.execution.network_access import NetworkRequests
from toolcrib.execution.runs.outcome import Commit
from toolcrib.execution.runs.runs import Runs
from toolcrib.execution.sandbox.terms import NetworkAccess
from toolcrib.files.paths import SafePath, Workspace
from toolcrib.system.child import run_shielded
from toolcrib.system.threads import in_thread
from toolcrib.tools.run import argument_adapters
from toolcrib.tools.run.argument_adapters import MAX_SECONDS
from toolcrib.tools.run.report import OutputFollower, offers, python_hints, report

DEFAULT_SECONDS = 120.0
MAX_SEARCHED_CHARS = 10_000
"""Characters of the end of what it wrote that are looked through for a missing package."""
MISSING = re.compile(r"^ModuleNotFoundError: No module named '([\w.]+)'", re.MULTILINE)


@tool(
    group="run",
    rights=READ | WRITE | EXEC,
    profiles=("default",),
    keywords=("execute", "script", "compute", "calculate", "numpy", "pandas", "code"),
    aliases=("execute_python", "python", "python_exec", "exec_python"),
    argument_aliases=other_names(
        code=("script", "source", "python_code", "program", "snippet", "source_code")
    ),
    destructive=True,
    seconds=MAX_SECONDS + 60,
    policy_check=code_verdict,
    argument_adapter=argument_adapters.python,
)
async def run_python(
    code: str,
    timeout: Annotated[Seconds, Param(maximum=MAX_SECONDS)] = DEFAULT_SECONDS,  # noqa: ASYNC109 - of the run
    commit: Commit | None = None,
    network: Annotated[list[str] | None, Param("Hosts, or packages.")] = None,
    *,
    ctx: Ctx,
) -> Result:
    """Run Python code in a sandbox.

    Shows what it prints and the value of a last expression. Nothing is kept between calls
    but files; `commit` says whether changed ones are kept, held back or dropped. It has no
    network but for the hosts in `network`. Uses the workspace's .venv where there is one. For
    a shell use run_command.
    """
    source = clean_code(code)
    cwd = ctx.use(Workspace).start(ctx.session.directory)
    python = await in_thread(lambda _: python_for(ctx, cwd), ctx.deadline)
    access = await ctx.use(NetworkRequests).of(ctx, network)
    folder = await in_thread(lambda _: PictureFolder.make())
    try:
        return await _run(ctx, source, python, cwd, timeout, commit, access, folder)
    finally:
        await run_shielded(asyncio.to_thread(folder.remove))


async def _run(
    ctx: Ctx,
    source: str,
    python: Python,
    cwd: SafePath,
    timeout: float,  # noqa: ASYNC109 - of the run
    commit: Commit | None,
    access: NetworkAccess,
    folder: PictureFolder,
) -> Result:
    limit = timeout or DEFAULT_SECONDS
    async with OutputFollower(ctx) as follower:
        ran = await ctx.use(Runs).run(
            python.argv,
            ctx,
            tool=run_python.name,
            cwd=cwd,
            commit=commit,
            seconds=limit,
            stdin=source.encode(),
            env={
                "PYTHONDONTWRITEBYTECODE": "1",
                "PIP_RETRIES": "0",
                "TOOLCRIB_PACKAGES": python.packages,
                VARIABLE: str(folder.path),
                **access.environment,
            },
            readable=python.readable,
            writable=[folder.path],
            network=access,
            on_output=follower,
        )
    pictures = await in_thread(lambda _: folder.pictures())
    return await report(
        ctx,
        run_python.name,
        ran,
        follower.ring,
        limit=limit,
        notes=[
            *_notes(ctx, python, ran.stderr.last(MAX_SEARCHED_CHARS)),
            *await in_thread(lambda _: python_hints(ctx, source, ran, cwd)),
        ],
        pictures=pictures,
        facts={"interpreter": {"path": python.program, "from": python.origin}},
    )


def _notes(ctx: Ctx, python: Python, errors: str) -> list[str]:
    """Which interpreter it was, where that is not the usual one or lacks a package."""
    missing = MISSING.search(errors)
    module = missing[1].partition(".")[0] if missing else ""
    package = PACKAGES.get(module, module)
    other = "" if module in (*PACKAGES, *DATA_PACKAGES) else " (the package may have another name)"
    if missing and module in DATA_PACKAGES and python.origin == "toolcrib":
        line = install_line("toolcrib[data]")
        return [f"[{missing[1]} is not installed; the user can install it: {line}]"]
    if missing and python.origin == "toolcrib":
        place = f"{python.label} ({python.program})"
        how = (
            NO_PACKAGES.replace("NAME", package) + other
            if offers(ctx, "run_command")
            else "A .venv in the workspace or run.python in the configuration gives another"
        )
        return [f"[{missing[1]} is not installed in {place}. {how}]"]
    if missing and python.origin == "workspace":
        install = f"{python.label} -m pip install {package}"
        how = f'run_command "{install}" with network=["packages"] installs it{other}'
        return [f"[{missing[1]} is not installed in {python.label}; {how}]"]
    if missing:
        return [f"[{missing[1]} is not installed in {python.label}; the user installs it]"]
    return [f"[{python.label}]"] if python.origin != "toolcrib" else []
