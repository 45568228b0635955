"""Lines of a function or a module, made a function of their own."""

from __future__ import annotations

import ast
import tokenize

from toolcrib.code.python.bound_file import File
from toolcrib.code.python.extract_analysis import Extraction
from toolcrib.code.python.references import state_of
from toolcrib.code.python.selection import part_of, top_of
from toolcrib.code.python.source import is_name
from toolcrib.code.rewrite import Done, Rewrite
from toolcrib.core.errors import BadInput
from toolcrib.files.content.faithful import Splice

Function = ast.FunctionDef | ast.AsyncFunctionDef


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
        UnsupportedContent: the file is not valid Python.
    """
    state = state_of(rewrite.project)
    file = state.program.file(path)
    if not is_name(name):
        raise BadInput(f"{name!r} is not a name that Python allows.")
    part = part_of(file, *lines)
    extraction = _Written(file, part, name, state.inference)
    extraction.check()
    splices = extraction.splices()
    rewrite.replace(path, *splices)
    given, back = ", ".join(extraction.parameters), ", ".join(extraction.results)
    head = (
        f"extract lines {lines[0]} to {lines[1]} of {rewrite.project.display(path)} to "
        f"{name}({given}){f', which gives back {back}' if back else ''}"
    )
    data = {"name": name, "parameters": extraction.parameters, "results": extraction.results}
    return Done(head, data)


class _Written(Extraction):
    # The new text

    def splices(self) -> list[Splice]:
        """The changes of the file."""
        source = self.file.source
        start, stop = self._lines()
        begin, end = source.starts[start - 1], min(source.starts[stop], len(source.text))
        first = source.lines[top_of(self.part.statements[0]) - 1]
        indent = first[: len(first) - len(first.lstrip())]
        anchor = self._anchor()
        line = source.lines[anchor - 1]
        outer = line[: len(line) - len(line.lstrip())]
        unit = self._unit(outer)
        body = self._moved(start, stop, indent, outer + unit)
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
            return _with_comments(self.file, top_of(self.function))
        chain = [self.part.statements[0], *self.part.above]
        top = chain[chain.index(self.file.source.tree) - 1]
        assert isinstance(top, ast.stmt)
        return (
            _with_comments(self.file, top_of(top))
            if top is not self.part.statements[0]
            else self.part.begin
        )

    def _unit(self, outer: str) -> str:
        if self.function is not None:
            line = self.file.source.lines[top_of(self.function.body[0]) - 1]
            inner = line[: len(line) - len(line.lstrip())]
            if (
                inner.startswith(outer)
                and len(inner) > len(outer)
                and not line[len(inner) :].startswith("def")
            ):
                return inner[len(outer) :]
        return "\t" if any(line.startswith("\t") for line in self.file.source.lines) else "    "

    def _moved(self, start: int, stop: int, old: str, new: str) -> list[str]:
        """The lines with another indentation; what is inside of a string stays."""
        fixed: set[int] = set()
        for token in self.file.source.tokens:
            inside = token.type == tokenize.STRING or token.type == getattr(
                tokenize, "FSTRING_MIDDLE", -1
            )
            if inside and token.end[0] > token.start[0]:
                fixed |= set(range(token.start[0] + 1, token.end[0] + 1))
        moved = []
        for number in range(start, stop + 1):
            line = self.file.source.lines[number - 1]
            if number in fixed:
                moved.append(line)
            elif line.startswith(old):
                moved.append(f"{new}{line[len(old) :]}" if line.strip() else "")
            else:
                moved.append(f"{new}{line.lstrip()}" if line.strip() else "")
        return moved

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
        rebound = {n for n in self.parameters if len(self.scope.bound.get(n, ())) > 1}
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


def _with_comments(file: File, line: int) -> int:
    """The first of the comment lines right above a line."""
    while line > 1 and file.source.lines[line - 2].lstrip().startswith("#"):
        if line - 1 == 1 and file.source.lines[0].startswith(("#!", "# -*-")):
            break
        line -= 1
    return line
