"""The person at the terminal: told about progress, and asked before a call goes on."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from toolcrib.core.context import Form, Progress, Question
from toolcrib.execution.jobs import Jobs
from toolcrib.surfaces.cli.form import filled
from toolcrib.surfaces.cli.screen import one_line, visible, width

if TYPE_CHECKING:
    from toolcrib.toolbox import Toolbox


# Jobs that end with the command that began them.


def tell_stopped(box: Toolbox) -> tuple[str, ...]:
    """Say on stderr that jobs are stopped with this process; their ids.

    Args:
        box: the toolbox, before it is closed.
    """
    running = box.use(Jobs).running
    if running:
        named = ", ".join(running[:3]) + (", ..." if len(running) > 3 else "")
        what = "1 job is" if len(running) == 1 else f"{len(running)} jobs are"
        sys.stdout.flush()
        print(
            f"toolcrib: {what} stopped now, with the command that began it: {named}. "
            "`toolcrib serve` or an MCP host keeps jobs running.",
            file=sys.stderr,
        )
    return running


YES = {"y", "yes"}
LINE_BYTES = 4_096


def is_there() -> bool:
    """Whether somebody can read a question and type an answer."""
    return sys.stdin.isatty() and sys.stderr.isatty()


async def ask(question: Question) -> bool | None:
    """Show what a call would do and wait for an answer; anything but yes is no."""
    _say(f"Allow {question.tool}? {visible(question.summary)}")
    _say(f"Asked because: {visible(question.reason)}.")
    return await confirm("Allow it this once?")


async def fill(form: Form) -> Mapping[str, Any] | None:
    """The fields of a form as the person fills them in; None where they do not."""
    return await filled(form, _read_line, _say)


async def notify(progress: Progress) -> None:
    """One line for each step."""
    done = "" if progress.done is None else f" {progress.done:g}"
    if done and progress.total:
        done = f"{done}/{progress.total:g}"
    _say(one_line(f"{progress.message}{done}", width() - 1))


async def confirm(question: str) -> bool:
    """Ask a yes-or-no question; no answer is no."""
    return (await answer(f"{question} [y/N] ")).lower() in YES


async def answer(question: str) -> str:
    """Ask for a line; an empty one is an answer too."""
    return (await _read_line(question) or "").strip()


async def _read_line(prompt: str) -> str | None:
    sys.stdout.flush()
    sys.stderr.write(prompt)
    sys.stderr.flush()
    return (await typed(LINE_BYTES)).decode(errors="replace") or None


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


async def typed(max_bytes: int) -> bytes:
    """What is typed, a line unless the terminal is set otherwise; b"" where it is gone.

    Unlike input() in a thread, it can be cancelled.
    """
    loop = asyncio.get_running_loop()
    ready = asyncio.Event()
    descriptor = sys.stdin.fileno()
    loop.add_reader(descriptor, ready.set)
    try:
        await ready.wait()
    finally:
        loop.remove_reader(descriptor)
    try:
        return os.read(descriptor, max_bytes)
    except OSError:
        return b""
