"""Statements to extract from a script: which they are, their names, and what forbids it."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from toolcrib.code.javascript.model import Module
from toolcrib.code.javascript.program import TRANSPARENT_KINDS
from toolcrib.code.javascript.scopes import descendants, holds, named
from toolcrib.code.operations import need_lines, not_whole, shared_line
from toolcrib.code.scopes import TYPE, Binding, Occurrence
from toolcrib.core.names import name_set

FUNCTION_KINDS = name_set("""
    function_declaration generator_function_declaration function_expression generator_function
    arrow_function method_definition class_static_block field_definition public_field_definition
""")
_PATTERNS = TRANSPARENT_KINDS | name_set("""
    object_pattern array_pattern rest_pattern assignment_pattern object_assignment_pattern
    pair_pattern
""")


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
    while node is not None and node.kind() not in FUNCTION_KINDS:
        node = node.parent()
    return node


BLOCKS = ("program", "statement_block", "switch_case", "switch_default")
LOOPS = ("for_statement", "for_in_statement", "while_statement", "do_statement")
_FUNCTION_STATEMENTS = frozenset(["return_statement", "await_expression", "yield_expression"])


@dataclass(frozen=True, slots=True)
class ScriptSelection:
    """Statements of one block, with their place in the text."""

    module: Module
    block: Any
    statements: list[Any]
    start: int
    end: int
    first: int
    last: int

    def holds(self, at: int) -> bool:
        """Whether a position lies in it."""
        return self.start <= at < self.end

    @property
    def function(self) -> Any:
        """The function around it, or None."""
        return function_of(self.statements[0])

    @property
    def top(self) -> Any:
        """The statement of the file that holds it."""
        node = self.statements[0]
        while (around := node.parent()) is not None and around.kind() != "program":
            node = around
        return node

    def loops(self, within: int) -> bool:
        """Whether it stands in a loop that begins behind a position."""
        node = self.statements[0].parent()
        while node is not None and node.kind() not in FUNCTION_KINDS:
            if node.kind() in LOOPS and node.range().start.index >= within:
                return True
            node = node.parent()
        return False


def select(module: Module, display: str, first: int, last: int) -> ScriptSelection:
    """The statements on some lines.

    Raises:
        BadInput: they are not whole statements of one block.
    """
    first, last = need_lines(module.text.split("\n"), first, last, display)
    block = _block(module.root, first, last)
    touched = [c for c in named(block) if _touches(c, first, last)] if block is not None else []
    chosen = [child for child in touched if child.kind() != "comment"]
    if block is None or not chosen:
        raise not_whole(f"Lines {first} to {last} of {display}")
    start = module.lines[first - 1]
    end = module.lines[last] - 1 if last < len(module.lines) else len(module.text)
    before = module.text[start : touched[0].range().start.index].strip()
    after = module.text[touched[-1].range().end.index : end].strip(" \t;")
    if before or after:
        raise shared_line()
    return ScriptSelection(module, block, chosen, start, min(end, len(module.text)), first, last)


def _touches(node: Any, first: int, last: int) -> bool:
    span = node.range()
    return bool(span.start.line + 1 <= last and span.end.line + 1 >= first)


def _block(node: Any, first: int, last: int) -> Any:
    """The outermost block of which the lines hold whole statements only."""
    todo = [node]
    while todo:
        here = todo.pop(0)
        inner = [child for child in named(here) if _touches(child, first, last)]
        if here.kind() in BLOCKS and inner:
            whole = [c for c in inner if c.kind() != "comment"]
            if whole and all(
                first <= c.range().start.line + 1 and c.range().end.line + 1 <= last for c in whole
            ):
                return here if here.kind() in ("program", "statement_block") else None
        todo += inner
    return None


def crossings(selection: ScriptSelection, display: str) -> list[str]:
    """What in the statements belongs to the function around them."""
    found: list[str] = []
    for statement in selection.statements:
        for node in descendants(statement, *_EXAMINED_KINDS):
            why = _crossing(selection, node)
            if why:
                found.append(f"{display}:{node.range().start.line + 1}: {why}.")
    return list(dict.fromkeys(found))


_EXAMINED_KINDS = name_set("""
    return_statement await_expression yield_expression for_in_statement break_statement
    continue_statement this super identifier meta_property with_statement
    private_property_identifier import_statement export_statement lexical_declaration
    variable_declaration assignment_expression expression_statement
