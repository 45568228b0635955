"""Images of Brave Search, through its API."""

from __future__ import annotations

from typing import Any

from toolcrib.text.cleaner import one_line
from toolcrib.web.provider_api.client import Reach
from toolcrib.web.provider_api.provider import Ask, Found, Page, is_web
from toolcrib.web.provider_api.responses import at, found, number, page_of, unmarked
from toolcrib.web.providers.brave import BraveApi

COUNT = 100


class BraveImages(BraveApi):
    """Brave Images."""

    name = "brave_images"
    about = "Images by Brave's API."
    kind = "images"
    shares = "brave"
    ignores = ("freshness",)

    async def search(self, ask: Ask, reach: Reach) -> Page:
        """The images found; there is one page."""
        answer = await self.ask(
            "/res/v1/images/search",
            ask,
            reach,
            count=str(COUNT),
            freshness="",
            ui_lang="",
            safesearch="off" if ask.safe_search == "off" else "strict",
        )
        return page_of(map(_result, reach.listed(answer, "results", optional=True)))


def _result(item: dict[str, Any]) -> Found | None:
    page, thumbnail = item.get("url"), at(item, "thumbnail", "src")
    return found(
        unmarked(item.get("title")),
        at(item, "properties", "url"),
        page=page if isinstance(page, str) and is_web(page) else "",
        thumbnail=thumbnail if isinstance(thumbnail, str) and is_web(thumbnail) else "",
        width=number(at(item, "properties", "width")),
        height=number(at(item, "properties", "height")),
        source=one_line(item.get("source")),
    )
