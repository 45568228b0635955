"""Mojeek without a key: a small index of its own."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from toolcrib.net.egress.response import Response
from toolcrib.web.provider import ProviderClient, SearchRequest
from toolcrib.web.search_engine import SearchEngine

SIZE = 10
_DAYS = {"day": 1, "week": 7, "month": 31, "year": 366}


class Mojeek(SearchEngine, selectors="mojeek"):
    """Mojeek."""

    name = "mojeek"
    about = "Mojeek's page for people; an index of its own."
    base_url = "https://www.mojeek.com"
    site = "mojeek.com"

    async def send_request(self, request: SearchRequest, client: ProviderClient) -> Response:
        """`s` is sent for later pages only: with the first it looks like a program."""
        params = {"q": request.words, "safe": "0" if request.safe_search == "off" else "1"}
        if request.page > 1:
            params["s"] = request.cursor.get("s") or str(1 + SIZE * (request.page - 1))
        if request.freshness:
            since = datetime.now(UTC) - timedelta(days=_DAYS[request.freshness])
            params["since"] = since.strftime("%Y%m%d")
        sent = {"lb": request.language, "arc": request.country.lower()}
        return await self.fetch_page(client, request, "/search", params=params, cookies=sent)
