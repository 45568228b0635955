"""What of a page that the reader chose is shown: no menus, and not too little of it."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from itertools import compress
from typing import TYPE_CHECKING

from toolcrib.web.conversion.document import Choice

if TYPE_CHECKING:
    from turbohtml import Element

    from toolcrib.documents.reader.extraction import Reading
    from toolcrib.documents.reader.tree import Element as Part

LARGE = "it is too large to choose from"
UNSURE = "little main content was found"
NOTHING = "no main content was found"
LITTLE = 60
"""Words of main content below which a page that has much more is shown whole."""
MUCH = 4
"""So many times more."""
MOST_ANCHORS = 20
"""Links by which two texts that read alike are told apart."""
MOST_IN_ROW = 80
"""Words of a row; one with more is there for the layout."""
MOST = 0.5
FEW = 0.1
"""Shares of the content above which a mark that says "not for readers" is not believed."""


def choice_of(reading: Reading, menus: Collection[Element], *, everything: bool) -> Choice:
    """Take menus out of what was chosen; all of the page where that says much more.

    Args:
        reading: the page.
        menus: elements of it.
        everything: whether the reader told nothing apart: then tags have to.
    """
    from toolcrib.documents.reader.tags import NAV, NOSCRIPT

    page = reading.page
    known = set(menus)
    chosen = _with_links(reading)
    in_menus = [False] * len(chosen)
    for element in page.elements:
        around = element.flags & (NAV | NOSCRIPT) or (
            element.tag == "footer" and not element.parent
        )
        if element.node in known or (everything and around):
            size = element.end - element.start
            chosen[element.start : element.end] = [False] * size
            in_menus[element.start : element.end] = [True] * size
    words = [block.words for block in page.blocks]
    kept = _sum(words, chosen)
    left = sum(words) - kept - _sum(words, in_menus)
    if reading.data:
        told = len(reading.data.split())
        return Choice("data", True, page_type=reading.page_type, words=kept + told, left=left)
    if not kept or (kept < LITTLE and left > MUCH * kept + LITTLE):
        return Choice(reason=UNSURE if kept else NOTHING)
    reading.choose(chosen)
    return Choice("main", True, page_type=reading.page_type, words=kept, left=left)


def hide_from_all(reading: Reading) -> int:
    """Take out what is not for all readers, unless it is too much of the content for that.

    What `noscript` holds is for browsers without scripts. What is not to be read aloud is an
    icon or stands there twice; where it is much, it is tabs or slides.

    Returns:
        how many parts with text are not to be read aloud.
    """
    from toolcrib.documents.reader.tags import NOSCRIPT

    elements = reading.page.elements
    silent = [e for e in elements if (e.node.attr("aria-hidden") or "").lower() == "true"]
    silent = [e for e in silent if any(reading.chosen[e.start : e.end])]
    _drop(reading, [e for e in elements if e.flags & NOSCRIPT], MOST)
    return len(silent) if _drop(reading, silent, MOST if all(reading.chosen) else FEW) else 0


def _drop(reading: Reading, elements: Collection[Part], most: float) -> bool:
    """Whether elements could be left out: they are no more than that share of the content."""
    if not elements:
        return True
    chosen = list(reading.chosen)
    for element in elements:
        chosen[element.start : element.end] = [False] * (element.end - element.start)
    words = [block.words for block in reading.page.blocks]
    total = _sum(words, reading.chosen)
    if total - _sum(words, chosen) > most * total:
        return False
    reading.choose(chosen)
    return True


def _with_links(reading: Reading) -> list[bool]:
    """What was chosen, and what the reader took for the same again though it leads elsewhere."""
    page, chosen = reading.page, list(reading.chosen)
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
            chosen[number] = True
    return _with_rows(reading, chosen)


def _with_rows(reading: Reading, chosen: list[bool]) -> list[bool]:
    """What was chosen, and the rest of each row of which that is most: a row lies without it."""
    blocks = reading.page.blocks
    for element in reading.page.elements:
        inside = slice(element.start, element.end)
        if element.tag == "tr" and any(chosen[inside]) and not all(chosen[inside]):
            words = [block.words for block in blocks[inside]]
            if sum(words) <= MOST_IN_ROW and _sum(words, chosen[inside]) >= MOST * sum(words):
                chosen[inside] = [True] * len(words)
    return chosen


def _targets(element: Part) -> tuple[str, ...]:
    anchors = element.node.find_all("a", limit=MOST_ANCHORS)
    return tuple(anchor.attr("href") or "" for anchor in anchors)


def is_disguised(reading: Reading) -> bool:
    """Whether most of the content is marked as hidden, and a script would show it."""
    from toolcrib.documents.reader.hidden import visibility
    from toolcrib.documents.reader.tags import HIDDEN

    page = reading.page
    words = [block.words for block in page.blocks]
    total = _sum(words, reading.chosen)
    for element in page.elements:
        above = page.elements[element.parent].flags if element.parent >= 0 else 0
        if element.flags & HIDDEN and not above & HIDDEN and visibility(element.node) == "hidden":
            inside = range(element.start, element.end)
            if sum(words[n] for n in inside if reading.chosen[n]) > MOST * total:
                return True
    return visibility(page.elements[0].node) == "hidden"


def _sum(words: Iterable[int], taken: Iterable[bool]) -> int:
    return sum(compress(words, taken))
