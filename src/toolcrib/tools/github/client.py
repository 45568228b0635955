"""`GitHubClient`: requests to one server, with the token of the user for it and for no other."""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, quote, urlencode, urlsplit
from weakref import WeakValueDictionary

from toolcrib.core.context import Ctx, PlainService
from toolcrib.core.errors import UnsupportedContent
from toolcrib.net.cache import UNCHANGED, Cache, MemoryOnly
from toolcrib.net.egress.client import Egress
from toolcrib.net.egress.response import Response
from toolcrib.state.redaction import SecretFilter
from toolcrib.tools.github.failures import refusal
from toolcrib.tools.github.server import Server, Token, server_of, token_for

JSON = "application/vnd.github+json"
DIFF = "application/vnd.github.diff"
RAW = "application/vnd.github.raw+json"
TEXT_MATCH = "application/vnd.github.text-match+json"
API_VERSION = "2022-11-28"
MAX_BYTES = 20_000_000
REQUEST_SECONDS = 30.0
TOKEN_SECONDS = 60.0
"""How long a token from gh is used without asking gh again."""
FRESH_SECONDS = 0.001
"""Every read asks the server, which says at no cost that nothing has changed."""
STALE_SECONDS = 3_600.0
"""How long an answer stands in where the server does not answer, or asks for a pause."""
_LINK = re.compile(r'<([^>]+)>;[^,]*rel="(\w+)"')


class GitHubState(PlainService):
    """A service: what calls of one toolbox share.

    Attributes:
        tokens: by server, with when they were found.
        private_read: by conversation, the private repositories that it has read.
        locks: by what is written, so that equal calls at once make one.
    """

    def __init__(self) -> None:
        self.tokens: dict[Server, tuple[float, Token]] = {}
        self.private_read: dict[str, set[str]] = {}
        self.locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()


@dataclass(frozen=True, slots=True)
class Answer:
    """What a server answered.

    Attributes:
        body: as it came.
        headers: those that matter here, by lower-case name.
        moved: whether a redirect led to it, as for a repository that was renamed.
        age: seconds since it was true, where the server does not answer now; else 0.
    """

    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)
    moved: bool = False
    age: float = 0.0

    @property
    def text(self) -> str:
        """The body as text."""
        return self.body.decode("utf-8", "replace")

    def json(self) -> Any:
        """The body as JSON.

        Raises:
            UnsupportedContent: it is none.
        """
        try:
            return json.loads(self.body) if self.body.strip() else None
        except (ValueError, RecursionError):
            raise UnsupportedContent(
                "The server did not answer with JSON.", hint="Check github.base_url."
            ) from None

    def page(self, relation: str) -> int:
        """The number of another page that it links to, as `next` or `last`; 0 for none."""
        for url, name in _LINK.findall(self.headers.get("link", "")):
            number = parse_qs(urlsplit(url).query).get("page", ["0"])[0]
            if name == relation and number.isdecimal():
                return int(number)
        return 0


@dataclass(frozen=True, slots=True)
class ListPage:
    """One page of a list.

    Attributes:
        items: JSON objects.
        total: how many there are in all; None where the server does not say.
        more: whether there is another page.
        age: as in `Answer`.
    """

    items: list[dict[str, Any]]
    total: int | None
    more: bool
    age: float = 0.0


def place(*parts: object) -> str:
    """A path of names, each as one part of a URL; slashes of a file's path stay."""
    return "/".join(quote(str(part), safe="") for part in parts)


