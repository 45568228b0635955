"""What the shell makes of one word, where it is written there."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from toolcrib.execution.shell.script import Word

if TYPE_CHECKING:
    from tree_sitter import Node

GLOB = re.compile(r"(?<!\\)(?:\\\\)*[*?\[]")
BRACES = re.compile(r"\{[^{}]*(?:,|\.\.)")
ESCAPED = re.compile(r"\\(.)", re.DOTALL)
IN_QUOTES = re.compile(r"\\([$`\"\\\n])")
ANSI = re.compile(
    r"\\(?:x(?P<hex>[0-9A-Fa-f]{1,2})|u(?P<u>[0-9A-Fa-f]{1,4})|U(?P<U>[0-9A-Fa-f]{1,8})"
    r"|(?P<oct>[0-7]{1,3})|c(?P<ctl>.)|(?P<one>.))",
    re.DOTALL,
)
ANSI_ONE = {
    "a": "\a",
    "b": "\b",
    "e": "\x1b",
    "E": "\x1b",
    "f": "\f",
    "n": "\n",
    "r": "\r",
    "t": "\t",
    "v": "\v",
}
LITERAL = {"word", "number", "raw_string", "ansi_c_string", "string"}


def word_of(node: Node) -> Word:
    """A word out of its node."""
    if node.type == "command_name" and node.named_child_count == 1:
        return word_of(node.named_children[0])
    text = _text(node)
    if node.type == "concatenation":
        return _joined(node, text)
    value = _value(node, text)
    bare = node.type in ("word", "number")
    return Word(
        text,
        None if bare and BRACES.search(text) else value,
        plain=node.type != "ansi_c_string" and not (bare and "\\" in text),
        glob=bare and bool(GLOB.search(text)),
    )


def _joined(node: Node, text: str) -> Word:
    parts = [word_of(child) for child in node.children]
    bare = "".join(_text(c) if c.type in ("word", "number") else "" for c in node.children)
    known = all(part.value is not None for part in parts) and not BRACES.search(bare)
    # Quotes in the middle of an option or a path are usual; in a name of letters they hide it.
    plain = all(part.plain for part in parts) and not all(c.isalnum() for c in bare)
    return Word(
        text,
        "".join(part.value or "" for part in parts) if known else None,
        plain=plain,
        glob=any(part.glob for part in parts),
    )


def _value(node: Node, text: str) -> str | None:
    if node.type not in LITERAL:
        # What concatenations hold beside words: braces and other single signs.
        return text if not node.is_named and text.isprintable() and "$" not in text else None
    if node.type == "raw_string":
        return text[1:-1]
    if node.type == "ansi_c_string":
        return ANSI.sub(_ansi, text[2:-1])
    if node.type == "string":
        if any(child.type != "string_content" for child in node.named_children):
            return None
        inner = text[1:-1]
        return IN_QUOTES.sub(lambda m: "" if m[1] == "\n" else m[1], inner)
    return ESCAPED.sub(r"\1", text)


def _ansi(match: re.Match[str]) -> str:
    for kind, radix in (("hex", 16), ("u", 16), ("U", 16), ("oct", 8)):
        if match[kind]:
            number = int(match[kind], radix)
            return chr(number) if number < 0x110000 else "\ufffd"
    if match["ctl"]:
        return chr(ord(match["ctl"]) & 0x1F)
    return ANSI_ONE.get(match["one"], match["one"] if match["one"] in "\\'\"?" else match[0])


def _text(node: Node) -> str:
    return (node.text or b"").decode("utf-8", "replace")
