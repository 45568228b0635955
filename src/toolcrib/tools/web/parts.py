"""The part of a page that an answer shows: which, how long, and how it reads."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from toolcrib.core.call import ErrorInfo, Next
from toolcrib.core.errors import BadInput, ToolError
from toolcrib.kit.passages import Heading
from toolcrib.kit.text import cut, fence
from toolcrib.kit.tokens import estimate
from toolcrib.tools.web.excerpts import Excerpt, excerpts
from toolcrib.tools.web.find import Term, find
from toolcrib.tools.web.headers import NAVIGATION, facts_of, header
from toolcrib.tools.web.outline import (
    LIST,
    headings_of,
    listing,
    near_headings,
    section_named,
    summary,
)
from toolcrib.tools.web.pages import PageText

LEAST = 50
"""Tokens of content that a part gets, whatever its header takes."""
MAX_HINT = 200
"""Characters of a hint that the text of several pages shows."""
FAR = 6
"""Characters a token from which on nobody tries whether a text fits."""
ROOM = 10
"""Tokens kept free for what joins fence, header, content and the line that goes on."""
OUTLINE_SHARE = 8
LINKS_SHARE = 3
"""Of the budget, one in so many tokens may go to the outline, or to links."""


@dataclass(frozen=True, slots=True)
class Want:
    """What is wanted of each page. `same` are the arguments that the next call repeats."""

    terms: tuple[Term, ...] = ()
    section: str = ""
    offset: int = 0
    navigation: bool = False
    same: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Source:
    """One page with what was asked for.

    `name` is its URL as the next call has it; `links` are texts and URLs to list.
    """

    asked: str
    name: str
    page: PageText
    links: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Part:
    """Some of a page. `following` reads on where it stops; None at the end."""

    source: Source
    text: str
    content: str
    offset: int
    end: int
    length: int
    following: Next | None = None
    told: Mapping[str, Any] = field(default_factory=dict)

    @property
    def found(self) -> bool:
        """Whether it was chosen by words, and so may be far below its budget."""
        return "found" in self.told

    @property
    def page(self) -> PageText:
        """The page that it is of."""
        return self.source.page

    @property
    def data(self) -> dict[str, Any]:
        """The same as JSON values."""
        return {
            "url": self.source.asked,
            "status": "ok",
            **facts_of(self.page),
            "content": self.content,
            "offset": self.offset,
            "end": self.end,
            "length": self.length,
            "truncated": self.following is not None,
            **self.told,
        }


def part_of(source: Source, want: Want, budget: int, check: Callable[[], None]) -> Part:
    """As much of a page as fits of what is wanted.

    Args:
        source: the page.
        want: which part of it.
        budget: tokens for fence, header, content and the call that goes on.
        check: called between the steps; it raises when the work should stop.

    Raises:
        BadInput: the page, or its section, is shorter than the offset.
        NotFound: it has no such section.
    """
    return _Reading(source, want, budget, check).part()


def shares(needs: Sequence[int], budget: int) -> list[int]:
    """A budget shared out: who needs less than an equal share leaves the rest to others."""
    given = [0] * len(needs)
    left, waiting = budget, sorted(range(len(needs)), key=lambda n: needs[n])
    while waiting:
        equal = left // len(waiting)
        number = waiting.pop(0)
        given[number] = min(needs[number], equal) if waiting else equal
        left -= given[number]
    return given


def need_of(source: Source, want: Want, budget: int) -> int:
    """The tokens that a page would take, up to the budget."""
    size = len(source.page.text) + (len(source.page.navigation) if want.navigation else 0)
    if size > budget * 8:
        return budget
    links = sum(len(text) + len(url) for text, url in source.links) // 3
    whole = estimate(source.page.text) + (size - len(source.page.text)) // 2
    frame = estimate(fence("", source.page.url) + header(source.page)) + 4 * ROOM
    return min(whole + frame + links, budget)


class _Reading:
    """One page on its way to a part."""

    def __init__(self, source: Source, want: Want, budget: int, check: Callable[[], None]) -> None:
        self.source = source
        self.want = want
        self.budget = budget
        self.check = check
        self.page = source.page
        self.body = self.page.text
        if want.navigation and self.page.navigation:
            self.body = f"{self.body}\n\n{NAVIGATION}\n{self.page.navigation}".strip("\n")
        self.start, self.end = 0, len(self.body)
        self.notes: list[str] = []
        self.outline = ""
        self.told: dict[str, Any] = {}
        self._headings: list[Heading] | None = None

    @property
    def headings(self) -> list[Heading]:
        """Worked out on first use: most parts need none."""
        if self._headings is None:
            self._headings = headings_of(self.page)
        return self._headings

    def part(self) -> Part:
        """What was asked for."""
        if self.want.section == LIST:
            self._list()
        elif self.want.section:
            self._narrow()
        self._seek()
        if self.want.terms:
            return self._found()
        return self._plain()

    def _list(self) -> None:
        self.body = listing(self.headings) or "(no headings)"
        self.end = len(self.body)
        self.notes.append(f"{len(self.headings):,} headings by offset")

    def _narrow(self) -> None:
        section = section_named(self.want.section, self.headings, len(self.page.text))
        self.start, self.end = section.start, section.end
        self.told["section"] = section.heading.text
        self.notes.append(f"Section '{section.heading.text}'")
        if section.others:
            self.notes.append(f"Other sections of that name: {', '.join(section.others)}")

    def _seek(self) -> None:
        offset = self.want.offset
        if not offset:
            return
        if offset >= self.end:
            what = "The section ends at" if self.want.section else f"{self.source.asked} has"
            raise BadInput(
                f"{what} {self.end:,} characters, so nothing starts at {offset:,}.",
                hint="Offsets count from 0.",
                length=self.end,
            )
        self.start = max(self.start, offset)

    def _plain(self) -> Part:
        links = self._links()
        room = self._room([*self.notes, *self._place(self.end)], links)
        content = ""
        if self.end - self.start <= room * FAR:
            content = _head(self.body, self.start, self.end, room)
        end = self.start + len(content)
        following = None
        if end < self.end:
            # Not all fits: the outline and the call that goes on take room as well.
            self.outline = self._outline()
            room = self._room([*self.notes, *self._place(self.end)], links)
            room -= estimate(str(self._next(self.end)))
            content = _head(self.body, self.start, self.end, max(room, LEAST))
            end = self.start + len(content)
            following = self._next(end) if end < self.end else None
        notes = [*self._place(end), *self.notes]
        shown = content or "(no text)"
        return self._made(notes, f"{shown}{links}", content, end, following)

    def _found(self) -> Part:
        terms = self.want.terms
        finding = find(self.body, self.start, self.end, terms, self.check)
        counts = [
            {"find": term.shown, "count": count}
            for term, count in zip(terms, finding.counts, strict=True)
        ]
        self.told["found"] = counts
        self.notes.append(_counted(counts, partly=finding.partly))
        if not finding.ranked:
            return self._nothing()
        links = self._links()
        room = self._room([*self.notes, *self._place(self.end)], links)
        room -= estimate(str(self._next(self.end, finding=True))) + ROOM
        shown, met = excerpts(
            self.body, finding, terms, self.headings, max(room, LEAST), self.check
        )
        last = shown[-1].end
        left = len(finding.ranked) - met
        following = None
        if left:
            more = any(finding.chunks[n].start >= last for n in finding.ranked)
            self.notes.append(f"{left:,} more places are not shown")
            following = self._next(last, finding=True) if more else None
        return self._excerpted(shown, links, following)

    def _excerpted(self, shown: list[Excerpt], links: str, following: Next | None) -> Part:
        first, last = shown[0].start, shown[-1].end
        if len(shown) == 1 and first == self.start and last == self.end:
            content = self.body[first:last]
            notes = [*self._place(last), *self.notes]
            return self._made(notes, f"{content}{links}", content, last, None)
        self.told["excerpts"] = [
            {"offset": e.start, "end": e.end, "heading": e.heading} for e in shown
        ]
        content = "\n\n".join(e.shown(self.body) for e in shown)
        notes = [f"Excerpts of {len(self.body):,} characters", *self.notes]
        self.start = first
        return self._made(notes, f"{content}{links}", content, last, following)

    def _nothing(self) -> Part:
        """The page where it is short, else its nearest headings, and the call that reads it."""
        room = self._room(self.notes, "")
        whole = self.body[self.start : self.end]
        if len(whole) <= room * 12 and estimate(whole) <= room:
            notes = [*self._place(self.end), *self.notes]
            return self._made(notes, whole or "(no text)", whole, self.end, None)
        near: dict[int, Heading] = {}
        for term in self.want.terms:
            near |= {h.start: h for h in near_headings(term.text, self.headings)}
        lines = listing([near[start] for start in sorted(near)][:10])
        content = f"Nearest headings by offset:\n{lines}" if lines else ""
        following = self._next(self.want.offset)
        return self._made(self.notes, content or "(nothing found)", content, self.start, following)

    def _place(self, end: int) -> list[str]:
        if not self.start and end >= len(self.body):
            return []
        return [f"Characters {self.start:,} to {end:,} of {len(self.body):,}"]

    def _outline(self) -> str:
        if self.start or self.want.section:
            return ""
        return summary(self.headings, self.budget // OUTLINE_SHARE)

    def _links(self) -> str:
        """The lines of the links, as many as their share of the budget holds."""
        if not self.source.links:
            return ""
        self.told["links"] = [{"text": text, "url": url} for text, url in self.source.links]
        lines = [f"- {text or '(no text)'}: {url}" for text, url in self.source.links]
        text, _ = cut("\n".join(lines), max(self.budget // LINKS_SHARE, LEAST))
        whole = text.count("\n") + 1 if len(text) == len("\n".join(lines)) else text.count("\n")
        return f"\n\nLinks:\n{chr(10).join(lines[:whole])}" if whole else ""

    def _room(self, notes: Sequence[str], links: str) -> int:
        head = fence("", self.page.url) + self._header(notes)
        return max(self.budget - estimate(head + links) - ROOM, LEAST)

    def _header(self, notes: Sequence[str]) -> str:
        return header(self.page, notes, self.outline, navigation=self.want.navigation)

    def _next(self, offset: int, *, finding: bool = False) -> Next:
        same = dict(self.want.same)
        if not finding:
            same.pop("find", None)
        arguments = {"url": self.source.name, "offset": offset, **same}
        if not offset:
            del arguments["offset"]
        return Next("fetch_url", arguments)

    def _made(
        self, notes: Sequence[str], shown: str, content: str, end: int, following: Next | None
    ) -> Part:
        head = self._header(notes)
        return Part(
            self.source,
            f"{head}\n\n{shown}",
            content,
            self.start,
            end,
            len(self.body),
            following,
            self.told,
        )


def failed_data(asked: str, error: ToolError) -> dict[str, Any]:
    """A page that could not be read, as JSON values."""
    info = ErrorInfo.of(error)
    told = {"code": info.code, "message": info.message, "hint": info.hint}
    return {"url": asked, "status": "error", "error": told}


def failed_text(asked: str, error: ToolError) -> str:
    """A page that could not be read, as a model reads it."""
    told = f"URL: {asked}\nError ({error.stable_code}): {error.message}"
    return f"{told}\n{error.hint[:MAX_HINT]}" if error.hint else told


def _head(text: str, start: int, end: int, tokens: int) -> str:
    """As much from an offset on as fits; a long text is not looked at beyond that."""
    size = tokens * 8
    while True:
        stop = min(end, start + size)
        head, used = cut(text[start:stop], tokens)
        if used < stop - start or stop == end:
            return head
        size *= 4


def _counted(counts: Sequence[Mapping[str, Any]], *, partly: bool) -> str:
    told = ", ".join(f"{c['find']}: {c['count'] or 'nowhere'}" for c in counts)
    if not any(c["count"] for c in counts):
        return f"Nothing on this page is like: {', '.join(c['find'] for c in counts)}"
    return f"Found in so many places{', in part only' if partly else ''}: {told}"
