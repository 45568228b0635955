"""Reading the answers of services: texts, results, and what an ask means to a service."""

from __future__ import annotations

import math
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

from toolcrib.text.cleaner import clean, one_line
from toolcrib.web.provider_api.provider import Found, Page, is_web

MAX_SNIPPET = 600
"""Characters of a snippet; a longer one is content of the page."""
MAX_CONTENT = 50_000
DAYS = {"day": 1, "week": 7, "month": 31, "year": 365}


def found(
    title: str,
    url: Any,
    snippet: str = "",
    published: Any = "",
    content: str = "",
    **extra: Any,
) -> Found | None:
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
    snippet = snippet or one_line(content[: 2 * MAX_SNIPPET])
    if len(snippet) > MAX_SNIPPET:
        content = content or snippet[:MAX_CONTENT]
        snippet = f"{snippet[:MAX_SNIPPET].rsplit(' ', 1)[0]} …"
    more = {name: value for name, value in extra.items() if value not in ("", None, [], {})}
    return Found(title or address, address, snippet, one_line(published), content, more)


def page_of(results: Iterable[Found | None], *, more: bool = False) -> Page:
    """A page of those results that lead somewhere."""
    kept = tuple(result for result in results if result is not None)
    return Page(kept, more=more and bool(kept))


def unmarked(value: Any) -> str:
    """Text in one line of a value that has HTML tags and entities in it."""
    if not isinstance(value, str) or ("<" not in value and "&" not in value):
        return one_line(value)
    from turbohtml import parse_fragment

    return one_line(parse_fragment(value).text)


def content_of(value: Any) -> str:
    """Text of a page, its lines kept and its end cut off; anything else is empty."""
    return clean(value[:MAX_CONTENT]).text.strip() if isinstance(value, str) else ""


def texts(value: Any) -> list[str]:
    """The texts of a list, each in one line and without markup; empty ones are left out."""
    return [text for item in value if (text := unmarked(item))] if isinstance(value, list) else []


def number(value: Any) -> float | int | None:
    """A number; anything else is None."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return value if is_number and math.isfinite(value) else None


def at(value: Any, *path: str) -> Any:
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


def covers(site: str, *domains: str) -> bool:
    """Whether a service that has only some domains can search a site; any where it is empty."""
    host = site.lower().partition(":")[0]
    return not host or any(host == d or host.endswith(f".{d}") for d in domains)
