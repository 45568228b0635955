"""`run_javascript`: JavaScript by Deno or Node behind the boundary, or by an engine of our own."""

from __future__ import annotations

import json
import re
import sys
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any, Literal

from toolcrib.core.call import Result
from toolcrib.core.context import Ctx
from toolcrib.core.errors import BadInput, Unavailable
from toolcrib.core.params import Param, Seconds
from toolcrib.core.policy import Decision
from toolcrib.core.tool import EXEC, READ, WRITE, tool
from toolcrib.execution.command_policy import code_verdict
from toolcrib.execution.interpreters.code_fences import unfenced
from toolcrib.execution.interpreters.programs import find_program, home, prefix_of
from toolcrib.execution.runs.runs import Runs
from toolcrib.execution.sandbox.sandbox import Sandbox
from toolcrib.execution.workers import Task, Workers
from toolcrib.files.paths import Workspace
from toolcrib.system.threads import aside, in_thread
from toolcrib.text.program_output import printed
from toolcrib.tools.run import argument_adapters as dialects
from toolcrib.tools.run.hints import javascript_hints
from toolcrib.tools.run.report import Follower, fitted, report

# Which engine runs JavaScript, and how the code is handed to it.

Name = Literal["deno", "node", "quickjs"]
HINT = (
    'Install Deno with `pip install "toolcrib[js]"` or from https://deno.com, or Node.js 20 or '
    "later from https://nodejs.org."
)

# It reads the code from its input and runs it as a script, so that `require` works and the
# value of a last expression can be shown, as a console would, where nothing else was. What is
# written as a module, with `import` or `await` at its top, is handed on to Node as one.
NODE_BOOT = r"""
(() => {
const fs = require('node:fs'), vm = require('node:vm'), util = require('node:util');
const code = fs.readFileSync(0, 'utf8');
let wrote = false;
const write = process.stdout.write;
process.stdout.write = function (...given) { wrote = true; return write.apply(this, given); };
globalThis.require = require; globalThis.module = module; globalThis.exports = module.exports;
globalThis.__filename = 'code.js'; globalThis.__dirname = process.cwd();
let script;
try {
  script = new vm.Script(code, {
    filename: 'code.js',
    importModuleDynamically: vm.constants && vm.constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  });
} catch (error) {
  if (/\bimport\b|\bexport\b|\bawait\b/.test(code)) {
    const { status, signal } = require('node:child_process').spawnSync(
      process.execPath, ['--input-type=module', '-'],
      { input: code, stdio: ['pipe', 'inherit', 'inherit'] });
    process.exit(signal ? 1 : status);
  }
  throw error;
}
const value = script.runInThisContext();
if (value !== undefined && !wrote && !(value instanceof Promise)) {
  process.stdout.write(util.inspect(value, { maxStringLength: 20000 }) + '\n');
}
})();
"""
DENO_FLAGS = (
    *("--quiet", "--no-prompt", "--no-config", "--no-lock", "--no-remote", "--no-npm"),
    *("--cached-only", "--deny-net", "--deny-run", "--deny-env", "--deny-sys", "--deny-ffi"),
    *("--allow-read=.", "--allow-write=.", "--ext=ts", "--no-check"),
)
# Models write for Node: names of its modules without their prefix, and `require`.
NODE_MODULES = (
    *("assert", "buffer", "child_process", "crypto", "events", "fs", "fs/promises", "http"),
    *("https", "module", "net", "os", "path", "perf_hooks", "process", "querystring"),
    *("readline", "stream", "string_decoder", "timers", "timers/promises", "tty", "url"),
    *("util", "v8", "vm", "worker_threads", "zlib"),
)
NAMED = "data:application/json," + json.dumps(
    {"imports": {name: f"node:{name}" for name in NODE_MODULES}}
)
REQUIRES = (
    "data:text/javascript,"
    'import{createRequire}from"node:module";'
    "globalThis.__dirname=Deno.cwd();globalThis.__filename=`${__dirname}/code.js`;"
    "globalThis.require=createRequire(__filename);"
    "globalThis.module={exports:{}};globalThis.exports=module.exports;"
)
USES_REQUIRE = re.compile(r"\b(?:require\s*\(|require\.main\b|__dirname\b|module\.exports\b)")


@dataclass(frozen=True, slots=True)
class Engine:
    """An engine: `argv` is empty for the one that runs inside of a worker of ours."""

    name: Name
    program: str = ""
    readable: tuple[Path, ...] = ()

    def argv(self, code: str) -> list[str]:
        """The command that runs the code on its input."""
        if self.name == "deno":
            more = [f"--import-map={NAMED}"]
            if USES_REQUIRE.search(code):
                more.append(f"--preload={REQUIRES}")
            return [self.program, "run", *DENO_FLAGS, *more, "-"]
        return [self.program, "-e", NODE_BOOT]

    @property
    def environment(self) -> dict[str, str]:
        """Variables that it needs: it must not look for a cache in the workspace."""
        if self.name == "deno":
            return {"DENO_DIR": "/tmp/deno", "DENO_NO_UPDATE_CHECK": "1", "NO_COLOR": "1"}  # noqa: S108
        return {"NO_COLOR": "1", "NODE_NO_WARNINGS": "1"}


def engine_for(ctx: Ctx, *, confined: bool) -> Engine:
    """The configured engine, else Deno, else Node, else the one for computing alone.

    Args:
        ctx: the call.
        confined: whether programs can be started here; else only the last one may run.

    Raises:
        Unavailable: the configured one, or any, is not there.
    """
    wanted = ctx.config.run.javascript
    if wanted != "quickjs" and (confined or wanted != "auto"):
        names: tuple[Name, ...] = ("deno", "node")
        for name in names:
            program = find_program(ctx, name, _places(name)) if wanted in ("auto", name) else ""
            if program:
                return Engine(name, program, tuple(prefix_of(program)))
    if wanted in ("auto", "quickjs") and find_spec("quickjs") is not None:
        return Engine("quickjs")
    if wanted == "quickjs":
        raise Unavailable(
            "The package quickjs-ng is not installed here.",
            hint="Install it with: pip install quickjs-ng",
        )
    missing = {"deno": "Deno is not", "node": "Node.js is not"}
    said = missing.get(wanted, "Neither Deno nor Node.js is")
    raise Unavailable(f"{said} on this machine.", hint=HINT)


def tidied(code: str) -> str:
    """Code without the fence of Markdown around it.

    Raises:
        BadInput: it is nothing, or no text.
    """
    code = unfenced(code)
    if not code.strip():
        raise BadInput("The code is empty.")
    if "\0" in code:
        raise BadInput("The code is not text: it holds NUL characters.", hint="Send source code.")
    return code


def _places(name: str) -> list[Path]:
    """Where installers put it, beside PATH."""
    folders = [Path(sys.executable).parent] if sys.executable and name == "deno" else []
    if name == "deno":
        return [*folders, home() / ".deno/bin"]
    found = sorted((home() / ".nvm/versions/node").glob("v*/bin"), key=_version, reverse=True)
    return [*found, home() / ".volta/bin"]


def _version(folder: Path) -> tuple[int, ...]:
    parts = folder.parent.name.lstrip("v").split(".")
    return tuple(int(part) if part.isdigit() else 0 for part in parts)


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
    max_bytes=8_000_000,
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