""")


def _crossing(selection: ScriptSelection, node: Any) -> str:
    kind = node.kind()
    if kind in _FORBIDDEN_KINDS:
        return _FORBIDDEN_KINDS[kind]
    if kind in ("this", "super") or (kind == "meta_property" and "new" in node.text()):
        outer = _is_outer(selection, node)
        return f"{node.text()} is that of the function around it" if outer else ""
    if kind == "identifier" and node.text() == "arguments" and _is_outer(selection, node):
        return "arguments are those of the function around it"
    if kind == "identifier" and node.text() == "eval":
        return "eval may use any name"
    if kind == "private_property_identifier" and _is_private(selection, node):
        return f"{node.text()} is known inside its class only"
    if kind == "expression_statement" and node in selection.statements:
        directive = [child.kind() for child in named(node)] == ["string"]
        return "a directive belongs to the function around it" if directive else ""
    return _leaving(selection, node, kind) if _is_direct(selection, node) else ""


_FORBIDDEN_KINDS = {
    "with_statement": "a with statement may use any name",
    "import_statement": "imports and exports stand at the top of a file",
    "export_statement": "imports and exports stand at the top of a file",
}


def _leaving(selection: ScriptSelection, node: Any, kind: str) -> str:
    """Why a statement of the function itself cannot stand in another one."""
    if kind in _FUNCTION_STATEMENTS:
        return f"{kind.partition('_')[0]} belongs to the function around it"
    if kind == "for_in_statement" and any(c.kind() == "await" for c in node.children()):
        return "for await belongs to the function around it"
    if kind in ("break_statement", "continue_statement"):
        return "" if _is_caught(selection, node) else f"{node.text()} leaves the lines"
    if any(child.kind() == "using" for child in node.children()[:2]):
        return "`using` ends with the block around it"
    return ""


def _is_direct(selection: ScriptSelection, node: Any) -> bool:
    """Whether no function within the statements is around a node."""
    around = function_of(node)
    return around is None or not selection.holds(around.range().start.index)


def _is_outer(selection: ScriptSelection, node: Any) -> bool:
    """The same, where arrow functions do not count."""
    around = function_of(node)
    while around is not None and around.kind() == "arrow_function":
        around = function_of(around)
    return around is None or not selection.holds(around.range().start.index)


def _is_caught(selection: ScriptSelection, node: Any) -> bool:
    label = next((c.text() for c in named(node) if c.kind() == "statement_identifier"), "")
    around = node.parent()
    while around is not None and selection.holds(around.range().start.index):
        kind = around.kind()
        if label:
            if kind == "labeled_statement" and around.field("label").text() == label:
                return True
        elif kind in LOOPS or (kind == "switch_statement" and node.kind() == "break_statement"):
            return True
        around = around.parent()
    return False


def _is_private(selection: ScriptSelection, node: Any) -> bool:
    around = node.parent()
    while around is not None and selection.holds(around.range().start.index):
        if around.kind() == "class_body":
            return False
        around = around.parent()
    return True


HOISTED = ("function_declaration", "generator_function_declaration")
_DECLARING = ("lexical_declaration", "variable_declaration", "for_in_statement")


@dataclass(eq=False, slots=True)
class Variable:
    """A name that the statements use or bind.

    Attributes:
        inside: uses in them.
        outside: uses elsewhere in the file.
        bound: whether they bind it.
        plain: whether it has no value yet when they start.
    """

    binding: Binding
    inside: list[Occurrence] = field(default_factory=list)
    outside: list[Occurrence] = field(default_factory=list)
    bound: bool = False
    plain: bool = False

    @property
    def name(self) -> str:
        """Its name."""
        return self.binding.name

    @property
    def order(self) -> int:
        """Where it is bound."""
        return self.binding.start


class ScriptExtraction:
    """Sorts the names of the statements."""

    def __init__(self, selection: ScriptSelection, display: str) -> None:
        self.selection = selection
        self.module: Module = selection.module
        self.display = display
        self.parameters: list[Variable] = []
        self.locals: list[Variable] = []
        """Variables of outside without a value, which are bound anew inside."""
        self.results: list[Variable] = []
        self.obstacles: list[str] = []

    def find(self) -> None:
        """Look at every name."""
        for variable in self._variables():
            if variable.bound:
                self._declared(variable)
            elif variable.binding.scope is not self.module.top:
                self._given(variable)
        bound = [v.bound for v in self.results]
        if len(set(bound)) > 1 and self.module.path.endswith(("ts", "tsx")):
            names = ", ".join(v.name for v in self.results)
            self.obstacles.append(
                f"{self.display}:{self.selection.first}: it binds some and changes others of "
                f"{names}."
            )

    def _variables(self) -> list[Variable]:
        found: dict[int, Variable] = {}
        holds = self.selection.holds
        for use in self.module.uses:
            if use.binding is not None and holds(use.token.start):
                found.setdefault(id(use.binding), Variable(use.binding)).inside.append(use)
            elif use.binding is None and holds(use.token.start) and is_write(use.node):
                self._refuse(use.token.start, f"{use.name} is not declared: it would be global")
        for binding in self.module.bindings:
            inner = [holds(token.start) for token in binding.tokens]
            if any(inner):
                found.setdefault(id(binding), Variable(binding)).bound = True
                if not all(inner):
                    self._refuse(binding.start, f"{binding.name} is bound elsewhere too")
        for use in self.module.uses:
            if id(use.binding) in found and not holds(use.token.start):
                found[id(use.binding)].outside.append(use)
        return sorted(found.values(), key=lambda v: v.order)

    def _refuse(self, start: int, why: str) -> None:
        line = self.module.line_at(start)
        message = f"{self.display}:{line}: {why}."
        if message not in self.obstacles:
            self.obstacles.append(message)

    def _is_far(self, use: Occurrence) -> bool:
        """Whether another function uses it."""
        return bool(function_of(use.node) != self.selection.function)

    # Bound in the statements

    def _declared(self, variable: Variable) -> None:
        binding, outside = variable.binding, variable.outside
        exported = any(e.binding is binding for e in self.module.exports.values())
        if exported:
            self._refuse(variable.order, f"{variable.name} is exported")
        if not outside:
            return
        if binding.space == TYPE or binding.what != "variable":
            self._refuse(variable.order, f"{variable.name}, a {binding.what}, is used outside")
            return
        before = [use for use in outside if use.token.start < self.selection.start]
        if before:
            self._refuse(before[0].token.start, f"{variable.name} is used before it is bound")
        if self._is_var(binding) and self.selection.loops(0):
            self._refuse(variable.order, f"var {variable.name} lives on in the loop")
        for use in outside:
            if self._is_far(use) and self._may_run_early(use):
                self._refuse(use.token.start, f"a function may see {variable.name} too early")
        inner = [use for use in variable.inside if self._is_far(use)]
        changed = [use for use in outside if is_write(use.node)]
        written = [use for use in inner if is_write(use.node)]
        if inner and (changed or written):
            self._refuse(inner[0].token.start, f"a function keeps {variable.name}, which changes")
        if variable.name not in {v.name for v in self.results}:
            self.results.append(variable)

    def _is_var(self, binding: Binding) -> bool:
        at = binding.start
        return any(
            holds(node, at)
            for statement in self.selection.statements
            for node in descendants(statement, "variable_declaration")
        )

    def _may_run_early(self, use: Occurrence) -> bool:
        """Whether a function may run before the statements are done."""
        node, outermost = use.node, None
        while node is not None and node != self.selection.function:
            if node.kind() in FUNCTION_KINDS:
                outermost = node
            node = node.parent()
        if outermost is None:
            return True
        early = outermost.range().start.index < self.selection.start
        return early or outermost.kind() in HOISTED

    # Bound outside

    def _given(self, variable: Variable) -> None:
        binding = variable.binding
        if binding.space == TYPE or binding.what in ("type parameter", "enum", "namespace"):
            self._refuse(
                variable.inside[0].token.start,
                f"{variable.name}, a {binding.what}, is known in its function only",
            )
            return
        if any(s.kind in ("enum", "namespace") for s in binding.scope.chain()):
            self._refuse(variable.order, "it stands in a namespace")
        if binding.what == "variable" and variable.order > self.selection.start:
            self._refuse(variable.order, f"{variable.name} is bound further down")
        writes = [use for use in variable.inside if is_write(use.node)]
        inner = [use for use in variable.inside if self._is_far(use)]
        outer = [use for use in variable.outside if self._is_far(use)]
        changes = [use for use in variable.outside if is_write(use.node)]
        if writes and (inner or outer):
            self._refuse((inner or outer)[0].token.start, f"a function shares {variable.name}")
        if not writes:
            self._read_only(variable, inner, changes)
        if writes and any(use.name == "arguments" for use in self.module.uses):
            self._refuse(writes[0].token.start, f"arguments may share {variable.name}")
        variable.plain = bool(writes) and self._has_no_value(variable, changes)
        (self.locals if variable.plain else self.parameters).append(variable)
        later = [use for use in variable.outside if use.token.start > self.selection.start]
        around = self.selection.loops(variable.order) and variable.outside
        if writes and (later or around or self.selection.loops(variable.order)):
            self.results.append(variable)

    def _read_only(
        self, variable: Variable, inner: list[Occurrence], changes: list[Occurrence]
    ) -> None:
        far = [use for use in changes if self._is_far(use)]
        if far:
            self._refuse(far[0].token.start, f"a function changes {variable.name}, maybe meanwhile")
        late = [use for use in changes if use.token.start > self.selection.start]
        if inner and (late or (changes and self.selection.loops(0))):
            self._refuse(inner[0].token.start, f"a function keeps {variable.name}, which changes")
        if inner and len(variable.binding.tokens) > 1:
            self._refuse(
                inner[0].token.start, f"a function keeps {variable.name}, bound repeatedly"
            )

    def _has_no_value(self, variable: Variable, changes: list[Occurrence]) -> bool:
        """`let x;` in the same function, not yet set."""
        binding = variable.binding
        if binding.what != "variable" or len(binding.tokens) != 1 or changes:
            first = min((use.token.start for use in changes), default=0)
            if first < self.selection.end or binding.what != "variable":
                return False
        declared = self._declarator(binding)
        if declared is None or declared.field("value") is not None:
            return False
        around = declared.parent()
        if around is None or around.kind() not in _DECLARING[:2]:
            return False
        if around.parent() is not None and around.parent().kind() == "for_statement":
            return False
        same = bool(function_of(declared) == self.selection.function)
        return same and not self.selection.loops(variable.order)

    def _declarator(self, binding: Binding) -> Any:
        node = self._holder(binding)
        return node if node is not None and node.field("name").kind() == "identifier" else None

    def _holder(self, binding: Binding) -> Any:
        """The declarator whose name or pattern binds something."""
        at = binding.start
        return next((node for node in self._declarators if holds(node.field("name"), at)), None)

    @cached_property
    def _declarators(self) -> list[Any]:
        return list(descendants(self.module.root, "variable_declarator"))

    def declared_value(self, binding: Binding) -> Any:
        """The value that the declaration of a plain variable gives, or None."""
        node = self._declarator(binding)
        return node.field("value") if node is not None else None

    def declared_by(self, binding: Binding) -> str:
        """The word that declares it: "const", "let" or "var"."""
        node = self._holder(binding)
        return str(node.parent().children()[0].text()) if node is not None else "let"
