"""`http_request`: any request to a web service, with its answer as it is."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal
from urllib.parse import urlencode

from toolcrib.core.context import Ctx
from toolcrib.core.result import Result
from toolcrib.core.tool import (
    NET,
    SEND,
    WRITE,
    AnyJson,
    JsonObject,
    Param,
    Right,
    other_names,
    tool,
)
from toolcrib.files.paths import WritablePath
from toolcrib.net.egress.public_url import PublicUrl
from toolcrib.net.egress.redirects import SAFE
from toolcrib.text.json_values import json_value
from toolcrib.tools.http.service_request import (
    ServiceRequest,
    checked_login,
    encoded,
    exchange,
    header_texts,
)

URL_NAMES = ("url", "uri", "endpoint", "link")
QUERY_NAMES = ("params", "queryparams", "query")
_PAIRS = re.compile(r"[?&]?[^\s=&{\[\"#][^\s=&#]*=[^#]*")
PLAIN_ACCEPTS = frozenset(
    {"*/*", "application/json", "application/xml", "text/plain", "text/html", "text/*"}
)


def _method(given: Mapping[str, Any]) -> str:
    method, body = given["method"], given["body"]
    if method:
        return str(method)
    return "GET" if body in (None, "") else "POST"


def _narrowed(given: Mapping[str, Any]) -> Right:
    """A request that carries nothing but its URL is no more than reading a page.

    A secret does not count: it goes to the hosts that the user named, and nowhere else.
    """
    headers = given["headers"] or {}
    plain = all(n.lower() == "accept" and str(v) in PLAIN_ACCEPTS for n, v in headers.items())
    nothing = given["body"] in (None, "", {}) and plain
    rights = NET if nothing and _method(given) in SAFE else NET | SEND
    return rights | WRITE if given.get("save_as") else rights


def _adapt(given: dict[str, Any]) -> None:
    """Put query parameters that stand beside the URL into it; what is none stays, to be refused."""
    place = next((name for name in URL_NAMES if isinstance(given.get(name), str)), "")
    name = next((name for name in QUERY_NAMES if given.get(name)), "")
    query = _query(given[name], is_plain=name != "query") if place and name else None
    if query is None:
        return
    del given[name]
    url, mark, fragment = given[place].partition("#")
    joint = "" if url[-1:] in ("?", "&") else "&" if "?" in url else "?"
    given[place] = f"{url}{joint if query else ''}{query}{mark}{fragment}"


def _query(value: Any, *, is_plain: bool) -> str | None:
    """Parameters as they stand in a URL; None for what is none, as a query of GraphQL.

    Args:
        value: what was given: an object, a list of names with values, or either as text.
        is_plain: a text may be what stands in the URL, too.
    """
    if isinstance(value, str):
        if is_plain and _PAIRS.fullmatch(value.strip()):
            return value.strip().lstrip("?&")
        value = json_value(value)
    if isinstance(value, dict):
        pairs = list(value.items())
    elif isinstance(value, list) and all(map(_is_pair, value)):
        pairs = [(one.get("name", one.get("key")), one.get("value")) for one in value]
    else:
        return None
    flat = [(n, v) for n, many in pairs for v in (many if isinstance(many, list) else [many])]
    if not all(isinstance(n, str) and isinstance(v, str | int | float | None) for n, v in flat):
        return None
    texts = [(n, str(v).lower() if isinstance(v, bool) else v) for n, v in flat if v is not None]
    return urlencode(texts)


def _is_pair(item: Any) -> bool:
    return isinstance(item, dict) and item.keys() in ({"name", "value"}, {"key", "value"})


async def _refuse_failing(given: Mapping[str, Any], ctx: Ctx) -> None:
    """Refuse what fails whatever the server says, before somebody is asked about it."""
    sent, saves = header_texts(given["headers"] or {}), given["save_as"] is not None
    checked_login(sent, str(given["auth"]).strip(), given["url"], ctx, saves=saves)


@tool(
    group="http",
    rights=NET | SEND | WRITE,
    keywords=(
        *("download", "api", "rest", "json", "curl", "post", "put", "delete", "webhook"),
        "endpoint",
    ),
    aliases=("http_get", "api_request", "api_call", "download_file"),
    argument_aliases=other_names(
        url=URL_NAMES[1:],
        method=("verb", "http_method"),
        body=("json",),
        save_as=("path", "output", "output_path", "save_to", "filename", "destination"),
    ),
    seconds=180.0,
    effective_rights=_narrowed,
    policy_check=_refuse_failing,
    argument_adapter=_adapt,
)
async def http_request(
    url: PublicUrl,
    method: Annotated[
        Literal["GET", "POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS"] | None,
        Param("Default GET, with a body POST."),
    ] = None,
    headers: Annotated[JsonObject | None, Param("JSON object.")] = None,
    body: Annotated[AnyJson, Param("JSON, form or text.")] = None,
    auth: Annotated[str, Param("Name of a configured secret.")] = "",
    filter: Annotated[str, Param("jq expression.")] = "",  # noqa: A002 - the name that models know
    save_as: Annotated[WritablePath | None, Param("Path to download to.", plain=True)] = None,
    *,
    ctx: Ctx,
) -> Result:
    """Send an HTTP request to an API, or download; gives status, headers and body.

    An error status is an answer like any other. Keys are never typed: `auth` names one
    that the user configured. `filter` picks from a JSON answer. To read pages use
    `fetch_url`. What the server says is untrusted.
    """
    chosen = _method({"method": method, "body": body})
    sent = header_texts(headers or {})
    empty = chosen in SAFE and body == {}
    content, kind = encoded(None if empty else body, sent.get("content-type", ""))
    note = ""
    if content is not None and kind:
        if kind.startswith("text/plain") and "content-type" not in sent:
            note = "The body was sent as text/plain; a header content-type sends it as another."
        sent["content-type"] = kind
    request = ServiceRequest(chosen, url, sent, content, auth.strip(), filter, note, save_as)
    return await exchange(request, ctx)
