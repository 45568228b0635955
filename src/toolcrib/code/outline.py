"""What a source file defines: every function, class and type with its line and its head."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from toolcrib.code.parser import parse

WIDTH = 160
"""Characters of a head."""

_FUNCTION = "function"
_KINDS: Final[dict[str, dict[str, str]]] = {
    "python": {"function_definition": _FUNCTION, "class_definition": "class"},
    "javascript": {
        "function_declaration": _FUNCTION,
        "generator_function_declaration": _FUNCTION,
        "class_declaration": "class",
        "method_definition": "method",
        "field_definition": "field",
        "variable_declarator": "variable",
    },
    "go": {
        "function_declaration": _FUNCTION,
        "method_declaration": "method",
        "type_spec": "type",
        "type_alias": "type",
        "const_spec": "constant",
        "var_spec": "variable",
    },
    "rust": {
        "function_item": _FUNCTION,
        "function_signature_item": _FUNCTION,
        "struct_item": "struct",
        "enum_item": "enum",
        "union_item": "struct",
        "trait_item": "trait",
        "impl_item": "impl",
        "mod_item": "module",
        "macro_definition": "macro",
        "const_item": "constant",
        "static_item": "variable",
        "type_item": "type",
    },
    "java": {
        "class_declaration": "class",
        "interface_declaration": "interface",
        "enum_declaration": "enum",
        "record_declaration": "class",
        "annotation_type_declaration": "interface",
        "method_declaration": "method",
        "constructor_declaration": "method",
    },
    "c": {
        "function_definition": _FUNCTION,
        "declaration": _FUNCTION,
        "struct_specifier": "struct",
        "union_specifier": "struct",
        "enum_specifier": "enum",
        "type_definition": "type",
        "preproc_function_def": "macro",
    },
    "csharp": {
        "namespace_declaration": "module",
        "file_scoped_namespace_declaration": "module",
        "class_declaration": "class",
        "interface_declaration": "interface",
        "struct_declaration": "struct",
        "enum_declaration": "enum",
        "record_declaration": "class",
        "delegate_declaration": "type",
        "method_declaration": "method",
        "constructor_declaration": "method",
        "property_declaration": "field",
    },
    "ruby": {
        "class": "class",
        "module": "module",
        "method": _FUNCTION,
        "singleton_method": _FUNCTION,
    },
    "php": {
        "namespace_definition": "module",
        "class_declaration": "class",
        "interface_declaration": "interface",
        "trait_declaration": "trait",
        "enum_declaration": "enum",
        "function_definition": _FUNCTION,
        "method_declaration": "method",
    },
    "kotlin": {
        "class_declaration": "class",
        "object_declaration": "class",
        "companion_object": "class",
        "function_declaration": _FUNCTION,
        "type_alias": "type",
    },
    "swift": {
        "class_declaration": "class",
        "protocol_declaration": "interface",
        "function_declaration": _FUNCTION,
        "protocol_function_declaration": _FUNCTION,
        "init_declaration": "method",
        "typealias_declaration": "type",
    },
    "scala": {
        "class_definition": "class",
        "object_definition": "class",
        "trait_definition": "trait",
        "enum_definition": "enum",
        "function_definition": _FUNCTION,
        "function_declaration": _FUNCTION,
        "type_definition": "type",
    },
    "lua": {"function_declaration": _FUNCTION},
    "bash": {"function_definition": _FUNCTION},
}
_KINDS["typescript"] = _KINDS["javascript"] | {
    "abstract_class_declaration": "class",
    "interface_declaration": "interface",
    "type_alias_declaration": "type",
    "enum_declaration": "enum",
    "internal_module": "module",
    "module": "module",
    "function_signature": _FUNCTION,
    "method_signature": "method",
    "abstract_method_signature": "method",
    "public_field_definition": "field",
}
del _KINDS["typescript"]["field_definition"]
_KINDS["tsx"] = _KINDS["typescript"]
_KINDS["cpp"] = _KINDS["c"] | {
    "class_specifier": "class",
    "namespace_definition": "module",
    "field_declaration": "method",
    "alias_declaration": "type",
}
_VARIABLES: Final = {"python": "assignment"}
CALLABLE = ("arrow_function", "function_expression", "function", "generator_function", "class")
HOLDERS = frozenset(["class", "interface", "struct", "trait", "impl", "enum"])
HOLDERS_OF_SMALL = HOLDERS | {"module"}
SMALL = frozenset(["variable", "constant", "field"])
_NAMES = frozenset(
    ["identifier", "type_identifier", "simple_identifier", "field_identifier", "word", "name"]
)
_DECLARATORS = frozenset(
    ["function_definition", "declaration", "field_declaration", "type_definition"]
)
_UNNAMED = {"init_declaration": "init", "companion_object": "companion"}
_NEED_BODY = frozenset(["struct_specifier", "union_specifier", "enum_specifier", "class_specifier"])


@dataclass(slots=True)
class Symbol:
    """Something that is defined.

    Attributes:
        kind: "function", "method", "class", "interface", "struct", "enum", "trait", "impl",
            "type", "module", "macro", "field", "variable", "constant".
        line: of its name, from 1.
        end: the last line.
        level: how many of the symbols of the file hold it.
        holder: the names of those, with dots.
        head: its text up to the body, in one line.
    """

    name: str
    kind: str
    line: int
    end: int
    level: int
    holder: str
    head: str


def symbols(text: str, language: str) -> list[Symbol]:
    """What a text defines, in its order; local variables are left out.

    Raises:
        MissingExtra: ast-grep is not installed.
    """
    root = parse(text, language)
    kinds = _KINDS[language]
    wanted = [*kinds, *([_VARIABLES[language]] if language in _VARIABLES else [])]
    found: list[Symbol] = []
    open_: list[tuple[int, Symbol]] = []
    for node in root.find_all(any=[{"kind": kind} for kind in wanted]):
        node_kind = node.kind()
        named = _named(node, node_kind, language)
        if named is None:
            continue
        span, (name_node, name) = node.range(), named
        first, end = span.start.index, span.end.index
        while open_ and first >= open_[-1][0]:
            open_.pop()
        above = open_[-1][1] if open_ else None
        kind = _kind(node, kinds.get(node_kind, "variable"), above)
        if kind in SMALL and above is not None and above.kind not in HOLDERS_OF_SMALL:
            continue
        start = first if language == "python" else _start(node, first, span.start.line)
        symbol = Symbol(
            name,
            kind,
            name_node.range().start.line + 1,
            span.end.line + 1,
            above.level + 1 if above else 0,
            f"{above.holder}.{above.name}".lstrip(".") if above else "",
            _head(node, text, start, end),
        )
        found.append(symbol)
        if kind not in SMALL:
            open_.append((end, symbol))
    return found


def in_outline(symbol: Symbol) -> bool:
    """Whether a symbol is worth a line in an outline."""
    return symbol.kind not in SMALL


def _kind(node: Any, kind: str, above: Symbol | None) -> str:
    if kind in ("variable", "field"):
        value = node.field("value")
        if value is not None and value.kind() in CALLABLE and node.kind() != "assignment":
            if value.kind() == "class":
                return "class"
            return "method" if kind == "field" else _FUNCTION
    if kind == _FUNCTION and above is not None and above.kind in HOLDERS:
        return "method"
    return kind


def _named(node: Any, kind: str, language: str) -> tuple[Any, str] | None:
    """The node of the name, and the name; None for what is no definition after all."""
    if kind == "assignment":
        return _assigned(node)
    if language in ("c", "cpp") and kind in _DECLARATORS:
        return _declared(node, kind)
    if kind in _NEED_BODY and node.field("body") is None:
        return None
    if kind in _UNNAMED:
        return node, _UNNAMED[kind]
    name = node.field("type" if kind == "impl_item" else "name")
    if name is None:
        name = next((child for child in node.children() if child.kind() in _NAMES), None)
    if name is None or name.kind() in ("object_pattern", "array_pattern"):
        return None
    if kind == "variable_declarator" and not _is_top(node):
        value = node.field("value")
        if value is None or value.kind() not in CALLABLE:
            return None
    return name, " ".join(name.text().split())


def _assigned(node: Any) -> tuple[Any, str] | None:
    """The name that a module or a class of Python sets."""
    name, around = node.field("left"), node.parent().parent()
    if name is None or name.kind() != "identifier" or around is None:
        return None
    holder = around.parent() if around.kind() == "block" else None
    if around.kind() != "module" and (holder is None or holder.kind() != "class_definition"):
        return None
    return name, name.text()


def _is_top(node: Any) -> bool:
    around = node.parent().parent()
    return around is None or around.kind() in ("program", "export_statement")


def _declared(node: Any, kind: str) -> tuple[Any, str] | None:
    """The name inside the declarators of C."""
    inner, function = node.field("declarator"), False
    while inner is not None:
        function = function or inner.kind() == "function_declarator"
        deeper = inner.field("declarator")
        if deeper is None and inner.kind() in ("reference_declarator", "parenthesized_declarator"):
            deeper = next((c for c in inner.children() if c.is_named()), None)
        if deeper is None:
            break
        inner = deeper
    if inner is None or (not function and kind != "type_definition"):
        return None
    return inner, inner.text()


def _start(node: Any, start: int, line: int) -> int:
    """Where the head starts: behind decorators and annotations, with `export` and `const`."""
    for child in node.children():
        kind = child.kind()
        if kind in ("decorator", "attribute_list") or (
            kind == "modifiers" and "\n" in child.text()
        ):
            start = child.range().end.index
    around = node.parent()
    while around is not None and around.kind() in (
        "export_statement",
        "lexical_declaration",
        "variable_declaration",
        "ambient_declaration",
        "type_declaration",
        "template_declaration",
    ):
        before = around.range().start
        if before.line != line:
            break
        if not any(child.kind() == "decorator" for child in around.children()):
            start = before.index
        around = around.parent()
    return int(start)


def _head(node: Any, text: str, start: int, end: int) -> str:
    body = node.field("body")
    if body is None:
        value = node.field("value")
        if value is not None and value.kind() in CALLABLE:
            body = value.field("body")
        if body is None:
            body = next((c for c in node.children() if c.kind().endswith("_body")), None)
    if body is not None:
        at = body.range().start.index
        end = at if at > start else end
    # What stands far from the start is not shown, and not looked at.
    piece = text[start : min(end, start + 4 * WIDTH)]
    if body is None:
        piece = piece.split("\n", 1)[0]
    head = " ".join(piece.split()).rstrip("{:=; ")
    head = head.removesuffix("=>").rstrip()
    return head if len(head) <= WIDTH else f"{head[: WIDTH - 1]}\u2026"
