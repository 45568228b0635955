"""The choice of the blocks of a page that are main content, from the chances of each."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import compress

from toolcrib.documents.reader.threads import with_post_heads
from toolcrib.documents.reader.tree import (
    ARTICLE,
    MAIN,
    NAV,
    NOSCRIPT,
    SILENT,
    Element,
    PageTables,
)

_PHRASE_WORDS = 4
"""Words from which a text is not there twice by chance."""
_REPEATING = ("td", "th", "pre")
_NEARLY_WHOLE = 0.9
"""Share of the words of an element, chosen, from which on it is content as a whole."""
_GAP_CHANCE = 0.3
_REPEAT_CHANCE = 0.5
"""Chances from which on a block of such an element is content too, and one that is a repeat."""
_ROW_CHANCE = 0.2
"""Chance of each of a row of blocks between two chosen ones of a manual, which stay with them."""
_MIN_MANUAL_WORDS = 25
"""Words that a manual must have outside its menus."""
_RUNNING = ("article", "documentation")
"""Types of pages that say the same in several of their parts."""
_LEVELS = {"h1": 1, "h2": 2, "h3": 3, "h4": 4, "h5": 5, "h6": 6, "dt": 7}
"""Tags of headings and of terms, the highest first."""
_HEADING_CHANCE = 0.1
"""Chance from which on a heading may be one of the content."""
_BETWEEN_BLOCKS = 2
_BETWEEN_WORDS = 6
"""Blocks between a heading and its text, and words of each: a version, a link to the source."""


_SHORT_PAGE_WORDS = 25
"""Words up to which a page is taken whole: too few for a choice."""
_MANY_BLOCKS, _FEW_TEXTS = 100, 8
_COMMENTED = ("article", "service")
"""Where comments are no content. A page taken for a service is often an article after all."""


@dataclass(frozen=True, slots=True)
class PageChoice:
    """What of a page is its content.

    Attributes:
        chosen: for each block whether it is.
        everything: whether it began with all there is, so that only tags tell a menu.
        silent: how many parts were left out since they are not to be read aloud.
    """

    chosen: list[bool]
    everything: bool = False
    silent: int = 0


def choose(page: PageTables, chances: list[float], page_type: str) -> PageChoice:
    """For each block whether every reader of the page is shown it as its content.

    Args:
        page: its blocks and elements.
        chances: that each block is main content.
        page_type: of what type the page is thought to be.

    """
    chosen = choose_blocks(page, chances, page_type)
    words = sum(block.words for block in page.blocks)
    if words <= _SHORT_PAGE_WORDS or not any(chosen) or _is_monotonous(page):
        chosen = [True] * len(chosen)
    if page_type in _COMMENTED:
        chosen = without_comments(page, chosen)
    if page_type == "forum":
        chosen = with_post_heads(page, chosen)
    visible = visible_choice(page, chosen, page_type)
    silent = 0
    for element in page.elements:
        inside = slice(element.start, element.end)
        is_top = element.parent < 0 or not page.elements[element.parent].flags & SILENT
        if element.flags & SILENT and is_top and any(chosen[inside]) and not any(visible[inside]):
            silent += 1
    return PageChoice(visible, all(chosen), silent)


def _is_monotonous(page: PageTables) -> bool:
    """Whether a page repeats a few texts again and again, so that no part stands out."""
    blocks = page.blocks
    return len(blocks) > _MANY_BLOCKS and len({block.text for block in blocks}) <= _FEW_TEXTS


def best_set(chances: list[float], words: list[int]) -> list[bool]:
    """The set of blocks for which the expected word F1 is greatest.

    With the likeliest first, that is some number of first ones: precision falls and recall
    rises with each more, and the best place to stop depends on how sure the page is.

    Args:
        chances: that each block is main content.
        words: of each block.
    """
    chosen = [False] * len(chances)
    order = sorted(range(len(chances)), key=chances.__getitem__, reverse=True)
    wanted = sum(chance * count for chance, count in zip(chances, words, strict=True))
    hits = taken = 0.0
    best, stop = 0.0, 0
    for place, number in enumerate(order):
        hits += chances[number] * words[number]
        taken += words[number]
        score = hits / (taken + wanted)
        if score > best:
            best, stop = score, place + 1
    for number in order[:stop]:
        chosen[number] = True
    return chosen


def choose_blocks(page: PageTables, chances: list[float], page_type: str = "") -> list[bool]:
    """For each block whether it is main content, as its chance and the elements around it say."""
    words = [block.words for block in page.blocks]
    single = without_repeats(page, chances, again=page_type in _RUNNING)
    chosen = with_gaps(page, chances, best_set(single, words))
    if page_type != "documentation":
        return chosen
    return with_headings(page, chances, without_menus(page, with_rows(chances, chosen)))


def without_repeats(page: PageTables, chances: list[float], *, again: bool = False) -> list[float]:
    """The same chances, but none for a text that is shown before and comes again elsewhere.

    What stands twice is there for two widths of screen, or for a slide show that goes round. A
    text that comes again among the same siblings is a refrain; cells and code repeat themselves
    for good reasons, and a heading may have stood in a table of contents that is not shown.

    Args:
        page: its blocks.
        chances: that each is main content.
        again: whether a text may come again beside new ones, as what a manual says of a
            parameter does under each function that has it.
    """
    likely = best_set(chances, [block.words for block in page.blocks])
    seen: dict[str, int] = {}
    repeats: list[int] = []
    for number, block in enumerate(page.blocks):
        element = page.elements[block.element]
        if block.words >= _PHRASE_WORDS and element.tag not in _REPEATING:
            parent = seen.get(block.text)
            if parent is not None and parent != element.parent:
                repeats.append(number)
            elif likely[number]:
                seen[block.text] = element.parent
    wanted = _beside_new(page, repeats) if again and repeats else frozenset()
    result = chances.copy()
    for number in repeats:
        if number not in wanted or chances[number] < _REPEAT_CHANCE:
            result[number] = 0.0
    return result


def _beside_new(page: PageTables, repeats: list[int]) -> frozenset[int]:
    """Those of the repeats in whose parent a tenth of the words, or more, are no repeats."""
    known, words, new = frozenset(repeats), [0], [0]
    for number, block in enumerate(page.blocks):
        words.append(words[-1] + block.words)
        new.append(new[-1] + block.words * (number not in known))
    wanted = set()
    for number in repeats:
        parent = page.elements[max(0, page.elements[page.blocks[number].element].parent)]
        fresh = new[parent.end] - new[parent.start]
        if fresh > (1 - _NEARLY_WHOLE) * (words[parent.end] - words[parent.start]):
            wanted.add(number)
    return frozenset(wanted)


def with_gaps(page: PageTables, chances: list[float], chosen: list[bool]) -> list[bool]:
    """The same choice, and what it left out of elements that are content nearly as a whole.

    One limit for a page drops paragraphs, code and the end out of a long text, and what its
    parts say again. Links and what is unlikely stay out.
    """
    words, taken = [0], [0]
    for block, own in zip(page.blocks, chosen, strict=True):
        words.append(words[-1] + block.words)
        taken.append(taken[-1] + own * block.words)
    known = {block.text for block, own in zip(page.blocks, chosen, strict=True) if own}
    result, done = chosen.copy(), 0
    for element in page.elements:
        inside = words[element.end] - words[element.start]
        if (
            element.end <= done
            or not inside
            or (taken[element.end] - taken[element.start] < _NEARLY_WHOLE * inside)
        ):
            continue
        done = element.end
        for number in range(element.start, element.end):
            block = page.blocks[number]
            if block.words >= _PHRASE_WORDS and block.text in known:
                limit = _REPEAT_CHANCE
            else:
                limit = _GAP_CHANCE if 2 * block.link_chars < len(block.text) else 1.0
            result[number] = result[number] or chances[number] >= limit
    return result


def with_rows(chances: list[float], chosen: list[bool]) -> list[bool]:
    """The same choice with each row of blocks between two chosen ones in which none is unlikely.

    A list of modules or options, all alike, is not cut where the chances of its entries differ
    by little, and its links are content.
    """
    result, last = chosen.copy(), -1
    for number, own in enumerate(chosen):
        if own:
            if last >= 0:
                result[last:number] = [True] * (number - last)
            last = number
        elif chances[number] < _ROW_CHANCE:
            last = -1
    return result


def without_menus(page: PageTables, chosen: list[bool]) -> list[bool]:
    """The same choice without menus, where there is something else.

    A `nav` inside `main` or `article` is a table of contents that a reader sees there.
    """
    result = [
        own and page.elements[block.element].flags & (NAV | MAIN | ARTICLE) != NAV
        for block, own in zip(page.blocks, chosen, strict=True)
    ]
    return result if _words(page, result) >= _MIN_MANUAL_WORDS else chosen


def with_headings(page: PageTables, chances: list[float], chosen: list[bool]) -> list[bool]:
    """The same choice, with the headings and terms of what was chosen."""
    tags = [page.elements[block.element].tag for block in page.blocks]
    result = chosen.copy()
    for number in range(len(result) - 2, -1, -1):
        if not result[number] and tags[number] in _LEVELS and chances[number] >= _HEADING_CHANCE:
            place = _next_chosen(page, result, number)
            # One that another of its level follows at once has no text of its own.
            below = _LEVELS.get(tags[place], 8) if place else 0
            result[number] = below > _LEVELS[tags[number]]
    return result


def _next_chosen(page: PageTables, chosen: list[bool], number: int) -> int:
    """The block with which what was chosen goes on at once after another, or soon after; or 0."""
    for at in range(number + 1, min(number + 2 + _BETWEEN_BLOCKS, len(chosen))):
        if chosen[at]:
            return at
        if page.blocks[at].words > _BETWEEN_WORDS:
            break
    return 0


# Comments of readers under an article, found by the names of the parts that hold them.

_COMMENTS = re.compile(
    r"(?:^|[\s_-])(?:comments?(?:[_-]?(?:list|area|section|block|container|thread|wrap(?:per)?))?"
    r"|commentlist|usercomments|disqus_thread|respond)(?:$|\s)",
    re.IGNORECASE,
)
_WHOLE = ("body", "main")
_MIN_WORDS_LEFT = 60
"""Words that must be left for the comments to be taken for a part of an article."""
_MIN_SHARE_LEFT = 0.2
"""Share of the chosen words that must be left; where comments are nearly all, they are the page."""


def without_comments(page: PageTables, chosen: list[bool]) -> list[bool]:
    """The same choice for an article, without its comments."""
    names = {element.name for element in page.elements}
    named = {name for name in names if _may_be_of_comments(name) and _COMMENTS.search(name)}
    if not named:
        return chosen
    marked: list[bool] = []
    for element in page.elements:
        above = element.parent >= 0 and marked[element.parent]
        marked.append(above or (element.name in named and element.tag not in _WHOLE))
    left = [
        taken and not marked[block.element]
        for taken, block in zip(chosen, page.blocks, strict=True)
    ]
    needed = max(_MIN_WORDS_LEFT, _MIN_SHARE_LEFT * _words(page, chosen))
    return left if _words(page, left) >= needed else chosen


def _may_be_of_comments(name: str) -> bool:
    """Whether a name holds one of the words at all: a quick test."""
    low = name.lower()
    return "comment" in low or "respond" in low or "disqus_thread" in low


# What every reader of the page is shown of a choice.

MIN_LINKED_SHARE = 0.6
"""Share of its text in links from which an element with the name of a menu is one."""
MENU_NAMES = frozenset(
    (
        *("sidebar", "side-bar", "toc", "table-of-contents", "menu", "main-menu", "navbar"),
        *("nav-menu", "breadcrumb", "breadcrumbs", "pagination", "pager", "page-numbers"),
    )
)
_MAX_HIDDEN_SHARE = 0.5
_MAX_SILENT_SHARE = 0.1
"""Shares of the content above which a mark that says "not for readers" is not believed."""
_MAX_COMPARED_ANCHORS = 20
"""Links by which two texts that read alike are distinguished."""
_MIN_ROW_SHARE = 0.5
"""Share of its words from which a row is kept whole."""
_MAX_ROW_WORDS = 80
"""Words of a row; one with more is there for the layout."""


def visible_choice(page: PageTables, chosen: list[bool], page_type: str = "") -> list[bool]:
    """The same choice with rows whole, without menus and what is not meant for all readers.

    Where only menus were chosen, it is all the rest.

    What `noscript` holds is for browsers without scripts. What is not to be read aloud is an
    icon or stands there twice; where it is much, it is tabs or slides.
    """
    everything = all(chosen)
    share = _MAX_HIDDEN_SHARE if everything else _MAX_SILENT_SHARE
    result = _without(page, chosen, NOSCRIPT, _MAX_HIDDEN_SHARE)
    result = _without(page, result, SILENT, share)
    result = with_whole_rows(page, with_other_links(page, result))
    menus = in_menus(page, page_type, everything=everything)
    without = [own and not menu for own, menu in zip(result, menus, strict=True)]
    if any(without):
        return without
    rest = [not menu for menu in in_menus(page, page_type, everything=True)]
    return rest if any(rest) else result


def in_menus(page: PageTables, page_type: str = "", *, everything: bool = False) -> list[bool]:
    """For each block whether it is one of a menu.

    A menu is one by its tag or role, or by its name if it is mostly links and not most of the
    page. In a manual, one inside `main` or `article` is a table of contents.

    Args:
        page: its blocks.
        page_type: of what type it is thought to be.
        everything: whether all of the page was chosen, so that tags have to decide: its foot
            and `noscript` count too.
    """
    chars, linked = [0], [0]
    for block in page.blocks:
        chars.append(chars[-1] + len(block.text))
        linked.append(linked[-1] + block.link_chars)
    inside = MAIN | ARTICLE if page_type == "documentation" else 0
    result = [False] * len(page.blocks)
    for element in page.elements:
        size = chars[element.end] - chars[element.start]
        if not size or result[element.start]:
            continue
        is_menu = element.flags & (NAV | inside) == NAV
        if (
            not is_menu
            and 2 * size <= chars[-1]
            and not MENU_NAMES.isdisjoint(element.name.lower().split())
        ):
            is_menu = linked[element.end] - linked[element.start] >= MIN_LINKED_SHARE * size
        is_foot = element.tag == "footer" and not element.parent
        if is_menu or (everything and (element.flags & NOSCRIPT or is_foot)):
            result[element.start : element.end] = [True] * (element.end - element.start)
    return result


def _without(page: PageTables, chosen: list[bool], flag: int, max_share: float) -> list[bool]:
    """The same choice without elements of a flag, where they are no more than that share of it."""
    result = [
        own and not page.elements[block.element].flags & flag
        for block, own in zip(page.blocks, chosen, strict=True)
    ]
    total = _words(page, chosen)
    return result if total - _words(page, result) <= max_share * total else chosen


def with_other_links(page: PageTables, chosen: list[bool]) -> list[bool]:
    """The same choice, and what was taken for the same again though it leads elsewhere."""
    result = chosen.copy()
    seen: dict[str, set[tuple[str, ...]]] = {}
    # A heading or a name that leads somewhere, over each of many posts, is not meant.
    linked = [n for n, b in enumerate(page.blocks) if 0 < 2 * b.link_chars < len(b.text)]
    targets = {number: _targets(page.elements[page.blocks[number].element]) for number in linked}
    for number in linked:
        if chosen[number]:
            seen.setdefault(page.blocks[number].text, set()).add(targets[number])
    for number in linked:
        known = seen.get(page.blocks[number].text)
        if not chosen[number] and known is not None and targets[number] not in known:
            known.add(targets[number])
            result[number] = True
    return result


def with_whole_rows(page: PageTables, chosen: list[bool]) -> list[bool]:
    """The same choice, and the rest of each row of which it is most: a row lies without it."""
    result = chosen.copy()
    for element in page.elements:
        inside = slice(element.start, element.end)
        if element.tag == "tr" and any(result[inside]) and not all(result[inside]):
            words = [block.words for block in page.blocks[inside]]
            known = sum(compress(words, result[inside]))
            if sum(words) <= _MAX_ROW_WORDS and known >= _MIN_ROW_SHARE * sum(words):
                result[inside] = [True] * len(words)
    return result


def _targets(element: Element) -> tuple[str, ...]:
    anchors = element.node.find_all("a", limit=_MAX_COMPARED_ANCHORS)
    return tuple(anchor.attr("href") or "" for anchor in anchors)


def _words(page: PageTables, taken: list[bool]) -> int:
    """The words of the blocks that are taken."""
    return sum(compress((block.words for block in page.blocks), taken))
