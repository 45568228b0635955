"""Function extraction in Python: selected statements, the flow of names, and the new text."""

from __future__ import annotations

import ast
import tokenize
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from toolcrib.code.operations import (
    ExtractionPlan,
    indent_of,
    need_lines,
    not_whole,
    reindented,
    shared_line,
)
from toolcrib.code.project import Project
from toolcrib.code.python.classes import method_of
from toolcrib.code.python.inference import Inference
from toolcrib.code.python.members import MemberReferences
from toolcrib.code.python.program import Program
from toolcrib.code.python.scopes import PythonFile, parameters
from toolcrib.code.python.source import Function, first_line, is_name
from toolcrib.code.scopes import LexicalScope, Occurrence
from toolcrib.core.errors import BadInput
from toolcrib.files.content.faithful import Splice

LOOPS = (ast.For, ast.AsyncFor, ast.While)


def plan_extraction(
    project: Project, path: str, lines: tuple[int, int], name: str
) -> ExtractionPlan:
    """See `toolcrib.code.operations.extract`."""
    program = Program(project)
    file = program.file(path)
    if not is_name(name):
        raise BadInput(f"{name!r} is not a name that Python allows.")
    extraction = PythonExtraction(file, part_of(file, *lines), name, Inference(program))
    obstacles = extraction.obstacles()
    if obstacles:
        return ExtractionPlan(obstacles)
    return ExtractionPlan([], extraction.parameters, extraction.results, extraction.splices())


# The statements of the lines


@dataclass(frozen=True, slots=True)
class PythonSelection:
    """Statements of one block, and the nodes around them, the innermost first."""

    body: list[ast.stmt]
    first: int
    last: int
    above: list[ast.AST]
    begin: int
    end: int

    @property
    def statements(self) -> list[ast.stmt]:
        """Those that are chosen."""
        return self.body[self.first : self.last + 1]

    @property
    def rest(self) -> list[ast.stmt]:
        """Those behind them."""
        return self.body[self.last + 1 :]


def part_of(file: PythonFile, start: int, end: int) -> PythonSelection:
    """The statements on some lines.

    Raises:
        BadInput: they are not whole statements of one block.
    """
    lines = need_lines(file.source.lines, start, end, file.path)
    best: tuple[list[ast.stmt], list[ast.stmt], list[ast.AST]] | None = None
    todo: list[tuple[ast.AST, list[ast.AST]]] = [(file.source.tree, [])]
    while todo:
        node, above = todo.pop()
        around = [node, *above]
        for body in bodies_of(node):
            touched = [s for s in body if first_line(s) <= end and (s.end_lineno or 0) >= start]
            if touched and start <= first_line(touched[0]) and (touched[-1].end_lineno or 0) <= end:
                best = (body, touched, around)
            todo += [(s, around) for s in touched]
        todo += [(h, around) for h in getattr(node, "handlers", ())]
        todo += [(c, around) for c in getattr(node, "cases", ())]
        if best is not None:
            break
    if best is None:
        raise not_whole(f"Lines {start} to {end}")
    body, touched, above = best
    first, last = body.index(touched[0]), body.index(touched[-1])
    part = PythonSelection(body, first, last, above, *lines)
    if _holds_more(file, part):
        raise not_whole(f"Lines {start} to {end}")
    _need_own_lines(file, part)
    return part


def _holds_more(file: PythonFile, part: PythonSelection) -> bool:
    """Whether the lines have code before or behind the statements, such as `else:`."""
    last = part.statements[-1]
    before = file.source.lines[part.begin - 1 : first_line(part.statements[0]) - 1]
    after = file.source.lines[last.end_lineno or last.lineno : part.end]
    return any(line.strip() and not line.lstrip().startswith("#") for line in (*before, *after))


def bodies_of(node: ast.AST) -> list[list[ast.stmt]]:
    """The blocks of a statement."""
    found = [getattr(node, name, None) for name in ("body", "orelse", "finalbody")]
    return [b for b in found if isinstance(b, list) and b and isinstance(b[0], ast.stmt)]


def _need_own_lines(file: PythonFile, part: PythonSelection) -> None:
    first, last = part.statements[0], part.statements[-1]
    start = file.source.starts[first_line(first) - 1]
    decorators: list[ast.expr] = getattr(first, "decorator_list", [])
    begin = min([file.source.start(first), *(file.source.start(d) - 1 for d in decorators)])
    stop = file.source.starts[last.end_lineno or last.lineno] - 1
    before = file.source.text[start:begin].strip()
    after = file.source.text[file.source.end(last) : stop].strip()
    if before or (after and not after.startswith("#")):
        raise shared_line()


