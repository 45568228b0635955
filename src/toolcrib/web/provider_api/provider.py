"""What a search provider is: one file in `providers` with one class.

A provider turns an `Ask` into a `Page` of results. It reaches its service through
`Reach`, which knows the address, the key and the guarded network, and it raises:
`NotConfigured` for a missing setting, `RateLimited`, `ChallengePage` and `HttpStatus`
for what the service refuses, `Unavailable` for an answer that it cannot read. A page
without results is no error: it is an empty `Page`.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias
from urllib.parse import urljoin, urlsplit

from toolcrib.core.errors import BadInput
from toolcrib.net.egress.url import MAX_URL

if TYPE_CHECKING:
    from toolcrib.web.provider_api.client import Reach

MAX_BYTES = 2_000_000
SHORTER = "Use fewer words: the names and terms that matter."
_WEB = re.compile(r"https?://[^\s/?#]+[^\s]*", re.IGNORECASE)

Kind: TypeAlias = Literal["web", "news", "images"]
SafeSearch: TypeAlias = Literal["strict", "moderate", "off"]


@dataclass(frozen=True, slots=True)
class Ask:
    """One page of results that is wanted.

    `page` counts the provider's own pages from 1, and `cursor` is what the page before
    gave. `count` is how many results the caller will use; a provider that takes no
    count may ignore it. `freshness` is "", "day", "week", "month" or "year"; `site` is
    a domain or empty; `region` is a language and a country like "de-DE", or empty.
    """

    query: str
    page: int = 1
    count: int = 10
    freshness: str = ""
    safe_search: SafeSearch = "moderate"
    site: str = ""
    region: str = ""
    cursor: Mapping[str, str] = field(default_factory=dict)

    @property
    def words(self) -> str:
        """The query with the operator that keeps to one domain."""
        return f"{self.query} site:{self.site}" if self.site else self.query

    @property
    def language(self) -> str:
        """The language of the region in lower case, like "de"; or empty."""
        return self.region.partition("-")[0].lower()

    @property
    def country(self) -> str:
        """The country of the region in upper case, like "DE"; or empty."""
        return self.region.partition("-")[2].upper()


@dataclass(frozen=True, slots=True)
class Found:
    """One result.

    `published` is a date as the provider gives it. `content` is text of the page itself,
    where a provider sends it along. Of an image, `url` is the image and `extra["page"]`
    the page it stands on. `extra` holds JSON values.
    """

    title: str
    url: str
    snippet: str = ""
    published: str = ""
    content: str = ""
    extra: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Page:
    """The results of one page, whether there is another, and what asking for it takes."""

    results: tuple[Found, ...] = ()
    more: bool = False
    cursor: Mapping[str, str] = field(default_factory=dict)


class Provider(ABC):
    """A search service. A subclass sets the attributes that differ, and `search`.

    `base_url` is empty where only the user knows it. `key_env` is the usual name of the
    variable that holds the key; with `needs_key` nothing is asked without one.
    `max_chars` and `max_words` are the longest query that the service takes. `counted`
    says that `Ask.count` changes the answer. `ignores` names what of an `Ask` the
    service has no way to keep to ("freshness", "region", "safe_search").
    `max_bytes` is the most that an answer may have. `shares` names the provider whose
    settings hold where this one has none of its own. `tried` is False for a service that
    the project could not ask itself, so only recorded shapes were tested.
    """

    name: ClassVar[str]
    about: ClassVar[str]
    kind: ClassVar[Kind] = "web"
    base_url: ClassVar[str] = ""
    key_env: ClassVar[str] = ""
    needs_key: ClassVar[bool] = False
    max_chars: ClassVar[int] = 500
    max_words: ClassVar[int] = 0
    counted: ClassVar[bool] = False
    ignores: ClassVar[tuple[str, ...]] = ()
    max_bytes: ClassVar[int] = MAX_BYTES
    shares: ClassVar[str] = ""
    tried: ClassVar[bool] = False

    @abstractmethod
    async def search(self, ask: Ask, reach: Reach) -> Page:
        """One page of results."""

    def check_query(self, query: str) -> None:
        """Refuse what the service would refuse.

        Raises:
            BadInput: the query is too long.
        """
        if len(query) > self.max_chars:
            raise BadInput(
                f"{self.name} takes at most {self.max_chars} characters a query.", hint=SHORTER
            )
        if self.max_words and len(query.split()) > self.max_words:
            raise BadInput(
                f"{self.name} takes at most {self.max_words} words a query.", hint=SHORTER
            )


def records(value: Any) -> list[dict[str, Any]]:
    """The objects of a list; anything else is left out."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def is_web(url: str) -> bool:
    """Whether a result leads to a page."""
    if len(url) > MAX_URL or not _WEB.fullmatch(url):
        return False
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return bool(parts.hostname)


def joined(base: str, url: str) -> str:
    """The URL that is meant at a base; empty for one that cannot be read."""
    try:
        return urljoin(base, url)
    except ValueError:
        return ""
