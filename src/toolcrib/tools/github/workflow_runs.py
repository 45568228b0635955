"""Runs of workflows: listed, and one with the lines of its log that say why it failed."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from toolcrib.core.errors import ToolError
from toolcrib.text.cleaner import one_line, printed
from toolcrib.tools.github.authors import Authors
from toolcrib.tools.github.issues import LEFT_OUT
from toolcrib.tools.github.repository import GitHubRepository
from toolcrib.tools.github.view import ReadOptions, View, day, login

FAILED = frozenset({"failure", "timed_out", "startup_failure", "cancelled"})
MAX_JOBS_WITH_LOGS = 3
LINES_BEFORE = 12
MAX_LOG_LINES = 60
LAST_LINES = 30
_TIME = re.compile(r"\A\ufeff?\d{4}-\d\d-\d\dT[\d:.]+Z ?")
_ERROR = "##[error]"


async def runs(request: ReadOptions) -> View:
    """Runs of the workflows of a repository, the newest first."""
    repository = await request.open_repository()
    page = await repository.page(
        "actions",
        "runs",
        what="workflows",
        number=request.page,
        limit=request.limit,
        params={"branch": request.ref},
        inside="workflow_runs",
    )
    view = View.of(repository, "actions")
    view.head(f"runs of {repository.name}", page, request)
    view.lines += [_line(run) for run in page.items]
    view.data["items"] = [{"id": r.get("id"), "state": _state(r)} for r in page.items]
    return view


def _state(item: Mapping[str, Any]) -> str:
    return str(item.get("conclusion") or item.get("status") or "")


def _line(run: Mapping[str, Any]) -> str:
    where = f"{one_line(run.get('head_branch'), 100)} {run.get('event')}"
    about = one_line(run.get("display_title"), 120)
    name = one_line(run.get("name"), 80)
    return f"{run.get('id')} {_state(run)} {name} ({where}) {day(run.get('created_at'))} {about}"


async def run(request: ReadOptions) -> View:
    """One run with its jobs, and of those that failed the lines that say why."""
    repository = await request.open_repository()
    number = request.numbered("run, which kind=runs lists")
    found = (await repository.get("actions", "runs", number, what=f"run {number}")).json()
    jobs = await repository.page(
        "actions", "runs", number, "jobs", what=f"run {number}", inside="jobs"
    )
    view = View.of(repository, f"actions/runs/{number}")
    view.lines.append(_line(found))
    by_name = login(found, "triggering_actor") or login(found, "actor")
    lockdown = request.ctx.config.github.lockdown
    is_visible = not lockdown or await Authors(repository).may_speak(by_name)
    logged = 0
    for job in jobs.items:
        steps = [s for s in job.get("steps") or [] if _state(s) in FAILED]
        names = ", ".join(one_line(s.get("name"), 100) for s in steps)
        failed = f" at: {names}" if names else ""
        view.lines.append(f"job {one_line(job.get('name'), 100)}: {_state(job)}{failed}")
        if _state(job) not in FAILED or logged >= MAX_JOBS_WITH_LOGS:
            continue
        logged += 1
        view.lines += await _log(repository, job) if is_visible else [f"log {LEFT_OUT}"]
    view.data = {"id": number, "state": _state(found)}
    view.data["jobs"] = [{"name": j.get("name"), "state": _state(j)} for j in jobs.items]
    return view


async def _log(repository: GitHubRepository, job: Mapping[str, Any]) -> list[str]:
    try:
        path = repository.path("actions", "jobs", job.get("id"), "logs")
        text, is_whole = await repository.client.download(path)
    except ToolError as error:
        return [f"(its log cannot be read: {one_line(error.message, 300)})"]
    lines = failing_lines(text)
    return lines if is_whole else [*lines, "(the log is longer than could be read)"]


def failing_lines(log: str) -> list[str]:
    """The lines of a log before and at its errors; the last ones where none is marked."""
    lines = [_TIME.sub("", line.rstrip()) for line in printed(log).split("\n")]
    while lines and not lines[-1]:
        lines.pop()
    marked = [number for number, line in enumerate(lines) if line.startswith(_ERROR)]
    if not marked:
        return lines[-LAST_LINES:]
    wanted: dict[int, None] = {}
    for number in reversed(marked):
        span = range(max(number - LINES_BEFORE, 0), number + 1)
        if len(wanted.keys() | set(span)) > MAX_LOG_LINES:
            break
        wanted |= dict.fromkeys(span)
    displayed, before = [], -1
    for number in sorted(wanted):
        if number != before + 1 and before >= 0:
            displayed.append("…")
        displayed.append(lines[number].removeprefix(_ERROR))
        before = number
    return displayed
