"""XML as it is, laid out where it comes on one line."""

from __future__ import annotations

from html import escape

from toolcrib.documents.markup.xml_tree import Node, Tree, read_tree
from toolcrib.web.conversion.document import MAX_TEXT, Document, Raw, decode

LONG_LINE = 500
"""Characters of the average line above which XML is laid out anew."""
INDENTED = 20
"""Levels that are indented."""


def convert(raw: Raw) -> Document:
    """The source, or its texts alone where plain text is asked for. Entities stay unexpanded."""
    source, encoding = decode(raw)
    source = source.replace("\r\n", "\n")
    long = len(source) > LONG_LINE * (source.count("\n") + 1)
    if not long and raw.format != "text":
        return Document(source, "xml", encoding=encoding)
    tree = read_tree(source)
    whole = not tree.broken and not tree.cut
    if tree.root is None or (not whole and raw.format != "text"):
        return Document(source, "xml", encoding=encoding, notes=_notes(tree, raw))
    text = _texts(tree.root) if raw.format == "text" else _laid_out(tree.root)
    return Document(text or source, "xml", encoding=encoding, notes=_notes(tree, raw))


def _notes(tree: Tree, raw: Raw) -> list[str]:
    notes = [f"The XML is not well formed, {tree.broken}."] if tree.broken else []
    if tree.cut and raw.format == "text":
        notes.append("The XML has more elements than are shown.")
    return notes


def _texts(root: Node) -> str:
    """The texts, one a line."""
    found = (" ".join(part.split()) for part, _ in root.walk() if isinstance(part, str))
    return "\n".join(filter(None, found))


def _laid_out(root: Node) -> str:
    lines: list[str] = []
    depth = size = 0
    leaf: Node | None = None
    for part, leaves in root.walk():
        if leaf is not None:
            # An element without others in it was written where it opened.
            leaf = None if part is leaf else leaf
            continue
        if isinstance(part, str):
            text = escape(part.strip(), quote=False)
        elif leaves:
            depth -= 1
            text = f"</{part.label}>"
        else:
            leaf = None if part.children else part
            text = _opened(part)
        if text:
            lines.append("  " * min(depth, INDENTED) + text)
            size += len(lines[-1])
        if size > MAX_TEXT:
            break
        depth += isinstance(part, Node) and not leaves and leaf is None
    return "\n".join(lines)


def _opened(node: Node) -> str:
    attrs = "".join(f' {name}="{escape(value)}"' for name, value in node.attrs.items())
    if node.children:
        return f"<{node.label}{attrs}>"
    text = escape(node.text.strip(), quote=False)
    return f"<{node.label}{attrs}>{text}</{node.label}>" if text else f"<{node.label}{attrs}/>"
