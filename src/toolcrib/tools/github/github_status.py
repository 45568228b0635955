"""`github_status`: whether and as whom GitHub can be used, and what is missing."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from contextlib import suppress
from typing import Annotated, Any

from toolcrib.core.context import Ctx, PlainService
from toolcrib.core.errors import Denied, ToolError, Unavailable
from toolcrib.core.result import Result
from toolcrib.core.tool import NET, Decision, Param, tool
from toolcrib.execution.interpreters.programs import find_program
from toolcrib.net.egress.client import Egress
from toolcrib.net.egress.guard_proxy import GuardProxy
from toolcrib.system.child import Chunk
from toolcrib.system.processes import PASSED_ON, Processes
from toolcrib.text.cleaner import one_line, printed
from toolcrib.tools.github.client import GitHubClient, GitHubState
from toolcrib.tools.github.repository import GitHubRepository
from toolcrib.tools.github.server import GH_VARIABLES, Server
from toolcrib.tools.github.writes import signed_in_as

# Signing in by the user's own `gh`, which shows a code for the browser.

CODE_SECONDS = 30.0
"""How long gh may take until it shows its code."""
SIGN_IN_SECONDS = 900.0
"""How long a code is good for."""
_CODE = re.compile(r"\b([0-9A-Z]{4}-[0-9A-Z]{4})\b")
_URL = re.compile(r"https?://\S+/login/device\S*")


def how_to(ctx: Ctx, server: Server) -> list[str]:
    """In words, how the user signs in."""
    ways = []
    if not server.is_gitea:
        if find_program(ctx, "gh"):
            ways.append(f"sign_in=true, or in a terminal: gh auth login --hostname {server.host}")
        else:
            ways.append("install GitHub's gh (https://cli.github.com), then gh auth login")
        pages = f"{server.web}/settings/tokens"
    else:
        pages = f"{server.web}/user/settings/applications"
    variable = ctx.config.github.token_env or "GITHUB_TOKEN"
    named = (
        "" if ctx.config.github.token_env else " (named by github.token_env where it is another)"
    )
    ways.append(f"make a token ({pages}) and start toolcrib with it in {variable}{named}")
    return ways


class SignIn(PlainService):
    """A service: at most one `gh auth login` at a time, which ends with the toolbox."""

    def __init__(self) -> None:
        self._task: asyncio.Task[None] | None = None
        self._output = ""

    async def close(self) -> None:
        """Give up what is under way."""
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError, ToolError):
                await self._task

    async def start(self, ctx: Ctx, server: Server) -> str:
        """Begin, and say what the user does in the browser.

        Raises:
            Unavailable: there is no gh, or it shows no code.
        """
        program = "" if server.is_gitea else find_program(ctx, "gh")
        if not program:
            raise Unavailable(
                f"There is no gh by which to sign in to {server.name}.",
                hint=f"The user can: {'; or '.join(how_to(ctx, server))}.",
            )
        if self._task is None or self._task.done():
            self._output = ""
            displayed = asyncio.Event()
            self._task = asyncio.create_task(self._run(ctx, server, program, displayed))
            waiter = asyncio.create_task(displayed.wait())
            await asyncio.wait(
                {self._task, waiter},
                timeout=ctx.remaining(CODE_SECONDS),
                return_when=asyncio.FIRST_COMPLETED,
            )
            waiter.cancel()
        code, url = _CODE.search(self._output), _URL.search(self._output)
        if code is None:
            message = one_line(self._output, 300)
            self._task.cancel()
            raise Unavailable(
                f"gh shows no code: {message or 'it says nothing'}.",
                hint=f"The user can sign in in a terminal: gh auth login --hostname {server.host}.",
            )
        page = url[0] if url else f"{server.web}/login/device"
        return (
            f"The user opens {page} and types the code {code[1]} there. gh waits for it for "
            f"{SIGN_IN_SECONDS / 60:.0f} minutes; then github_status says who is signed in."
        )

    async def _run(self, ctx: Ctx, server: Server, program: str, displayed: asyncio.Event) -> None:
        def watch(chunk: Chunk) -> None:
            self._output += printed(chunk.data.decode("utf-8", "replace"))
            if _CODE.search(self._output) and _URL.search(self._output):
                displayed.set()

        lease = await ctx.use(GuardProxy).lease()
        lease.policy = ctx.use(Egress).policy(endpoints=(server.web,))
        env = {"HTTPS_PROXY": lease.http_url, "HTTP_PROXY": lease.http_url, "NO_COLOR": "1"}
        env |= {"GH_NO_UPDATE_NOTIFIER": "1", "BROWSER": "true"}
        argv = [program, "auth", "login", "--hostname", server.host, "--git-protocol", "https"]
        try:
            await ctx.use(Processes).run(
                [*argv, "--web"],
                cwd="/",
                env=env,
                timeout=SIGN_IN_SECONDS,
                on_output=watch,
                passed_on=(*PASSED_ON, *GH_VARIABLES),
            )
        finally:
            lease.close()
            ctx.use(GitHubState).tokens.pop(server, None)


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
