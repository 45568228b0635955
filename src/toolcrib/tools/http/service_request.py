"""A request to a web service and its response as a result, with bodies and configured secrets."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from toolcrib.core.config import secret
from toolcrib.core.context import Ctx
from toolcrib.core.errors import (
    BadInput,
    ConfigError,
    Denied,
    TooLarge,
    ToolError,
    UnsupportedContent,
)
from toolcrib.core.names import name_set
from toolcrib.core.result import Result, json_numbers
from toolcrib.core.settings import SecretConfig
from toolcrib.data.table_files import save
from toolcrib.execution.jq import MAX_RESULTS, run_program
from toolcrib.files.content.kinds import detect, kind_of
from toolcrib.files.content.outline import ending_of
from toolcrib.files.edits.text_loader import NEVER_TEXT
from toolcrib.files.paths import SafePath
from toolcrib.net.egress.client import PAGES, Egress
from toolcrib.net.egress.policy import HostRule
from toolcrib.net.egress.redirects import REDIRECT_STATUSES, SAFE, becomes_get
from toolcrib.net.egress.response import Response
from toolcrib.net.egress.url import Headers, Target, checked_headers, parse_url
from toolcrib.state.redaction import HIDDEN, SecretFilter, names_secret, redact_text
from toolcrib.system.threads import in_thread

MAX_RESULT_HEADERS = 60
MAX_RESULT_HEADER_CHARS = 1000
MAX_HEADERS_IN_TEXT = 25
MAX_HEADER_CHARS_IN_TEXT = 200
MAX_PRETTY_CHARS = 4000
"""Characters up to which JSON is shown with line breaks."""
MAX_DOWNLOAD_BYTES = 200_000_000
DOWNLOAD_SECONDS = 150.0
MAX_EXACT_INTEGER = 2**53
"""Whole numbers beyond this are not exact in jq."""
# Of use to a browser or to nobody; left out of the text unless there is nothing else to see.
ROUTINE_HEADERS = name_set("""
accept-ranges age alt-svc cache-control connection content-encoding content-length content-type
date expect-ct expires keep-alive nel p3p pragma referrer-policy report-to reporting-endpoints
server server-timing strict-transport-security transfer-encoding vary via
content-security-policy content-security-policy-report-only origin-agent-cluster
permissions-policy x-content-type-options x-download-options x-frame-options x-powered-by
x-xss-protection x-dns-prefetch-control
""")
ROUTINE_HEADER_PREFIXES = (
    "access-control-",
    "cf-",
    "cross-origin-",
    "x-cache",
    "x-served-",
    "x-timer",
    "x-amz-",
)


@dataclass(frozen=True, slots=True)
class ServiceBody:
    """A body that was read. `value` is set for JSON, `text` for all that is text."""

    kind: str
    text: str = ""
    value: Any = None
    notes: list[str] = field(default_factory=list)

    @property
    def is_json(self) -> bool:
        """Whether `value` holds what it says."""
        return self.kind == "json"


async def body_of(
    response: Response, screen: SecretFilter, max_bytes: int, ctx: Ctx
) -> ServiceBody:
    """The body of an answer, with nothing in it of the secret that was sent."""
    return await in_thread(lambda _: _read(response, screen, max_bytes), ctx.deadline)


def _read(response: Response, screen: SecretFilter, max_bytes: int) -> ServiceBody:
    body, notes = response.body, []
    if response.truncated and len(body) >= max_bytes:
        notes.append(
            f"Only the first {max_bytes:,} bytes are here (web.requests.max_bytes); "
            "ask for less, by paging or with a Range header."
        )
    elif response.truncated:
        notes.append("The answer broke off before its end.")
    if not body:
        return ServiceBody("none", notes=notes)
    if not response.truncated and _may_be_json(response):
        try:
            value = screen.value(_loaded(body, notes))
            text = json.dumps(value, ensure_ascii=False, indent=2)
        except (ValueError, RecursionError):
            pass
        else:
            if len(text) > MAX_PRETTY_CHARS:
                text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
            return ServiceBody("json", text, value, notes)
    kind = kind_of(body)
    if kind is not None:
        notes.append(f"The body is a {kind.name} of {len(body):,} bytes and is not shown.")
        return ServiceBody("binary", notes=notes)
    encoding = detect(
        body, complete=not response.truncated, declared=response.charset, lenient=True
    )
    return ServiceBody(
        "text", screen.text(encoding.decode(body), cut=response.truncated), notes=notes
    )


def _may_be_json(response: Response) -> bool:
    kind = response.media_type
    if kind.endswith(("/json", "+json")):
        return True
    looks = response.body.lstrip(b" \t\r\n\xef\xbb\xbf")[:1] in (b"{", b"[")
    return looks and (kind in ("", "application/octet-stream") or kind.startswith("text/"))


def _loaded(body: bytes, notes: list[str]) -> Any:
    """The value of JSON, and notes on what of it is not kept.

    Raises:
        ValueError, RecursionError: it is none.
    """
    found: set[str] = set()

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        items = dict(pairs)
        if len(items) < len(pairs):
            found.add("A key stands twice in an object: the last one is shown.")
        return items

    value = json.loads(body, parse_constant=_refuse_constant, object_pairs_hook=once)
    finite = json_numbers(value)
    if finite != value:
        found.add("Numbers too large to be read are null.")
    notes += sorted(found)
    return finite


def _refuse_constant(name: str) -> Any:
    raise ValueError(name)


async def filtered(body: ServiceBody, program: str, ctx: Ctx) -> tuple[str, list[Any], list[str]]:
    """What a jq program makes of a JSON body: as text, as values, and notes.

    Raises:
        TooLarge, UnsupportedContent: the body is not whole, or no JSON.
        ToolError: see `run_program`.
    """
    if not body.is_json:
        if body.notes:
            raise TooLarge(
                f"The filter needs the whole answer. {body.notes[0]}",
                hint="Ask for less: a smaller page, fewer fields.",
            )
        raise UnsupportedContent(
            "The answer is not JSON, so it cannot be filtered.", hint="Leave 'filter' out."
        )
    exact, notes = _exact(body.value), []
    if exact is not body.value:
        notes.append(
            f"Whole numbers beyond {MAX_EXACT_INTEGER:,} are given to the filter as strings."
        )
    lines = await run_program(program, json.dumps(exact), ctx)
    if len(lines) > MAX_RESULTS:
        lines = lines[:MAX_RESULTS]
        notes.append(f"Only the first {MAX_RESULTS:,} results of the filter are here.")
    values = [json.loads(line) for line in lines]
    if not lines:
        return "(the filter gives nothing)", [], notes
    if len(values) == 1:
        only = values[0]
        pretty = only if isinstance(only, str) else json.dumps(only, ensure_ascii=False, indent=2)
        return pretty if len(pretty) <= MAX_PRETTY_CHARS else lines[0], values, notes
    return "\n".join(lines), values, notes


def _exact(value: Any) -> Any:
    """The value with text in place of numbers that would change; itself if there are none."""
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) > MAX_EXACT_INTEGER:
        return str(value)
    if isinstance(value, dict):
        changed = {name: _exact(item) for name, item in value.items()}
        return changed if any(changed[n] is not value[n] for n in value) else value
    if isinstance(value, list):
        items = [_exact(item) for item in value]
        return items if any(a is not b for a, b in zip(items, value, strict=True)) else value
    return value


def headers_data(headers: Headers, screen: SecretFilter) -> dict[str, str]:
    """The headers by name, bounded; values of one name are joined, cookies hidden."""
    found: dict[str, str] = {}
    for name, value in headers:
        if name not in found and len(found) >= MAX_RESULT_HEADERS:
            break
        displayed = _without_cookie(value) if name == "set-cookie" else value
        displayed = screen.text(displayed[: 2 * MAX_RESULT_HEADER_CHARS])[:MAX_RESULT_HEADER_CHARS]
        key = screen.text(name)
        found[key] = (
            f"{found[key]}, {displayed}"[:MAX_RESULT_HEADER_CHARS] if key in found else displayed
        )
    return found


def header_lines(found: dict[str, str], *, everything: bool) -> Iterable[str]:
    """The headers that tell something, as lines of text."""
    displayed = [
        (name, value)
        for name, value in found.items()
        if everything
        or (name not in ROUTINE_HEADERS and not name.startswith(ROUTINE_HEADER_PREFIXES))
    ]
    for name, value in displayed[:MAX_HEADERS_IN_TEXT]:
        flat = " ".join(value.split())
        more = "…" if len(flat) > MAX_HEADER_CHARS_IN_TEXT else ""
        yield f"{name}: {flat[:MAX_HEADER_CHARS_IN_TEXT]}{more}"
    if len(displayed) > MAX_HEADERS_IN_TEXT:
        yield f"({len(displayed) - MAX_HEADERS_IN_TEXT} more headers)"


def _without_cookie(line: str) -> str:
    cookie, semicolon, rest = line.partition(";")
    name = cookie.partition("=")[0]
    return f"{name}={HIDDEN}{semicolon}{rest}"


def check_filter(program: str, method: str) -> None:
    """Refuse a filter where no body can come."""
    if program and method == "HEAD":
        raise BadInput("HEAD gives no body, so there is nothing to filter.")


# Secrets by name: which request may carry one, and hiding it in whatever comes back.

SETTING = "web.requests.secrets"
NOT_SECRET = ("csrf", "xsrf")


@dataclass(frozen=True, slots=True)
class Credential:
    """A header that proves who asks, and the secrets that must not be shown."""

    header: str
    value: str
    secrets: tuple[str, ...]


def credential(name: str, url: str, ctx: Ctx) -> Credential:
    """The configured secret of this name, for a request to this URL.

    Raises:
        BadInput: there is no such secret.
        Denied: it is not for this host, or the way there is not encrypted.
        NotConfigured, ConfigError: it has no value, or is configured wrongly.
    """
    known = ctx.config.web.requests.secrets
    found = known.get(name.strip())
    if found is None:
        names = ", ".join(sorted(known)) or "none is configured"
        raise BadInput(
            f"There is no secret named '{name[:60]}'.",
            hint=f"'auth' takes a name of {SETTING}, never a key. Names: {names}.",
        )
    target = parse_url(url)
    setting = f"{SETTING}.{name.strip()}"
    if not _is_for(found, target, setting):
        raise Denied(
            f"The secret '{name.strip()}' is not for {target.host}.",
            hint=f"It goes to {', '.join(found.hosts) or 'no host'} only ({setting}.hosts).",
        )
    if not _is_encrypted(target, ctx):
        raise Denied(
            f"The secret '{name.strip()}' is not sent over plain http to {target.host}.",
            hint="Use the https address.",
        )
    return _built(found, secret(found.env, f"'{name.strip()}' ({setting}.env)"), setting)


def names_for(url: str, ctx: Ctx) -> list[str]:
    """The names of the secrets that a host may be sent."""
    target = parse_url(url)
    secrets = ctx.config.web.requests.secrets
    return sorted(n for n, s in secrets.items() if _is_for(s, target, f"{SETTING}.{n}"))


def refuse_typed(headers: Mapping[str, str]) -> None:
    """Refuse credentials that stand in a call.

    Raises:
        BadInput: a header whose name or value is that of a secret.
    """
    for name, value in headers.items():
        tokens = any(word in name.lower() for word in NOT_SECRET)
        if (names_secret(name) and not tokens) or redact_text(f"x: {value}") != f"x: {value}":
            raise BadInput(
                f"The header '{name[:60]}' looks like a login, which is never typed in a call.",
                hint=f"Name a secret with 'auth'; the user keeps them in {SETTING}.",
            )


def _is_for(found: SecretConfig, target: Target, setting: str) -> bool:
    try:
        return any(HostRule.parse(host).matches(target) for host in found.hosts)
    except ConfigError:
        raise ConfigError(
            f"{setting}.hosts: {', '.join(found.hosts)[:200]} is not a list of hosts.",
            hint="Forms: host, host:port, *.suffix; no scheme and no path.",
        ) from None


def _is_encrypted(target: Target, ctx: Ctx) -> bool:
    """Whether nobody in between can read along: https, this machine, or as the user opened it."""
    if target.scheme == "https" or (target.literal is not None and target.literal.is_loopback):
        return True
    if target.host == "localhost" or target.host.endswith(".localhost"):
        return True
    policy = ctx.use(Egress).policy(PAGES)
    opened = any(rule.matches(target) for rule in policy.allow_hosts)
    literal = target.literal
    return opened or (literal is not None and any(literal in n for n in policy.allow_networks))


def _built(found: SecretConfig, value: str, setting: str) -> Credential:
    parts = [value]
    if found.scheme == "header":
        header, sent = found.header, value
    elif found.scheme == "basic":
        sent = f"Basic {b64encode(value.encode()).decode()}"
        header = "authorization"
        parts += [sent.removeprefix("Basic "), value.partition(":")[2]]
    else:
        header, sent = "authorization", f"Bearer {value}"
        parts.append(sent)
    try:
        checked_headers({header: sent})
        sent.encode("latin-1")
    except (ToolError, UnicodeEncodeError):
        raise ConfigError(
            f"{setting} cannot be sent as a header.",
            hint="Scheme header needs a header name; a key has no line breaks.",
        ) from None
    return Credential(header, sent, tuple(parts))


# What a call gives as headers and body, as it goes over the wire.

JSON = "application/json"
FORM = "application/x-www-form-urlencoded"
MAX_HEADERS = 50
MAX_HEADER_CHARS = 8192
_FORM = re.compile(r"[\w.\-~%+*\[\]]+=[^&\s]*(?:&[\w.\-~%+*\[\]]+=[^&\s]*)*", re.ASCII)


def header_texts(given: Mapping[str, Any]) -> dict[str, str]:
    """Headers as texts, names in lower case.

    Raises:
        BadInput: a value that is no text, or too much in all.
    """
    texts: dict[str, str] = {}
    for name, value in given.items():
        if value is None:
            continue
        if not isinstance(value, str | int | float):
            raise BadInput(
                f"The header '{name[:60]}' must be a string.",
                hint='Give headers as {"Name": "text"}; several values go into one, with commas.',
            )
        text = str(value).lower() if isinstance(value, bool) else str(value)
        try:
            text.encode("latin-1")
        except UnicodeEncodeError:
            raise BadInput(
                f"The header '{name[:60]}' has characters that a header cannot have.",
                hint="Encode them as the service asks, as with %C3%A9, or put them into the body.",
            ) from None
        texts[name.strip().lower()] = text
    if len(texts) > MAX_HEADERS or sum(map(len, texts.values())) > MAX_HEADER_CHARS:
        raise BadInput(
            f"At most {MAX_HEADERS} headers with {MAX_HEADER_CHARS:,} characters.",
            hint="Leave out what the service does not ask for.",
        )
    return texts


def encoded(body: Any, content_type: str) -> tuple[bytes | None, str]:
    """A body as bytes, with its content type; None for no body.

    An object is JSON, or a form where the content type says so. Text that holds a JSON
    object or array, or reads like a form, is sent as such; other text is plain.

    Raises:
        BadInput: it cannot be encoded so.
    """
    if body is None or body == "":
        return None, content_type
    kind = content_type.partition(";")[0].strip().lower()
    if kind.startswith("multipart/"):
        raise BadInput(f"Bodies of type {kind[:60]} cannot be sent.", hint="Send JSON or a form.")
    if isinstance(body, str):
        return body.encode("utf-8", "replace"), content_type or _kind_of(body)
    if kind == FORM:
        return _form(body), content_type
    try:
        return json.dumps(body, ensure_ascii=False, allow_nan=False).encode("utf-8", "replace"), (
            content_type or JSON
        )
    except (ValueError, RecursionError) as error:
        raise BadInput(
            f"The body cannot be written as JSON: {error}.",
            hint="Give finite numbers and less nesting, or the body as text.",
        ) from None


def _kind_of(text: str) -> str:
    if text.lstrip().startswith(("{", "[")):
        try:
            json.loads(text)
        except (ValueError, RecursionError):
            pass
        else:
            return JSON
    return FORM if _FORM.fullmatch(text) else "text/plain; charset=utf-8"


def _form(body: Any) -> bytes:
    if not isinstance(body, Mapping):
        raise BadInput(
            "A form must be a JSON object of fields.",
            hint='Give the body as {"field": "value"}, or as text such as field=value.',
        )
    fields: list[tuple[str, str]] = []
    for name, value in body.items():
        items = value if isinstance(value, list) else [value]
        fields += [(name, plain_text(item)) for item in items if item is not None]
    return urlencode(fields, errors="replace").encode("ascii")


def plain_text(value: Any) -> str:
    """A JSON value as it stands in a URL or a form."""
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


ACCEPT = "application/json, text/plain;q=0.9, */*;q=0.8"
IDEMPOTENT = frozenset({"GET", "HEAD", "OPTIONS", "PUT", "DELETE"})


@dataclass(frozen=True, slots=True)
class ServiceRequest:
    """A request that was checked. `headers` have lower-case names; `auth` names a secret.

    `note` is what a caller should know of what was sent; `save_as` is the file that the body of
    a good answer becomes.
    """

    method: str
    url: str
    headers: Mapping[str, str]
    body: bytes | None = None
    auth: str = ""
    filter: str = ""
    note: str = ""
    save_as: SafePath | None = None


def checked_login(
    headers: Mapping[str, str], auth: str, url: str, ctx: Ctx, *, saves: bool
) -> Credential | None:
    """What a request logs in with, if with anything.

    Raises:
        BadInput, Denied, NotConfigured: see `refuse_typed` and `credential`; or it saves a file.
    """
    refuse_typed(headers)
    if auth and saves:
        raise BadInput(
            "'save_as' and 'auth' do not go together: the file could hold the secret.",
            hint="Leave out 'save_as' and pick what you need with 'filter'; write_file keeps it.",
        )
    return credential(auth, url, ctx) if auth else None


async def exchange(request: ServiceRequest, ctx: Ctx) -> Result:
    """Send a request; an answer with an error status is a result, too.

    Raises:
        BadInput, Denied: a header or the secret cannot be used so.
        ToolError: what the guard or the network says; no word of the secret is in it.
    """
    check_filter(request.filter, request.method)
    saves = request.save_as is not None
    used = checked_login(request.headers, request.auth, request.url, ctx, saves=saves)
    screen = SecretFilter(*(used.secrets if used else ()))
    headers = {"accept": "*/*" if saves else ACCEPT, **request.headers}
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
            max_bytes=MAX_DOWNLOAD_BYTES if saves else settings.max_bytes,
            timeout=max(settings.timeout, DOWNLOAD_SECONDS) if saves else settings.timeout,
            allow_truncated=not saves,
            retries=ctx.config.egress.retry.retries if request.method in IDEMPOTENT else 0,
            same_origin_writes=True,
            secret=used is not None,
            ctx=ctx,
        )
        # Also a filter that fails quotes the answer.
        ctx.session.taint(untrusted=True)
        if request.save_as is not None and response.status < 400:
            body = await _saved(response, request.save_as, ctx)
        else:
            body = await body_of(response, screen, settings.max_bytes, ctx)
        return await _result(request, response, body, screen, ctx)
    except ToolError as error:
        raise screen.error(error) from None


async def _saved(response: Response, path: SafePath, ctx: Ctx) -> ServiceBody:
    line, _ = await save("http_request", path, response.body, ctx)
    notes, ending = [line], ending_of(path.name)
    if ending in NEVER_TEXT and kind_of(response.body) is None:
        notes.append(f"Warning: it is text, and so no .{ending} file: read it before you use it.")
    return ServiceBody("binary", notes=notes)


async def _result(
    request: ServiceRequest, response: Response, body: ServiceBody, screen: SecretFilter, ctx: Ctx
) -> Result:
    url = screen.text(response.url)
    headers = headers_data(response.headers, screen)
    notes = [*filter(None, (request.note,)), *body.notes, *_advice(request, response, headers, ctx)]
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
    if request.save_as is not None and response.status >= 400:
        notes.append(f"Nothing was saved to {request.save_as.display}.")
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
        notes.append(f"Redirected to {url[:500]}{_without_body(request, response)}")
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


def _without_body(request: ServiceRequest, response: Response) -> str:
    """That a redirect made a GET of the request, if one did."""
    method = request.method
    for step in response.redirects:
        if becomes_get(method, step.status):
            what = "the body" if request.body is not None else method
            return f" ({what} was not sent again: {step.status} makes it a GET)"
    return ""


def _advice(
    request: ServiceRequest, response: Response, headers: Mapping[str, str], ctx: Ctx
) -> list[str]:
    """What to do about a status that calls for something."""
    if response.status in REDIRECT_STATUSES and request.method not in SAFE:
        where = headers.get("location", "")[:500]
        message = f"It redirects to {where}, another host. {request.method} was not sent on there;"
        return [f"{message} send it to that URL yourself if that is meant."]
    if response.status in (401, 403) and not request.auth:
        names = names_for(response.url, ctx)
        which = f"one of: {', '.join(names)}" if names else "none is configured for this host"
        return [f"A login may be needed: 'auth' takes the name of a secret ({which})."]
    return []
