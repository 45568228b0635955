"""`run_tests`: the tests of a project, with what failed first."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any

from toolcrib.core.context import Ctx
from toolcrib.core.errors import Unavailable
from toolcrib.core.result import Result
from toolcrib.core.tool import EXEC, READ, WRITE, Decision, Param, Seconds, other_names, tool
from toolcrib.execution.command_policy import code_verdict, command_verdict
from toolcrib.execution.interpreters.programs import not_installed, toolchains
from toolcrib.execution.network_access import NetworkRequests
from toolcrib.execution.runs.outcome import RunResult
from toolcrib.execution.runs.runs import Runs
from toolcrib.files.paths import Workspace, WorkspacePath
from toolcrib.system.threads import in_thread, in_thread_if_large
from toolcrib.text.cleaner import one_line, printed
from toolcrib.tools.run import argument_adapters
from toolcrib.tools.run.argument_adapters import MAX_SECONDS
from toolcrib.tools.run.report import OutputFollower, report
from toolcrib.tools.run.runner_output import SuiteTotals
from toolcrib.tools.run.runners import NAMES, SuiteRunner, command_line, runner_for

DEFAULT_SECONDS = 600.0
MAX_FAILURES = 20
MAX_MESSAGE_CHARS = 1_500
MIN_MESSAGE_CHARS = 150
ABSENT = re.compile(r"^(\S*python[\d.]*): No module named (\w+)$", re.MULTILINE)
NONE = re.compile(r"Ran 0 tests|\bNo test(?: file)?s found")
NONE_BY_CODE = re.compile(r"no tests ran|\d deselected")
"""What pytest says of bad options too, and then ends with another code than 5."""
COUNTING = frozenset({"unittest", "node", "go", "cargo"})
"""Those whose success without a test counted has run none."""
NOT_STARTED = (126, 127)
"""Exit codes of a shell that could not start a program, or found none."""
CI = {"CI": "true", "FORCE_COLOR": "0", "CARGO_TERM_COLOR": "never"}


async def _verdict(arguments: Mapping[str, Any], ctx: Ctx) -> Decision | None:
    """The decision on a call; a command in the place of a runner is decided on as one."""
    runner = str(arguments.get("runner") or "").strip()
    if runner and runner.partition("::")[0].lower() not in NAMES:
        return await command_verdict({"command": runner, "cwd": arguments.get("path")}, ctx)
    return await code_verdict(arguments, ctx)


@tool(
    group="run",
    rights=READ | WRITE | EXEC,
    keywords=("pytest", "unittest", "jest", "vitest", "mocha", "go test", "cargo test", "ci"),
    aliases=("run_test", "test", "execute_tests", "run_unit_tests"),
    argument_aliases=other_names(path=("file", "file_path", "directory", "dir", "folder", "cwd")),
    destructive=True,
    seconds=MAX_SECONDS + 60,
    policy_check=_verdict,
    argument_adapter=argument_adapters.tests,
)
async def run_tests(
    path: Annotated[WorkspacePath | None, Param("File or folder.")] = None,
    runner: Annotated[
        str, Param("pytest, jest, go, …, or a command; else told from the files.")
    ] = "",
    timeout: Annotated[Seconds, Param(maximum=MAX_SECONDS)] = DEFAULT_SECONDS,  # noqa: ASYNC109 - of the run
    *,
    ctx: Ctx,
) -> Result:
    """Run the tests of the project and show what failed.

    Knows pytest, unittest, jest, vitest, mocha, node, go and cargo. Changed files stay, as
    one undoable step.
    """
    start = path or ctx.use(Workspace).start(ctx.session.directory)
    chosen = await in_thread(lambda _: runner_for(ctx, start, runner), ctx.deadline)
    tools = await in_thread(lambda _: toolchains(ctx), ctx.deadline)
    limit = timeout or DEFAULT_SECONDS
    async with OutputFollower(ctx) as follower:
        ran = await ctx.use(Runs).run(
            chosen.argv,
            ctx,
            tool=run_tests.name,
            cwd=chosen.cwd,
            seconds=limit,
            env={**tools.environment, **CI},
            readable=(*tools.readable, *chosen.readable),
            network=await ctx.use(NetworkRequests).of(ctx, None),
            on_output=follower,
        )
    totals = await in_thread_if_large(ran.stdout.size + ran.stderr.size, _totals, chosen, ran)
    _need_runner(chosen, totals, ran)
    passed = ran.exit_code == 0 and not totals.failed and not ran.timed_out and not ran.stopped
    facts = {
        **totals.to_json(),
        "runner": chosen.name,
        "command": list(chosen.argv),
        "other_runners": list(chosen.others),
        "success": passed,
    }
    return await report(
        ctx,
        run_tests.name,
        ran,
        follower.ring,
        limit=limit,
        lead=_lead(chosen, totals, ran, room=2 * ctx.budget(run_tests.name), passed=passed),
        facts=facts,
        quiet=bool(totals.count) and chosen.name != "command",
    )


def _need_runner(runner: SuiteRunner, totals: SuiteTotals, ran: RunResult) -> None:
    """A Python without the runner has run no test, so none failed.

    Raises:
        Unavailable: the runner is not installed.
    """
    absent = None if totals.count else ABSENT.search(ran.stderr.last(500))
    if absent:
        message = f"No tests were run: {absent[1]} has no {absent[2]}."
        raise Unavailable(
            message, hint=not_installed(absent[2]).hint, command=command_line(runner.argv)
        )
    if ran.exit_code in NOT_STARTED and not totals.count:
        words = one_line(f"{ran.stdout.last(500)} {ran.stderr.last(500)}", 300)
        raise Unavailable(
            f"No tests were run: the runner could not start (exit code {ran.exit_code}): {words}",
            hint="Install the program, or name another command as 'runner'.",
            command=command_line(runner.argv),
        )


def _totals(runner: SuiteRunner, ran: RunResult) -> SuiteTotals:
    if runner.understood is None:
        return _guessed(printed(f"{ran.stdout}\n{ran.stderr}"))
    both = runner.name in ("unittest", "cargo")
    text = f"{ran.stdout}\n{ran.stderr}" if both else str(ran.stdout)
    return runner.understood(printed(text))


def _guessed(text: str) -> SuiteTotals:
    """Of a command that runs some runner: whichever understands most."""
    from toolcrib.tools.run import runner_output
    from toolcrib.tools.run.runners import PARSERS

    parsers = dict.fromkeys([*PARSERS.values(), runner_output.summary])
    return max((understood(text) for understood in parsers), key=lambda t: t.count)


def _found_none(runner: SuiteRunner, totals: SuiteTotals, ran: RunResult) -> bool:
    """Whether a runner says that there were no tests, which some call success and some not."""
    if totals.count or totals.failures or ran.timed_out or ran.stopped:
        return False
    if ran.exit_code == 0 and runner.name in COUNTING:
        return True
    ends = f"{ran.stdout.last(500)}\n{ran.stderr.last(500)}"
    return bool(NONE.search(ends)) or (ran.exit_code == 5 and bool(NONE_BY_CODE.search(ends)))


def _lead(
    runner: SuiteRunner, totals: SuiteTotals, ran: RunResult, *, room: int, passed: bool
) -> str:
    """The counts, and each failure with its message, in about `room` characters."""
    counts = f"{totals.passed:,} passed, {totals.failed:,} failed, {totals.skipped:,} skipped"
    verdict = "PASSED" if passed else "FAILED"
    if _found_none(runner, totals, ran):
        verdict = "NO TESTS"
        counts = "none were found; 'path' takes their file or folder"
    elif not totals.count:
        counts = "no counts in the output"
    lines = [
        f"{verdict} ({runner.name}): {counts}, {ran.seconds:.1f} s",
        f"$ {command_line(runner.argv)}",
    ]
    if runner.others:
        named = ", ".join(f'runner="{name}"' for name in runner.others)
        lines.append(f"Not run, though its files are here too: {named}.")
    failures = totals.failures[:MAX_FAILURES]
    limit = min(MAX_MESSAGE_CHARS, max(room // max(len(failures), 1), MIN_MESSAGE_CHARS))
    for failure in failures:
        message = failure.message.strip()
        if len(message) > limit:
            message = f"{message[: limit // 3]}\n…\n{message[-limit * 2 // 3 :]}"
        lines += [f"--- {failure.name}", message] if message else [f"--- {failure.name}"]
    if len(totals.failures) > MAX_FAILURES:
        lines.append(f"... {len(totals.failures) - MAX_FAILURES:,} more failed")
    return "\n".join(lines)
