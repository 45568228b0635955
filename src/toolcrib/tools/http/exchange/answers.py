"""An answer as a result: status, headers, and the body as JSON, text or a description."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from toolcrib.core.context import Ctx
from toolcrib.core.errors import BadInput, TooLarge, UnsupportedContent
from toolcrib.execution.jq import MAX_RESULTS, run_program
from toolcrib.files.content.encodings import detect
from toolcrib.files.content.kinds import kind_of
from toolcrib.net.egress.headers import Headers
from toolcrib.net.egress.response import Response
from toolcrib.state.redaction import HIDDEN, Screen
from toolcrib.system.threads import in_thread

MAX_HEADERS = 60
MAX_HEADER = 1000
SHOWN_HEADERS = 25
SHOWN_HEADER = 200
PRETTY = 4000
"""Characters up to which JSON is shown with line breaks."""
EXACT = 2**53
"""Whole numbers beyond this are not exact in jq."""
# Of use to a browser or to nobody; left out of the text unless there is nothing else to see.
NOISE = frozenset(
    {
        *("accept-ranges", "age", "alt-svc", "cache-control", "connection", "content-encoding"),
        *("content-length", "content-type", "date", "expect-ct", "expires", "keep-alive", "nel"),
        *("p3p", "pragma", "referrer-policy", "report-to", "reporting-endpoints", "server"),
        *("server-timing", "strict-transport-security", "transfer-encoding", "vary", "via"),
        *("content-security-policy", "content-security-policy-report-only", "origin-agent-cluster"),
        *("permissions-policy", "x-content-type-options", "x-download-options"),
        *("x-frame-options", "x-powered-by", "x-xss-protection", "x-dns-prefetch-control"),
    }
)
NOISY = ("access-control-", "cf-", "cross-origin-", "x-cache", "x-served-", "x-timer", "x-amz-")


@dataclass(frozen=True, slots=True)
class Body:
    """A body that was read. `value` is set for JSON, `text` for all that is text."""

    kind: str
    text: str = ""
    value: Any = None
    notes: list[str] = field(default_factory=list)

    @property
    def is_json(self) -> bool:
        """Whether `value` holds what it says."""
        return self.kind == "json"


async def body_of(response: Response, screen: Screen, max_bytes: int, ctx: Ctx) -> Body:
    """The body of an answer, with nothing in it of the secret that was sent."""
    return await in_thread(lambda _: _read(response, screen, max_bytes), ctx.deadline)


def _read(response: Response, screen: Screen, max_bytes: int) -> Body:
    body, notes = response.body, []
    if response.truncated and len(body) >= max_bytes:
        notes.append(
            f"Only the first {max_bytes:,} bytes are here (web.requests.max_bytes); "
            "ask for less, by paging or with a Range header."
        )
    elif response.truncated:
        notes.append("The answer broke off before its end.")
    if not body:
        return Body("none", notes=notes)
    if not response.truncated and _may_be_json(response):
        try:
            value = screen.value(json.loads(body, parse_constant=_refuse))
            text = json.dumps(value, ensure_ascii=False, indent=2)
        except (ValueError, RecursionError):
            pass
        else:
            if len(text) > PRETTY:
                text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
            return Body("json", text, value, notes)
    kind = kind_of(body)
    if kind is not None:
        notes.append(f"The body is a {kind.name} of {len(body):,} bytes and is not shown.")
        return Body("binary", notes=notes)
    encoding = detect(
        body, complete=not response.truncated, declared=response.charset, lenient=True
    )
    return Body("text", screen.text(encoding.decode(body), cut=response.truncated), notes=notes)


def _may_be_json(response: Response) -> bool:
    kind = response.media_type
    if kind.endswith(("/json", "+json")):
        return True
    looks = response.body.lstrip(b" \t\r\n\xef\xbb\xbf")[:1] in (b"{", b"[")
    return looks and (kind in ("", "application/octet-stream") or kind.startswith("text/"))


def _refuse(name: str) -> Any:
    raise ValueError(name)


async def filtered(body: Body, program: str, ctx: Ctx) -> tuple[str, list[Any], list[str]]:
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
        notes.append(f"Whole numbers beyond {EXACT:,} are given to the filter as strings.")
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
        return pretty if len(pretty) <= PRETTY else lines[0], values, notes
    return "\n".join(lines), values, notes


def _exact(value: Any) -> Any:
    """The value with text in place of numbers that would change; itself if there are none."""
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) > EXACT:
        return str(value)
    if isinstance(value, dict):
        changed = {name: _exact(item) for name, item in value.items()}
        return changed if any(changed[n] is not value[n] for n in value) else value
    if isinstance(value, list):
        items = [_exact(item) for item in value]
        return items if any(a is not b for a, b in zip(items, value, strict=True)) else value
    return value


def headers_data(headers: Headers, screen: Screen) -> dict[str, str]:
    """The headers by name, bounded; values of one name are joined, cookies hidden."""
    found: dict[str, str] = {}
    for name, value in headers:
        if name not in found and len(found) >= MAX_HEADERS:
            break
        shown = _without_cookie(value) if name == "set-cookie" else value
        shown = screen.text(shown[: 2 * MAX_HEADER])[:MAX_HEADER]
        key = screen.text(name)
        found[key] = f"{found[key]}, {shown}"[:MAX_HEADER] if key in found else shown
    return found


def header_lines(found: dict[str, str], *, everything: bool) -> Iterable[str]:
    """The headers that tell something, as lines of text."""
    shown = [
        (name, value)
        for name, value in found.items()
        if everything or (name not in NOISE and not name.startswith(NOISY))
    ]
    for name, value in shown[:SHOWN_HEADERS]:
        flat = " ".join(value.split())
        yield f"{name}: {flat[:SHOWN_HEADER]}{'…' if len(flat) > SHOWN_HEADER else ''}"
    if len(shown) > SHOWN_HEADERS:
        yield f"({len(shown) - SHOWN_HEADERS} more headers)"


def _without_cookie(line: str) -> str:
    cookie, semicolon, rest = line.partition(";")
    name = cookie.partition("=")[0]
    return f"{name}={HIDDEN}{semicolon}{rest}"


def check_filter(program: str, method: str) -> None:
    """Refuse a filter where no body can come."""
    if program and method == "HEAD":
        raise BadInput("HEAD gives no body, so there is nothing to filter.")
