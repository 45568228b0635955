"""Images of a SearXNG instance."""

from __future__ import annotations

import re
from typing import Any

from toolcrib.text.cleaner import one_line
from toolcrib.web.provider_api.client import Reach
from toolcrib.web.provider_api.provider import Ask, Found, Page, Provider, joined
from toolcrib.web.provider_api.responses import found, page_of
from toolcrib.web.providers.searxng import engines_of, gathered

_SIZE = re.compile(r"(\d{1,5})\s*[x\u00d7]\s*(\d{1,5})", re.IGNORECASE)


class SearXNGImages(Provider):
    """Images of SearXNG."""

    name = "searxng_images"
    about = "Images by your SearXNG instance."
    kind = "images"
    shares = "searxng"
    max_chars = 1000

    async def search(self, ask: Ask, reach: Reach) -> Page:
        """One page of the images that the instance gathered."""
        items = await gathered(reach, ask, "images")
        results = page_of(_result(item, reach.base_url) for item in items)
        return Page(results.results, more=bool(results.results))


def _result(item: dict[str, Any], base: str) -> Found | None:
    size = _SIZE.search(one_line(item.get("resolution")))
    return found(
        one_line(item.get("title")),
        _address(item.get("img_src"), base),
        one_line(item.get("content")),
        item.get("publishedDate"),
        page=_address(item.get("url"), base),
        thumbnail=_address(item.get("thumbnail_src"), base),
        width=int(size.group(1)) if size else None,
        height=int(size.group(2)) if size else None,
        source=one_line(item.get("source")),
        engines=engines_of(item),
    )


def _address(value: Any, base: str) -> str:
    """An address as engines give it, some of them without a scheme or a host."""
    return joined(f"{base}/", value.strip()) if isinstance(value, str) and value.strip() else ""
