"""The types that an extracted function of TypeScript writes for what it is given."""

from __future__ import annotations

from typing import Any

from toolcrib.code.javascript.extract_analysis import Extraction, Variable
from toolcrib.code.javascript.model import TYPE, Module
from toolcrib.code.javascript.names import descendants, named
from toolcrib.code.javascript.program import Program

_PLAIN = frozenset(["number", "string", "boolean", "bigint", "number[]", "string[]", "boolean[]"])
_ARITHMETIC = frozenset(["-", "*", "/", "%", "**", "|", "&", "^", "<<", ">>", ">>>"])
_LOGICAL = frozenset(["===", "!==", "==", "!=", "<", ">", "<=", ">=", "in", "instanceof"])
_TESTS = (
    "if_statement",
    "switch_statement",
    "while_statement",
    "ternary_expression",
    "do_statement",
)
_LITERALS = {
    "number": "number",
    "string": "string",
    "template_string": "string",
    "true": "boolean",
    "false": "boolean",
    "regex": "RegExp",
}


class Types:
    """Finds a type for each parameter, by what the text says of it."""

    def __init__(self, program: Program, extraction: Extraction, shown: str) -> None:
        self.program = program
        self.extraction = extraction
        self.module: Module = extraction.module
        self.shown = shown
        self._known: dict[int, str] = {}

    def find(self) -> list[str]:
        """Find them all; the parameters of which the type cannot be written down."""
        found = []
        for variable in [*self.extraction.parameters, *self.extraction.locals]:
            line = 1 + self.module.text.count("\n", 0, variable.order)
            kind = self._type(variable)
            if not kind:
                found.append(
                    f"{self.shown}:{line}: the type of {variable.name} is not written down; "
                    f"annotate it first ({variable.name}: SomeType)."
                )
            elif kind not in _PLAIN and self._is_narrowed(variable):
                found.append(
                    f"{self.shown}:{line}: a test before the lines may narrow the type {kind} of "
                    f"{variable.name}."
                )
            self._known[id(variable.binding)] = kind
        return found

    def of(self, variable: Variable) -> str:
        """The type of a parameter."""
        return self._known.get(id(variable.binding), "")

    def _type(self, variable: Variable) -> str:
        binding = variable.binding
        if binding.annotation is not None:
            return self._annotated(binding)
        if binding.what == "parameter":
            return self._parameter(binding)
        return self._of_value(self.extraction.declared_value(binding), 0)

    def _annotated(self, binding: Any) -> str:
        node = binding.annotation
        inner = named(node)
        if not inner or not self._is_known_outside(node):
            return ""
        kind = str(inner[0].text())
        parent = node.parent()
        optional = parent.kind() == "optional_parameter"
        if optional and parent.field("value") is None:
            return f"{kind} | undefined" if "=>" not in kind else f"({kind}) | undefined"
        return kind

    def _is_known_outside(self, node: Any) -> bool:
        """Whether each name of a type means the same at the top of the file."""
        span = node.range()
        for use in self.module.uses:
            inside = span.start.index <= use.token.start < span.end.index
            if inside and use.binding is not None and use.binding.scope is not self.module.top:
                return False
        return next(descendants(node, "this_type"), None) is None

    def _parameter(self, binding: Any) -> str:
        """A parameter with a default value, or one that is taken apart."""
        at = binding.tokens[0].start
        for node in descendants(self.module.root, "required_parameter", "optional_parameter"):
            pattern = node.field("pattern")
            plain = pattern is not None and pattern.kind() == "identifier"
            if plain and pattern.range().start.index == at:
                return self._of_value(node.field("value"), 0)
        return ""

    def _of_value(self, value: Any, depth: int) -> str:
        if value is None or depth > 5:
            return ""
        kind = value.kind()
        if kind in _LITERALS:
            return _LITERALS[kind]
        known = getattr(self, f"_{kind}", None)
        return known(value, depth + 1) if known is not None else ""

    def _parenthesized_expression(self, value: Any, depth: int) -> str:
        return self._of_value(named(value)[0], depth)

    def _new_expression(self, value: Any, _: int) -> str:
        made = value.field("constructor")
        typed = next((c for c in named(value) if c.kind() == "type_arguments"), None)
        if made.kind() != "identifier" or (made.text() in ("Map", "Set") and typed is None):
            return ""
        if typed is not None and not self._is_known_outside(typed):
            return ""
        return self._class(made, typed)

    def _array(self, value: Any, depth: int) -> str:
        kinds = {self._of_value(child, depth) for child in named(value)}
        only = kinds.pop() if len(kinds) == 1 else ""
        return f"{only}[]" if only in ("number", "string", "boolean") else ""

    def _as_expression(self, value: Any, _: int) -> str:
        last = named(value)[-1]
        known = value.text().split()[-1] != "const" and self._is_known_outside(last)
        return str(last.text()) if known and len(named(value)) > 1 else ""

    def _unary_expression(self, value: Any, _: int) -> str:
        sign = value.field("operator").text()
        return "boolean" if sign == "!" else "string" if sign == "typeof" else ""

    def _member_expression(self, value: Any, _: int) -> str:
        return "number" if value.field("property").text() == "length" else ""

    def _class(self, made: Any, typed: Any) -> str:
        """An instance of a class without parameters of its own, or with those that are given."""
        binding = next((u.binding for u in self.module.uses if u.node == made), None)
        if typed is not None:
            return f"{made.text()}{typed.text()}"
        if binding is None:
            return made.text() if made.text() in ("Date", "Error", "URL", "RegExp") else ""
        meant = self.program.bound(self.module, binding)
        found = meant.binding if meant is not None else None
        if found is None or found.what != "class" or found.value is None:
            return ""
        if binding.scope is not self.module.top:
            return ""
        if any(c.kind() == "type_parameters" for c in found.value.children()):
            return ""
        return str(made.text())

    def _binary_expression(self, value: Any, depth: int) -> str:
        sign = value.field("operator").text()
        if sign in _LOGICAL:
            return "boolean"
        sides = {self._of_value(value.field(side), depth) for side in ("left", "right")}
        if sign in _ARITHMETIC and "bigint" not in sides:
            return "number" if sides == {"number"} else ""
        if sign == "+" and len(sides) == 1:
            only = sides.pop()
            return only if only in ("number", "string") else ""
        return ""

    def _call_expression(self, value: Any, _: int) -> str:
        """What a function of the file gives back, where it says so."""
        called = value.field("function")
        if called.kind() != "identifier":
            return ""
        binding = next((u.binding for u in self.module.uses if u.node == called), None)
        if binding is None or binding.scope is not self.module.top or len(binding.tokens) != 1:
            return ""
        node = binding.value
        if node is None or any(c.kind() == "type_parameters" for c in node.children()):
            return ""
        told = node.field("return_type")
        inner = named(told) if told is not None and told.kind() == "type_annotation" else []
        return str(inner[0].text()) if inner and inner[0].kind() != "this_type" else ""

    def _identifier(self, value: Any, depth: int) -> str:
        use = next((u for u in self.module.uses if u.node == value), None)
        if use is None or use.binding is None or use.binding.what not in ("variable", "parameter"):
            return ""
        if use.binding.annotation is not None:
            return self._annotated(use.binding)
        declared = self.extraction.declared_value(use.binding)
        return self._of_value(declared, depth)

    def _is_narrowed(self, variable: Variable) -> bool:
        """Whether a test in the same function looks at it before the lines."""
        selection = self.extraction.selection
        for use in variable.outside:
            if use.token.start > selection.start or use.space == TYPE:
                continue
            node = use.node.parent()
            while node is not None and node != selection.function:
                kind = node.kind()
                tested = node.field("condition") or node.field("value")
                if kind in _TESTS and tested is not None and _holds(tested, use.token.start):
                    return True
                if kind in ("binary_expression", "assignment_expression"):
                    return True
                node = node.parent()
        return False


def _holds(node: Any, at: int) -> bool:
    span = node.range()
    return bool(span.start.index <= at < span.end.index)
