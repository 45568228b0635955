"""What a redirect makes of a request. Pure; the policy judges the new target."""

from __future__ import annotations

from dataclasses import dataclass, replace

from toolcrib.core.errors import Blocked, Network, TooManyRedirects
from toolcrib.core.names import name_set
from toolcrib.net.egress.transport import Request
from toolcrib.net.egress.url import Headers, Target, join_url

REDIRECT_STATUSES = frozenset({301, 302, 303, 307, 308})

# All that goes along to another origin. Keys come in many headers (Authorization,
# Cookie, X-API-Key …), so the harmless ones are listed instead.
HARMLESS = name_set("""
accept accept-encoding accept-language cache-control content-language content-type dnt
if-modified-since if-none-match pragma range user-agent
""")
SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
ABOUT_BODY = frozenset({"content-type", "content-language", "content-encoding"})


@dataclass(frozen=True, slots=True)
class Redirect:
    """One step of a chain: from where, to where, by which status."""

    source: str
    target: str
    status: int


def may_follow(request: Request, following: Request) -> bool:
    """Whether a redirect of a request to another one is followed."""
    if not request.same_origin_writes or (following.method in SAFE and following.body is None):
        return True
    before, after = request.target, following.target
    upgraded = (before.host, before.scheme, after.scheme) == (after.host, "http", "https")
    return upgraded or before.origin == after.origin


def follow(request: Request, status: int, headers: Headers, *, allow_downgrade: bool) -> Request:
    """The request that a redirect asks for.

    Raises:
        Network: no Location.
        Blocked: from https to http, or a scheme that is no web scheme.
        BadInput: the Location is not a URL.

    No message quotes the Location.
    """
    location = headers.get("location").strip()
    if not location:
        raise Network(
            f"{request.target.host} sent a redirect ({status}) without a Location.",
            hint="Use another address of the same page.",
            status=status,
            retryable=False,
        )
    target = join_url(request.target, location)
    if request.target.scheme == "https" and target.scheme == "http" and not allow_downgrade:
        raise Blocked(
            f"Destination not allowed: {request.target.host} redirects from https to http.",
            hint="The user can allow it with egress.allow_downgrade.",
            code="blocked_scheme",
            host=target.host,
            rule="downgrade",
        )
    if not target.fragment:
        target = replace(target, fragment=request.target.fragment)
    return _stripped(_with_method(request, status), target)


def becomes_get(method: str, status: int) -> bool:
    """Whether a redirect makes a GET without a body of a request."""
    return (status in (301, 302) and method == "POST") or (
        status == 303 and method not in ("GET", "HEAD")
    )


def _with_method(request: Request, status: int) -> Request:
    if not becomes_get(request.method, status):
        return request
    headers = tuple((name, value) for name, value in request.headers if name not in ABOUT_BODY)
    return replace(request, method="GET", body=None, headers=headers)


def _stripped(request: Request, target: Target) -> Request:
    headers = request.headers
    if target.origin != request.target.origin:
        headers = tuple((name, value) for name, value in headers if name in HARMLESS)
    # The addresses that were checked are those of the target before.
    return replace(request, target=target, headers=headers, addresses=())


class Chain:
    """The steps taken so far, and the cookies set on the way.

    Cookies live for one chain only: without them many sites redirect in a circle.
    They go back to the very host that set them, never to another.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._seen: set[tuple[str, str, str]] = set()
        self._cookies: dict[tuple[str, str], dict[str, str]] = {}
        self.steps: tuple[Redirect, ...] = ()

    def add(self, source: Request, target: Request, status: int, headers: Headers) -> None:
        """Note one step: the request that was sent, the one that follows, and the answer between.

        Raises:
            TooManyRedirects: the chain is too long, or comes back with nothing changed.
        """
        self._seen.add(self._state(source))
        self._learn(source.target, headers)
        self.steps += (Redirect(source.target.full, target.target.full, status),)
        if self._state(target) in self._seen:
            raise self._stopped(f"The redirects of {target.target.host} go in a circle.")
        if len(self.steps) > self._limit:
            raise self._stopped(f"There are more than {self._limit} redirects.")

    def with_cookies(self, request: Request) -> Request:
        """The request with the cookies of its host."""
        jar = self._cookies.get((request.target.scheme, request.target.host))
        if not jar:
            return request
        own = [value for name, value in request.headers if name == "cookie"]
        crumbs = "; ".join([*own, *(f"{name}={value}" for name, value in jar.items())])
        rest = tuple(pair for pair in request.headers if pair[0] != "cookie")
        return replace(request, headers=(*rest, ("cookie", crumbs)))

    def _learn(self, target: Target, headers: Headers) -> None:
        for line in headers.get_all("set-cookie"):
            name, equals, value = line.split(";", 1)[0].partition("=")
            if equals and name.strip() and len(line) <= 4096:
                jar = self._cookies.setdefault((target.scheme, target.host), {})
                jar[name.strip()] = value.strip()

    def _state(self, request: Request) -> tuple[str, str, str]:
        cookies = self._cookies.get((request.target.scheme, request.target.host), {})
        return (request.method, request.target.href, repr(sorted(cookies.items())))

    def _stopped(self, message: str) -> TooManyRedirects:
        return TooManyRedirects(message, steps=len(self.steps), retryable=False)
