"""What a server's refusal means: no right, no such thing, a quota used up, a pause asked for."""

from __future__ import annotations

import time

from toolcrib.core.errors import (
    BadInput,
    Conflict,
    Denied,
    HttpStatus,
    NotFound,
    RateLimited,
    ToolError,
)
from toolcrib.net.egress.response import Response
from toolcrib.text.cleaner import one_line
from toolcrib.text.json_values import json_object
from toolcrib.tools.github.server import Server, Token

MAX_MESSAGE_CHARS = 400
SIGN_IN = "github_status says how to sign in."


def refusal(response: Response, server: Server, token: Token) -> ToolError:
    """The error for an answer whose status is 400 or more."""
    status, name, message = response.status, server.name, message_of(response.body)
    if status == 401:
        what = f"the token from {token.source}" if token.value else "calls without a token"
        return Denied(
            f"{name} does not accept {what}: {message or 'no reason given'}.", hint=SIGN_IN
        )
    if status in (403, 429):
        return _limit(response, server, token, message) or _no_right(
            response, server, token, message
        )
    if status in (404, 410):
        return NotFound(f"{name}: {message or 'not found'}.", hint="Check repository and number.")
    if status in (405, 409):
        return Conflict(f"{name}: {message}.", hint="Read it again, then decide.")
    if status in (400, 422):
        return BadInput(f"{name} does not take that: {message}.")
    if status == 451:
        return Denied(
            f"{name} may not show it for legal reasons: {message}.", hint="Use another source."
        )
    return HttpStatus(
        f"{name} answered {status} {response.phrase}: {message}.",
        hint="Try again in a minute; github_status says whether it answers.",
        status=status,
    )


def message_of(body: bytes) -> str:
    """The message of an answer, with what it says of single fields, in one line."""
    found = json_object(body)
    if found is None:
        return ""
    parts = [one_line(found.get("message"), MAX_MESSAGE_CHARS).rstrip(".")]
    errors = found.get("errors")
    for error in errors[:5] if isinstance(errors, list) else ():
        if isinstance(error, dict):
            words = (error.get("message"), error.get("field"), error.get("code"))
            parts.append(one_line(" ".join(str(w) for w in words if w), MAX_MESSAGE_CHARS))
        else:
            parts.append(one_line(error, MAX_MESSAGE_CHARS))
    return "; ".join(part for part in parts if part)


def _limit(response: Response, server: Server, token: Token, message: str) -> RateLimited | None:
    """The quota of an hour or a minute, or the pause that is asked of who is too fast."""
    headers, lower = response.headers, message.lower()
    wait = response.retry_after
    is_used_up = headers.get("x-ratelimit-remaining") == "0"
    if "secondary rate limit" in lower or "abuse detection" in lower or (wait and not is_used_up):
        seconds = wait or 60.0
        return RateLimited(
            f"{server.name} asks for a pause of {seconds:.0f} s: too much at once "
            "(secondary rate limit).",
            hint="Wait that long, then send the call again; ask for less at once.",
            retry_after=seconds,
        )
    if not is_used_up and response.status != 429:
        return None
    reset = headers.get("x-ratelimit-reset")
    if wait is None and reset.isdecimal():
        wait = max(0.0, float(reset) - time.time())
    kind = headers.get("x-ratelimit-resource")
    what = f"{headers.get('x-ratelimit-limit') or 'its'} requests"
    more = "" if token.value else f" Without a sign-in it is small: {SIGN_IN}"
    when = f" It is filled again in {wait / 60:.0f} min." if wait and wait >= 90 else ""
    when = when or (f" It is filled again in {wait:.0f} s." if wait else "")
    return RateLimited(
        f"The quota of {what} at {server.name}{f' ({kind})' if kind else ''} is used up.{when}",
        hint=f"Go on with something else until then.{more}",
        retry_after=wait,
    )


def _no_right(response: Response, server: Server, token: Token, message: str) -> Denied:
    sso = response.headers.get("x-github-sso").partition("url=")[2]
    if sso:
        return Denied(
            f"The organisation wants a single sign-on for the token from {token.source}.",
            hint=f"The user opens {one_line(sso, 300)} and allows it.",
        )
    wanted = response.headers.get("x-accepted-github-permissions")
    wanted = wanted or response.headers.get("x-accepted-oauth-scopes")
    needs = f" It needs: {one_line(wanted, 200)}." if wanted.strip() else ""
    if not token.value:
        return Denied(f"{server.name} wants a sign-in for that: {message}.", hint=SIGN_IN)
    return Denied(
        f"The token from {token.source} has no right to that: {message}.{needs}",
        hint="The user gives the token that right, or does it.",
    )
