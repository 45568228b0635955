"""What goes into extracted lines and comes out of them, and what stands in the way."""

from __future__ import annotations

import ast

from toolcrib.code.python.bound_file import File
from toolcrib.code.python.classes import method_of
from toolcrib.code.python.flow import FlowOf
from toolcrib.code.python.inference import Inference
from toolcrib.code.python.members import Members
from toolcrib.code.python.scopes import Occurrence
from toolcrib.code.python.selection import LOOPS, Part, bodies_of
from toolcrib.core.errors import BadInput, Conflict

Function = ast.FunctionDef | ast.AsyncFunctionDef
_STAY = "Choose other lines, or change the code first so that these stand on their own."


class Extraction:
    """Lines that are to be a function of their own."""

    def __init__(self, file: File, part: Part, name: str, inference: Inference) -> None:
        self.file = file
        self.part = part
        self.name = name
        self.inference = inference
        self.scope = file.within[part.statements[0]]
        self.nodes = {n for s in part.statements for n in ast.walk(s)}
        self.flow = FlowOf(file, self.scope)
        self.function = self.scope.node if isinstance(self.scope.node, Function) else None
        self.method = method_of(file, self.scope) if self.function is not None else None
        self._find()

    # Which names go in and come out

    def _find(self) -> None:
        inside = self.flow.of(self.part.statements)
        self.inside = inside
        self.stored = self._stored()
        after = self._read_after()
        self.results = sorted(
            (self.stored & after) if self.function else self._outward(), key=self._order
        )
        unsure = {name for name in self.results if name not in inside.bound}
        wanted = inside.reads | unsure
        self.parameters = sorted((n for n in wanted if self._is_given(n)), key=self._order)
        self.unsure = unsure

    def _order(self, name: str) -> int:
        bound = self.scope.bound.get(name) or []
        return min((b.order for b in bound), default=0)

    def _stored(self) -> set[str]:
        start, stop = self._lines()
        return {
            b.name
            for bound in self.scope.bound.values()
            for b in bound
            if start <= b.spot.line <= stop and b.role not in ("annotate", "delete")
        }

    def _lines(self) -> tuple[int, int]:
        return self.part.begin, self.part.end

    def _is_in(self, occurrence: Occurrence) -> bool:
        start, stop = self._lines()
        return start <= occurrence.spot.line <= stop

    def _outward(self) -> set[str]:
        """Of a module: all that is bound, since anybody may use it."""
        return set(self.stored)

    def _is_given(self, name: str) -> bool:
        """Whether a name has to be handed over."""
        if self.method is not None and name == self.method[1].first:
            return False
        if self.function is not None or name in self.stored:
            return True
        return any(b.role in ("assign", "annotate") for b in self.scope.bound.get(name, ()))

    def _read_after(self) -> set[str]:
        """Names that may be read when the lines have run."""
        found = set(self.flow.of(self.part.rest).reads)
        child: ast.AST = self.part.statements[0]
        for node in self.part.above:
            if node is self.scope.node:
                break
            if isinstance(node, LOOPS) and child in node.body:
                found |= self.flow.of([node]).reads | self.flow.of(node.body).reads
                found |= self.flow.of(node.orelse).reads
            if isinstance(node, ast.Try | getattr(ast, "TryStar", ast.Try)):
                for handler in node.handlers:
                    found |= self.flow.of(handler.body).reads
                found |= self.flow.of([*node.orelse]).reads | self.flow.of(node.finalbody).reads
            parent = self.file.parents.get(node)
            for body in bodies_of(parent) if parent is not None else ():
                if node in body:
                    index = body.index(node)
                    found |= self.flow.of(body[index + 1 :]).reads
            child = node
        return found

    # What stands in the way

    def check(self) -> None:
        """Refuse what cannot be proven.

        Raises:
            BadInput: the lines are of a class body.
            Conflict: it would change what the program does.
        """
        if self.scope.kind == "class":
            raise BadInput(
                "The lines are of a class body.", hint="Choose lines of a function or a module."
            )
        against = [*self._crossing(), *self._dynamic(), *self._unproven(), *self._taken()]
        if against:
            raise Conflict(
                "The lines are not extracted; this stands in the way:\n" + "\n".join(against[:20]),
                hint=_STAY,
                obstacles=against[:100],
            )

    def _at(self, node: ast.AST) -> str:
        return self.file.at(node)

    def _crossing(self) -> list[str]:
        found = []
        first = self.part.statements[0]
        if (
            (
                isinstance(first, ast.Expr)
                and self.part.first == 0
                and isinstance(first.value, ast.Constant)
            )
            and isinstance(first.value.value, str)
            and self.part.body is getattr(self.scope.node, "body", None)
        ):
            found.append(f"{self._at(first)}it is a docstring.")
        for statement in self.part.statements:
            if isinstance(statement, ast.ImportFrom) and statement.module == "__future__":
                found.append(f"{self._at(statement)}it must stay at the top.")  # noqa: PERF401 - reads best so
        for node in self.nodes:
            if self.file.within.get(node) is not self.scope:
                continue
            word = type(node).__name__.lower()
            if isinstance(node, ast.Return | ast.Yield | ast.YieldFrom):
                found.append(f"{self._at(node)}`{word.removesuffix('from')}` leaves the function.")
            elif isinstance(node, ast.Break | ast.Continue) and not self._loops_inside(node):
                found.append(f"{self._at(node)}`{word}` belongs to a loop outside of the lines.")
            elif isinstance(node, ast.Global | ast.Nonlocal | ast.Delete):
                found.append(
                    f"{self._at(node)}`{'del' if word == 'delete' else word}` is not moved."
                )
            elif isinstance(node, ast.ImportFrom) and node.names[0].name == "*":
                found.append(f"{self._at(node)}`import *` is not moved.")
        return found

    def _loops_inside(self, node: ast.AST) -> bool:
        child, parent = node, self.file.parents.get(node)
        while parent is not None and parent in self.nodes:
            if isinstance(parent, LOOPS) and child not in parent.orelse:
                return True
            child, parent = parent, self.file.parents.get(parent)
        return False

    def _dynamic(self) -> list[str]:
        found = []
        for call in self.file.calls("eval", "exec", "locals", "vars", "dir"):
            within = self.file.within[call]
            if (
                isinstance(call.func, ast.Name)
                and not (call.args and call.func.id in ("vars", "dir"))
                and (call in self.nodes or (self.function and within is self.scope))
            ):
                found.append(f"{self._at(call)}{call.func.id}() sees the names of its function.")
        for call in self.file.calls("_getframe", "currentframe"):
            if call in self.nodes:
                found.append(f"{self._at(call)}it looks at the function that runs.")  # noqa: PERF401 - reads best so
        if self.method is None:
            for call in self.file.calls("super"):
                if call in self.nodes and not call.args and self.file.within[call].kind != "class":  # noqa: SIM102 - reads best so
                    if self.function is not None and self.file.within[call] is self.scope:
                        found.append(f"{self._at(call)}super() needs its method.")
        return found

    def _unproven(self) -> list[str]:
        found = []
        declared = self.scope.globals | self.scope.nonlocals
        start, _ = self._lines()
        for occurrence in self.scope.occurrences:
            if (
                occurrence.name in declared
                and self._is_in(occurrence)
                and occurrence.role != "load"
            ):
                found.append(  # noqa: PERF401 - reads best so
                    f"{self.file.path}:{occurrence.spot.line}: {occurrence.name} is "
                    "not a name of this function."
                )
        before = self._bound_before()
        for name in self.parameters:
            if name not in before:
                found.append(  # noqa: PERF401 - reads best so
                    f"{self.file.path}:{start}: {name} may not be bound before these lines."
                )
        found += self._captured()
        if self.method is not None and self.method[1].first in self.stored:
            found.append(f"{self.file.path}:{start}: {self.method[1].first} is bound anew.")
        return found

    def _bound_before(self) -> set[str]:  # noqa: C901 - one list of cases
        """Names that are surely bound when the lines begin."""
        bound: set[str] = set()
        if self.function is not None:
            arguments = self.function.args
            more = [a for a in (arguments.vararg, arguments.kwarg) if a]
            bound = {
                a.arg
                for a in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, *more]
            }
        chain = [self.part.statements[0], *self.part.above]
        chain = chain[: chain.index(self.scope.node) + 1]
        for node, inner in reversed(list(zip(chain[1:], chain, strict=False))):
            if isinstance(node, ast.For | ast.AsyncFor) and inner in node.body:
                bound |= self.flow.of([node.target], bound).bound
            elif isinstance(node, ast.With | ast.AsyncWith):
                for item in node.items:
                    bound = self.flow.of(
                        [v for v in (item.context_expr, item.optional_vars) if v], bound
                    ).bound
            elif isinstance(node, ast.If | ast.While):
                bound = self.flow.of([node.test], bound).bound
            elif isinstance(node, ast.ExceptHandler) and node.name:
                bound.add(node.name)
            elif isinstance(node, ast.match_case):
                for pattern in ast.walk(node.pattern):
                    name = getattr(pattern, "name", None) or getattr(pattern, "rest", None)
                    bound |= {name} if isinstance(name, str) else set()
            elif isinstance(node, ast.Try) and inner in node.orelse:
                bound = self.flow.of(node.body, bound).bound
            for body in bodies_of(node):
                if inner in body:
                    index = body.index(inner)
                    bound = self.flow.of(body[:index], bound).bound
        return bound

    def _captured(self) -> list[str]:
        """Functions inside of the function that see its names change."""
        found = []
        for inner in self.scope.walk():
            lazy = inner.kind in ("function", "lambda", "class") or isinstance(
                inner.node, ast.GeneratorExp
            )
            if inner is self.scope or not lazy:
                continue
            for use in inner.all():
                if use.owner is not self.scope:
                    continue
                name, where = use.name, f"{self.file.path}:{use.spot.line}: "
                if self._is_in(use):
                    # What is a parameter or a local of the new function must not change later.
                    given = name in self.parameters or name in self.stored
                    rebound = [b for b in self.scope.bound.get(name, ()) if not self._is_in(b)]
                    if (self.function and given and self._later(rebound)) or use.role != "load":
                        found.append(f"{where}a function in it sees {name} change later.")
                elif name in self.stored:
                    found.append(f"{where}a function sees {name}, which these lines bind.")
        return found

    def _later(self, bound: list[Occurrence]) -> bool:
        start, _ = self._lines()
        in_loop = any(isinstance(n, LOOPS) for n in self.part.above)
        return any(b.spot.line > start or in_loop for b in bound if b.role != "parameter")

    def _taken(self) -> list[str]:
        found = []
        if self.method is not None:
            members = Members(
                self.inference.classes.program, self.inference, self.method[0], self.name
            )
            members.search()
            members.related |= {self.method[0]}
            return members.clashes(self.name)
        for occurrence in self.file.module.all():
            if occurrence.name == self.name:
                found.append(  # noqa: PERF401 - reads best so
                    f"{self.file.path}:{occurrence.spot.line}: {self.name} is used already."
                )
        return found[:1]
