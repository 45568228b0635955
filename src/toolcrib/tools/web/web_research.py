"""`web_research`: a question becomes a search, parallel reads and passages with sources."""

from __future__ import annotations

import asyncio
import time
from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Any
from urllib.parse import urlsplit

from toolcrib.core.context import Ctx, room_in
from toolcrib.core.errors import (
    BadInput,
    Blocked,
    NoResults,
    TimedOut,
    ToolError,
    UnsupportedContent,
)
from toolcrib.core.result import Next, Result
from toolcrib.core.tool import NET, Param, Tokens, other_names, tool
from toolcrib.net.egress.public_url import References
from toolcrib.system.threads import in_thread
from toolcrib.text.cleaner import one_line
from toolcrib.text.passages import Passage, split
from toolcrib.text.relevance import MARK, Match, Ranking, choose, content_words, rank, search_query
from toolcrib.text.tokens import estimate
from toolcrib.text.truncation import cut
from toolcrib.tools.web.citations import (
    CitedSource,
    by_source,
    joined,
    next_call,
    passage_text,
    record,
    source_costs,
)
from toolcrib.web.page import Page
from toolcrib.web.page_reader import read_found_page
from toolcrib.web.provider import SearchRequest, SearchResult
from toolcrib.web.search.chain import (
    SearchOutcome,
    Window,
    best_error,
    reworded,
    search,
    usual_region,
)

SPARE_RESULTS = 4
"""Results beyond the pages wanted, for those that cannot be read."""
MIN_EXTRACT_CHARS = 600
"""Characters from which the text that a provider sends along stands for the page."""
SEARCH_SHARE = 0.6
"""Share of the time for an answer that searching may take, so that some is left to read."""
READ_ON_HINT = "fetch_url with url and offset reads on."
MAX_LISTED_FAILURES = 8
MIN_BUDGET_TOKENS = 300
"""Tokens of an answer at least: below that there is no room for more than its frame."""
FRAME_TOKENS = 45
"""Tokens for the lines around the passages."""
MIN_PASSAGE_TOKENS = 40
FULL_ROOM_TOKENS = 200
"""Tokens of room left below which another passage may not have fitted."""
MAX_RANKED_CHARS = 400_000
"""Characters of a page that are ranked; `ask_url` looks at all of it."""
LONG_URL_CHARS = 300
"""Characters from which a URL is shown as a reference; shorter ones are for citing."""
GRACE_SECONDS = 4.0
"""Seconds that late pages get once half of those wanted are there."""
RESERVED_SECONDS = 4.0
"""Seconds kept free for what comes after reading, before the caller must have an answer."""
MAX_READ_SECONDS = 30.0
"""Seconds for all pages of a question."""
MAX_PAGES_PER_HOST = 2
"""Pages of one host before another host's turn."""
OPENING_CHARS = 240
"""Characters of the opening of a page that answers nothing."""
UNANSWERED = (
    "No passage of the pages that were read ({count}) answers that{words}. How they begin; "
    "fetch_url opens one, other words may find others."
)


