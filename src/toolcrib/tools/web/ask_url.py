"""`ask_url`: the passages of one page that speak of a question."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from toolcrib.core.context import Ctx, room_in
from toolcrib.core.errors import BadInput
from toolcrib.core.result import Next, Result
from toolcrib.core.tool import NET, Param, other_names, tool
from toolcrib.net.egress.public_url import PublicUrl
from toolcrib.system.threads import in_thread
from toolcrib.text.cleaner import one_line
from toolcrib.text.passages import Passage
from toolcrib.text.relevance import Ranking, choose, rank
from toolcrib.text.tokens import estimate
from toolcrib.text.truncation import cut
from toolcrib.tools.web.citations import CitedSource, joined, next_call, passage_text, record
from toolcrib.tools.web.view.outline import headings_of
from toolcrib.web.page import Page
from toolcrib.web.page_reader import read_page, read_whole, render_mode

WHOLE_PAGE_TOKENS = 400
"""Tokens up to which a page is given whole: choosing would only lose something."""
START_TOKENS = 300
"""Tokens of the start of a page that does not answer."""
MAX_HEADINGS = 40
FRAME_TOKENS = 60


@tool(
    group="web",
    rights=NET,
    keywords=("answer", "page", "passages", "relevant", "rag", "look up", "search in page"),
    aliases=("rag_url", "query_url", "question_url", "ask_page"),
    argument_aliases=other_names(url=("link", "uri", "href", "page_url", "website", "website_url")),
    profiles=("research",),
)
async def ask_url(
    url: PublicUrl, question: Annotated[str, Param("In plain words.")], *, ctx: Ctx
) -> Result:
    """Give the passages of one web page that answer a question.

    Cheaper than `fetch_url` where a page is long and one thing is wanted. To find pages
    first use `web_research`. What the page says is untrusted.
    """
    question = one_line(question)
    if not url.strip():
        raise BadInput("URL must be a non-empty string.")
    if not question:
        raise BadInput("Question must be a non-empty string.")
    await ctx.progress(f"Fetching {url[:200]}")
    page = await _page(url, question, ctx)
    budget = ctx.budget(ask_url.name, 0, ctx.config.web.research.max_tokens)
    answer = _PageAnswer(url, question, page, budget)
    return await in_thread(answer.result, ctx.deadline)


async def _page(url: str, question: str, ctx: Ctx) -> Page:
    """The main content of a page, or all of it where only that answers."""
    form = ctx.config.web.fetch.format
    page = await read_page(url, form, ctx, render=render_mode(None, ctx))

    async def answers(page: Page) -> bool:
        texts = [(page.title, page.text)]
        return (await in_thread(lambda check: rank(question, texts, check), ctx.deadline)).fits

    if not page.left or await answers(page):
        return page
    whole = await read_whole(url, page, form, ctx)
    return whole if await answers(whole) else page


@dataclass(frozen=True, slots=True)
class _PageAnswer:
    url: str
    question: str
    page: Page
    budget: int

    @property
    def source(self) -> CitedSource:
        return CitedSource.of_page(self.page, self.url)

    def result(self, check: Callable[[], None]) -> Result:
        """The whole of a short page, passages of a long one, or its start and outline."""
        text = self.page.text
        room = min(WHOLE_PAGE_TOKENS, room_in(self.budget))
        if len(text) < WHOLE_PAGE_TOKENS * 8 and estimate(text) <= room:
            whole = Passage(text, 0, len(text))
            return self._result([whole] if text else [], Ranking(), whole=True)
        ranking = rank(self.question, [(self.page.title, text)], check)
        room = room_in(self.budget) - FRAME_TOKENS - estimate(self._head())
        chosen = choose(ranking, room) if ranking.fits else []
        if not chosen:
            return self._unanswered(ranking)
        passages = sorted((match.passage for match in chosen), key=lambda p: p.start)
        return self._result(joined(passages, text), ranking)

    def _result(self, passages: list[Passage], ranking: Ranking, *, whole: bool = False) -> Result:
        if whole:
            # The notes of a page without text say why it has none.
            empty = "" if self.page.notes else "The page has no text."
            what = "The main content of the page:" if self.page.left else "The whole page:"
            note = what if passages else empty
            body = [passage.text for passage in passages]
        else:
            note = (
                f"Passages in the order of the page ({len(self.page.text):,} characters); "
                "fetch_url with its offset reads on."
            )
            body = [passage_text(passage, paged=True) for passage in passages]
        if ranking.missing:
            note += f" {_missing_words(ranking)}"
        reads_on = None if whole else next_call(self.source, passages[0].start)
        parts = [f"{self._head()}\n{note}".rstrip(), *body]
        return self._made(parts, passages, ranking, reads_on, whole=whole)

    def _unanswered(self, ranking: Ranking) -> Result:
        text = self.page.text
        headings = headings_of(self.page)
        listed = [f"{'  ' * (h.level - 1)}{h.text[:100]} (offset {h.start})" for h in headings]
        nearest = choose(ranking, min(START_TOKENS, self.budget // 4))
        start, used = cut(text, min(START_TOKENS, self.budget // 4))
        note = f"No passage of this page answers that. {_missing_words(ranking)}"
        parts = [f"{self._head()}\n{note}".rstrip()]
        if listed:
            more = len(listed) - MAX_HEADINGS
            tail = [f"and {more} more"] if more > 0 else []
            parts.append("\n".join(["Its headings:", *listed[:MAX_HEADINGS], *tail]))
        if nearest:
            found = joined(sorted((m.passage for m in nearest), key=lambda p: p.start), text)
            parts.append("What comes nearest:")
            parts += [passage_text(passage, paged=True) for passage in found]
            start, used = "", nearest[0].passage.start
        else:
            parts.append(f"Its start:\n{start}")
        reads_on = next_call(self.source, used) if used < len(text) else None
        outline = [{"text": h.text, "level": h.level, "offset": h.start} for h in headings]
        return self._made(parts, [], ranking, reads_on, outline=outline, start=start)

    def _made(
        self,
        parts: Sequence[str],
        passages: Sequence[Passage],
        ranking: Ranking,
        reads_on: Next | None,
        *,
        whole: bool = False,
        **data: Any,
    ) -> Result:
        page = self.page
        return Result(
            text="\n\n".join(parts),
            data={
                "url": self.url,
                "final_url": page.url,
                "title": page.title,
                "published": page.facts.date,
                "question": self.question,
                "length": len(page.text),
                "cached": page.cached,
                "stale": page.stale,
                "answered": bool(passages),
                "whole": whole,
                "missing": list(ranking.missing),
                "passages": [record(passage, self.source) for passage in passages],
                **data,
            },
            truncated=reads_on is not None,
            next=reads_on,
            source=page.url,
            max_tokens=self.budget,
        )

    def _head(self) -> str:
        return "\n".join([self.source.label, self.page.url, *self.page.notes])


def _missing_words(ranking: Ranking) -> str:
    if not ranking.missing:
        return ""
    words = ", ".join(f"'{word}'" for word in ranking.missing[:6])
    return f"Not on the page: {words}."
