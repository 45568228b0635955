"""`github_status`: whether and as whom GitHub can be used, and what is missing."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Annotated, Any

from toolcrib.core.context import Ctx
from toolcrib.core.errors import Denied, ToolError
from toolcrib.core.result import Result
from toolcrib.core.tool import NET, Decision, Param, tool
from toolcrib.text.cleaner import one_line
from toolcrib.tools.github.client import GitHubClient
from toolcrib.tools.github.repository import GitHubRepository
from toolcrib.tools.github.sign_in import SignIn, how_to
from toolcrib.tools.github.writes import signed_in_as


async def _ask(arguments: Mapping[str, Any], ctx: Ctx) -> Decision | None:
    del ctx
    if arguments.get("sign_in"):
        return Decision("ask", "it starts gh auth login, by which this machine is signed in")
    return None


@tool(
    group="github",
    rights=NET,
    keywords=("login", "sign in", "token", "account", "rate limit", "gh auth"),
    policy_check=_ask,
)
async def github_status(
    sign_in: Annotated[bool, Param("Start the sign-in.")] = False, *, ctx: Ctx
) -> Result:
    """Show as whom GitHub is used, what is left of the quota, what is missing.

    sign_in shows a code that the user types into the browser (by an installed gh).
    """
    client = await GitHubClient.open(ctx)
    server, token = client.server, client.token
    if sign_in and not token.value:
        return Result(text=await ctx.use(SignIn).start(ctx, server))
    lines, data = [], {"server": server.api, "user": "", "token_from": token.source}
    try:
        name = await signed_in_as(client) if token.value else ""
    except Denied as error:
        lines += [f"Error: {error.message}", *_ways(ctx, client)]
        return Result(text="\n".join(lines), data=data)
    data["user"] = name
    if token.value:
        lines.append(f"{server.name} ({server.api}): {name or 'signed in'}, by {token.source}")
        scopes = (await client.get("user")).headers.get("x-oauth-scopes") if name else ""
        lines += [f"rights of the token: {one_line(scopes, 300)}"] if scopes else []
    else:
        lines.append(f"{server.name} ({server.api}): nobody is signed in; public things are read.")
        lines += _ways(ctx, client)
    lines += await _quota(client)
    try:
        found = await GitHubRepository.open(client, "")
        if not found.about:
            await found.look()
        what = "private" if found.is_private else "public"
        push = "may push" if found.may_push else "may not push"
        lines.append(f"repository: {found.name} ({what}, {push if token.value else 'reading'})")
        data["repository"] = found.name
    except ToolError as error:
        lines.append(f"repository: {error.message} {error.hint}".rstrip())
    settings = ctx.config.github
    lines += ["github.read_only is on: nothing is changed."] if settings.read_only else []
    lines += ["github.lockdown is on: texts of strangers are left out."] * settings.lockdown
    allowed = ", ".join(settings.repositories)
    lines += [f"only: {allowed} (github.repositories)"] if allowed else []
    return Result(text=client.screen.text("\n".join(lines)), data=data)


def _ways(ctx: Ctx, client: GitHubClient) -> list[str]:
    return ["To sign in, the user can: " + "; or ".join(how_to(ctx, client.server)) + "."]


async def _quota(client: GitHubClient) -> list[str]:
    if client.server.is_gitea:
        return []
    with suppress(ToolError):
        found: Any = (await client.get("rate_limit")).json()
        parts = [
            f"{v.get('remaining')} of {v.get('limit')} ({name})"
            for name, v in (found.get("resources") or {}).items()
            if name in ("core", "search")
        ]
        return [f"quota left: {', '.join(parts)}"]
    return []
