"""Which blocks are the main content, by their probabilities."""

from __future__ import annotations

from toolcrib.documents.reader import tags
from toolcrib.documents.reader.tree import Element, Page

_PHRASE = 4
"""Words from which a text is not there twice by chance."""
_SHOWN = "img, iframe, video, audio, math, input"
"""They are seen though they have no text."""
_REPEATING = ("td", "th")
_FORMULA = frozenset({
    "annotation", "annotation-xml", "maction", "menclose", "merror", "mfenced", "mfrac", "mi",
    "mmultiscripts", "mn", "mo", "mover", "mpadded", "mphantom", "mroot", "mrow", "ms", "mspace",
    "msqrt", "mstyle", "msub", "msubsup", "msup", "mtable", "mtd", "mtext", "mtr", "munder",
    "munderover", "semantics",
})  # fmt: skip
"""What stands inside a `math` element."""
_OPENED = ("noscript", "dialog")
"""Their text is left out of the Markdown, unless it was chosen."""


def best_set(chances: list[float], words: list[int], *, known: float = 1.0) -> list[bool]:
    """The set of blocks for which the expected word F1 is greatest.

    With the likeliest first, that is some number of first ones: precision falls and recall
    rises with each more, and the best place to stop depends on how sure the page is.

    Args:
        chances: that each block is main content.
        words: of each block.
        known: weight of the words that are expected to be wanted in all.
    """
    chosen = [False] * len(chances)
    order = sorted(range(len(chances)), key=chances.__getitem__, reverse=True)
    wanted = known * sum(chance * count for chance, count in zip(chances, words, strict=True))
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


def once(page: Page, chances: list[float]) -> list[float]:
    """The same chances, but none for a text that the page has had before.

    What stands twice is there for two widths of screen, or for a slide show that goes round.
    Cells and code repeat themselves for good reasons. Code is as likely as the paragraphs that
    it stands between: its words say little.
    """
    seen: set[str] = set()
    result = chances.copy()
    elements = page.elements
    for number, block in enumerate(page.blocks):
        tag = elements[block.element].tag
        if tag == "pre":
            result[number] = max(chances[number], _between(page, chances, number))
        elif block.words >= _PHRASE and tag not in _REPEATING:
            if block.text in seen:
                result[number] = 0.0
            seen.add(block.text)
    return result


def _between(page: Page, chances: list[float], number: int) -> float:
    """The lesser chance of the two blocks around one, where all three are siblings."""
    if not 0 < number < len(chances) - 1:
        return 0.0
    around = (number - 1, number, number + 1)
    parents = {page.elements[page.blocks[one].element].parent for one in around}
    return min(chances[number - 1], chances[number + 1]) if len(parents) == 1 else 0.0


def with_formulas(page: Page, chosen: list[bool]) -> list[bool]:
    """The same choice, but of each formula all or nothing.

    A formula is many small blocks, none of which says anything alone: it is kept with its
    paragraph, or with what stands on both sides of it.
    """
    formulas = {tag for tag in {element.tag for element in page.elements} if _is_formula(tag)}
    if not formulas:
        return chosen
    inside = [page.elements[block.element].tag in formulas for block in page.blocks]
    result = chosen.copy()
    start = 0
    while start < len(inside):
        end = start + 1
        if inside[start]:
            while end < len(inside) and inside[end]:
                end += 1
            wanted = any(chosen[start:end]) or _goes_on(page, chosen, start, end)
            result[start:end] = [wanted] * (end - start)
        start = end
    return result


def _is_formula(tag: str) -> bool:
    return tag in _FORMULA or tag.startswith("mjx-")


def _goes_on(page: Page, chosen: list[bool], start: int, end: int) -> bool:
    """Whether the blocks around some of a formula are chosen: both, or one in its paragraph."""
    index = page.blocks[start].element
    while index > 0 and _is_formula(page.elements[index].tag):
        index = page.elements[index].parent
    around = [number for number in (start - 1, end) if 0 <= number < len(chosen)]
    taken = [number for number in around if chosen[number]]
    return len(taken) == 2 or any(page.blocks[number].element == index for number in taken)


def drop_rest(page: Page, chosen: list[bool]) -> None:
    """Take out of the tree what was not chosen; the page's nodes are not to be used after."""
    before = [0]
    for taken in chosen:
        before.append(before[-1] + taken)
    gone: set[int] = set()
    for index, element in enumerate(page.elements):
        if element.parent in gone:
            gone.add(index)
        elif not index or before[element.end] > before[element.start]:
            if element.tag in _OPENED:
                element.node.tag = "div"
        elif element.flags & tags.FOLDED or not _stays(element, chosen):
            gone.add(index)
            element.node.extract()
    for node in page.hidden:
        node.extract()
    _drop_texts(page, chosen, gone)


def _drop_texts(page: Page, chosen: list[bool], gone: set[int]) -> None:
    """Take out the texts that were not chosen in elements that stay."""
    for number, block in enumerate(page.blocks):
        if not chosen[number] and block.element not in gone:
            top = page.elements[block.element].node
            for node in block.nodes:
                _drop_text(node, top)


def _stays(element: Element, chosen: list[bool]) -> bool:
    """Whether an element without text is part of what is chosen on both sides, or of a formula."""
    place = element.start
    if place < element.end:
        return False
    if _is_formula(element.tag):
        return True
    return 0 < place < len(chosen) and chosen[place - 1] and chosen[place]


def _drop_text(node: object, top: object) -> None:
    """A text node, with the inline elements that hold nothing else."""
    parent = getattr(node, "parent", None)
    node.extract()  # type: ignore[attr-defined]
    while parent is not None and parent is not top and not parent.text.strip():
        above = parent.parent
        if parent.select_one(_SHOWN) is None:
            parent.extract()
        parent = above
