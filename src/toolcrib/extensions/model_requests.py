"""A question of another MCP server to the user's own model, where its settings let it ask."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from toolcrib.core.context import Ctx
from toolcrib.core.errors import BadInput, ToolError
from toolcrib.net.egress.client import Egress
from toolcrib.net.models.client import ChatRequest, ModelClient
from toolcrib.net.models.connection import Connection
from toolcrib.net.models.endpoint import find_endpoint

if TYPE_CHECKING:
    import mcp_types as types

MAX_MESSAGES = 50
MAX_CHARS = 60_000
MAX_ANSWER_TOKENS = 2_000
MAX_QUESTIONS = 20
"""Of one call of a tool: more is a loop."""
SECONDS = 120.0


async def _completion(params: types.CreateMessageRequestParams, ctx: Ctx) -> tuple[str, str]:
    """What the model of `agent.base_url` says to a server's messages, and its name.

    Nothing of the conversation goes with them, and the model is given no tools.

    Raises:
        BadInput: what is asked is no text, or too long.
        ToolError: no model answers.
    """
    config, egress = ctx.config, ctx.use(Egress)
    messages = _messages(params)
    endpoint = await find_endpoint(config, egress)
    request = ChatRequest(
        endpoint.model, messages, max_tokens=max(1, min(params.max_tokens, MAX_ANSWER_TOKENS))
    )
    client = ModelClient(
        Connection(endpoint.base_url, config, egress),
        stall=config.agent.stall_seconds,
        deadline=time.monotonic() + ctx.remaining(SECONDS),
    )
    try:
        completion = await client.answer(request)
    finally:
        await client.close()
    return completion.content.strip(), endpoint.model


def _messages(params: types.CreateMessageRequestParams) -> list[dict[str, Any]]:
    import mcp_types as types

    found: list[dict[str, Any]] = []
    if params.system_prompt:
        found.append({"role": "system", "content": params.system_prompt})
    for message in params.messages:
        parts = message.content if isinstance(message.content, list) else [message.content]
        if not all(isinstance(part, types.TextContent) for part in parts):
            raise BadInput("Only text is put to the model.")
        texts = [part.text for part in parts if isinstance(part, types.TextContent)]
        found.append({"role": message.role, "content": "\n".join(texts)})
    if not params.messages:
        raise BadInput("There is no message.")
    if len(found) > MAX_MESSAGES or sum(len(one["content"]) for one in found) > MAX_CHARS:
        raise BadInput("That is too much to be put to the model.")
    return found


async def answer_sampling(
    name: str, params: types.CreateMessageRequestParams, ctx: Ctx | None, count: int
) -> types.CreateMessageResult | types.ErrorData:
    """The answer to a server's request for a model; the result of the call says that it asked.

    Args:
        name: of the server.
        params: what it asks.
        ctx: the call for which it asks; None where it is not clear whose that is.
        count: how often it has asked in this call, this time included.
    """
    import mcp_types as types

    if ctx is None or count > MAX_QUESTIONS:
        reason = "Only in a call" if ctx is None else f"At most {MAX_QUESTIONS} times in a call"
        return types.ErrorData(code=types.INVALID_REQUEST, message=f"{reason} is a model asked.")
    try:
        text, model = await _completion(params, ctx)
    except ToolError as error:
        ctx.warn(f"{name} asked your model, and got no answer: {error.message}")
        return types.ErrorData(code=types.INTERNAL_ERROR, message=error.message)
    ctx.warn(f"{name} asked {model} of yours, and was answered.")
    return types.CreateMessageResult(
        role="assistant", content=types.TextContent(text=text), model=model, stop_reason="endTurn"
    )
