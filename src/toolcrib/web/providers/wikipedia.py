"""Wikipedia, through the API of MediaWiki."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import quote

from toolcrib.core.errors import RateLimited
from toolcrib.text.cleaner import one_line
from toolcrib.web.provider_api.client import Reach
from toolcrib.web.provider_api.provider import Ask, Found, Page, Provider
from toolcrib.web.provider_api.refusals import slow_hint
from toolcrib.web.provider_api.responses import at, covers, found, page_of, unmarked

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

    async def search(self, ask: Ask, reach: Reach) -> Page:
        """One page of articles."""
        if not covers(ask.site, "wikipedia.org"):
            return Page()
        reach = reach.at(address(edition(ask.region.lower()) or "en"))
        answer = await query(
            reach,
            list="search",
            srsearch=ask.query,
            srlimit=str(COUNT),
            sroffset=str(COUNT * (ask.page - 1)) if ask.page > 1 else "",
            srprop="snippet|timestamp|wordcount",
        )
        items = reach.listed(answer, "query", "search")
        more = at(answer, "continue", "sroffset") is not None
        return page_of((_result(item, reach.base_url) for item in items), more=more)


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


async def query(reach: Reach, **params: str) -> dict[str, Any]:
    """Ask the API of MediaWiki.

    Raises:
        RateLimited: it asks to slow down.
        Unavailable: it calls the question wrong.
    """
    answer = await reach.call(API, params={**FORM, **params})
    if "error" not in answer:
        return answer
    code, info = one_line(at(answer, "error", "code")), one_line(at(answer, "error", "info"))
    if code in ("ratelimited", "maxlag", "cirrussearch-too-busy-error"):
        raise RateLimited(
            f"{reach.name} error ({code}): {info[:300]}",
            hint=slow_hint(None),
            provider=reach.name,
            retry_after=None,
        )
    raise reach.unreadable(f"it says {code}: {info[:300]}")


def _result(item: dict[str, Any], base: str) -> Found | None:
    title = one_line(item.get("title"))
    if not title:
        return None
    return found(title, link(base, title), unmarked(item.get("snippet")), item.get("timestamp"))


def link(base: str, title: str) -> str:
    """The address of an article."""
    return f"{base}/wiki/{quote(title.replace(' ', '_'), safe=PLAIN)}"
