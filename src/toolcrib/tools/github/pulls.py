"""Pull requests: listed, and one with its reviews, checks, comments and diff."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from toolcrib.core.errors import Denied, HttpStatus, ToolError
from toolcrib.git.patches import parse_patch
from toolcrib.text.cleaner import one_line
from toolcrib.text.display import counted
from toolcrib.tools.github.client import DIFF, ListPage
from toolcrib.tools.github.issues import (
    LEFT_OUT,
    comment_lines,
    comments_of,
    found,
    item_data,
    listed,
    opening,
    search_words,
)
from toolcrib.tools.github.repository import GitHubRepository
from toolcrib.tools.github.view import ReadOptions, View, day, login, prose, visible_items

NOT_ACCEPTABLE = 406
MAX_COMMENTS = 100


async def pulls(request: ReadOptions) -> View:
    """Pull requests of a repository, the newest first."""
    repository = await request.open_repository()
    if (request.labels or request.query) and not request.client.server.is_gitea:
        page = await found(request, search_words(request, f"repo:{repository.name}", "is:pr"))
    else:
        params = {"state": request.state, "base": request.ref}
        params |= {"sort": "created", "direction": "desc"}
        page = await repository.page(
            "pulls",
            what="pull requests",
            number=request.page,
            limit=request.limit,
            params=params,
        )
    visible = await visible_items(repository, page.items)
    view = View.of(repository, "pulls")
    name = f"{request.state} pull requests of {repository.name}"
    return listed(view, request, name, page, visible)


async def pull(request: ReadOptions) -> View:
    """One pull request with all that is said of it, and its diff."""
    repository = await request.open_repository()
    number = request.numbered("pull request")
    item = await pull_of(repository, number)
    sha = str(_member(item, "head", "sha"))
    nothing = ListPage([], 0, more=False)
    reviews, remarks, talk, checks = await asyncio.gather(
        _list(repository, nothing, "pulls", number, "reviews"),
        _list(repository, nothing, "pulls", number, "comments"),
        comments_of(repository, number, limit=MAX_COMMENTS),
        checks_of(repository, sha),
    )
    view = View.of(repository, f"pull/{number}")
    view.lines += await opening(repository, item)
    view.lines += ["", *_facts(item), *checks]
    for review in await visible_items(repository, reviews.items):
        verdict = str(review.get("state") or "").lower().replace("_", " ")
        when = day(review.get("submitted_at"))
        if verdict != "commented" or prose(review.get("body")):
            view.lines.append(f"--- {login(review)} {when} {verdict}")
            view.lines += [prose(review.get("body"))] if prose(review.get("body")) else []
    view.lines += comment_lines(await visible_items(repository, talk.items))
    view.lines += comment_lines(await visible_items(repository, remarks.items))
    view.lines += ["", *await _diff(repository, item)]
    view.data = {**item_data(item), "head": sha, "mergeable": item.get("mergeable")}
    return view


async def pull_of(repository: GitHubRepository, number: int) -> dict[str, Any]:
    """A pull request.

    Raises:
        NotFound: there is none of this number.
    """
    found = (await repository.get("pulls", number, what=f"pull request {number}")).json()
    return dict(found)


def _facts(item: Mapping[str, Any]) -> list[str]:
    counts = [f"+{item.get('additions', 0)} -{item.get('deletions', 0)}"]
    files = item.get("changed_files")
    counts += [counted(files, "file")] if isinstance(files, int) else []
    can = "can be merged" if item.get("mergeable") else "cannot be merged as it is"
    can = can if item.get("mergeable") is not None else ""  # not worked out yet
    state = str(item.get("mergeable_state") or "").replace("_", " ")
    state = f"{can} ({state})" if can and state not in ("", "clean", "unknown") else can
    source, target = _member(item, "head", "label"), _member(item, "base", "ref")
    direction = f"{source} -> {target} at {str(_member(item, 'head', 'sha'))[:8]}"
    return [", ".join([direction, *counts, *([state] if state else [])])]


def _member(item: Mapping[str, Any], *names: str) -> Any:
    value: Any = item
    for name in names:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value if value is not None else ""


async def _list(repository: GitHubRepository, otherwise: ListPage, *parts: object) -> ListPage:
    """A list that not every server has."""
    try:
        return await repository.page(*parts, what="/".join(map(str, parts)), limit=MAX_COMMENTS)
    except (HttpStatus, Denied):
        return otherwise


async def checks_of(repository: GitHubRepository, sha: str) -> list[str]:
    """What checks say of a commit: those that did not pass by name, the others by number."""
    states: list[tuple[str, str]] = []
    if not repository.client.server.is_gitea:
        try:
            runs = await repository.page(
                "commits", sha, "check-runs", what="checks", inside="check_runs"
            )
            states += [
                (one_line(r.get("name"), 100), str(r.get("conclusion") or r.get("status")))
                for r in runs.items
            ]
        except ToolError as error:
            return [f"checks: not known ({one_line(error.message, 200)})"]
    answer = await repository.get("commits", sha, "status", what="checks")
    statuses = (answer.json() or {}).get("statuses") or []
    states += [
        (one_line(s.get("context"), 100), str(s.get("state") or s.get("status"))) for s in statuses
    ]
    if not states:
        return []
    good = [name for name, state in states if state in ("success", "neutral", "skipped")]
    others = [f"{name} {state}" for name, state in states if name not in good]
    parts = [f"{len(good)} of {len(states)} passed", *others]
    return [f"checks: {', '.join(parts)}"]


async def diff(request: ReadOptions) -> View:
    """The diff of a pull request alone."""
    repository = await request.open_repository()
    number = request.numbered("pull request")
    item = await pull_of(repository, number)
    view = View.of(repository, f"pull/{number}/files")
    view.lines += await _diff(repository, item)
    view.data = {"number": number, "head": _member(item, "head", "sha")}
    return view


async def _diff(repository: GitHubRepository, item: dict[str, Any]) -> list[str]:
    if not await visible_items(repository, [item]):
        return [f"diff {LEFT_OUT}"]
    number = item.get("number")
    what = f"pull request {number}"
    is_gitea = repository.client.server.is_gitea
    try:
        last = f"{number}.diff" if is_gitea else number
        text = (await repository.get("pulls", last, what=what, accept=DIFF)).text
    except HttpStatus as error:
        if error.details.get("status") != NOT_ACCEPTABLE:
            raise
        return await _largest(repository, number)
    files = list(parse_patch(text))
    added, removed = sum(f.added for f in files), sum(f.removed for f in files)
    lines = [f"{counted(len(files), 'file')}, +{added} -{removed}"]
    for file in files:
        lines += [file.headline, *([file.hunks.rstrip("\n")] if file.hunks else [])]
    return lines


async def _largest(repository: GitHubRepository, number: Any) -> list[str]:
    """A diff that GitHub does not give as one: file by file, as far as it has them."""
    page = await repository.page("pulls", number, "files", what="files")
    lines = [f"The first {len(page.items)} of {page.total} files: the diff is too large for one."]
    for file in page.items:
        name, added, removed = file.get("filename"), file.get("additions"), file.get("deletions")
        lines.append(f"{one_line(name, 300)} +{added} -{removed}")
        lines += [str(file["patch"])] if file.get("patch") else []
    return lines
