"""Who wrote each post of a thread, and when: too short to be chosen for their words."""

from __future__ import annotations

import re

from toolcrib.documents.reader.tree import Element, PageTables

_NAME_OF = re.compile(
    r"author|user|poster|creator|byline|nick|(?:message|member)-?name", re.IGNORECASE
)
_TIME_OF = re.compile(r"date|time|posted|ago\b", re.IGNORECASE)
_MAX_HEAD_WORDS = 8
_MIN_HEAD_WORDS = 4
"""Words from which on a text counts once on a page."""
_MIN_TEXT_WORDS = 6
"""Words of a block that may be what a post says."""
_MIN_POSTS = 3
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
_DIGITS = re.compile(r"\d+")


def with_post_heads(page: PageTables, chosen: list[bool]) -> list[bool]:
    """The same choice for a thread, with the author and date of each chosen post."""
    alike: dict[tuple[str, str], list[Element]] = {}
    for element in page.elements:
        if element.name and element.end - element.start > 1:
            alike.setdefault((element.tag, _DIGITS.sub("", element.name)), []).append(element)
    found = list(chosen)
    for posts in alike.values():
        written = [p for p in posts if _has_text(page, chosen, p)]
        if len(written) >= _MIN_POSTS and 2 * len(written) > len(posts):
            for post in written:
                _take_head(page, found, post)
            _take_same_heads(page, found, written)
    return found


def _has_text(page: PageTables, chosen: list[bool], post: Element) -> bool:
    blocks = range(post.start, post.end)
    return any(chosen[at] and page.blocks[at].words >= _MIN_TEXT_WORDS for at in blocks)


def _take_head(page: PageTables, chosen: list[bool], post: Element) -> None:
    """Choose the first name and the first date of a post."""
    for pattern in (_NAME_OF, _TIME_OF):
        places = [at for at in range(post.start, post.end) if _says(page, at, post, pattern)]
        if places and not any(chosen[at] for at in places):
            chosen[places[0]] = True


def _take_same_heads(page: PageTables, chosen: list[bool], posts: list[Element]) -> None:
    """Choose a line of name and date in each post that one of the others is chosen with.

    Two posts of one person on one day have the same, which counts once elsewhere.
    """
    heads = [at for post in posts for at in range(post.start, post.end) if _is_head(page, at)]
    known = {page.blocks[at].text for at in heads if chosen[at]}
    for at in heads:
        chosen[at] = chosen[at] or page.blocks[at].text in known


def _is_head(page: PageTables, at: int) -> bool:
    block = page.blocks[at]
    return _MIN_HEAD_WORDS <= block.words <= _MAX_HEAD_WORDS and bool(_YEAR.search(block.text))


def _says(page: PageTables, at: int, post: Element, pattern: re.Pattern[str]) -> bool:
    """Whether a short block within a post stands in something of such a name."""
    block = page.blocks[at]
    if not block.words or block.words > _MAX_HEAD_WORDS:
        return False
    if pattern.search(block.inline_name) or (pattern is _TIME_OF and block.inline == "time"):
        return True
    number = block.element
    while number >= 0 and page.elements[number].start >= post.start:
        element = page.elements[number]
        if element is post:
            return False
        if pattern.search(element.name) or (pattern is _TIME_OF and element.tag == "time"):
            return True
        number = element.parent
    return False
