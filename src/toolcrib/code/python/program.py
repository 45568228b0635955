"""The Python files of a project: modules, and what a name means across them."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from toolcrib.code.project import Project
from toolcrib.code.python.scopes import PythonFile
from toolcrib.code.python.source import PythonSource
from toolcrib.code.scopes import LexicalScope, Occurrence
from toolcrib.code.trial_parse import PYTHON_PARSER
from toolcrib.core.errors import ToolError

# Modules by their names

_INIT = "__init__"


@dataclass(frozen=True, slots=True)
class ModuleTarget:
    """What a dotted name leads to: a file, a folder without code, or nothing of ours.

    `unsure` says that another file could be meant as well.
    """

    path: str = ""
    folder: str | None = None
    unsure: bool = False


class ModuleMap:
    """The Python files of a project as modules.

    Args:
        paths: the paths of all of them, from the project's folder.
    """

    def __init__(self, paths: Iterable[str]) -> None:
        listed = sorted(p for p in paths if p.endswith((".py", ".pyi", ".pyw")))
        self._files = frozenset(listed)
        self._folders = {up for path in listed for up in _above(path)}
        self._roots = {self.root_of(path) for path in listed} | {"", "src"}

    def __contains__(self, path: str) -> bool:
        return path in self._files

    def is_package(self, folder: str) -> bool:
        """Whether a folder has code of its own."""
        return _join(folder, f"{_INIT}.py") in self._files

    def root_of(self, path: str) -> str:
        """The folder from which a file is imported: the first above it that is no package."""
        folder = path.rpartition("/")[0]
        while folder and self.is_package(folder):
            folder = folder.rpartition("/")[0]
        return folder

    def name_of(self, path: str) -> str:
        """The dotted name by which other files import a file."""
        root = self.root_of(path)
        if root:
            # A folder without `__init__.py` between the project's and the file is a package too.
            root = _source_root(root)
        inner = path[len(root) + 1 :] if root else path
        name = inner.rpartition(".")[0].replace("/", ".")
        return name.removesuffix(f".{_INIT}")

    def package_of(self, path: str) -> str:
        """The folder that `from .` in a file means."""
        return path.rpartition("/")[0]

    def absolute(self, importer: str, dotted: str) -> ModuleTarget:
        """What `import dotted` in a file means."""
        own = self.root_of(importer)
        here = self._below(own, dotted)
        if here is not None:
            return here
        first = dotted.partition(".")[0]
        found: dict[str, ModuleTarget] = {}
        for root in sorted(self._roots, key=lambda r: (r not in ("", "src"), r)):
            if first in sys.stdlib_module_names and root not in ("", "src"):
                continue
            target = self._below(root, dotted)
            if target is not None:
                found.setdefault(target.path or f"{target.folder}/", target)
        if not found:
            return ModuleTarget()
        best = next(iter(found.values()))
        files = [t for t in found.values() if t.path]
        if not best.path and files:
            best = files[0]
        return ModuleTarget(best.path, best.folder, unsure=len(files) > 1)

    def relative(self, importer: str, level: int, dotted: str) -> ModuleTarget:
        """What `from ..dotted` in a file means."""
        folder = self.package_of(importer)
        for _ in range(level - 1):
            if not folder:
                return ModuleTarget()
            folder = folder.rpartition("/")[0]
        if not dotted:
            return self._folder(folder)
        return self._below(folder, dotted) or ModuleTarget()

    def imported(self, importer: str, node: ast.ImportFrom) -> ModuleTarget:
        """What the module of a `from` import is."""
        if node.level:
            return self.relative(importer, node.level, node.module or "")
        return self.absolute(importer, node.module or "")

    def child(self, target: ModuleTarget, name: str) -> ModuleTarget | None:
        """A module inside of a package."""
        if target.folder is None:
            return None
        return self._below(target.folder, name)

    def stub_of(self, path: str) -> str:
        """The stub that stands beside a file, or the file beside a stub; "" without one."""
        other = f"{path}i" if path.endswith(".py") else path.removesuffix("i")
        return other if other != path and other in self._files else ""

    def _below(self, root: str, dotted: str) -> ModuleTarget | None:
        place = _join(root, dotted.replace(".", "/"))
        if self.is_package(place) or place in self._folders:
            package = self._folder(place)
            if package.path or not self._plain(place):
                return package
        path = self._plain(place)
        return ModuleTarget(path) if path else None

    def _plain(self, place: str) -> str:
        return next((p for p in (f"{place}.py", f"{place}.pyi") if p in self._files), "")

    def _folder(self, folder: str) -> ModuleTarget:
        init = _join(folder, f"{_INIT}.py")
        return ModuleTarget(init if init in self._files else "", folder)


def _source_root(folder: str) -> str:
    parts = folder.split("/")
    return "/".join(parts[: parts.index("src") + 1]) if "src" in parts else ""


def _join(folder: str, name: str) -> str:
    return f"{folder}/{name}" if folder else name


def _above(path: str) -> list[str]:
    found = []
    while "/" in path:
        path = path.rpartition("/")[0]
        found.append(path)
    return found


MAX_IMPORT_DEPTH = 40
"""Imports of imports that are followed."""
LANGUAGE = ("python",)


@dataclass(frozen=True, slots=True)
class PythonSymbol:
    """A name of a scope of a file."""

    file: PythonFile
    scope: LexicalScope
    name: str

    @property
    def is_global(self) -> bool:
        """Whether other files can import it."""
        return self.scope.kind == "module"

    @property
    def binders(self) -> list[Occurrence]:
        """Where it is bound."""
        return self.scope.binders(self.name)


@dataclass(frozen=True, slots=True)
class ExternalName:
    """Something from outside of the project, by its dotted name."""

    name: str


Meaning = PythonSymbol | ModuleTarget | ExternalName | None
"""A name of the project, one of its modules, something foreign, or nothing known."""


class Program:
    """The files of a project, parsed on first use."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.modules = ModuleMap(p for p in project.paths)
        self._files: dict[str, PythonFile | ToolError] = {}

    def file(self, path: str) -> PythonFile:
        """A parsed file.

        Raises:
            UnsupportedContent: it is not valid Python.
            ToolError: it cannot be read.
        """
        found = self._files.get(path)
        if found is None:
            self.project.check()
            try:
                found = PythonFile(PythonSource(path, self.project.parsable(path, PYTHON_PARSER)))
            except ToolError as error:
                found = error
            self._files[path] = found
        if isinstance(found, ToolError):
            raise found
        return found

    def maybe(self, path: str) -> PythonFile | None:
        """A parsed file, or None where it cannot be had."""
        try:
            return self.file(path)
        except ToolError:
            return None

    def mentioning(self, *words: str) -> tuple[list[PythonFile], list[str]]:
        """The files in which one of some words stands, and why others cannot be looked into."""
        files: dict[str, PythonFile] = {}
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

    def imported(self, file: PythonFile, occurrence: Occurrence) -> Meaning:
        """What an import binds."""
        alias = occurrence.node
        node = file.parents.get(alias)
        if not isinstance(alias, ast.alias):
            return None
        if isinstance(node, ast.ImportFrom):
            return self.from_import(file, node, alias.name)
        dotted = alias.name if alias.asname else alias.name.partition(".")[0]
        target = self.modules.absolute(file.path, dotted)
        return target if target.path or target.folder is not None else ExternalName(dotted)

    def from_import(self, file: PythonFile, node: ast.ImportFrom, name: str) -> Meaning:
        """What `from module import name` gives."""
        target = self.modules.imported(file.path, node)
        if not target.path and target.folder is None:
            return ExternalName(f"{'.' * node.level}{node.module or ''}.{name}")
        return self.member(target, name)

    def member(self, target: ModuleTarget, name: str) -> Meaning:
        """A name of a module, as another file sees it."""
        module = self.maybe(target.path) if target.path else None
        if module is not None and module.top.binders(name):
            return PythonSymbol(module, module.top, name)
        child = self.modules.child(target, name)
        if child is not None:
            return child
        if module is not None and module.stars:
            return self._by_star(module, name)
        return None

    def _by_star(self, file: PythonFile, name: str, depth: int = 0) -> Meaning:
        for node in file.stars:
            target = self.modules.imported(file.path, node)
            module = self.maybe(target.path) if target.path else None
            if module is None or depth > MAX_IMPORT_DEPTH:
                continue
            if module.top.binders(name):
                return PythonSymbol(module, module.top, name)
            found = self._by_star(module, name, depth + 1)
            if found is not None:
                return found
        return None

    def origin(self, meaning: Meaning) -> Meaning:
        """What a name that is only imported stands for in the end."""
        for _ in range(MAX_IMPORT_DEPTH):
            if not isinstance(meaning, PythonSymbol):
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
        if isinstance(meaning, PythonSymbol):
            return (meaning.file.path, id(meaning.scope), meaning.name)
        return meaning

    # What an expression means

    def meaning(self, file: PythonFile, node: ast.AST) -> Meaning:
        """What a plain or dotted name stands for, its imports followed."""
        if isinstance(node, ast.Name):
            found = self.named(file, node)
            return self.origin(found)
        if isinstance(node, ast.Attribute):
            base = self.meaning(file, node.value)
            if isinstance(base, ModuleTarget):
                return self.origin(self.member(base, node.attr))
            if isinstance(base, ExternalName):
                return ExternalName(f"{base.name}.{node.attr}")
        return None

    def named(self, file: PythonFile, node: ast.Name) -> Meaning:
        """What a name stands for in its own file."""
        occurrence = file.names.get(node)
        if occurrence is None or occurrence.mixed:
            return None
        if occurrence.owner is None:
            if file.stars:
                found = self._by_star(file, node.id)
                if found is not None:
                    return found
                if any(not self.modules.imported(file.path, s).path for s in file.stars):
                    return None
            return ExternalName(f"builtins.{node.id}")
        return PythonSymbol(file, occurrence.owner, node.id)

    def module_of(self, file: PythonFile, node: ast.AST) -> ModuleTarget | None:
        """The module of the project that an expression is, or None."""
        found = self.meaning(file, node)
        return found if isinstance(found, ModuleTarget) else None


