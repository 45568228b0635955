"""`git_clone`: a copy of a repository."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from typing import Annotated, Any

from toolcrib.core.context import Ctx
from toolcrib.core.errors import Busy, Conflict, NotFound
from toolcrib.core.result import Result
from toolcrib.core.tool import NET, WRITE, Count, Decision, Param, tool
from toolcrib.execution.acting_places import acting_place
from toolcrib.files.changes.step import Change
from toolcrib.files.live_runs import without_runs
from toolcrib.files.paths import SafePath, Workspace, WritablePath
from toolcrib.files.repositories.writes import refuse_writes_to_repositories
from toolcrib.git.layout import find_layout
from toolcrib.git.precautions import names_that_act
from toolcrib.git.program import AGENTS, GitProgram
from toolcrib.git.remotes import (
    SECONDS,
    USUAL_BRANCHES,
    connected,
    new_folder,
    read_address,
)
from toolcrib.git.repository import (
    Repository,
    entries_of,
    fresh_environment,
    inside_of,
    opened,
)
from toolcrib.git.revisions import branch_name
from toolcrib.git.steps import log_new_folder
from toolcrib.text.display import counted, some_of


def _checked(value: str, ctx: Ctx) -> str:
    """An address that git may be given; the guard judges its host."""
    address = read_address(value, str(ctx.use(Workspace).start(ctx.session.directory)))
    if address.target is not None:
        from toolcrib.net.egress.client import Egress

        policy = ctx.use(Egress).policy(session=ctx.session.id)
        if address.protocol != "ssh":
            policy.check(address.target)
    return value


async def _decision(arguments: Mapping[str, Any], ctx: Ctx) -> Decision | None:
    """The name of a branch is sent to the server as well; a folder of the workspace is none.

    Nobody is asked about a folder that is taken or refused; where programs act on what comes
    there, as `.venv`, that is a question of its own.
    """
    start = str(ctx.use(Workspace).start(ctx.session.directory))
    address = read_address(arguments["url"], start)
    folder = new_folder(ctx, address, arguments["path"])
    await asyncio.to_thread(_refuse_place, folder)
    is_local, urls = address.is_in_workspace(ctx), tuple[str, ...]()
    if ctx.session.tainted and not is_local and arguments["branch"] not in USUAL_BRANCHES:
        urls = (f"{arguments['url']} {arguments['branch']}",)
    if acts := await acting_place(folder, ctx):
        return Decision("ask", acts, explicit=True, urls=urls, is_local=is_local)
    if is_local:
        return Decision("allow", "it copies a folder of the workspace", is_local=True)
    if not urls:
        return None
    return Decision("allow", "it names a branch", urls=urls)


@tool(
    group="git",
    rights=NET | WRITE,
    keywords=("download repository", "copy", "checkout", "get source"),
    argument_aliases={"repository": "url", "repo_url": "url", "directory": "path"},
    seconds=SECONDS,
    policy_check=_decision,
)
async def git_clone(
    url: Annotated[str, Param("https, ssh or path.", kind="url", check=_checked)],
    path: WritablePath | None = None,
    branch: str = "",
    depth: Annotated[Count | None, Param("Last commits only.")] = None,
    *,
    ctx: Ctx,
) -> Result:
    """Clone a repository into a new folder of the workspace.

    undo_changes takes it away. Submodules are not fetched, and filters (LFS) do not run.
    """
    start = str(ctx.use(Workspace).start(ctx.session.directory))
    address = read_address(url, start)
    folder = new_folder(ctx, address, path)
    await asyncio.to_thread(_refuse_place, folder)
    if address.folder and not ctx.use(Workspace).holds(address.folder):
        await asyncio.to_thread(_refuse_beside_runs)
    program = ctx.use(GitProgram)
    args = ["clone", "--quiet", "--template=", "--no-recurse-submodules"]
    # A folder is never copied as it is: what serves it sees the objects that were checked.
    args.append("--no-local")
    args += [f"--branch={branch_name(branch)}", "--single-branch"] if branch else []
    args += [f"--depth={depth}"] if depth else []
    async with connected(ctx, address) as connection, fresh_environment(ctx) as environment:
        source = address.folder or address.url
        args += [*connection.upload, "--", source, str(folder)]
        env = {**environment, **connection.environment}
        done = await program.run(
            ctx, args, cwd=folder.parent, env=env, seconds=SECONDS, passed_on=AGENTS
        )
        connection.checked("clone", done)
    top, layout = await asyncio.to_thread(find_layout, folder, inside_of(ctx))
    async with opened(ctx, top, layout) as repository:
        text, data = await _report(repository, folder, address.display)
    step = await log_new_folder(ctx, git_clone.name, folder)
    text += "" if step else " undo_changes cannot take it away."
    return Result(text=text, data={"path": folder.display, **data, "step": step})


def _refuse_place(folder: SafePath) -> None:
    """Refuse what is taken, and the folder of a repository: git obeys what lies in there."""
    places = (folder, folder.settled())  # as it is named, and with links followed
    refuse_writes_to_repositories(Change("folder", place) for place in places)
    with suppress(NotFound):
        if folder.stat() and folder.count():
            raise Conflict(f"{folder.display} is there and not empty.", hint="Name another path.")


def _refuse_beside_runs() -> None:
    """What leads out of the workspace would be taken for a job's own work, and put aside."""
    with without_runs() as is_alone:
        if not is_alone:
            raise Busy(
                "A folder outside of the workspace cannot be cloned while a program runs.",
                hint="Wait for the background job or terminal to end, or stop it.",
            )


async def _report(
    repository: Repository, folder: SafePath, source: str
) -> tuple[str, dict[str, Any]]:
    """What was cloned, in words and as data."""
    head = await repository.head()
    if not head.commit:
        return f"Cloned {source} into {folder.display}; it has no commits.", {}
    subject = await repository.line("log", "-1", "--format=%h %cs %s")
    names = entries_of(await repository.read("ls-files", "-z"))
    text = f"Cloned {source} into {folder.display}: {head.name} at {subject}, "
    text += counted(len(names), "file")
    if acting := await names_that_act(repository, names):
        text += f". Other programs act on {some_of(acting, 5)}"
    if ".gitmodules" in names:
        text += ". Its submodules are not fetched"
    return f"{text}.", {"commit": head.commit, "files": len(names)}
