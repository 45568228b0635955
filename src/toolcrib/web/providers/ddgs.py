"""`ddgs`, the package, as one more set of parsers for public search engines.

Its engines are used one by one rather than through its front, for three reasons. The
front turns every refusal into "No results found."; its results decode the
percent-encoding of addresses (`a%26b` becomes `a&b`, another page); and its order is
drawn by lot.

The package opens its own connections. All of them go through the guard proxy, so the
same policy holds for them as for everything else.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from toolcrib.core.errors import (
    ConnectionFailed,
    HttpStatus,
    MissingExtra,
    RateLimited,
    TimedOut,
    ToolError,
    Unavailable,
)
from toolcrib.system.threads import Checkpoint, in_thread
from toolcrib.text.cleaner import one_line
from toolcrib.web.provider import (
    Provider,
    ProviderClient,
    ResultPage,
    SearchRequest,
    SearchResult,
    joined,
    result_page,
    search_result,
    slow_hint,
)
from toolcrib.web.result_markup import unwrap

ENGINES = ("duckduckgo", "brave", "mojeek", "startpage", "yahoo")
"""Those that give pages of the web, the first to be asked first."""
ENGINE_SECONDS = 8.0
SLOW = frozenset({202, 429})
_SAFE = {"strict": "on", "moderate": "moderate", "off": "off"}
_ELSE = "Use another provider, or try again later."


class Ddgs(Provider):
    """The ddgs package."""

    name = "ddgs"
    about = "The ddgs package, by the guard proxy. Only where it is named; extra [ddgs]."
    base_url = "https://html.duckduckgo.com"
    tried = False

    async def search(self, request: SearchRequest, client: ProviderClient) -> ResultPage:
        """One page of the first engine that has results."""
        _engines()
        with await client.lease() as lease:
            seconds = client.seconds
            run = _EngineRun(request, lease.http_url, client.ca_file, time.monotonic() + seconds)
            try:
                # What goes on after the time ends with the engine that is being asked.
                results = await asyncio.wait_for(in_thread(run.run), seconds)
            except TimeoutError:
                raise _timed_out(f"{seconds:g} s") from None
            except ToolError as error:
                # To the package a connection that the guard refuses is a broken one.
                if lease.refusals and not isinstance(error, RateLimited):
                    raise lease.refusals[0] from None
                raise
        return result_page(results, more=True)


@dataclass(frozen=True, slots=True)
class _EngineRun:
    request: SearchRequest
    proxy: str
    ca_file: str
    deadline: float

    def run(self, check: Checkpoint) -> list[SearchResult | None]:
        """The results of the first engine that has some, in a thread.

        Raises:
            ToolError: none has, and one of them refused or failed.
        """
        failed: list[ToolError] = []
        for name, kind in _engines():
            check()
            left = self.deadline - time.monotonic()
            if left < 1:
                break
            try:
                results = self._results_of(name, kind, min(left, ENGINE_SECONDS))
            except ToolError as error:
                failed.append(error)
                continue
            if results:
                return results
        if failed:
            raise min(failed, key=lambda error: not isinstance(error, RateLimited))
        return []

    def _results_of(self, name: str, kind: type[Any], seconds: float) -> list[SearchResult | None]:
        from ddgs.exceptions import DDGSException, TimeoutException

        request = self.request
        region = f"{request.country or 'US'}-{request.language or 'en'}".lower()
        try:
            engine = kind(proxy=self.proxy, timeout=int(seconds), verify=self.ca_file or True)
            results = engine.search(
                request.words,
                region=region,
                safesearch=_SAFE[request.safe_search],
                timelimit=request.freshness[:1] or None,
                page=request.page,
            )
        except ToolError:
            raise
        except TimeoutException:
            raise _timed_out(f"{seconds:.0f} s") from None
        except DDGSException:
            # Its text may have the address of the proxy in it.
            raise ConnectionFailed(
                f"ddgs does not reach {name}.", hint=_ELSE, provider="ddgs"
            ) from None
        except Exception as error:  # noqa: BLE001 - whatever its parsers stumble over
            raise Unavailable(
                f"ddgs cannot read the answer of {name} ({type(error).__name__}).",
                hint=_ELSE,
                provider="ddgs",
            ) from None
        return [_result(item, name, kind.search_url) for item in results or ()]


def _timed_out(limit: str) -> TimedOut:
    return TimedOut(f"ddgs did not answer within {limit}.", hint=_ELSE, provider="ddgs")


@cache
def _engines() -> Sequence[tuple[str, type[Any]]]:
    """The engines by name, each mended.

    Raises:
        MissingExtra: the package is not installed.
    """
    try:
        from ddgs.engines import ENGINES as BY_KIND
        from ddgs.results import TextResult
    except ImportError:
        raise MissingExtra("ddgs", "The search provider ddgs") from None

    normalizers = {n: f for n, f in TextResult._normalizers.items() if n != "href"}  # noqa: SLF001
    exact = type("ExactResult", (TextResult,), {"_normalizers": normalizers})
    mended = {"request": _request, "result_type": exact}
    known = BY_KIND["text"]
    return [(n, type(n, (known[n],), mended)) for n in ENGINES if n in known]


def _request(self: Any, *args: Any, **kwargs: Any) -> str:
    """An engine's request, in which a refusal is one."""
    response = self.http_client.request(*args, **kwargs)
    status = int(response.status_code)
    if status == 200:
        return str(response.text)
    if status in SLOW:
        raise RateLimited(
            f"{self.name} asks ddgs to slow down (HTTP {status}).",
            hint=slow_hint(None),
            provider="ddgs",
            status=status,
            retry_after=None,
        )
    raise HttpStatus(
        f"{self.name} answered ddgs with HTTP {status}.", hint=_ELSE, provider="ddgs", status=status
    )


def _result(item: Any, engine: str, base: str) -> SearchResult | None:
    return search_result(
        one_line(item.title),
        joined(base, unwrap(str(item.href))),
        one_line(item.body),
        engines=[engine],
    )
