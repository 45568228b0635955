"""Names to addresses: every answer is judged, and the judged ones are all that is used."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from functools import lru_cache

from toolcrib.core.errors import Busy, DnsFailure, TimedOut
from toolcrib.net.egress.addresses import IPAddress, parse_address, plain
from toolcrib.net.egress.policy import SERVER_ADDRESS, EgressPolicy
from toolcrib.net.egress.url import Target

Lookup = Callable[[str], Awaitable[Sequence[str]]]

MAX_LOOKUPS = 64
MAX_CACHED = 256
CACHE_SECONDS = 10.0


class SystemLookup:
    """All addresses of a name by `getaddrinfo`, each time in a thread of its own.

    The threads are daemons: a name server that never answers must not hold up
    the end of the process.
    """

    def __init__(self) -> None:
        self._running = 0
        self._lock = threading.Lock()

    async def __call__(self, host: str) -> Sequence[str]:
        """The addresses as text.

        Raises:
            OSError: the name does not resolve.
        """
        with self._lock:
            if self._running >= MAX_LOOKUPS:
                raise Busy("Too many name look-ups are waiting for an answer.")
            self._running += 1
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[list[str]] = loop.create_future()

        def deliver(found: list[str] | OSError) -> None:
            if answer.done():
                return
            if isinstance(found, OSError):
                answer.set_exception(found)
            else:
                answer.set_result(found)

        def work() -> None:
            found: list[str] | OSError
            try:
                infos = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
                found = list(dict.fromkeys(str(info[4][0]) for info in infos))
            except OSError as error:
                found = error
            except UnicodeError as error:
                found = OSError(str(error))
            with self._lock:
                self._running -= 1
            with suppress(RuntimeError):  # the loop has ended meanwhile
                loop.call_soon_threadsafe(deliver, found)

        threading.Thread(target=work, name="toolcrib-dns", daemon=True).start()
        return await answer


class Resolver:
    """The one way from a target to the addresses that may be connected to.

    Args:
        lookup: from a host name to addresses as text; raises OSError.
        cache_seconds: how long an answer is used again. The policy judges it each time.
        timeout: seconds for one look-up.
    """

    def __init__(
        self,
        lookup: Lookup | None = None,
        cache_seconds: float = CACHE_SECONDS,
        timeout: float = 10.0,
    ) -> None:
        self._lookup = lookup or SystemLookup()
        self._cache_seconds = cache_seconds
        self._timeout = timeout
        self._cache: OrderedDict[str, tuple[float, tuple[IPAddress, ...]]] = OrderedDict()

    async def approved(self, target: Target, policy: EgressPolicy) -> tuple[IPAddress, ...]:
        """The addresses of a target, all of them allowed.

        Raises:
            Blocked: the policy refuses the target or one of its addresses.
            DnsFailure: the name has no address.
            TimedOut: the name server does not answer.
        """
        _check(policy, target)
        if target.literal is not None:
            return (plain(target.literal),)
        if policy.serves(target):
            return (SERVER_ADDRESS,)
        addresses = policy.loopback(target) or await self.addresses(target.host)
        _check_answers(policy, target, addresses)
        return addresses

    async def addresses(self, host: str) -> tuple[IPAddress, ...]:
        """Every address of a name, unjudged.

        Raises:
            DnsFailure: the name has no address.
            TimedOut: the name server does not answer.
        """
        cached = self._cache.get(host)
        if cached is not None and cached[0] > time.monotonic():
            return cached[1]
        found = await self._ask(host)
        if self._cache_seconds > 0:
            self._cache[host] = (time.monotonic() + self._cache_seconds, found)
            self._cache.move_to_end(host)
            if len(self._cache) > MAX_CACHED:
                self._cache.popitem(last=False)
        return found

    async def _ask(self, host: str) -> tuple[IPAddress, ...]:
        try:
            async with asyncio.timeout(self._timeout):
                answers = await self._lookup(host)
            found = tuple(dict.fromkeys(parse_address(answer) for answer in answers))
        except TimeoutError:
            raise TimedOut(
                f"The name server did not answer for {host}.",
                hint="Try again later, or use another host.",
                host=host,
                retryable=True,
            ) from None
        except (OSError, ValueError) as error:
            retryable = getattr(error, "errno", None) == socket.EAI_AGAIN
            raise _unresolved(host, retryable=retryable) from None
        if not found:
            raise _unresolved(host, retryable=False)
        return found


# A policy is pure and compared by identity: what it once let through, it lets through
# again. Refusals are raised, so they are never kept.
@lru_cache(maxsize=1024)
def _check(policy: EgressPolicy, target: Target) -> None:
    policy.check(target)  # that of a narrower policy, where it is one


_check_answers = lru_cache(maxsize=1024)(EgressPolicy.check_answers)


FILE_ENDINGS = frozenset({"txt", "csv", "json", "html", "pdf", "docx", "xlsx", "png", "jpg", "log"})
"""Of names without a scheme that are taken for hosts; no top-level domain is called so."""


def _unresolved(host: str, *, retryable: bool) -> DnsFailure:
    hint = (
        "Check the spelling of the host. Where no host resolves, this machine is offline "
        "(toolcrib doctor checks it)."
    )
    if retryable:  # no name server answered
        hint = "This machine may be offline: toolcrib doctor checks it."
    if host.rpartition(".")[2] in FILE_ENDINGS:
        hint = "For a file of the workspace use the file tools, such as read_file."
    if host.endswith(".html"):
        hint += f" A picture of the page: preview_html path={host} screenshot=page.png show=false."
    return DnsFailure(
        f"The host name {host} does not resolve.",
        hint=hint,
        host=host,
        reason="dns",
        retryable=retryable,
    )