# The flow of names


@dataclass(slots=True)
class NameFlow:
    """What was found on the way.

    Attributes:
        reads: names that are read where they may not have been bound before.
        bound: names that are surely bound at the end.
        ends: whether the end is never reached.
    """

    reads: set[str] = field(default_factory=set)
    bound: set[str] = field(default_factory=set)
    ends: bool = False


class FlowAnalysis:
    """The flow of names that belong to one scope of a file."""

    def __init__(self, file: PythonFile, owner: LexicalScope) -> None:
        self._file = file
        self._owner = owner

    def of(self, statements: Sequence[ast.AST], bound: Iterable[str] = ()) -> NameFlow:
        """Follow statements, some names being bound before."""
        flow = NameFlow(bound=set(bound))
        for statement in statements:
            if not flow.ends:
                self._step(statement, flow)
        return flow

    def _step(self, node: ast.AST, flow: NameFlow) -> None:
        method = getattr(self, f"_{type(node).__name__.lower()}", None)
        if method is not None:
            method(node, flow)
        else:
            self._plain(node, flow)
            if isinstance(node, ast.Return | ast.Raise | ast.Break | ast.Continue):
                flow.ends = True

    def _plain(self, node: ast.AST | None, flow: NameFlow) -> None:
        """An expression or a simple statement: its reads first, then what it binds."""
        if node is None:
            return
        target = node.target if isinstance(node, ast.AugAssign) else None
        if isinstance(target, ast.Name) and self._is_ours(target):
            self._read(target.id, flow)
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

    def _read(self, name: str, flow: NameFlow) -> None:
        if name not in flow.bound:
            flow.reads.add(name)

    def _is_ours(self, node: ast.Name) -> bool:
        found = self._file.names.get(node)
        return found is not None and found.owner is self._owner

    def _functiondef(self, node: ast.FunctionDef | ast.ClassDef, flow: NameFlow) -> None:
        self._plain(node, flow)
        flow.bound.add(node.name)

    _asyncfunctiondef = _classdef = _functiondef

    def _if(self, node: ast.If, flow: NameFlow) -> None:
        self._plain(node.test, flow)
        self._join(flow, [self.of(node.body, flow.bound), self.of(node.orelse, flow.bound)])

    def _join(self, flow: NameFlow, branches: list[NameFlow]) -> None:
        for branch in branches:
            flow.reads |= branch.reads
        open_branches = [branch.bound for branch in branches if not branch.ends]
        if open_branches:
            flow.bound = set.intersection(*open_branches)
        else:
            flow.ends = True

    def _for(self, node: ast.For | ast.AsyncFor, flow: NameFlow) -> None:
        self._plain(node.iter, flow)
        before = set(flow.bound)
        inside = NameFlow(bound=set(before))
        self._plain(node.target, inside)
        body = self.of(node.body, inside.bound)
        flow.reads |= inside.reads | body.reads
        self._after_loop(node.orelse, flow, before)

    _asyncfor = _for

    def _while(self, node: ast.While, flow: NameFlow) -> None:
        self._plain(node.test, flow)
        body = self.of(node.body, flow.bound)
        flow.reads |= body.reads
        self._after_loop(node.orelse, flow, set(flow.bound))

    def _after_loop(self, orelse: list[ast.stmt], flow: NameFlow, before: set[str]) -> None:
        flow.reads |= self.of(orelse, before).reads
        flow.bound = before

    def _with(self, node: ast.With | ast.AsyncWith, flow: NameFlow) -> None:
        for item in node.items:
            self._plain(item.context_expr, flow)
            self._plain(item.optional_vars, flow)
        body = self.of(node.body, flow.bound)
        flow.reads |= body.reads
        if any("suppress" in ast.unparse(item.context_expr) for item in node.items):
            return
        flow.bound, flow.ends = body.bound, body.ends

    _asyncwith = _with

    def _try(self, node: ast.Try, flow: NameFlow) -> None:
        before = set(flow.bound)
        body = self.of(node.body, before)
        done = self.of(node.orelse, body.bound)
        done.ends = done.ends or body.ends
        branches = [done]
        flow.reads |= body.reads
        for handler in node.handlers:
            self._plain(handler.type, flow)
            known = before | ({handler.name} if handler.name else set())
            branch = self.of(handler.body, known)
            if handler.name:
                branch.bound.discard(handler.name)
            branches.append(branch)
        self._join(flow, branches)
        last = self.of(node.finalbody, before)
        flow.reads |= last.reads
        flow.bound |= last.bound
        flow.ends = flow.ends or last.ends

    _trystar = _try

    def _match(self, node: ast.Match, flow: NameFlow) -> None:
        self._plain(node.subject, flow)
        branches = [NameFlow(bound=set(flow.bound))]
        for case in node.cases:
            known = set(flow.bound)
            for part in ast.walk(case.pattern):
                name = getattr(part, "name", None) or getattr(part, "rest", None)
                if isinstance(name, str):
                    known.add(name)
                self._plain(part, flow) if isinstance(part, ast.expr) else None
            head = NameFlow(bound=known)
            self._plain(case.guard, head)
            branch = self.of(case.body, head.bound)
            branch.reads |= head.reads
            branches.append(branch)
        self._join(flow, branches)


