"""What a redirect makes of a request. Pure; the policy judges the new target."""

from __future__ import annotations

from dataclasses import dataclass, replace

from toolcrib.core.errors import Blocked, Network, TooManyRedirects
from toolcrib.net.egress.headers import Headers
from toolcrib.net.egress.url import Target, join_url

STATUSES = frozenset({301, 302, 303, 307, 308})

# All that goes along to another origin. Keys come in many headers (Authorization,
# Cookie, X-API-Key …), so the harmless ones are listed instead.
HARMLESS = frozenset(
    {
        "accept",
        "accept-encoding",
        "accept-language",
        "cache-control",
        "content-language",
        "content-type",
        "dnt",
        "if-modified-since",
        "if-none-match",
        "pragma",
        "range",
        "user-agent",
    }
)
SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
ABOUT_BODY = frozenset({"content-type", "content-language", "content-encoding"})


@dataclass(frozen=True, slots=True)
class Redirect:
    """One step of a chain: from where, to where, by which status."""

    source: str
    target: str
    status: int


@dataclass(frozen=True, slots=True)
class Order:
    """A request as the caller wants it, before an address is known.

    `stays` says that no redirect may carry a method that changes things, or a body, to
    another host.
    """

    method: str
    target: Target
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes | None = None
    stays: bool = False

    def may_become(self, following: Order) -> bool:
        """Whether a redirect to this order is followed."""
        if not self.stays or (following.method in SAFE and following.body is None):
            return True
        before, after = self.target, following.target
        upgraded = (before.host, before.scheme, after.scheme) == (after.host, "http", "https")
        return upgraded or before.origin == after.origin


def follow(order: Order, status: int, headers: Headers, *, allow_downgrade: bool) -> Order:
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
            f"{order.target.host} sent a redirect ({status}) without a Location.",
            hint="Use another address of the same page.",
            status=status,
            retryable=False,
        )
    target = join_url(order.target, location)
    if order.target.scheme == "https" and target.scheme == "http" and not allow_downgrade:
        raise Blocked(
            f"Destination not allowed: {order.target.host} redirects from https to http.",
            hint="The user can allow it with egress.allow_downgrade.",
            code="blocked_scheme",
            host=target.host,
            rule="downgrade",
        )
    if not target.fragment:
        target = replace(target, fragment=order.target.fragment)
    return _stripped(_with_method(order, status), target)


def _with_method(order: Order, status: int) -> Order:
    becomes_get = (status in (301, 302) and order.method == "POST") or (
        status == 303 and order.method not in ("GET", "HEAD")
    )
    if not becomes_get:
        return order
    kept = tuple((name, value) for name, value in order.headers if name not in ABOUT_BODY)
    return replace(order, method="GET", body=None, headers=kept)


def _stripped(order: Order, target: Target) -> Order:
    headers = order.headers
    if target.origin != order.target.origin:
        headers = tuple((name, value) for name, value in headers if name in HARMLESS)
    return replace(order, target=target, headers=headers)


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

    def add(self, source: Order, target: Order, status: int, headers: Headers) -> None:
        """Note one step: the order that was sent, the one that follows, and the answer between.

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

    def dressed(self, order: Order) -> Order:
        """The order with the cookies of its host."""
        jar = self._cookies.get((order.target.scheme, order.target.host))
        if not jar:
            return order
        own = [value for name, value in order.headers if name == "cookie"]
        crumbs = "; ".join([*own, *(f"{name}={value}" for name, value in jar.items())])
        rest = tuple(pair for pair in order.headers if pair[0] != "cookie")
        return replace(order, headers=(*rest, ("cookie", crumbs)))

    def _learn(self, target: Target, headers: Headers) -> None:
        for line in headers.get_all("set-cookie"):
            name, equals, value = line.split(";", 1)[0].partition("=")
            if equals and name.strip() and len(line) <= 4096:
                jar = self._cookies.setdefault((target.scheme, target.host), {})
                jar[name.strip()] = value.strip()

    def _state(self, order: Order) -> tuple[str, str, str]:
        cookies = self._cookies.get((order.target.scheme, order.target.host), {})
        return (order.method, order.target.href, repr(sorted(cookies.items())))

    def _stopped(self, message: str) -> TooManyRedirects:
        return TooManyRedirects(message, steps=len(self.steps), retryable=False)
