"""Search providers: what one is, its client, and helpers to read the answers of services.

Somebody's own provider imports this. A provider turns a `SearchRequest` into a `ResultPage`.
It reaches its service through `ProviderClient`, which knows the address, the key and the
guarded network, and it raises: `NotConfigured` for a missing setting, `RateLimited`,
`ChallengePage` and `HttpStatus` for what the service refuses, `Unavailable` for an answer
that it cannot read. A page without results is no error: it is an empty `ResultPage`.
"""

from __future__ import annotations

import json
import math
import re
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from copy import copy
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, ClassVar, Literal, Self, TypeAlias
from urllib.parse import urlencode, urljoin, urlsplit

from toolcrib.browser.renderer import render
from toolcrib.core.config import secret
from toolcrib.core.context import Ctx
from toolcrib.core.errors import (
    BadInput,
    ConfigError,
    HttpStatus,
    MissingExtra,
    NotConfigured,
    RateLimited,
    Unavailable,
)
from toolcrib.core.settings import ProviderConfig
from toolcrib.core.version import VERSION
from toolcrib.net.egress.client import Egress
from toolcrib.net.egress.guard_proxy import GuardProxy, Lease
from toolcrib.net.egress.response import Response
from toolcrib.net.egress.url import MAX_URL
from toolcrib.net.response_check import challenge_of, check
from toolcrib.state.redaction import TELLING, SecretFilter
from toolcrib.text.cleaner import clean, one_line
from toolcrib.text.json_values import json_object, objects_in

COMPONENT = "web.search"
USER_AGENT = f"toolcrib/{VERSION}"
"""Sent to services with an API: several refuse whoever looks like a browser."""
MAX_ANSWER_BYTES = 2_000_000
MIN_RENDERED_CHARS = 400
"""Characters of text that a page of results has at least, once its scripts have run."""
SHORTER_QUERY_HINT = "Use fewer words: the names and terms that matter."
_WEB = re.compile(r"https?://[^\s/?#]+[^\s]*", re.IGNORECASE)

Kind: TypeAlias = Literal["web", "news", "images"]
SafeSearch: TypeAlias = Literal["strict", "moderate", "off"]


@dataclass(frozen=True, slots=True)
class SearchRequest:
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
class SearchResult:
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
class ResultPage:
    """The results of one page, whether there is another, and what asking for it takes."""

    results: tuple[SearchResult, ...] = ()
    more: bool = False
    cursor: Mapping[str, str] = field(default_factory=dict)


class Provider(ABC):
    """A search service. A subclass sets the attributes that differ, and `search`.

    `base_url` is empty where only the user knows it. `key_env` is the usual name of the
    variable that holds the key; with `needs_key` nothing is asked without one.
    `max_chars` and `max_words` are the longest query that the service takes. `counted`
    says that `SearchRequest.count` changes the answer. `ignores` names what of a request the
    service cannot keep to ("freshness", "region", "safe_search").
    `max_bytes` is the limit of an answer, `timeout` the seconds for it where the settings give
    the provider none, `gap_seconds` those between two requests that the service asks for; 0 is
    what holds for all (`web.search`). `shares` names the provider whose
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
    max_bytes: ClassVar[int] = MAX_ANSWER_BYTES
    timeout: ClassVar[float] = 0.0
    gap_seconds: ClassVar[float] = 0.0
    shares: ClassVar[str] = ""
    tried: ClassVar[bool] = False

    @abstractmethod
    async def search(self, request: SearchRequest, client: ProviderClient) -> ResultPage:
        """One page of results."""

    def check_query(self, query: str) -> None:
        """Refuse what the service would refuse.

        Raises:
            BadInput: the query is too long.
        """
        if len(query) > self.max_chars:
            raise BadInput(
                f"{self.name} takes at most {self.max_chars} characters a query.",
                hint=SHORTER_QUERY_HINT,
            )
        if self.max_words and len(query.split()) > self.max_words:
            raise BadInput(
                f"{self.name} takes at most {self.max_words} words a query.",
                hint=SHORTER_QUERY_HINT,
            )


records = objects_in
"""The name by which providers import it, the user's own too."""


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


