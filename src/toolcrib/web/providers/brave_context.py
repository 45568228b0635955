"""Brave's service for models: text of pages instead of snippets."""

from __future__ import annotations

import re
from typing import Any

from toolcrib.text.cleaner import one_line
from toolcrib.web.provider_api.client import Reach
from toolcrib.web.provider_api.provider import Ask, Found, Page
from toolcrib.web.provider_api.responses import at, content_of, found, page_of
from toolcrib.web.providers.brave import BraveApi

COUNT = 20
TOKENS = 16_384
_DAY = re.compile(r"\d{4}-\d\d-\d\d")


class BraveContext(BraveApi):
    """Brave LLM Context."""

    name = "brave_context"
    about = "Text of pages by Brave's API for language models."
    shares = "brave"
    ignores = ("safe_search",)

    async def search(self, ask: Ask, reach: Reach) -> Page:
        """The pages found, each with the text that bears on the query; there is one page."""
        answer = await self.ask(
            "/res/v1/llm/context",
            ask,
            reach,
            count=str(COUNT),
            maximum_number_of_tokens=str(TOKENS),
            ui_lang="",
        )
        items = reach.listed(answer, "grounding", "generic", optional=True)
        return page_of(_result(item, answer) for item in items)


def _result(item: dict[str, Any], answer: dict[str, Any]) -> Found | None:
    snippets = item.get("snippets")
    parts = [content_of(s) for s in snippets] if isinstance(snippets, list) else []
    url = item.get("url")
    source = at(answer, "sources", url) if isinstance(url, str) else None
    ages = at(source, "age")
    dates = [a for a in ages if isinstance(a, str)] if isinstance(ages, list) else []
    date = next((a for a in dates if _DAY.fullmatch(a)), dates[0] if dates else "")
    return found(
        one_line(item.get("title")),
        url,
        published=date,
        content=content_of("\n\n".join(part for part in parts if part)),
        source=one_line(at(source, "hostname")),
    )
