"""A page as a table of elements and a table of blocks of text, from one walk of its tree."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from toolcrib.kit.reader.hidden import visibility
from toolcrib.kit.reader.tags import HIDDEN, INLINE, MUTED, ROLE_FLAGS, SKIPPED, TAG_FLAGS

MAX_NODES = 80_000
"""Pages with more nodes are read as plain text, without choosing."""
MAX_NAME = 300
"""Characters of a class attribute that are looked at."""


@dataclass(slots=True)
class Block:
    """A run of text between two boundaries of block-level elements.

    Attributes:
        text: as it reads, white space collapsed except in `pre`.
        element: the number of the nearest block-level element.
        words: how many.
        link_chars: characters inside links.
        inline: tag of the first inline element, or empty.
        inline_name: its class.
        emphasis: characters in bold text.
        nodes: its text nodes.
    """

    text: str
    element: int
    words: int
    link_chars: int
    links: int
    inline: str
    inline_name: str
    emphasis: int
    nodes: list[Any] = field(default_factory=list)


@dataclass(slots=True)
class Element:
    """A block-level element: `start` and `end` are the range of its blocks."""

    tag: str
    name: str
    parent: int
    depth: int
    flags: int
    start: int
    node: Any
    end: int = 0
    images: int = 0
    inputs: int = 0
    children: int = 0
    rank: int = 0
    """Which child of its parent it is."""


@dataclass(slots=True)
class Page:
    """The tables. `whole` is False where the walk was given up because of the size."""

    elements: list[Element]
    blocks: list[Block]
    hidden: list[Any]
    whole: bool = True


class _Walk:
    """One pass over the tree, without recursion."""

    def __init__(self) -> None:
        self.page = Page([], [], [])
        self.parts: list[str] = []
        self.nodes: list[Any] = []
        self.link_depth = 0
        self.bold_depth = 0
        self.pre_depth = 0
        self.link_chars = 0
        self.links = 0
        self.emphasis = 0
        self.inline = ""
        self.inline_name = ""

    def flush(self, element: int) -> None:
        """End the run of text."""
        if not self.parts:
            return
        joined = "".join(self.parts)
        text = joined.strip("\n") if self.pre_depth else collapse(joined)
        if text and not text.isspace():
            self.page.blocks.append(
                Block(
                    text,
                    element,
                    text.count(" ") + text.count("\n") + 1,
                    self.link_chars,
                    self.links,
                    self.inline,
                    self.inline_name,
                    self.emphasis,
                    self.nodes,
                )
            )
        self.parts, self.nodes = [], []
        self.link_chars = self.links = self.emphasis = 0
        self.inline = self.inline_name = ""

    def text(self, node: Any) -> None:
        """One more text node of the run."""
        data = node.data
        self.parts.append(data)
        self.nodes.append(node)
        if self.link_depth:
            self.link_chars += len(data.strip())
        if self.bold_depth:
            self.emphasis += len(data.strip())


def collapse(text: str) -> str:
    """White space as a browser shows it; a line feed stands for a `br`."""
    if "\x00" not in text:
        return " ".join(text.split())
    lines = (" ".join(line.split()) for line in text.split("\x00"))
    return "\n".join(lines).strip()


def read_tree(root: Any) -> Page:
    """The elements and blocks below a node of turbohtml's tree.

    What is marked as hidden is left out, unless it is most of the page: then the mark is
    one that a script takes away when everything has loaded.
    """
    page = _walk(root, frozenset())
    if page.hidden and page.whole:
        words = sum(block.words for block in page.blocks)
        large = [node for node in page.hidden if len(node.text.split()) > max(40, words * 0.67)]
        if large:
            return _walk(root, frozenset(large))
    return page


def _walk(root: Any, shown: frozenset[Any]) -> Page:  # noqa: C901, PLR0912, PLR0915 - for speed
    from turbohtml import Element as Node
    from turbohtml import Text

    walk = _Walk()
    page = walk.page
    elements, blocks = page.elements, page.blocks
    elements.append(Element("body", "", -1, 0, 0, 0, root))
    current = 0
    count = 0
    # (children, element to go back to or -1, what an inline element adds: 1 link, 2 bold, 4 gap)
    stack: list[tuple[Iterator[Any], int, int]] = [(iter(root), -1, 0)]
    breaks = 0
    while stack:
        children, back, inline_kind = stack[-1]
        for node in children:
            kind = type(node)
            if kind is Text:
                breaks = 0
                walk.text(node)
                count += 1
                continue
            if kind is not Node:
                continue
            count += 1
            tag = node.tag
            if tag in SKIPPED:
                if tag == "input":
                    elements[current].inputs += 1
                continue
            if tag == "br":
                if walk.pre_depth:
                    walk.parts.append("\n")
                    continue
                breaks += 1
                if breaks > 1:
                    walk.flush(current)
                elif walk.parts:
                    walk.parts.append("\x00")
                continue
            if tag == "img":
                elements[current].images += 1
                continue
            seen = visibility(node)
            if seen == "hidden" and node not in shown:
                page.hidden.append(node)
                continue
            if tag in INLINE:
                inline_kind = 0
                if tag == "a":
                    inline_kind = 1
                    walk.link_depth += 1
                    walk.links += 1
                elif tag in ("b", "strong"):
                    inline_kind = 2
                    walk.bold_depth += 1
                elif tag in ("span", "label", "time") and not walk.pre_depth:
                    inline_kind = 4
                if not walk.inline:
                    walk.inline = tag
                    walk.inline_name = (node.attr("class") or "")[:MAX_NAME]
                stack.append((iter(node), -1, inline_kind))
                break
            walk.flush(current)
            if tag == "hr":
                continue
            parent = elements[current]
            name = node.attr("class") or ""
            ident = node.attr("id")
            if ident:
                name = f"{name} {ident}"
            role = node.attr("role")
            flags = parent.flags | TAG_FLAGS.get(tag, 0)
            if role:
                flags |= ROLE_FLAGS.get(role, 0)
            if seen != "shown":
                flags |= HIDDEN
            elif node.attr("aria-hidden") == "true":
                flags |= MUTED
            new = Element(tag, name[:MAX_NAME], current, parent.depth + 1, flags, len(blocks), node)
            new.rank = parent.children
            parent.children += 1
            if tag == "pre":
                walk.pre_depth += 1
            stack.append((iter(node), current, 0))
            current = len(elements)
            elements.append(new)
            break
        else:
            stack.pop()
            if back >= 0:
                walk.flush(current)
                elements[current].end = len(blocks)
                if elements[current].tag == "pre":
                    walk.pre_depth -= 1
                current = back
            elif inline_kind == 1:
                walk.link_depth -= 1
            elif inline_kind == 2:
                walk.bold_depth -= 1
            elif inline_kind == 4 and walk.parts:
                walk.parts.append("")
        if count > MAX_NODES:
            page.whole = False
            break
    walk.flush(current)
    while current > 0:
        elements[current].end = len(blocks)
        current = elements[current].parent
    elements[0].end = len(blocks)
    return page
