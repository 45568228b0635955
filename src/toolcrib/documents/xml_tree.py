"""XML as a small tree: nothing outside is loaded, no entity is expanded, size is bounded."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from html import escape
from html.entities import html5
from xml.parsers import expat

# turbohtml's own XML and feeds do less: they stop at the first error and at every HTML entity,
# and give neither namespaces nor `xml:base`, which damaged feeds and media extensions need.

MAX_NODES = 100_000
"""Elements that are read; what follows is left out."""
MAX_DEPTH = 200
"""Elements within elements; the text of deeper ones goes to the last."""
_INVALID = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_LOOSE = re.compile(r"&(?!#\d{1,7};|#x[\da-fA-F]{1,6};|[A-Za-z]\w{0,31};)|<(?![^\W\d]|[/!?:])")
_VOID = {"area", "base", "br", "col", "hr", "img", "input", "link", "meta", "source", "wbr"}


@dataclass(slots=True, eq=False)
class XmlNode:
    """An element: its name without prefix, its namespace, and what it holds, in order.

    Attributes go by their names with prefix, `label` is that of the element.
    """

    name: str
    space: str = ""
    label: str = ""
    attrs: dict[str, str] = field(default_factory=dict)
    parts: list[XmlNode | str] = field(default_factory=list)

    @property
    def children(self) -> list[XmlNode]:
        """The elements right in it."""
        return [part for part in self.parts if isinstance(part, XmlNode)]

    @property
    def text(self) -> str:
        """All text in it."""
        return "".join(part for part, _ in self.walk() if isinstance(part, str))

    @property
    def markup(self) -> str:
        """What it holds, as HTML."""
        return "".join(_written(part, is_end) for part, is_end in self.walk() if part is not self)

    def walk(self) -> Iterator[tuple[XmlNode | str, bool]]:
        """Each element and text in order; elements once more, with True, where they end."""
        todo: list[tuple[XmlNode | str, bool]] = [(self, False)]
        while todo:
            part, is_end = todo.pop()
            yield part, is_end
            if isinstance(part, XmlNode) and not is_end:
                todo.append((part, True))
                todo += [(child, False) for child in reversed(part.parts)]


@dataclass(frozen=True, slots=True)
class Tree:
    """What could be read: `root` is None for nothing; `broken` says what is not well formed."""

    root: XmlNode | None
    broken: str = ""
    cut: bool = False


def read_tree(source: str) -> Tree:
    """The tree of an XML text; of a damaged one as much as can be made out."""
    source = _without_doctype(source.lstrip("\ufeff \t\r\n"))
    first = _XmlBuilder().read(source)
    if not first.broken:
        return first
    mended = _XmlBuilder().read(_LOOSE.sub(lambda sign: escape(sign[0]), _INVALID.sub("", source)))
    best = first if mended.broken and _size(first) >= _size(mended) else mended
    return Tree(best.root, first.broken, best.cut)


class _TreeFull(Exception):
    """There are more elements than `MAX_NODES`."""


class _XmlBuilder:
    def __init__(self) -> None:
        self._root: XmlNode | None = None
        self._open: list[XmlNode] = []
        self._words: list[str] = []
        self._deeper = self._count = 0

    def read(self, source: str) -> Tree:
        parser = expat.ParserCreate(namespace_separator=" ")
        parser.namespace_prefixes = True
        parser.buffer_text = True
        # Entities that nobody declared are no error then, and come to the default handler,
        # which also keeps declared ones from being expanded.
        parser.UseForeignDTD(True)
        parser.ExternalEntityRefHandler = lambda *_: 1
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._text
        parser.CommentHandler = lambda _: None
        parser.ProcessingInstructionHandler = lambda *_: None
        parser.DefaultHandler = self._other
        try:
            parser.Parse(source.encode("utf-8", "replace").decode(), True)
        except _TreeFull:
            return Tree(self._root, cut=True)
        except expat.ExpatError as error:
            return Tree(self._root, f"line {error.lineno}: {expat.ErrorString(error.code)}")
        return Tree(self._root)

    def _start(self, name: str, attrs: dict[str, str]) -> None:
        self._flush()
        self._count += 1
        if self._count > MAX_NODES:
            raise _TreeFull
        if len(self._open) >= MAX_DEPTH:
            self._deeper += 1
            return
        space, local, label = _names(name)
        node = XmlNode(local, space, label, {_names(key)[2]: value for key, value in attrs.items()})
        if self._open:
            self._open[-1].parts.append(node)
        self._root = self._root or node
        self._open.append(node)

    def _end(self, _: str) -> None:
        self._flush()
        if self._deeper:
            self._deeper -= 1
        else:
            self._open.pop()

    def _text(self, data: str) -> None:
        self._words.append(data)

    def _flush(self) -> None:
        """Put the text so far where it belongs, as one piece."""
        if self._words and self._open:
            self._open[-1].parts.append("".join(self._words))
        self._words.clear()

    def _other(self, data: str) -> None:
        if data.startswith("&") and data.endswith(";"):
            self._text(html5.get(data[1:], data))


def _names(name: str) -> tuple[str, str, str]:
    """Namespace, local name and name with prefix of what the parser calls by all three."""
    space, local, prefix, *_ = [*name.split(" "), "", ""] if " " in name else ["", name, ""]
    return space, local, f"{prefix}:{local}" if prefix else local


def _written(part: XmlNode | str, is_end: bool) -> str:
    if isinstance(part, str):
        return escape(part, quote=False)
    if is_end:
        return "" if part.name in _VOID else f"</{part.name}>"
    attrs = "".join(f' {name}="{escape(value)}"' for name, value in part.attrs.items())
    return f"<{part.name}{attrs}>"


def _size(tree: Tree) -> int:
    return sum(1 for _ in tree.root.walk()) if tree.root else 0


def _without_doctype(source: str) -> str:
    """The text without its document type, where entities would be declared."""
    start = source[:200_000].upper().find("<!DOCTYPE")
    element = re.search(r"<[A-Za-z_]", source[:200_000])
    if start < 0 or (element and element.start() < start):
        return source
    depth, at = 0, start
    # Quotes and comments may hold brackets; each is passed as a whole.
    for match in re.finditer(
        r"<!--.*?(?:-->|\Z)|\"[^\"]*\"|'[^']*'|[\[\]>]", source[start:], re.DOTALL
    ):
        depth += {"[": 1, "]": -1}.get(match[0], 0)
        at = start + match.end()
        if match[0] == ">" and depth <= 0:
            return source[:start] + source[at:]
    return source[:start]
