"""`github_write`: what is changed on GitHub."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from toolcrib.core.context import Ctx
from toolcrib.core.names import plain
from toolcrib.core.result import Result
from toolcrib.core.tool import NET, SEND, Decision, Param, other_names, tool
from toolcrib.tools.github.writes import WriteRequest, planned

OTHER_NAMES = {
    "pr": "pull",
    "pullrequest": "pull",
    "createissue": "issue",
    "createpullrequest": "pull",
    "labels": "label",
    "approve": "review",
}
"""What models call a kind, without dashes and underscores."""


def _adapt(given: dict[str, Any]) -> None:
    kind = given.get("kind")
    if isinstance(kind, str):
        if plain(kind) == "approve":
            given.setdefault("verdict", "approve")
        given["kind"] = OTHER_NAMES.get(plain(kind), kind)


def _request(arguments: Mapping[str, Any], ctx: Ctx) -> WriteRequest:
    given = {name: value for name, value in arguments.items() if value is not None}
    return WriteRequest(ctx, **{**given, "labels": tuple(given.get("labels") or ())})


async def _ask(arguments: Mapping[str, Any], ctx: Ctx) -> Decision:
    plan = await planned(_request(arguments, ctx))
    return Decision("ask", plan.question())


@tool(
    group="github",
    rights=NET | SEND,
    keywords=("gitea", "pull request", "pr", "comment", "merge", "release", "open issue", "review"),
    argument_aliases=other_names(
        repository=("repo",),
        number=("issue_number", "pull_number"),
        head=("head_branch",),
        base=("base_branch",),
        verdict=("event",),
        body=("text", "comment", "description"),
        tag=("tag_name",),
        method=("merge_method",),
    ),
    argument_adapter=_adapt,
    idempotent=True,
    seconds=120.0,
    policy_check=_ask,
)
async def github_write(
    kind: Literal["issue", "comment", "label", "close", "pull", "review", "merge", "release"],
    repository: Annotated[str, Param("OWNER/NAME; default: this clone's.")] = "",
    number: Annotated[int, Param("Issue or pull.", minimum=0)] = 0,
    title: Annotated[str, Param("Of issue, pull, merge or release.", plain=True)] = "",
    body: Annotated[str, Param("The text, as Markdown.", plain=True)] = "",
    labels: Annotated[list[str] | None, Param("Names of labels.", plain=True)] = None,
    head: Annotated[str, Param("Branch; for merge the commit.")] = "",
    base: Annotated[str, Param("Branch that it goes into.", plain=True)] = "",
    tag: Annotated[str, Param("Of the release.", plain=True)] = "",
    verdict: Literal["approve", "request_changes", "comment"] = "comment",
    method: Literal["merge", "squash", "rebase"] = "merge",
    draft: Annotated[bool, Param("Not for everybody yet.", plain=True)] = False,
    *,
    ctx: Ctx,
) -> Result:
    """Open, comment, label, close, review, merge or release on GitHub; asks.

    The user sees what is sent. A call that is sent again within a day makes no second one. A pull
    request needs a pushed branch: git_push first.
    """
    plan = await planned(
        WriteRequest(
            ctx, kind, repository, number, title, body, tuple(labels or ()), head, base, tag,
            verdict, method, draft,
        )
    )  # fmt: skip
    done = await plan.perform()
    text = "\n".join([*plan.repository.notes, done.text])
    return Result(
        text=plan.repository.client.screen.text(text),
        data={"repository": plan.repository.name, "number": done.number, "url": done.url},
    )