class ProviderClient:
    """The client of one provider: its service's address and key, on the guarded network.

    Args:
        provider: who asks.
        config: what the user set for it.
        ctx: the call.
        retries: how often a request that failed by chance is sent again.

    Raises:
        NotConfigured: the address or the key is missing.
        ConfigError: the address is none.
    """

    def __init__(
        self, provider: Provider, config: ProviderConfig, ctx: Ctx, retries: int = 0
    ) -> None:
        shared = ctx.config.web.providers.get(provider.shares, ProviderConfig())
        branch = f"web.providers.{provider.shares or provider.name}"
        self.name = provider.name
        self._own_url = config.base_url or shared.base_url
        if self._own_url and not is_web(self._own_url):
            own = f"web.providers.{provider.name}" if config.base_url else branch
            raise _no_address(f"{own}.base_url", self._own_url)
        self.base_url = (self._own_url or provider.base_url).rstrip("/")
        self._ctx = ctx
        seconds = config.timeout or shared.timeout or provider.timeout
        self.timeout = seconds or ctx.config.web.search.timeout
        self._retries = retries
        self._max_bytes = provider.max_bytes
        if not self.base_url:
            raise NotConfigured(
                f"{self.name} has no address.",
                hint=f"The user sets {branch}.base_url in the configuration.",
            )
        configured = config.api_key_env or shared.api_key_env
        self.setting = f"{branch}.api_key_env"
        self.key_env = configured or provider.key_env
        needed = provider.needs_key or bool(configured)
        self.key = secret(self.key_env, f"{self.name} ({self.setting})") if needed else ""

    @property
    def bearer(self) -> dict[str, str]:
        """The header with the key; none without one."""
        return {"authorization": f"Bearer {self.key}"} if self.key else {}

    @property
    def seconds(self) -> float:
        """The seconds that the service has for an answer."""
        return self._ctx.remaining(self.timeout)

    @property
    def ca_file(self) -> str:
        """The file of authorities that the user trusts; empty without one."""
        return self._ctx.config.egress.ca_file

    def at(self, base_url: str) -> Self:
        """The way to another address of the same service; one of the user's own stays."""
        if self._own_url:
            return self
        other = copy(self)
        other.base_url = base_url.rstrip("/")
        return other

    def warn(self, message: str) -> None:
        """Add one line to the end of the result."""
        self._ctx.warn(message)

    async def lease(self) -> Lease:
        """A way out through the guard, for a library that opens its own connections."""
        return await self._ctx.use(GuardProxy).lease(COMPONENT)

    async def call(self, path: str, **request: Any) -> dict[str, Any]:
        """Ask a service with an API: `send`, and the object that it answers.

        Raises:
            RateLimited, HttpStatus, ChallengePage: as `check_api`.
            Unavailable: the answer is no JSON object.
        """
        return self.json(await self.fetch(path, **request))

    async def fetch(self, path: str, **request: Any) -> Response:
        """`call`, for an answer that is no JSON."""
        sent = {"accept": "application/json"}
        # An agent that the user configured goes before ours.
        if not self._ctx.config.egress.user_agent:
            sent["user-agent"] = USER_AGENT
        headers = sent | (request.pop("headers", None) or {})
        response = await self.send(path, **request, headers=headers, checked=False)
        check_api(response, self)
        return response

    async def send(
        self,
        path: str,
        *,
        params: Mapping[str, str] | None = None,
        form: Mapping[str, str] | None = None,
        json_body: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
        checked: bool = True,
        on_redirect: Callable[[str], None] | None = None,
    ) -> Response:
        """Ask the service; with a form or a JSON body it is a POST.

        Args:
            path: below the address; what the address ends with already is not repeated.
            params: the query of the URL.
            form: fields of the body.
            json_body: the body as JSON; members that are None or empty are left out.
            headers: more headers.
            checked: raise for refusals, instead of handing them out.
            on_redirect: gets the URL of each redirect before it is followed; it may raise.
        """
        url = _joined(self.base_url, path)
        if params:
            url += "?" + urlencode({k: v for k, v in params.items() if v})
        given = dict(headers or {})
        body: bytes | None = None
        if form is not None:
            given["content-type"] = "application/x-www-form-urlencoded"
            body = urlencode(form).encode("ascii")
        elif json_body is not None:
            given["content-type"] = "application/json"
            full = {k: v for k, v in json_body.items() if v not in (None, "", [])}
            body = json.dumps(full).encode()
        response = await self._ctx.use(Egress).fetch(
            url,
            method="GET" if body is None else "POST",
            headers=given,
            body=body,
            component=COMPONENT,
            endpoints=(self.base_url,),
            max_bytes=self._max_bytes,
            timeout=self.timeout,
            retries=self._retries,
            retry_refusals=False,
            on_redirect=on_redirect,
            ctx=self._ctx,
        )
        if checked:
            check(response, self.name)
        return response

    async def render(
        self,
        path: str,
        *,
        params: Mapping[str, str] | None = None,
        cookies: Mapping[str, str] | None = None,
    ) -> Response:
        """Open a page of the service in a browser, and let its scripts run.

        Raises:
            MissingExtra, NotConfigured: there is no browser; nothing was asked.
        """
        url = _joined(self.base_url, path)
        if params:
            url += "?" + urlencode({k: v for k, v in params.items() if v})
        try:
            return await render(
                url,
                self._ctx,
                component=COMPONENT,
                endpoints=(self.base_url,),
                cookies={k: v for k, v in (cookies or {}).items() if v},
                min_chars=MIN_RENDERED_CHARS,
                seconds=self.timeout,
            )
        except (MissingExtra, NotConfigured) as error:
            error.details["asked"] = False
            raise

    def json(self, response: Response) -> dict[str, Any]:
        """The object in an answer.

        Raises:
            Unavailable: there is none.
        """
        value = json_object(response.body)
        if value is None:
            raise self.unreadable("its answer is not a JSON object")
        return value

    def listed(self, answer: Any, *path: str, optional: bool = False) -> list[dict[str, Any]]:
        """The objects of the list at a path in an answer.

        Args:
            answer: a JSON value.
            path: the members that lead to the list.
            optional: no such member is an empty list.

        Raises:
            Unavailable: there is no list.
        """
        value = answer
        for name in path:
            value = value.get(name) if isinstance(value, dict) else None
            if value is None and optional:
                return []
        if not isinstance(value, list):
            raise self.unreadable(f"it has no list '{'.'.join(path)}'")
        return records(value)

    def slow_down(self, message: str, wait: float | None = None, **details: Any) -> RateLimited:
        """The error for a service that asks for patience."""
        hint = slow_hint(wait)
        return RateLimited(message, hint=hint, provider=self.name, retry_after=wait, **details)

    def unreadable(self, why: str) -> Unavailable:
        """The error for an answer that cannot be understood."""
        return Unavailable(
            f"The answer of {self.name} cannot be read: {why}.",
            hint="Use another provider, or try again later.",
            provider=self.name,
        )


