"""A page as a table of elements and a table of blocks of text, from one walk of its tree.

What tags, roles and marks of hiding say of the text in an element stands here too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

SKIPPED = frozenset({
    "script", "style", "template", "iframe", "object", "embed", "canvas", "select",
    "datalist", "audio", "video", "head", "textarea", "map", "svg", "noembed", "noframes", "title",
    "progress", "meter", "dialog-polyfill", "link", "meta", "base", "param", "source", "track",
    "input", "applet", "rp", "rt",
})  # fmt: skip
"""Their text is no text of the page."""

INLINE = frozenset({
    "a", "abbr", "acronym", "b", "bdi", "bdo", "big", "cite", "code", "data", "del", "dfn", "em",
    "font", "i", "ins", "kbd", "label", "mark", "math", "nobr", "output", "q", "rb", "ruby", "s",
    "samp", "small", "span", "strike", "strong", "sub", "sup", "time", "tt", "u", "var", "wbr",
})  # fmt: skip
"""They stay within a line of text."""

TAG_IDS = {
    tag: number
    for number, tag in enumerate(
        (
            "other", "p", "div", "li", "h1", "h2", "h3", "h4", "h5", "h6", "td", "th", "dt", "dd",
            "pre", "blockquote", "button", "figcaption", "section", "article", "main", "header",
            "footer", "nav", "aside", "form", "ul", "ol", "table", "caption", "summary", "details",
            "fieldset", "address", "body", "tr", "dl", "figure", "legend", "center", "span", "a",
        )
    )
}  # fmt: skip
"""A small number for each tag that the scorer distinguishes."""

NAV, HEADER, FOOTER, ASIDE, MAIN, ARTICLE, FORM, TABLE, LIST, DIALOG, BUTTON, FIGURE, QUOTE, PRE = (
    1 << bit for bit in range(14)
)
HIDDEN, NOSCRIPT = 1 << 14, 1 << 15
FOLDED = 1 << 16
"""Its text was not looked at."""
SILENT = 1 << 17
"""It is not to be read aloud."""

TAG_FLAGS = {
    "nav": NAV, "header": HEADER, "footer": FOOTER, "aside": ASIDE, "main": MAIN,
    "article": ARTICLE, "form": FORM, "table": TABLE, "ul": LIST, "ol": LIST, "menu": NAV | LIST,
    "dialog": DIALOG, "button": BUTTON, "figure": FIGURE, "blockquote": QUOTE, "pre": PRE,
    "noscript": NOSCRIPT,
}  # fmt: skip
"""Flags of all the text inside a tag."""

ROLE_FLAGS = {
    "navigation": NAV, "banner": HEADER, "contentinfo": FOOTER, "complementary": ASIDE,
    "main": MAIN, "article": ARTICLE, "form": FORM, "search": FORM | NAV, "dialog": DIALOG,
    "alertdialog": DIALOG, "alert": DIALOG, "menu": NAV, "menubar": NAV, "toolbar": NAV,
    "button": BUTTON, "list": LIST,
}  # fmt: skip
"""Flags of all the text inside an element with an ARIA role."""


# Text that the page hides.

Visibility = Literal["shown", "revealed", "hidden"]

_STYLE = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*hidden|(?:^|[;\s])opacity\s*:\s*0(?:\.0+)?\s*(?:;|$|!)"
    r"|font-size\s*:\s*0(?:px|em|rem|pt|%)?\s*(?:;|$|!)",
    re.IGNORECASE,
)
# The first frame of an animation, not a disguise.
_ANIMATED = re.compile(r"transform|translate|transition|will-change|animation", re.IGNORECASE)
_TABS = re.compile(
    r"tab|panel|accordion|collaps|expand|faq|answer|toggle|disclosure|reveal|spoiler|read-?more"
    r"|show-?more|details|slide|carousel|content-?body",
    re.IGNORECASE,
)
MAX_STYLE = 2000
"""Characters of a style attribute that are looked at."""
_STREAMED = re.compile(r"[SBP]:[0-9a-f]+\Z")


def _may_hide(style: str) -> bool:
    """Whether the expression may find something: most styles are soon passed over."""
    return "none" in style or "hidden" in style or "opacity" in style or "size" in style


def visibility(node: Any) -> Visibility:
    """Whether an element is marked as invisible where it stands.

    "revealed" is what a click or a script of the page makes visible: the panels of tabs and
    accordions, parts that arrive after the rest, the first frame of an animation.
    """
    style = node.attr("style")
    found = _STYLE.search(style[:MAX_STYLE]) if style and _may_hide(style.lower()) else None
    if found is None:
        if node.attr("hidden") is None:
            return "shown"
        if _STREAMED.match(node.attr("id") or ""):
            return "revealed"
    elif found.group().lstrip("; ").lower().startswith("opacity"):
        return "revealed" if _ANIMATED.search(style[:MAX_STYLE]) else "hidden"
    elif "size" in found.group().lower():
        return "hidden"
    if node.attr("role") in ("tabpanel", "region") or node.attr("aria-labelledby"):
        return "revealed"
    name = f"{node.attr('class') or ''} {node.attr('id') or ''}"
    return "revealed" if _TABS.search(name[:MAX_STYLE]) else "hidden"


MAX_ELEMENTS = 20_000
"""Elements of a page that is chosen from; among 1,500 pages none had more than 9,000."""
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
    end: int


@dataclass(slots=True)
class PageTables:
    """The tables, and how many pictures and fields of forms there are.

    `whole` is False where the walk was given up because of the size.
    """

    elements: list[Element]
    blocks: list[Block]
    hidden: list[Any]
    whole: bool = True
    images: int = 0
    inputs: int = 0


_BLOCK, _PLAIN, _LINK, _BOLD = range(4)
"""What ends with an element: a block-level one, an inline one, a link, bold text."""
_VOID = 4
_NOTED_ATTRIBUTES = frozenset({"class", "id", "role", "style", "hidden", "aria-hidden"})
"""Attributes that the walk reads."""
_MENUS = NAV | FOOTER
_CONTENT = "p, h1, main, article, pre, blockquote, table"
_MIN_WORDS = 150
"""Words under which a page is read with its menus."""


def _skip(_: Any, __: str) -> int:
    """Do nothing with an element."""
    return _VOID


def _name(node: Any, noted: frozenset[str]) -> str:
    """Its class and its id, where it has them."""
    name = node.attr("class") or "" if "class" in noted else ""
    if "id" in noted:
        name = f"{name} {node.attr('id')}"
    return name[:MAX_NAME] if len(name) > MAX_NAME else name


def _spoken_flags(node: Any, noted: frozenset[str]) -> int:
    """What it is for a reader that speaks."""
    flags = ROLE_FLAGS.get(node.attr("role") or "", 0) if "role" in noted else 0
    if "aria-hidden" in noted and (node.attr("aria-hidden") or "").lower() == "true":
        flags |= SILENT
    return flags


class _Walk:
    """One pass over the tree, without recursion."""

    def __init__(self, root: Any, revealed: frozenset[Any], *, folding: bool) -> None:
        self.folding = folding
        self.page = PageTables([Element("body", "", -1, 0, 0, 0, root, 0)], [], [])
        self.root = root
        self.revealed = revealed
        self.current = 0
        self.link_depth = 0
        self.bold_depth = 0
        self.pre_depth = 0
        self.parts: list[str] = []
        self.nodes: list[Any] = []
        self._clear()

    def _clear(self) -> None:
        self.parts.clear()
        self.nodes.clear()
        self.breaks = 0
        self.link_chars = self.links = self.emphasis = 0
        self.inline = self.inline_name = ""

    def run(self) -> PageTables:
        """All elements and blocks, or those up to the limit."""
        from turbohtml import Element as Node
        from turbohtml import Text

        count, kind = 0, _BLOCK
        entering, block, text = self._entering().get, self._block, self._text
        parts = self.parts
        children = iter(self.root)
        stack: list[tuple[Iterator[Any], int]] = []
        while True:
            for node in children:
                found = type(node)
                if found is Text:
                    data = node.data
                    if parts or not data.isspace() or self.pre_depth:
                        text(node, data)
                elif found is Node:
                    tag = node.tag
                    entered = entering(tag, block)(node, tag)
                    if entered < _VOID:
                        count += 1
                        stack.append((children, kind))
                        children, kind = iter(node), entered
                        break
            else:
                if kind != _PLAIN:
                    self._exit(kind)
                if not stack:
                    return self.page
                children, kind = stack.pop()
            if count > MAX_ELEMENTS:
                self._give_up([outer for _, outer in stack] + [kind])
                return self.page

    def _entering(self) -> dict[str, Callable[[Any, str], int]]:
        """By tag, what to do with an element that is not block-level; gives what ends with it."""
        doing: dict[str, Callable[[Any, str], int]] = {}
        doing |= dict.fromkeys(INLINE, self._plain)
        doing |= dict.fromkeys(SKIPPED, _skip)
        doing |= dict.fromkeys(("br", "hr", "img", "input"), self._void)
        return doing | {"a": self._link, "b": self._bold, "strong": self._bold}

    def _give_up(self, kinds: list[int]) -> None:
        """End all elements that are open, the innermost last in the list."""
        self.page.whole = False
        while kinds:
            self._exit(kinds.pop())

    def _hides(self, node: Any) -> Visibility:
        """Whether an element is seen; what is hidden is not entered."""
        seen = visibility(node)
        if seen == "hidden":
            if node in self.revealed:
                return "revealed"
            self.page.hidden.append(node)
        return seen

    def _plain(self, node: Any, tag: str) -> int:
        attrs = node.attrs
        if ("style" in attrs or "hidden" in attrs) and self._hides(node) == "hidden":
            return _VOID
        if not self.inline:
            self.inline = tag
            if "class" in attrs:
                self.inline_name = (node.attr("class") or "")[:MAX_NAME]
        return _PLAIN

    def _link(self, node: Any, tag: str) -> int:
        if self._plain(node, tag) == _VOID:
            return _VOID
        self.link_depth += 1
        self.links += 1
        return _LINK

    def _bold(self, node: Any, tag: str) -> int:
        if self._plain(node, tag) == _VOID:
            return _VOID
        self.bold_depth += 1
        return _BOLD

    def _void(self, _: Any, tag: str) -> int:
        if tag == "br":
            self._break()
        elif tag == "hr":
            self.flush()
        elif tag == "img":
            self.page.images += 1
        else:
            self.page.inputs += 1
        return _VOID

    def _break(self) -> None:
        if self.pre_depth:
            self.parts.append("\n")
            return
        self.breaks += 1
        if self.breaks > 1:
            self.flush()
        elif self.parts:
            self.parts.append("\x00")

    def _block(self, node: Any, tag: str) -> int:
        """A new block-level element."""
        attrs = node.attrs
        current, elements = self.current, self.page.elements
        parent = elements[current]
        flags, name = parent.flags, ""
        if attrs and (noted := _NOTED_ATTRIBUTES.intersection(attrs)):
            if "style" in noted or "hidden" in noted:
                seen = self._hides(node)
                if seen == "hidden":
                    return _VOID
                if seen != "shown":
                    flags |= HIDDEN
            flags |= _spoken_flags(node, noted)
            name = _name(node, noted)
        if self.parts:
            self.flush()
        flags |= TAG_FLAGS.get(tag, 0)
        start = len(self.page.blocks)
        folded = flags & _MENUS and not parent.flags & _MENUS and self._folds(node)
        if folded:
            flags |= FOLDED
        elements.append(Element(tag, name, current, parent.depth + 1, flags, start, node, start))
        if folded:
            return _VOID
        if tag == "pre":
            self.pre_depth += 1
        self.current = len(elements) - 1
        return _BLOCK

    def _folds(self, node: Any) -> bool:
        """Whether an element is a menu or a foot with nothing in it that looks like content."""
        return self.folding and node.select_one(_CONTENT) is None

    def _exit(self, kind: int) -> None:
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
                    self.nodes.copy(),
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


_MAX_LABELS = 1_000


def part_labels(document: Any) -> None:
    """Put a space between labels side by side, which a style sheet shows as tabs."""
    from turbohtml import Element, Text

    for label in document.find_all("label", limit=_MAX_LABELS):
        after = label.next_sibling
        if type(after) is Element and after.tag in ("label", "input"):
            label.insert_after(Text(" "))


def read_tree(root: Any) -> PageTables:
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


def _hold_much(page: PageTables, words: int) -> bool:
    """Whether the menus that were passed over may be what the page is about."""
    if words >= 2 * _MIN_WORDS:
        return False
    folded = [element.node for element in page.elements if element.flags & FOLDED]
    if words < _MIN_WORDS:
        return bool(folded)
    return any(len(node.text.split()) > 2 * words for node in folded)
