"""The part of a page that an answer shows: where it starts and stops, and how it reads."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from toolcrib.core.call import ErrorInfo, Next
from toolcrib.core.errors import BadInput, ToolError
from toolcrib.kit.text import cut, fence
from toolcrib.kit.tokens import estimate
from toolcrib.tools.web.pages import PageText

LEAST = 50
"""Tokens of content that a part gets, whatever its header takes."""
MAX_URL = 500
"""Characters of a URL that the header shows."""
MAX_HINT = 200
"""Characters of a hint that the text of several pages shows."""
ROOM = 10
"""Tokens kept free for what joins fence, header, content and the line that goes on."""


@dataclass(frozen=True, slots=True)
class Part:
    """Some of a page. `following` reads on where it stops; None at the end."""

    asked: str
    page: PageText
    offset: int
    content: str
    following: Next | None

    @property
    def end(self) -> int:
        """The offset of the first character behind it."""
        return self.offset + len(self.content)

    @property
    def text(self) -> str:
        """The part as a model reads it: where it comes from, then the content."""
        head = _header(self.page, self.offset, self.end)
        return f"{head}\n\n{self.content}" if self.content else f"{head}\n\n(no text)"

    @property
    def data(self) -> dict[str, Any]:
        """The same as JSON values."""
        page = self.page
        return {
            "url": self.asked,
            "status": "ok",
            "final_url": page.url,
            "http_status": page.status,
            "content_type": page.content_type,
            "kind": page.kind,
            "title": page.title,
            "content": self.content,
            "offset": self.offset,
            "end": self.end,
            "length": len(page.text),
            "truncated": self.following is not None,
            "encoding": page.encoding,
            "bytes": page.size,
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
        }


def part_of(asked: str, page: PageText, offset: int, budget: int, same: Mapping[str, Any]) -> Part:
    """As much of a page from an offset as fits.

    Args:
        asked: the URL as the caller gave it.
        page: the whole page.
        offset: in characters of the converted page.
        budget: tokens for fence, header, content and the call that goes on.
        same: the arguments that this call repeats.

    Raises:
        BadInput: the page is shorter than that.
    """
    length = len(page.text)
    if offset and offset >= length:
        raise BadInput(
            f"{asked} has {length:,} characters, so nothing starts at {offset:,}.",
            hint="Offsets count from 0.",
            length=length,
        )

    def following(end: int) -> Next:
        return Next("fetch_url", {"url": asked, "offset": end, **same})

    rest = page.text[offset:]
    used = estimate(fence("", page.url) + _header(page, offset, length)) + ROOM
    content, _ = cut(rest, max(budget - used, LEAST))
    if len(content) < len(rest):
        used += estimate(str(following(length)))
        content, _ = cut(rest, max(budget - used, LEAST))
    end = offset + len(content)
    return Part(asked, page, offset, content, following(end) if end < length else None)


def failed_data(asked: str, error: ToolError) -> dict[str, Any]:
    """A page that could not be read, as JSON values."""
    info = ErrorInfo.of(error)
    told = {"code": info.code, "message": info.message, "hint": info.hint}
    return {"url": asked, "status": "error", "error": told}


def failed_text(asked: str, error: ToolError) -> str:
    """A page that could not be read, as a model reads it."""
    told = f"URL: {asked}\nError ({error.stable_code}): {error.message}"
    return f"{told}\n{error.hint[:MAX_HINT]}" if error.hint else told


def _header(page: PageText, start: int, end: int) -> str:
    facts = [f"HTTP {page.status}", page.content_type or "no content type"]
    facts.append(f"fetched {_utc(page.fetched_at, '%Y-%m-%d %H:%M')} UTC")
    if page.stale:
        minutes = (time.time() - page.fetched_at) / 60
        facts.append(f"stale copy, {minutes:,.0f} min old: reading it anew failed")
    elif page.cached:
        facts.append("cached")
    if page.redirects:
        facts.append(f"redirected from {page.redirects[0].source[:200]}")
    lines = [f"Title: {page.title}"] if page.title else []
    lines += [f"URL: {page.url[:MAX_URL]}", ", ".join(facts)]
    if start or end < len(page.text):
        lines.append(f"Characters {start:,} to {end:,} of {len(page.text):,}")
    return "\n".join([*lines, *page.notes])


def _utc(when: float, form: str) -> str:
    return time.strftime(form, time.gmtime(when))