def _no_address(setting: str, value: str) -> ConfigError:
    # What stands before an @ may be a password.
    host = value.rpartition("@")[2].strip()[:80]
    right = f', like "http://{host}"' if "://" not in host else ""
    return ConfigError(
        f"{setting} must be an address with http:// or https://, not '{host}'.",
        hint=f"The user corrects {setting} in the configuration{right}.",
    )


def _joined(base: str, path: str) -> str:
    """The address of a path; the start of it that the base ends with is said once."""
    ends = [i for i, sign in enumerate(path) if sign == "/"] + [len(path)]
    for end in reversed(ends[1:]):
        if base.endswith(path[:end]):
            return base + path[end:]
    return base + path


MAX_QUOTED_BYTES = 2048
"""Bytes of the answer that a message quotes."""
MAX_SCANNED_BYTES = 65_536
MIN_TIMESTAMP = 1_000_000_000
"""A number from here on is a time, below it a number of seconds."""

_PLAN = frozenset({402, 432, 433})
_SPENT = re.compile(
    r"insufficient[_ ](?:funds|credit|balance|quota)|quota[_ ](?:limited|exceeded)"
    r"|(?:no|out of|not enough)[_ ](?:more[_ ])?credit|budget[_ ]exceeded|payment[_ ]required"
    r"|exceeds? (?:your plan|the pay-as-you-go)|usage limit|billing[_ ]required|not_in_plan"
    r"|balance not enough|daily limit|insufficient budget",
    re.IGNORECASE,
)
_SLOW = re.compile(r"rate[-_ ]?limit|too[-_ ]many[-_ ]requests|throttl", re.IGNORECASE)
_BAD_KEY = re.compile(
    r"subscription_token|(?:invalid|incorrect|unknown|missing|bad|malformed)[-_ ](?:or[-_ ]"
    r"(?:missing|invalid)[-_ ])?(?:api[-_ ]?key|key|token|credentials)|unauthori[sz]ed"
    r"|(?:api[-_ ]?)?key`? (?:is )?(?:not valid|invalid|missing|required|doesn't match)",
    re.IGNORECASE,
)
_OTHER_PROVIDER = "use another provider"


