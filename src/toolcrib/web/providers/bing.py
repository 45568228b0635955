"""Bing without a key: the page for people."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from toolcrib.net.egress.response import Response
from toolcrib.web.engines.engine import Engine
from toolcrib.web.provider_api.client import Reach
from toolcrib.web.provider_api.provider import Ask, Found

if TYPE_CHECKING:
    from turbohtml import Document, Element

SIZE = 10
_DAY_SECONDS = 86_400


class Bing(Engine):
    """Bing."""

    name = "bing"
    about = "Bing's page for people."
    base_url = "https://www.bing.com"
    site = "bing.com"
    max_chars = 1000

    blocks = (
        "li.b_algo, div.b_algo",
        "#b_results > li:has(h2 a[href]), #b_results > li:has(a[href] h2)",
    )
    never = (
        ".b_ad, .b_adTop, .b_adBottom, .b_adLastChild, .sb_add, .sb_adTA, [data-apurl], .b_ans,"
        ".b_msg, .b_pag, .b_no, .b_rs, .b_top, .b_mop, .b_nwsAns, .b_vidAns, .b_imgans,"
        ".b_topborder"
    )
    aside = (
        "#b_context, .b_context, #b_topw, #b_pole, .b_entityTP, .df_alaskcarousel, .b_slidebar,"
        ".rqnaContainer, .b_rich, .b_deep, [class*=deeplink], .pageRecoContainer"
    )
    links = (
        "h2 a[href]",
        "a[href]:has(h2)",
        ".b_algoheader a[href]",
        ".b_title a[href]",
        "h3 a[href]",
        "a.tilk[href]",
    )
    titles = ("h2", ".b_algoheader h2", ".b_title h2", "h3")
    snippets = (
        ".b_caption p",
        "p[class*=b_lineclamp]",
        ".b_algoSlug",
        ".b_paractl",
        ".b_snippet",
        ".b_caption .b_snippetBigText",
        ".b_dList",
        ".b_caption > div:not(.b_attribution):not(.b_factrow)",
        ".b_mText",
        "p",
    )
    dates = (".news_dt", ".b_caption .b_factrow .news_dt")
    noise = (
        ".algoSlug_icon, .b_hide, .b_attribution, .b_deep, .b_vlist2col, .b_deeplinks,"
        "[class*=deeplinks], .b_icn, .pdf, .ftp, .cite_ext, .b_tpcn .tptxt"
    )
    frame = "#b_results, #b_content"
    empty = "#b_results .b_no, .b_no"
    said = "#b_results"
    pager = ".b_pag a.sb_pagN[href], a.sb_pagN[href], a[title='Next page'][href]"
    pager_fields = ("first",)

    async def request(self, ask: Ask, reach: Reach) -> Response:
        """Ask as its form does; later pages need `first` and `FORM` together."""
        market = f"{ask.language}-{ask.country}" if ask.country else ""
        params = {"q": ask.words, "pq": ask.words, "adlt": ask.safe_search, **_period(ask)}
        params |= {"cc": ask.country, "setlang": ask.language, "mkt": market}
        if ask.page > 1:
            params["first"] = ask.cursor.get("first") or str(1 + SIZE * (ask.page - 1))
            params["FORM"] = f"PERE{ask.page - 2 or ''}"
        sent = {"_EDGE_CD": f"m={market.lower()}&u={market.lower()}" if market else ""}
        sent["_EDGE_S"] = f"mkt={market.lower()}&ui={market.lower()}" if market else ""
        sent["SRCHHPGUSR"] = f"ADLT={_ADULT[ask.safe_search]}"
        return await self.fetch_page(reach, ask, "/search", params=params, cookies=sent)

    def results(self, document: Document) -> list[Found]:
        """None where the page says that there is nothing: what follows is for other words."""
        return [] if document.select_one(self.empty) else super().results(document)

    def counts(self, block: Element) -> bool:
        """An ad may stand in the form of a result; its link gives it away."""
        paid = block.select_one("a[href*='/aclk?'], a[href*='/aclick?'], .b_adlabel, .b_adSlug")
        return paid is None and super().counts(block)


_ADULT = {"strict": "STRICT", "moderate": "DEMOTE", "off": "OFF"}


def _period(ask: Ask) -> dict[str, str]:
    if not ask.freshness:
        return {}
    today = int(time.time()) // _DAY_SECONDS
    codes = {"day": "ez1", "week": "ez2", "month": "ez3", "year": f"ez5_{today - 365}_{today}"}
    return {"filters": f'ex1:"{codes[ask.freshness]}"'}
