"""What literals, operators and annotations say of a value."""

from __future__ import annotations

import ast
from abc import abstractmethod

from toolcrib.code.python.bound_file import File, last_name
from toolcrib.code.python.classes import Class, Classes, method_at, method_of
from toolcrib.code.python.program import Foreign
from toolcrib.code.python.values import (
    BOXES,
    MAPS,
    NOTHING,
    OPERATORS,
    PLAIN,
    PLAIN_TYPES,
    THROUGH,
    Function,
    Value,
    Values,
    union,
)


class Expressions:
    """The part of `Inference` that looks at nothing but the expression itself."""

    classes: Classes

    @abstractmethod
    def of(self, file: File, node: ast.AST | None) -> Values:
        """What an expression can be."""

    @abstractmethod
    def member(self, value: Value, name: str) -> Values:
        """What an attribute of a value can be."""

    @abstractmethod
    def called(self, function: Values) -> Values:
        """What a call of something gives."""

    @abstractmethod
    def made(self, name: str) -> Values:
        """An object of a class of Python's own."""

    # Other expressions

    def _constant(self, file: File, node: ast.Constant) -> Values:
        del file, node
        return PLAIN

    _joinedstr = _compare = _constant

    def _list(self, file: File, node: ast.List | ast.Tuple | ast.Set) -> Values:
        parts = [
            self.items(self.of(file, e.value)) if isinstance(e, ast.Starred) else self.of(file, e)
            for e in node.elts
        ]
        return frozenset([Value("box", items=union(parts))])

    _tuple = _set = _list

    def _dict(self, file: File, node: ast.Dict) -> Values:
        if None in node.keys:
            return frozenset([Value("box", items=None, name="dict")])
        items = union([self.of(file, v) for v in node.values])
        return frozenset([Value("box", items=items, name="dict")])

    def _listcomp(self, file: File, node: ast.ListComp) -> Values:
        return frozenset([Value("box", items=self.of(file, node.elt))])

    _setcomp = _generatorexp = _listcomp

    def _dictcomp(self, file: File, node: ast.DictComp) -> Values:
        return frozenset([Value("box", items=self.of(file, node.value), name="dict")])

    def _subscript(self, file: File, node: ast.Subscript) -> Values:
        base = self.of(file, node.value)
        if base is None:
            return None
        if isinstance(node.slice, ast.Slice):
            return base
        parts: list[Values] = []
        for value in base:
            if value.kind == "box":
                parts.append(value.items)
            elif value.kind == "class" and value.of is not None:
                parts.append(frozenset([value]))
            elif value.kind == "object":
                got = self.member(value, "__getitem__")
                parts.append(self.called(got) if got is not None else None)
            else:
                parts.append(PLAIN if value.kind == "plain" else None)
        return union(parts)

    def _ifexp(self, file: File, node: ast.IfExp) -> Values:
        return union([self.of(file, node.body), self.of(file, node.orelse)])

    def _boolop(self, file: File, node: ast.BoolOp) -> Values:
        return union([self.of(file, v) for v in node.values])

    def _namedexpr(self, file: File, node: ast.NamedExpr) -> Values:
        return self.of(file, node.value)

    def _await(self, file: File, node: ast.Await) -> Values:
        return union(
            [
                v.items if v.name == "coroutine" else None
                for v in self.of(file, node.value) or [Value("foreign")]
            ]
        )

    def _unaryop(self, file: File, node: ast.UnaryOp) -> Values:
        if isinstance(node.op, ast.Not):
            return PLAIN
        value = self.of(file, node.operand)
        return value if value is not None and value <= PLAIN else None

    def _binop(self, file: File, node: ast.BinOp) -> Values:
        left, right = self.of(file, node.left), self.of(file, node.right)
        if left is None or right is None:
            return None
        if left <= PLAIN and right <= PLAIN:
            return PLAIN
        if all(v.kind == "box" for v in left | right):
            return left | right
        name = OPERATORS.get(type(node.op), "")
        got = union([self.member(v, name) for v in left]) if name else None
        return self.called(got) if got is not None else None

    def items(self, values: Values, *, mapped: bool = False) -> Values:
        """What iterating gives; with `mapped`, the values of a mapping and not its keys."""
        if values is None:
            return None
        parts: list[Values] = []
        for value in values:
            if value.kind == "box":
                is_keys = value.name == "dict" and not mapped
                parts.append(PLAIN if is_keys else value.items)
            elif value.kind == "object":
                got = self.member(value, "__iter__")
                parts.append(self.items(self.called(got)) if got is not None else None)
            else:
                parts.append(PLAIN if value.kind == "plain" else None)
        return union(parts)

    # Annotations

    def annotated(self, file: File, node: ast.AST, function: Function | None = None) -> Values:  # noqa: C901 - one list of cases
        """What an annotation allows."""
        if isinstance(node, ast.Constant):
            if isinstance(node.value, str):
                return self._quoted(file, node)
            return PLAIN
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
            return union(
                [
                    self.annotated(file, node.left, function),
                    self.annotated(file, node.right, function),
                ]
            )
        if isinstance(node, ast.Tuple):
            return union([self.annotated(file, e, function) for e in node.elts])
        if isinstance(node, ast.Subscript):
            return self._generic(file, node, function)
        name = last_name(node)
        if name == "Self":
            method = method_at(file, file.within.get(node, file.module))
            if method is None and function is not None:
                method = method_of(file, file.scopes[function])
            return frozenset([Value("object", of=method[0])]) if method else None
        found = self.classes.of(file, node)
        if isinstance(found, Class):
            return frozenset([Value("object", of=found)])
        if isinstance(found, Foreign):
            if name in BOXES | MAPS:
                return frozenset([Value("box", items=None, name="dict" if name in MAPS else "")])
            return PLAIN if name in PLAIN_TYPES else self.made(found.name)
        return None

    def _quoted(self, file: File, node: ast.Constant) -> Values:
        for inner, shift in file.shifts.items():
            if (
                shift.line == node.lineno
                and isinstance(inner, ast.expr)
                and file.parents.get(inner) is None
            ):
                column = file.source.column(node.lineno, node.col_offset)
                if 0 < shift.column - column <= 4 and ast.unparse(inner):
                    return self.annotated(file, inner)
        return None

    def _generic(self, file: File, node: ast.Subscript, function: Function | None) -> Values:
        name = last_name(node.value)
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if name in THROUGH:
            wanted = parts[:1] if name == "Annotated" else parts
            return union(
                [
                    PLAIN if name == "Optional" else NOTHING,
                    *(self.annotated(file, p, function) for p in wanted),
                ]
            )
        if name in BOXES:
            kept = [p for p in parts if not (isinstance(p, ast.Constant) and p.value is ...)]
            kept = kept[:1] if "Generator" in name else kept
            return frozenset(
                [Value("box", items=union([self.annotated(file, p, function) for p in kept]))]
            )
        if name in MAPS and len(parts) == 2:
            return frozenset(
                [Value("box", items=self.annotated(file, parts[1], function), name="dict")]
            )
        if name in ("type", "Type"):
            found = self.annotated(file, parts[0], function)
            return (
                frozenset(Value("class", of=v.of) for v in found)
                if found and all(v.of for v in found)
                else None
            )
        if name in ("Literal", "Callable"):
            return PLAIN if name == "Literal" else None
        return self.annotated(file, node.value, function)
