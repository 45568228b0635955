"""What `github_write` sends: worked out first, shown to the user, and made once."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from hashlib import blake2b
from typing import Any

from toolcrib.core.context import Ctx
from toolcrib.core.errors import (
    BadInput,
    Conflict,
    Denied,
    HttpStatus,
    Network,
    NotFound,
    RateLimited,
    TimedOut,
    ToolError,
)
from toolcrib.git.repository import open_repository
from toolcrib.state.secret_finder import secret_kinds
from toolcrib.text.cleaner import clean, one_line
from toolcrib.tools.github.client import GitHubClient, GitHubState, place
from toolcrib.tools.github.failures import SIGN_IN
from toolcrib.tools.github.issues import state_of
from toolcrib.tools.github.pulls import pull_of
from toolcrib.tools.github.repository import GitHubRepository
from toolcrib.tools.github.view import title

MAX_QUESTION_CHARS = 4_000
MARK_HOURS = 24
"""How long a repeated call makes no second one."""
MAX_BODY_CHARS = 65_000
EVENTS = {"approve": "APPROVE", "request_changes": "REQUEST_CHANGES", "comment": "COMMENT"}
MAY_HAVE_WORKED = "It may have been done all the same: the same call again does it once."
_COMMIT = re.compile(r"[0-9a-f]{7,64}\Z")

Perform = Callable[[], Awaitable["Written"]]


@dataclass(frozen=True, slots=True)
class WriteRequest:
    """One call of `github_write`, checked; see its parameters."""

    ctx: Ctx
    kind: str
    repository: str = ""
    number: int = 0
    title: str = ""
    body: str = ""
    labels: Sequence[str] = ()
    head: str = ""
    base: str = ""
    tag: str = ""
    verdict: str = "comment"
    method: str = "merge"
    draft: bool = False

    def needs(self, *names: str) -> None:
        """Refuse a call that lacks what its kind is about.

        Raises:
            BadInput: naming what is missing.
        """
        missing = [name for name in names if not getattr(self, name)]
        if missing:
            raise BadInput(f"kind={self.kind} needs {' and '.join(missing)}.")


@dataclass(frozen=True, slots=True)
class Written:
    """What came of it: in words, and where it is."""

    text: str
    url: str = ""
    number: int = 0


@dataclass(slots=True)
class PlannedWrite:
    """A change before it is made.

    Attributes:
        does: in words, for "it …".
        sends: names and texts, as they are sent.
        perform: makes it, unless it is there already.
    """

    repository: GitHubRepository
    does: str
    perform: Perform
    sends: dict[str, str] = field(default_factory=dict)

    def question(self) -> str:
        """What the user is asked."""
        repository, ctx = self.repository, self.repository.client.ctx
        visibility = "private" if repository.is_private else "public"
        parts = [f"it {self.does} in {repository.name}, which is {visibility}"]
        session, state = ctx.session, ctx.use(GitHubState)
        others = state.private_read.get(session.id, set()) - {repository.name}
        if others and not repository.is_private:
            parts.append(f"this conversation has read the private {', '.join(sorted(others))}")
        elif session.private and not repository.is_private:
            parts.append("this conversation has read private files")
        text = "\n".join(f"{name}: {value}" for name, value in self.sends.items() if value)
        for at, kind in secret_kinds(text):
            line = text.count("\n", 0, at) + 1
            parts.append(f"line {line} looks like a secret ({kind})")
        displayed = clean(text[:MAX_QUESTION_CHARS]).text
        more = f"\n… ({len(text):,} characters)" if len(text) > MAX_QUESTION_CHARS else ""
        return "; ".join(parts) + (f". It sends:\n{displayed}{more}\n" if text else "")


async def planned(request: WriteRequest) -> PlannedWrite:
    """Work out a change; nothing is sent.

    Raises:
        Denied: `github.read_only`, or nobody is signed in.
        ToolError: it cannot be made.
    """
    ctx = request.ctx
    if ctx.config.github.read_only:
        raise Denied(
            "GitHub is only read here (github.read_only).", hint="The user can turn that off."
        )
    if len(request.body) > MAX_BODY_CHARS:
        raise BadInput(f"body has more than {MAX_BODY_CHARS:,} characters.", hint="Shorten it.")
    client = await GitHubClient.open(ctx)
    if not client.token.value:
        raise Denied(f"Nobody is signed in to {client.server.name}.", hint=SIGN_IN)
    repository = await GitHubRepository.open(client, request.repository)
    if repository.about.get("archived"):
        raise Denied(
            f"{repository.name} is archived: nothing can be changed in it.",
            hint="Its owner can take it out of the archive.",
        )
    return await PLANS[request.kind](request, repository)


# A mark in what is sent, which people do not see, tells that it was made before.


def mark_of(request: WriteRequest, repository: GitHubRepository) -> str:
    """The mark of a text for one place."""
    given = (request.kind, repository.name.lower(), request.number, request.title, request.body)
    key = "\0".join(map(str, (*given, request.verdict)))
    return f"<!-- toolcrib:{blake2b(key.encode('utf-8', 'replace'), digest_size=8).hexdigest()} -->"


def _marked(body: str, mark: str) -> str:
    return f"{body.rstrip()}\n\n{mark}" if body.strip() else mark


async def _once(
    repository: GitHubRepository,
    mark: str,
    existing: Callable[[], Awaitable[Written | None]],
    make: Callable[[], Awaitable[Written]],
) -> Written:
    """Make something unless it is there; also where a call before did not learn of its success."""
    locks = repository.client.ctx.use(GitHubState).locks
    lock = locks.setdefault(mark, asyncio.Lock())
    async with lock:
        found = await existing()
        if found is not None:
            return found
        try:
            return await make()
        except (Network, TimedOut) as error:
            if isinstance(error, HttpStatus | RateLimited):
                raise
            raise type(error)(error.message, hint=MAY_HAVE_WORKED) from None


async def _found(
    repository: GitHubRepository, mark: str, *parts: object, params: Mapping[str, Any] | None = None
) -> dict[str, Any] | None:
    """What has a mark in a list, of what was made in the last hours."""
    since = datetime.now(UTC) - timedelta(hours=MARK_HOURS)
    moment = f"{since:%Y-%m-%dT%H:%M:%SZ}"
    number = 1
    while True:
        page = await repository.page(
            *parts,
            what="/".join(map(str, parts)),
            number=number,
            params={**(params or {}), "since": moment},
        )
        for item in page.items:
            made = str(item.get("created_at") or item.get("submitted_at") or moment)
            if mark in str(item.get("body") or "") and made >= moment:
                return item
        if not page.more:
            return None
        number += 1


def _there(item: Mapping[str, Any], what: str) -> Written:
    url = str(item.get("html_url") or "")
    return Written(f"{what} is there already, nothing was sent: {url}", url, _number(item))


def _done(what: str, item: Any, number: int = 0) -> Written:
    """What was made or changed, with its address."""
    return Written(f"{what}: {_url(item)}", _url(item), number or _number(item))


def _number(item: Any) -> int:
    number = item.get("number") if isinstance(item, Mapping) else 0
    return number if isinstance(number, int) else 0


def _url(item: Any) -> str:
    return str(item.get("html_url") or "") if isinstance(item, Mapping) else ""


# One function a kind.


async def _issue(request: WriteRequest, repository: GitHubRepository) -> PlannedWrite:
    request.needs("title")
    mark = mark_of(request, repository)
    body = _marked(request.body, mark)

    async def existing() -> Written | None:
        params = {"state": "all", "sort": "created", "direction": "desc"}
        item = await _found(repository, mark, "issues", params=params)
        return _there(item, f"The issue #{_number(item)}") if item else None

    async def make() -> Written:
        labels = await _label_values(repository, request.labels)
        sent = {"title": request.title, "body": body, **({"labels": labels} if labels else {})}
        made = await repository.client.send("POST", repository.path("issues"), sent)
        return _done(f"Opened the issue #{_number(made)}", made)

    sends = {"title": request.title, "labels": ", ".join(request.labels), "text": body}
    return PlannedWrite(
        repository,
        "opens an issue",
        lambda: _once(repository, mark, existing, make),
        sends,
    )


async def _label_values(repository: GitHubRepository, names: Sequence[str]) -> list[Any]:
    """Labels as the server wants them: by name, or by number at Gitea."""
    if not names or not repository.client.server.is_gitea:
        return list(names)
    known = await repository.page("labels", what="labels")
    numbers = {str(item.get("name")).lower(): item.get("id") for item in known.items}
    missing = [name for name in names if name.lower() not in numbers]
    if missing:
        raise NotFound(
            f"{repository.name} has no label {', '.join(missing)}.",
            hint=f"There are: {', '.join(numbers) or 'none'}.",
        )
    return [numbers[name.lower()] for name in names]


async def _comment(request: WriteRequest, repository: GitHubRepository) -> PlannedWrite:
    request.needs("number", "body")
    about = await _item(repository, request.number)
    mark = mark_of(request, repository)
    body = _marked(request.body, mark)
    parts = ("issues", request.number, "comments")

    async def existing() -> Written | None:
        item = await _found(repository, mark, *parts)
        return _there(item, "The comment") if item else None

    async def make() -> Written:
        made = await repository.client.send("POST", repository.path(*parts), {"body": body})
        return _done(f"Commented on #{request.number}", made, request.number)

    does = f"comments on #{request.number} ({title(about)})"
    return PlannedWrite(
        repository, does, lambda: _once(repository, mark, existing, make), {"text": body}
    )


async def _item(repository: GitHubRepository, number: int) -> dict[str, Any]:
    """An issue or pull request."""
    return dict((await repository.get("issues", number, what=f"issue {number}")).json())


async def _label(request: WriteRequest, repository: GitHubRepository) -> PlannedWrite:
    request.needs("number", "labels")
    about = await _item(repository, request.number)

    async def perform() -> Written:
        path = repository.path("issues", request.number, "labels")
        labels = await _label_values(repository, request.labels)
        now = await repository.client.send("POST", path, {"labels": labels})
        names = [one_line(v.get("name"), 60) for v in now or [] if isinstance(v, Mapping)]
        return Written(f"#{request.number} has the labels {', '.join(names)}.", _url(about))

    names = ", ".join(request.labels)
    does = f"adds the labels {names} to #{request.number} ({title(about)})"
    return PlannedWrite(repository, does, perform)


async def _close(request: WriteRequest, repository: GitHubRepository) -> PlannedWrite:
    request.needs("number")
    if request.body:
        raise BadInput("kind=close sends no text.", hint="kind=comment first, then kind=close.")
    about = await _item(repository, request.number)

    async def perform() -> Written:
        if about.get("state") == "closed":
            return Written(f"#{request.number} is closed already.", _url(about), request.number)
        path = repository.path("issues", request.number)
        await repository.client.send("PATCH", path, {"state": "closed"})
        return _done(f"Closed #{request.number}", about, request.number)

    return PlannedWrite(repository, f"closes #{request.number} ({title(about)})", perform)


async def _pull(request: WriteRequest, repository: GitHubRepository) -> PlannedWrite:
    request.needs("title")
    if not repository.default_branch:
        await repository.look()
    head = request.head or await _current_branch(request.ctx)
    base = request.base or repository.default_branch
    if head == base:
        raise BadInput(
            f"head and base are both {base}.", hint="git_checkout a new branch, and git_push it."
        )
    owner = repository.name.partition("/")[0]
    source = head if ":" in head else f"{owner}:{head}"

    async def existing() -> Written | None:
        params = {"head": source, "base": base, "state": "open"}
        page = await repository.page("pulls", what="pull requests", params=params)
        for item in page.items:  # Gitea does not know these parameters
            at, to = item.get("head") or {}, item.get("base") or {}
            names = (str(at.get("label")), str(at.get("ref")), f"{owner}:{at.get('ref')}")
            if to.get("ref") == base and (source in names or head in names):
                return _there(item, f"The pull request #{_number(item)} from {head}")
        return None

    async def make() -> Written:
        sent = {"title": request.title, "body": request.body, "head": head, "base": base}
        if request.draft:
            sent["draft"] = True  # type: ignore[assignment]
        made = await repository.client.send("POST", repository.path("pulls"), sent)
        return _done(f"Opened the pull request #{_number(made)}", made)

    sends = {"title": request.title, "text": request.body}
    does = f"opens a {'draft ' if request.draft else ''}pull request of {head} into {base}"
    key = f"pull {repository.name} {source} {base}"
    return PlannedWrite(repository, does, lambda: _once(repository, key, existing, make), sends)


async def _current_branch(ctx: Ctx) -> str:
    try:
        async with open_repository(ctx) as clone:
            branch = (await clone.head()).branch
    except ToolError:
        branch = ""
    if not branch:
        raise BadInput("kind=pull needs head.", hint="Name the branch that was pushed.")
    return branch


async def _review(request: WriteRequest, repository: GitHubRepository) -> PlannedWrite:
    request.needs("number")
    if request.verdict != "approve":
        request.needs("body")
    about = await pull_of(repository, request.number)
    mark = mark_of(request, repository)
    body = _marked(request.body, mark)
    parts = ("pulls", request.number, "reviews")
    event = EVENTS[request.verdict]
    if repository.client.server.is_gitea:
        event = event.replace("APPROVE", "APPROVED")

    async def existing() -> Written | None:
        item = await _found(repository, mark, *parts)
        return _there(item, "The review") if item else None

    async def make() -> Written:
        sent = {"event": event, "body": body, "commit_id": (about.get("head") or {}).get("sha")}
        made = await repository.client.send("POST", repository.path(*parts), sent)
        return _done(f"Reviewed #{request.number}", made, request.number)

    verb = {"approve": "approves", "comment": "reviews"}.get(request.verdict, "asks for changes of")
    does = f"{verb} the pull request #{request.number} ({title(about)})"
    return PlannedWrite(
        repository, does, lambda: _once(repository, mark, existing, make), {"text": body}
    )


async def _merge(request: WriteRequest, repository: GitHubRepository) -> PlannedWrite:
    request.needs("number")
    about = await pull_of(repository, request.number)
    sha = str((about.get("head") or {}).get("sha") or "")
    is_merged = bool(about.get("merged"))
    given = request.head.lower()
    if not is_merged and not (_COMMIT.match(given) and sha.startswith(given)):
        raise Conflict(
            f"The pull request #{request.number} is at {sha[:10]}"
            f"{f', not at {given[:10]}' if given else ''}.",
            hint=f"Look at it (kind=pull), then name what is merged: head={sha[:10]}.",
        )

    async def perform() -> Written:
        if is_merged:
            return Written(f"#{request.number} is merged already.", _url(about), request.number)
        path = repository.path("pulls", request.number, "merge")
        if repository.client.server.is_gitea:
            verb, sent = "POST", {"Do": request.method, "head_commit_id": sha}
            sent |= {"MergeTitleField": request.title, "MergeMessageField": request.body}
        else:
            verb, sent = "PUT", {"merge_method": request.method, "sha": sha}
            sent |= {"commit_title": request.title, "commit_message": request.body}
        await repository.client.send(verb, path, {k: v for k, v in sent.items() if v})
        return _done(f"Merged #{request.number}", about, request.number)

    base = (about.get("base") or {}).get("ref")
    does = f"merges #{request.number} ({title(about)}, {state_of(about)}) at {sha[:10]} into {base}"
    does += f" by {request.method}" if request.method != "merge" else ""
    return PlannedWrite(repository, does, perform, {"title": request.title, "text": request.body})


async def _release(request: WriteRequest, repository: GitHubRepository) -> PlannedWrite:
    request.needs("tag")

    async def existing() -> Written | None:
        try:
            path = repository.path("releases", "tags", request.tag)
            return _there((await repository.client.get(path)).json(), f"Release {request.tag}")
        except NotFound:
            return None

    async def make() -> Written:
        sent: dict[str, Any] = {
            "tag_name": request.tag,
            "name": request.title or request.tag,
            "body": request.body,
            "draft": request.draft,
            "target_commitish": request.head or repository.default_branch,
        }
        made = await repository.client.send("POST", repository.path("releases"), sent)
        return _done(f"Released {request.tag}", made)

    does = f"makes {'a draft of ' if request.draft else ''}the release {request.tag}"
    does += f" of {request.head or repository.default_branch}"
    key = f"release {repository.name} {request.tag}"
    sends = {"title": request.title or request.tag, "text": request.body}
    return PlannedWrite(repository, does, lambda: _once(repository, key, existing, make), sends)


PLANS: dict[str, Callable[[WriteRequest, GitHubRepository], Awaitable[PlannedWrite]]] = {
    "issue": _issue,
    "comment": _comment,
    "label": _label,
    "close": _close,
    "pull": _pull,
    "review": _review,
    "merge": _merge,
    "release": _release,
}


async def signed_in_as(client: GitHubClient) -> str:
    """The name of who is signed in; "" where the token tells none, as in Actions."""
    try:
        found = (await client.get(place("user"))).json()
    except (Denied, NotFound) as error:
        if "does not accept" in error.message:
            raise
        return ""
    return one_line(found.get("login"), 60) if isinstance(found, dict) else ""
