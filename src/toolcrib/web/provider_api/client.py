"""The one way of a provider to its service: its address, its key, the guarded network."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from copy import copy
from typing import Any, Self
from urllib.parse import urlencode

from toolcrib.core.config import secret
from toolcrib.core.context import Ctx
from toolcrib.core.errors import ConfigError, NotConfigured, Unavailable
from toolcrib.core.version import VERSION
from toolcrib.core.web_settings import ProviderConfig
from toolcrib.net.egress.client import Egress
from toolcrib.net.egress.guard_proxy import GuardProxy, Lease
from toolcrib.net.egress.response import Response
from toolcrib.net.statuses import check
from toolcrib.web.provider_api.provider import Provider, is_web, records
from toolcrib.web.provider_api.refusals import check_api

COMPONENT = "web.search"
AGENT = f"toolcrib/{VERSION}"
"""What services with an API are told: several refuse whoever looks like a browser."""


class Reach:
    """One provider's way to its service.

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
        wanted = provider.needs_key or bool(configured)
        self.key = secret(self.key_env, f"{self.name} ({self.setting})") if wanted else ""

    @property
    def bearer(self) -> dict[str, str]:
        """The header with the key; none without one."""
        return {"authorization": f"Bearer {self.key}"} if self.key else {}

    @property
    def seconds(self) -> float:
        """The seconds that the service has for an answer."""
        return self._ctx.remaining(self._ctx.config.web.search.timeout)

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
        told = {"accept": "application/json"}
        # An agent that the user configured goes before ours.
        if not self._ctx.config.egress.user_agent:
            told["user-agent"] = AGENT
        headers = told | (request.pop("headers", None) or {})
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
        judge: Callable[[str], None] | None = None,
    ) -> Response:
        """Ask the service; with a form or a JSON body it is a POST.

        Args:
            path: below the address; what the address ends with already is not repeated.
            params: the query of the URL.
            form: fields of the body.
            json_body: the body as JSON; members that are None or empty are left out.
            headers: more headers.
            checked: raise for refusals, instead of handing them out.
            judge: told the URL of each redirect before it is followed; it may raise.
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
            timeout=self._ctx.config.web.search.timeout,
            retries=self._retries,
            retry_refusals=False,
            judge=judge,
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
