"""`web_search`: results from the first provider that answers."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any, Literal

from toolcrib.core.call import ErrorInfo, Next, Result
from toolcrib.core.context import Ctx
from toolcrib.core.errors import BadInput, ToolError
from toolcrib.core.params import Param
from toolcrib.core.tool import NET, tool
from toolcrib.tools.web.chain import Outcome, Window, first_answer, most_telling
from toolcrib.tools.web.provider import Ask, Found, plain
from toolcrib.tools.web.providers import provider as provider_named

MAX_QUERIES = 10
AT_ONCE = 3
SNIPPET = 300
MAX_HINT = 200
_HOST = re.compile(r"[\w-]+(?:\.[\w-]+)*(?::\d+)?", re.IGNORECASE)


@tool(
    group="web",
    rights=NET,
    keywords=("internet", "google", "bing", "online", "look up", "news", "find"),
    aliases=(
        "search_web",
        "websearch",
        "search",
        "internet_search",
        "google_search",
        "duckduckgo_search",
        "duckduckgo_web_search",
        "brave_web_search",
        "searxng_web_search",
    ),
    argument_aliases={
        "q": "query",
        "text": "query",
        "search_query": "query",
        "search_term": "query",
        "keywords": "query",
        "n": "limit",
        "count": "limit",
        "num": "limit",
        "num_results": "limit",
        "max_results": "limit",
        "pageno": "page",
        "time_range": "freshness",
        "timelimit": "freshness",
        "recency": "freshness",
        "domain": "site",
        "safesearch": "safe_search",
        "engine": "provider",
        "backend": "provider",
    },
    profiles=("default", "research"),
)
async def web_search(
    query: str = "",
    queries: list[str] | None = None,
    limit: Annotated[int | None, Param("Results a query.", minimum=1, maximum=50)] = None,
    page: Annotated[int, Param("From 1.", minimum=1, maximum=100)] = 1,
    freshness: Literal["any", "day", "week", "month", "year"] = "any",
    site: Annotated[str, Param("Only this domain.")] = "",
    safe_search: Literal["strict", "moderate", "off"] = "moderate",
    provider: Annotated[str, Param("Only this one.")] = "",
    *,
    ctx: Ctx,
) -> Result:
    """Search the web; gives titles, URLs and snippets.

    Use it to find pages, then `fetch_url` to read one. `queries` asks several questions
    at once and gives an answer to each.
    """
    asked = _questions(query, queries)
    settings = ctx.config.web.search
    names = [provider_named(provider).name] if provider else list(settings.providers)
    window = Window(page, limit or settings.limit)
    since = "" if freshness == "any" else freshness
    ask = Ask("", freshness=since, safe_search=safe_search)
    outcomes = await _ask_all(asked, _domain(site), ask, window, names, ctx)
    same = {
        "limit": limit,
        "freshness": since,
        "site": site,
        "safe_search": "" if safe_search == "moderate" else safe_search,
        "provider": provider,
    }
    given = {name: value for name, value in same.items() if value}
    return _result(asked, outcomes, window, given)


async def _ask_all(
    asked: Sequence[str], domain: str, ask: Ask, window: Window, names: Sequence[str], ctx: Ctx
) -> list[Outcome | ToolError]:
    gate = asyncio.Semaphore(AT_ONCE)

    async def one(question: str) -> Outcome | ToolError:
        if not question:
            return BadInput("Query must be a non-empty string.")
        wanted = f"{question} site:{domain}" if domain else question
        try:
            async with gate:
                await ctx.progress(f"Searching for '{question[:80]}'")
                outcome = await first_answer(replace(ask, query=wanted), window, names, ctx)
        except ToolError as error:
            return error
        await ctx.progress(f"Found {len(outcome.results)} results with {outcome.provider}")
        return outcome

    return await asyncio.gather(*map(one, asked))


def _result(
    asked: Sequence[str],
    outcomes: Sequence[Outcome | ToolError],
    window: Window,
    given: Mapping[str, Any],
) -> Result:
    answers = [_answer(q, o, window) for q, o in zip(asked, outcomes, strict=True)]
    errors = [outcome for outcome in outcomes if isinstance(outcome, ToolError)]
    if len(errors) == len(outcomes):
        raise _failed(errors, answers)
    only = outcomes[0] if len(outcomes) == 1 else None
    following = None
    if isinstance(only, Outcome) and only.more:
        following = Next("web_search", {"query": asked[0], "page": window.page + 1, **given})
    return Result(
        text="\n\n".join(_text(a, headed=len(answers) > 1) for a in answers),
        data={"queries": answers},
        truncated=following is not None,
        next=following,
        source=", ".join(sorted({a["provider"] for a in answers if a["provider"]})),
    )


def _questions(query: str, queries: Sequence[str] | None) -> list[str]:
    asked = list(dict.fromkeys(plain(q) for q in ([query] if query else []) + list(queries or [])))
    if not asked:
        raise BadInput("Give 'query', or 'queries' as a non-empty array of strings.")
    if len(asked) > MAX_QUERIES:
        raise BadInput(f"At most {MAX_QUERIES} queries in one call, not {len(asked)}.")
    return asked


def _domain(site: str) -> str:
    if not site:
        return ""
    host = re.sub(r"^\w+://", "", site.strip()).split("/")[0]
    if not _HOST.fullmatch(host):
        raise BadInput(f"'site' must be a domain such as example.org, not '{site[:80]}'.")
    return host


def _failed(errors: list[ToolError], answers: list[dict[str, Any]]) -> ToolError:
    error = most_telling(errors)
    if len(answers) > 1:
        error.details = {**error.details, "queries": answers}
    return error


def _answer(query: str, outcome: Outcome | ToolError, window: Window) -> dict[str, Any]:
    if isinstance(outcome, ToolError):
        error = ErrorInfo.of(outcome)
        return {
            "query": query,
            "status": "error",
            "provider": "",
            "results": [],
            "error": {"code": error.code, "message": error.message, "hint": error.hint},
        }
    return {
        "query": query,
        "status": "ok",
        "provider": outcome.provider,
        "cached": outcome.cached,
        "stale": bool(outcome.stale),
        "more": outcome.more,
        "results": [
            _record(rank, result, outcome.provider)
            for rank, result in enumerate(outcome.results, window.start + 1)
        ],
        "failed": [{"provider": n, "code": e.stable_code} for n, e in outcome.failed],
    }


def _record(rank: int, result: Found, provider: str) -> dict[str, Any]:
    record = {
        "rank": rank,
        "title": result.title,
        "url": result.url,
        "snippet": result.snippet,
        "provider": provider,
        "published": result.published,
        **result.extra,
    }
    return {k: v for k, v in record.items() if v not in ("", [], None) or k == "snippet"}


def _text(answer: dict[str, Any], *, headed: bool) -> str:
    lines = [f"Results for '{answer['query']}':"] if headed else []
    if answer["status"] == "error":
        error = answer["error"]
        lines.append(f"Error ({error['code']}): {error['message']}")
        lines += [error["hint"][:MAX_HINT]] if error["hint"] else []
    for result in answer["results"]:
        date = f" ({result['published'][:10]})" if result.get("published") else ""
        lines += [f"{result['rank']}. {result['title']}{date}", f"   {result['url']}"]
        if result["snippet"]:
            lines.append(f"   {_shortened(result['snippet'])}")
    return "\n".join(lines)


def _shortened(snippet: str) -> str:
    if len(snippet) <= SNIPPET:
        return snippet
    return snippet[:SNIPPET].rsplit(" ", 1)[0] + " …"
