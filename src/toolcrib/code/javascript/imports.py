"""The import statements of JavaScript and TypeScript: read, and written anew."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from dataclasses import dataclass, field
from posixpath import dirname, join, relpath
from typing import Any

from toolcrib.code.javascript.model import Module
from toolcrib.code.javascript.names import descendants, literal, named
from toolcrib.code.javascript.program import Program
from toolcrib.code.project import Project
from toolcrib.core.errors import ToolError

ENDING = re.compile(r"(?:\.d)?\.[cm]?[jt]sx?$")
WRITTEN = {"ts": "js", "tsx": "js", "mts": "mjs", "cts": "cjs"}


@dataclass(frozen=True, slots=True)
class Part:
    """A name of an import: `there` is "default" or "*" for the other forms, `text` as it stands."""

    node: Any
    there: str
    local: str
    text: str
    typed: bool = False


@dataclass(slots=True)
class Statement:
    """An import with names, or one of its like."""

    node: Any
    said: str
    typed: bool
    parts: list[Part] = field(default_factory=list)

    @property
    def span(self) -> tuple[int, int]:
        """Where it starts and ends."""
        span = self.node.range()
        return span.start.index, span.end.index

    def written(self, parts: list[Part]) -> str:
        """The same with only some of its names, at least one."""
        text, start = self.node.text(), self.span[0]
        clause = next(c for c in named(self.node) if c.kind() == "import_clause").range()
        first, last = clause.start.index - start, clause.end.index - start
        single = [p.text for p in parts if p.there in ("default", "*") and not _in_list(p)]
        inner = [p for p in parts if _in_list(p)]
        if inner:
            single.append(self._list(inner))
        return f"{text[:first]}{', '.join(single)}{text[last:]}"

    def _list(self, parts: list[Part]) -> str:
        whole = parts[0].node.parent().text()
        inside = whole[1:-1]
        if "\n" not in inside:
            gap = " " if inside.startswith(" ") else ""
            return f"{{{gap}{', '.join(p.text for p in parts)}{gap}}}"
        match = re.search(r"\n([ \t]*)\S", inside)
        indent = match[1] if match else "  "
        comma = "," if inside.rstrip().endswith(",") else ""
        tail = inside[len(inside.rstrip()) :]
        return f"{{\n{indent}" + f",\n{indent}".join(p.text for p in parts) + f"{comma}{tail}}}"

    @property
    def commented(self) -> bool:
        """Whether a comment stands between the names."""
        return next(descendants(self.node, "comment"), None) is not None


def _in_list(part: Part) -> bool:
    return bool(part.node.kind() == "import_specifier")


def said_of(node: Any) -> str:
    """What a statement says that it takes from; "" for a statement of another kind."""
    if node.kind() not in ("import_statement", "export_statement"):
        return ""
    source = node.field("source")
    if source is None:
        clause = next((c for c in named(node) if c.kind() == "import_require_clause"), None)
        source = named(clause)[-1] if clause is not None else None
    if literal(source) is None:
        return ""
    return str(source.text()[1:-1])


def is_typed(node: Any) -> bool:
    """Whether it is `import type` or `export type`."""
    return any(child.kind() == "type" and not child.is_named() for child in node.children())


def statements(module: Module) -> list[Statement]:
    """The imports at the top of a file that bind names."""
    found = []
    for node in named(module.root):
        if node.kind() != "import_statement":
            continue
        one = Statement(node, said_of(node), is_typed(node))
        for child in named(node):
            if child.kind() == "import_clause":
                one.parts += _parts(child)
            elif child.kind() == "import_require_clause":
                name = named(child)[0]
                one.parts.append(Part(child, "*", name.text(), child.text()))
        if one.parts:
            found.append(one)
    return found


def _parts(clause: Any) -> list[Part]:
    found: list[Part] = []
    for child in named(clause):
        if child.kind() == "identifier":
            found.append(Part(child, "default", child.text(), child.text()))
        elif child.kind() == "namespace_import":
            found.append(Part(child, "*", named(child)[0].text(), child.text()))
        elif child.kind() == "named_imports":
            found += [_specifier(one) for one in named(child) if one.kind() == "import_specifier"]
    return found


def _specifier(node: Any) -> Part:
    name, alias = node.field("name"), node.field("alias")
    there = name.text()[1:-1] if name.kind() == "string" else name.text()
    return Part(node, there, (alias or name).text(), node.text(), is_typed(node))


def quote_of(module: Module) -> str:
    """The quotation mark of its imports."""
    for node in named(module.root):
        source = node.field("source") if node.kind().endswith("port_statement") else None
        if source is not None:
            return str(source.text()[0])
    return '"' if module.text.count('"') > module.text.count("'") else "'"


def ends_plainly(module: Module) -> bool:
    """Whether its statements end with a semicolon."""
    if re.search(r";[ \t]*$", module.text, re.MULTILINE):
        return True
    return not re.search(r"^(?:import|export|const|let)\b[^{(;]*$", module.text, re.MULTILINE)


class Specifiers:
    """How a file names another one: as it, or the files around it, do already."""

    def __init__(self, program: Program, *models: str) -> None:
        self._program = program
        self._models = models

    def name(self, path: str, target: str, like: str = "", meant: str = "") -> str:
        """The text of an import of a file.

        Args:
            path: the file that imports.
            target: the file that is imported.
            like: an import of another file whose form is taken.
            meant: the file that this one means.
        """
        style = self._style(like, meant) if like.startswith(".") else self._usual(path)
        stem = ENDING.sub("", target)
        ending = target[len(stem) :].lstrip(".")
        if style == "none":
            shown = stem
        elif style == "own":
            shown = target
        else:
            shown = f"{stem}.{WRITTEN.get(ending, ending)}"
        found = relpath(shown or ".", dirname(path) or ".")
        return found if found.startswith("../") else f"./{found}"

    @staticmethod
    def _style(said: str, meant: str) -> str:
        match = ENDING.search(said)
        if match is None:
            return "none"
        return "own" if meant.endswith(match[0]) else "written"

    def _usual(self, path: str) -> str:
        program = self._program
        others = [p for p in program.project.paths if program.is_script(p)]
        same = [p for p in others if _family(p) == _family(path)]
        for each in dict.fromkeys([path, *self._models, *same[:200]]):
            if each not in program.project:
                continue
            for node in named(program.module(each).root):
                said = said_of(node)
                meant = program.specifiers.resolve(each, said) if said.startswith("./") else None
                if meant is not None and program.is_script(meant):
                    return self._style(said, meant)
        return "own" if _family(path) == "js" else "none"


def _family(path: str) -> str:
    return "ts" if re.search(r"\.[cm]?tsx?$", path) else "js"


def import_place(module: Module) -> int:
    """Where another import goes: behind those at the top, and behind what heads the file."""
    at, start = 0, True
    for node in named(module.root):
        kind = node.kind()
        said = kind == "expression_statement" and all(c.kind() == "string" for c in named(node))
        if kind == "import_statement" or said or kind == "hash_bang_line":
            end = node.range().end.index
            line = module.text.find("\n", end)
            at, start = len(module.text) if line < 0 else line + 1, False
        elif kind != "comment":
            break
        elif start and module.text[node.range().end.index :].startswith("\n\n"):
            at = node.range().end.index + 1
    return at


def is_module(project: Project, path: str) -> bool:
    """Whether the package of a file says that its files are modules."""
    folder = dirname(path)
    while True:
        with suppress(ToolError, ValueError):
            data = project.scope.file(join(folder, "package.json")).read_bytes(200_000)
            return bool(json.loads(data.decode("utf-8-sig", "replace")).get("type") == "module")
        if not folder:
            return False
        folder = dirname(folder)
