"""`run_javascript`: JavaScript by Deno or Node behind the boundary, or by an engine of our own."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Annotated, Any, Literal

from toolcrib.core.call import Result
from toolcrib.core.context import Ctx
from toolcrib.core.params import Param, Seconds
from toolcrib.core.policy import Decision
from toolcrib.core.tool import EXEC, READ, WRITE, tool
from toolcrib.execution.interpreters.javascript import Engine, engine_for, tidied
from toolcrib.execution.runs.runs import Runs
from toolcrib.execution.sandbox.sandbox import Sandbox
from toolcrib.execution.shell.verdicts import code_verdict
from toolcrib.execution.worker.task import Task
from toolcrib.execution.worker.workers import Workers
from toolcrib.files.workspace import Workspace
from toolcrib.system.threads import aside, in_thread
from toolcrib.text.program_output import printed
from toolcrib.tools.run import argument_adapters as dialects
from toolcrib.tools.run.hints import javascript_hints
from toolcrib.tools.run.output_stream import Follower
from toolcrib.tools.run.report import fitted, report

SECONDS = 60.0
LONGEST = 36_000
MOST_COMPUTING = 300.0
"""Seconds of the engine that computes alone: a call of it cannot be looked into."""
START_SECONDS = 5.0
MOST_SEARCHED = 10_000
NEEDS_MORE = re.compile(r"\b(?:require|process|Deno|Buffer|fetch|__dirname)\b.* is not defined")
TYPED = re.compile(
    r"^\s*(?:interface|type|enum)\s+\w+|[\w)]\s*:\s*(?:string|number|boolean|any)\b", re.MULTILINE
)
COMPUTE = Task(
    "toolcrib.execution.interpreters.quickjs:run",
    "The code",
    megabytes=700,
    most=8_000_000,
    hint="Do less at a time, or give a longer 'timeout'.",
)

Commit = Literal["auto", "ask", "never"]


async def _verdict(arguments: Any, ctx: Ctx) -> Decision | None:
    """What computes alone needs no boundary."""
    if (await _engine(ctx)).name == "quickjs":
        return None
    return await code_verdict(arguments, ctx)


@tool(
    group="run",
    rights=READ | WRITE | EXEC,
    keywords=("js", "node", "deno", "typescript", "execute", "script", "compute", "code"),
    aliases=(
        *("execute_javascript", "javascript", "run_js", "run_node", "execute_js", "node", "js"),
        *("run_javascript_code", "execute_javascript_code", "run_typescript", "deno", "run_deno"),
    ),
    argument_aliases={
        **dict.fromkeys(("javascript", "js", "script", "source", "snippet", "program"), "code"),
        **dict.fromkeys(("typescript", "source_code", "javascript_code", "js_code"), "code"),
        **dict.fromkeys(("timeout_seconds", "timeout_sec", "seconds"), "timeout"),
    },
    destructive=True,
    seconds=LONGEST + 60,
    verdict=_verdict,
    dialect=dialects.javascript,
)
async def run_javascript(
    code: Annotated[str, Param("JavaScript, or TypeScript where Deno is.")],
    timeout: Annotated[Seconds, Param(maximum=LONGEST)] = SECONDS,  # noqa: ASYNC109 - of the run
    commit: Annotated[Commit | None, Param("Changed files: keep, hold, drop.")] = None,
    *,
    ctx: Ctx,
) -> Result:
    """Run JavaScript in a sandbox, without network.

    Shows what it logs. By Deno, else Node.js, else an engine that only computes. Nothing is
    kept between calls but files.
    """
    source = tidied(code)
    engine = await _engine(ctx)
    limit = timeout or SECONDS
    if engine.name == "quickjs":
        return await _compute(ctx, source, limit)
    async with Follower(ctx) as follower:
        ran = await ctx.use(Runs).run(
            engine.argv(source),
            ctx,
            tool=run_javascript.name,
            cwd=ctx.use(Workspace).start(ctx.session.directory),
            commit=commit,
            seconds=limit,
            stdin=source.encode(),
            env=engine.environment,
            readable=engine.readable,
            network=ctx.config.run.network,
            on_output=follower,
        )
    notes = []
    if not (ran.exit_code or ran.stdout.size or ran.stderr.size):
        notes.append("[only what is logged is shown: console.log(value)]")
    if engine.name == "node":
        notes.append("[Node.js]")
        if (
            ran.exit_code
            and "SyntaxError" in ran.stderr.last(MOST_SEARCHED)
            and TYPED.search(source)
        ):
            notes.append('[TypeScript needs Deno: pip install "toolcrib[js]"]')
    notes += javascript_hints(ctx, source, ran)
    facts = {"engine": engine.name, "program": engine.program}
    return await report(
        ctx, run_javascript.name, ran, follower.ring, limit=limit, notes=notes, facts=facts
    )


async def _engine(ctx: Ctx) -> Engine:
    boundary = await ctx.use(Sandbox).report()
    confined = boundary.level != "none" or ctx.config.run.level == "none"
    return await in_thread(lambda _: engine_for(ctx, confined=confined), ctx.deadline)


async def _compute(ctx: Ctx, source: str, limit: float) -> Result:
    """Run code by the engine in a worker: it has neither files nor anything else."""
    limit = min(limit, MOST_COMPUTING)
    task = replace(COMPUTE, seconds=limit + START_SECONDS)
    request = {"code": source, "seconds": limit}
    answer, output = await ctx.use(Workers).run(task, request, b"", ctx.deadline)
    failed = str(answer["failed"])
    body = await aside(len(output), lambda: printed(output.decode("utf-8", "replace")))
    body = body.rstrip("\n")
    shown = "\n".join(part for part in (body, failed) if part)
    notes = [f"[{'failed' if failed else 'done'}, quickjs: computing alone, no files or modules]"]
    if NEEDS_MORE.search(failed):
        notes.append('[files and modules need Deno or Node.js: pip install "toolcrib[js]"]')
    text, more = await fitted(ctx, run_javascript.name, shown, "\n".join(notes))
    data = {
        "exit_code": int(bool(failed)),
        "stdout": body,
        "stderr": failed,
        "engine": "quickjs",
        "sandbox": {"level": "worker", "network": []},
    }
    return Result(text=text, data=data, truncated=more is not None, next=more)
