"""A page as a table of elements and a table of blocks of text, from one walk of its tree."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from toolcrib.kit.reader.hidden import Visibility, visibility
from toolcrib.kit.reader.tags import HIDDEN, INLINE, ROLE_FLAGS, SKIPPED, TAG_FLAGS, VOID

MAX_NODES = 60_000
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


@dataclass(slots=True)
class Page:
    """The tables. `whole` is False where the walk was given up because of the size."""

    elements: list[Element]
    blocks: list[Block]
    hidden: list[Any]
    whole: bool = True


_BLOCK, _PLAIN, _LINK, _BOLD = range(4)
"""What ends with an element: a block-level one, an inline one, a link, bold text."""
_BOLD_TAGS = ("b", "strong")


class _Walk:
    """One pass over the tree, without recursion."""

    def __init__(self, root: Any, shown: frozenset[Any]) -> None:
        self.page = Page([Element("body", "", -1, 0, 0, 0, root)], [], [])
        self.shown = shown
        self.current = 0
        self.stack: list[tuple[Iterator[Any], int]] = [(iter(root), _BLOCK)]
        self.link_depth = 0
        self.bold_depth = 0
        self.pre_depth = 0
        self._clear()

    def _clear(self) -> None:
        self.parts: list[str] = []
        self.nodes: list[Any] = []
        self.breaks = 0
        self.link_chars = self.links = self.emphasis = 0
        self.inline = self.inline_name = ""

    def run(self) -> Page:
        """All elements and blocks, or those up to the limit."""
        from turbohtml import Element as Node
        from turbohtml import Text

        count = 0
        stack = self.stack
        while stack:
            children, kind = stack[-1]
            for node in children:
                count += 1
                found = type(node)
                if found is Text:
                    data = node.data
                    if self.parts or self.pre_depth or not data.isspace():
                        self._text(node, data)
                elif found is Node and self._enter(node):
                    break
            else:
                stack.pop()
                self._leave(kind)
            if count > MAX_NODES:
                self.page.whole = False
                break
        while stack:
            self._leave(stack.pop()[1])
        return self.page

    def _enter(self, node: Any) -> bool:
        """Whether the children of an element come next."""
        tag = node.tag
        if tag in SKIPPED or tag in VOID:
            self._void(tag)
            return False
        style = node.attr("style")
        seen: Visibility = "shown"
        if style or node.attr("hidden") is not None:
            seen = visibility(node)
            if seen == "hidden" and node not in self.shown:
                self.page.hidden.append(node)
                return False
        if tag in INLINE:
            self.stack.append((iter(node), self._inline(node, tag)))
        else:
            self._block(node, tag, seen)
            self.stack.append((iter(node), _BLOCK))
        return True

    def _void(self, tag: str) -> None:
        if tag == "br":
            if self.pre_depth:
                self.parts.append("\n")
                return
            self.breaks += 1
            if self.breaks > 1:
                self.flush()
            elif self.parts:
                self.parts.append("\x00")
        elif tag == "hr":
            self.flush()
        elif tag == "img":
            self.page.elements[self.current].images += 1
        elif tag == "input":
            self.page.elements[self.current].inputs += 1

    def _inline(self, node: Any, tag: str) -> int:
        if not self.inline:
            self.inline = tag
            self.inline_name = (node.attr("class") or "")[:MAX_NAME]
        if tag == "a":
            self.link_depth += 1
            self.links += 1
            return _LINK
        if tag in _BOLD_TAGS:
            self.bold_depth += 1
            return _BOLD
        return _PLAIN

    def _block(self, node: Any, tag: str, seen: Visibility) -> None:
        self.flush()
        elements = self.page.elements
        parent = elements[self.current]
        name = node.attr("class") or ""
        ident = node.attr("id")
        if ident:
            name = f"{name} {ident}"
        flags = parent.flags | TAG_FLAGS.get(tag, 0)
        role = node.attr("role")
        if role:
            flags |= ROLE_FLAGS.get(role, 0)
        if seen != "shown":
            flags |= HIDDEN
        new = Element(
            tag,
            name[:MAX_NAME],
            self.current,
            parent.depth + 1,
            flags,
            len(self.page.blocks),
            node,
        )
        parent.children += 1
        self.pre_depth += tag == "pre"
        self.current = len(elements)
        elements.append(new)

    def _leave(self, kind: int) -> None:
        if kind == _LINK:
            self.link_depth -= 1
        elif kind == _BOLD:
            self.bold_depth -= 1
        elif kind == _BLOCK:
            self.flush()
            element = self.page.elements[self.current]
            element.end = len(self.page.blocks)
            self.pre_depth -= element.tag == "pre"
            self.current = max(element.parent, 0)

    def flush(self) -> None:
        """End the run of text."""
        if not self.parts:
            return
        joined = "".join(self.parts)
        text = joined.strip("\n") if self.pre_depth else collapse(joined)
        if text and not text.isspace():
            self.page.blocks.append(
                Block(
                    text,
                    self.current,
                    text.count(" ") + text.count("\n") + 1,
                    self.link_chars,
                    self.links,
                    self.inline,
                    self.inline_name,
                    self.emphasis,
                    self.nodes,
                )
            )
        self._clear()

    def _text(self, node: Any, data: str) -> None:
        """One more text node of the run."""
        self.breaks = 0
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
    page = _Walk(root, frozenset()).run()
    if page.hidden and page.whole:
        words = sum(block.words for block in page.blocks)
        large = [node for node in page.hidden if len(node.text.split()) > max(40, words * 0.67)]
        if large:
            return _Walk(root, frozenset(large)).run()
    return page