def check_api(response: Response, client: ProviderClient) -> None:
    """Pass a good answer of a service.

    Raises:
        ChallengePage: proof of a human is wanted.
        RateLimited: the service asks to slow down; `details["retry_after"]` says how long
            where it does.
        HttpStatus: any other status from 400; `details["reason"]` is `key` or `plan` where
            that is the reason.
    """
    if challenge_of(response):
        check(response, client.name)
    if response.status >= 400:
        raise refusal(response, client)


def refusal(response: Response, client: ProviderClient) -> HttpStatus | RateLimited:
    """The error for an answer that refuses, with what it says; the key is cut out."""
    status, body = response.status, error_text(response, client.key)
    message = f"{client.name} error ({status}): {body or response.phrase or 'no reason given'}"
    spent = status in _PLAN or bool(_SPENT.search(body))
    wait = wait_of(response)
    if status == 429 or (status in (403, 503) and not spent and _is_slow(response, body)):
        return RateLimited(
            message,
            hint=_plan_hint(client.name) if spent else slow_hint(wait),
            provider=client.name,
            status=status,
            retry_after=wait,
            reason="plan" if spent else "",
        )
    about_key = status in (401, 403) or (status < 500 and bool(_BAD_KEY.search(body)))
    reason = "plan" if spent else "key" if about_key else ""
    return HttpStatus(
        message,
        hint=_hint(reason, status, client),
        provider=client.name,
        status=status,
        retry_after=wait,
        reason=reason,
    )


def slow_hint(wait: float | None) -> str:
    """What to do where a service asks for patience."""
    seconds = f"{wait:g} s" if wait else "a minute"
    return f"Wait {seconds} before asking there again, or {_OTHER_PROVIDER}."


def error_text(response: Response, key: str = "") -> str:
    """What an answer says, in one line: its first bytes as text, without the key."""
    body = response.body[:MAX_SCANNED_BYTES].decode("utf-8", "replace")
    if body.lstrip("\ufeff \r\n\t").startswith("<"):
        body = _without_markup(body)
    if len(key) >= TELLING:
        body = SecretFilter(key).text(body, cut=len(response.body) > MAX_SCANNED_BYTES)
    return one_line(body).encode()[:MAX_QUOTED_BYTES].decode(errors="ignore")


def wait_of(response: Response) -> float | None:
    """The seconds until a service may be asked again, in any of the ways of saying so.

    Of several limits (`x-ratelimit-remaining: 0, 980`) the longest that is used up counts.
    """
    if response.retry_after is not None:
        return response.retry_after
    for prefix in ("x-ratelimit", "ratelimit", "x-rate-limit"):
        resets = _numbers(response.headers.get(f"{prefix}-reset"))
        if not resets:
            continue
        left = _numbers(response.headers.get(f"{prefix}-remaining"))
        empty = [r for r, n in zip(resets, left, strict=False) if n <= 0]
        reset = max(empty) if empty else resets[0]
        if reset >= MIN_TIMESTAMP:
            seconds = reset / 1000 if reset >= MIN_TIMESTAMP * 1000 else reset
            return max(0.0, round(seconds - time.time(), 0))
        return reset
    return None


def _numbers(text: str) -> list[float]:
    found = [re.fullmatch(r"\s*(\d{1,15})(?:\.\d+)?s?\s*", part) for part in text.split(",")]
    return [float(match.group(1)) for match in found if match]


def _is_slow(response: Response, body: str) -> bool:
    remaining = response.headers.get("x-ratelimit-remaining").strip()
    return remaining == "0" or bool(_SLOW.search(body)) or "retry-after" in response.headers


def _hint(reason: str, status: int, client: ProviderClient) -> str:
    if reason == "plan":
        return _plan_hint(client.name)
    if reason == "key" and client.key:
        return f"Check the key in {client.key_env}, the variable that {client.setting} names."
    if reason == "key" and client.key_env:
        variable = f"{client.setting} names a variable that holds one ({client.key_env})"
        return f"It may want a key: {variable}."
    if reason == "key":
        return f"The service refuses this request; {_OTHER_PROVIDER}."
    if status >= 500:
        return f"The service has a problem; try again later, or {_OTHER_PROVIDER}."
    return f"Use other words, or {_OTHER_PROVIDER}."


