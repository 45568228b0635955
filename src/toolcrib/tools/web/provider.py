"""What a search provider is: one file in `providers` with one `PROVIDER`.

A provider turns an `Ask` into a `Page` of results. It reaches its service through
`Reach`, which knows the address, the key and the guarded network, and it raises:
`NotConfigured` for a missing setting, `RateLimited`, `ChallengePage` and `HttpStatus`
for what the service refuses, `Unavailable` for an answer that it cannot read. A page
without results is no error: it is an empty `Page`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from toolcrib.core.config import ProviderConfig, secret
from toolcrib.core.context import Ctx
from toolcrib.core.errors import BadInput, NotConfigured, Unavailable
from toolcrib.kit.egress import Egress, Response
from toolcrib.kit.text import clean
from toolcrib.tools.web.answers import check

MAX_BYTES = 2_000_000
COMPONENT = "web.search"
_WEB = re.compile(r"https?://[^\s/?#]+[^\s]*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Ask:
    """One page of results that is wanted.

    `page` counts the provider's own pages from 1. `cursor` is what the page before
    gave. `freshness` is "", "day", "week", "month" or "year"; `safe_search` is
    "strict", "moderate" or "off".
    """

    query: str
    page: int = 1
    freshness: str = ""
    safe_search: str = "moderate"
    cursor: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Found:
    """One result. `published` is a date as the provider gives it; `extra` holds JSON values."""

    title: str
    url: str
    snippet: str = ""
    published: str = ""
    extra: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Page:
    """The results of one page, whether there is another, and what asking for it takes."""

    results: tuple[Found, ...] = ()
    more: bool = False
    cursor: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Provider:
    """A search service.

    `base_url` is empty where only the user knows it. `max_chars` and `max_words` are
    the longest query that the service takes.
    """

    name: str
    search: Callable[[Ask, Reach], Awaitable[Page]]
    base_url: str = ""
    needs_key: bool = False
    max_chars: int = 500
    max_words: int = 0

    def check_query(self, query: str) -> None:
        """Refuse what the service would refuse.

        Raises:
            BadInput: the query is too long.
        """
        if len(query) > self.max_chars:
            raise BadInput(f"{self.name} takes at most {self.max_chars} characters a query.")
        if self.max_words and len(query.split()) > self.max_words:
            raise BadInput(f"{self.name} takes at most {self.max_words} words a query.")


class Reach:
    """One provider's way to its service.

    Raises:
        NotConfigured: the address or the key is missing.
    """

    def __init__(self, provider: Provider, config: ProviderConfig, ctx: Ctx) -> None:
        self.name = provider.name
        self.base_url = (config.base_url or provider.base_url).rstrip("/")
        self._ctx = ctx
        if not self.base_url:
            raise NotConfigured(
                f"{self.name} has no address.",
                hint=f"The user sets web.providers.{self.name}.base_url in the configuration.",
            )
        setting = f"web.providers.{self.name}.api_key_env"
        self.key = (
            secret(config.api_key_env, f"{self.name} ({setting})") if (provider.needs_key) else ""
        )

    async def send(
        self,
        path: str,
        *,
        params: Mapping[str, str] | None = None,
        form: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
        checked: bool = True,
    ) -> Response:
        """Ask the service; with a form it is a POST.

        Args:
            path: below the address, unless the address ends with it already.
            params: the query of the URL.
            form: fields of the body.
            headers: more headers.
            checked: raise for refusals, instead of handing them out.
        """
        url = self.base_url if self.base_url.endswith(path.rstrip("/")) else self.base_url + path
        if path.endswith("/") and not url.endswith("/"):
            url += "/"
        if params:
            url += "?" + urlencode({k: v for k, v in params.items() if v})
        given = dict(headers or {})
        if form is not None:
            given["content-type"] = "application/x-www-form-urlencoded"
        response = await self._ctx.use(Egress).fetch(
            url,
            method="GET" if form is None else "POST",
            headers=given,
            body=None if form is None else urlencode(form).encode("ascii"),
            component=COMPONENT,
            endpoints=(self.base_url,),
            max_bytes=MAX_BYTES,
            timeout=self._ctx.config.web.search.timeout,
            ctx=self._ctx,
        )
        if checked:
            check(response, self.name)
        return response

    def json(self, response: Response) -> dict[str, Any]:
        """The object in an answer.

        Raises:
            Unavailable: there is none.
        """
        try:
            value = json.loads(response.body)
        except (ValueError, RecursionError):
            value = None
        if not isinstance(value, dict):
            raise self.unreadable("its answer is not a JSON object")
        return value

    def unreadable(self, why: str) -> Unavailable:
        """The error for an answer that cannot be understood."""
        return Unavailable(
            f"The answer of {self.name} cannot be read: {why}.",
            hint="Use another provider (web.search.providers), or try again later.",
            provider=self.name,
        )


def plain(value: Any) -> str:
    """Text in one line and without invisible characters; anything else is empty."""
    return " ".join(clean(value).text.split()) if isinstance(value, str) else ""


def records(value: Any) -> list[dict[str, Any]]:
    """The objects of a list; anything else is left out."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def is_web(url: str) -> bool:
    """Whether a result leads to a page."""
    return bool(_WEB.fullmatch(url))
