"""How names are used in JavaScript and TypeScript: read, written, and from which function."""

from __future__ import annotations

from typing import Any

from toolcrib.code.javascript.program import PASSED

FUNCTIONS = frozenset(
    [
        "function_declaration",
        "generator_function_declaration",
        "function_expression",
        "generator_function",
        "arrow_function",
        "method_definition",
        "class_static_block",
        "field_definition",
        "public_field_definition",
    ]
)
_PATTERNS = frozenset(
    [
        "object_pattern",
        "array_pattern",
        "rest_pattern",
        "assignment_pattern",
        "object_assignment_pattern",
        "pair_pattern",
        *PASSED,
    ]
)


def is_write(node: Any) -> bool:
    """Whether a use of a name gives it another value."""
    child, parent = node, node.parent()
    while parent is not None and parent.kind() in _PATTERNS:
        kind = parent.kind()
        if kind in ("assignment_pattern", "object_assignment_pattern"):
            if parent.field("right") == child:
                return False
        elif kind == "pair_pattern" and parent.field("key") == child:
            return False
        child, parent = parent, parent.parent()
    kind = parent.kind() if parent is not None else ""
    if kind in ("assignment_expression", "augmented_assignment_expression"):
        return bool(parent.field("left") == child)
    if kind == "for_in_statement":
        return parent.field("kind") is None and bool(parent.field("left") == child)
    return kind == "update_expression"


def function_of(node: Any) -> Any:
    """The function in which a node stands; None at the top of a file."""
    node = node.parent()
    while node is not None and node.kind() not in FUNCTIONS:
        node = node.parent()
    return node
