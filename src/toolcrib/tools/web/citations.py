"""Passages as an answer shows them: numbered sources, headings, and where to read on."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

from toolcrib.core.result import Next
from toolcrib.text.cleaner import one_line
from toolcrib.text.fence import escape_fence
from toolcrib.text.passages import Passage
from toolcrib.text.relevance import Match
from toolcrib.text.tokens import estimate
from toolcrib.web.page import Page

MAX_TITLE_CHARS = 120
MAX_HEADINGS_CHARS = 160
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")


@dataclass(frozen=True, slots=True)
class CitedSource:
    """Something with text that can be cited.

    `paged` says that offsets of `text` are those of `fetch_url`; else the text is what a
    search provider sent along ("extract") or its snippet ("snippet"). `passage_text` is a short
    reference that stands for the URL. `whole` says that the text is all of a page.
    """

    url: str
    title: str
    text: str
    date: str = ""
    kind: str = "page"
    final_url: str = ""
    cached: bool = False
    stale: bool = False
    reference: str = ""
    whole: bool = False

    @classmethod
    def of_page(cls, page: Page, url: str, title: str = "", date: str = "") -> Self:
        """A page that was read; title and date stand in where it gives none."""
        return cls(
            url,
            page.title or title,
            page.text,
            page.facts.date or date,
            final_url=page.url,
            cached=page.cached,
            stale=page.stale,
            whole=page.whole,
        )

    @property
    def address(self) -> str:
        """What a reader is given for the URL: itself, or a reference where it is long."""
        return self.reference or self.url

    @property
    def paged(self) -> bool:
        """Whether a place in the text is a place in the page."""
        return self.kind == "page"

    @property
    def label(self) -> str:
        """Title, date and what to know of the text, in one line."""
        title = one_line(self.title, MAX_TITLE_CHARS) or self.url[:MAX_TITLE_CHARS]
        notes = [day_of(self.date)] if self.date else []
        if not self.paged:
            notes.append(f"search {self.kind}, page not read")
        if self.stale:
            notes.append("old copy: reading it anew failed")
        return f"{title} ({', '.join(notes)})" if notes else title

    @property
    def head(self) -> str:
        """The two lines that name it."""
        return f"{self.label}\n{self.address}"


def day_of(date: str) -> str:
    """A date without its time, where it is written the usual way."""
    found = _DAY.match(date.strip())
    return found[0] if found else one_line(date, 40)


def next_call(source: CitedSource, offset: int) -> Next:
    """The call that reads a source on from an offset."""
    arguments: dict[str, Any] = {"url": source.address}
    if source.paged and offset:
        arguments["offset"] = offset
    if source.whole:
        arguments["whole"] = True
    return Next("fetch_url", arguments)


def source_costs(sources: Sequence[CitedSource]) -> Mapping[int, int]:
    """What naming each source costs, in tokens."""
    return {number: estimate(source.head) + 8 for number, source in enumerate(sources)}


def by_source(chosen: Iterable[Match]) -> dict[int, list[Passage]]:
    """The passages of each source in the order of its text; the source of the best first."""
    found: dict[int, list[Passage]] = {}
    for match in chosen:
        found.setdefault(match.page, []).append(match.passage)
    return {page: sorted(passages, key=lambda p: p.start) for page, passages in found.items()}


def joined(passages: Sequence[Passage], text: str) -> list[Passage]:
    """The passages, those that follow each other under the same headings as one."""
    whole: list[Passage] = []
    for passage in passages:
        last = whole[-1] if whole else None
        is_near = last is not None and not text[last.end : passage.start].strip()
        if last is not None and is_near and last.headings == passage.headings:
            merged = text[last.start : passage.end]
            whole[-1] = replace(last, text=merged, end=passage.end)
        else:
            whole.append(passage)
    return whole


def passage_text(passage: Passage, *, paged: bool) -> str:
    """A passage under its place and its headings."""
    facts = [f"offset {passage.start}"] if paged else []
    headings = " > ".join(passage.headings)
    if len(headings) > MAX_HEADINGS_CHARS:
        headings = "\u2026" + headings[-MAX_HEADINGS_CHARS:]
    facts += [headings] if headings else []
    mark = f"[{', '.join(facts)}]\n" if facts else ""
    return f"{mark}{escape_fence(passage.text_with_headings)}"


def record(passage: Passage, source: CitedSource) -> dict[str, Any]:
    """A passage as JSON values."""
    value: dict[str, Any] = {"text": passage.text_with_headings, "headings": list(passage.headings)}
    if source.paged:
        value |= {"offset": passage.start, "end": passage.end}
    call = next_call(source, passage.start)
    return value | {"next": {"tool": call.tool, "arguments": dict(call.arguments)}}
