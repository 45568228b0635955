"""Which names a run of statements reads before it binds them, and which it surely binds."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from toolcrib.code.python.bound_file import File
from toolcrib.code.python.scopes import Scope


@dataclass(slots=True)
class Flow:
    """What was found on the way.

    Attributes:
        reads: names that are read where they may not have been bound before.
        bound: names that are surely bound at the end.
        ends: whether the end is never reached.
    """

    reads: set[str] = field(default_factory=set)
    bound: set[str] = field(default_factory=set)
    ends: bool = False


class FlowOf:
    """The flow of names that belong to one scope of a file."""

    def __init__(self, file: File, owner: Scope) -> None:
        self._file = file
        self._owner = owner

    def of(self, statements: Sequence[ast.AST], bound: Iterable[str] = ()) -> Flow:
        """Follow statements, some names being bound before."""
        flow = Flow(bound=set(bound))
        for statement in statements:
            if not flow.ends:
                self._step(statement, flow)
        return flow

    def _step(self, node: ast.AST, flow: Flow) -> None:
        method = getattr(self, f"_{type(node).__name__.lower()}", None)
        if method is not None:
            method(node, flow)
        else:
            self._plain(node, flow)
            if isinstance(node, ast.Return | ast.Raise | ast.Break | ast.Continue):
                flow.ends = True

    def _plain(self, node: ast.AST | None, flow: Flow) -> None:
        """An expression or a simple statement: its reads first, then what it binds."""
        if node is None:
            return
        if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):  # noqa: SIM102 - reads best so
            if self._is_ours(node.target):
                self._read(node.target.id, flow)
        maybe = _sometimes(node)
        stores: set[str] = set()
        for inner in ast.walk(node):
            occurrence = self._file.names.get(inner)
            if occurrence is None or occurrence.owner is not self._owner:
                continue
            if occurrence.role == "load":
                self._read(occurrence.name, flow)
            elif occurrence.role == "assign" and inner not in maybe:
                stores.add(occurrence.name)
            elif occurrence.role == "delete":
                self._read(occurrence.name, flow)
                flow.bound.discard(occurrence.name)
        if isinstance(node, ast.Import | ast.ImportFrom):
            stores |= {a.asname or a.name.partition(".")[0] for a in node.names}
        flow.bound |= stores

    def _read(self, name: str, flow: Flow) -> None:
        if name not in flow.bound:
            flow.reads.add(name)

    def _is_ours(self, node: ast.Name) -> bool:
        found = self._file.names.get(node)
        return found is not None and found.owner is self._owner

    def _functiondef(self, node: ast.FunctionDef | ast.ClassDef, flow: Flow) -> None:
        self._plain(node, flow)
        flow.bound.add(node.name)

    _asyncfunctiondef = _classdef = _functiondef

    def _if(self, node: ast.If, flow: Flow) -> None:
        self._plain(node.test, flow)
        self._join(flow, [self.of(node.body, flow.bound), self.of(node.orelse, flow.bound)])

    def _join(self, flow: Flow, ways: list[Flow]) -> None:
        for way in ways:
            flow.reads |= way.reads
        open_ways = [way.bound for way in ways if not way.ends]
        if open_ways:
            flow.bound = set.intersection(*open_ways)
        else:
            flow.ends = True

    def _for(self, node: ast.For | ast.AsyncFor, flow: Flow) -> None:
        self._plain(node.iter, flow)
        before = set(flow.bound)
        inside = Flow(bound=set(before))
        self._plain(node.target, inside)
        body = self.of(node.body, inside.bound)
        flow.reads |= inside.reads | body.reads
        self._after_loop(node.orelse, flow, before)

    _asyncfor = _for

    def _while(self, node: ast.While, flow: Flow) -> None:
        self._plain(node.test, flow)
        body = self.of(node.body, flow.bound)
        flow.reads |= body.reads
        self._after_loop(node.orelse, flow, set(flow.bound))

    def _after_loop(self, orelse: list[ast.stmt], flow: Flow, before: set[str]) -> None:
        flow.reads |= self.of(orelse, before).reads
        flow.bound = before

    def _with(self, node: ast.With | ast.AsyncWith, flow: Flow) -> None:
        for item in node.items:
            self._plain(item.context_expr, flow)
            self._plain(item.optional_vars, flow)
        body = self.of(node.body, flow.bound)
        flow.reads |= body.reads
        if any("suppress" in ast.unparse(item.context_expr) for item in node.items):
            return
        flow.bound, flow.ends = body.bound, body.ends

    _asyncwith = _with

    def _try(self, node: ast.Try, flow: Flow) -> None:
        before = set(flow.bound)
        body = self.of(node.body, before)
        done = self.of(node.orelse, body.bound)
        done.ends = done.ends or body.ends
        ways = [done]
        flow.reads |= body.reads
        for handler in node.handlers:
            self._plain(handler.type, flow)
            known = before | ({handler.name} if handler.name else set())
            way = self.of(handler.body, known)
            if handler.name:
                way.bound.discard(handler.name)
            ways.append(way)
        self._join(flow, ways)
        last = self.of(node.finalbody, before)
        flow.reads |= last.reads
        flow.bound |= last.bound
        flow.ends = flow.ends or last.ends

    _trystar = _try

    def _match(self, node: ast.Match, flow: Flow) -> None:
        self._plain(node.subject, flow)
        ways = [Flow(bound=set(flow.bound))]
        for case in node.cases:
            known = set(flow.bound)
            for part in ast.walk(case.pattern):
                name = getattr(part, "name", None) or getattr(part, "rest", None)
                if isinstance(name, str):
                    known.add(name)
                self._plain(part, flow) if isinstance(part, ast.expr) else None
            head = Flow(bound=known)
            self._plain(case.guard, head)
            way = self.of(case.body, head.bound)
            way.reads |= head.reads
            ways.append(way)
        self._join(flow, ways)


def _sometimes(node: ast.AST) -> set[ast.AST]:
    """Names in an expression that are bound only in some cases."""
    found: set[ast.AST] = set()
    for inner in ast.walk(node):
        parts: list[ast.AST] = []
        if isinstance(inner, ast.BoolOp):
            parts = list(inner.values[1:])
        elif isinstance(inner, ast.IfExp):
            parts = [inner.body, inner.orelse]
        elif isinstance(inner, ast.Compare):
            parts = list(inner.comparators[1:])
        elif isinstance(
            inner,
            (
                ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp,
                ast.Lambda | ast.FunctionDef | ast.AsyncFunctionDef | ast.Assert,
            ),
        ):
            parts = [inner]
        for part in parts:
            found |= set(ast.walk(part))
    return found