_MAYBE_RUN = (
    ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp,
    ast.Lambda | Function | ast.Assert,
)


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
        elif isinstance(inner, _MAYBE_RUN):
            parts = [inner]
        for part in parts:
            found |= set(ast.walk(part))
    return found


# What goes in and comes out


class PythonExtraction:
    """Lines that are to be a function of their own."""

    def __init__(
        self, file: PythonFile, part: PythonSelection, name: str, inference: Inference
    ) -> None:
        self.file = file
        self.part = part
        self.name = name
        self.inference = inference
        self.scope = file.within[part.statements[0]]
        self.nodes = {n for s in part.statements for n in ast.walk(s)}
        self.flow = FlowAnalysis(file, self.scope)
        self.function = self.scope.node if isinstance(self.scope.node, Function) else None
        self.method = method_of(file, self.scope) if self.function is not None else None
        self._find()

    # Which names go in and come out

    def _find(self) -> None:
        inside = self.flow.of(self.part.statements)
        self.inside = inside
        self.stored = self._stored()
        after = self._read_after()
        # Of a module all that is bound comes out, since anybody may use it.
        self.results = sorted(
            (self.stored & after) if self.function else self.stored, key=self._order
        )
        unsure = {name for name in self.results if name not in inside.bound}
        wanted = inside.reads | unsure
        self.parameters = sorted((n for n in wanted if self._is_given(n)), key=self._order)
        self.unsure = unsure

    def _order(self, name: str) -> int:
        return min((b.order for b in self.scope.binders(name)), default=0)

    def _stored(self) -> set[str]:
        return {
            b.name
            for bound in self.scope.names.values()
            for b in bound.declarations
            if self._is_in(b) and b.role not in ("annotate", "delete")
        }

    def _is_in(self, occurrence: Occurrence) -> bool:
        return self.part.begin <= occurrence.token.line <= self.part.end

    def _is_given(self, name: str) -> bool:
        """Whether a name has to be handed over."""
        if self.method is not None and name == self.method[1].first:
            return False
        if self.function is not None or name in self.stored:
            return True
        return any(b.role in ("assign", "annotate") for b in self.scope.binders(name))

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

    def obstacles(self) -> list[str]:
        """Why it cannot be proven that the program stays as it is.

        Raises:
            BadInput: the lines are of a class body.
        """
        if self.scope.kind == "class":
            raise BadInput(
                "The lines are of a class body.", hint="Choose lines of a function or a module."
            )
        return [*self._crossing(), *self._dynamic(), *self._unproven(), *self._taken()]

    def _crossing(self) -> list[str]:
        found, at = [], self.file.at
        first = self.part.statements[0]
        is_first = self.part.first == 0 and self.part.body is getattr(self.scope.node, "body", None)
        value = first.value if isinstance(first, ast.Expr) else None
        if is_first and isinstance(value, ast.Constant) and isinstance(value.value, str):
            found.append(f"{at(first)}it is a docstring.")
        found += [
            f"{at(statement)}it must stay at the top."
            for statement in self.part.statements
            if isinstance(statement, ast.ImportFrom) and statement.module == "__future__"
        ]
        for node in self.nodes:
            if self.file.within.get(node) is not self.scope:
                continue
            word = type(node).__name__.lower()
            if isinstance(node, ast.Return | ast.Yield | ast.YieldFrom):
                found.append(f"{at(node)}`{word.removesuffix('from')}` leaves the function.")
            elif isinstance(node, ast.Break | ast.Continue) and not self._loops_inside(node):
                found.append(f"{at(node)}`{word}` belongs to a loop outside of the lines.")
            elif isinstance(node, ast.Global | ast.Nonlocal | ast.Delete):
                word = "del" if word == "delete" else word
                found.append(f"{at(node)}`{word}` is not moved.")
            elif isinstance(node, ast.ImportFrom) and node.names[0].name == "*":
                found.append(f"{at(node)}`import *` is not moved.")
        return found

    def _loops_inside(self, node: ast.AST) -> bool:
        child, parent = node, self.file.parents.get(node)
        while parent is not None and parent in self.nodes:
            if isinstance(parent, LOOPS) and child not in parent.orelse:
                return True
            child, parent = parent, self.file.parents.get(parent)
        return False

    def _dynamic(self) -> list[str]:
        found, at = [], self.file.at
        for call in self.file.calls("eval", "exec", "locals", "vars", "dir"):
            within = self.file.within[call]
            if (
                isinstance(call.func, ast.Name)
                and not (call.args and call.func.id in ("vars", "dir"))
                and (call in self.nodes or (self.function and within is self.scope))
            ):
                found.append(f"{at(call)}{call.func.id}() sees the names of its function.")
        found += [
            f"{at(call)}it looks at the function that runs."
            for call in self.file.calls("_getframe", "currentframe")
            if call in self.nodes
        ]
        if self.method is None and self.function is not None:
            found += [
                f"{at(call)}super() needs its method."
                for call in self.file.calls("super")
                if call in self.nodes and not call.args and self.file.within[call] is self.scope
            ]
        return found

    def _unproven(self) -> list[str]:
        declared, path = self.scope.globals | self.scope.nonlocals, self.file.path
        found = [
            f"{path}:{one.token.line}: {one.name} is not a name of this function."
            for one in self.scope.occurrences
            if one.name in declared and self._is_in(one) and one.role != "load"
        ]
        start, before = f"{path}:{self.part.begin}: ", self._bound_before()
        found += [
            f"{start}{name} may not be bound before these lines."
            for name in self.parameters
            if name not in before
        ]
        found += self._captured()
        if self.method is not None and self.method[1].first in self.stored:
            found.append(f"{start}{self.method[1].first} is bound anew.")
        return found

    def _bound_before(self) -> set[str]:  # noqa: C901 - one list of cases
        """Names that are surely bound when the lines begin."""
        bound: set[str] = set()
        if self.function is not None:
            bound = {argument.arg for argument in parameters(self.function.args)}
        chain = [self.part.statements[0], *self.part.above]
        chain = chain[: chain.index(self.scope.node) + 1]
        for node, inner in reversed(list(zip(chain[1:], chain, strict=False))):
            if isinstance(node, ast.For | ast.AsyncFor) and inner in node.body:
                bound |= self.flow.of([node.target], bound).bound
            elif isinstance(node, ast.With | ast.AsyncWith):
                parts = [p for i in node.items for p in (i.context_expr, i.optional_vars) if p]
                bound = self.flow.of(parts, bound).bound
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
                name, where = use.name, f"{self.file.path}:{use.token.line}: "
                if self._is_in(use):
                    # What is a parameter or a local of the new function must not change later.
                    given = name in self.parameters or name in self.stored
                    rebound = [b for b in self.scope.binders(name) if not self._is_in(b)]
                    if (self.function and given and self._later(rebound)) or use.role != "load":
                        found.append(f"{where}a function in it sees {name} change later.")
                elif name in self.stored:
                    found.append(f"{where}a function sees {name}, which these lines bind.")
        return found

    def _later(self, bound: list[Occurrence]) -> bool:
        in_loop = any(isinstance(n, LOOPS) for n in self.part.above)
        rebound = [b for b in bound if b.role != "parameter"]
        return any(b.token.line > self.part.begin or in_loop for b in rebound)

    def _taken(self) -> list[str]:
        if self.method is not None:
            members = MemberReferences(
                self.inference.program, self.inference, self.method[0], self.name
            )
            members.search()
            members.related |= {self.method[0]}
            return members.clashes(self.name)
        taken = next((one for one in self.file.top.all() if one.name == self.name), None)
        if taken is None:
            return []
        return [f"{self.file.path}:{taken.token.line}: {self.name} is used already."]

    # The new text

    def splices(self) -> list[Splice]:
        """The changes of the file."""
        source = self.file.source
        start, stop = self.part.begin, self.part.end
        begin, end = source.starts[start - 1], min(source.starts[stop], len(source.text))
        indent = indent_of(source.lines[first_line(self.part.statements[0]) - 1])
        anchor = self._anchor()
        outer = indent_of(source.lines[anchor - 1])
        unit = self._unit(outer)
        body = reindented(source.lines, (start, stop), self._string_lines(), indent, outer + unit)
        kind = "async def" if self._is_async() else "def"
        head = [f"{outer}{d}" for d in self._decorators()]
        head.append(f"{outer}{kind} {self.name}({', '.join(self._declared())}):")
        if self.results:
            body.append(f"{outer}{unit}return {', '.join(self.results)}")
        blank = [""] * (1 if outer else 2)
        new = "\n".join([*head, *body, *blank, ""])
        call = f"{indent}{self._call()}\n"
        if not source.text[begin:end].endswith("\n"):
            call = call[:-1]
        at = source.starts[anchor - 1]
        if at == begin:
            gap = "\n\n" if anchor > 1 and source.lines[anchor - 2].strip() else ""
            return [Splice(begin, end, gap + new + call)]
        return [Splice(at, at, new), Splice(begin, end, call)]

    def _anchor(self) -> int:
        """The line before which the new function goes."""
        if self.function is not None:
            return _with_comments(self.file, first_line(self.function))
        chain = [self.part.statements[0], *self.part.above]
        top = chain[chain.index(self.file.source.tree) - 1]
        assert isinstance(top, ast.stmt)
        if top is self.part.statements[0]:
            return self.part.begin
        return _with_comments(self.file, first_line(top))

    def _unit(self, outer: str) -> str:
        if self.function is not None:
            line = self.file.source.lines[first_line(self.function.body[0]) - 1]
            inner = indent_of(line)
            is_deeper = inner.startswith(outer) and len(inner) > len(outer)
            if is_deeper and not line[len(inner) :].startswith("def"):
                return inner[len(outer) :]
        return "\t" if any(line.startswith("\t") for line in self.file.source.lines) else "    "

    def _string_lines(self) -> set[int]:
        """Lines that begin inside a string."""
        middle = getattr(tokenize, "FSTRING_MIDDLE", -1)
        return {
            number
            for token in self.file.source.tokens
            if token.type in (tokenize.STRING, middle)
            for number in range(token.start[0] + 1, token.end[0] + 1)
        }

    def _is_async(self) -> bool:
        kinds = (ast.Await, ast.AsyncFor, ast.AsyncWith)
        for node in self.nodes:
            here = self.file.within.get(node)
            while here is not None and here.kind == "comprehension":
                here = here.parent
            if here is self.scope and (
                isinstance(node, kinds) or (isinstance(node, ast.comprehension) and node.is_async)
            ):
                return True
        return False

    def _decorators(self) -> list[str]:
        if self.method is None:
            return []
        if not self.method[1].first:
            return ["@staticmethod"]
        return ["@classmethod"] if self.method[1].of_class else []

    def _declared(self) -> list[str]:
        declared = []
        if self.method is not None and self.method[1].first:
            declared.append(self.method[1].first)
        notes = {}
        if self.function is not None:
            arguments = self.function.args
            for argument in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]:
                if argument.annotation is not None:
                    notes[argument.arg] = self.file.source.segment(argument.annotation)
        rebound = {n for n in self.parameters if len(self.scope.binders(n)) > 1}
        for name in self.parameters:
            note = notes.get(name, "") if name not in rebound else ""
            declared.append(f"{name}: {note}" if note and "\n" not in note else name)
        return declared

    def _call(self) -> str:
        called = self.name
        if self.method is not None:
            owner = self.method[1].first or self.method[0].name
            called = f"{owner}.{self.name}"
        call = f"{called}({', '.join(self.parameters)})"
        if self._is_async():
            call = f"await {call}"
        return f"{', '.join(self.results)} = {call}" if self.results else call


def _with_comments(file: PythonFile, line: int) -> int:
    """The first of the comment lines right above a line."""
    while line > 1 and file.source.lines[line - 2].lstrip().startswith("#"):
        if line - 1 == 1 and file.source.lines[0].startswith(("#!", "# -*-")):
            break
        line -= 1
    return line
