"""Statements of JavaScript or TypeScript, made a function of their own."""

from __future__ import annotations

import re
from typing import Any

from toolcrib.code.javascript.extract_analysis import (
    ScriptExtraction,
    ScriptSelection,
    Variable,
    crossings,
    select,
)
from toolcrib.code.javascript.imports import is_module
from toolcrib.code.javascript.model import TYPE, Module
from toolcrib.code.javascript.program import ScriptProgram
from toolcrib.code.javascript.references import bad_name
from toolcrib.code.javascript.scopes import descendants, named, read
from toolcrib.code.languages import SCRIPTS, language_of
from toolcrib.code.rewrite import Rewrite, RewriteSummary
from toolcrib.core.errors import BadInput, Conflict, UnsupportedContent
from toolcrib.files.content.faithful import Splice

_STAY = "Choose other lines, or change the code first so that these stand on their own."


def extract(rewrite: Rewrite, path: str, lines: tuple[int, int], name: str) -> RewriteSummary:
    """Plan to make a function of some lines.

    Args:
        rewrite: gets the changes.
        path: the file.
        lines: the first and the last, from 1.
        name: of the new function.

    Raises:
        BadInput: the lines are not whole statements of one block, or the name is none.
        Conflict: it cannot be proven that the program stays as it is.
        UnsupportedContent: the file has a syntax error.
    """
    program = ScriptProgram(rewrite.project)
    module = program.module(path)
    shown = rewrite.project.display(path)
    if module.errors:
        raise UnsupportedContent(
            f"{shown} has a syntax error: it cannot be understood.", hint="Mend the file first."
        )
    why = bad_name(name)
    if why:
        raise BadInput(f"{why[0].upper()}{why[1:]}.", hint="Give another new_name.")
    selection = select(module, shown, *lines)
    extraction = ScriptExtraction(selection, shown)
    extraction.find()
    against = [*crossings(selection, shown), *extraction.against]
    against += _around(program, selection, shown, name)
    types = (
        ParameterTypes(program, extraction, shown) if language_of(path) != "javascript" else None
    )
    if types is not None and not against:
        against += types.find()
    if against:
        raise Conflict(
            "The lines are not extracted; this stands in the way:\n" + "\n".join(against[:20]),
            hint=_STAY,
            obstacles=against[:100],
        )
    rewrite.replace(path, *_Written(selection, extraction, types, name).splices())
    if read(path, rewrite.after(path)).errors:
        raise Conflict(f"{shown} would not be valid after the change.", hint=_STAY)
    given = [variable.name for variable in extraction.parameters]
    back = [variable.name for variable in extraction.results]
    head = (
        f"extract lines {lines[0]} to {lines[1]} of {shown} to {name}({', '.join(given)})"
        f"{', which gives back ' + ', '.join(back) if back else ''}"
    )
    return RewriteSummary(head, {"name": name, "parameters": given, "results": back})


def _around(program: ScriptProgram, selection: ScriptSelection, shown: str, name: str) -> list[str]:
    """What stands around the lines that forbids a function of the file."""
    module, found = selection.module, []
    word = re.search(rf"(?<![\w$]){re.escape(name)}(?![\w$])", module.text)
    if word is not None:
        line = 1 + module.text.count("\n", 0, word.start())
        found.append(f"{shown}:{line}: {name} is used already.")
    if module.evals:
        found.append(f"{shown}:1: eval may use any name of the file.")
    if not module.esm and not module.common and not module.calls:
        others = [p for p in program.project.mentioning(name, SCRIPTS)[0] if p != module.path]
        if others:
            found.append(f"{shown}:1: {name} would be global, and {others[0]} uses it.")
    strict = module.esm or _is_strict(module) or is_module(program.project, module.path)
    node = selection.block
    while node is not None:
        kind = node.kind()
        line = node.range().start.line + 1
        if kind in ("internal_module", "module", "ambient_declaration"):
            found.append(f"{shown}:{line}: the lines stand in a namespace.")
        if kind == "with_statement":
            found.append(f"{shown}:{line}: a with statement may bind any name.")
        if kind == "class_body" and not strict:
            found.append(f"{shown}:{line}: code of a class is strict, that of the file is not.")
        if kind == "statement_block" and _has_directive(node) and not strict:
            found.append(f"{shown}:{line}: the function has a directive.")
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


