"""What a search found, as a model reads it and as JSON values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from toolcrib.core.call import ErrorInfo
from toolcrib.core.errors import NoResults, ToolError
from toolcrib.web.provider_api.provider import Found
from toolcrib.web.search.chain import Outcome, Window

SNIPPET = 300
"""Characters of a result's text where the call says nothing."""
CONTENT = 50_000
"""Characters of a page's own text that `data` holds."""
MAX_HINT = 200
MAX_HOST = 80


@dataclass(frozen=True, slots=True)
class Shown:
    """How results are shown: characters of each text, and whether with snippets.

    `links` gives what stands for a long URL in the text; its host is shown beside it.
    """

    window: Window
    chars: int
    snippets: bool
    links: Mapping[str, str]


def data_of(query: str, outcome: Outcome | ToolError, shown: Shown) -> dict[str, Any]:
    """One query's answer as JSON values; what failed is in its `error`."""
    if isinstance(outcome, ToolError):
        error = ErrorInfo.of(outcome)
        return {
            "query": query,
            "status": "error",
            "provider": "",
            "count": 0,
            "results": [],
            "error": {"code": error.code, "message": error.message, "hint": error.hint},
            "providers": outcome.details.get("providers", []),
        }
    first = shown.window.start + 1
    return {
        "query": query,
        "status": "ok",
        "provider": outcome.provider,
        "cached": outcome.cached,
        "stale": bool(outcome.stale),
        "more": outcome.more,
        "count": len(outcome.results),
        "results": [
            _record(rank, found, outcome.provider, shown)
            for rank, found in enumerate(outcome.results, first)
        ],
        "failed": [{"provider": n, "code": e.stable_code} for n, e in outcome.failed],
        "providers": [status.to_json() for status in outcome.statuses],
    }


def _record(rank: int, found: Found, provider: str, shown: Shown) -> dict[str, Any]:
    record = {
        "rank": rank,
        "title": found.title,
        "url": found.url,
        "ref": shown.links.get(found.url, ""),
        "snippet": found.snippet,
        "provider": provider,
        "published": found.published,
        "content": found.content[:CONTENT],
        **found.extra,
    }
    if "providers" in found.extra:
        record["provider"] = found.extra["providers"][0]
    if not shown.snippets:
        del record["snippet"]
    return {k: v for k, v in record.items() if v not in ("", [], None) or k == "snippet"}


def text_of(query: str, outcome: Outcome | ToolError, shown: Shown) -> str:
    """One query's answer as a model reads it."""
    if isinstance(outcome, NoResults):
        page = f" on page {shown.window.page}" if shown.window.page > 1 else ""
        return f'No search results found for "{query}"{page}.\n{outcome.hint[:MAX_HINT]}'.strip()
    if isinstance(outcome, ToolError):
        told = f'Search error for "{query}": {outcome.message} ({outcome.stable_code})'
        return f"{told}\n{outcome.hint[:MAX_HINT]}" if outcome.hint else told
    blocks = [f'Search results for "{query}":']
    for rank, found in enumerate(outcome.results, shown.window.start + 1):
        blocks.append(_block(rank, found, shown))
    if outcome.cached:
        count = len(outcome.results)
        blocks.append(f"{count} result{'s' * (count != 1)} (cached)")
    return "\n".join(blocks)


def _block(rank: int, found: Found, shown: Shown) -> str:
    date = str(found.extra.get("date") or found.published)[:10]
    facts = ", ".join(filter(None, (date, str(found.extra.get("type", "")))))
    lines = [f"[{rank}] {found.title}{f' ({facts})' if facts else ''}"]
    short = shown.links.get(found.url)
    lines.append(f"URL: {short} ({_host(found.url)})" if short else f"URL: {found.url}")
    snippet = found.snippet if shown.snippets else ""
    long = shown.chars > SNIPPET and len(found.content) > len(snippet)
    texts: Sequence[str] = (
        found.content if long else snippet or (found.content if shown.snippets else ""),
        str(found.extra.get("description", "")),
    )
    lines += [shortened(text, shown.chars) for text in texts if text]
    return "\n".join(lines)


def _host(url: str) -> str:
    return url.partition("://")[2].partition("/")[0].partition("?")[0][:MAX_HOST]


def shortened(text: str, most: int) -> str:
    """A text of so many characters at most, cut between words."""
    if len(text) <= most:
        return text
    head = text[: max(most - 2, 0)]
    between = head.rsplit(None, 1)[0]
    # A text without spaces keeps what it has.
    return f"{between if len(between) > most // 2 else head} …"[:most]
