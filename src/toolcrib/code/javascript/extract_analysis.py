"""What goes into extracted statements of a script, what comes out, and what forbids it."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from toolcrib.code.javascript.model import TYPE, Binding, Module, Use
from toolcrib.code.javascript.names import descendants
from toolcrib.code.javascript.selection import Selection
from toolcrib.code.javascript.variables import FUNCTIONS, function_of, is_write

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
    inside: list[Use] = field(default_factory=list)
    outside: list[Use] = field(default_factory=list)
    bound: bool = False
    plain: bool = False

    @property
    def name(self) -> str:
        """Its name."""
        return self.binding.name

    @property
    def order(self) -> int:
        """Where it is bound."""
        return self.binding.tokens[0].start


class Extraction:
    """Sorts the names of the statements."""

    def __init__(self, selection: Selection, shown: str) -> None:
        self.selection = selection
        self.module: Module = selection.module
        self.shown = shown
        self.parameters: list[Variable] = []
        self.locals: list[Variable] = []
        """Variables of outside without a value, which are bound anew inside."""
        self.results: list[Variable] = []
        self.against: list[str] = []

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
            self.against.append(
                f"{self.shown}:{self.selection.first}: it binds some and changes others of {names}."
            )

    def _variables(self) -> list[Variable]:
        found: dict[int, Variable] = {}
        holds = self.selection.holds
        for use in self.module.uses:
            if use.binding is not None and holds(use.token.start):
                found.setdefault(id(use.binding), Variable(use.binding)).inside.append(use)
            elif use.binding is None and holds(use.token.start) and is_write(use.node):
                self._says(use.token.start, f"{use.name} is not declared: it would be global")
        for binding in self.module.bindings:
            inner = [holds(token.start) for token in binding.tokens]
            if any(inner):
                found.setdefault(id(binding), Variable(binding)).bound = True
                if not all(inner):
                    self._says(binding.tokens[0].start, f"{binding.name} is bound elsewhere too")
        for use in self.module.uses:
            if id(use.binding) in found and not holds(use.token.start):
                found[id(use.binding)].outside.append(use)
        return sorted(found.values(), key=lambda v: v.order)

    def _says(self, start: int, why: str) -> None:
        line = 1 + self.module.text.count("\n", 0, start)
        told = f"{self.shown}:{line}: {why}."
        if told not in self.against:
            self.against.append(told)

    def _is_far(self, use: Use) -> bool:
        """Whether another function uses it."""
        return bool(function_of(use.node) != self.selection.function)

    # Bound in the statements

    def _declared(self, variable: Variable) -> None:
        binding, outside = variable.binding, variable.outside
        exported = any(e.binding is binding for e in self.module.exports.values())
        if exported:
            self._says(variable.order, f"{variable.name} is exported")
        if not outside:
            return
        if binding.space == TYPE or binding.what != "variable":
            self._says(variable.order, f"{variable.name}, a {binding.what}, is used outside")
            return
        before = [use for use in outside if use.token.start < self.selection.start]
        if before:
            self._says(before[0].token.start, f"{variable.name} is used before it is bound")
        if self._is_var(binding) and self.selection.loops(0):
            self._says(variable.order, f"var {variable.name} lives on in the loop")
        for use in outside:
            if self._is_far(use) and self._may_run_early(use):
                self._says(use.token.start, f"a function may see {variable.name} too early")
        inner = [use for use in variable.inside if self._is_far(use)]
        changed = [use for use in outside if is_write(use.node)]
        written = [use for use in inner if is_write(use.node)]
        if inner and (changed or written):
            self._says(inner[0].token.start, f"a function keeps {variable.name}, which changes")
        if variable.name not in {v.name for v in self.results}:
            self.results.append(variable)

    def _is_var(self, binding: Binding) -> bool:
        at = binding.tokens[0].start
        return any(
            node.range().start.index <= at < node.range().end.index
            for statement in self.selection.statements
            for node in descendants(statement, "variable_declaration")
        )

    def _may_run_early(self, use: Use) -> bool:
        """Whether a function may run before the statements are done."""
        node, outermost = use.node, None
        while node is not None and node != self.selection.function:
            if node.kind() in FUNCTIONS:
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
            self._says(
                variable.inside[0].token.start,
                f"{variable.name}, a {binding.what}, is known in its function only",
            )
            return
        if any(s.kind in ("enum", "namespace") for s in binding.scope.chain()):
            self._says(variable.order, "it stands in a namespace")
        if binding.what == "variable" and variable.order > self.selection.start:
            self._says(variable.order, f"{variable.name} is bound further down")
        writes = [use for use in variable.inside if is_write(use.node)]
        inner = [use for use in variable.inside if self._is_far(use)]
        outer = [use for use in variable.outside if self._is_far(use)]
        changes = [use for use in variable.outside if is_write(use.node)]
        if writes and (inner or outer):
            self._says((inner or outer)[0].token.start, f"a function shares {variable.name}")
        if not writes:
            self._read_only(variable, inner, changes)
        if writes and any(use.name == "arguments" for use in self.module.uses):
            self._says(writes[0].token.start, f"arguments may share {variable.name}")
        variable.plain = bool(writes) and self._has_no_value(variable, changes)
        (self.locals if variable.plain else self.parameters).append(variable)
        later = [use for use in variable.outside if use.token.start > self.selection.start]
        around = self.selection.loops(variable.order) and variable.outside
        if writes and (later or around or self.selection.loops(variable.order)):
            self.results.append(variable)

    def _read_only(self, variable: Variable, inner: list[Use], changes: list[Use]) -> None:
        far = [use for use in changes if self._is_far(use)]
        if far:
            self._says(far[0].token.start, f"a function changes {variable.name}, maybe meanwhile")
        late = [use for use in changes if use.token.start > self.selection.start]
        if inner and (late or (changes and self.selection.loops(0))):
            self._says(inner[0].token.start, f"a function keeps {variable.name}, which changes")
        if inner and len(variable.binding.tokens) > 1:
            self._says(inner[0].token.start, f"a function keeps {variable.name}, bound repeatedly")

    def _has_no_value(self, variable: Variable, changes: list[Use]) -> bool:
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
        at = binding.tokens[0].start
        for node in self._declarators:
            name = node.field("name").range()
            if name.start.index <= at < name.end.index:
                return node
        return None

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
