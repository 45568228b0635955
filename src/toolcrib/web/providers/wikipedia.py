"""Wikipedia, through the API of MediaWiki."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import quote

from toolcrib.text.cleaner import one_line
from toolcrib.web.provider import (
    Provider,
    ProviderClient,
    ResultPage,
    SearchRequest,
    SearchResult,
    member,
    result_page,
    search_result,
    serves_site,
    unmarked,
)

COUNT = 20
API = "/w/api.php"
PLAIN = "/:@!$*(),;~'"
"""What stands in addresses of articles as it is."""
FORM = {"action": "query", "format": "json", "formatversion": "2"}
# Editions whose code is more than two or three letters.
_LONGER = """
be-tarask be-x-old cbk-zam fiu-vro map-bms nds-nl roa-rup roa-tara simple zh-classical
zh-min-nan zh-yue bat-smg
"""
LONGER = frozenset(_LONGER.split())
_CODE = re.compile(r"[a-z]{2,3}")
_REGION = re.compile(r"([a-z]{2,3})[-_](?:[a-z]{2}|[a-z]{4}|\d{3})")


class Wikipedia(Provider):
    """Wikipedia."""

    name = "wikipedia"
    about = "Articles of Wikipedia, in the language of the region."
    base_url = "https://en.wikipedia.org"
    max_chars = 300
    ignores = ("freshness", "safe_search")

    async def search(self, request: SearchRequest, client: ProviderClient) -> ResultPage:
        """One page of articles."""
        if not serves_site(request.site, "wikipedia.org"):
            return ResultPage()
        client = client.at(address(edition(request.region.lower()) or "en"))
        answer = await query(
            client,
            list="search",
            srsearch=request.query,
            srlimit=str(COUNT),
            sroffset=str(COUNT * (request.page - 1)) if request.page > 1 else "",
            srprop="snippet|timestamp|wordcount",
        )
        items = client.listed(answer, "query", "search")
        more = member(answer, "continue", "sroffset") is not None
        return result_page((_result(item, client.base_url) for item in items), more=more)


def edition(language: str) -> str:
    """The code of the edition for a language such as en, simple or pt-br; empty for none.

    It becomes a part of a host name, so nothing but a known form passes.
    """
    code = language.strip().lower()
    if _CODE.fullmatch(code) or code in LONGER:
        return code
    region = _REGION.fullmatch(code)
    return region.group(1) if region else ""


def address(code: str) -> str:
    """The address of an edition."""
    return f"https://{code}.wikipedia.org"


async def query(client: ProviderClient, **params: str) -> dict[str, Any]:
    """Ask the API of MediaWiki.

    Raises:
        RateLimited: it asks to slow down.
        Unavailable: it calls the question wrong.
    """
    answer = await client.call(API, params={**FORM, **params})
    if "error" not in answer:
        return answer
    code, info = (one_line(member(answer, "error", name)) for name in ("code", "info"))
    if code in ("ratelimited", "maxlag", "cirrussearch-too-busy-error"):
        raise client.slow_down(f"{client.name} error ({code}): {info[:300]}")
    raise client.unreadable(f"it says {code}: {info[:300]}")


def _result(item: dict[str, Any], base: str) -> SearchResult | None:
    title = one_line(item.get("title"))
    if not title:
        return None
    return search_result(
        title, link(base, title), unmarked(item.get("snippet")), item.get("timestamp")
    )


def link(base: str, title: str) -> str:
    """The address of an article."""
    return f"{base}/wiki/{quote(title.replace(' ', '_'), safe=PLAIN)}"
