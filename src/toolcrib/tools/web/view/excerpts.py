"""Excerpts of pages: which part of a page an answer shows, how long, and how it reads."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import zip_longest
from typing import Any

from toolcrib.core.errors import BadInput, NotFound
from toolcrib.core.result import Next
from toolcrib.text.fence import fence
from toolcrib.text.passages import Heading
from toolcrib.text.tokens import estimate
from toolcrib.text.truncation import cut
from toolcrib.tools.web.view.headers import NAVIGATION_HEADING, brief_header, facts_of, header
from toolcrib.tools.web.view.outline import (
    LIST_SECTIONS,
    heading_at,
    headings_of,
    listing,
    near_headings,
    section_named,
    summary,
)
from toolcrib.tools.web.view.page_search import (
    PageChunk,
    PageMatches,
    Term,
    find,
    first_place,
    folded,
    listed_count,
)
from toolcrib.web.page import Page
from toolcrib.web.page_reader import Render

MIN_CONTENT_TOKENS = 50
MIN_BRIEF_TOKENS = 20
"""Tokens of content that a part gets, whatever its header takes."""
BRIEF_BUDGET_TOKENS = 250
"""Tokens of a budget below which the header is two lines."""
MAX_CHARS_PER_TOKEN = 6
"""Characters a token from which on nobody tries whether a text fits."""
SPARE_TOKENS = 10
"""Tokens kept free for what joins fence, header, content and the line that goes on."""
OUTLINE_SHARE = 8
LINKS_SHARE = 3
"""One in so many tokens may go to the outline, or to links: of the budget, or of what the
header leaves of it. Links get what the text does not need as well."""
MAX_NEAR_HEADINGS = 10
"""Headings that are named where nothing was found."""
TOKENS_PER_PLACE = 500
"""Tokens of an answer for each place that was found, with what stands around it."""
SPAN_MARK_TOKENS = 24
"""Tokens that the line over an excerpt takes, about."""
CHARS_BEFORE_MATCH = 20
"""Characters shown before a place in a paragraph that is too long to be shown."""
MIN_PIECE_TOKENS = 20
"""Tokens of such a paragraph at least."""


@dataclass(frozen=True, slots=True)
class Span:
    """`text[start:end]` of a page, and the headings that it stands under."""

    start: int
    end: int
    heading: str = ""

    def marked(self, text: str) -> str:
        """Its text with a line that says where it is."""
        under = f", under '{self.heading}'" if self.heading else ""
        return f"[from {self.start}{under}]\n{text[self.start : self.end].strip()}"


@dataclass(frozen=True, slots=True)
class SpanSelection:
    """Spans to show in the order of the page, and how many found chunks they hold.

    `rest` is where the first one begins that is not shown; None where all are.
    """

    spans: tuple[Span, ...]
    count: int
    rest: int | None


def spans_of(
    text: str,
    finding: PageMatches,
    terms: Sequence[Term],
    headings: Sequence[Heading],
    room: int,
    check: Callable[[], None],
    *,
    in_order: bool,
) -> SpanSelection:
    """What is shown of a page within a budget.

    First the chunks that were found, a heading together with what stands below it; then
    what stands around them, nearest first.

    Args:
        text: the page.
        finding: what was found in it; at least one chunk.
        terms: what was looked for.
        headings: those of the page.
        room: tokens for all of it.
        check: called between the steps; it raises when the work should stop.
        in_order: the first chunks of the page, as somebody reads on; else the best.
    """
    starts = [h.start for h in headings]
    order = sorted(finding.ranked) if in_order else list(finding.ranked)
    chosen = _chosen(text, finding, order, frozenset(starts), room, in_order=in_order)
    if not in_order and 0 in order and 0 not in chosen.taken and not finding.chunks[0].start:
        # Reading on begins behind the offset 0, so what stands there is shown now.
        order = [0, *(n for n in order if n)]
        chosen = _chosen(text, finding, order, frozenset(starts), room, in_order=False)
    if not chosen.taken:
        return _piece(text, finding, terms, chosen.unit(order[0]), headings, room, check)
    _grow(chosen, [n for n in order if n in chosen.taken], check)
    chosen.drop_bare_headings()
    left = [n for n in order if n not in chosen.taken]
    rest = finding.chunks[min(left)].start if left else None
    return SpanSelection(_joined(chosen, headings, starts), len(order) - len(left), rest)


@dataclass(slots=True)
class _ChunkChoice:
    """Chunks that fit so far."""

    text: str
    finding: PageMatches
    headings: frozenset[int]
    room: int
    taken: set[int] = field(default_factory=set)
    required: set[int] = field(default_factory=set)

    def unit(self, number: int) -> list[int]:
        """A chunk; where it is a heading, with what stands below it."""
        last = len(self.finding.chunks) - 1
        unit = [number]
        while self._is_heading(unit[-1]) and unit[-1] < last:
            unit.append(unit[-1] + 1)
        return unit

    def take(self, numbers: Sequence[int]) -> bool:
        """Add chunks that follow each other, if all of them fit."""
        wanted = [n for n in numbers if n not in self.taken]
        if not wanted:
            return True
        chunks = self.finding.chunks
        apart = numbers[0] - 1 not in self.taken and numbers[-1] + 1 not in self.taken
        apart = apart and len(wanted) == len(numbers)
        price = sum(estimate(self.text[chunks[n].start : chunks[n].end]) + 1 for n in wanted)
        price += SPAN_MARK_TOKENS if apart else 0
        if price > self.room:
            return False
        self.room -= price
        self.taken.update(wanted)
        return True

    def drop_bare_headings(self) -> None:
        """Leave out headings that growing brought without what stands below them."""
        last = len(self.finding.chunks) - 1
        for number in sorted(self.taken - self.required, reverse=True):
            if number < last and number + 1 not in self.taken and self._is_heading(number):
                self.taken.remove(number)

    def _is_heading(self, number: int) -> bool:
        chunk = self.finding.chunks[number]
        if chunk.start not in self.headings:
            return False
        return "\n" not in self.text[chunk.start : chunk.end].strip()


def _chosen(
    text: str,
    finding: PageMatches,
    order: Sequence[int],
    headings: frozenset[int],
    room: int,
    *,
    in_order: bool,
) -> _ChunkChoice:
    chosen = _ChunkChoice(text, finding, headings, room)
    for number in order:
        unit = chosen.unit(number)
        if chosen.take(unit):
            chosen.required.update(unit)
        elif in_order or not chosen.taken or chosen.room < MIN_PIECE_TOKENS:
            # Of the best ones, others may fit that are shorter.
            break
    return chosen


def _piece(
    text: str,
    finding: PageMatches,
    terms: Sequence[Term],
    unit: Sequence[int],
    headings: Sequence[Heading],
    room: int,
    check: Callable[[], None],
) -> SpanSelection:
    """The best place of a chunk that is too long for the room."""
    chunk = PageChunk(finding.chunks[unit[0]].start, finding.chunks[unit[-1]].end)
    at = chunk.start if len(unit) > 1 else first_place(text, chunk, terms) - CHARS_BEFORE_MATCH
    at = max(chunk.start, at)
    piece, _ = cut(text[at : chunk.end], max(room - SPAN_MARK_TOKENS, MIN_PIECE_TOKENS))
    end = at + len(piece)
    left = [n for n in finding.ranked if n != unit[0]]
    places = [finding.chunks[n].start for n in left if finding.chunks[n].start >= end]
    places += [finding.chunks[n].start for n in left if finding.chunks[n].end <= at]
    below = finding.chunks[unit[-1]]
    more = find(text, end, below.end, terms, check) if end < below.end else None
    if more is not None and more.ranked and (finding.partly or not more.partly):
        places.append(end)
    starts = [h.start for h in headings]
    displayed = Span(at, end, heading_at(headings, starts, at))
    return SpanSelection((displayed,), 1, min(places, default=None))


def _grow(chosen: _ChunkChoice, count: Sequence[int], check: Callable[[], None]) -> None:
    """Take neighbours at growing distance, until the next one does not fit."""
    max_matches = len(chosen.finding.chunks)
    for radius in range(1, max_matches):
        check()
        grown = False
        for number in count:
            for other in (number - radius, number + radius):
                if 0 <= other < max_matches and other not in chosen.taken:
                    if not chosen.take([other]):
                        return
                    grown = True
        if not grown and len(chosen.taken) == max_matches:
            return


def _joined(
    chosen: _ChunkChoice, headings: Sequence[Heading], starts: Sequence[int]
) -> tuple[Span, ...]:
    chunks = chosen.finding.chunks
    found: list[Span] = []
    for number in sorted(chosen.taken):
        chunk = chunks[number]
        if found and found[-1].end == chunk.start:
            found[-1] = Span(found[-1].start, chunk.end, found[-1].heading)
        else:
            found.append(Span(chunk.start, chunk.end, heading_at(headings, starts, chunk.start)))
    return tuple(found)


@dataclass(frozen=True, slots=True)
class PageRequest:
    """What is wanted of each page. `repeated` are the arguments that the next call has too.

    `max_chars` bounds the text of a page beside the budget in tokens; 0 is no such bound.
    """

    terms: tuple[Term, ...] = ()
    section: str = ""
    offset: int = 0
    navigation: bool = False
    whole: bool = False
    max_chars: int = 0
    render: Render = "never"
    repeated: Mapping[str, Any] = field(default_factory=dict)

    @property
    def max_matches(self) -> int:
        """What `matches_of` gives of a page that has everything."""
        return bool(self.section) + 2 * len(self.terms)


def matches_of(page: Page, request: PageRequest, check: Callable[[], None]) -> int:
    """How much of what is looked for a page has: 1 for its section, 2 for a term, 1 for a part."""
    start, end = 0, len(page.text)
    if request.section:
        headings = headings_of(page)
        if request.section == LIST_SECTIONS:
            return int(bool(headings))
        try:
            section = section_named(request.section, headings, end)
        except NotFound:
            return 0
        start, end = section.start, section.end
    finding = find(page.text, start, end, request.terms, check) if request.terms else None
    counts = finding.counts if finding is not None else []
    each = 1 if finding is not None and finding.partly else 2
    return bool(request.section) + each * sum(1 for count in counts if count)


@dataclass(frozen=True, slots=True)
class RequestedPage:
    """A page by the URL that was asked for.

    `reference` is that URL as the next call has it; `links` are texts and URLs to list.
    """

    url: str
    reference: str
    page: Page
    links: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Excerpt:
    """Some of a page.

    `following` reads on where it stops; None at the end. There `beside` reads the page that
    this one leads browsers to, or the whole page where running text of it stands beside its
    main content.
    """

    source: RequestedPage
    text: str
    content: str
    offset: int
    end: int
    length: int
    following: Next | None = None
    beside: Next | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)

    @property
    def found(self) -> bool:
        """Whether it was chosen by words, and so may be far below its budget."""
        return "found" in self.extra

    @property
    def page(self) -> Page:
        """The page that it is of."""
        return self.source.page

    @property
    def data(self) -> dict[str, Any]:
        """The same as JSON values."""
        return {
            "url": self.source.url,
            "status": "ok",
            **facts_of(self.page),
            "content": self.content,
            "offset": self.offset,
            "end": self.end,
            "length": self.length,
            "truncated": self.following is not None,
            **self.extra,
        }


def excerpt_of(
    source: RequestedPage,
    request: PageRequest,
    budget: int,
    check: Callable[[], None],
    *,
    brief: bool = False,
) -> Excerpt:
    """As much of a page as fits of what is wanted.

    Args:
        source: the page.
        request: which part of it.
        budget: tokens for fence, header, content and the call that goes on.
        check: called between the steps; it raises when the work should stop.
        brief: keep the header to two lines, as `BRIEF_BUDGET_TOKENS` says of small budgets.

    Raises:
        BadInput: the page, or its section, is shorter than the offset.
        NotFound: it has no such section.
    """
    return _ExcerptBuilder(source, request, budget, check, brief=brief).excerpt()


def shares(needs: Sequence[int], budget: int) -> list[int]:
    """A budget shared out: who needs less than an equal share leaves the rest to others."""
    shared = [0] * len(needs)
    left, waiting = budget, sorted(range(len(needs)), key=lambda n: needs[n])
    while waiting:
        equal = left // len(waiting)
        number = waiting.pop(0)
        shared[number] = min(needs[number], equal) if waiting else equal
        left -= shared[number]
    return shared


def needed_tokens(source: RequestedPage, request: PageRequest, budget: int) -> int:
    """The tokens that a page would take, up to the budget."""
    size = len(source.page.text) + (len(source.page.navigation) if request.navigation else 0)
    if size > budget * 8:
        return budget
    links = sum(len(text) + len(url) for text, url in source.links) // 3
    whole = estimate(source.page.text) + (size - len(source.page.text)) // 2
    frame = estimate(fence("", source.page.url) + header(source.page)) + 4 * SPARE_TOKENS
    return min(whole + frame + links, budget)


class _ExcerptBuilder:
    """One page on its way to an excerpt."""

    def __init__(
        self,
        source: RequestedPage,
        request: PageRequest,
        budget: int,
        check: Callable[[], None],
        *,
        brief: bool,
    ) -> None:
        self.source = source
        self.request = request
        self.budget = budget
        self.brief = brief
        self.min_tokens = MIN_BRIEF_TOKENS if brief else MIN_CONTENT_TOKENS
        self.check = check
        self.page = source.page
        self.body = self.page.text
        if request.navigation and self.page.navigation:
            self.body = f"{self.body}\n\n{NAVIGATION_HEADING}\n{self.page.navigation}".strip("\n")
        self.start, self.end = 0, len(self.body)
        self.notes: list[str] = []
        if self.page.whole and not request.whole:
            self.notes.append("Found beside the main content: this is of the whole page")
        self.outline = ""
        self.extra: dict[str, Any] = {}

    @cached_property
    def headings(self) -> list[Heading]:
        """Worked out on first use: most excerpts need none."""
        return headings_of(self.page)

    def excerpt(self) -> Excerpt:
        """What was asked for."""
        if self.request.section == LIST_SECTIONS:
            self._list()
        elif self.request.section:
            self._narrow()
        self._seek()
        if self.request.terms:
            return self._found()
        return self._plain()

    def _list(self) -> None:
        self.body = listing(self.headings) or "(no headings)"
        self.end = len(self.body)
        self.notes.append(f"{len(self.headings):,} headings by offset")

    def _narrow(self) -> None:
        section = section_named(self.request.section, self.headings, len(self.page.text))
        self.start, self.end = section.start, section.end
        self.extra["section"] = section.heading.text
        self.notes.append(f"Section '{section.heading.text}'")
        if section.others:
            self.notes.append(f"Other sections of that name: {', '.join(section.others)}")

    def _seek(self) -> None:
        offset = self.request.offset
        if not offset:
            return
        if offset >= self.end:
            what = "The section ends at" if self.request.section else f"{self.source.url} has"
            raise BadInput(
                f"{what} {self.end:,} characters, so nothing starts at {offset:,}.",
                hint="Offsets count from 0.",
                length=self.end,
            )
        self.start = max(self.start, offset)

    def _plain(self) -> Excerpt:
        links = self._links(self.end - self.start)
        room = self._room([*self.notes, *self._position(self.end)], links)
        content = ""
        if self.end - self.start <= room * MAX_CHARS_PER_TOKEN:
            content = self._head(room)
        end = self.start + len(content)
        following = None
        if end < self.end:
            # Not all fits: the outline and the call that goes on take room as well.
            self.outline = self._outline()
            room = self._room([*self.notes, *self._position(self.end)], links)
            room -= estimate(str(self._next(self.end)))
            content = self._head(max(room, self.min_tokens))
            end = self.start + len(content)
            following = self._next(end) if end < self.end else None
        notes = [*self._position(end), *self.notes]
        displayed = content or "(no text)"
        return self._made(notes, f"{displayed}{links}", content, end, following)

    def _head(self, room: int) -> str:
        """As much of the text as there is room for, and as was asked for."""
        max_chars = self.request.max_chars
        end = min(self.end, self.start + max_chars) if max_chars else self.end
        head = _head(self.body, self.start, end, room)
        if len(head) < end - self.start or end == self.end:
            return head
        words = head.rstrip().rfind(" ", len(head) // 2)
        return head if self.body[end].isspace() or words < 0 else head[: words + 1]

    def _found(self) -> Excerpt:
        terms = self.request.terms
        finding = find(self.body, self.start, self.end, terms, self.check)
        self.extra["found"] = [
            {"find": term.query, "count": count} | ({"exact": exact} if exact < count else {})
            for term, count, exact in zip(terms, finding.counts, finding.exact, strict=True)
        ]
        if not finding.ranked:
            names = ", ".join(term.query for term in terms)
            self.notes.append(f"Nothing on this page is like: {names}")
            return self._nothing()
        links = self._links(self.end - self.start)
        counted = self._counted(finding, len(finding.ranked))
        room = self._room([*self.notes, counted, *self._position(self.end)], links)
        room -= estimate(str(self._next(self.end, finding=True))) + SPARE_TOKENS
        room = min(room, TOKENS_PER_PLACE * max(len(finding.ranked), 2))
        if self.request.max_chars:
            room = min(room, estimate(self.body[self.start :][: self.request.max_chars]))
        chosen = spans_of(
            self.body,
            finding,
            terms,
            self.headings,
            max(room, self.min_tokens),
            self.check,
            in_order=bool(self.request.offset),
        )
        self.notes.append(self._counted(finding, chosen.count))
        following = None
        if chosen.rest is not None:
            following = self._next(chosen.rest, finding=True)
        return self._excerpted(chosen.spans, links, following)

    def _counted(self, finding: PageMatches, displayed: int) -> str:
        """How often each term was found, and how many of the places are shown."""
        each = zip(self.request.terms, finding.counts, finding.exact, strict=True)
        counts = ", ".join(_term_count(*one, partly=finding.partly) for one in each)
        from_here = f" from {self.start:,} on" if self.request.offset else ""
        partly = ", in part only" if finding.partly else ""
        places = len(finding.ranked)
        listed = map(listed_count, finding.counts, finding.exact)
        both = f" ({places:,} in all)" if sum(listed) != places else ""
        rest = f"; {displayed:,} shown" if displayed < places else ""
        return f"Places found{from_here}{partly}: {counts}{both}{rest}"

    def _excerpted(self, spans: Sequence[Span], links: str, following: Next | None) -> Excerpt:
        first, last = spans[0].start, spans[-1].end
        if len(spans) == 1 and first == self.start and last == self.end:
            content = self.body[first:last]
            notes = [*self._position(last), *self.notes]
            return self._made(notes, f"{content}{links}", content, last, None)
        self.extra["excerpts"] = [
            {"offset": e.start, "end": e.end, "heading": e.heading} for e in spans
        ]
        content = "\n\n".join(e.marked(self.body) for e in spans)
        notes = [f"Excerpts of {len(self.body):,} characters", *self.notes]
        self.start = first
        return self._made(notes, f"{content}{links}", content, last, following)

    def _nothing(self) -> Excerpt:
        """The page where it is short, else its nearest headings, and the call that reads it."""
        room = self._room(self.notes, "")
        whole = self.body[self.start : self.end]
        if len(whole) <= room * 12 and estimate(whole) <= room:
            notes = [*self._position(self.end), *self.notes]
            return self._made(notes, whole or "(no text)", whole, self.end, None)
        lines = listing(self._nearest_headings())
        content = f"Nearest headings by offset:\n{lines}" if lines else ""
        following = self._next(self.request.offset)
        return self._made(self.notes, content or "(nothing found)", content, self.start, following)

    def _nearest_headings(self) -> list[Heading]:
        """The headings most like the terms, all terms taking turns, in the page's order."""
        lists = [near_headings(term.text, self.headings) for term in self.request.terms]
        nearest: dict[str, Heading] = {}
        for turn in zip_longest(*lists):
            for heading in filter(None, turn):
                nearest.setdefault(folded(heading.text), heading)
        return sorted([*nearest.values()][:MAX_NEAR_HEADINGS], key=lambda h: h.start)

    def _position(self, end: int) -> list[str]:
        if not self.start and end >= len(self.body):
            return []
        return [f"Characters {self.start:,} to {end:,} of {len(self.body):,}"]

    def _outline(self) -> str:
        if self.start or self.request.section or self.brief:
            return ""
        return summary(self.headings, self.budget // OUTLINE_SHARE)

    def _links(self, length: int) -> str:
        """The lines of the links: as many as a text of so many characters leaves room for."""
        links = self.source.links
        if not links:
            return ""
        self.extra["links"] = [{"text": text, "url": url} for text, url in links]
        lines = [f"- {text or '(no text)'}: {url}" for text, url in links]
        room = self._room([*self.notes, *self._position(self.end), _links_listed(links, links)], "")
        room -= estimate(str(self._next(self.end, finding=True))) + SPARE_TOKENS
        text = self.body[self.start : self.end] if length <= room * MAX_CHARS_PER_TOKEN else ""
        needed = estimate(text) if text else room
        joined = "\n".join(lines)
        head, _ = cut(joined, max(room // LINKS_SHARE, room - needed, self.min_tokens))
        whole = len(lines) if len(head) == len(joined) else head.count("\n")
        if whole < len(lines):
            self.notes.append(_links_listed(links[:whole], links))
        return f"\n\nLinks:\n{chr(10).join(lines[:whole])}" if whole else ""

    def _room(self, notes: Sequence[str], links: str) -> int:
        head = fence("", self.page.url) + self._header(notes)
        return max(self.budget - estimate(head + links) - SPARE_TOKENS, self.min_tokens)

    def _header(self, notes: Sequence[str]) -> str:
        if self.brief:
            return brief_header(self.page, notes)
        return header(self.page, notes, self.outline, navigation=self.request.navigation)

    def _next(self, offset: int, *, finding: bool = False) -> Next:
        same = dict(self.request.repeated)
        if self.page.whole:
            same["whole"] = True
        if not finding:
            same.pop("find", None)
        arguments = {"url": self.source.reference, "offset": offset, **same}
        if not offset:
            del arguments["offset"]
        return Next("fetch_url", arguments)

    def _made(
        self, notes: Sequence[str], displayed: str, content: str, end: int, following: Next | None
    ) -> Excerpt:
        head = self._header(notes)
        return Excerpt(
            self.source,
            f"{head}\n\n{displayed}",
            content,
            self.start,
            end,
            len(self.body),
            following,
            None if following else self._beside(),
            self.extra,
        )

    def _beside(self) -> Next | None:
        if self.page.forward:
            return Next("fetch_url", {"url": self.page.forward})
        choice = self.page.choice
        if choice is None or not choice.running or self.request.terms or self.request.section:
            return None
        arguments = {"url": self.source.reference, **self.request.repeated, "whole": True}
        return Next("fetch_url", arguments)


def _head(text: str, start: int, end: int, tokens: int) -> str:
    """As much from an offset on as fits; a long text is not looked at beyond that."""
    size = tokens * 8
    while True:
        stop = min(end, start + size)
        head, used = cut(text[start:stop], tokens)
        if used < stop - start or stop == end:
            return head
        size *= 4


def _links_listed(listed: Sequence[object], links: Sequence[object]) -> str:
    return f"{len(listed):,} of {len(links):,} links listed"


def _term_count(term: Term, count: int, exact: int, *, partly: bool) -> str:
    """How often a term was found: as it stands, and in words like it."""
    if exact == count or partly:
        return f"{term.named} {count or 'nowhere'}"
    like, listed = count - exact, listed_count(count, exact) - exact
    of_all = f"{listed:,} of {like:,}" if listed < like else f"{like:,}"
    return f"{term.named} {exact or 'nowhere'}, words like it {of_all}"