@dataclass(frozen=True, slots=True)
class GitHubClient:
    """Requests of one call."""

    ctx: Ctx
    server: Server
    token: Token

    @classmethod
    async def open(cls, ctx: Ctx) -> GitHubClient:
        """The client for the configured server.

        Raises:
            ConfigError, NotConfigured: its address or the variable of the token is wrong.
        """
        server, state = server_of(ctx), ctx.use(GitHubState)
        when, token = state.tokens.get(server, (0.0, Token()))
        if token.source != "gh" or time.monotonic() - when > TOKEN_SECONDS:
            token = await token_for(ctx, server)
            state.tokens[server] = (time.monotonic(), token)
        return cls(ctx, server, token)

    @property
    def screen(self) -> SecretFilter:
        """Takes the token out of a text, should it ever stand in one."""
        return SecretFilter(self.token.value) if self.token.value else SecretFilter()

    async def get(
        self, path: str, params: Mapping[str, Any] | None = None, accept: str = JSON
    ) -> Answer:
        """Read something.

        Args:
            path: below the address of the API.
            params: of the query; empty ones are left out.
            accept: the form that is wanted.

        Raises:
            ToolError: see `refusal`, and what the guard or the network says.
        """
        url = f"{self.server.api}/{path}"
        query = urlencode({k: v for k, v in (params or {}).items() if v not in (None, "")})
        url += f"?{query}" if query else ""

        async def fetched(old: Any = None) -> Any:
            known = {"if-none-match": old["etag"]} if old and old["etag"] else {}
            response = await self._request("GET", url, accept, more=known)
            if response.status == 304 and known:
                return UNCHANGED
            if response.status >= 400:
                raise refusal(response, self.server, self.token)
            stored = {
                "etag": response.headers.get("etag"),
                "body": response.body.decode("latin-1"),
                "moved": bool(response.redirects),
                "headers": {
                    name: response.headers.get(name)
                    for name in ("link", "x-total-count", "x-oauth-scopes", "content-type")
                },
            }
            # What a token brought may be private: it is in no file of ours.
            return MemoryOnly(stored) if self.token.value else stored

        key = f"{self.token.mark}\0{accept}\0{url}"
        found = await self.ctx.use(Cache).fetch(
            "github", key, fetched, ttl=FRESH_SECONDS, stale=STALE_SECONDS, revalidate=fetched
        )
        value = found.value
        body = value["body"].encode("latin-1")
        age = found.age if found.stale else 0.0
        return Answer(body, value["headers"], value["moved"], age)

    async def send(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> Any:
        """Change something; what the server answers, as JSON.

        Raises:
            ToolError: as of `get`.
        """
        content = json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")
        url = f"{self.server.api}/{path}"
        response = await self._request(method, url, JSON, content if body is not None else None)
        if response.status >= 400:
            raise refusal(response, self.server, self.token)
        turned = any(step.status not in (307, 308) for step in response.redirects)
        if response.status >= 300 or turned:  # such a redirect made a GET of it
            raise UnsupportedContent(
                f"{self.server.name} redirects a change, which is not followed.",
                hint="Name the repository as it is called now.",
            )
        return Answer(response.body).json()

    async def download(self, path: str) -> tuple[str, bool]:
        """A text that may lie on another host, such as a log, and whether that is all of it."""
        response = await self._request("GET", f"{self.server.api}/{path}", JSON, whole=False)
        if response.status >= 400:
            raise refusal(response, self.server, self.token)
        return response.body.decode("utf-8", "replace"), not response.truncated

    async def _request(
        self,
        method: str,
        url: str,
        accept: str,
        body: bytes | None = None,
        more: Mapping[str, str] | None = None,
        *,
        whole: bool = True,
    ) -> Response:
        headers = {"accept": accept, "user-agent": "toolcrib", **(more or {})}
        if not self.server.is_gitea:
            headers["x-github-api-version"] = API_VERSION
        if body is not None:
            headers["content-type"] = "application/json"
        if self.token.value:
            # A redirect to another origin goes without it: see `net/egress/redirects.py`.
            headers["authorization"] = f"token {self.token.value}"
        judge = self.ctx.check_url
        if judge is not None:
            judge(url, own=True)
        return await self.ctx.use(Egress).fetch(
            url,
            method=method,
            headers=headers,
            body=body,
            endpoints=(self.server.api,),
            max_bytes=MAX_BYTES,
            timeout=REQUEST_SECONDS,
            allow_truncated=not whole,
            retries=1 if method == "GET" else 0,
            retry_refusals=False,
            same_origin_writes=True,
            on_redirect=judge,
            ctx=self.ctx,
        )

    async def page(
        self,
        path: str,
        number: int,
        limit: int,
        params: Mapping[str, Any] | None = None,
        *,
        inside: str = "",
        accept: str = JSON,
    ) -> ListPage:
        """One page of a list, with the number of all that are in it.

        Args:
            path: of the list.
            number: from 1.
            limit: items of a page.
            params: of the query.
            inside: the member of the answer that holds the items; "" where it is a list.
            accept: the form that is wanted.
        """
        size = "limit" if self.server.is_gitea else "per_page"
        parameters = {**(params or {}), size: limit, "page": number}
        answer = await self.get(path, parameters, accept)
        found = answer.json()
        items = (found.get(inside) if isinstance(found, dict) else None) if inside else found
        items = [item for item in items or [] if isinstance(item, dict)]
        more = bool(answer.page("next"))
        total: int | None = None
        if isinstance(found, dict) and isinstance(found.get("total_count"), int):
            total = found["total_count"]
        elif answer.headers.get("x-total-count", "").isdecimal():
            total = int(answer.headers["x-total-count"])
            more = number * limit < total
        elif not more and (items or number == 1):
            total = (number - 1) * limit + len(items)
        elif more:
            one = await self.get(path, {**parameters, size: 1, "page": 1}, accept)
            total = one.page("last") or None
        return ListPage(items, total, more, answer.age)
