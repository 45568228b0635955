"""Brave Search, through its API and a key of the user's own."""

from __future__ import annotations

from typing import Any

from toolcrib.text.cleaner import one_line
from toolcrib.web.provider_api.client import Reach
from toolcrib.web.provider_api.provider import Ask, Found, Page, Provider
from toolcrib.web.provider_api.responses import at, found, page_of, texts, unmarked

COUNT = 20
LAST_PAGE = 10
# What the service takes; anything else it answers with an error.
_COUNTRIES = """
AR AU AT BE BR CA CL DK FI FR DE GR HK IN ID IT JP KR MY MX NL NZ NO CN PL PT PH RU SA ZA ES SE
CH TW TR GB US
"""
_LANGUAGES = """
ar eu bn bg ca zh-hans zh-hant hr cs da nl en en-gb et fi fr gl de el gu he hi hu is it jp kn ko
lv lt ms ml mr nb pl pt-br pt-pt pa ro ru sr sk sl es sv ta te th tr uk vi
"""
_UI = """
es-AR en-AU de-AT nl-BE fr-BE pt-BR en-CA fr-CA es-CL da-DK fi-FI fr-FR de-DE el-GR zh-HK en-IN
en-ID it-IT ja-JP ko-KR en-MY es-MX nl-NL en-NZ no-NO zh-CN pl-PL en-PH ru-RU en-ZA es-ES sv-SE
fr-CH de-CH zh-TW tr-TR en-GB en-US es-US
"""
COUNTRIES, LANGUAGES, UI = (frozenset(codes.split()) for codes in (_COUNTRIES, _LANGUAGES, _UI))
SPECIAL = {
    "en-GB": "en-gb",
    "ja": "jp",
    "no": "nb",
    "pt": "pt-pt",
    "pt-BR": "pt-br",
    "zh": "zh-hans",
    "zh-HK": "zh-hant",
    "zh-TW": "zh-hant",
}


class BraveApi(Provider):
    """What Brave's services have in common."""

    base_url = "https://api.search.brave.com"
    key_env = "BRAVE_API_KEY"
    needs_key = True
    max_chars = 400
    max_words = 50
    max_bytes = 1_048_576

    async def ask(self, path: str, ask: Ask, reach: Reach, **more: str) -> dict[str, Any]:
        """One answer of the service at a path."""
        # The operator for a site counts as well.
        self.check_query(ask.words)
        params = {"q": ask.words, "freshness": f"p{ask.freshness[:1]}" if ask.freshness else ""}
        headers = {"x-subscription-token": reach.key}
        return await reach.call(path, params={**params, **region(ask), **more}, headers=headers)


class Brave(BraveApi):
    """Brave Search."""

    name = "brave"
    about = "Brave Search by its API."

    async def search(self, ask: Ask, reach: Reach) -> Page:
        """One page of web results."""
        answer = await self.ask(
            "/res/v1/web/search",
            ask,
            reach,
            count=str(COUNT),
            offset=str(ask.page - 1),
            safesearch=ask.safe_search,
            extra_snippets="true",
        )
        more = bool(at(answer, "query", "more_results_available")) and ask.page < LAST_PAGE
        results = reach.listed(answer, "web", "results", optional=True)
        return page_of(map(_result, results), more=more)


def _result(item: dict[str, Any]) -> Found | None:
    title = unmarked(item.get("title"))
    if not title:
        return None
    return found(
        title,
        item.get("url"),
        unmarked(item.get("description")),
        one_line(item.get("page_age")) or one_line(item.get("age")),
        extra_snippets=texts(item.get("extra_snippets")),
        language=one_line(item.get("language")),
        family_friendly=item.get("family_friendly"),
    )


def language(ask: Ask) -> str:
    """The language of a region as Brave writes it; empty for one that it does not know."""
    name = SPECIAL.get(f"{ask.language}-{ask.country}") or SPECIAL.get(ask.language, ask.language)
    return name if name in LANGUAGES else ""


def region(ask: Ask) -> dict[str, str]:
    """A region as Brave takes it: what it does not know is left out."""
    ui = f"{ask.language}-{ask.country}"
    return {
        "country": ask.country if ask.country in COUNTRIES else "",
        "search_lang": language(ask),
        "ui_lang": ui if ui in UI else "",
    }
