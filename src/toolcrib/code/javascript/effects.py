"""Whether loading a module of JavaScript or TypeScript does something, and in which order."""

from __future__ import annotations

from typing import Any

from toolcrib.code.javascript.imports import is_typed, said_of
from toolcrib.code.javascript.names import descendants, named
from toolcrib.code.javascript.program import Program
from toolcrib.core.errors import ToolError

_SILENT = frozenset(
    [
        "function_declaration",
        "generator_function_declaration",
        "function_expression",
        "generator_function",
        "arrow_function",
        "function_signature",
        "interface_declaration",
        "type_alias_declaration",
        "ambient_declaration",
        "import_alias",
        "empty_statement",
        "comment",
        "hash_bang_line",
        "identifier",
        "this",
        "string",
        "number",
        "regex",
        "true",
        "false",
        "null",
        "undefined",
        "export_clause",
        "namespace_export",
        "method_definition",
        "shorthand_property_identifier",
    ]
)
"""Nodes whose evaluation nobody can see."""
_INNER = frozenset(
    [
        "array",
        "parenthesized_expression",
        "object",
        "ternary_expression",
        "lexical_declaration",
        "variable_declaration",
        "non_null_expression",
    ]
)
"""Nodes that are silent when all their parts are."""
_MADE = frozenset(["Map", "Set", "WeakMap", "WeakSet", "Array", "Object", "AbortController"])
_MEMBERS = ("field_definition", "public_field_definition")


def is_silent(node: Any) -> bool:
    """Whether the evaluation of a statement or an expression does nothing that can be seen."""
    kind = node.kind()
    if kind in _SILENT:
        return True
    if kind in _INNER:
        return all(is_silent(child) for child in named(node))
    if kind in ("as_expression", "satisfies_expression"):
        return is_silent(named(node)[0])
    if kind in ("unary_expression", "binary_expression"):
        return all(_is_plain(node.field(part)) for part in ("argument", "left", "right"))
    return _is_silent_part(node, kind)


def _is_silent_part(node: Any, kind: str) -> bool:
    if kind in ("class_declaration", "class", "abstract_class_declaration"):
        return _is_silent_class(node)
    if kind == "variable_declarator":
        value, name = node.field("value"), node.field("name")
        return name.kind() == "identifier" and (value is None or is_silent(value))
    if kind == "expression_statement":
        return all(child.kind() == "string" for child in named(node))
    if kind == "pair":
        return node.field("key").kind() != "computed_property_name" and is_silent(
            node.field("value")
        )
    if kind == "enum_declaration":
        return next(descendants(node, "call_expression"), None) is None
    if kind == "template_string":
        return next(descendants(node, "template_substitution"), None) is None
    if kind == "new_expression":
        arguments = node.field("arguments")
        plain = arguments is None or not named(arguments)
        return plain and node.field("constructor").text() in _MADE
    return False


def _is_plain(node: Any) -> bool:
    return (
        node is None
        or node.kind() in ("number", "string", "true", "false", "null")
        or (node.kind() in ("unary_expression", "binary_expression") and is_silent(node))
    )


def _is_silent_class(node: Any) -> bool:
    for child in named(node):
        if child.kind() == "decorator":
            return False
        if child.kind() == "class_heritage":
            value = next((c for c in child.children() if c.kind() == "extends_clause"), None)
            parent = value.field("value") if value is not None else named(child)[0]
            if parent.kind() not in ("identifier", "implements_clause"):
                return False
    return all(_is_silent_member(member) for member in named(node.field("body")))


def _is_silent_member(member: Any) -> bool:
    kind = member.kind()
    if kind in ("class_static_block", "decorator"):
        return False
    name = member.field("name") or member.field("property")
    if name is not None and name.kind() == "computed_property_name":
        return False
    if kind not in _MEMBERS:
        return True
    kinds = {child.kind() for child in member.children()}
    value = member.field("value")
    loud = "static" in kinds and value is not None and not is_silent(value)
    return "decorator" not in kinds and not loud


class Loading:
    """What is known of loading the files of a program; it remembers. It blocks."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._own: dict[str, tuple[bool, set[str]]] = {}

    def noise(self, path: str) -> str:
        """The first file that does something when a file is loaded; "" for none.

        Packages from outside of the project are taken to be quiet.
        """
        seen, left = {path}, [path]
        while left:
            one = left.pop()
            loud, others = self._of(one)
            if loud:
                return one
            left += sorted(others - seen)
            seen |= others
        return ""

    def imports(self, path: str) -> set[str]:
        """The files that a file loads when it is loaded."""
        return self._of(path)[1]

    def _of(self, path: str) -> tuple[bool, set[str]]:
        known = self._own.get(path)
        if known is None:
            try:
                known = self._read(path)
            except ToolError:
                known = (True, set())
            self._own[path] = known
        return known

    def _read(self, path: str) -> tuple[bool, set[str]]:
        program = self._program
        if not program.is_script(path):
            return False, set()
        module = program.module(path)
        loud, others = bool(module.errors), set()
        for node in named(module.root):
            kind = node.kind()
            said = said_of(node)
            if said and not is_typed(node):
                target = program.specifiers.resolve(path, said)
                if target is not None and program.is_script(target):
                    others.add(target)
            elif kind == "export_statement":
                inner = node.field("declaration") or node.field("value")
                decorated = any(child.kind() == "decorator" for child in node.children())
                loud = loud or decorated or (inner is not None and not is_silent(inner))
            elif kind != "import_statement":
                loud = loud or not is_silent(node)
        for _, _, said in module.calls:  # `require` may stand anywhere
            target = program.specifiers.resolve(path, said)
            if target is not None and program.is_script(target):
                others.add(target)
        return loud, others