@tool(
    group="web",
    rights=NET,
    keywords=("answer", "question", "sources", "cite", "investigate", "compare", "find out"),
    aliases=("research", "research_web", "research_question", "search_and_read"),
    argument_aliases=other_names(
        question=("query", "q", "topic", "prompt"), limit=("pages", "max_pages")
    ),
    profiles=("default", "research"),
)
async def web_research(
    question: str,
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
    question = one_line(question)
    if not question:
        raise BadInput("Question must be a non-empty string.")
    wanted = limit or ctx.config.web.research.pages
    outcome = await _search(question, wanted, ctx)
    extracts = [f for f in outcome.results if len(f.content) >= MIN_EXTRACT_CHARS][:wanted]
    others = [f for f in outcome.results if f not in extracts]
    readings = (
        await read_pages(others, wanted - len(extracts), ctx) if wanted > len(extracts) else []
    )
    sources = _sources(outcome.results, extracts, readings)
    if not sources:
        raise _unreadable(readings)
    references = ctx.use(References)
    sources = [
        replace(s, reference=await references.shorten(s.url, ctx.session, over=LONG_URL_CHARS))
        for s in sources
    ]
    budget = ctx.budget(web_research.name, max_tokens or 0, ctx.config.web.research.max_tokens)
    answer = _Answer(question, outcome, sources, readings, max(budget, MIN_BUDGET_TOKENS))
    return await in_thread(answer.result, ctx.deadline)


async def _search(question: str, wanted: int, ctx: Ctx) -> SearchOutcome:
    settings = ctx.config.web.search
    query = search_query(question)
    if ctx.answer_by is not None:
        share = (ctx.answer_by - time.monotonic()) * SEARCH_SHARE
        ctx = replace(ctx, answer_by=time.monotonic() + share)
    window = Window(1, max(wanted + SPARE_RESULTS, settings.limit))
    request = SearchRequest(
        query, safe_search=settings.safe_search, region=usual_region(ctx.config)
    )
    await ctx.progress(f"Searching for '{query[:80]}'")
    try:
        return await search(request, window, settings.providers, ctx)
    except NoResults:
        words = " ".join(content_words(query))
        if words == query:
            raise
        await ctx.progress(f"Searching for '{words[:80]}'")
        return await search(replace(request, query=words), window, settings.providers, ctx)


def _sources(
    results: Sequence[SearchResult],
    extracts: Sequence[SearchResult],
    readings: Sequence[ReadAttempt],
) -> list[CitedSource]:
    """What can be cited, in the order of the results; snippets only where nothing else is."""
    read = {id(reading.found): reading for reading in readings}
    found = []
    for result in results:
        reading = read.get(id(result))
        if result in extracts:
            found.append(
                CitedSource(result.url, result.title, result.content, result.published, "extract")
            )
        elif reading is not None and reading.page is not None:
            found.append(
                CitedSource.of_page(reading.page, result.url, result.title, result.published)
            )
    return found or [
        CitedSource(r.url, r.title, text, r.published, "snippet")
        for r in results
        if (text := r.content or r.snippet)
    ]


def _unreadable(readings: Sequence[ReadAttempt]) -> ToolError:
    error = best_error([reading.error for reading in readings if reading.error])
    count = f"None of {len(readings)} pages" if len(readings) > 1 else "No page"
    message = f"{count} could be read: {error.message}"
    details = {**error.details, "pages": _failures(readings)}
    return reworded(error, message, error.hint, details)


def _failures(readings: Sequence[ReadAttempt]) -> list[dict[str, str]]:
    return [
        {"url": r.found.url, "code": r.error.stable_code, "message": r.error.message}
        for r in readings
        if r.error is not None
    ]


@dataclass(frozen=True, slots=True)
class _Answer:
    question: str
    outcome: SearchOutcome
    sources: Sequence[CitedSource]
    readings: Sequence[ReadAttempt]
    budget: int

    def result(self, check: Callable[[], None]) -> Result:
        """Rank, choose and put into words."""
        lines = self._remarks()
        names = source_costs(self.sources)
        room = room_in(self.budget) - FRAME_TOKENS - estimate("\n".join(lines))
        ranking = rank(
            self.question, [(s.title, s.text[:MAX_RANKED_CHARS]) for s in self.sources], check
        )
        words = ", ".join(f"'{word}'" for word in ranking.missing[:6])
        if not ranking.fits:
            return self._unanswered(ranking, words, lines)
        if words:
            lines.insert(0, f"No page has the words {words}.")
        chosen = choose(ranking, room, names) or _cut_match(ranking, room, names)
        groups = {
            number: joined(passages, self.sources[number].text)
            for number, passages in by_source(chosen).items()
        }
        cited = [(self.sources[number], passages) for number, passages in groups.items()]
        used = sum(estimate(p.text_with_headings) for passages in groups.values() for p in passages)
        text = self._text(cited, lines, full=room - used < FULL_ROOM_TOKENS)
        data = {**self._data(cited, ranking), "answered": True}
        return self._result(text, data, cited, self._reads_on(chosen))

    def _unanswered(self, ranking: Ranking, words: str, lines: Sequence[str]) -> Result:
        """Say so first, and name the pages with their first words, for little."""
        room = room_in(self.budget) - FRAME_TOKENS - estimate("\n".join(lines))
        cited: list[tuple[CitedSource, list[Passage]]] = []
        parts: list[str] = []
        for source in self.sources:
            opening = split(source.text[:20_000])[:1]
            text = one_line(opening[0].text, OPENING_CHARS) if opening else ""
            part = f"[{len(cited) + 1}] {source.head}\n{text}".rstrip()
            if cited and estimate("\n\n".join([*parts, part])) > room:
                break
            parts.append(part)
            passages = [replace(p, text=p.text[:OPENING_CHARS]) for p in opening]
            cited.append((source, passages))
        missing = f": none has the words {words}" if words else ""
        first = UNANSWERED.format(count=len(self.sources), words=missing)
        text = "\n\n".join([first, *parts, *(["\n".join(lines)] if lines else [])])
        data = {**self._data(cited, ranking), "answered": False}
        return self._result(text, data, cited, self._reads_on([]))

    def _result(
        self,
        text: str,
        data: Mapping[str, Any],
        cited: Sequence[tuple[CitedSource, Sequence[Passage]]],
        reads_on: Next | None,
    ) -> Result:
        sources = dict.fromkeys(s.reference or s.final_url or s.url for s, _ in cited)
        return Result(
            text=text,
            data=data,
            truncated=reads_on is not None,
            next=reads_on,
            source=", ".join(sources),
            max_tokens=self.budget,
        )

    def _remarks(self) -> list[str]:
        lines = []
        if self.sources[0].kind == "snippet":
            lines.append("No page could be read; these are snippets of the search.")
        failed = [(f["url"][:120], f["code"]) for f in _failures(self.readings)]
        listed = failed[:MAX_LISTED_FAILURES]
        while len(listed) > 1 and estimate(_by_code(listed)) > self.budget // 6:
            listed.pop()
        more = f" and {len(failed) - len(listed)} more" if len(failed) > len(listed) else ""
        if failed:
            lines.append(f"Not read: {_by_code(listed)}{more}")
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
                return next_call(source, start)
        return None

    def _text(
        self,
        cited: Sequence[tuple[CitedSource, list[Passage]]],
        lines: Sequence[str],
        *,
        full: bool,
    ) -> str:
        others = len(self.sources) - len(cited)
        why = "said the same, less, or did not fit" if full else "said the same or nothing on it"
        first = f"{len(cited)} of {len(self.sources)} sources, best first"
        first += f" ({others} other{'s' * (others > 1)} {why})" if others else ""
        how_on = f"; {READ_ON_HINT}" if self.sources[0].kind != "snippet" else "."
        parts = [f"{first}. Cite them by number{how_on}"]
        for number, (source, passages) in enumerate(cited, 1):
            texts = "\n\n".join(passage_text(passage, paged=source.paged) for passage in passages)
            parts.append(f"[{number}] {source.head}\n{texts}")
        return "\n\n".join([*parts, *(["\n".join(lines)] if lines else [])])

    def _data(
        self, cited: Sequence[tuple[CitedSource, list[Passage]]], ranking: Ranking
    ) -> dict[str, Any]:
        return {
            "question": self.question,
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


def _cut_match(ranking: Ranking, room: int, names: Mapping[int, int]) -> list[Match]:
    """The best match alone, cut to the budget, where none fits whole."""
    for match in ranking.matches[:1]:
        room = max(room - names[match.page] - MARK, MIN_PASSAGE_TOKENS)
        text, _ = cut(match.passage.text, room)
        passage = replace(match.passage, text=text, end=match.passage.start + len(text), lead="")
        return [replace(match, passage=passage)]
    return []


@dataclass(slots=True)
class ReadAttempt:
    """What became of a result: the page, or why there is none; neither if nobody asked."""

    found: SearchResult
    page: Page | None = None
    error: ToolError | None = None


@dataclass(slots=True)
class _ReadRun:
    readings: list[ReadAttempt]
    waiting: deque[ReadAttempt]
    tasks: dict[asyncio.Task[None], ReadAttempt] = field(default_factory=dict)
    done: int = 0


async def read_pages(results: Sequence[SearchResult], wanted: int, ctx: Ctx) -> list[ReadAttempt]:
    """Read results, best first, until `wanted` pages are there or time is up.

    One that fails is replaced by the next. A slow one holds nothing up: it is left behind
    and reported as a timeout. Attempts that were never begun are not given.

    Args:
        results: in the order of their rank.
        wanted: how many pages.
        ctx: the call; its `answer_by` bounds the time.
    """
    readings = [ReadAttempt(found) for found in _spread(results)]
    wanted = min(wanted, len(readings))
    run = _ReadRun(readings, deque(readings))
    at_once = min(wanted, ctx.config.web.fetch.concurrency)
    last = time.monotonic() + MAX_READ_SECONDS
    if ctx.answer_by is not None:
        last = min(last, ctx.answer_by - RESERVED_SECONDS)
    await ctx.progress(f"Reading {wanted} pages", 0, wanted)
    try:
        while await _step(run, wanted, at_once, last, ctx):
            if run.done * 2 >= wanted:
                last = min(last, time.monotonic() + GRACE_SECONDS)
    finally:
        for task in run.tasks:
            task.cancel()
        await asyncio.gather(*run.tasks, return_exceptions=True)
    return [reading for reading in run.readings if reading.page or reading.error]


async def _step(run: _ReadRun, wanted: int, at_once: int, last: float, ctx: Ctx) -> bool:
    """Begin what there is room for and wait for one to end; False when all is done."""
    while run.waiting and len(run.tasks) < min(at_once, wanted - run.done):
        reading = run.waiting.popleft()
        run.tasks[asyncio.create_task(_read(reading, ctx))] = reading
    room = last - time.monotonic()
    ended, _ = (
        await asyncio.wait(run.tasks, timeout=max(room, 0), return_when=asyncio.FIRST_COMPLETED)
        if run.tasks
        else (set(), set())
    )
    if not ended:
        for reading in run.tasks.values():
            reading.error = TimedOut("It was not there in time.")
        return False
    for task in ended:
        reading = run.tasks.pop(task)
        task.result()
        if reading.page is not None:
            run.done += 1
            host = urlsplit(reading.found.url).hostname or ""
            await ctx.progress(f"Read {run.done} of {wanted} ({host[:60]})", run.done, wanted)
    return bool(run.tasks) or (bool(run.waiting) and run.done < wanted)


async def _read(reading: ReadAttempt, ctx: Ctx) -> None:
    try:
        page = await read_found_page(reading.found.url, ctx)
        if page.text.strip():
            reading.page = page
        else:
            reading.error = UnsupportedContent("The page has no text.")
    except ToolError as error:
        reading.error = error


def _spread(results: Sequence[SearchResult]) -> list[SearchResult]:
    """The results in their order, but for more than a few of one host, which come last."""
    counts: Counter[str] = Counter()
    first: list[SearchResult] = []
    later: list[SearchResult] = []
    for found in results:
        host = (urlsplit(found.url).hostname or "").removeprefix("www.")
        counts[host] += 1
        (first if counts[host] <= MAX_PAGES_PER_HOST else later).append(found)
    return first + later