def _plan_hint(name: str) -> str:
    raised = "the user can raise it there"
    return f"The plan or credit at {name} is used up; {raised}, or {_OTHER_PROVIDER}."


def _without_markup(body: str) -> str:
    from turbohtml import parse

    document = parse(body)
    for element in document.find_all(["script", "style", "template", "noscript"]):
        element.decompose()
    return " ".join(document.stripped_strings)


MAX_SNIPPET_CHARS = 600
"""Characters of a snippet; a longer one is content of the page."""
MAX_CONTENT_CHARS = 50_000
DAYS = {"day": 1, "week": 7, "month": 31, "year": 365}


def search_result(
    title: str, url: Any, snippet: str = "", published: Any = "", content: str = "", **extra: Any
) -> SearchResult | None:
    """A result out of a service's answer; None where it leads to no page.

    Args:
        title: in one line; without one the address stands in.
        url: the address.
        snippet: in one line; a long one is taken for content.
        published: the date as it came.
        content: text of the page.
        extra: more JSON values; empty ones are left out.
    """
    address = url.strip() if isinstance(url, str) else ""
    if not is_web(address) or clean(address).text != address:
        return None
    snippet = snippet or one_line(content[: 2 * MAX_SNIPPET_CHARS])
    if len(snippet) > MAX_SNIPPET_CHARS:
        content = content or snippet[:MAX_CONTENT_CHARS]
        snippet = f"{snippet[:MAX_SNIPPET_CHARS].rsplit(' ', 1)[0]} …"
    more = {name: value for name, value in extra.items() if value not in ("", None, [], {})}
    return SearchResult(title or address, address, snippet, one_line(published), content, more)


_PICTURE_SIZE = re.compile(r"(\d{1,5})\s*[x\u00d7]\s*(\d{1,5})", re.IGNORECASE)


def picture_size(text: str) -> dict[str, int]:
    """Width and height out of a text such as "640 x 480", where they stand in it."""
    found = _PICTURE_SIZE.search(text)
    return {"width": int(found[1]), "height": int(found[2])} if found else {}


def result_page(results: Iterable[SearchResult | None], *, more: bool = False) -> ResultPage:
    """A page of those results that lead somewhere."""
    found = tuple(result for result in results if result is not None)
    return ResultPage(found, more=more and bool(found))


def unmarked(value: Any) -> str:
    """Text in one line of a value that has HTML tags and entities in it."""
    if not isinstance(value, str) or ("<" not in value and "&" not in value):
        return one_line(value)
    from turbohtml import parse_fragment

    return one_line(parse_fragment(value).text)


def content_of(value: Any) -> str:
    """Text of a page, its lines kept and its end cut off; anything else is empty."""
    return clean(value[:MAX_CONTENT_CHARS]).text.strip() if isinstance(value, str) else ""


def texts(value: Any) -> list[str]:
    """The texts of a list, each in one line and without markup; empty ones are left out."""
    return [text for item in value if (text := unmarked(item))] if isinstance(value, list) else []


def number(value: Any) -> float | int | None:
    """A number; anything else is None."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return value if is_number and math.isfinite(value) else None


def web_url(value: Any) -> str:
    """The address of a page or an image; anything else is empty."""
    url = value.strip() if isinstance(value, str) else ""
    return url if is_web(url) else ""


def member(value: Any, *path: str) -> Any:
    """What stands at a path of members in a JSON value; None where there is nothing."""
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def start_of(freshness: str) -> datetime | None:
    """The moment since which results are wanted, in UTC; None for any time."""
    days = DAYS.get(freshness)
    return datetime.now(UTC) - timedelta(days=days) if days else None


def day_of(freshness: str) -> str:
    """The day since which results are wanted, like 2026-01-31; empty for any time."""
    start = start_of(freshness)
    return f"{start:%Y-%m-%d}" if start else ""


def serves_site(site: str, *domains: str) -> bool:
    """Whether a service that has only some domains can search a site; any where it is empty."""
    host = site.lower().partition(":")[0]
    return not host or any(host == d or host.endswith(f".{d}") for d in domains)
