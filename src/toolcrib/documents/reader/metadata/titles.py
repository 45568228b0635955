"""The title of a page, from its title element, without the name of the site where it shows.

A title element holds several titles in a row, "Article | Section | Site" or "Site: Article".
Which part is the article's is decided by separators and numbers of words; where that leaves
too little, the whole stands.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from toolcrib.documents.reader.metadata.phrases import line, text_of

if TYPE_CHECKING:
    from turbohtml import Document as Tree

MAX_TITLE = 500
_MAX_HEADINGS = 200
_SEPARATORS = re.escape("|-\u2013\u2014\\/>\u00bb")
_SEPARATOR = re.compile(rf"\s[{_SEPARATORS}]\s")
_FIRST_PART = re.compile(rf"^[^{_SEPARATORS}]*[{_SEPARATORS}]")
# A path of sections rather than a title with its site.
_PATH = re.compile(r"\s[\\/>»]\s")
_SPACE = re.compile(r"\s+")
_FEW_WORDS = 4
_LONG, _SHORT = 150, 15
"""Characters of titles that are taken for a list of keywords, or for too little."""


def whole_title(tree: Tree) -> str:
    """The text of the page's title element, on one line."""
    from turbohtml import Namespace

    for element in tree.find_all("title")[:20]:
        if element.namespace is Namespace.HTML:
            return line(element.text, MAX_TITLE)
    return ""


def document_title(tree: Tree, whole: str) -> str:
    """The part of `whole`, the text of the title element, that names this page."""
    separators = list(_SEPARATOR.finditer(whole))
    title, path = whole, False
    if separators:
        path = bool(_PATH.search(whole))
        title = whole[: separators[-1].start()]
        if _words(title) < 3:
            title = _FIRST_PART.sub("", whole)
    elif ": " in whole:
        if not _has_heading(tree, whole):
            title = _after_colon(whole)
    elif not _SHORT <= len(whole) <= _LONG:
        title = _only_heading(tree) or whole
    title = title.strip()
    count = _words(title)
    if count <= _FEW_WORDS:
        joined = _words(_SEPARATOR.sub("", whole))
        if not path or count != joined - 1:
            return whole
    return title


def _words(text: str) -> int:
    """Pieces between white space; a space at the start counts as a word before it.

    The limits on words are those of reader modes, which count so.
    """
    return len(_SPACE.split(text))


def _after_colon(whole: str) -> str:
    """What follows a colon; the whole where much stands before it."""
    before, _, after = whole.partition(":")
    last = whole.rpartition(":")[2]
    if _words(last) < 3:
        return after
    return whole if _words(before) > 5 else last


def _has_heading(tree: Tree, title: str) -> bool:
    """Whether a main heading says just this, colon and all."""
    for tag in ("h1", "h2"):
        for heading in tree.find_all(tag)[:_MAX_HEADINGS]:
            # White space inside it counts: reader modes compare the texts as they stand.
            if text_of(heading, 2 * MAX_TITLE).strip() == title:
                return True
    return False


def _only_heading(tree: Tree) -> str:
    """The main heading of a page that has one."""
    headings = tree.find_all("h1")[:2]
    return line(text_of(headings[0], 2 * MAX_TITLE), MAX_TITLE) if len(headings) == 1 else ""
