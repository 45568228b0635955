"""The choice of the blocks that are main content, from their probabilities, and their text."""

from __future__ import annotations

import re

from toolcrib.documents.reader.tree import FOLDED, Element, PageTables

_PHRASE_WORDS = 4
"""Words from which a text is not there twice by chance."""
_VISIBLE_MEDIA = "img, iframe, video, audio, math, input"
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


def without_repeats(page: PageTables, chances: list[float]) -> list[float]:
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
        elif block.words >= _PHRASE_WORDS and tag not in _REPEATING:
            if block.text in seen:
                result[number] = 0.0
            seen.add(block.text)
    return result


def _between(page: PageTables, chances: list[float], number: int) -> float:
    """The lesser chance of the two blocks around one, where all three are siblings."""
    if not 0 < number < len(chances) - 1:
        return 0.0
    around = (number - 1, number, number + 1)
    parents = {page.elements[page.blocks[one].element].parent for one in around}
    return min(chances[number - 1], chances[number + 1]) if len(parents) == 1 else 0.0


def with_whole_formulas(page: PageTables, chosen: list[bool]) -> list[bool]:
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


def _goes_on(page: PageTables, chosen: list[bool], start: int, end: int) -> bool:
    """Whether the blocks around some of a formula are chosen: both, or one in its paragraph."""
    index = page.blocks[start].element
    while index > 0 and _is_formula(page.elements[index].tag):
        index = page.elements[index].parent
    around = [number for number in (start - 1, end) if 0 <= number < len(chosen)]
    taken = [number for number in around if chosen[number]]
    return len(taken) == 2 or any(page.blocks[number].element == index for number in taken)


def drop_rest(page: PageTables, chosen: list[bool]) -> None:
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
        elif element.flags & FOLDED or not _stays(element, chosen):
            gone.add(index)
            element.node.extract()
    for node in page.hidden:
        node.extract()
    _drop_texts(page, chosen, gone)


def _drop_texts(page: PageTables, chosen: list[bool], gone: set[int]) -> None:
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
        if parent.select_one(_VISIBLE_MEDIA) is None:
            parent.extract()
        parent = above


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
    before = sum(block.words for block, taken in zip(page.blocks, chosen, strict=True) if taken)
    after = sum(block.words for block, taken in zip(page.blocks, left, strict=True) if taken)
    return left if after >= max(_MIN_WORDS_LEFT, _MIN_SHARE_LEFT * before) else chosen


def _may_be_of_comments(name: str) -> bool:
    """Whether a name holds one of the words at all: a quick test."""
    low = name.lower()
    return "comment" in low or "respond" in low or "disqus_thread" in low


_CELLS = ("td", "th")


def plain_text(page: PageTables, chosen: list[bool]) -> str:
    """The text: cells of a row side by side, items of a list on lines, the rest apart."""
    parts: list[str] = []
    last = -1
    for number, block in enumerate(page.blocks):
        if not chosen[number]:
            continue
        if parts:
            parts.append(_gap(page, last, block.element))
        starts_item = page.elements[block.element].tag == "li" and block.element != last
        parts.append(f"- {block.text}" if starts_item else block.text)
        last = block.element
    return "".join(parts)


def _gap(page: PageTables, last: int, this: int) -> str:
    """What stands between the texts of two elements."""
    before, after = page.elements[last], page.elements[this]
    if before.tag in _CELLS and after.tag in _CELLS:
        return "\t" if before.parent == after.parent and last != this else "\n"
    if before.tag == after.tag == "li" or (before.tag, after.tag) == ("dt", "dd"):
        return "\n"
    return "\n\n"
