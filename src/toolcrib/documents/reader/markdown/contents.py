"""What a piece of Markdown holds: headings with their places, links and pictures."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from turbohtml import Element

MAX_LISTED = 2000
"""Headings, links and pictures that are listed."""

MAX_HEADING = 2000
"""Characters of a line that may be a heading."""
_HEADING = re.compile(r"(?:[ >]|[-*+] |\d{1,9}[.)] )*(#{1,6}) +(.*)")
_FENCED = re.compile(r"^[ >]*(`{3,})[^`\n]*\n(?:.*\n)*?[ >]*\1[ ]*$", re.MULTILINE)
_TARGET = re.compile(
    r"(!?)\[((?:[^\[\]\\]|\\.)*)\]\((?:<[^>]*>|[^()\s]*(?:\([^()\s]*\)[^()\s]*)*)(?: \"[^\"]*\")?\)"
)
_MARKS = re.compile(r"(?<!\\)(?:\*+|`+|~~|</?\w+>)|\\(?=[^\w\s])")

_SIGNS = frozenset("*`~<\\")


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading: level 1 to 6, text, and the offset of its `#` in the Markdown."""

    level: int
    text: str
    offset: int


@dataclass(frozen=True, slots=True)
class Link:
    """A link or picture: its address, and its words or alternative text."""

    url: str
    text: str


def headings_of(markdown: str) -> tuple[Heading, ...]:
    """The headings of Markdown outside its blocks of code."""
    if "#" not in markdown:
        return ()
    code = [match.span() for match in _FENCED.finditer(markdown)] if "```" in markdown else []
    found = []
    at = 0
    place = markdown.find("# ")
    while place >= 0:
        start = markdown.rfind("\n", 0, place) + 1
        while at < len(code) and code[at][1] <= start:
            at += 1
        end = markdown.find("\n", place)
        end = end if end >= 0 else len(markdown)
        inside = at < len(code) and code[at][0] <= start
        match = (
            None
            if inside or end - start > MAX_HEADING
            else _HEADING.fullmatch(markdown, start, end)
        )
        if match and (text := _plain(match[2])):
            found.append(Heading(len(match[1]), text, match.start(1)))
            if len(found) == MAX_LISTED:
                break
        place = markdown.find("# ", end)
    return tuple(found)


def links_of(root: Element) -> tuple[Link, ...]:
    """The links below an element, each address once."""
    found: dict[str, Link] = {}
    for node in root.find_all("a", limit=2 * MAX_LISTED):
        _list(found, node.attr("href"), node)
    return tuple(found.values())[:MAX_LISTED]


def images_of(root: Element) -> tuple[Link, ...]:
    """The pictures below an element, each address once."""
    found: dict[str, Link] = {}
    for node in root.find_all("img", limit=2 * MAX_LISTED):
        _list(found, node.attr("src"), node)
    return tuple(found.values())[:MAX_LISTED]


def _list(found: dict[str, Link], address: str | None, node: Any) -> None:
    url = (address or "").strip()
    if not url or url in found or url.startswith(("#", "javascript:", "data:")):
        return
    text = (node.attr("alt") or "") if node.tag == "img" else node.text
    found[url] = Link(url, " ".join(text.split())[:500])


def _plain(markup: str) -> str:
    """The words of a line of Markdown."""
    text = markup
    if "](" in text:
        text = _TARGET.sub(lambda match: "" if match[1] else match[2], text)
        text = _TARGET.sub(lambda match: "" if match[1] else match[2], text)
    if not _SIGNS.isdisjoint(text):
        text = _MARKS.sub("", text)
    return " ".join(text.split())
