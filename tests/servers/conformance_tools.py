"""Tools of the conformance suite that show parts of the protocol which toolcrib does not use."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.subscriptions import PromptsListChanged, ToolsListChanged
from mcp.shared.exceptions import MCPError

from tests.servers.conformance_content import PNG_TEXT, WAV_TEXT, ask, bus, embedded

Context = ServerRequestContext[Any, Any]
Answer = types.CallToolResult | types.InputRequiredResult
Handler = Callable[[Context, types.CallToolRequestParams], Awaitable[Answer]]

HANDLERS: dict[str, Handler] = {}
LISTED: list[types.Tool] = []
EMPTY: dict[str, Any] = {"type": "object", "properties": {}}


def fixture(schema: dict[str, Any] = EMPTY) -> Callable[[Handler], Handler]:
    """List a handler under its own name."""

    def keep(handler: Handler) -> Handler:
        HANDLERS[handler.__name__] = handler
        LISTED.append(
            types.Tool(name=handler.__name__, description="For testing.", input_schema=schema)
        )
        return handler

    return keep


def _strings(*names: str) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {name: {"type": "string"} for name in names},
        "required": list(names),
    }


def _say(text: str) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(text=text)])


def _sample(text: str, max_tokens: int) -> types.CreateMessageRequest:
    message = types.SamplingMessage(role="user", content=types.TextContent(text=text))
    return types.CreateMessageRequest(
        params=types.CreateMessageRequestParams(messages=[message], max_tokens=max_tokens)
    )


@fixture()
async def test_audio_content(ctx: Context, params: types.CallToolRequestParams) -> Answer:
    return types.CallToolResult(content=[types.AudioContent(data=WAV_TEXT, mime_type="audio/wav")])


@fixture()
async def test_embedded_resource(ctx: Context, params: types.CallToolRequestParams) -> Answer:
    text = "This is an embedded resource content."
    return types.CallToolResult(content=[embedded("test://embedded-resource", "text/plain", text)])


@fixture()
async def test_multiple_content_types(ctx: Context, params: types.CallToolRequestParams) -> Answer:
    body = '{"test": "data", "value": 123}'
    return types.CallToolResult(
        content=[
            types.TextContent(text="Multiple content types test:"),
            types.ImageContent(data=PNG_TEXT, mime_type="image/png"),
            embedded("test://mixed-content-resource", "application/json", body),
        ]
    )


@fixture()
async def test_tool_with_logging(ctx: Context, params: types.CallToolRequestParams) -> Answer:
    for line in ("Tool execution started", "Tool processing data", "Tool execution completed"):
        await _log(ctx, line)
        await asyncio.sleep(0.05)
    return _say("Logged three lines.")


async def _log(ctx: Context, line: str) -> None:
    note = types.LoggingMessageNotification(
        params=types.LoggingMessageNotificationParams(level="info", data=line)
    )
    await ctx.session.send_notification(note, related_request_id=ctx.request_id)


@fixture()
async def test_logging_tool(ctx: Context, params: types.CallToolRequestParams) -> Answer:
    meta: dict[str, Any] = dict(ctx.meta or {})
    if meta.get("io.modelcontextprotocol/logLevel"):
        await _log(ctx, "A line of the log.")
    return _say("Logged where it was asked for.")


@fixture(_strings("prompt"))
async def test_sampling(ctx: Context, params: types.CallToolRequestParams) -> Answer:
    request = _sample((params.arguments or {})["prompt"], 100)
    answer = await ctx.session.send_request(request, types.CreateMessageResult)
    text = getattr(answer.content, "text", "")
    return _say(f"LLM response: {text}")


async def _elicit(ctx: Context, message: str, properties: dict[str, Any]) -> Answer:
    schema = {"type": "object", "properties": properties, "required": []}
    answer = await ctx.session.elicit_form(message, schema, related_request_id=ctx.request_id)
    return _say(f"Elicitation completed: action={answer.action}, content={answer.content}")


@fixture(_strings("message"))
async def test_elicitation(ctx: Context, params: types.CallToolRequestParams) -> Answer:
    fields = {
        name: {"type": "string", "description": "The user's own."} for name in ("username", "email")
    }
    return await _elicit(ctx, (params.arguments or {})["message"], fields)


@fixture()
async def test_elicitation_sep1034_defaults(
    ctx: Context, params: types.CallToolRequestParams
) -> Answer:
    statuses = ["active", "inactive", "pending"]
    fields = {
        "name": {"type": "string", "default": "John Doe"},
        "age": {"type": "integer", "default": 30},
        "score": {"type": "number", "default": 95.5},
        "status": {"type": "string", "enum": statuses, "default": "active"},
        "verified": {"type": "boolean", "default": True},
    }
    return await _elicit(ctx, "Please fill in", fields)


@fixture()
async def test_elicitation_sep1330_enums(
    ctx: Context, params: types.CallToolRequestParams
) -> Answer:
    plain = ["option1", "option2", "option3"]
    titled = [{"const": f"value{n}", "title": f"Option {n}"} for n in (1, 2, 3)]
    legacy = {"enum": ["opt1", "opt2", "opt3"], "enumNames": ["One", "Two", "Three"]}
    fields = {
        "untitledSingle": {"type": "string", "enum": plain},
        "titledSingle": {"type": "string", "oneOf": titled},
        "legacyEnum": {"type": "string", **legacy},
        "untitledMulti": {"type": "array", "items": {"type": "string", "enum": plain}},
        "titledMulti": {"type": "array", "items": {"anyOf": titled}},
    }
    return await _elicit(ctx, "Please choose", fields)


@fixture()
async def test_reconnection(ctx: Context, params: types.CallToolRequestParams) -> Answer:
    if ctx.close_sse_stream is not None:
        await ctx.close_sse_stream()
    await asyncio.sleep(0.2)
    return _say("Still here.")


@fixture(
    {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {
            "address": {
                "$anchor": "addressDef",
                "type": "object",
                "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
            }
        },
        "properties": {
            "name": {"type": "string"},
            "address": {"$ref": "#/$defs/address"},
            "contactMethod": {"type": "string", "enum": ["phone", "email"]},
            "phone": {"type": "string"},
            "email": {"type": "string"},
        },
        "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
        "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
        "then": {"required": ["phone"]},
        "else": {"required": ["email"]},
        "additionalProperties": False,
    }
)
async def json_schema_2020_12_tool(ctx: Context, params: types.CallToolRequestParams) -> Answer:
    return _say("Its schema is what counts.")


@fixture(
    {
        "type": "object",
        "properties": {"region": {"type": "string", "x-mcp-header": "Region"}},
        "required": ["region"],
    }
)
async def test_custom_headers(ctx: Context, params: types.CallToolRequestParams) -> Answer:
    return _say(f"Region: {(params.arguments or {})['region']}")


@fixture()
async def test_missing_capability(ctx: Context, params: types.CallToolRequestParams) -> Answer:
    wanted = types.ClientCapabilities(sampling=types.SamplingCapability())
    if not ctx.session.check_client_capability(wanted):
        raise MCPError(
            types.MISSING_REQUIRED_CLIENT_CAPABILITY,
            "This call needs sampling.",
            {"requiredCapabilities": {"sampling": {}}},
        )
    return _say("The client can sample.")


@fixture()
async def test_streaming_elicitation(ctx: Context, params: types.CallToolRequestParams) -> Answer:
    return await test_input_required_result_elicitation(ctx, params)


@fixture()
async def test_trigger_tool_change(ctx: Context, params: types.CallToolRequestParams) -> Answer:
    await bus.publish(ToolsListChanged())
    return _say("Announced.")


@fixture()
async def test_trigger_prompt_change(ctx: Context, params: types.CallToolRequestParams) -> Answer:
    await bus.publish(PromptsListChanged())
    return _say("Announced.")


def _need(state: str | None = None, **requests: Any) -> types.InputRequiredResult:
    return types.InputRequiredResult(input_requests=requests or None, request_state=state)


@fixture()
async def test_input_required_result_elicitation(
    ctx: Context, params: types.CallToolRequestParams
) -> Answer:
    answer = (params.input_responses or {}).get("user_name")
    if not isinstance(answer, types.ElicitResult) or "name" not in (answer.content or {}):
        return _need(user_name=ask("What is your name?", name="string"))
    return _say(f"Hello, {(answer.content or {})['name']}!")


@fixture()
async def test_input_required_result_sampling(
    ctx: Context, params: types.CallToolRequestParams
) -> Answer:
    answer = (params.input_responses or {}).get("capital_question")
    if answer is None:
        return _need(capital_question=_sample("What is the capital of France?", 100))
    return _say(str(answer))


@fixture()
async def test_input_required_result_list_roots(
    ctx: Context, params: types.CallToolRequestParams
) -> Answer:
    answer = (params.input_responses or {}).get("client_roots")
    if answer is None:
        return _need(client_roots=types.ListRootsRequest())
    return _say(str(answer))


@fixture()
async def test_input_required_result_request_state(
    ctx: Context, params: types.CallToolRequestParams
) -> Answer:
    if params.request_state != "confirming" or "confirm" not in (params.input_responses or {}):
        return _need("confirming", confirm=ask("Please confirm", ok="boolean"))
    return _say("state-ok")


@fixture()
async def test_input_required_result_tampered_state(
    ctx: Context, params: types.CallToolRequestParams
) -> Answer:
    if params.request_state != "sealed":
        return _need("sealed", confirm=ask("Please confirm", ok="boolean"))
    return _say("The state came back whole.")


@fixture()
async def test_input_required_result_multiple_inputs(
    ctx: Context, params: types.CallToolRequestParams
) -> Answer:
    wanted = {
        "user_name": ask("What is your name?", name="string"),
        "greeting": _sample("Generate a greeting", 50),
        "client_roots": types.ListRootsRequest(),
    }
    if set(wanted) - set(params.input_responses or {}):
        return _need("asked for three", **wanted)
    return _say("All three came.")


@fixture()
async def test_input_required_result_multi_round(
    ctx: Context, params: types.CallToolRequestParams
) -> Answer:
    answers = params.input_responses or {}
    if params.request_state == "round 2" and "step2" in answers:
        return _say("Both came.")
    if params.request_state == "round 1" and "step1" in answers:
        return _need("round 2", step2=ask("Step 2: What is your favorite color?", color="string"))
    return _need("round 1", step1=ask("Step 1: What is your name?", name="string"))


@fixture()
async def test_input_required_result_capabilities(
    ctx: Context, params: types.CallToolRequestParams
) -> Answer:
    can = ctx.session.client_capabilities
    requests: dict[str, Any] = {}
    if can is not None and can.sampling is not None:
        requests["sampled"] = _sample("Say something", 50)
    if can is not None and can.elicitation is not None:
        requests["asked"] = ask("Say something", text="string")
    return _need(**requests) if requests else _say("This client can do neither.")
