"""Reading a shell text by the grammar of bash."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING

from toolcrib.execution.shell.script import Command, Script, Word
from toolcrib.execution.shell.words import word_of
from toolcrib.execution.shell.wrappers import inside, is_fed_shell

if TYPE_CHECKING:
    from tree_sitter import Language, Node, Parser

MOST_CHARS = 100_000
"""A longer text is not read: all of it is unknown."""
DEEPEST = 5
"""Shell texts in the words of commands, one in another."""
MOST_COMMANDS = 2_000
TORN = re.compile(r"[^\s\\]\\\n\S")
"""A word that goes on in the next line: the grammar sees two, the shell one."""
SIMPLE = frozenset(
    (
        *("program", "list", "pipeline", "command", "command_name", "redirected_statement"),
        *("subshell", "compound_statement", "negated_command", "comment", "word", "number"),
        *("raw_string", "string", "string_content", "ansi_c_string", "concatenation"),
        *("file_descriptor", "heredoc_redirect", "heredoc_start", "heredoc_body"),
        *("heredoc_content", "heredoc_end", "herestring_redirect", "file_redirect"),
    )
)
SAID = {
    "command_substitution": "it puts the output of a command into another",
    "process_substitution": "it puts a process in the place of a file",
    "variable_assignment": "it sets a variable",
    "declaration_command": "it sets a variable",
    "unset_command": "it unsets a variable",
    "function_definition": "it defines a function",
    "simple_expansion": "it uses a variable",
    "expansion": "it uses a variable",
}
NOWHERE = {"/dev/null", "/dev/stdout", "/dev/stderr"}
REDIRECTS = {"file_redirect", "heredoc_redirect", "herestring_redirect"}
LISTED = {"declaration_command", "unset_command"}


@dataclass
class _Found:
    commands: list[Command] = field(default_factory=list)
    unknown: dict[str, None] = field(default_factory=dict)
    doubts: dict[str, None] = field(default_factory=dict)
    reads: list[Word] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    """What is given to commands as their input."""


def read_script(text: str) -> Script:
    """What a text would run. It never fails: what cannot be read is `unknown`."""
    found = _Found()
    _collect(text, found, 0)
    return Script(
        tuple(found.commands), tuple(found.unknown), tuple(found.doubts), tuple(found.reads)
    )


def _parser() -> Parser | None:
    """A new one each time: one must not be used by two threads."""
    try:
        from tree_sitter import Parser

        return Parser(_language())
    except ImportError:
        return None


@cache
def _language() -> Language:
    import tree_sitter_bash
    from tree_sitter import Language

    return Language(tree_sitter_bash.language())


def _collect(text: str, found: _Found, depth: int) -> None:
    odd = _odd(text)
    if odd:
        found.unknown[odd] = None
    parser = _parser()
    if parser is None:
        found.unknown["the reader of shell texts is not installed"] = None
        return
    if len(text) > MOST_CHARS or depth > DEEPEST or len(found.commands) > MOST_COMMANDS:
        found.unknown["it is too long or too deep to be read"] = None
        return
    root = parser.parse(text.encode("utf-8", "replace")).root_node
    if root.has_error:
        found.unknown["it cannot be read as shell for certain"] = None
    first = len(found.commands)
    inputs = len(found.texts)
    waiting = [root]
    while waiting:
        node = waiting.pop()
        _look(node, found)
        waiting += reversed(node.children)
    for command in found.commands[first:]:
        _unwrap(command, found, depth, found.texts[inputs:])


def _look(node: Node, found: _Found) -> None:
    if node.type == "command":
        words = [word_of(c) for c in node.named_children if _is_word(c)]
        if words:
            _add(found, Command(tuple(words)))
    elif node.type in LISTED:
        words = [Word(node.children[0].type, node.children[0].type)]
        words += [word_of(c) for c in node.named_children]
        _add(found, Command(tuple(words)))
    elif node.type == "file_redirect":
        _redirected(node, found)
    elif node.type in ("heredoc_body", "herestring_redirect"):
        found.texts.append((node.text or b"").decode("utf-8", "replace").lstrip("<").strip("'\" "))
    if node.is_named and node.type not in SIMPLE and node.type != "ERROR":
        found.doubts[SAID.get(node.type, "it is more than a plain command")] = None


def _is_word(node: Node) -> bool:
    return node.type not in REDIRECTS and node.type not in ("variable_assignment", "comment")


def _add(found: _Found, command: Command) -> None:
    first = command.words[0]
    if first.value is None or first.glob:
        found.unknown[f"the name of a command is not written out: {first.text[:80]}"] = None
    found.commands.append(command)


def _redirected(node: Node, found: _Found) -> None:
    sign = next((c.type for c in node.children if not c.is_named), "")
    targets = [word_of(c) for c in node.named_children if c.type != "file_descriptor"]
    for target in targets:
        if sign == "<":
            found.reads.append(target)
        elif sign in (">&", "<&") and (target.value or "").rstrip("-").isdigit():
            continue
        elif target.value not in NOWHERE:
            found.doubts[f"it writes to {target.text[:80]}"] = None


def _unwrap(command: Command, found: _Found, depth: int, inputs: list[str]) -> None:
    """Add the commands that a command runs, out of its words."""
    inner = inside(command)
    for reason in inner.unknown:
        found.unknown[reason] = None
    for nested in inner.commands:
        if len(found.commands) < MOST_COMMANDS:
            found.commands.append(nested)
    for text in inner.texts:
        _collect(text, found, depth + 1)
    if is_fed_shell(command):
        if inputs or depth == 0:
            found.unknown["a shell reads what it runs from its input"] = None
        for text in inputs if depth < DEEPEST else ():
            _collect(text, found, depth + 2)


def _odd(text: str) -> str:
    """What in a text makes it mean something else than it seems to."""
    for char in text:
        if char in "\t\n" or " " <= char <= "~":
            continue
        kind = unicodedata.category(char)
        if kind in ("Cc", "Cf", "Zs", "Zl", "Zp", "Cs"):
            return f"it holds a character that cannot be seen (U+{ord(char):04X})"
    return "a word goes on in the next line" if TORN.search(text) else ""
