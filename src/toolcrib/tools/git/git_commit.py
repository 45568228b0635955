"""`git_commit`: a commit of what is staged."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from typing import Annotated, Any

from toolcrib.core.context import Ctx
from toolcrib.core.errors import BadInput, Conflict, ToolError
from toolcrib.core.result import Result
from toolcrib.core.tool import READ, WRITE, Decision, Param, tool
from toolcrib.git.contents import marks_in, not_run, secrets_in, stage, staged_patch
from toolcrib.git.failures import NOTHING_TO_COMMIT
from toolcrib.git.places import NAMES, RepositoryFolder
from toolcrib.git.precautions import ask_about
from toolcrib.git.repository import Repository, open_repository, text_of
from toolcrib.git.status import status_of
from toolcrib.git.steps import git_step
from toolcrib.text.display import printable, some_of
from toolcrib.text.line_breaks import with_line_breaks

MAX_NAMES = 5


async def _ask_about_secrets(arguments: Mapping[str, Any], ctx: Ctx) -> Decision | None:
    with suppress(ToolError):
        async with open_repository(ctx, arguments.get("repo")) as repository:
            patch = await staged_patch(repository, all_tracked=bool(arguments.get("all")))
            found = secrets_in(patch)
            if found:
                what = some_of(found, 5)
                return Decision("ask", f"it would commit what looks like a secret: {what}")
    return await ask_about(ctx, arguments, _no_names, arguments.get("repo"))


async def _no_names(repository: Repository, arguments: Mapping[str, Any]) -> list[str]:
    """A commit writes files only where it ends a merge before which changes were put aside."""
    del repository, arguments
    return []


async def _what_to_add(repository: Repository) -> str:
    """What to do where nothing is staged, by the names of what is changed."""
    files = [f for f in (await status_of(repository)).files if not repository.is_hidden(f.name)]
    new = [
        printable(repository.display(file.name.rstrip("/"))) for file in files if file.is_untracked
    ]
    changed = [printable(repository.display(file.name)) for file in files if not file.is_untracked]
    parts = []
    if new:
        listed = json.dumps(new[:MAX_NAMES], ensure_ascii=False)
        more = f" and {len(new) - MAX_NAMES} more" if len(new) > MAX_NAMES else ""
        parts.append(f"New files are first added, by git_add with paths={listed}{more}.")
    if changed:
        parts.append(f"all=true commits the changes of {some_of(changed, MAX_NAMES)}.")
    return " ".join(parts) or "Nothing is changed since the last commit; git_log shows it."


@tool(
    group="git",
    rights=READ | WRITE,
    keywords=("save", "record", "check in", "amend"),
    argument_aliases={
        **NAMES,
        "msg": "message",
        "m": "message",
        "add_all": "all",
        "stage_all": "all",
    },
    policy_check=_ask_about_secrets,
)
async def git_commit(
    message: str = "",
    all: Annotated[bool, Param("Stage known files.")] = False,  # noqa: A002
    amend: Annotated[bool, Param("Replace the last one.")] = False,
    repo: RepositoryFolder = None,
    *,
    ctx: Ctx,
) -> Result:
    """Commit what is staged.

    Marks of conflicts are refused, and the user is asked about what looks like a secret. Hooks and
    signing run only in repositories of git.trusted.
    """
    if not message.strip() and not amend:
        raise BadInput("A commit needs a message.", hint="Say in message what changed and why.")
    async with open_repository(ctx, repo) as repository:
        status = await status_of(repository, untracked="no")
        unmerged = [file.name for file in status.unmerged]
        if unmerged and not all:
            raise Conflict(
                f"Still in conflict: {some_of(unmerged, 5)}.",
                hint="git_conflicts shows the sides and takes a choice.",
            )
        notes: list[str] = []
        async with git_step(repository, git_commit.name, files=False):
            if all:
                notes += (await stage(repository, untracked=False)).notes
            marked = marks_in(await staged_patch(repository))
            if marked:
                raise Conflict(
                    f"Marks of a conflict (<<<<<<<) are staged in {some_of(marked, 5)}.",
                    hint="Edit the file and git_add it again.",
                )
            args = ["commit", "--no-status"] + ["--amend"] * amend
            args += ["-F", "-"] if message.strip() else ["--no-edit"]
            try:
                await repository.run(
                    *args, stdin=with_line_breaks(message).encode("utf-8", "replace")
                )
            except Conflict as error:
                if error.message == NOTHING_TO_COMMIT:
                    error.hint = await _what_to_add(repository)
                raise
        text = await repository.read("show", "--no-patch", "--format=%h %s", "HEAD")
        stat = await repository.read(
            "diff-tree", "-M", "--root", "--shortstat", "--no-commit-id", "HEAD"
        )
        head = await repository.head()
        notes += not_run(repository)
    lines = [f"[{head.name}] {text_of(text).strip()}", text_of(stat).strip(), *notes]
    return Result(
        text="\n".join(filter(None, lines)), data={"commit": head.commit, "branch": head.branch}
    )
