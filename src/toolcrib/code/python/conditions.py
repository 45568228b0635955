"""What a condition says of a name in the branch that depends on it."""

from __future__ import annotations

import ast

from toolcrib.code.python.last_name import last_name


def is_taken(parent: ast.If | ast.IfExp, child: ast.AST) -> bool:
    """Whether a part of a condition runs only where the test holds."""
    if isinstance(parent, ast.IfExp):
        return child is parent.body
    return child in parent.body


def checked_kinds(test: ast.expr, name: str) -> ast.expr | None:
    """The classes that a test with `isinstance` asks for."""
    parts = test.values if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) else [test]
    for part in parts:
        if (
            isinstance(part, ast.Call)
            and last_name(part.func) == "isinstance"
            and len(part.args) == 2
            and isinstance(part.args[0], ast.Name)
            and part.args[0].id == name
        ):
            return part.args[1]
    return None


def stores(node: ast.Name) -> bool:
    """Whether a name is bound or deleted."""
    return not isinstance(node.ctx, ast.Load)
