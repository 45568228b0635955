"""A page as a table of elements and a table of blocks of text, from one walk of its tree."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from toolcrib.kit.reader.hidden import Visibility, visibility
from toolcrib.kit.reader.tags import (
    FOLDED,
    FOOTER,
    HIDDEN,
    INLINE,
    NAV,
    ROLE_FLAGS,
    SKIPPED,
    TAG_FLAGS,
    VOID,
)

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
_VOID = 4
_KINDS = {
    **dict.fromkeys(INLINE, _PLAIN), "a": _LINK, "b": _BOLD, "strong": _BOLD,
    **dict.fromkeys(SKIPPED | VOID, _VOID),
}  # fmt: skip
"""What a tag is; any other is a block-level one."""
_MENUS = NAV | FOOTER
_CONTENT = "p, h1, main, article, pre, blockquote, table"
_FEW_WORDS = 150
"""Words under which a page is read with its menus."""


class _Walk:
    """One pass over the tree, without recursion."""

    def __init__(self, root: Any, shown: frozenset[Any], *, folding: bool) -> None:
        self.folding = folding
        self.page = Page([Element("body", "", -1, 0, 0, 0, root)], [], [])
        self.root = root
        self.shown = shown
        self.current = 0
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

        count, kind, kinds = 0, _BLOCK, _KINDS.get
        children = iter(self.root)
        stack: list[tuple[Iterator[Any], int]] = []
        while True:
            for node in children:
                count += 1
                found = type(node)
                if found is Text:
                    data = node.data
                    if self.parts or self.pre_depth or not data.isspace():
                        self._text(node, data)
                elif found is Node:
                    tag = node.tag
                    entered = kinds(tag, _BLOCK)
                    if self._enter(node, tag, entered):
                        stack.append((children, kind))
                        children, kind = iter(node), entered
                        break
            else:
                if kind != _PLAIN:
                    self._leave(kind)
                if not stack:
                    return self.page
                children, kind = stack.pop()
            if count > MAX_NODES:
                self._give_up([outer for _, outer in stack] + [kind])
                return self.page

    def _give_up(self, kinds: list[int]) -> None:
        """End all elements that are open, the innermost last in the list."""
        self.page.whole = False
        while kinds:
            self._leave(kinds.pop())

    def _enter(self, node: Any, tag: str, kind: int) -> bool:
        """Whether the children of an element come next."""
        if kind == _VOID:
            self._void(tag)
            return False
        attrs = node.attrs
        seen: Visibility = "shown"
        if "style" in attrs or "hidden" in attrs:
            seen = visibility(node)
            if seen == "hidden" and node not in self.shown:
                self.page.hidden.append(node)
                return False
        if kind == _BLOCK:
            return self._block(node, tag, attrs, seen)
        if not self.inline:
            self.inline = tag
            if "class" in attrs:
                self.inline_name = (node.attr("class") or "")[:MAX_NAME]
        if kind == _LINK:
            self.link_depth += 1
            self.links += 1
        elif kind == _BOLD:
            self.bold_depth += 1
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

    def _block(self, node: Any, tag: str, attrs: Any, seen: Visibility) -> bool:
        """A new block-level element, and whether its children come next."""
        if self.parts:
            self.flush()
        elements = self.page.elements
        parent = elements[self.current]
        flags = parent.flags | TAG_FLAGS.get(tag, 0)
        name = ""
        if attrs:
            if "class" in attrs:
                name = node.attr("class") or ""
            if "id" in attrs:
                name = f"{name} {node.attr('id')}"
            if "role" in attrs:
                flags |= ROLE_FLAGS.get(node.attr("role") or "", 0)
            if seen != "shown":
                flags |= HIDDEN
            if len(name) > MAX_NAME:
                name = name[:MAX_NAME]
        start = len(self.page.blocks)
        new = Element(tag, name, self.current, parent.depth + 1, flags, start, node)
        parent.children += 1
        elements.append(new)
        if flags & _MENUS and not parent.flags & _MENUS and self._folds(node):
            new.flags |= FOLDED
            new.end = start
            return False
        if tag == "pre":
            self.pre_depth += 1
        self.current = len(elements) - 1
        return True

    def _folds(self, node: Any) -> bool:
        """Whether an element is a menu or a foot with nothing in it that looks like content."""
        return self.folding and node.select_one(_CONTENT) is None

    def _leave(self, kind: int) -> None:
        if kind == _BLOCK:
            if self.parts:
                self.flush()
            element = self.page.elements[self.current]
            element.end = len(self.page.blocks)
            if element.tag == "pre":
                self.pre_depth -= 1
            self.current = element.parent
        elif kind == _LINK:
            self.link_depth -= 1
        elif kind == _BOLD:
            self.bold_depth -= 1

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
    one that a script takes away when everything has loaded. Menus and feet are passed over
    where nothing in them looks like content and the page has enough without them.
    """
    page = _Walk(root, frozenset(), folding=True).run()
    if not page.whole:
        return page
    words = sum([block.words for block in page.blocks])
    folding = not _hold_much(page, words)
    large = [node for node in page.hidden if len(node.text.split()) > max(40, words * 0.67)]
    if large or not folding:
        return _Walk(root, frozenset(large), folding=folding).run()
    return page


def _hold_much(page: Page, words: int) -> bool:
    """Whether the menus that were passed over may be what the page is about."""
    if words >= 2 * _FEW_WORDS:
        return False
    folded = [element.node for element in page.elements if element.flags & FOLDED]
    if words < _FEW_WORDS:
        return bool(folded)
    return any(len(node.text.split()) > 2 * words for node in folded)
