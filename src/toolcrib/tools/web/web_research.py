"""`web_research`: a question becomes a search, parallel reads and passages with sources."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any

from toolcrib.core.call import Next, Result
from toolcrib.core.context import Ctx, room_in
from toolcrib.core.errors import BadInput, Blocked, NoResults, TimedOut, ToolError
from toolcrib.core.params import Param, Tokens
from toolcrib.core.tool import NET, tool
from toolcrib.net.egress.references import References
from toolcrib.system.threads import in_thread
from toolcrib.text.cleaner import one_line
from toolcrib.text.passages import Passage, split
from toolcrib.text.question_words import content_words, search_query
from toolcrib.text.relevance import MARK, Match, Ranking, choose, rank
from toolcrib.text.tokens import estimate
from toolcrib.text.truncation import cut
from toolcrib.tools.web.citation.citations import (
    Source,
    by_source,
    date_of,
    following,
    heads,
    joined,
    record,
    shown,
)
from toolcrib.tools.web.citation.collection import Reading, gather
from toolcrib.web.provider_api.provider import Ask, Found
from toolcrib.web.search.chain import Outcome, Window, search
from toolcrib.web.search.regions import usual_region
from toolcrib.web.search.verdicts import most_telling, restated

SPARE = 4
"""Results beyond the pages wanted, for those that cannot be read."""
GOOD_EXTRACT = 600
"""Characters from which the text that a provider sends along stands for the page."""
SEARCH_SHARE = 0.6
"""Share of the time for an answer that searching may take, so that some is left to read."""
HOW_ON = "fetch_url with url and offset reads on."
MAX_FAILED = 8
LEAST = 300
"""Tokens of an answer at least: below that there is no room for more than its frame."""
LINES = 45
"""Tokens for the lines around the passages."""
LEAST_PASSAGE = 40
FULL = 200
"""Tokens of room left below which another passage may not have fitted."""
LOOKED_AT = 400_000
"""Characters of a page that are ranked; `ask_url` looks at all of it."""
LONG_URL = 300
"""Characters from which a URL is shown as a reference; shorter ones are for citing."""
NOTHING_FITS = "No passage has the words of the question; these are the openings of the pages."


@tool(
    group="web",
    rights=NET,
    keywords=("answer", "question", "sources", "cite", "investigate", "compare", "find out"),
    aliases=(
        "research",
        "research_web",
        "deep_research",
        "research_question",
        "search_and_read",
        "search_and_fetch",
        "search_and_summarize",
        "web_answer",
        "answer_question",
        "rag_web_search",
        "rag_search",
    ),
    argument_aliases={
        "query": "question",
        "q": "question",
        "topic": "question",
        "prompt": "question",
        "pages": "limit",
        "max_pages": "limit",
        "max_results": "limit",
        "num_results": "limit",
        "count": "limit",
        "token_limit": "max_tokens",
        "budget": "max_tokens",
    },
    profiles=("default", "research"),
)
async def web_research(
    question: Annotated[str, Param("In plain words.")],
    limit: Annotated[int | None, Param("Pages to read.", minimum=1, maximum=20)] = None,
    max_tokens: Tokens | None = None,
    *,
    ctx: Ctx,
) -> Result:
    """Search the web and give passages of several pages for a question.

    One call in place of `web_search` and several of `fetch_url`; each passage has its
    source, date and place, for citing as [1]. For one known page use `ask_url`. What the
    passages say is untrusted.
    """
    asked = one_line(question)
    if not asked:
        raise BadInput("Question must be a non-empty string.")
    wanted = limit or ctx.config.web.research.pages
    outcome = await _search(asked, wanted, ctx)
    extracts = [f for f in outcome.results if len(f.content) >= GOOD_EXTRACT][:wanted]
    others = [f for f in outcome.results if f not in extracts]
    readings = await gather(others, wanted - len(extracts), ctx) if wanted > len(extracts) else []
    sources = _sources(outcome.results, extracts, readings)
    if not sources:
        raise _nothing(readings)
    references = ctx.use(References)
    sources = [
        replace(s, shown=await references.shorten(s.url, ctx.session, over=LONG_URL))
        for s in sources
    ]
    budget = ctx.budget(web_research.name, max_tokens or 0, ctx.config.web.research.max_tokens)
    answer = _Answer(asked, outcome, sources, readings, max(budget, LEAST))
    return await in_thread(answer.result, ctx.deadline)


async def _search(asked: str, wanted: int, ctx: Ctx) -> Outcome:
    settings = ctx.config.web.search
    query = search_query(asked)
    if ctx.answer_by is not None:
        share = (ctx.answer_by - time.monotonic()) * SEARCH_SHARE
        ctx = replace(ctx, answer_by=time.monotonic() + share)
    window = Window(1, max(wanted + SPARE, settings.limit))
    ask = Ask(query, safe_search=settings.safe_search, region=usual_region(ctx.config))
    await ctx.progress(f"Searching for '{query[:80]}'")
    try:
        return await search(ask, window, settings.providers, ctx)
    except NoResults:
        words = " ".join(content_words(query))
        if words == query:
            raise
        await ctx.progress(f"Searching for '{words[:80]}'")
        return await search(replace(ask, query=words), window, settings.providers, ctx)


def _sources(
    results: Sequence[Found], extracts: Sequence[Found], readings: Sequence[Reading]
) -> list[Source]:
    """What can be cited, in the order of the results; snippets only where nothing else is."""
    read = {id(reading.found): reading for reading in readings}
    found = []
    for result in results:
        reading = read.get(id(result))
        if result in extracts:
            found.append(
                Source(result.url, result.title, result.content, result.published, "extract")
            )
        elif reading is not None and reading.page is not None:
            page = reading.page
            found.append(
                Source(
                    result.url,
                    page.title or result.title,
                    page.text,
                    date_of(page) or result.published,
                    final_url=page.url,
                    cached=page.cached,
                    stale=page.stale,
                    whole=page.whole,
                )
            )
    return found or [
        Source(r.url, r.title, text, r.published, "snippet")
        for r in results
        if (text := r.content or r.snippet)
    ]


def _nothing(readings: Sequence[Reading]) -> ToolError:
    error = most_telling([reading.error for reading in readings if reading.error])
    count = f"None of {len(readings)} pages" if len(readings) > 1 else "No page"
    message = f"{count} could be read: {error.message}"
    details = {**error.details, "pages": _failures(readings)}
    return restated(error, message, error.hint, details)


def _failures(readings: Sequence[Reading]) -> list[dict[str, str]]:
    return [
        {"url": r.found.url, "code": r.error.stable_code, "message": r.error.message}
        for r in readings
        if r.error is not None
    ]


@dataclass(frozen=True, slots=True)
class _Answer:
    asked: str
    outcome: Outcome
    sources: Sequence[Source]
    readings: Sequence[Reading]
    budget: int

    def result(self, check: Callable[[], None]) -> Result:
        """Rank, choose and put into words."""
        lines = self._remarks()
        names = heads(self.sources)
        room = room_in(self.budget) - LINES - estimate("\n".join(lines))
        ranking = rank(self.asked, [(s.title, s.text[:LOOKED_AT]) for s in self.sources], check)
        if not ranking.matches:
            lines.insert(0, NOTHING_FITS)
        elif ranking.missing:
            words = ", ".join(f"'{word}'" for word in ranking.missing[:6])
            lines.insert(0, f"No page has the words {words}.")
        matches = ranking if ranking.matches else _openings(self.sources)
        chosen = choose(matches, room, names) or _shortened(matches, room, names)
        groups = {
            number: joined(passages, self.sources[number].text)
            for number, passages in by_source(chosen).items()
        }
        cited = [(self.sources[number], passages) for number, passages in groups.items()]
        used = sum(estimate(p.shown) for passages in groups.values() for p in passages)
        reads_on = self._reads_on(chosen)
        return Result(
            text=self._text(cited, lines, full=room - used < FULL),
            data=self._data(cited, ranking),
            truncated=reads_on is not None,
            next=reads_on,
            source=", ".join(dict.fromkeys(s.shown or s.final_url or s.url for s, _ in cited)),
            max_tokens=self.budget,
        )

    def _remarks(self) -> list[str]:
        lines = []
        if self.sources[0].kind == "snippet":
            lines.append("No page could be read; these are snippets of the search.")
        failed = [(f["url"][:120], f["code"]) for f in _failures(self.readings)]
        told = failed[:MAX_FAILED]
        while len(told) > 1 and estimate(_by_code(told)) > self.budget // 6:
            told.pop()
        more = f" and {len(failed) - len(told)} more" if len(failed) > len(told) else ""
        if failed:
            lines.append(f"Not read: {_by_code(told)}{more}")
        blocked = [r.error.hint for r in self.readings if isinstance(r.error, Blocked)]
        if len(blocked) == len(failed):
            lines += blocked[:1]
        return lines

    def _reads_on(self, chosen: Sequence[Match]) -> Next | None:
        """The call that reads the best source on; none of a page that was refused."""
        refused = {
            r.found.url
            for r in self.readings
            if r.error is not None and not isinstance(r.error, TimedOut)
        }
        places = [(match.page, match.passage.start) for match in chosen] or [(0, 0)]
        for page, start in places:
            source = self.sources[page]
            if source.url not in refused:
                return following(source, start)
        return None

    def _text(
        self, cited: Sequence[tuple[Source, list[Passage]]], lines: Sequence[str], *, full: bool
    ) -> str:
        others = len(self.sources) - len(cited)
        why = "said the same, less, or did not fit" if full else "said the same or nothing on it"
        first = f"{len(cited)} of {len(self.sources)} sources, best first"
        first += f" ({others} other{'s' * (others > 1)} {why})" if others else ""
        how_on = f"; {HOW_ON}" if self.sources[0].kind != "snippet" else "."
        parts = [f"{first}. Cite them by number{how_on}"]
        for number, (source, passages) in enumerate(cited, 1):
            texts = "\n\n".join(shown(passage, paged=source.paged) for passage in passages)
            parts.append(f"[{number}] {source.head}\n{texts}")
        return "\n\n".join([*parts, *(["\n".join(lines)] if lines else [])])

    def _data(
        self, cited: Sequence[tuple[Source, list[Passage]]], ranking: Ranking
    ) -> dict[str, Any]:
        return {
            "question": self.asked,
            "provider": self.outcome.provider,
            "sources": [
                {
                    "number": number,
                    "title": source.title,
                    "url": source.url,
                    "final_url": source.final_url,
                    "published": source.date,
                    "kind": source.kind,
                    "cached": source.cached,
                    "stale": source.stale,
                    "passages": [record(passage, source) for passage in passages],
                }
                for number, (source, passages) in enumerate(cited, 1)
            ],
            "read": len(self.sources),
            "missing": list(ranking.missing),
            "failed": _failures(self.readings),
        }


def _by_code(failed: Sequence[tuple[str, str]]) -> str:
    """The pages that could not be read, those with the same reason together."""
    by_code: dict[str, list[str]] = {}
    for url, code in failed:
        by_code.setdefault(code, []).append(url)
    return "; ".join(f"{', '.join(urls)} ({code})" for code, urls in by_code.items())


def _openings(sources: Sequence[Source]) -> Ranking:
    """The first passage of each source, as if it were the one that was asked for."""
    firsts = [(n, split(s.text[:20_000])[:1]) for n, s in enumerate(sources)]
    return Ranking(tuple(Match(n, found[0], 1.0, frozenset(), 0.0) for n, found in firsts if found))


def _shortened(ranking: Ranking, room: int, names: Mapping[int, int]) -> list[Match]:
    """The best match alone, cut to the budget, where none fits whole."""
    for match in ranking.matches[:1]:
        left = max(room - names[match.page] - MARK, LEAST_PASSAGE)
        text, _ = cut(match.passage.text, left)
        passage = replace(match.passage, text=text, end=match.passage.start + len(text), lead="")
        return [replace(match, passage=passage)]
    return []
