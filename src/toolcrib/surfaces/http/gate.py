"""Who may speak to the HTTP server: known host names, known origins, the bearer token.

Checked before anything else of a request is looked at. A web page in the user's browser
can send requests to loopback, so the headers Host, Origin and Sec-Fetch-Site count also there.
"""

from __future__ import annotations

import base64
import binascii
import hmac
import ipaddress
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256

from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from toolcrib.core.result import ErrorInfo, Result

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
HEALTH = "/health"
"""What containers and balancers ask, which have no token."""
DOCS = "/docs"
"""A page for people, whose browsers ask for a password and know no bearer tokens."""

SESSION_HEADER = "x-toolcrib-session"
MAX_SESSION_CHARS = 80

OWN_SITES = ("same-origin", "none")
"""What browsers say in Sec-Fetch-Site of this server's own pages, and of what a person opens."""


@dataclass(frozen=True, slots=True)
class Rules:
    """What the gate lets through. `hosts` and `origins` may end in `:*` for any port.

    A page of this server itself may always call.
    """

    hosts: Sequence[str]
    origins: Sequence[str]
    token: str = ""


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a request is not let through."""

    status: int
    message: str
    hint: str
    challenge: str = ""


Refuse = Callable[[Scope, Refusal], ASGIApp | None]


class Gate:
    """ASGI middleware: refuse with 421, 403 or 401, else note whose conversation it is.

    Args:
        app: what stands behind it.
        rules: what it lets through.
        refuse: gives the answer to a refused request where another form than ours is wanted.
        health: whether the path of health checks needs no token.
    """

    def __init__(
        self, app: ASGIApp, rules: Rules, refuse: Refuse | None = None, *, health: bool = True
    ) -> None:
        self._app = app
        self._rules = rules
        self._refuse = refuse
        self._open_paths = {HEALTH} if health else set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through, or answer it."""
        if scope["type"] == "http":
            # The parser in C keeps the white space behind a value, which is no part of it.
            scope["headers"] = [(name, value.strip(b" \t")) for name, value in scope["headers"]]
            headers = {k.decode("latin-1"): v.decode("latin-1") for k, v in scope["headers"]}
            refused = self._refusal(headers, scope)
            if refused is not None:
                answer = self._refuse(scope, refused) if self._refuse is not None else None
                await (answer or _answer(refused))(scope, receive, send)
                return
            named = headers.get(SESSION_HEADER, "")
            if named:
                # Below the token's own conversation, so that no token reaches into another's.
                own = scope.get("toolcrib.session") or "local"
                scope["toolcrib.session"] = f"{own}:{_shortened(named)}"
                scope["toolcrib.named"] = True
        await self._app(scope, receive, send)

    def _refusal(self, headers: dict[str, str], scope: Scope) -> Refusal | None:
        host = headers.get("host", "")
        # A rebound name is a name: with a token, a bare address may stand for any interface.
        if not _named(host, self._rules.hosts) and not (self._rules.token and _is_address(host)):
            message = f"The host name {host[:200]!r} is not known here."
            return Refusal(421, message, "Add it to http.allow_hosts.")
        origin = headers.get("origin")
        # A page of this machine is a stranger too: any program, also one in a run, may serve it.
        is_own = origin in (f"http://{host}", f"https://{host}")
        if origin is not None and not is_own and not _named(origin, self._rules.origins):
            return Refusal(403, "This origin may not call.", "Add it to http.allow_origins.")
        # A page's pictures and links come without an Origin; a browser says whose they are.
        if origin is None and headers.get("sec-fetch-site", OWN_SITES[0]) not in OWN_SITES:
            return Refusal(403, "Pages of other sites may not call.", "Open the address itself.")
        # What a browser asks before a request (a preflight) is answered before it gets here.
        if not self._rules.token or scope["path"] in self._open_paths:
            return None
        scheme, _, given = headers.get("authorization", "").partition(" ")
        challenge = "Bearer"
        if scope["path"] == DOCS:
            challenge = 'Basic realm="toolcrib: the token is the password", charset="UTF-8"'
            if scheme.lower() == "basic":
                scheme, given = "bearer", _password(given)
        elif self._refuse is not None and "x-api-key" in headers and not scheme:
            scheme, given = "bearer", headers["x-api-key"]  # as clients of Anthropic's API send it
        right = hmac.compare_digest(given.strip().encode(), self._rules.token.encode())
        if scheme.lower() != "bearer" or not right:
            message = "The bearer token is missing or wrong."
            hint = "Send the header 'Authorization: Bearer TOKEN' with the configured token."
            return Refusal(401, message, hint, challenge)
        # One conversation a token: what it has read and seen belongs together.
        scope["toolcrib.session"] = f"token:{sha256(given.encode()).hexdigest()[:24]}"
        return None


def _shortened(name: str) -> str:
    """A name of at most 80 characters, no other's."""
    if len(name) <= MAX_SESSION_CHARS:
        return name
    digest = sha256(name.encode()).hexdigest()
    return f"{name[: MAX_SESSION_CHARS - len(digest) - 1]}~{digest}"


def _answer(refused: Refusal) -> JSONResponse:
    answer = refusal(refused.status, "denied", refused.message, refused.hint)
    if refused.challenge:
        answer.headers["www-authenticate"] = refused.challenge
    return answer


def _password(credentials: str) -> str:
    """The password in basic credentials; empty where they are none."""
    try:
        decoded = base64.b64decode(credentials.strip(), validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return ""
    return decoded.partition(":")[2]


def _named(value: str, known: Sequence[str]) -> bool:
    name, _, port = value.rpartition(":")
    any_port = f"{name}:*" if port.isdigit() else f"{value}:*"
    return value in known or any_port in known


def _is_address(host: str) -> bool:
    name = host.rpartition(":")[0] if host.count(":") == 1 or "]:" in host else host
    try:
        ipaddress.ip_address(name.strip("[]"))
    except ValueError:
        return False
    return True


def refusal(
    status: int,
    code: str,
    message: str,
    hint: str = "",
    headers: Mapping[str, str] | None = None,
) -> JSONResponse:
    """What is answered instead of serving: a result that failed, as calls give it."""
    return JSONResponse(Result(error=ErrorInfo(code, message, hint)).to_json(), status, headers)
