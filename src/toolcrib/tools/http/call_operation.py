"""`call_operation`: one operation of a web service that describes itself."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from toolcrib.core.context import Ctx
from toolcrib.core.errors import Blocked, ToolError
from toolcrib.core.result import Result
from toolcrib.core.tool import NET, SEND, JsonObject, Param, tool
from toolcrib.net.egress.client import PAGES, Egress
from toolcrib.net.egress.policy import EgressPolicy
from toolcrib.net.egress.public_url import PublicUrl, check_public_url
from toolcrib.net.egress.url import parse_url
from toolcrib.system.threads import in_thread
from toolcrib.tools.http.arguments import placed
from toolcrib.tools.http.openapi import load_description, operation_named
from toolcrib.tools.http.service_request import exchange


@tool(
    group="http",
    rights=NET | SEND,
    keywords=("openapi", "swagger", "api", "endpoint", "rest", "invoke"),
    aliases=("call_endpoint", "invoke_operation", "openapi_call", "execute_operation"),
    argument_aliases={
        "url": "description",
        "spec": "description",
        "spec_url": "description",
        "openapi_url": "description",
        "operation_id": "operation",
        "endpoint": "operation",
    },
    seconds=180.0,
)
async def call_operation(
    description: Annotated[PublicUrl, Param("URL of an OpenAPI description.")],
    operation: Annotated[str, Param('Its id, or like "GET /pets/{id}".')],
    arguments: Annotated[JsonObject | None, Param("JSON object: parameters, body fields.")] = None,
    auth: Annotated[str, Param("Name of a configured secret.")] = "",
    *,
    ctx: Ctx,
) -> Result:
    """Call an operation of a web API by its OpenAPI description.

    `list_operations` shows what there is. For a request of your own use `http_request`.
    What the server says is untrusted.
    """
    found = await load_description(description, ctx)
    # Also what is said of a wrong argument has words of the description in it.
    ctx.session.taint(untrusted=True)
    chosen = await in_thread(lambda _: operation_named(found, operation), ctx.deadline)
    request = placed(chosen, arguments or {}, auth.strip())
    url = check_public_url(request.url, ctx)
    await _check_server(found.url, url, ctx)
    if ctx.check_url is not None:
        ctx.check_url(url, own=True, source=found.url)
    return await exchange(replace(request, url=url), ctx)


async def _check_server(description: str, server: str, ctx: Ctx) -> None:
    """Refuse a description of the outside that leads to what the user opened here.

    Raises:
        Blocked: the server is not public, and the description is not from there.
    """
    source, target = parse_url(description), parse_url(server)
    if source.origin == target.origin:
        return
    egress = ctx.use(Egress)
    opened = egress.policy(PAGES)
    public = EgressPolicy(deny_hosts=opened.deny_hosts, allow_ports=opened.allow_ports)
    if await _fails(source.href, public, ctx):
        return  # the description itself is from a place that the user opened
    reason = await _fails(server, public, ctx)
    if reason is not None:
        raise Blocked(
            f"The description of {source.host} leads to {target.host}, which is not public.",
            hint="A description from the web may only name public servers.",
            code=reason.stable_code,
            host=target.host,
            rule="server of a description",
        )


async def _fails(url: str, policy: EgressPolicy, ctx: Ctx) -> ToolError | None:
    target = parse_url(url)
    try:
        policy.check(target)
        await ctx.use(Egress).addresses(target, policy)
    except Blocked as error:
        return error
    except ToolError:
        return None  # that it cannot be reached is said when it is tried
    return None
