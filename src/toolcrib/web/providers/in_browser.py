"""Engines read in a real browser, for days on which they answer nothing else.

They are slow, so no chain has them by itself: `web.search.providers` lists them last. Without
a browser on the machine they are passed over.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from toolcrib.net.egress.response import Response
from toolcrib.web.provider import ProviderClient, SearchRequest
from toolcrib.web.providers.bing_index import Bing
from toolcrib.web.providers.duckduckgo import (
    SAFE,
    DuckDuckGo,
    check_length,
    duck_region,
    escaped_query,
)
from toolcrib.web.providers.google import Google
from toolcrib.web.search_engine import PERIOD_LETTERS, SearchEngine

if TYPE_CHECKING:
    from turbohtml import Document

SECONDS = 20.0
ONLY_WITHOUT_SCRIPTS = ("gbv",)
"""Fields that ask for the page of browsers without scripts."""


class _InBrowser(SearchEngine):
    timeout = SECONDS

    async def fetch_page(
        self,
        client: ProviderClient,
        request: SearchRequest,
        path: str,
        *,
        params: Mapping[str, str] | None = None,
        form: Mapping[str, str] | None = None,
        cookies: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Response:
        """Open the page in a browser, which sends its own headers."""
        del request, headers
        fields = {**(params or {}), **(form or {})}
        wanted = {name: text for name, text in fields.items() if name not in ONLY_WITHOUT_SCRIPTS}
        response = await client.render(path, params=wanted, cookies=cookies)
        for url in [*(step.target for step in response.redirects), response.url]:
            self.check_redirect(url, client)
        return response


class DuckDuckGoInBrowser(_InBrowser, DuckDuckGo):
    """DuckDuckGo in a browser."""

    name = "duckduckgo_browser"
    about = "DuckDuckGo's page in a browser. Only where it is named; extra [browser]."
    base_url = "https://duckduckgo.com"

    async def send_request(self, request: SearchRequest, client: ProviderClient) -> Response:
        """Ask for its page with scripts."""
        check_length(self, request)
        params = {"q": escaped_query(request), "kl": duck_region(request), "ia": "web"}
        params |= {"df": PERIOD_LETTERS[request.freshness], "kp": SAFE[request.safe_search][1]}
        return await self.fetch_page(client, request, "/", params=params)

    def next_cursor(self, document: Document) -> Mapping[str, str] | None:
        """Its page grows by a button, so there is no next one."""
        del document
        return None


class GoogleInBrowser(_InBrowser, Google):
    """Google in a browser."""

    name = "google_browser"
    about = "Google's page in a browser. Only where it is named; extra [browser]."


class BingInBrowser(_InBrowser, Bing):
    """Bing in a browser."""

    name = "bing_browser"
    about = "Bing's page in a browser. Only where it is named; extra [browser]."
