"""Brave Search, through its API and a key of the user's own."""

from __future__ import annotations

from typing import Any

from toolcrib.core.errors import HttpStatus
from toolcrib.tools.web.provider import Ask, Found, Page, Provider, Reach, is_web, plain, records

COUNT = 20
LAST_PAGE = 10


async def search(ask: Ask, reach: Reach) -> Page:
    """One page of web results."""
    try:
        response = await reach.send(
            "/res/v1/web/search",
            params={
                "q": ask.query,
                "count": str(COUNT),
                "offset": str(ask.page - 1),
                "freshness": f"p{ask.freshness[:1]}" if ask.freshness else "",
                "safesearch": ask.safe_search,
                "extra_snippets": "true",
            },
            headers={"x-subscription-token": reach.key, "accept": "application/json"},
        )
    except HttpStatus as error:
        if error.details.get("status") in (401, 403, 422):
            error.hint = "Check the key that web.providers.brave.api_key_env names."
        raise
    answer = reach.json(response)
    web = answer.get("web")
    results = records(web.get("results")) if isinstance(web, dict) else []
    asked = answer.get("query")
    more = isinstance(asked, dict) and bool(asked.get("more_results_available"))
    found = [result for item in results if (result := _result(item))]
    return Page(tuple(found), more=more and ask.page < LAST_PAGE)


def _result(item: dict[str, Any]) -> Found | None:
    title, url = _text(item.get("title")), str(item.get("url")).strip()
    if not title or not is_web(url):
        return None
    snippets = item.get("extra_snippets")
    extra = {
        "extra_snippets": [_text(s) for s in snippets] if isinstance(snippets, list) else [],
        "language": plain(item.get("language")),
        "family_friendly": item.get("family_friendly"),
    }
    date = plain(item.get("page_age")) or plain(item.get("age"))
    return Found(title, url, _text(item.get("description")), date, extra)


def _text(value: Any) -> str:
    """Text without the marks and entities that Brave puts in."""
    if not isinstance(value, str) or ("<" not in value and "&" not in value):
        return plain(value)
    from turbohtml import parse_fragment

    return plain(parse_fragment(value).text)


PROVIDER = Provider(
    "brave",
    search,
    base_url="https://api.search.brave.com",
    needs_key=True,
    max_chars=400,
    max_words=50,
)
