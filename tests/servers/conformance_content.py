"""Prompts, resources, completion, log level and subscriptions for the conformance suite."""

from __future__ import annotations

import json
import re
import struct
import zlib
from base64 import b64encode
from typing import Any

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler
from mcp.shared.exceptions import MCPError

Context = ServerRequestContext[Any, Any]


def _png() -> bytes:
    def chunk(kind: bytes, body: bytes) -> bytes:
        return (
            struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
        )

    header = struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0)
    pixel = zlib.compress(b"\x00\xff\x00\x00")
    chunks = chunk(b"IHDR", header) + chunk(b"IDAT", pixel) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + chunks


def _wav() -> bytes:
    form = struct.pack("<4sIHHIIHH", b"fmt ", 16, 1, 1, 8000, 8000, 1, 8)
    body = b"WAVE" + form + struct.pack("<4sI", b"data", 2) + b"\x80\x80"
    return b"RIFF" + struct.pack("<I", len(body)) + body


PNG = _png()
PNG_TEXT = b64encode(PNG).decode()
WAV_TEXT = b64encode(_wav()).decode()
bus = InMemorySubscriptionBus()

TEMPLATE = re.compile(r"test://template/([^/]+)/data")
RESOURCES = [
    types.Resource(uri=uri, name=uri, description="For testing.", mime_type=kind)
    for uri, kind in (
        ("test://static-text", "text/plain"),
        ("test://static-binary", "image/png"),
        ("test://watched-resource", "text/plain"),
    )
]


def _required(*names: str) -> list[types.PromptArgument]:
    return [types.PromptArgument(name=n, description="For testing.", required=True) for n in names]


PROMPTS = [
    types.Prompt(name=name, description="For testing.", arguments=_required(*names))
    for name, names in (
        ("test_simple_prompt", ()),
        ("test_prompt_with_arguments", ("arg1", "arg2")),
        ("test_prompt_with_embedded_resource", ("resourceUri",)),
        ("test_prompt_with_image", ()),
        ("test_input_required_result_prompt", ()),
    )
]


def embedded(uri: str, kind: str, text: str) -> types.EmbeddedResource:
    """A resource inside of a result."""
    held = types.TextResourceContents(uri=uri, mime_type=kind, text=text)
    return types.EmbeddedResource(resource=held)


async def _list_resources(
    ctx: Context, params: types.PaginatedRequestParams
) -> types.ListResourcesResult:
    return types.ListResourcesResult(resources=RESOURCES)


async def _list_templates(
    ctx: Context, params: types.PaginatedRequestParams
) -> types.ListResourceTemplatesResult:
    template = types.ResourceTemplate(
        uri_template="test://template/{id}/data",
        name="template",
        description="For testing.",
        mime_type="application/json",
    )
    return types.ListResourceTemplatesResult(resource_templates=[template])


async def _read(ctx: Context, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
    uri = str(params.uri)
    found: types.TextResourceContents | types.BlobResourceContents
    if uri == "test://static-binary":
        found = types.BlobResourceContents(uri=uri, mime_type="image/png", blob=PNG_TEXT)
    elif uri == "test://static-text":
        text = "This is the content of the static text resource."
        found = types.TextResourceContents(uri=uri, mime_type="text/plain", text=text)
    elif uri == "test://watched-resource":
        found = types.TextResourceContents(uri=uri, mime_type="text/plain", text="Watched.")
    elif match := TEMPLATE.fullmatch(uri):
        number = match.group(1)
        body = {"id": number, "templateTest": True, "data": f"Data for ID: {number}"}
        found = types.TextResourceContents(
            uri=uri, mime_type="application/json", text=json.dumps(body)
        )
    else:
        raise MCPError(types.INVALID_PARAMS, "Resource not found", {"uri": uri})
    return types.ReadResourceResult(contents=[found])


async def _list_prompts(
    ctx: Context, params: types.PaginatedRequestParams
) -> types.ListPromptsResult:
    return types.ListPromptsResult(prompts=PROMPTS)


async def _get_prompt(
    ctx: Context, params: types.GetPromptRequestParams
) -> types.GetPromptResult | types.InputRequiredResult:
    given = params.arguments or {}
    parts: list[Any]
    if params.name == "test_input_required_result_prompt":
        answers = params.input_responses or {}
        if "user_context" not in answers:
            question = ask("What context should the prompt use?", context="string")
            return types.InputRequiredResult(input_requests={"user_context": question})
        parts = [types.TextContent(text=f"Context: {answers['user_context']}")]
    elif params.name == "test_simple_prompt":
        parts = [types.TextContent(text="This is a simple prompt for testing.")]
    elif params.name == "test_prompt_with_arguments":
        text = f"Prompt with arguments: arg1='{given['arg1']}', arg2='{given['arg2']}'"
        parts = [types.TextContent(text=text)]
    elif params.name == "test_prompt_with_image":
        parts = [
            types.ImageContent(data=PNG_TEXT, mime_type="image/png"),
            types.TextContent(text="Please analyze the image above."),
        ]
    elif params.name == "test_prompt_with_embedded_resource":
        parts = [
            embedded(given["resourceUri"], "text/plain", "Embedded resource content for testing."),
            types.TextContent(text="Please process the embedded resource above."),
        ]
    else:
        raise MCPError(types.INVALID_PARAMS, f"There is no prompt {params.name}.")
    return types.GetPromptResult(
        messages=[types.PromptMessage(role="user", content=part) for part in parts]
    )


def ask(message: str, **fields: str) -> types.ElicitRequest:
    """A question to a person; each field with its JSON type."""
    schema = {
        "type": "object",
        "properties": {name: {"type": kind} for name, kind in fields.items()},
        "required": list(fields),
    }
    return types.ElicitRequest(
        params=types.ElicitRequestFormParams(message=message, requested_schema=schema)
    )


async def _complete(ctx: Context, params: types.CompleteRequestParams) -> types.CompleteResult:
    known = ["paris", "park", "party"]
    values = [word for word in known if word.startswith(params.argument.value)]
    return types.CompleteResult(completion=types.Completion(values=values, total=len(values)))


async def _empty(ctx: Context, params: types.RequestParams) -> types.EmptyResult:
    return types.EmptyResult()


def graft(server: Server[Any]) -> None:
    """Add what a toolcrib server does not have."""
    page = types.PaginatedRequestParams
    add = server.add_request_handler
    add("resources/list", page, _list_resources)
    add("resources/templates/list", page, _list_templates)
    add("resources/read", types.ReadResourceRequestParams, _read)
    add("resources/subscribe", types.SubscribeRequestParams, _empty)
    add("resources/unsubscribe", types.UnsubscribeRequestParams, _empty)
    add("prompts/list", page, _list_prompts)
    add("prompts/get", types.GetPromptRequestParams, _get_prompt)
    add("completion/complete", types.CompleteRequestParams, _complete)
    add("logging/setLevel", types.SetLevelRequestParams, _empty)
    add("subscriptions/listen", types.SubscriptionsListenRequestParams, ListenHandler(bus))