def exported(file: PythonFile) -> set[str] | None:
    """The names in `__all__`, None without one, as far as they are written out."""
    nodes = list(all_strings(file))
    if not file.top.binders("__all__"):
        return None
    return {str(node.value) for node in nodes}


def is_written_out(file: PythonFile) -> bool:
    """Whether a module has an `__all__` of nothing but strings."""
    if not file.top.binders("__all__"):
        return False
    found = map(_all_value, ast.walk(file.source.tree))
    values = [value for value in found if value is not None]
    return bool(values) and all(
        isinstance(value, ast.List | ast.Tuple)
        and all(isinstance(e, ast.Constant) and isinstance(e.value, str) for e in value.elts)
        for value in values
    )


def _all_value(statement: ast.AST) -> ast.expr | None:
    """What a statement gives to `__all__`, or the call by which it changes that."""
    if isinstance(statement, ast.Assign) and any(_is_all(t) for t in statement.targets):
        return statement.value
    if isinstance(statement, ast.AugAssign | ast.AnnAssign) and _is_all(statement.target):
        return statement.value
    if isinstance(statement, ast.Call) and isinstance(statement.func, ast.Attribute):
        return statement if _is_all(statement.func.value) else None
    return None


def all_strings(file: PythonFile) -> Iterator[ast.Constant]:
    """The strings of a module's `__all__`, wherever they are added to it."""
    for statement in ast.walk(file.source.tree):
        value = _all_value(statement)
        # Of a call that changes the list, what it is given.
        parts = statement.args if isinstance(statement, ast.Call) and value else [value]
        for part in parts:
            for node in ast.walk(part) if part is not None else ():
                if isinstance(node, ast.Constant) and isinstance(node.value, str):
                    yield node


def _is_all(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and node.id == "__all__"
