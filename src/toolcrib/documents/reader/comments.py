"""What readers wrote under an article, by the names of the parts that hold it."""

from __future__ import annotations

import re

from toolcrib.documents.reader.tree import Page

_COMMENTS = re.compile(
    r"(?:^|[\s_-])(?:comments?(?:[_-]?(?:list|area|section|block|container|thread|wrap(?:per)?))?"
    r"|commentlist|usercomments|disqus_thread|respond)(?:$|\s)",
    re.IGNORECASE,
)
_WHOLE = ("body", "main")
_LEAST = 60
"""Words that must be left for the comments to be taken for a part of an article."""
_SHARE = 0.2
"""Share of the chosen words that must be left; where comments are nearly all, they are the page."""


def without_comments(page: Page, chosen: list[bool]) -> list[bool]:
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
    return left if after >= max(_LEAST, _SHARE * before) else chosen


def _may_be_of_comments(name: str) -> bool:
    """Whether a name holds one of the words at all, which is quick to tell."""
    low = name.lower()
    return "comment" in low or "respond" in low or "disqus_thread" in low
