"""Images by Bing, without a key."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from toolcrib.net.egress.response import Response
from toolcrib.text.cleaner import one_line
from toolcrib.web.engines.engine import Engine, unique
from toolcrib.web.provider_api.client import Reach
from toolcrib.web.provider_api.provider import Ask, Found, is_web

if TYPE_CHECKING:
    from turbohtml import Document, Element

STRIDE = 35
_SHOWN = re.compile(r"\.(?:jpe?g|png|gif|webp|svg)$", re.IGNORECASE)
_MINUTES = {"day": 1440, "week": 10_080, "month": 44_640, "year": 525_600}
_SIZE = re.compile(r"(\d{1,5})\s*[x\u00d7]\s*(\d{1,5})")


class BingImages(Engine):
    """Bing's images."""

    name = "bing_images"
    about = "Bing's images."
    kind = "images"
    base_url = "https://www.bing.com"
    site = "bing.com"
    max_chars = 1000

    blocks = ("a.iusc[m]",)
    frame = "#b_content, .dg_b, .dgControl, #mmComponent_images_1"
    empty = ".no_res, .norslts, #no_results, .b_no, .dgControl_list:not(:has(a))"
    said = "#b_content, #vm_c, .dg_b"

    async def request(self, ask: Ask, reach: Reach) -> Response:
        """Pages are 35 images apart."""
        first = 1 + STRIDE * (ask.page - 1)
        params = {"q": ask.words, "first": str(first), "count": str(STRIDE), "form": "HDRSC2"}
        params |= {"adlt": ask.safe_search, "cc": ask.country, "setlang": ask.language}
        if ask.freshness:
            params["qft"] = f"+filterui:age-lt{_MINUTES[ask.freshness]}"
        return await self.fetch_page(reach, ask, "/images/search", params=params)

    def results(self, document: Document) -> list[Found]:
        """A tile carries its data as JSON; one that is broken is passed over."""
        tiles = document.select(self.blocks[0])
        return unique(found for tile in tiles if (found := self.result(tile)))

    def result(self, block: Element) -> Found | None:
        """The image of a tile."""
        try:
            data = json.loads(str(block.attr("m") or ""))
        except (ValueError, RecursionError):
            return None
        image = _url(data, "murl")
        if not _SHOWN.search(urlsplit(image).path):
            return None
        known = {"page": _url(data, "purl"), "thumbnail": _url(data, "turl"), **_size(block)}
        title = one_line(data.get("t")) or one_line(str(block.attr("title") or ""))
        return Found(title, image, one_line(data.get("desc")), extra=known)

    def following(self, document: Document) -> dict[str, str] | None:
        """There is more as long as a page is not nearly empty."""
        return {} if len(document.select(self.blocks[0])) >= STRIDE // 2 else None


def _url(data: Any, name: str) -> str:
    value = data.get(name) if isinstance(data, dict) else None
    url = value.strip() if isinstance(value, str) else ""
    return url if is_web(url) else ""


def _size(block: Element) -> dict[str, int]:
    """Width and height as the tile tells them, where it does."""
    tile = block.closest("li, .iuscp, .imgpt") or block
    told = tile.select_one(".img_info .nowrap, .fileInfo, .nowrap")
    found = _SIZE.search(told.text) if told is not None else None
    return {"width": int(found[1]), "height": int(found[2])} if found else {}
