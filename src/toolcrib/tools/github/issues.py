"""Issues: listed, searched, and one with its comments."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from toolcrib.tools.github.client import ListPage
from toolcrib.tools.github.repository import GitHubRepository, is_allowed
from toolcrib.tools.github.view import (
    ReadOptions,
    View,
    day,
    label_names,
    login,
    prose,
    title,
    visible_items,
)

LEFT_OUT = "(left out: by somebody who may not push, see github.lockdown)"


def item_line(item: Mapping[str, Any]) -> str:
    """An issue or a pull request in one line."""
    states = [state_of(item), *label_names(item)]
    comments = item.get("comments")
    message = f", {comments} comments" if isinstance(comments, int) and comments else ""
    about = f"{login(item)} {day(item.get('created_at'))}"
    return f"#{item.get('number')} {title(item)} ({', '.join(states)}) {about}{message}"


def state_of(item: Mapping[str, Any]) -> str:
    """open, closed, merged or draft."""
    if item.get("merged_at") or item.get("merged") or _merged_by_search(item):
        return "merged"
    if item.get("draft") and item.get("state") == "open":
        return "draft"
    reason = item.get("state_reason")
    return f"closed as {reason}" if reason == "not_planned" else str(item.get("state") or "open")


def _merged_by_search(item: Mapping[str, Any]) -> bool:
    pull = item.get("pull_request")
    return isinstance(pull, Mapping) and bool(pull.get("merged_at"))


def item_data(item: Mapping[str, Any]) -> dict[str, Any]:
    """The same for programs."""
    return {
        "number": item.get("number"),
        "title": title(item),
        "state": state_of(item),
        "author": login(item),
        "labels": label_names(item),
        "url": item.get("html_url"),
    }


def listed(
    view: View, request: ReadOptions, name: str, page: ListPage, visible: Sequence[Any]
) -> View:
    """A list of issues or pull requests."""
    view.head(name, page, request, len(page.items) - len(visible))
    view.lines += map(item_line, visible)
    view.data["items"] = [item_data(item) for item in visible]
    return view


def search_words(request: ReadOptions, *first: str) -> str:
    """A query of the search of issues: fixed words, state and labels, then the caller's."""
    words = [*first]
    if request.state != "all":
        words.append(f"state:{request.state}")
    words += [f'label:"{label.replace(chr(34), "")}"' for label in request.labels]
    return " ".join([*words, request.query]).strip()


async def issues(request: ReadOptions) -> View:
    """Issues of a repository, the newest first, without its pull requests."""
    repository = await request.open_repository()
    params: dict[str, Any] = {"state": request.state, "labels": ",".join(request.labels)}
    if request.client.server.is_gitea:
        page = await repository.page(
            "issues",
            what="issues",
            number=request.page,
            limit=request.limit,
            params={**params, "type": "issues", "q": request.query},
        )
    else:
        # The list of issues has pull requests among them, and tells no number of either.
        words = search_words(request, f"repo:{repository.name}", "is:issue")
        page = await found(request, words)
    view = View.of(repository, "issues")
    visible = await visible_items(repository, page.items)
    return listed(view, request, f"{request.state} issues of {repository.name}", page, visible)


async def found(request: ReadOptions, words: str) -> ListPage:
    """One page of GitHub's search of issues, the newest first."""
    params = {"q": words, "sort": "created", "order": "desc"}
    return await request.client.page(
        "search/issues", request.page, request.limit, params, inside="items"
    )


async def search_issues(request: ReadOptions) -> View:
    """Issues and pull requests of all repositories, or of the one that is named."""
    client = request.client
    if client.server.is_gitea:
        params = {"q": request.query, "state": request.state, "labels": ",".join(request.labels)}
        page = await client.page("repos/issues/search", request.page, request.limit, params)
    else:
        scope = []
        if request.repository:
            scope = [f"repo:{(await request.open_repository()).name}"]
        page = await found(request, search_words(request, *scope))
    view = View(f"{client.server.web}/search", is_private=bool(client.token.value))
    visible, lines = [], []
    for item in page.items:
        name = _repository_name(item)
        if not is_allowed(request.ctx, name) or not await _may_speak(request, name, item):
            continue
        visible.append({**item_data(item), "repository": name})
        lines.append(f"{name}{item_line(item)}")
    view.head("found", page, request)
    if len(visible) < len(page.items):
        view.lines.append(f"({len(page.items) - len(visible)} left out by the settings)")
    view.lines += lines
    view.data["items"] = visible
    return view


def _repository_name(item: Mapping[str, Any]) -> str:
    inner = item.get("repository")
    if isinstance(inner, Mapping) and inner.get("full_name"):
        return str(inner["full_name"])
    return "/".join(str(item.get("repository_url") or "").split("/")[-2:])


async def _may_speak(request: ReadOptions, name: str, item: dict[str, Any]) -> bool:
    if not request.ctx.config.github.lockdown:
        return True
    return bool(await visible_items(GitHubRepository(request.client, name), [item]))


async def issue(request: ReadOptions) -> View:
    """One issue, or the talk of a pull request, with its comments."""
    repository = await request.open_repository()
    number = request.numbered("issue")
    answer = await repository.get("issues", number, what=f"issue {number}")
    item = answer.json()
    view = View.of(repository, f"issues/{number}")
    view.age = answer.age
    view.lines += [*await opening(repository, item), ""]
    if item.get("pull_request"):
        view.lines.append("(a pull request; kind=pull shows its reviews, checks and diff)")
    page = await comments_of(repository, number, request.page, request.limit)
    view.more = page.more
    visible = await visible_items(repository, page.items)
    total = item.get("comments", page.total)
    if page.items:
        view.lines.append(f"{len(visible)} of {total} comments:")
    view.lines += comment_lines(visible)
    view.data = {**item_data(item), "comments": [comment_data(c) for c in visible], "total": total}
    return view


async def comments_of(
    repository: GitHubRepository, number: int, page: int = 1, limit: int = 30
) -> ListPage:
    """A page of the comments of an issue or pull request, the oldest first."""
    return await repository.page(
        "issues", number, "comments", what=f"issue {number}", number=page, limit=limit
    )


async def opening(repository: GitHubRepository, item: Mapping[str, Any]) -> list[str]:
    """Title, facts and text of an issue or pull request."""
    visible = await visible_items(repository, [dict(item)])
    labels = label_names(item)
    people = [login({"user": person}) for person in item.get("assignees") or []]
    facts = [
        state_of(item),
        f"by {login(item)} {day(item.get('created_at'))}",
        *([f"labels {', '.join(labels)}"] if labels else []),
        *([f"assigned to {', '.join(people)}"] if people else []),
    ]
    head = f"{repository.name}#{item.get('number')}"
    if not visible:
        return [f"{head} {', '.join(facts[:1])} {LEFT_OUT}"]
    return [f"{head} {title(item)}", ", ".join(facts), "", prose(item.get("body")) or "(no text)"]


def comment_lines(items: Iterable[Mapping[str, Any]]) -> list[str]:
    """Comments, each under who wrote it, when, and about which line."""
    lines = []
    for item in items:
        where = item.get("path")
        number = item.get("line") or item.get("original_line")
        about = f" on {where}:{number}" if where and number else f" on {where}" if where else ""
        lines.append(f"--- {login(item)} {day(item.get('created_at'))}{about}")
        lines.append(prose(item.get("body")))
    return lines


def comment_data(item: Mapping[str, Any]) -> dict[str, Any]:
    """One comment for programs."""
    return {"author": login(item), "date": item.get("created_at"), "text": prose(item.get("body"))}
