"""Statements of JavaScript or TypeScript, made a function of their own."""

from __future__ import annotations

import re

from toolcrib.code.javascript.capture import bad_name
from toolcrib.code.javascript.extract_analysis import Extraction, Variable
from toolcrib.code.javascript.imports import is_module
from toolcrib.code.javascript.model import Module
from toolcrib.code.javascript.names import descendants, named
from toolcrib.code.javascript.parsed_file import read
from toolcrib.code.javascript.program import Program
from toolcrib.code.javascript.selection import Selection, crossings, select
from toolcrib.code.javascript.type_annotations import Types
from toolcrib.code.languages import SCRIPTS, language_of
from toolcrib.code.rewrite import Done, Rewrite
from toolcrib.core.errors import BadInput, Conflict, UnsupportedContent
from toolcrib.files.content.faithful import Splice

_STAY = "Choose other lines, or change the code first so that these stand on their own."


def extract(rewrite: Rewrite, path: str, lines: tuple[int, int], name: str) -> Done:
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
    program = Program(rewrite.project)
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
    extraction = Extraction(selection, shown)
    extraction.find()
    against = [*crossings(selection, shown), *extraction.against]
    against += _around(program, selection, shown, name)
    types = Types(program, extraction, shown) if language_of(path) != "javascript" else None
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
    return Done(head, {"name": name, "parameters": given, "results": back})


def _around(program: Program, selection: Selection, shown: str, name: str) -> list[str]:
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
        self, selection: Selection, extraction: Extraction, types: Types | None, name: str
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
