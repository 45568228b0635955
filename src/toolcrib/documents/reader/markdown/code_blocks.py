"""Blocks of code: one `pre` each, with its language, its lines and no line numbers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from toolcrib.core.package_data import package_table

if TYPE_CHECKING:
    from turbohtml import Element

MAX_NAME = 300
_PREFIXED = re.compile(
    r"(?:^|\s)(?:highlight-source|highlight-text|language|lang|highlight|brush|sourceCode-|code"
    r"|syntax|src|prettyprint-)(?:-|:\s*|=)([\w+#.-]+)",
    re.IGNORECASE,
)
_WORD = re.compile(r"[\w+#-]+")
_NAMES = package_table("documents/reader/markdown/code_blocks.toml")
_NONE, _BARE, _MARKED = (frozenset(_NAMES[kind]) for kind in ("none", "bare", "marked"))
_DATA = ("data-lang", "data-language", "data-code-language", "data-codetype", "syntax")
_PARAMETERS = ("data-syntaxhighlighter-params", "data-params")
_GUTTER = (
    ".lineno, .linenos, .linenodiv, .line-numbers-rows, .gutter, .rouge-gutter, .hljs-ln-numbers,"
    " .blob-num, .ln, .lnt, .line-number, .linenumber, .lineNumber, .CodeMirror-linenumber,"
    " .react-code-line-number, .line-numbers, .code-line-number, .crayon-num, button, .copy-btn"
)
_CODE_TABLES = (
    "table:has(pre):has(td.gutter, td.linenos, td.lntd, td.rouge-gutter, td.line-numbers),"
    " table:has(td.blob-num), table:has(td.hljs-ln-numbers), table:has(td.gutter div.line),"
    " table:has(td.crayon-nums)"
)
_OWN_LINE = frozenset({"div", "p", "li", "tr", "ol", "ul", "table", "section"})
_LINE = re.compile(
    r"(?:^|\s)(?:line|code-line|token-line|cl|view-line|CodeMirror-line|hljs-ln-line|ec-line"
    r"|highlight-line|code__line|react-code-text)(?:\s|$)"
)


def write_listings(root: Element, tags: dict[str, list[Element]]) -> None:
    """Make every block of code a `pre` that holds one `code` with plain text.

    Line numbers and buttons go; the language is found on the block, inside or around it and
    stands as `class="language-…"`.
    """
    if "table" in tags:
        for table in root.select(_CODE_TABLES):
            _from_table(table)
    for tag in ("xmp", "listing", "plaintext"):
        for node in tags.get(tag, ()):
            node.tag = "pre"
    for block in root.find_all("pre"):
        if not _is_inner(block):
            _rewrite(block)
    for code in tags.get("code", ()):
        if code.parent is not None and code.find("br") is not None and _is_alone(code):
            _rewrite(code.wrap(_new("pre")))


def language_of(block: Element) -> str:
    """The language of a block of code as the page spells it, in lower case, or empty."""
    for node in _around(block):
        for name in _DATA:
            value = (node.attr(name) or "").strip().lower()
            if value and _WORD.fullmatch(value):
                return "" if value in _NONE else value
        found = _named((node.attr("class") or "")[:MAX_NAME], alone=node.tag == "pre")
        if found is None:
            found = _configured_language(node)
        if found is not None:
            return found
    return ""


def _configured_language(node: Element) -> str | None:
    """The language in the parameters of a highlighter, or in the element's own `lang`."""
    for name in _PARAMETERS:
        if value := node.attr(name):
            return _named(value[:MAX_NAME])
    language = (node.attr("lang") or "").lower()
    return language if language in _BARE else None


def text_of(block: Any) -> str:
    """The text of a block of code, each line of it on its own line."""
    marked = [node for node in block.find_all(["span", "code", "div"]) if _is_line(node)]
    if len(marked) > 1 and "\n" not in block.text.strip("\n") and block.find("br") is None:
        return "\n".join(node.text for node in _outermost(marked)).strip("\n").replace("\xa0", " ")
    if len(variants := _variants(block)) > 1:
        return "\n\n".join(node.text.strip("\n") for node in variants).replace("\xa0", " ")
    lines = _CodeLines(marked=len(marked) > 1)
    lines.read(block)
    return lines.text()


def _variants(block: Any) -> list[Any]:
    """Programs that a block holds side by side, each with its language: a page shows one."""
    codes = [node for node in block.find_all("code") if node.parent is block]
    if len(codes) < 2 or not all(_PREFIXED.search(node.attr("class") or "") for node in codes):
        return []
    return codes if block.text.strip() == "".join(node.text for node in codes).strip() else []


