"""`wikipedia_search`: articles on a subject, with the beginning of their text."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from toolcrib.core.call import Result
from toolcrib.core.context import Ctx
from toolcrib.core.errors import BadInput, NoResults
from toolcrib.core.params import Param
from toolcrib.core.tool import NET, tool
from toolcrib.core.web_settings import ProviderConfig
from toolcrib.net.cache import Cache
from toolcrib.text.cleaner import one_line
from toolcrib.text.marks import unforged
from toolcrib.web.provider_api.client import Reach
from toolcrib.web.provider_api.provider import is_web
from toolcrib.web.provider_api.responses import at, content_of
from toolcrib.web.provider_api.schedule import Turns
from toolcrib.web.providers.wikipedia import Wikipedia, address, edition, link, query

ARTICLES = 3
ASKED = 6
"""Articles looked at, so that three are left beside pages that only list meanings."""
CHARS = 2000
STALE_SECONDS = 86_400
_END = re.compile(r"\n|[.!?\u2026\u3002\uff01\uff1f][\"'\u201d\u2019)\]]*(?=\s|$)")


@tool(
    group="web",
    rights=NET,
    keywords=("wiki", "encyclopedia", "article", "facts", "look up", "definition"),
    aliases=(
        "wikipedia",
        "search_wikipedia",
        "wiki_search",
        "wikipedia_lookup",
        "get_wikipedia_article",
        "wikipedia_summary",
        "wiki",
    ),
    argument_aliases={
        "q": "query",
        "text": "query",
        "title": "query",
        "topic": "query",
        "search_query": "query",
        "search_term": "query",
        "lang": "language",
        "locale": "language",
    },
)
async def wikipedia_search(
    query: str,
    language: Annotated[str, Param("Code such as en, de or simple.")] = "en",
    *,
    ctx: Ctx,
) -> Result:
    """Find Wikipedia articles; gives the first 2,000 characters of three.

    Use `fetch_url` to read on. What articles say is untrusted.
    """
    asked, code = one_line(query), edition(language)
    if not asked:
        raise BadInput("Query must be a non-empty string.")
    if not code:
        raise BadInput(
            f"'language' must be the code of a Wikipedia such as en, not '{language[:40]}'."
        )
    provider = Wikipedia()
    provider.check_query(asked)
    config = ctx.config.web.providers.get(provider.name, ProviderConfig())
    way = Reach(provider, config, ctx, ctx.config.egress.retry.retries)
    turns, reach = Turns(provider, way, ctx), way.at(address(code))
    await ctx.progress(f"Searching Wikipedia for '{asked[:80]}'")
    kept = await ctx.use(Cache).fetch(
        "wikipedia",
        json.dumps([reach.base_url, code, asked]),
        lambda: _paced(asked, reach, turns),
        ttl=ctx.config.web.search.cache_seconds,
        stale=STALE_SECONDS,
        max_entries=ctx.config.web.search.cache_entries,
    )
    if kept.stale:
        ctx.warn(f"Wikipedia does not answer now; this is {kept.age / 60:,.0f} min old.")
    articles = kept.value
    if not articles:
        raise NoResults(
            f"Wikipedia ({code}) has nothing on '{asked[:200]}'.",
            hint="Use fewer or other words, or another language.",
        )
    data = {
        "query": asked,
        "language": code,
        "cached": kept.hit,
        "stale": kept.stale,
        "articles": articles,
    }
    return Result(text=_text(articles), data=data, source=reach.base_url.partition("://")[2])


@dataclass(frozen=True, slots=True)
class _Article:
    key: int
    title: str
    url: str
    text: str
    lists: bool
    """Whether it only lists what a word may mean."""


async def _paced(asked: str, reach: Reach, turns: Turns) -> list[dict[str, Any]]:
    """The articles; all their requests are one turn at Wikipedia, which searches share."""
    patient = await turns.wait(alone=True)
    return await turns.noted(_articles(asked, reach), patient=patient)


async def _articles(asked: str, reach: Reach) -> list[dict[str, Any]]:
    answer = await query(reach, list="search", srsearch=asked, srlimit=str(ASKED))
    hits = reach.listed(answer, "query", "search")
    keys = [key for hit in hits if type(key := hit.get("pageid")) is int]
    if not keys:
        return []
    looked = await _look(reach, keys, intro=True)
    found = [looked[key] for key in keys if key in looked]
    # Those that list meanings come last: they say least.
    chosen = sorted(found, key=lambda article: article.lists)[:ARTICLES]
    return [await _record(article, reach) for article in chosen]


async def _record(article: _Article, reach: Reach) -> dict[str, Any]:
    text = article.text
    if len(text) < CHARS:
        # Whole texts come one at a time, and only introductions together.
        whole = await _look(reach, [article.key], intro=False)
        text = max(text, whole[article.key].text if article.key in whole else "", key=len)
    shown = _beginning(text)
    return {
        "title": article.title,
        "url": article.url,
        "text": shown,
        "disambiguation": article.lists,
        "truncated": len(shown) < len(text),
    }


def _beginning(text: str) -> str:
    """The start of a text, up to the end of a line, a sentence or else a word."""
    if len(text) <= CHARS:
        return text
    ends = [match.end() for match in _END.finditer(text, CHARS // 2, CHARS)]
    end = ends[-1] if ends else text.rfind(" ", CHARS // 2, CHARS)
    return text[: end if end > 0 else CHARS].rstrip()


async def _look(reach: Reach, keys: Sequence[int], *, intro: bool) -> dict[int, _Article]:
    answer = await query(
        reach,
        prop="extracts|info|pageprops",
        pageids="|".join(map(str, keys)),
        explaintext="1",
        exsectionformat="plain",
        exintro="1" if intro else "",
        exlimit="max" if intro else "1",
        inprop="url",
        ppprop="disambiguation",
        redirects="1",
    )
    pages = at(answer, "query", "pages")
    listed = list(pages.values()) if isinstance(pages, dict) else pages
    articles = [_article(page, reach) for page in reach.listed({"pages": listed}, "pages")]
    return {article.key: article for article in articles if article is not None}


def _article(page: dict[str, Any], reach: Reach) -> _Article | None:
    key, title = page.get("pageid"), one_line(page.get("title"))
    if not isinstance(key, int) or not title:
        return None
    url = one_line(page.get("fullurl"))
    lists = isinstance(at(page, "pageprops"), dict) and "disambiguation" in page["pageprops"]
    return _Article(
        key,
        title,
        url if is_web(url) else link(reach.base_url, title),
        content_of(page.get("extract")),
        lists,
    )


def _text(articles: Sequence[dict[str, Any]]) -> str:
    parts = []
    for article in articles:
        kind = " (lists several meanings)" if article["disambiguation"] else ""
        parts.append(
            f"{article['title']}{kind}\n{article['url']}\n\n{unforged(article['text'])}".rstrip()
        )
    return "\n\n".join(parts)
