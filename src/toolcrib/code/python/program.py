"""All Python files of a project together: what a name at one place means in another file."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from toolcrib.code.project import Project
from toolcrib.code.python.bound_file import File
from toolcrib.code.python.modules import ModuleMap, Target
from toolcrib.code.python.scopes import Occurrence, Scope
from toolcrib.code.python.source import PythonSource
from toolcrib.code.trial_parse import OWN
from toolcrib.core.errors import ToolError

DEEP = 40
"""Imports of imports that are followed."""
LANGUAGE = ("python",)


@dataclass(frozen=True, slots=True)
class Symbol:
    """A name of a scope of a file."""

    file: File
    scope: Scope
    name: str

    @property
    def is_global(self) -> bool:
        """Whether other files can import it."""
        return self.scope.kind == "module"

    @property
    def binders(self) -> list[Occurrence]:
        """Where it is bound."""
        return self.scope.bound.get(self.name, [])


@dataclass(frozen=True, slots=True)
class Foreign:
    """Something from outside of the project, by its dotted name."""

    name: str


Meaning = Symbol | Target | Foreign | None
"""A name of the project, one of its modules, something foreign, or nothing known."""


class Program:
    """The files of a project, parsed when they are asked for."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.modules = ModuleMap(p for p in project.paths)
        self._files: dict[str, File | ToolError] = {}

    def file(self, path: str) -> File:
        """A parsed file.

        Raises:
            UnsupportedContent: it is not valid Python.
            ToolError: it cannot be read.
        """
        found = self._files.get(path)
        if found is None:
            self.project.check()
            try:
                found = File(PythonSource(path, self.project.parsable(path, OWN)))
            except ToolError as error:
                found = error
            self._files[path] = found
        if isinstance(found, ToolError):
            raise found
        return found

    def maybe(self, path: str) -> File | None:
        """A parsed file, or None where it cannot be had."""
        try:
            return self.file(path)
        except ToolError:
            return None

    def mentioning(self, *words: str) -> tuple[list[File], list[str]]:
        """The files in which one of some words stands, and why others cannot be looked into."""
        files: dict[str, File] = {}
        closed: dict[str, None] = {}
        for word in words:
            paths, shut = self.project.mentioning(word, LANGUAGE)
            closed.update(dict.fromkeys(shut))
            for path in paths:
                if path not in self.modules:
                    continue
                try:
                    files[path] = self.file(path)
                except ToolError as error:
                    closed[error.message] = None
        return list(files.values()), list(closed)

    # What an import means

    def imported(self, file: File, occurrence: Occurrence) -> Meaning:
        """What an import binds."""
        alias = occurrence.node
        node = file.parents.get(alias)
        if not isinstance(alias, ast.alias):
            return None
        if isinstance(node, ast.ImportFrom):
            return self.from_import(file, node, alias.name)
        dotted = alias.name if alias.asname else alias.name.partition(".")[0]
        target = self.modules.absolute(file.path, dotted)
        return target if target.path or target.folder is not None else Foreign(dotted)

    def from_import(self, file: File, node: ast.ImportFrom, name: str) -> Meaning:
        """What `from module import name` gives."""
        target = self.modules.imported(file.path, node)
        if not target.path and target.folder is None:
            return Foreign(f"{'.' * node.level}{node.module or ''}.{name}")
        return self.member(target, name)

    def member(self, target: Target, name: str) -> Meaning:
        """A name of a module, as another file sees it."""
        module = self.maybe(target.path) if target.path else None
        if module is not None and module.module.bound.get(name):
            return Symbol(module, module.module, name)
        child = self.modules.child(target, name)
        if child is not None:
            return child
        if module is not None and module.module.stars:
            return self._by_star(module, name)
        return None

    def _by_star(self, file: File, name: str, depth: int = 0) -> Meaning:
        for node in file.module.stars:
            target = self.modules.imported(file.path, node)
            module = self.maybe(target.path) if target.path else None
            if module is None or depth > DEEP:
                continue
            if module.module.bound.get(name):
                return Symbol(module, module.module, name)
            found = self._by_star(module, name, depth + 1)
            if found is not None:
                return found
        return None

    def origin(self, meaning: Meaning) -> Meaning:
        """What a name that is only imported stands for in the end."""
        for _ in range(DEEP):
            if not isinstance(meaning, Symbol):
                return meaning
            binders = meaning.binders
            if not binders or any(b.role != "import" for b in binders):
                return meaning
            found = {
                self._identity(m): m for m in (self.imported(meaning.file, b) for b in binders)
            }
            if len(found) != 1:
                return meaning
            meaning = next(iter(found.values()))
        return meaning

    @staticmethod
    def _identity(meaning: Meaning) -> object:
        if isinstance(meaning, Symbol):
            return (meaning.file.path, id(meaning.scope), meaning.name)
        return meaning

    # What an expression means

    def meaning(self, file: File, node: ast.AST) -> Meaning:
        """What a plain or dotted name stands for, its imports followed."""
        if isinstance(node, ast.Name):
            found = self.named(file, node)
            return self.origin(found)
        if isinstance(node, ast.Attribute):
            base = self.meaning(file, node.value)
            if isinstance(base, Target):
                return self.origin(self.member(base, node.attr))
            if isinstance(base, Foreign):
                return Foreign(f"{base.name}.{node.attr}")
        return None

    def named(self, file: File, node: ast.Name) -> Meaning:
        """What a name stands for in its own file."""
        occurrence = file.names.get(node)
        if occurrence is None or occurrence.mixed:
            return None
        if occurrence.owner is None:
            if file.module.stars:
                found = self._by_star(file, node.id)
                if found is not None:
                    return found
                if any(not self.modules.imported(file.path, s).path for s in file.module.stars):
                    return None
            return Foreign(f"builtins.{node.id}")
        return Symbol(file, occurrence.owner, node.id)

    def module_of(self, file: File, node: ast.AST) -> Target | None:
        """The module of the project that an expression is, or None."""
        found = self.meaning(file, node)
        return found if isinstance(found, Target) else None


def exported(file: File) -> set[str] | None:
    """The names in `__all__`, None without one, as far as they are written out."""
    nodes = list(all_strings(file))
    if not file.module.bound.get("__all__"):
        return None
    return {str(node.value) for node in nodes}


def all_strings(file: File) -> Iterator[ast.Constant]:
    """The strings of a module's `__all__`, wherever they are added to it."""
    for statement in ast.walk(file.source.tree):
        values: Iterable[ast.AST | None] = ()
        if (isinstance(statement, ast.Assign) and any(_is_all(t) for t in statement.targets)) or (
            isinstance(statement, ast.AugAssign | ast.AnnAssign) and _is_all(statement.target)
        ):
            values = (statement.value,)
        elif (
            isinstance(statement, ast.Call)
            and isinstance(statement.func, ast.Attribute)
            and _is_all(statement.func.value)
        ):
            values = statement.args
        for value in values:
            for node in ast.walk(value) if value is not None else ():
                if isinstance(node, ast.Constant) and isinstance(node.value, str):
                    yield node


def _is_all(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and node.id == "__all__"
