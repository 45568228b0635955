"""The outline of a page: its headings listed, and a section found by its name."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from toolcrib.core.errors import NotFound
from toolcrib.text.passages import Heading, has_headings, outline
from toolcrib.text.tokens import estimate
from toolcrib.tools.web.view.page_search import distance, folded
from toolcrib.web.page import Page

LIST_SECTIONS = "?"
"""The section that is the list of all sections."""
MAX_SUMMARY_LINES = 15
MIN_SLIP_CHARS = 6
"""Letters and digits from which on a name may have a slip."""
CHARS_PER_SLIP = 8
"""So many letters may have one slip, twice as many two."""
MAX_SLIPS = 3
MAX_COMPARED_CHARS = 80
"""Characters of a name that are compared."""
MAX_NEAR = 5
"""Headings that are given as most like a name."""
ALIKE_CHARS = 4
"""Letters by which two words begin that count as alike."""
_WORD = re.compile(r"[^\W_]+")
_DIGITS = re.compile(r"\d+")
_NUMBER = re.compile(r"^(?:[0-9]+(?:\.[0-9]+)*|[a-z]|[ivxlc]+)[.):]?\s+")


@dataclass(frozen=True, slots=True)
class PageSection:
    """What stands under a heading, its own headings included: `text[start:end]`.

    `others` are headings that fit the name as well.
    """

    heading: Heading
    start: int
    end: int
    others: tuple[str, ...] = ()


def headings_of(page: Page) -> list[Heading]:
    """The headings of a page in its order; none where `#` means something else."""
    return outline(page.text) if has_headings(page.kind, page.content_type, page.url) else []


def section_named(name: str, headings: Sequence[Heading], length: int) -> PageSection:
    """The section that a name means: exact, its start, a part of it, or all but a slip.

    A number in the name is one in the heading: "Chapter 1" is not "Chapter 10".

    Args:
        name: in any case and with or without accents and numbering; headings above may
            stand before it, as in "Guide > Installation".
        headings: those of the page.
        length: characters of the page.

    Raises:
        NotFound: no heading is like it; the hint names the nearest.
    """
    wanted = _plain(name)
    if not headings:
        raise NotFound(
            "The page has no headings, so it has no sections.",
            hint="Read it without 'section', or use 'find'.",
        )
    hits = _hits(wanted, headings) if wanted else []
    if not hits and ">" in wanted:
        hits = _under(wanted, headings)
    if not hits:
        nearest = near_headings(name, headings)
        raise NotFound(
            f"No heading of the page is like '{name[:80]}'.",
            hint=f"Nearest: {_heading_names(nearest)}. "
            f'section="{LIST_SECTIONS}" lists all {len(headings):,}.',
            headings=[h.text for h in nearest],
        )
    first = headings[hits[0]]
    end = next((h.start for h in headings[hits[0] + 1 :] if h.level <= first.level), length)
    others = tuple(dict.fromkeys(headings[n].text for n in hits[1:6]))
    return PageSection(first, first.start, end, others)


def near_headings(name: str, headings: Sequence[Heading]) -> list[Heading]:
    """The headings that are most like a name, best first; of equal ones the first."""
    wanted = _plain(name)
    by_title: dict[str, Heading] = {}
    for heading in headings:
        by_title.setdefault(_plain(heading.text), heading)
    matcher = SequenceMatcher(b=wanted[:MAX_COMPARED_CHARS], autojunk=False)
    words = set(_WORD.findall(wanted))

    def likeness(title: str) -> float:
        matcher.set_seq1(title[:MAX_COMPARED_CHARS])
        others = _WORD.findall(title)
        same = sum(1.0 if w in others else 0.7 * _begins_alike(w, others) for w in words)
        return matcher.ratio() + same / (len(words) or 1)

    # Python's sort is stable, so of equal ones the first stays first.
    return [by_title[t] for t in sorted(by_title, key=lambda t: -likeness(t))[:MAX_NEAR]]


def heading_at(headings: Sequence[Heading], starts: Sequence[int], offset: int) -> str:
    """The headings over an offset, from the outermost in; empty before the first."""
    from bisect import bisect_right

    at = bisect_right(starts, offset) - 1
    path: list[str] = []
    level = 7
    while at >= 0 and level > 1:
        if headings[at].level < level:
            path.insert(0, headings[at].text)
            level = headings[at].level
        at -= 1
        if len(path) == 3:
            break
    return " > ".join(path)


def listing(headings: Sequence[Heading]) -> str:
    """All headings with their offsets, one a line, indented by level."""
    top = min((h.level for h in headings), default=1)
    return "\n".join(f"{'  ' * (h.level - top)}{h.start} {h.text}" for h in headings)


def summary(headings: Sequence[Heading], room: int) -> str:
    """The main headings with their offsets, within some lines and a budget of tokens."""
    if len(headings) < 2:
        return ""
    chosen = list(headings)
    for level in range(6, 0, -1):
        if len(chosen) <= MAX_SUMMARY_LINES:
            break
        fewer = [h for h in chosen if h.level < level]
        if len(fewer) < 2:
            break
        chosen = fewer
    displayed = chosen[:MAX_SUMMARY_LINES]
    while displayed:
        rest = len(headings) - len(displayed)
        more = f'\n{rest:,} more: section="{LIST_SECTIONS}" lists all' if rest else ""
        text = f"Headings by offset:\n{listing(displayed)}{more}"
        if estimate(text) <= room:
            return text
        displayed = displayed[: len(displayed) * 2 // 3]
    return ""


def _plain(text: str) -> str:
    return folded(text).strip().strip("#").strip()


def _begins_alike(word: str, others: Sequence[str]) -> bool:
    return len(word) >= ALIKE_CHARS and any(o[:ALIKE_CHARS] == word[:ALIKE_CHARS] for o in others)


def _hits(wanted: str, headings: Sequence[Heading]) -> list[int]:
    titles = [_plain(h.text) for h in headings]
    bare_titles = [_NUMBER.sub("", title) for title in titles]
    unnumbered = _NUMBER.sub("", wanted)
    # A number that a name begins or ends with is a whole one.
    start = r"(?<![\d.])" if wanted[:1].isdigit() else ""
    end = r"(?!\d|[.]\d)" if wanted[-1:].isdigit() else ""
    name = f"{start}{re.escape(wanted)}{end}"
    checks: tuple[Callable[[str], object], ...] = (
        lambda title: title == wanted,
        lambda title: title == unnumbered and not _NUMBER.match(title),
        re.compile(name).match,
        re.compile(rf"(?<!\w){name}").search,
        re.compile(name).search if len(wanted) >= ALIKE_CHARS else lambda _: False,
    )
    for number, check in enumerate(checks):
        both = zip(titles, titles if number == 1 else bare_titles, strict=True)
        hits = [n for n, (title, bare) in enumerate(both) if check(title) or check(bare)]
        if hits:
            return hits
    return _with_slips(wanted, bare_titles)


def _with_slips(wanted: str, titles: Sequence[str]) -> list[int]:
    """The titles that differ from a name by a slip of the pen, those with the fewest first."""
    letters = "".join(_WORD.findall(wanted))
    if len(letters) < MIN_SLIP_CHARS:
        return []
    max_slips = min(max(len(letters) // CHARS_PER_SLIP, 1), MAX_SLIPS)
    scored = []
    for number, title in enumerate(titles):
        others = "".join(_WORD.findall(title))
        if abs(len(others) - len(letters)) > max_slips or others[:1] != letters[:1]:
            continue
        if _DIGITS.findall(title) != _DIGITS.findall(wanted):
            continue
        wrong = distance(letters, others, max_slips)
        if wrong <= max_slips:
            scored.append((wrong, number))
    return [number for _, number in sorted(scored)]


def _under(wanted: str, headings: Sequence[Heading]) -> list[int]:
    """The headings of a name that stand under those before it, as in `Guide > Usage`."""
    *above, last = [part.strip() for part in wanted.split(">") if part.strip()] or [""]
    hits = _hits(last, headings) if last else []
    starts = [h.start for h in headings]
    under = []
    for hit in hits:
        path = _plain(heading_at(headings, starts, headings[hit].start))
        if all(part in path for part in above):
            under.append(hit)
    return under or (hits if len(hits) == 1 else [])


def _heading_names(headings: Sequence[Heading]) -> str:
    return ", ".join(f"'{h.text[:60]}'" for h in headings)
