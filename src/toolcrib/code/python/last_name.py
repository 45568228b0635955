"""The last name of an expression."""

from __future__ import annotations

import ast


def last_name(node: ast.AST | None) -> str:
    """The last name of `a.b.C`."""
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""
