"""Function extraction in JavaScript and TypeScript: the checks and the new text."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from toolcrib.code.javascript.extract_analysis import (
    ScriptExtraction,
    ScriptSelection,
    Variable,
    crossings,
    select,
)
from toolcrib.code.javascript.imports import is_module
from toolcrib.code.javascript.model import Module, word_pattern
from toolcrib.code.javascript.program import ScriptProgram
from toolcrib.code.javascript.references import need_name
from toolcrib.code.javascript.scopes import descendants, holds, named
from toolcrib.code.languages import SCRIPTS, language_of
from toolcrib.code.operations import ExtractionPlan, indent_of, reindented
from toolcrib.code.project import Project
from toolcrib.code.scopes import TYPE
from toolcrib.core.names import name_set
from toolcrib.files.content.faithful import Splice


def plan_extraction(
    project: Project, path: str, lines: tuple[int, int], name: str
) -> ExtractionPlan:
    """See `toolcrib.code.operations.extract`."""
    program = ScriptProgram(project)
    module = program.understood(path)
    display = project.display(path)
    need_name(name)
    selection = select(module, display, *lines)
    extraction = ScriptExtraction(selection, display)
    extraction.find()
    obstacles = [*crossings(selection, display), *extraction.obstacles]
    obstacles += _around(program, selection, display, name)
    types = None
    if language_of(path) != "javascript" and not obstacles:
        types = ParameterTypes(program, extraction, display)
        obstacles += types.find()
    if obstacles:
        return ExtractionPlan(obstacles)
    return ExtractionPlan(
        [],
        [variable.name for variable in extraction.parameters],
        [variable.name for variable in extraction.results],
        _ExtractedText(selection, extraction, types, name).splices(),
    )


def _around(
    program: ScriptProgram, selection: ScriptSelection, display: str, name: str
) -> list[str]:
    """What stands around the lines that forbids a function of the file."""
    module, found = selection.module, []
    word = word_pattern(name).search(module.text)
    if word is not None:
        line = module.line_at(word.start())
        found.append(f"{display}:{line}: {name} is used already.")
    if module.evals:
        found.append(f"{display}:1: eval may use any name of the file.")
    if module.is_script:
        others = [p for p in program.project.mentioning(name, SCRIPTS)[0] if p != module.path]
        if others:
            found.append(f"{display}:1: {name} would be global, and {others[0]} uses it.")
    strict = module.esm or _is_strict(module) or is_module(program.project, module.path)
    node = selection.block
    while node is not None:
        kind = node.kind()
        line = node.range().start.line + 1
        if kind in ("internal_module", "module", "ambient_declaration"):
            found.append(f"{display}:{line}: the lines stand in a namespace.")
        if kind == "with_statement":
            found.append(f"{display}:{line}: a with statement may bind any name.")
        if kind == "class_body" and not strict:
            found.append(f"{display}:{line}: code of a class is strict, that of the file is not.")
        if kind == "statement_block" and _has_directive(node) and not strict:
            found.append(f"{display}:{line}: the function has a directive.")
        node = node.parent()
    return found


def _has_directive(block: object) -> bool:
    children = named(block)
    first = children[0] if children else None
    return (
        first is not None
        and first.kind() == "expression_statement"
        and [child.kind() for child in named(first)] == ["string"]
    )


def _is_strict(module: Module) -> bool:
    return _has_directive(module.root) and "use strict" in named(module.root)[0].text()


@dataclass(eq=False)
class _ExtractedText:
    """The new text."""

    selection: ScriptSelection
    extraction: ScriptExtraction
    types: ParameterTypes | None
    name: str

    def __post_init__(self) -> None:
        self.text = self.selection.module.text
        self.lines = self.text.split("\n")

    def splices(self) -> list[Splice]:
        """The changes of the file."""
        selection = self.selection
        indent = indent_of(self.lines[selection.first - 1])
        unit = self._unit(indent)
        anchor = self._anchor()
        span = (selection.first, selection.last)
        body = reindented(self.lines, span, self._string_lines(), indent, unit)
        given = ", ".join(self._typed(v) for v in self.extraction.parameters)
        head = f"function {self.name}({given}) {{"
        back = self._back()
        opened = [f"{unit}let {self._typed(v)};" for v in self.extraction.locals]
        closed = [f"{unit}return {back};"] if back else []
        new = "\n".join([head, *opened, *body, *closed, "}"])
        call = f"{indent}{self._call()}"
        if anchor >= selection.start:
            return [Splice(selection.start, selection.end, f"{new}\n\n{call}")]
        return [Splice(anchor, anchor, f"{new}\n\n"), Splice(selection.start, selection.end, call)]

    def _anchor(self) -> int:
        """Where the function goes: before the statement of the file and its comments."""
        top = self.selection.top
        if top == self.selection.statements[0]:
            return self.selection.start
        at = top.range().start.index
        while (above := top.prev()) is not None and above.kind() == "comment":
            between = self.text[above.range().end.index : at]
            if between.strip() or between.count("\n") > 1:
                break
            top, at = above, above.range().start.index
        return int(self.text.rfind("\n", 0, at) + 1)

    def _unit(self, indent: str) -> str:
        if indent:
            outer = self.selection.block.range().start.line
            above = indent_of(self.lines[outer])
            if indent.startswith(above) and len(indent) > len(above):
                return indent[len(above) :]
        found = re.search(r"^([ \t]+)\S", self.text, re.MULTILINE)
        return found[1] if found else "  "

    def _string_lines(self) -> set[int]:
        """Lines that begin inside a string."""
        spans = (
            node.range()
            for statement in self.selection.statements
            for node in descendants(statement, "template_string", "string")
        )
        return {n for span in spans for n in range(span.start.line + 2, span.end.line + 2)}

    def _typed(self, variable: Variable) -> str:
        kind = self.types.of(variable) if self.types is not None else ""
        return f"{variable.name}: {kind}" if kind else variable.name

    def _back(self) -> str:
        names = [variable.name for variable in self.extraction.results]
        return names[0] if len(names) == 1 else f"{{ {', '.join(names)} }}" if names else ""

    def _call(self) -> str:
        given = ", ".join(variable.name for variable in self.extraction.parameters)
        call = f"{self.name}({given})"
        results = self.extraction.results
        if not results:
            return f"{call};"
        bound = [variable for variable in results if variable.bound]
        if not bound:
            if len(results) == 1:
                return f"{results[0].name} = {call};"
            return f"{';' if self._is_open() else ''}({self._back()} = {call});"
        if len(bound) == len(results):
            return f"{self._word(bound)} {self._back()} = {call};"
        first = f"let {', '.join(v.name for v in bound)};\n"
        indent = indent_of(self.lines[self.selection.first - 1])
        return f"{first}{indent}({self._back()} = {call});"

    def _is_open(self) -> bool:
        """Whether the statement before may go on in the next line."""
        before = self.text[: self.selection.start].rstrip()
        return bool(before) and before[-1] not in ";{}"

    def _word(self, bound: list[Variable]) -> str:
        """`const` where each of them is one, else `let` (or `var`, where one is)."""
        words = {self.extraction.declared_by(variable.binding) for variable in bound}
        if words == {"const"}:
            return "const"
        return "var" if "var" in words else "let"


# Types of the parameters, for TypeScript

_PLAIN = frozenset(["number", "string", "boolean", "bigint", "number[]", "string[]", "boolean[]"])
_ARITHMETIC = frozenset(["-", "*", "/", "%", "**", "|", "&", "^", "<<", ">>", ">>>"])
_LOGICAL = frozenset(["===", "!==", "==", "!=", "<", ">", "<=", ">=", "in", "instanceof"])
_TESTS = name_set("if_statement switch_statement while_statement ternary_expression do_statement")
_LITERALS = {
    "number": "number",
    "string": "string",
    "template_string": "string",
    "true": "boolean",
    "false": "boolean",
    "regex": "RegExp",
}


@dataclass(eq=False)
class ParameterTypes:
    """Finds a type for each parameter, by what the text says of it."""

    program: ScriptProgram
    extraction: ScriptExtraction
    display: str

    def __post_init__(self) -> None:
        self.module = self.extraction.module
        self._known: dict[int, str] = {}

    def find(self) -> list[str]:
        """Find them all; the parameters of which the type cannot be written down."""
        found = []
        for variable in [*self.extraction.parameters, *self.extraction.locals]:
            line = self.module.line_at(variable.order)
            kind = self._type(variable)
            if not kind:
                found.append(
                    f"{self.display}:{line}: the type of {variable.name} is not written down; "
                    f"annotate it first ({variable.name}: SomeType)."
                )
            elif kind not in _PLAIN and self._is_narrowed(variable):
                found.append(
                    f"{self.display}:{line}: a test before the lines may narrow the type {kind} of "
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
        for use in self.module.uses:
            inner = use.binding is not None and use.binding.scope is not self.module.top
            if inner and holds(node, use.token.start):
                return False
        return next(descendants(node, "this_type"), None) is None

    def _parameter(self, binding: Any) -> str:
        """A parameter with a default value, or one that is taken apart."""
        at = binding.start
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
        binding = self.module.binding_at(made)
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
        binding = self.module.binding_at(called)
        if binding is None or binding.scope is not self.module.top or len(binding.tokens) != 1:
            return ""
        node = binding.value
        if node is None or any(c.kind() == "type_parameters" for c in node.children()):
            return ""
        annotation = node.field("return_type")
        if annotation is None or annotation.kind() != "type_annotation":
            return ""
        inner = named(annotation)
        return str(inner[0].text()) if inner and inner[0].kind() != "this_type" else ""

    def _identifier(self, value: Any, depth: int) -> str:
        binding = self.module.binding_at(value)
        if binding is None or binding.what not in ("variable", "parameter"):
            return ""
        if binding.annotation is not None:
            return self._annotated(binding)
        return self._of_value(self.extraction.declared_value(binding), depth)

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
                if kind in _TESTS and tested is not None and holds(tested, use.token.start):
                    return True
                if kind in ("binary_expression", "assignment_expression"):
                    return True
                node = node.parent()
        return False
