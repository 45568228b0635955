"""`lint_project`: the checks that a project uses, and the problems they find."""

from __future__ import annotations

from typing import Annotated, Any

from toolcrib.core.call import Result
from toolcrib.core.context import Ctx
from toolcrib.core.errors import BadInput
from toolcrib.core.params import Param, Seconds
from toolcrib.core.tool import EXEC, READ, tool
from toolcrib.execution.interpreters.missing_programs import how_to_get, not_installed
from toolcrib.execution.interpreters.toolchains import toolchains
from toolcrib.execution.runs.outcome import Ran
from toolcrib.execution.runs.runs import Runs
from toolcrib.execution.shell.verdicts import code_verdict
from toolcrib.files.paths import SafePath, WorkspacePath
from toolcrib.files.workspace import Workspace
from toolcrib.system.threads import aside, in_thread
from toolcrib.text.program_output import printed
from toolcrib.tools.run import argument_adapters as dialects
from toolcrib.tools.run.linters import (
    Linter,
    Problem,
    as_json,
    linters_of,
    problems_in,
    project_of,
)
from toolcrib.tools.run.output_stream import Follower
from toolcrib.tools.run.report import fitted

SECONDS = 120.0
LONGEST = 36_000
MOST_SHOWN = 60
MOST_DATA = 1_000


@tool(
    group="run",
    rights=READ | EXEC,
    keywords=("ruff", "flake8", "pylint", "mypy", "eslint", "clippy", "vet", "check", "style"),
    aliases=("lint", "run_lint", "run_linter", "lint_code", "lint_files", "check_code"),
    argument_aliases={
        **dict.fromkeys(
            ("file", "file_path", "directory", "dir", "folder", "cwd", "target"), "path"
        ),
        **dict.fromkeys(("timeout_seconds", "timeout_sec", "seconds"), "timeout"),
    },
    seconds=LONGEST + 60,
    verdict=code_verdict,
    dialect=dialects.javascript,
)
async def lint_project(
    path: Annotated[WorkspacePath | None, Param("File or folder.")] = None,
    timeout: Annotated[Seconds, Param(maximum=LONGEST)] = SECONDS,  # noqa: ASYNC109 - of the run
    *,
    ctx: Ctx,
) -> Result:
    """Run the linters that the project uses and list the problems.

    Knows ruff, flake8, pylint, mypy, eslint, biome, clippy, go vet and `npm run lint`. It
    changes no file.
    """
    start = path or ctx.use(Workspace).start(ctx.session.directory)
    folder, linters, missing = await in_thread(lambda _: _plan(ctx, start), ctx.deadline)
    lines: list[str] = [f"[{how_to_get(_program(name))}]" for name in missing]
    facts: list[dict[str, Any]] = []
    shown: list[str] = []
    clean = True
    level = ""
    for linter in linters:
        ran = await _run(ctx, linter, folder, timeout or SECONDS)
        text, problems = await aside(ran.stdout.size + ran.stderr.size, _said, ran)
        fine = ran.exit_code == 0 and not problems and not ran.timed_out
        clean, level = clean and fine, ran.level
        shown.append(_headline(linter, ran, len(problems), fine=fine))
        shown += [str(problem) for problem in problems[:MOST_SHOWN]]
        if len(problems) > MOST_SHOWN:
            shown.append(f"... {len(problems) - MOST_SHOWN:,} more")
        if not problems and not fine and text:
            shown.append(text)
        facts.append(
            {
                "linter": linter.name,
                "exit_code": ran.exit_code,
                "problems": len(problems),
                "found": [as_json(problem) for problem in problems[:MOST_DATA]],
                "output": text if not problems else "",
                "timed_out": ran.timed_out,
            }
        )
    if level and level != "strong":
        lines.append(f"[sandbox: {level}]")
    text, more = await fitted(ctx, lint_project.name, "\n".join(shown), "\n".join(lines))
    data = {"clean": clean, "linters": facts, "missing": missing, "sandbox": {"level": level}}
    return Result(text=text, data=data, truncated=more is not None, next=more, private=True)


def _plan(ctx: Ctx, start: SafePath) -> tuple[SafePath, list[Linter], list[str]]:
    start.stat()
    folder = project_of(start)
    target = "/".join(start.parts[len(folder.parts) :])
    linters, missing = linters_of(ctx, folder, target)
    if not linters and missing:
        name = "ruff" if missing[0] == "python" else _program(missing[0])
        raise not_installed(name)
    if not linters:
        raise BadInput(
            f"No linter can be told from '{folder.display}'.",
            hint="Give the folder of the project, or run one with run_command.",
        )
    return folder, linters, missing


async def _run(ctx: Ctx, linter: Linter, folder: SafePath, limit: float) -> Ran:
    tools = await in_thread(lambda _: toolchains(ctx), ctx.deadline)
    async with Follower(ctx) as follower:
        return await ctx.use(Runs).run(
            linter.argv,
            ctx,
            tool=lint_project.name,
            cwd=folder,
            commit="never",
            seconds=limit,
            env={**tools.environment, "CI": "true"},
            readable=(*tools.readable, *linter.readable),
            network=ctx.config.run.network,
            on_output=follower,
        )


def _said(ran: Ran) -> tuple[str, list[Problem]]:
    """What a linter wrote, and the problems in it."""
    text = printed(f"{ran.stdout}\n{ran.stderr}").strip("\n")
    return text, problems_in(text)


def _headline(linter: Linter, ran: Ran, count: int, *, fine: bool) -> str:
    if ran.timed_out:
        return f"{linter.name}: stopped, its time was up"
    if fine:
        return f"{linter.name}: no problems"
    if not count:
        return f"{linter.name}: exit code {ran.exit_code}"
    return f"{linter.name}: {count:,} {'problem' if count == 1 else 'problems'}"


def _program(name: str) -> str:
    return {"npm run lint": "npm", "clippy": "cargo", "go vet": "go", "python": "ruff"}.get(
        name, name
    )
