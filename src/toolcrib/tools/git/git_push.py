"""`git_push`: commits of this branch to a remote."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Annotated, Any

from toolcrib.core.context import Ctx
from toolcrib.core.errors import BadInput, Conflict, Denied, ToolError
from toolcrib.core.result import Result
from toolcrib.core.tool import NET, READ, SEND, Decision, Param, tool
from toolcrib.files.content.display import counted
from toolcrib.git.remotes import (
    SECONDS,
    RemoteAddress,
    RemoteConnection,
    connected,
    default_remote,
    remote_address,
    transfer,
)
from toolcrib.git.repository import Repository, open_repository, text_of
from toolcrib.git.revisions import branch_name
from toolcrib.text.cleaner import one_line

MAX_SUBJECTS = 5
DEFAULT_BRANCH = "HEAD"


@dataclass(frozen=True, slots=True)
class Push:
    """What is pushed where: the branch here, its name there, and what is known to be there."""

    remote: str
    address: RemoteAddress
    branch: str
    there: str
    commit: str
    known: str
    count: int
    subjects: tuple[str, ...]


async def planned(repository: Repository, remote: str, branch: str, *, delete: bool) -> Push:
    """Work out what a push would do."""
    current = (await repository.head()).branch
    name = branch_name(branch or current) if branch or current else ""
    if not name:
        raise Conflict("No branch is checked out.", hint="Name the branch to push.")
    to = remote or await default_remote(repository, name)
    address = await remote_address(repository, to, push=True)
    followed = repository.value(f"branch.{name}.merge").removeprefix("refs/heads/")
    same = repository.value(f"branch.{name}.remote") == to
    there = name if delete or not (followed and same) else followed
    commit = "" if delete else await repository.commit(f"refs/heads/{name}")
    known = await repository.line("rev-parse", "-q", "--verify", f"refs/remotes/{to}/{there}")
    listed: list[str] = []
    if commit:
        without = [f"^{known}"] if known else ["--not", f"--remotes={to}"]
        output = await repository.read("log", "--format=%s", commit, *without, "--")
        listed = text_of(output).splitlines()
    subjects = tuple(one_line(line, 80) for line in listed[:MAX_SUBJECTS])
    return Push(to, address, name, there, commit, known, len(listed), subjects)


async def _ask(arguments: Mapping[str, Any], ctx: Ctx) -> Decision | None:
    given = {name: arguments.get(name) for name in ("remote", "branch", "force", "delete")}
    with suppress(ToolError):
        async with open_repository(ctx) as repository:
            delete = bool(given["delete"])
            push = await planned(
                repository, given["remote"] or "", given["branch"] or "", delete=delete
            )
            where = f"{push.there} of {push.remote} ({push.address.display})"
            if delete:
                return Decision("ask", f"it deletes {where}")
            verb = "forces" if given["force"] else "pushes"
            what = f"{counted(push.count, 'commit')} to {where}: {'; '.join(push.subjects)}"
            return Decision("ask", f"it {verb} {what}")
    return None


@tool(
    group="git",
    rights=NET | READ | SEND,
    keywords=("upload", "publish", "send commits", "origin"),
    argument_aliases={"branch_name": "branch"},
    argument_adapter=lambda given: given.pop("setupstream", None) and None,
    seconds=SECONDS,
    policy_check=_ask,
)
async def git_push(
    remote: str = "",
    branch: str = "",
    force: Annotated[bool, Param("With lease.")] = False,
    delete: Annotated[bool, Param("The remote's branch.")] = False,
    *,
    ctx: Ctx,
) -> Result:
    """Push a branch to a remote, after asking the user.

    Without branch: the current one, which follows the remote's from then on. force only replaces
    what was fetched; protected branches (git.protected) are never forced or deleted.
    """
    async with open_repository(ctx) as repository:
        push = await planned(repository, remote, branch, delete=delete)
        async with connected(ctx, push.address, trusted=repository.is_trusted) as connection:
            if force or delete:
                await _refuse_protected(repository, connection, push)
            args = ["--porcelain", "--no-verify", *connection.receive]
            if repository.is_trusted:
                args.remove("--no-verify")
            if force:
                if not push.known:
                    raise BadInput(
                        f"What {push.remote} has of {push.there} is not known here.",
                        hint="git_fetch first, look at it, then force.",
                    )
                args.append(f"--force-with-lease=refs/heads/{push.there}:{push.known}")
            follow = not delete and not repository.value(f"branch.{push.branch}.merge")
            args += ["--set-upstream"] * follow
            source = "" if delete else f"refs/heads/{push.branch}"
            spec = f"{source}:refs/heads/{push.there}"
            output = await transfer(repository, connection, "push", *args, push.remote, spec)
        await repository.save_branch_settings()
    where = f"{push.there} of {push.remote} ({push.address.display})"
    if delete:
        text = f"Deleted {where}."
    elif "[up to date]" in text_of(output):
        text = f"{where} has all of it already."
    else:
        text = f"Pushed {counted(push.count, 'commit')} to {where}, now at {push.commit[:8]}."
    note = f" {push.branch} follows it now." if follow else ""
    if repository.confinement is not None and repository.has_hook("pre-push"):
        note += " Its hook pre-push did not run: what talks to a remote stays outside the sandbox."
    return Result(text=text + note, data={"remote": push.remote, "branch": push.there})


async def _refuse_protected(
    repository: Repository, connection: RemoteConnection, push: Push
) -> None:
    """Refuse to force or delete what the user protects."""
    globs = repository.ctx.config.git.protected
    found = any(fnmatchcase(push.there, glob) for glob in globs if glob != DEFAULT_BRANCH)
    if not found and DEFAULT_BRANCH in globs:
        args = ["--symref", *connection.upload, push.remote, "HEAD"]
        listed = text_of(await transfer(repository, connection, "ls-remote", *args))
        found = f"ref: refs/heads/{push.there}\t" in listed
    if found:
        raise Denied(
            f"{push.there} of {push.remote} is protected: it is neither forced nor deleted.",
            hint="The user decides which are (git.protected). A new commit can undo an old one: "
            "git_pick with revert=true.",
        )
