"""`git_tag`: names of commits."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from toolcrib.core.context import Ctx
from toolcrib.core.result import Result
from toolcrib.core.tool import READ, WRITE, Param, tool
from toolcrib.git.places import NAMES, RepositoryFolder
from toolcrib.git.repository import lines_of, open_repository
from toolcrib.git.revisions import branch_name
from toolcrib.git.steps import git_step
from toolcrib.text.cleaner import one_line

MAX_LISTED = 200


def _adapt(given: dict[str, Any]) -> None:
    """A name without an action is one to be created, as for git itself."""
    if not given.get("action") and any(given.get(name) for name in ("name", "tag", "tagname")):
        given["action"] = "create"


@tool(
    group="git",
    rights=READ | WRITE,
    keywords=("release", "version", "mark", "label"),
    argument_aliases={**NAMES, "tag": "name", "tag_name": "name", "commit": "revision"},
    argument_adapter=_adapt,
)
async def git_tag(
    action: Literal["list", "create", "delete"] = "list",
    name: Annotated[str, Param("The tag.")] = "",
    revision: str = "HEAD",
    message: str = "",
    repo: RepositoryFolder = None,
    *,
    ctx: Ctx,
) -> Result:
    """List, create or delete tags.

    The list has the newest first. Tags are not signed, but in repositories of git.trusted.
    """
    async with open_repository(ctx, repo) as repository:
        if action == "list":
            form = "%(refname:short) %(objectname:short) %(creatordate:short) %(contents:subject)"
            args = ["for-each-ref", "--sort=-creatordate", f"--count={MAX_LISTED}"]
            tags = lines_of(await repository.read(*args, f"--format={form}", "refs/tags"))
            text = "\n".join(tags) or "(no tags)"
            if name and not any(line.split(" ")[0] == name for line in tags):
                text += f"\n(there is no {one_line(name, 80)}: action=create makes it)"
            return Result(text=text, data={"tags": tags})
        wanted = branch_name(name, "tag")
        async with git_step(repository, git_tag.name, files=False):
            if action == "create":
                commit = await repository.commit(revision)
                note = ["-a", "--cleanup=whitespace", "-F", "-"] if message else []
                given = message.encode("utf-8", "replace")
                await repository.run("tag", *note, "--", wanted, commit, stdin=given)
                text = f"Created {wanted} at {commit[:10]}."
            else:
                await repository.run("tag", "-d", "--", wanted)
                text = f"Deleted {wanted}."
    return Result(text=text, data={"tag": wanted})
