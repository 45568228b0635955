"""`replace_in_files`: one pattern, many files."""

from __future__ import annotations

import time
from typing import Annotated

from toolcrib.core.call import Result
from toolcrib.core.context import Ctx
from toolcrib.core.errors import NoResults
from toolcrib.core.params import Param
from toolcrib.core.tool import WRITE, tool
from toolcrib.files.changes.step import Step
from toolcrib.files.edits.files.collection import SECONDS, Change, Gathered, gather
from toolcrib.files.edits.files.loader import need_size
from toolcrib.files.edits.files.report import Told, carry_out, shown
from toolcrib.files.edits.pattern_replacement import Replacing
from toolcrib.files.paths import Workspace, WritablePath
from toolcrib.system.threads import Checkpoint, in_thread

PARTLY = "the time of a dry run was up; path and glob narrow it"
LINES = 60
FILES_SHOWN = 40


@tool(
    group="files",
    rights=WRITE,
    keywords=("substitute", "rename", "sed", "refactor", "everywhere", "bulk"),
    aliases=(
        "find_replace_all",
        "find_and_replace",
        "replace_all",
        "bulk_replace",
        "replace_in_folder",
        "fs_replace",
        "sed",
    ),
    argument_aliases={
        "search": "pattern",
        "find": "pattern",
        "old": "pattern",
        "query": "pattern",
        "replace": "replacement",
        "replace_with": "replacement",
        "new": "replacement",
        "directory": "path",
        "folder": "path",
        "files": "glob",
        "include": "glob",
        "file_pattern": "glob",
        "extensions": "glob",
        "preview": "dry_run",
        "fixed_strings": "literal",
    },
    destructive=True,
)
async def replace_in_files(
    pattern: Annotated[str, Param("RE2 expression.")],
    replacement: Annotated[str, Param(r"Text; \1 is the first group.")],
    glob: Annotated[list[str] | None, Param("Only these files, like *.py.")] = None,
    path: Annotated[WritablePath | None, Param("Folder or file.")] = None,
    literal: Annotated[bool, Param("Pattern is plain text.")] = False,
    ignore_case: Annotated[bool, Param("Any case.")] = False,
    dry_run: Annotated[bool, Param("Only show; false changes the files.")] = True,
    *,
    ctx: Ctx,
) -> Result:
    """Replace a pattern in many files; shows what would change first.

    Send the same call with `dry_run=false` to make the change, all of it or nothing. Hidden,
    ignored, protected and binary files are left alone. For one place use `edit_file`.
    """
    engine = Replacing(pattern, replacement, literal=literal, ignore_case=ignore_case)
    folder = path or ctx.use(Workspace).start(ctx.session.directory)
    ctx.session.taint(private=True)
    globs, until = _globs(glob), time.monotonic() + SECONDS if dry_run else None
    found = await in_thread(
        lambda check: gather(folder, globs, engine, replace_in_files, ctx, check, until=until),
        ctx.deadline,
    )
    if not found.changes:
        so_far = f" so far: {PARTLY}" if found.partly else ""
        raise NoResults(
            f"Nothing to replace in {folder.display}{_left_out(found)}{so_far}.",
            hint="search_files shows what there is. Case matters unless ignore_case=true.",
        )
    plan = Step(replace_in_files.name)

    def work(check: Checkpoint) -> tuple[list[Told], str]:
        told = [_planned(plan, change, check) for change in found.changes]
        return told, _summary(found, told, dry_run=dry_run)

    told, text = await in_thread(work, ctx.deadline)
    if dry_run:
        data = {
            "dry_run": True,
            "partly": found.partly,
            "files": [{"path": t.path, **t.data} for t in told],
        }
        return Result(text=text, data=data, private=True)
    return await carry_out(plan, told, text, ctx)


def _globs(given: list[str] | None) -> list[str]:
    """The globs; an ending alone (`.py`, `py`) means files that end so."""
    plain = [glob for glob in given or () if glob.strip()]
    return [f"*{glob}" if glob.startswith(".") and "/" not in glob else glob for glob in plain]


def _planned(plan: Step, change: Change, check: Checkpoint) -> Told:
    check()
    loaded, splices = change.loaded, change.splices
    data = need_size(loaded.path, loaded.faithful.spliced(splices))
    plan.write(loaded.path, data, expected=loaded.fingerprint)
    count = len(splices)
    line = f"{change.display}: {count:,} {'match' if count == 1 else 'matches'}"
    after = loaded.faithful.spliced_text(splices)
    return Told(change.display, line, loaded.text, after, [], {"replacements": count})


def _summary(found: Gathered, told: list[Told], *, dry_run: bool) -> str:
    matches = sum(len(change.splices) for change in found.changes)
    files = "1 file" if len(told) == 1 else f"{len(told):,} files"
    places = "1 match" if matches == 1 else f"{matches:,} matches"
    verb = "Would change" if dry_run else "Changed"
    lines = [f"{verb} {places} in {files}{_left_out(found)}."]
    each = max(LINES // len(told), 4)
    for index, one in enumerate(told[:FILES_SHOWN]):
        lines.append(shown([one], each) if index < LINES // each else one.line)
    if len(told) > FILES_SHOWN:
        lines.append(f"[{len(told) - FILES_SHOWN:,} more files]")
    if found.partly:
        lines.append(f"More may fit: {PARTLY}.")
    if dry_run:
        lines.append("Nothing is changed yet: dry_run=false does it.")
    return "\n".join(lines)


def _left_out(found: Gathered) -> str:
    if not found.left_out:
        return ""
    shown_reasons = ", ".join(f"{count:,} {reason}" for reason, count in found.left_out.items())
    return f" (left out: {shown_reasons})"
