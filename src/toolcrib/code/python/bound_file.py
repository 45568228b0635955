"""A Python file with its scopes."""

from __future__ import annotations

import ast

from toolcrib.code.python.last_name import last_name
from toolcrib.code.python.scope_walker import Walk
from toolcrib.code.python.scopes import Occurrence, Scope, resolve
from toolcrib.code.python.source import PythonSource, Spot
from toolcrib.core.errors import UnsupportedContent

__all__ = ["File", "last_name"]


class File:
    """A parsed file with its scopes.

    Attributes:
        source: the text and its tree.
        module: its outermost scope, each name resolved.
        scopes: the scope that each node opens.
        parents: the node that holds each node.
        within: the scope in which each name, attribute and call is evaluated.
        names: the occurrence of each `Name` node.
        shifts: for what stands in a string annotation, where that string begins.
    """

    def __init__(self, source: PythonSource) -> None:
        """Resolve every name.

        Raises:
            UnsupportedContent: it is nested too deep.
        """
        self.source = source
        self.path = source.path
        self.module = Scope("module", source.tree, None)
        self.scopes: dict[ast.AST, Scope] = {source.tree: self.module}
        self.parents: dict[ast.AST, ast.AST] = {}
        self.within: dict[ast.AST, Scope] = {}
        self.names: dict[ast.AST, Occurrence] = {}
        self.shifts: dict[ast.AST, Spot] = {}
        builder = Walk(self)
        try:
            builder.body(source.tree.body)
        except RecursionError:
            raise UnsupportedContent(
                f"{source.path}: it is nested too deep.", hint="Leave it out."
            ) from None
        resolve(self.module)

    def scope_at(self, line: int) -> Scope:
        """The innermost function, class or module that holds a line."""
        best = self.module
        for scope in self.module.walk():
            if scope.kind in ("function", "class"):
                first = getattr(scope.node, "lineno", 1)
                last = getattr(scope.node, "end_lineno", 0) or 0
                if first <= line <= last:
                    best = scope
        return best

    def attribute_spot(self, node: ast.Attribute) -> Spot:
        """Where the name of an attribute stands."""
        line, end = node.end_lineno or node.lineno, node.end_col_offset or 0
        shift = self.shifts.get(node)
        if shift is not None:
            return Spot(shift.line, shift.column + end - len(node.attr), shift.column + end)
        return self.source.spot_before(line, end, node.attr)

    def attributes(self, name: str) -> list[ast.Attribute]:
        """Every attribute with a name."""
        return [n for n in self.within if isinstance(n, ast.Attribute) and n.attr == name]

    def calls(self, *names: str) -> list[ast.Call]:
        """Every call of something whose last name is one of some."""
        return [n for n in self.within if isinstance(n, ast.Call) and last_name(n.func) in names]

    def at(self, node: ast.AST) -> str:
        """`path:line: `, the beginning of a sentence about a node."""
        shift = self.shifts.get(node)
        return f"{self.path}:{shift.line if shift else getattr(node, 'lineno', 1)}: "

    def enclosing(self, node: ast.AST, *kinds: type[ast.AST]) -> ast.AST | None:
        """The nearest node around another that is of some kind."""
        parent = self.parents.get(node)
        while parent is not None and not isinstance(parent, kinds):
            parent = self.parents.get(parent)
        return parent
