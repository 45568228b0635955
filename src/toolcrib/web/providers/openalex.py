"""Scholarly works of OpenAlex."""

from __future__ import annotations

from typing import Any

from toolcrib.text.cleaner import one_line
from toolcrib.web.provider_api.client import Reach
from toolcrib.web.provider_api.provider import Ask, Found, Page, Provider, is_web
from toolcrib.web.provider_api.responses import at, day_of, found, number, page_of, unmarked

COUNT = 20
MAX_WORDS = 2000
FIELDS = (
    "id,doi,display_name,publication_date,abstract_inverted_index,authorships,"
    "primary_location,open_access,cited_by_count,type,language"
)


class OpenAlex(Provider):
    """OpenAlex."""

    name = "openalex"
    about = "Scholarly works, with their abstracts. A free key is optional; without one few."
    base_url = "https://api.openalex.org"
    key_env = "OPENALEX_API_KEY"
    max_bytes = 5_000_000
    ignores = ("safe_search",)

    async def search(self, ask: Ask, reach: Reach) -> Page:
        """One page of works."""
        if ask.site:
            return Page()
        since = day_of(ask.freshness)
        filters = [f"from_publication_date:{since}"] if since else []
        filters += [f"language:{ask.language}"] if ask.language else []
        answer = await reach.call(
            "/works",
            params={
                "search": ask.query,
                "filter": ",".join(filters),
                "per_page": str(COUNT),
                "page": str(ask.page),
                "select": FIELDS,
                "api_key": reach.key,
            },
        )
        total = number(at(answer, "meta", "count")) or 0
        items = reach.listed(answer, "results")
        return page_of(map(_result, items), more=ask.page * COUNT < total)


def _result(item: dict[str, Any]) -> Found | None:
    places = (*(item.get("doi"), at(item, "primary_location", "landing_page_url"), item.get("id")),)
    url = next((p for p in places if isinstance(p, str) and is_web(p)), "")
    authors = item.get("authorships")
    names = (
        [one_line(at(a, "author", "display_name")) for a in authors or []][:20]
        if isinstance(authors, list)
        else []
    )
    abstract = _abstract(item.get("abstract_inverted_index"))
    return found(
        unmarked(item.get("display_name")),
        url,
        abstract,
        item.get("publication_date"),
        abstract,
        authors=[name for name in names if name],
        journal=one_line(at(item, "primary_location", "source", "display_name")),
        pdf=one_line(at(item, "open_access", "oa_url")),
        cited=number(item.get("cited_by_count")),
        type=one_line(item.get("type")),
    )


def _abstract(index: Any) -> str:
    """The text behind `{"word": [places]}`."""
    if not isinstance(index, dict):
        return ""
    places = [
        (place, word)
        for word, listed in index.items()
        if isinstance(listed, list)
        for place in listed
        if isinstance(place, int)
    ]
    return one_line(" ".join(word for _, word in sorted(places)[:MAX_WORDS]))
