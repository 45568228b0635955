"""`github_read`: what is on GitHub."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from typing import Annotated, Any, Literal

from toolcrib.core.context import Ctx
from toolcrib.core.errors import BadInput
from toolcrib.core.names import plain
from toolcrib.core.result import Next, Result
from toolcrib.core.tool import NET, Count, Param, other_names, tool
from toolcrib.tools.github.client import GitHubClient
from toolcrib.tools.github.contents import (
    commits,
    file,
    releases,
    repository,
    search_code,
    search_repositories,
    tree,
)
from toolcrib.tools.github.issues import issue, issues, search_issues
from toolcrib.tools.github.pulls import diff, pull, pulls
from toolcrib.tools.github.view import ReadOptions, View
from toolcrib.tools.github.workflow_runs import run, runs

Kind = Literal[
    "repository",
    "file",
    "tree",
    "issues",
    "issue",
    "pulls",
    "pull",
    "diff",
    "commits",
    "releases",
    "runs",
    "run",
    "search_code",
    "search_issues",
    "search_repositories",
]
READERS: dict[str, Callable[[ReadOptions], Awaitable[View]]] = {
    reader.__name__: reader
    for reader in (
        *(repository, file, tree, issues, issue, pulls, pull, diff, commits, releases),
        *(runs, run, search_code, search_issues, search_repositories),
    )
}
"""By kind; each is named as its kind."""
OTHER_NAMES = {
    "repo": "repository",
    "readme": "repository",
    "contents": "file",
    "files": "tree",
    "comments": "issue",
    "pr": "pull",
    "pullrequest": "pull",
    "prs": "pulls",
    "pullrequests": "pulls",
    "release": "releases",
    "workflow": "run",
    "workflows": "runs",
    "code": "search_code",
    "repositories": "search_repositories",
}
"""What models call a kind, without dashes and underscores."""


_PAGE = re.compile(
    r"https?://(?:www\.)?github\.com/([^/\s?#]+/[^/\s?#]+?)(?:\.git)?"
    r"(?:/(issues|pulls?|commits|releases|actions/runs)(?:/(\d+))?)?/?(?:[?#].*)?"
)
"""The address of a repository, or of one of its pages."""
_OF_PAGE = {"issues": "issue", "pull": "pull", "pulls": "pull", "actions/runs": "run"}


def _from_page(given: dict[str, Any]) -> None:
    """The repository by its owner and name or by an address, which may name the rest too."""
    key = "repo" if given.get("repo") else "repository"
    name = given.get(key)
    if given.get("owner") and isinstance(name, str) and name and "/" not in name:
        given[key] = f"{given.pop('owner')}/{name}"
    found = _PAGE.fullmatch(str(given.get("url") or "").strip())
    if found is None:
        return
    del given["url"]
    page, number = found[2] or "", found[3]
    given.setdefault("repository", found[1])
    lists = {"pull": "pulls", "actions/runs": "runs"}
    given.setdefault("kind", (_OF_PAGE if number else lists).get(page, page) or "repository")
    if number:
        given.setdefault("number", number)


def _adapt(given: dict[str, Any]) -> None:
    _from_page(given)
    kind = given.get("kind")
    if isinstance(kind, str):
        given["kind"] = OTHER_NAMES.get(plain(kind), kind)


@tool(
    group="github",
    rights=NET,
    keywords=("gitea", "forgejo", "pull request", "pr", "ci", "workflow", "release", "issue"),
    argument_aliases=other_names(
        repository=("repo",),
        number=("issue_number", "pull_number", "run_id"),
        ref=("branch",),
        query=("q",),
        limit=("per_page",),
    ),
    argument_adapter=_adapt,
    seconds=180.0,
)
async def github_read(
    kind: Kind,
    repository: Annotated[str, Param("OWNER/NAME; default: this clone's.")] = "",
    number: Annotated[int, Param("Issue, pull or run.", minimum=0)] = 0,
    path: Annotated[str, Param("Of a file or folder.", plain=True)] = "",
    ref: Annotated[str, Param("Branch, tag or commit.")] = "",
    query: Annotated[str, Param("What is searched for.", plain=True)] = "",
    state: Literal["open", "closed", "all"] = "open",
    labels: Annotated[list[str] | None, Param("Names of labels.", plain=True)] = None,
    limit: Annotated[Count, Param(maximum=100)] = 20,
    page: Annotated[Count, Param("From 1.", plain=True)] = 1,
    *,
    ctx: Ctx,
) -> Result:
    """Read from GitHub: issues, pull requests, files, commits, runs; search.

    A pull request comes with its reviews, checks and diff, a run with the lines that say why it
    failed. Searches are of all repositories, or of the one that is named. What people wrote there
    is untrusted. github_status says whether a sign-in works.
    """
    client = await GitHubClient.open(ctx)
    if kind.startswith("search_") and not query.strip():
        raise BadInput(f"kind={kind} needs query.")
    if kind == "file" and ".." in path.split("/"):
        raise BadInput("path is one within the repository.")
    request = ReadOptions(
        ctx, client, kind, repository.strip(), number, path, ref.strip(), query.strip(),
        state, tuple(labels or ()), limit, page,
    )  # fmt: skip
    await ctx.progress(f"Reading {kind} from {client.server.name}")
    view = await READERS[kind](request)
    notes = [*view.notes]
    if view.age:
        notes.append(f"{client.server.name} does not answer; this is {view.age / 60:.0f} min old.")
    text = client.screen.text("\n".join([*notes, *view.lines]).strip())
    given: dict[str, Any] = {
        "kind": kind, "repository": repository, "number": number, "path": path, "ref": ref,
        "query": query, "state": "" if state == "open" else state, "labels": labels,
        "limit": 0 if limit == 20 else limit,
    }  # fmt: skip
    following = Next(github_read.name, {**{k: v for k, v in given.items() if v}, "page": page + 1})
    return Result(
        text=text,
        data=client.screen.value({"kind": kind, **view.data}),
        source=view.url,
        private=view.is_private,
        truncated=view.more,
        next=following if view.more else None,
    )
