"""The result of the three terminal tools: the screen, and the state of the program."""

from __future__ import annotations

import time
from typing import Literal

from toolcrib.core.context import Ctx, room_in
from toolcrib.core.errors import BadInput
from toolcrib.core.result import Next, Result
from toolcrib.execution.terminals.terminals import Terminal
from toolcrib.system.threads import in_thread_if_large
from toolcrib.text.display import counted
from toolcrib.text.truncation import head_and_tail
from toolcrib.tools.run.report import served_lines, source_of

WaitFor = Literal["idle", "text", "exit", "none"]

ANSWER_SECONDS = 5.0
"""Seconds that are kept for the answer, of the time in which the caller must have one."""
HEAD_SHARE = 0.1
"""Of the room for what scrolled away and the screen: the newest stands below."""
FIRST_SECONDS = 1.0
"""After so long without any output a program is taken to say nothing."""


async def wait_for(
    ctx: Ctx, terminal: Terminal, wait: WaitFor, text: str, seconds: float, since: int, old: int
) -> bool:
    """Wait as a call asks for; whether it came.

    Args:
        ctx: the call.
        terminal: which.
        wait: what for; `text` where a text is given.
        text: as it stands on the screen.
        seconds: at most; less where the caller must have an answer before.
        since: the line from which `text` counts.
        old: bytes of output that were there before; negative where new output is not expected.
    """
    seconds = in_time(ctx, seconds)
    if text:
        return await terminal.wait("text", text, seconds, since)
    if wait == "idle" and old >= 0:
        return await terminal.settle(old, FIRST_SECONDS, seconds)
    return await terminal.wait(wait, "", seconds, since)


def in_time(ctx: Ctx, seconds: float) -> float:
    """How long a wait may be at most, so that its answer still reaches the caller itself."""
    seconds = ctx.remaining(seconds)
    if ctx.answer_by is None:
        return seconds
    left = max(ctx.answer_by - time.monotonic(), 0)
    return min(seconds, left - min(ANSWER_SECONDS, left / 2))


async def screen_result(
    ctx: Ctx, terminal: Terminal, tool: str, *, came: bool = True, lines: int = 0
) -> Result:
    """The screen and what scrolled away since it was last shown.

    Args:
        ctx: the call.
        terminal: which.
        tool: who answers, for its budget.
        came: whether what the call waited for happened.
        lines: how many of the lines that scrolled away are wanted in any case.
    """
    grid = terminal.screen.grid
    above = grid.history(min(terminal.read_to, grid.scrolled - lines))
    terminal.read_to = grid.scrolled
    screen = "\n".join(grid.lines()).rstrip()
    body = "\n".join([*above, screen] if above and not grid.full_screen else [screen])
    room = room_in(ctx.budget(tool))
    head, tail, (start, end) = await in_thread_if_large(
        len(body), head_and_tail, body, room, HEAD_SHARE
    )
    if start < end:
        count = body.count("\n", start, end) + 1
        body = f"{head.rstrip()}\n[{counted(count, 'line')} left out]\n{tail.lstrip()}"
    served = served_lines(ctx, terminal.running) if terminal.outcome is None else []
    text = "\n".join([_state(terminal, came=came), *served, body, *_after(terminal)]).rstrip()
    follow = Next("read_job", {"id": terminal.id, "wait": "none"}) if start < end else None
    return Result(
        text,
        _facts(terminal, came=came),
        truncated=start < end,
        next=follow,
        source=source_of(terminal.running.network),
    )


def check_wait(wait: WaitFor, text: str) -> None:
    """Refuse a wait for a text that is not given."""
    if wait == "text" and not text:
        raise BadInput("wait=text needs 'text': what the screen should show.")


def _state(terminal: Terminal, *, came: bool) -> str:
    name = f"Terminal {terminal.id} ({terminal.title})"
    if terminal.outcome is not None:
        why = f", stopped: {terminal.stopped}" if terminal.stopped else ""
        return f"{name}: ended with exit code {terminal.exit_code}{why}."
    row, column = terminal.screen.grid.row + 1, terminal.screen.grid.column + 1
    waiting = "" if came else "; what was waited for has not come yet"
    level = "" if terminal.level == "strong" else f" [sandbox: {terminal.level}]"
    return f"{name}: running, cursor at {row}:{column}{waiting}.{level}"


def _after(terminal: Terminal) -> list[str]:
    """What became of the files, once the program is over."""
    outcome = terminal.outcome
    if outcome is None or outcome.state == "none":
        return [] if outcome is None else list(outcome.notes)
    files = counted(len(outcome.files) + outcome.more, "file")
    changed = f"[{files} changed, step {outcome.step} of the undo log]"
    return [changed, *outcome.notes]


def _facts(terminal: Terminal, *, came: bool) -> dict[str, object]:
    grid = terminal.screen.grid
    return {
        "id": terminal.id,
        "running": terminal.outcome is None,
        "exit_code": terminal.exit_code,
        "came": came,
        "title": terminal.screen.title,
        "full_screen": grid.full_screen,
        "cursor": [grid.row + 1, grid.column + 1],
        "screen": grid.lines(),
        "scrolled": grid.scrolled,
        "ports": terminal.running.addresses,
        "sandbox": {"level": terminal.level},
        "changes": terminal.outcome.to_json() if terminal.outcome is not None else None,
    }