def _outermost(nodes: list[Any]) -> list[Any]:
    known = set(nodes)
    return [node for node in nodes if node.parent not in known]


def _is_line(node: Any) -> bool:
    name = node.attr("class")
    return bool(name) and bool(_LINE.search(name[:MAX_NAME]))


class _CodeLines:
    """Text of code from a tree; `marked` where spans stand for lines."""

    def __init__(self, *, marked: bool) -> None:
        self._marked = marked
        self._parts: list[str] = []
        self._at_start = True
        self._broken = False

    def text(self) -> str:
        """What was read, without empty lines around it."""
        return "".join(self._parts).strip("\n").replace("\xa0", " ")

    def read(self, block: Any) -> None:
        """Take a node in, without recursion."""
        from turbohtml import Element, Text

        stack: list[tuple[Iterator[Any], bool]] = [(iter(block), False)]
        while stack:
            children, own = stack[-1]
            for node in children:
                kind = type(node)
                if kind is Text:
                    self._add(node.data)
                elif kind is Element:
                    if node.tag == "br":
                        self._add("\n")
                        continue
                    own = self._is_line(node)
                    if own:
                        self._start_line()
                    stack.append((iter(node), own))
                    break
            else:
                stack.pop()
                if own:
                    self._broken = True

    def _is_line(self, node: Any) -> bool:
        tag = node.tag
        if tag in _OWN_LINE:
            return True
        return self._marked and tag in ("span", "code") and _is_line(node)

    def _start_line(self) -> None:
        if not self._at_start:
            self._add("\n")
        self._broken = False

    def _add(self, text: str) -> None:
        if not text:
            return
        if self._broken:
            self._broken = False
            if not self._at_start and not text.startswith("\n"):
                self._parts.append("\n")
        self._parts.append(text)
        self._at_start = text.endswith("\n")


def _new(tag: str, attrs: dict[str, str | list[str] | None] | None = None) -> Element:
    from turbohtml import Element

    return Element(tag, attrs or {})


def _is_inner(block: Element) -> bool:
    parent = block.parent
    return parent is not None and parent.closest("pre") is not None


def _is_alone(code: Element) -> bool:
    parent = code.parent
    return parent is not None and parent.text.strip() == code.text.strip() and not _is_inner(code)


def _rewrite(block: Element) -> None:
    """One `pre` with one `code`."""
    from turbohtml import Element, Text

    if block.find("img") is not None and not block.text.strip():
        block.tag = "div"
        return
    language = language_of(block)
    block.remove(_GUTTER)
    text = text_of(block)
    if not text.strip():
        block.extract()
        return
    block.clear()
    attrs: dict[str, str | list[str] | None] = {}
    if language:
        attrs["class"] = f"language-{language}"
    for name in ("class", "data-lang", "data-language", "lang"):
        if block.attr(name) is not None:
            del block.attrs[name]
    # The first line feed inside a `pre` is not part of it.
    block.append(Element("code", attrs, [Text(text)]))


def _from_table(table: Element) -> None:
    """A table of line numbers beside code as the code alone."""
    if table.closest("pre") is not None or table.parent is None:
        return
    language = language_of(table)
    table.remove(_GUTTER)
    inner = table.find_all("pre")
    if inner:
        text = text_of(inner[-1])
        language = language or language_of(inner[-1])
    else:
        text = text_of(table)
    if not text.strip():
        return
    from turbohtml import Text

    code = _new("code", {"class": f"language-{language}"} if language else None)
    code.append(Text(text))
    block = _new("pre")
    block.append(code)
    table.replace_with(block)


def _around(block: Element) -> Iterator[Element]:
    """The block, a `code` inside it, then what surrounds it."""
    from turbohtml import Element

    yield block
    inner = block.find("code")
    if inner is not None:
        yield inner
    node = block.parent
    for _ in range(4):
        if not isinstance(node, Element) or node.tag in (
            "body",
            "article",
            "main",
            "li",
            "section",
        ):
            return
        yield node
        node = node.parent


def _named(name: str, *, alone: bool = False) -> str | None:
    """The language that a class attribute names; empty where it says there is none.

    With `alone` its first word needs no mark beside it.
    """
    if not name:
        return None
    for match in _PREFIXED.finditer(name):
        found = match[1].lower().rstrip(".;,")
        if found not in _NONE:
            return found
    words = name.lower().replace(";", " ").split()
    if "nohighlight" in words or "language-none" in words or "language-plaintext" in words:
        return ""
    if alone and words and words[0] in _BARE:
        return words[0]
    if len(words) == 1 or _MARKED.intersection(words):
        for word in words:
            if word in _BARE:
                return word
    return None
