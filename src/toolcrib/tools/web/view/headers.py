"""The header over a page: where it comes from, what it is, what was left out."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from toolcrib.core.errors import ToolError
from toolcrib.core.result import ErrorInfo
from toolcrib.web.page import CUT_MARK, Page

MAX_URL_CHARS = 500
"""Characters of a URL that the header shows."""
MAX_BRIEF_URL_CHARS = 150
"""The same where there is hardly room for a header."""
SHORT_PAGE_CHARS = 1000
"""Characters of a page below which its menus may be what was looked for."""
MIN_LEFT_WORDS = 50
"""Words beside the main content, and at least as many as it has, that are mentioned."""
MAX_HINT_CHARS = 200
"""Characters of a hint that the text of several pages shows."""
MAX_FAILED_URL_CHARS = 300
"""Characters of the URL of a page that could not be read."""
NAVIGATION_HEADING = "Navigation:"


def header(
    page: Page, notes: Sequence[str] = (), outline: str = "", *, navigation: bool = False
) -> str:
    """The lines over a page, provenance first."""
    facts = [f"HTTP {page.status}", page.content_type or "no content type"]
    facts.append(f"fetched {_utc(page.fetched_at, '%Y-%m-%d %H:%M')} UTC")
    if page.stale:
        minutes = (time.time() - page.fetched_at) / 60
        facts.append(f"stale copy, {minutes:,.0f} min old: reading it anew failed")
    elif page.cached:
        facts.append("cached")
    if page.rendered:
        facts.append("read in a browser, with its scripts")
    if page.redirects:
        facts.append(f"redirected from {page.redirects[0].source[:200]}")
    lines = [f"Title: {page.title}"] if page.title else []
    lines += [f"URL: {page.url[:MAX_URL_CHARS]}", ", ".join(facts)]
    left_out = _left_out(page, navigation=navigation)
    return "\n".join(filter(None, [*lines, *notes, *page.notes, *left_out, outline]))


def brief_header(page: Page, notes: Sequence[str] = ()) -> str:
    """The URL and one line, for an answer that has no room for more."""
    facts = ["stale copy"] if page.stale else []
    facts += [*notes, *page.notes[:1]]
    return "\n".join(filter(None, [f"URL: {page.url[:MAX_BRIEF_URL_CHARS]}", "; ".join(facts)]))


def facts_of(page: Page) -> dict[str, Any]:
    """The same as JSON values."""
    return {
        "final_url": page.url,
        "http_status": page.status,
        "content_type": page.content_type,
        "kind": page.kind,
        "title": page.title,
        "encoding": page.encoding,
        "bytes": page.size,
        "bytes_cut": page.cut,
        "fetched_at": _utc(page.fetched_at, "%Y-%m-%dT%H:%M:%SZ"),
        "cached": page.cached,
        "stale": page.stale,
        "redirects": [
            {"from": step.source, "to": step.target, "status": step.status}
            for step in page.redirects
        ],
        "notes": page.notes,
        "removed": page.removed,
        "hidden": page.hidden,
        "navigation_chars": len(page.navigation),
        "unrendered": page.unrendered,
        "rendered": page.rendered,
        **_extraction(page),
        "about": {name: value for name, value in asdict(page.facts).items() if value},
    }


def failed_data(url: str, error: ToolError) -> dict[str, Any]:
    """A page that could not be read, as JSON values."""
    info = ErrorInfo.of(error)
    values = {"code": info.code, "message": info.message, "hint": info.hint}
    return {"url": url, "status": "error", "error": values}


def failed_text(url: str, error: ToolError) -> str:
    """A page that could not be read, as a model reads it."""
    text = f"URL: {url[:MAX_FAILED_URL_CHARS]}\nError ({error.stable_code}): {error.message}"
    return f"{text}\n{error.hint[:MAX_HINT_CHARS]}" if error.hint else text


def _left_out(page: Page, *, navigation: bool) -> list[str]:
    parts = []
    if page.navigation and not navigation and len(page.text) < SHORT_PAGE_CHARS:
        parts.append("menus (navigation=true)")
    if page.choice is not None and page.choice.running:
        running = page.choice.running
        parts.append(f"{running:,} words of running text beside the main content (whole=true)")
    elif page.left >= max(MIN_LEFT_WORDS, page.choice.words if page.choice else 0):
        parts.append(f"{page.left:,} words beside the main content (whole=true)")
    if page.hidden:
        parts.append(f"{page.hidden} hidden part{'s' if page.hidden > 1 else ''}")
    return [f"Left out: {', '.join(parts)}"] if parts else []


def _extraction(page: Page) -> dict[str, Any]:
    choice = page.choice
    if choice is None:
        return {}
    values = {
        "method": choice.method,
        "readable": choice.readable,
        "fallback": bool(choice.reason),
        "reason": choice.reason,
        "title": page.title,
        "page_type": choice.page_type,
        "words": choice.words,
        "words_left": choice.left,
        "running_words_left": choice.running,
        "navigation_detected": bool(page.navigation),
        "navigation_chars": len(page.navigation),
        "navigation_truncated": page.navigation.endswith(CUT_MARK),
    }
    return {"html_extraction": values}


def _utc(when: float, form: str) -> str:
    return time.strftime(form, time.gmtime(when))
