"""`run_javascript`: JavaScript by Deno or Node behind the boundary, or by an engine of our own."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Annotated, Any

from toolcrib.core.context import Ctx
from toolcrib.core.errors import install_line
from toolcrib.core.result import Result
from toolcrib.core.tool import EXEC, READ, WRITE, Decision, Param, Seconds, other_names, tool
from toolcrib.execution.command_policy import code_verdict
from toolcrib.execution.interpreters.javascript import JavaScriptEngine, clean_code, engine_for
from toolcrib.execution.network_access import NetworkRequests
from toolcrib.execution.runs.outcome import Commit
from toolcrib.execution.runs.runs import Runs
from toolcrib.execution.sandbox.sandbox import Sandbox
from toolcrib.execution.workers import Task, Workers
from toolcrib.files.paths import Workspace
from toolcrib.system.threads import in_thread, in_thread_if_large
from toolcrib.text.cleaner import printed
from toolcrib.tools.run import argument_adapters
from toolcrib.tools.run.argument_adapters import MAX_SECONDS
from toolcrib.tools.run.report import OutputFollower, fit_to_budget, javascript_hints, report

DEFAULT_SECONDS = 60.0
MAX_COMPUTE_SECONDS = 300.0
"""Seconds of the engine that computes alone: a call of it cannot be looked into."""
START_SECONDS = 5.0
MAX_SEARCHED_CHARS = 10_000
NEEDS_MORE = re.compile(
    r"\b(?:require|process|Deno|Buffer|fetch|__dirname)\b.{0,200} is not defined"
)
TYPESCRIPT_SIGNS = re.compile(
    r"^[ \t]*(?:interface|type|enum)\s+\w+|[\w)]\s*:\s*(?:string|number|boolean|any)\b",
    re.MULTILINE,
)
COMPUTE = Task(
    "toolcrib.execution.interpreters.quickjs:run",
    "The code",
    megabytes=700,
    max_bytes=8_000_000,
    hint="Do less at a time, or give a longer 'timeout'.",
)


async def _verdict(arguments: Any, ctx: Ctx) -> Decision | None:
    """What computes alone needs no boundary."""
    if (await _engine(ctx)).name == "quickjs":
        return None
    return await code_verdict(arguments, ctx)


@tool(
    group="run",
    rights=READ | WRITE | EXEC,
    keywords=("js", "node", "deno", "typescript", "execute", "script", "compute", "code"),
    aliases=("execute_javascript", "javascript", "run_js", "run_node"),
    argument_aliases=other_names(
        code=("js", "script", "source", "snippet", "program", "typescript")
    ),
    destructive=True,
    seconds=MAX_SECONDS + 60,
    policy_check=_verdict,
    argument_adapter=argument_adapters.javascript,
)
async def run_javascript(
    code: Annotated[str, Param("JavaScript or TypeScript.")],
    timeout: Annotated[Seconds, Param(maximum=MAX_SECONDS)] = DEFAULT_SECONDS,  # noqa: ASYNC109 - of the run
    commit: Annotated[Commit | None, Param("Changed files: keep, hold, drop.")] = None,
    network: Annotated[list[str] | None, Param("Hosts, or packages.")] = None,
    *,
    ctx: Ctx,
) -> Result:
    """Run JavaScript in a sandbox.

    Shows what it logs. By Deno, else Node.js, else an engine that only computes. Nothing is
    kept between calls but files.
    """
    source = clean_code(code)
    engine = await _engine(ctx)
    limit = timeout or DEFAULT_SECONDS
    if engine.name == "quickjs":
        return await _compute(ctx, source, limit)
    access = await ctx.use(NetworkRequests).of(ctx, network)
    async with OutputFollower(ctx) as follower:
        ran = await ctx.use(Runs).run(
            engine.argv(source),
            ctx,
            tool=run_javascript.name,
            cwd=ctx.use(Workspace).start(ctx.session.directory),
            commit=commit,
            seconds=limit,
            stdin=source.encode(),
            env={**engine.environment, **access.environment},
            readable=engine.readable,
            network=access,
            on_output=follower,
        )
    notes = []
    if not (ran.exit_code or ran.stdout.size or ran.stderr.size):
        notes.append("[only what is logged is shown: console.log(value)]")
    if engine.name == "node":
        notes.append("[Node.js]")
        if (
            ran.exit_code
            and "SyntaxError" in ran.stderr.last(MAX_SEARCHED_CHARS)
            and TYPESCRIPT_SIGNS.search(source)
        ):
            notes.append(
                "[TypeScript needs Node.js 22.13, or Deno, which the user can install: "
                f"{install_line('toolcrib[js]')}]"
            )
    notes += javascript_hints(source, ran)
    facts = {"engine": engine.name, "program": engine.program}
    return await report(
        ctx, run_javascript.name, ran, follower.ring, limit=limit, notes=notes, facts=facts
    )


async def _engine(ctx: Ctx) -> JavaScriptEngine:
    boundary = await ctx.use(Sandbox).report()
    confined = boundary.level != "none" or ctx.config.run.level == "none"
    return await in_thread(lambda _: engine_for(ctx, confined=confined), ctx.deadline)


async def _compute(ctx: Ctx, source: str, limit: float) -> Result:
    """Run code by the engine in a worker: it has neither files nor anything else."""
    limit = min(limit, MAX_COMPUTE_SECONDS)
    task = replace(COMPUTE, seconds=limit + START_SECONDS)
    request = {"code": source, "seconds": limit}
    answer, output = await ctx.use(Workers).run(task, request, b"", ctx.deadline)
    failed = str(answer["failed"])
    body = await in_thread_if_large(len(output), lambda: printed(output.decode("utf-8", "replace")))
    body = body.rstrip("\n")
    output_text = "\n".join(part for part in (body, failed) if part)
    notes = [f"[{'failed' if failed else 'done'}, quickjs: computing alone, no files or modules]"]
    if NEEDS_MORE.search(failed):
        notes.append(
            "[files and modules need Deno or Node.js, which the user can install: "
            f"{install_line('toolcrib[js]')}]"
        )
    text, more = await fit_to_budget(ctx, run_javascript.name, output_text, "\n".join(notes))
    data = {
        "exit_code": int(bool(failed)),
        "stdout": body,
        "stderr": failed,
        "engine": "quickjs",
        "sandbox": {"level": "worker", "network": []},
    }
    return Result(text=text, data=data, truncated=more is not None, next=more)
