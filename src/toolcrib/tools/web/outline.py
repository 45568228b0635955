"""The headings of a page: listed, and found again by what somebody calls them."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from toolcrib.core.errors import NotFound
from toolcrib.core.names import nearest
from toolcrib.kit.passages import Heading, bare
from toolcrib.kit.tokens import estimate
from toolcrib.tools.web.folding import folded
from toolcrib.tools.web.pages import PageText

LIST = "?"
"""The section that is the list of all sections."""
MOST = 5000
LINES = 15
ALIKE = 0.75
MAX_TITLE = 120
_MARK = re.compile(
    r"^(?:[ ]{0,3}(?P<fence>`{3,}|~{3,})|(?P<level>#{1,6})[ \t]+(?P<title>\S[^\n]{0,1000}))",
    re.MULTILINE,
)
_MARKED = re.compile(r"[*_`\[]")
_NUMBER = re.compile(r"^(?:[0-9]+(?:\.[0-9]+)*|[a-z]|[ivxlc]+)[.):]?\s+")
_PLAIN_MARKDOWN = re.compile(r"(?:/|\.md|\.markdown|\.mdx|\.txt|/[^/.]*)$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Section:
    """What stands under a heading, its own headings included: `text[start:end]`.

    `others` are headings that fit the name as well.
    """

    heading: Heading
    start: int
    end: int
    others: tuple[str, ...] = ()


def headings_of(page: PageText) -> list[Heading]:
    """The headings of a page in its order; none where `#` means something else."""
    if page.kind in ("json", "csv", "xml", "image"):
        return []
    if page.kind == "text" and "markdown" not in page.content_type:
        path = page.url.partition("?")[0].partition("#")[0]
        if page.content_type not in ("", "text/plain") or not _PLAIN_MARKDOWN.search(path):
            return []
    return headings_in(page.text)


def headings_in(text: str) -> list[Heading]:
    """The headings of Markdown, without what is in fenced code."""
    found: list[Heading] = []
    fence = ""
    for match in _MARK.finditer(text):
        mark = match["fence"]
        if mark:
            if not fence:
                fence = mark
            elif mark[0] == fence[0] and len(mark) >= len(fence):
                fence = ""
            continue
        if fence:
            continue
        title = match["title"]
        title = bare(title) if _MARKED.search(title) else title
        title = " ".join(title.split()).rstrip("# ")
        if title:
            found.append(Heading(title[:MAX_TITLE], len(match["level"]), match.start()))
        if len(found) == MOST:
            break
    return found


def section_named(name: str, headings: Sequence[Heading], length: int) -> Section:
    """The section that a name means: exact, its start, a part of it, or nearly it.

    Args:
        name: in any case and with or without accents and numbering.
        headings: those of the page.
        length: characters of the page.

    Raises:
        NotFound: no heading is like it; the hint names the nearest.
    """
    wanted = folded(name).strip().strip("#").strip()
    if not headings:
        raise NotFound(
            "The page has no headings, so it has no sections.",
            hint="Read it without 'section', or use 'find'.",
        )
    hits = _hits(wanted, headings) if wanted else []
    if not hits and ">" in wanted:
        hits = _hits(wanted.rpartition(">")[2].strip(), headings)
    if not hits:
        raise NotFound(
            f"No heading of the page is like '{name[:80]}'.",
            hint=f"Nearest: {_named(near_headings(name, headings))}. "
            f'section="{LIST}" lists all {len(headings):,}.',
            headings=[h.text for h in near_headings(name, headings)],
        )
    first = headings[hits[0]]
    end = next((h.start for h in headings[hits[0] + 1 :] if h.level <= first.level), length)
    others = tuple(dict.fromkeys(headings[n].text for n in hits[1:6]))
    return Section(first, first.start, end, others)


def near_headings(name: str, headings: Sequence[Heading], count: int = 5) -> list[Heading]:
    """The headings that are most like a name, or the first ones where none is."""
    by_name = {folded(h.text): h for h in reversed(headings)}
    near = nearest(folded(name), by_name, count=count, least=0.3)
    return [by_name[n] for n in near] or list(headings[:count])


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
        if len(chosen) <= LINES:
            break
        fewer = [h for h in chosen if h.level < level]
        if len(fewer) < 2:
            break
        chosen = fewer
    shown = chosen[:LINES]
    while shown:
        left = len(headings) - len(shown)
        more = f'\n{left:,} more: section="{LIST}" lists all' if left else ""
        text = f"Headings by offset:\n{listing(shown)}{more}"
        if estimate(text) <= room:
            return text
        shown = shown[: len(shown) * 2 // 3]
    return ""


def _hits(wanted: str, headings: Sequence[Heading]) -> list[int]:
    titles = [folded(h.text) for h in headings]
    bare_titles = [_NUMBER.sub("", title) for title in titles]
    words = rf"(?<!\w){re.escape(wanted)}"
    checks: tuple[Callable[[str], bool], ...] = (
        lambda title: title == wanted,
        lambda title: title.startswith(wanted),
        lambda title: re.search(words, title) is not None,
        lambda title: len(wanted) >= 4 and wanted in title,
    )
    for check in checks:
        hits = [n for n, t in enumerate(titles) if check(t) or check(bare_titles[n])]
        if hits:
            return hits
    return _alike(wanted, bare_titles)


def _alike(wanted: str, titles: Sequence[str]) -> list[int]:
    matcher = SequenceMatcher(b=wanted, autojunk=False)
    scored = []
    for number, title in enumerate(titles):
        matcher.set_seq1(title)
        if matcher.real_quick_ratio() >= ALIKE and matcher.quick_ratio() >= ALIKE:
            ratio = matcher.ratio()
            if ratio >= ALIKE:
                scored.append((-ratio, number))
    return [number for _, number in sorted(scored)]


def _named(headings: Sequence[Heading]) -> str:
    return ", ".join(f"'{h.text[:60]}'" for h in headings)