class _Written:
    """The new text."""

    def __init__(
        self,
        selection: ScriptSelection,
        extraction: ScriptExtraction,
        types: ParameterTypes | None,
        name: str,
    ) -> None:
        self.selection = selection
        self.extraction = extraction
        self.types = types
        self.name = name
        self.text = selection.module.text
        self.lines = self.text.split("\n")

    def splices(self) -> list[Splice]:
        """The changes of the file."""
        selection = self.selection
        first = self.lines[selection.first - 1]
        indent = first[: len(first) - len(first.lstrip())]
        unit = self._unit(indent)
        anchor = self._anchor()
        body = self._body(indent, unit)
        given = ", ".join(self._declared(v) for v in self.extraction.parameters)
        head = f"function {self.name}({given}) {{"
        back = self._back()
        opened = [f"{unit}let {self._typed(v)};" for v in self.extraction.locals]
        closed = [f"{unit}return {back};"] if back else []
        new = "\n".join([head, *opened, *body, *closed, "}"])
        call = f"{indent}{self._call()}"
        if anchor >= selection.start:
            return [Splice(selection.start, selection.end, f"{new}\n\n{call}")]
        return [
            Splice(anchor, anchor, f"{new}\n\n"),
            Splice(selection.start, selection.end, call),
        ]

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
            line = self.lines[outer]
            above = line[: len(line) - len(line.lstrip())]
            if indent.startswith(above) and len(indent) > len(above):
                return indent[len(above) :]
        found = re.search(r"^([ \t]+)\S", self.text, re.MULTILINE)
        return found[1] if found else "  "

    def _body(self, old: str, new: str) -> list[str]:
        fixed: set[int] = set()
        for statement in self.selection.statements:
            for node in descendants(statement, "template_string", "string"):
                span = node.range()
                fixed |= set(range(span.start.line + 2, span.end.line + 2))
        moved = []
        for number in range(self.selection.first, self.selection.last + 1):
            line = self.lines[number - 1]
            if number in fixed or not line.strip():
                moved.append(line if number in fixed else "")
            elif line.startswith(old):
                moved.append(f"{new}{line[len(old) :]}")
            else:
                moved.append(f"{new}{line.lstrip()}")
        return moved

    def _declared(self, variable: Variable) -> str:
        return self._typed(variable)

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
            return (
                f";({self._back()} = {call});"
                if self._is_open()
                else (f"({self._back()} = {call});")
            )
        if len(bound) == len(results):
            return f"{self._word(bound)} {self._back()} = {call};"
        first = f"let {', '.join(v.name for v in bound)};\n"
        line = self.lines[self.selection.first - 1]
        indent = line[: len(line) - len(line.lstrip())]
        return f"{first}{indent}({self._back()} = {call});"

    def _is_open(self) -> bool:
        """Whether the statement before may go on in the next line."""
        before = self.text[: self.selection.start].rstrip()
        return bool(before) and before[-1] not in ";{}"

    def _word(self, bound: list[Variable]) -> str:
        """`const` where each of them is one, else `let` (or `var`, where one is)."""
        words = set()
        for variable in bound:
            declared = self.extraction.declared_by(variable.binding)
            words.add(declared)
        if words == {"const"}:
            return "const"
        return "var" if "var" in words else "let"


# The types that an extracted function of TypeScript writes for what it is given.

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


class ParameterTypes:
    """Finds a type for each parameter, by what the text says of it."""

    def __init__(self, program: ScriptProgram, extraction: ScriptExtraction, shown: str) -> None:
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
