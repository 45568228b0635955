"""`replace_in_files`: one pattern, many files."""

from __future__ import annotations

import time
from typing import Annotated

from toolcrib.core.context import Ctx
from toolcrib.core.errors import NoResults
from toolcrib.core.result import Result
from toolcrib.core.tool import WRITE, Count, Param, other_names, tool
from toolcrib.files.changes.step import Step
from toolcrib.files.edits.pattern_replacement import (
    SECONDS,
    FileReplacement,
    FoundReplacements,
    PatternReplacement,
    find_replacements,
)
from toolcrib.files.edits.report import ChangeReport, carry_out, render_reports
from toolcrib.files.edits.text_loader import need_size
from toolcrib.files.paths import Workspace, WritablePath
from toolcrib.system.threads import Checkpoint, in_thread
from toolcrib.text.display import counted, printable
from toolcrib.tools.files.argument_adapters import adapt_replacement

PARTIAL_NOTE = "the time of a dry run was up; path and glob narrow it"
MAX_DIFF_LINES = 60
MAX_LISTED_FILES = 40
MAX_NAMED = 3
"""Paths of a reason that are named where files were left out."""


@tool(
    group="files",
    rights=WRITE,
    keywords=("substitute", "rename", "sed", "refactor", "everywhere", "bulk"),
    aliases=("find_and_replace", "replace_all", "bulk_replace", "replace_in_folder"),
    argument_aliases=other_names(
        pattern=("search", "find", "old", "query"), replacement=("replace", "replace_with")
    ),
    destructive=True,
    argument_adapter=adapt_replacement,
)
async def replace_in_files(
    pattern: Annotated[str, Param("RE2 expression.")],
    replacement: Annotated[str, Param(r"Text; \1 is the first group.")],
    glob: Annotated[list[str] | None, Param("Only these files, like *.py.")] = None,
    path: Annotated[WritablePath | None, Param("Folder or file.")] = None,
    literal: Annotated[bool, Param("Pattern is plain text.")] = False,
    ignore_case: Annotated[bool, Param("Any case.")] = False,
    dry_run: Annotated[bool, Param("Only show; false changes the files.")] = True,
    depth: Annotated[Count | None, Param("Levels of folders.", unlisted=True)] = None,
    *,
    ctx: Ctx,
) -> Result:
    """Replace a pattern in many files; shows what would change first.

    Send the same call with `dry_run=false` to make the change, all of it or nothing. Hidden,
    ignored, protected and binary files are left alone. For one place use `edit_file`.
    """
    engine = PatternReplacement(pattern, replacement, literal=literal, ignore_case=ignore_case)
    folder = path or ctx.use(Workspace).start(ctx.session.directory)
    ctx.session.taint(private=True)
    globs, until = _globs(glob), time.monotonic() + SECONDS if dry_run else None
    found = await in_thread(
        lambda check: find_replacements(
            folder, globs, engine, replace_in_files, ctx, check, until=until, depth=depth
        ),
        ctx.deadline,
    )
    if not found.changes:
        so_far = f" so far: {PARTIAL_NOTE}" if found.partly else ""
        raise NoResults(
            f"Nothing to replace in {folder.display}{_left_out(found)}{so_far}.",
            hint="search_files shows what there is. Case matters unless ignore_case=true.",
        )
    step = Step(replace_in_files.name)

    def work(check: Checkpoint) -> tuple[list[ChangeReport], str]:
        reports = [_planned(step, change, check) for change in found.changes]
        return reports, _summary(found, reports, engine.note, dry_run=dry_run)

    reports, text = await in_thread(work, ctx.deadline)
    if dry_run:
        data = {
            "dry_run": True,
            "partly": found.partly,
            "left_out": _left_out_data(found),
            "files": [report.to_json() for report in reports],
        }
        return Result(text=text, data=data, private=True)
    return await carry_out(step, reports, text, ctx)


def _globs(given: list[str] | None) -> list[str]:
    """The globs; an ending alone (`.py`, `py`) means files that end so."""
    plain = [glob for glob in given or () if glob.strip()]
    return [f"*{glob}" if glob.startswith(".") and "/" not in glob else glob for glob in plain]


def _planned(step: Step, change: FileReplacement, check: Checkpoint) -> ChangeReport:
    check()
    loaded, splices = change.loaded, change.splices
    data = need_size(loaded.path, loaded.faithful.spliced(splices))
    step.write(loaded.path, data, expected=loaded.fingerprint)
    count = len(splices)
    line = f"{change.display}: {counted(count, 'match', 'matches')}"
    after = loaded.faithful.spliced_text(splices)
    return ChangeReport(
        change.display, line, loaded.text, after, [], {"replacements": count}, decoded=True
    )


def _summary(
    found: FoundReplacements, reports: list[ChangeReport], note: str, *, dry_run: bool
) -> str:
    matches = sum(len(change.splices) for change in found.changes)
    verb = "Would change" if dry_run else "Changed"
    files = counted(len(reports), "file")
    lines = [f"{verb} {counted(matches, 'match', 'matches')} in {files}{_left_out(found)}."]
    each = max(MAX_DIFF_LINES // len(reports), 4)
    for index, one in enumerate(reports[:MAX_LISTED_FILES]):
        lines.append(render_reports([one], each) if index < MAX_DIFF_LINES // each else one.line)
    if len(reports) > MAX_LISTED_FILES:
        lines.append(f"[{len(reports) - MAX_LISTED_FILES:,} more files]")
    if found.partly:
        lines.append(f"More may fit: {PARTIAL_NOTE}.")
    if note:
        lines.append(note)
    if dry_run:
        lines.append("Nothing is changed yet: dry_run=false does it.")
    return "\n".join(lines)


def _left_out(found: FoundReplacements) -> str:
    if not found.left_out:
        return ""
    return f" (left out: {'; '.join(_named(*item) for item in found.left_out.items())})"


def _named(reason: str, paths: list[str]) -> str:
    named = ", ".join(map(printable, paths[:MAX_NAMED]))
    return f"{len(paths):,} {reason}: {named}{', …' if len(paths) > MAX_NAMED else ''}"


def _left_out_data(found: FoundReplacements) -> dict[str, object]:
    return {
        reason: {"count": len(paths), "paths": paths[:MAX_LISTED_FILES]}
        for reason, paths in found.left_out.items()
    }
