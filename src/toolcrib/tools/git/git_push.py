"""`git_push`: commits of this branch to a remote."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Annotated, Any

from toolcrib.core.context import Ctx
from toolcrib.core.errors import BadInput, Conflict, Denied, ToolError
from toolcrib.core.result import Result
from toolcrib.core.tool import NET, READ, SEND, Decision, Param, tool
from toolcrib.git.places import NAMES, RepositoryFolder
from toolcrib.git.remotes import (
    SECONDS,
    RemoteAddress,
    RemoteConnection,
    connected,
    default_remote,
    noted_before,
    remote_address,
    transfer,
)
from toolcrib.git.repository import Repository, lines_of, open_repository, text_of
from toolcrib.git.revisions import branch_name
from toolcrib.text.cleaner import one_line
from toolcrib.text.display import counted

MAX_SUBJECTS = 5
DEFAULT_BRANCH = "HEAD"


@dataclass(frozen=True, slots=True)
class Push:
    """What is pushed where: the branch here, its name there, and what is known to be there.

    `replaced` are commits there that the pushed ones do not come after, as far as is known.
    """

    remote: str
    address: RemoteAddress
    branch: str
    there: str
    commit: str
    known: str
    count: int
    subjects: tuple[str, ...]
    replaced: tuple[str, ...]

    @property
    def judged(self) -> str:
        """What a person is asked about: this commit (or none, to delete), and what it replaces."""
        return f"{self.commit} {self.known} {self.count} {self.there} {self.address.url}"

    @property
    def where(self) -> str:
        """The branch there, in words."""
        return f"{self.there} of {self.remote} ({self.address.display})"


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
    known = await repository.hash_of(f"refs/remotes/{to}/{there}")
    listed, replaced = [], []
    if commit:
        without = [f"^{known}"] if known else ["--not", f"--remotes={to}"]
        listed = await _subjects(repository, commit, *without)
        replaced = await _subjects(repository, known, f"^{commit}") if known else []
    return Push(
        to,
        address,
        name,
        there,
        commit,
        known,
        len(listed),
        tuple(listed[:MAX_SUBJECTS]),
        tuple(replaced),
    )


async def _subjects(repository: Repository, *commits: str) -> list[str]:
    output = await repository.read("log", "--format=%s", *commits, "--")
    return [one_line(line, 80) for line in lines_of(output)]


async def _ask(arguments: Mapping[str, Any], ctx: Ctx) -> Decision | None:
    """Ask about what is sent where; what would be refused is so without a question."""
    delete, force = bool(arguments.get("delete")), bool(arguments.get("force"))
    remote, branch = arguments.get("remote") or "", arguments.get("branch") or ""
    async with open_repository(ctx, arguments.get("repo")) as repository:
        push = await planned(repository, remote, branch, delete=delete)
        if (delete or force) and await _is_known_as_protected(repository, push):
            raise _protected(push)
    if force and not push.known:
        raise BadInput(
            f"What {push.remote} has of {push.there} is not known here.",
            hint="git_fetch first, look at it, then force.",
        )
    if delete:
        return Decision("ask", f"it deletes {push.where}", judged=push.judged)
    verb = "forces" if force else "pushes"
    what = f"{counted(push.count, 'commit') if push.count else 'no new commit'} to {push.where}"
    what += f": {'; '.join(push.subjects)}" if push.subjects else ""
    what += f", up to {push.commit[:12]}"
    if force and push.replaced:
        replaced = "; ".join(push.replaced[:MAX_SUBJECTS])
        what += f"; there it replaces {counted(len(push.replaced), 'commit')}: {replaced}"
    sent = push.address.link(f"refs/heads/{push.there}")
    return Decision("ask", f"it {verb} {what}", urls=(sent,), judged=push.judged)


@tool(
    group="git",
    rights=NET | READ | SEND,
    keywords=("upload", "publish", "send commits", "origin"),
    argument_aliases={**NAMES, "branch_name": "branch"},
    argument_adapter=lambda given: given.pop("setupstream", None) and None,
    seconds=SECONDS,
    policy_check=_ask,
)
async def git_push(
    remote: str = "",
    branch: str = "",
    force: Annotated[bool, Param("With lease.")] = False,
    delete: Annotated[bool, Param("The remote's branch.")] = False,
    repo: RepositoryFolder = None,
    *,
    ctx: Ctx,
) -> Result:
    """Push a branch to a remote, after asking the user.

    Without branch: the current one, which follows the remote's from then on. force only replaces
    what was fetched; protected branches (git.protected) are never forced or deleted.
    """
    async with open_repository(ctx, repo) as repository:
        push = await planned(repository, remote, branch, delete=delete)
        if push.judged != ctx.judged:
            raise Conflict(
                f"{push.branch} or its remote changed while the push was judged.",
                hint="Look at git_log, then push again.",
            )
        async with connected(ctx, push.address, trusted=repository.is_trusted) as connection:
            if force or delete:
                await _refuse_protected(repository, connection, push)
            args = ["--porcelain", "--no-verify", *connection.receive]
            if repository.is_trusted:
                args.remove("--no-verify")
            if force:
                args.append(f"--force-with-lease=refs/heads/{push.there}:{push.known}")
            if not delete:
                await _refuse_more(repository, connection, push)
            # The commit itself: a job may move the branch meanwhile.
            spec = f"{push.commit}:refs/heads/{push.there}"
            output = await transfer(repository, connection, "push", *args, push.remote, spec)
        follows = "" if delete else await _follow(repository, push)
        await repository.save_branch_settings()
    where = push.where
    if delete:
        text = f"Deleted {where}."
    elif "[up to date]" in text_of(output):
        text = f"{where} has all of it already."
    else:
        text = f"Pushed {counted(push.count, 'commit')} to {where}, now at {push.commit[:8]}."
    if repository.confinement is not None and repository.has_hook("pre-push"):
        follows += (
            " Its hook pre-push did not run: what talks to a remote stays outside the sandbox."
        )
    return Result(text=text + follows, data={"remote": push.remote, "branch": push.there})


async def _follow(repository: Repository, push: Push) -> str:
    """Let a branch that follows none follow the one that it was pushed to; what came of it."""
    if repository.value(f"branch.{push.branch}.merge"):
        return ""
    try:
        for name, value in (("remote", push.remote), ("merge", f"refs/heads/{push.there}")):
            await repository.run("config", f"branch.{push.branch}.{name}", value)
    except ToolError as error:
        return f" {push.branch} does not follow it: {error.message}"
    return f" {push.branch} follows it now."


async def _refuse_protected(
    repository: Repository, connection: RemoteConnection, push: Push
) -> None:
    """Refuse to force or delete what the user protects."""
    found = await _is_known_as_protected(repository, push)
    if not found and DEFAULT_BRANCH in repository.ctx.config.git.protected:
        args = ["--symref", *connection.upload, push.remote, "HEAD"]
        listed = text_of(await transfer(repository, connection, "ls-remote", *args))
        found = f"ref: refs/heads/{push.there}\t" in listed
    if found:
        raise _protected(push)


async def _refuse_more(repository: Repository, connection: RemoteConnection, push: Push) -> None:
    """Refuse to send more commits than the user was told of.

    They were counted by what this folder has noted of the remote, which a run may have changed.

    Raises:
        Conflict: there would be more.
    """
    args = ["--heads", *connection.upload, push.remote]
    listed = await transfer(repository, connection, "ls-remote", *args)
    there = {line.split("\t")[0] for line in lines_of(listed)}
    there.update((await noted_before(repository, push.remote)).values())
    excluded = [f"^{commit}" for commit in sorted(there)]
    args = ["rev-list", "--count", "--ignore-missing", push.commit, *excluded, "--"]
    count = int(await repository.read(*args))
    if count > push.count:
        raise Conflict(
            f"As far as this folder knows, {push.remote} lacks {counted(count, 'commit')} of "
            f"{push.branch}, more than the {push.count} that the user was told of.",
            hint="git_fetch with prune=true, then push again.",
        )


def _protected(push: Push) -> Denied:
    return Denied(
        f"{push.there} of {push.remote} is protected: it is neither forced nor deleted.",
        hint="The user decides which are (git.protected). A new commit can undo an old one: "
        "git_pick with revert=true.",
    )


async def _is_known_as_protected(repository: Repository, push: Push) -> bool:
    """Whether a branch is protected by its name, or was the remote's default when cloned."""
    globs = repository.ctx.config.git.protected
    if any(fnmatchcase(push.there, glob) for glob in globs if glob != DEFAULT_BRANCH):
        return True
    default = await repository.line("symbolic-ref", "-q", f"refs/remotes/{push.remote}/HEAD")
    return DEFAULT_BRANCH in globs and default == f"refs/remotes/{push.remote}/{push.there}"
