"""Which blocks are the main content, by their probabilities."""

from __future__ import annotations

from toolcrib.kit.reader.tree import Page

_PHRASE = 4
"""Words from which a text is not there twice by chance."""
_REPEATING = ("td", "th", "pre")


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
    Cells and code repeat themselves for good reasons.
    """
    seen: set[str] = set()
    result = chances.copy()
    for number, block in enumerate(page.blocks):
        if block.words >= _PHRASE and page.elements[block.element].tag not in _REPEATING:
            if block.text in seen:
                result[number] = 0.0
            seen.add(block.text)
    return result


def drop_rest(page: Page, chosen: list[bool]) -> None:
    """Take out of the tree what was not chosen; the page's nodes are not to be used after."""
    before = [0]
    for taken in chosen:
        before.append(before[-1] + taken)
    gone: set[int] = set()
    for index, element in enumerate(page.elements):
        if element.parent in gone:
            gone.add(index)
        elif index and not before[element.end] - before[element.start]:
            if element.start == element.end and _is_between(chosen, element.start):
                continue
            gone.add(index)
            element.node.extract()
    for node in page.hidden:
        node.extract()
    for number, block in enumerate(page.blocks):
        if not chosen[number] and block.element not in gone:
            top = page.elements[block.element].node
            for node in block.nodes:
                _drop_text(node, top)


def _is_between(chosen: list[bool], place: int) -> bool:
    """Whether what is chosen goes on across a place, so that a picture there belongs to it."""
    return 0 < place < len(chosen) and chosen[place - 1] and chosen[place]


def _drop_text(node: object, top: object) -> None:
    """A text node, with the inline elements that hold nothing else."""
    parent = getattr(node, "parent", None)
    node.extract()  # type: ignore[attr-defined]
    while parent is not None and parent is not top and not parent.text.strip():
        above = parent.parent
        if parent.find("img") is None:
            parent.extract()
        parent = above
