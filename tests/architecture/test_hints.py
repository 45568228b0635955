"""Every error says what to do next: by a hint of its own, or by that of its class."""

from __future__ import annotations

import ast
import inspect

from tests.architecture.tree import modules
from tests.cases import each_case
from toolcrib.core import errors


def without_hint(tree: ast.AST) -> list[tuple[int, str]]:
    """The lines that make a ToolError without a hint."""
    found = []
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
            continue
        kind = getattr(errors, node.func.id, None)
        if not inspect.isclass(kind) or not issubclass(kind, errors.ToolError):
            continue
        makes_its_own = "__init__" in vars(kind) and kind is not errors.ToolError
        if kind.default_hint or makes_its_own:
            continue
        if not any(word.arg in ("hint", None) for word in node.keywords):
            found.append((node.lineno, node.func.id))
    return found


def test_errors_have_hints() -> None:
    bare = {m.where: found for m in modules().values() if (found := without_hint(m.tree))}
    assert bare == {}


@each_case(
    ("line", "bare"),
    [
        ('raise NotFound("x")', True),
        ('return NotFound("x", near=[])', True),
        ('raise NotFound("x", hint="y")', False),
        ('raise NotFound("x", **more)', False),
        ('raise Busy("x")', False),
        ('raise MissingExtra("x", "y")', False),
        ('raise ValueError("x")', False),
    ],
)
def test_bare_errors_are_seen(line: str, bare: bool) -> None:
    assert bool(without_hint(ast.parse(line))) == bare
