"""Who wrote a page, as the page shows it: the first short text that is marked as the author's."""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING

from toolcrib.documents.reader.metadata.phrases import line, phrase, text_of
from toolcrib.documents.reader.metadata.places import Places

if TYPE_CHECKING:
    from turbohtml import Document as Tree
    from turbohtml import Element

MAX_BYLINE = 300
_MAX_TEXT = 99
"""Characters of a shown byline, white space inside it included."""
_MAX_READ = 1_200
"""Characters of a marked element that are read: much of them may be white space."""
_MAX_CANDIDATES = 150
_WORDS = ("byline", "author", "dateline", "writtenby")
"""In a class or an id ("p-author" too) they mark a byline."""
_MARKED = ",".join((
    "[rel~=author]", "[itemprop*=author]",
    *(f"[{name}*={word} i]" for name in ("class", "id") for word in _WORDS),
))  # fmt: skip
_ADDRESS = re.compile(r"\s*(?:https?:)?//|\s*www\.|\s*mailto:", re.IGNORECASE)
_LABEL = re.compile(
    r"\W*(?:(?:written |posted )?by|(?:about |follow )?(?:the |topic |our )?authors?|full bio"
    r"|author bio|original poster|(?:about|contributors?|editors?))?\W*",
    re.IGNORECASE,
)
_NOBODY = re.compile(
    r"undefined|null|none|admin|administrator|@?handle|\d+|\{\{.*|%.*%", re.IGNORECASE
)
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
_USER = ".username,.bigusername,.PostUser-name"
"""Forums name their writers so."""


def author_name(text: str) -> str:
    """The text as a name, or nothing if it is an address or what a template left."""
    name = phrase(text, MAX_BYLINE).strip(" ,;")
    if _ADDRESS.match(name) or _NOBODY.fullmatch(name) or _LABEL.fullmatch(name):
        return ""
    return name


def candidates(tree: Tree) -> list[Element]:
    """The elements that are marked as a byline, in the order of the page."""
    return tree.select(_MARKED)[:_MAX_CANDIDATES]


def shown_byline(marked: list[Element], places: Places) -> str:
    """The byline that reader modes show: the first one outside of what they drop."""
    for element in marked:
        if not _is_marked(element):
            continue
        text = text_of(element, _MAX_READ).strip()
        if 0 < len(text) <= _MAX_TEXT and places.is_shown(element):
            name = line(_inner_name(element) or text, MAX_BYLINE)
            if not _LABEL.fullmatch(name):
                return name
    return ""


def likely_byline(marked: list[Element], places: Places) -> str:
    """A byline in a page's header and the like, where reader modes do not look."""
    for element in marked:
        text = line(text_of(element, _MAX_READ) or element.attr("content") or "", MAX_BYLINE)
        if 0 < len(text) <= _MAX_TEXT and not _YEAR.search(text) and places.is_own(element):
            name = author_name(_inner_name(element) or text)
            if name:
                return name
    return ""


def user_byline(tree: Tree, places: Places) -> str:
    """The name of the first user that is shown, as forums mark them."""
    users = (user for user in tree.select(_USER)[:_MAX_CANDIDATES] if places.is_own(user))
    return next(filter(None, (author_name(text_of(user, _MAX_TEXT)) for user in users)), "")


def _is_marked(element: Element) -> bool:
    """Whether reader modes know the mark: `rel` must be the one word."""
    if element.attr("rel") == "author" or "author" in (element.attr("itemprop") or ""):
        return True
    name = f"{element.attr('class') or ''} {element.attr('id') or ''}".lower()
    return any(word in name for word in _WORDS)


def _inner_name(element: Element) -> str:
    """The name inside a byline, if its microdata tell which part that is."""
    for part in islice(element.select("[itemprop*=name]"), 1):
        return text_of(part, MAX_BYLINE) or part.attr("content") or ""
    return ""
