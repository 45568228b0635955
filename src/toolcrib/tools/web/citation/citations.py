"""Passages as an answer shows them: numbered sources, headings, and where to read on."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from toolcrib.core.call import Next
from toolcrib.text.cleaner import one_line
from toolcrib.text.marks import unforged
from toolcrib.text.passages import Passage
from toolcrib.text.relevance import Match
from toolcrib.text.tokens import estimate
from toolcrib.web.pages.pages import PageText

MAX_TITLE = 120
MAX_HEADINGS = 160
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")


@dataclass(frozen=True, slots=True)
class Source:
    """Something with text that can be cited.

    `paged` says that offsets of `text` are those of `fetch_url`; else the text is what a
    search provider sent along ("extract") or its snippet ("snippet"). `shown` is a short
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
    shown: str = ""
    whole: bool = False

    @property
    def address(self) -> str:
        """What a reader is given for the URL: itself, or a reference where it is long."""
        return self.shown or self.url

    @property
    def paged(self) -> bool:
        """Whether a place in the text is a place in the page."""
        return self.kind == "page"

    @property
    def label(self) -> str:
        """Title, date and what to know of the text, in one line."""
        title = one_line(self.title, MAX_TITLE) or self.url[:MAX_TITLE]
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


def date_of(page: PageText) -> str:
    """The date that a page gives itself, or nothing."""
    return page.facts.date


def day_of(date: str) -> str:
    """A date without its time, where it is written the usual way."""
    found = _DAY.match(date.strip())
    return found[0] if found else one_line(date, 40)


def following(source: Source, offset: int) -> Next:
    """The call that reads a source on from an offset."""
    arguments: dict[str, Any] = {"url": source.address}
    if source.paged and offset:
        arguments["offset"] = offset
    if source.whole:
        arguments["whole"] = True
    return Next("fetch_url", arguments)


def heads(sources: Sequence[Source]) -> Mapping[int, int]:
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
        near = last is not None and not text[last.end : passage.start].strip()
        if last is not None and near and last.headings == passage.headings:
            merged = text[last.start : passage.end]
            whole[-1] = replace(last, text=merged, end=passage.end)
        else:
            whole.append(passage)
    return whole


def shown(passage: Passage, *, paged: bool) -> str:
    """A passage under its place and its headings."""
    facts = [f"offset {passage.start}"] if paged else []
    headings = " > ".join(passage.headings)
    if len(headings) > MAX_HEADINGS:
        headings = "\u2026" + headings[-MAX_HEADINGS:]
    facts += [headings] if headings else []
    mark = f"[{', '.join(facts)}]\n" if facts else ""
    return f"{mark}{unforged(passage.shown)}"


def record(passage: Passage, source: Source) -> dict[str, Any]:
    """A passage as JSON values."""
    value: dict[str, Any] = {"text": passage.shown, "headings": list(passage.headings)}
    if source.paged:
        value |= {"offset": passage.start, "end": passage.end}
    call = following(source, passage.start)
    return value | {"next": {"tool": call.tool, "arguments": dict(call.arguments)}}
