"""One request and its answer as a result: what `http_request` and `call_operation` share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from toolcrib.core.call import Result
from toolcrib.core.context import Ctx
from toolcrib.core.errors import BadInput, ToolError
from toolcrib.net.egress.client import PAGES, Egress
from toolcrib.net.egress.redirects import SAFE, STATUSES
from toolcrib.net.egress.response import Response
from toolcrib.state.redaction import Screen
from toolcrib.tools.http.exchange.answers import (
    Body,
    body_of,
    check_filter,
    filtered,
    header_lines,
    headers_data,
)
from toolcrib.tools.http.exchange.credentials import credential, names_for, refuse_typed

ACCEPT = "application/json, text/plain;q=0.9, */*;q=0.8"
IDEMPOTENT = frozenset({"GET", "HEAD", "OPTIONS", "PUT", "DELETE"})


@dataclass(frozen=True, slots=True)
class Request:
    """A request that was checked. `headers` have lower-case names; `auth` names a secret."""

    method: str
    url: str
    headers: Mapping[str, str]
    body: bytes | None = None
    auth: str = ""
    filter: str = ""


async def exchange(request: Request, ctx: Ctx) -> Result:
    """Send a request; an answer with an error status is a result, too.

    Raises:
        BadInput, Denied: a header or the secret cannot be used so.
        ToolError: what the guard or the network says; no word of the secret is in it.
    """
    refuse_typed(request.headers)
    check_filter(request.filter, request.method)
    used = credential(request.auth, request.url, ctx) if request.auth else None
    screen = Screen(*(used.secrets if used else ()))
    headers = {"accept": ACCEPT, **request.headers}
    if used is not None:
        if used.header.lower() in request.headers:
            raise BadInput(f"The header '{used.header}' belongs to the secret.")
        headers[used.header] = used.value
    settings = ctx.config.web.requests
    try:
        await ctx.progress(f"{request.method} {request.url[:200]}")
        response = await ctx.use(Egress).fetch(
            request.url,
            method=request.method,
            headers=headers,
            body=request.body,
            component=PAGES,
            max_bytes=settings.max_bytes,
            timeout=settings.timeout,
            partial=True,
            retries=ctx.config.egress.retry.retries if request.method in IDEMPOTENT else 0,
            stays=True,
            ctx=ctx,
        )
        # Also a filter that fails quotes the answer.
        ctx.session.taint(untrusted=True)
        body = await body_of(response, screen, settings.max_bytes, ctx)
        return await _result(request, response, body, screen, ctx)
    except ToolError as error:
        raise screen.error(error) from None


async def _result(
    request: Request, response: Response, body: Body, screen: Screen, ctx: Ctx
) -> Result:
    url = screen.text(response.url)
    headers = headers_data(response.headers, screen)
    notes = [*body.notes, *_advice(request, response, headers, ctx)]
    data: dict[str, Any] = {
        "url": screen.text(request.url),
        "final_url": url,
        "method": request.method,
        "status": response.status,
        "reason": response.phrase,
        "ok": response.status < 400,
        "content_type": screen.text(response.media_type),
        "headers": headers,
        "bytes": len(response.body),
        "truncated": response.truncated,
        "redirects": [
            {"from": screen.text(s.source), "to": screen.text(s.target), "status": s.status}
            for s in response.redirects
        ],
    }
    text, outside = body.text, None
    if request.filter and response.status < 400 and body.kind != "none":
        text, values, more = await filtered(body, request.filter, ctx)
        outside = body.text
        # A filter may put together what the answer had in pieces.
        text, data["results"] = screen.text(text), screen.value(values)
        notes += more
    else:
        data["body"] = body.value if body.is_json else body.text or None
        if request.filter:
            notes.append("The filter was not used on this answer.")
    if response.redirects:
        notes.append(f"Redirected to {url[:500]}")
    facts = [f"HTTP {response.status} {response.phrase}".rstrip()]
    facts += [data["content_type"][:80]] if data["content_type"] else []
    facts += [f"{len(response.body):,} bytes"] if response.body else []
    lines = [", ".join(facts), *header_lines(headers, everything=body.kind == "none"), *notes]
    return Result(
        text="\n".join(lines) + (f"\n\n{text}" if text else ""),
        data={**data, "notes": notes},
        truncated=response.truncated,
        source=url,
        private=bool(request.auth),
        outside=outside,
    )


def _advice(
    request: Request, response: Response, headers: Mapping[str, str], ctx: Ctx
) -> list[str]:
    """What to do about a status that calls for something."""
    if response.status in STATUSES and request.method not in SAFE:
        where = headers.get("location", "")[:500]
        told = f"It redirects to {where}, another host. {request.method} was not sent on there;"
        return [f"{told} send it to that URL yourself if that is meant."]
    if response.status in (401, 403) and not request.auth:
        names = names_for(response.url, ctx)
        which = f"one of: {', '.join(names)}" if names else "none is configured for this host"
        return [f"A login may be needed: 'auth' takes the name of a secret ({which})."]
    return []
