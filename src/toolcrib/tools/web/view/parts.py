"""The part of a page that an answer shows: which, how long, and how it reads."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any

from toolcrib.core.call import Next
from toolcrib.core.errors import BadInput
from toolcrib.text.fence import fence
from toolcrib.text.passages import Heading
from toolcrib.text.tokens import estimate
from toolcrib.text.truncation import cut
from toolcrib.tools.web.view.excerpts import Excerpt, excerpts
from toolcrib.tools.web.view.find import Finding, find
from toolcrib.tools.web.view.headers import NAVIGATION, brief_header, facts_of, header
from toolcrib.tools.web.view.normalization import folded
from toolcrib.tools.web.view.outline import (
    LIST,
    headings_of,
    listing,
    near_headings,
    section_named,
    summary,
)
from toolcrib.tools.web.view.request import Want
from toolcrib.web.pages.pages import PageText

LEAST = 50
LEAST_BRIEF = 20
"""Tokens of content that a part gets, whatever its header takes."""
BRIEF = 250
"""Tokens of a budget below which the header is two lines."""
FAR = 6
"""Characters a token from which on nobody tries whether a text fits."""
ROOM = 10
"""Tokens kept free for what joins fence, header, content and the line that goes on."""
OUTLINE_SHARE = 8
LINKS_SHARE = 3
"""One in so many tokens may go to the outline, or to links: of the budget, or of what the
header leaves of it. Links get what the text does not need as well."""
MOST_NEAR = 10
"""Headings that are named where nothing was found."""


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


def part_of(
    source: Source, want: Want, budget: int, check: Callable[[], None], *, brief: bool = False
) -> Part:
    """As much of a page as fits of what is wanted.

    Args:
        source: the page.
        want: which part of it.
        budget: tokens for fence, header, content and the call that goes on.
        check: called between the steps; it raises when the work should stop.
        brief: keep the header to two lines, as `BRIEF` says of small budgets.

    Raises:
        BadInput: the page, or its section, is shorter than the offset.
        NotFound: it has no such section.
    """
    return _Reading(source, want, budget, check, brief=brief).part()


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

    def __init__(
        self, source: Source, want: Want, budget: int, check: Callable[[], None], *, brief: bool
    ) -> None:
        self.source = source
        self.want = want
        self.budget = budget
        self.brief = brief
        self.least = LEAST_BRIEF if brief else LEAST
        self.check = check
        self.page = source.page
        self.body = self.page.text
        if want.navigation and self.page.navigation:
            self.body = f"{self.body}\n\n{NAVIGATION}\n{self.page.navigation}".strip("\n")
        self.start, self.end = 0, len(self.body)
        self.notes: list[str] = []
        if self.page.whole and not want.whole:
            self.notes.append("Found beside the main content: this is of the whole page")
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
        links = self._links(self.end - self.start)
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
            content = _head(self.body, self.start, self.end, max(room, self.least))
            end = self.start + len(content)
            following = self._next(end) if end < self.end else None
        notes = [*self._place(end), *self.notes]
        shown = content or "(no text)"
        return self._made(notes, f"{shown}{links}", content, end, following)

    def _found(self) -> Part:
        terms = self.want.terms
        finding = find(self.body, self.start, self.end, terms, self.check)
        self.told["found"] = [
            {"find": term.shown, "count": count}
            for term, count in zip(terms, finding.counts, strict=True)
        ]
        if not finding.ranked:
            names = ", ".join(term.shown for term in terms)
            self.notes.append(f"Nothing on this page is like: {names}")
            return self._nothing()
        links = self._links(self.end - self.start)
        counted = self._counted(finding, len(finding.ranked))
        room = self._room([*self.notes, counted, *self._place(self.end)], links)
        room -= estimate(str(self._next(self.end, finding=True))) + ROOM
        chosen = excerpts(
            self.body,
            finding,
            terms,
            self.headings,
            max(room, self.least),
            self.check,
            in_order=bool(self.want.offset),
        )
        self.notes.append(self._counted(finding, chosen.met))
        following = None
        if chosen.rest is not None:
            following = self._next(chosen.rest, finding=True)
        return self._excerpted(chosen.excerpts, links, following)

    def _counted(self, finding: Finding, shown: int) -> str:
        """How often each term was found, and how many of the places are shown."""
        pairs = zip(self.want.terms, finding.counts, strict=True)
        told = ", ".join(f"{term.named} {count or 'nowhere'}" for term, count in pairs)
        there = f" from {self.start:,} on" if self.want.offset else ""
        partly = ", in part only" if finding.partly else ""
        places = len(finding.ranked)
        both = f" ({places:,} in all)" if sum(finding.counts) != places else ""
        left = f"; {shown:,} shown" if shown < places else ""
        return f"Places found{there}{partly}: {told}{both}{left}"

    def _excerpted(self, shown: Sequence[Excerpt], links: str, following: Next | None) -> Part:
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
        lines = listing(self._near())
        content = f"Nearest headings by offset:\n{lines}" if lines else ""
        following = self._next(self.want.offset)
        return self._made(self.notes, content or "(nothing found)", content, self.start, following)

    def _near(self) -> list[Heading]:
        """The headings most like the terms, all terms taking turns, in the page's order."""
        lists = [near_headings(term.text, self.headings) for term in self.want.terms]
        near: dict[str, Heading] = {}
        for turn in zip_longest(*lists):
            for heading in filter(None, turn):
                near.setdefault(folded(heading.text), heading)
        return sorted([*near.values()][:MOST_NEAR], key=lambda h: h.start)

    def _place(self, end: int) -> list[str]:
        if not self.start and end >= len(self.body):
            return []
        return [f"Characters {self.start:,} to {end:,} of {len(self.body):,}"]

    def _outline(self) -> str:
        if self.start or self.want.section or self.brief:
            return ""
        return summary(self.headings, self.budget // OUTLINE_SHARE)

    def _links(self, length: int) -> str:
        """The lines of the links: as many as a text of so many characters leaves room for."""
        links = self.source.links
        if not links:
            return ""
        self.told["links"] = [{"text": text, "url": url} for text, url in links]
        lines = [f"- {text or '(no text)'}: {url}" for text, url in links]
        room = self._room([*self.notes, *self._place(self.end), _listed(links, links)], "")
        room -= estimate(str(self._next(self.end, finding=True))) + ROOM
        text = self.body[self.start : self.end] if length <= room * FAR else ""
        needed = estimate(text) if text else room
        joined = "\n".join(lines)
        head, _ = cut(joined, max(room // LINKS_SHARE, room - needed, self.least))
        whole = len(lines) if len(head) == len(joined) else head.count("\n")
        if whole < len(lines):
            self.notes.append(_listed(links[:whole], links))
        return f"\n\nLinks:\n{chr(10).join(lines[:whole])}" if whole else ""

    def _room(self, notes: Sequence[str], links: str) -> int:
        head = fence("", self.page.url) + self._header(notes)
        return max(self.budget - estimate(head + links) - ROOM, self.least)

    def _header(self, notes: Sequence[str]) -> str:
        if self.brief:
            return brief_header(self.page, notes)
        return header(self.page, notes, self.outline, navigation=self.want.navigation)

    def _next(self, offset: int, *, finding: bool = False) -> Next:
        same = dict(self.want.same)
        if self.page.whole:
            same["whole"] = True
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


def _head(text: str, start: int, end: int, tokens: int) -> str:
    """As much from an offset on as fits; a long text is not looked at beyond that."""
    size = tokens * 8
    while True:
        stop = min(end, start + size)
        head, used = cut(text[start:stop], tokens)
        if used < stop - start or stop == end:
            return head
        size *= 4


def _listed(shown: Sequence[object], links: Sequence[object]) -> str:
    return f"{len(shown):,} of {len(links):,} links listed"
