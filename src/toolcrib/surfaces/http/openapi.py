"""The same tools as OpenAPI 3.1: one POST a tool, for Open WebUI and other HTTP clients."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from typing import Any

from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from toolcrib.core import errors
from toolcrib.core.context import Caller
from toolcrib.core.result import ErrorInfo, Result
from toolcrib.core.tool import Tool
from toolcrib.core.version import VERSION
from toolcrib.execution.jobs import Jobs
from toolcrib.surfaces.http.docs_page import docs_page
from toolcrib.surfaces.http.gate import DOCS, SESSION_HEADER, refusal
from toolcrib.toolbox import Toolbox

STATUSES: dict[type[errors.ToolError], int] = {
    errors.BadInput: 422,
    errors.UnknownTool: 404,
    errors.Denied: 403,
    errors.NotFound: 404,
    errors.NoResults: 404,
    errors.Conflict: 409,
    errors.TimedOut: 504,
    errors.Busy: 429,
    errors.Network: 502,
    errors.RateLimited: 429,
    errors.TooLarge: 413,
    errors.UnsupportedContent: 415,
    errors.Unavailable: 503,
    errors.Cancelled: 503,
}
"""Of a call that failed, by the class of its error; what is not here or above it is 500."""
ONLY_JSON = "Send the arguments as a JSON object, with Content-Type: application/json."


def routes(toolbox: Toolbox) -> list[Route]:
    """`/openapi.json`, `/docs` and `/tools/{name}` for the tools of the toolbox's profile."""
    description = describe(toolbox)

    async def openapi(request: Request) -> Response:
        del request
        return JSONResponse(description)

    async def docs(request: Request) -> Response:
        return docs_page(description, str(request.base_url).rstrip("/"))

    async def call(request: Request) -> Response:
        return await _call(toolbox, request)

    return [
        Route("/openapi.json", openapi, methods=["GET"]),
        Route(DOCS, docs, methods=["GET"]),
        Route("/tools/{name}", call, methods=["POST"]),
    ]


async def _call(toolbox: Toolbox, request: Request) -> Response:
    is_json = _is_json(request)
    if not is_json and "origin" in request.headers:
        return refusal(415, "unsupported_content", ONLY_JSON)
    limit = toolbox.config.limits.max_argument_chars * 2
    body = bytearray()
    try:
        async for chunk in request.stream():
            body += chunk
            if len(body) > limit:
                return refusal(413, "too_large", f"A body may have {limit:,} bytes.")
    except ClientDisconnect:
        return Response(status_code=499)
    # A form post needs no preflight, so any page could send one.
    if body and not is_json:
        return refusal(415, "unsupported_content", ONLY_JSON)
    caller = Caller(
        surface="openapi",
        name=request.headers.get("user-agent", "")[:80],
        answer_within=toolbox.config.limits.answer_within,
    )
    result = await _until_disconnect(
        request,
        toolbox.use(Jobs),
        toolbox.call(
            request.path_params["name"],
            body.decode("utf-8", "replace"),
            session=request.scope.get("toolcrib.session"),
            caller=caller,
        ),
    )
    if result is None:
        return Response(status_code=499)
    status, headers = _status(result.error)
    if request.headers.get("accept", "").startswith("text/plain"):
        return PlainTextResponse(result.render(), status, headers)
    # A host shows the body to a model, which must not get the text twice, nor unfenced.
    if result.text and "data" not in request.query_params:
        result = replace(result, data=None)
    return Response(
        json.dumps(result.to_json(), ensure_ascii=False, default=str),
        status,
        headers,
        media_type="application/json",
    )


def _status(error: ErrorInfo | None) -> tuple[int, dict[str, str]]:
    """The status of a call, and the header that says when to send it again."""
    if error is None:
        return 200, {}
    ancestors = errors.error_class(error.code).__mro__
    status = next((STATUSES[kind] for kind in ancestors if kind in STATUSES), 500)
    seconds = error.details.get("retry_after")
    return status, {"retry-after": str(seconds)} if seconds else {}


def _is_json(request: Request) -> bool:
    return request.headers.get("content-type", "").split(";")[0].strip() == "application/json"


async def _until_disconnect(request: Request, jobs: Jobs, work: Any) -> Result | None:
    """The result, or None when the client has gone; the call is then cancelled."""
    with jobs.noted() as begun:
        task: asyncio.Task[Result] = asyncio.ensure_future(work)
        gone = asyncio.ensure_future(_gone(request))
        try:
            await asyncio.wait({task, gone}, return_when=asyncio.FIRST_COMPLETED)
            if not gone.done():
                return task.result()
        finally:
            gone.cancel()
            if not task.done():
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)
        await jobs.withdraw(begun)
        return None


async def _gone(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


def describe(toolbox: Toolbox) -> dict[str, Any]:
    """The OpenAPI 3.1 document."""
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "toolcrib",
            "version": VERSION,
            "description": "Tools for local language models. A call that failed has a status of "
            "its kind (404, 422, 403, 429, 504, ...), the same body, and a code in `error`. Ask "
            "for `text/plain` to get the text alone, and add `?data` to the URL for the "
            "structured form beside the text.",
        },
        "paths": {f"/tools/{tool.name}": {"post": _operation(tool)} for tool in toolbox.listed},
        "components": {
            "schemas": {"Result": RESULT},
            "parameters": {
                "Session": {
                    "name": SESSION_HEADER,
                    "in": "header",
                    "schema": {"type": "string"},
                    "description": "Keeps conversations apart: what one has read, its results "
                    "and approvals. Without it all calls with one token are one conversation.",
                }
            },
            "securitySchemes": {"bearer": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{}, {"bearer": []}],
    }


def _operation(tool: Tool) -> dict[str, Any]:
    return {
        "operationId": tool.name,
        "summary": tool.description,
        "description": tool.guidance or tool.description,
        "tags": [tool.group],
        "parameters": [{"$ref": "#/components/parameters/Session"}],
        "requestBody": {
            "required": bool(tool.schema.get("required")),
            "content": {"application/json": {"schema": tool.schema}},
        },
        "responses": {
            "200": {"description": "The call worked.", "content": CONTENT},
            "default": {"description": "It failed; `error` says why.", "content": CONTENT},
        },
    }


RESULT: dict[str, Any] = {
    "type": "object",
    "required": ["text", "data", "images", "truncated", "next", "error"],
    "properties": {
        "text": {"type": "string", "description": "For a model to read."},
        "data": {"description": "The same for programs; beside text only with ?data."},
        "images": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"mime_type": {"type": "string"}, "data": {"type": "string"}},
            },
        },
        "truncated": {"type": "boolean", "description": "More exists; `next` reads it."},
        "next": {
            "type": ["object", "null"],
            "properties": {"tool": {"type": "string"}, "arguments": {"type": "object"}},
        },
        "error": {
            "type": ["object", "null"],
            "properties": {
                "code": {"type": "string"},
                "message": {"type": "string"},
                "hint": {"type": "string"},
                "details": {"type": "object"},
            },
        },
    },
}

CONTENT: dict[str, Any] = {
    "application/json": {"schema": {"$ref": "#/components/schemas/Result"}},
    "text/plain": {"schema": {"type": "string"}},
}
