"""How files name each other in imports, and whether new imports make a cycle."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from toolcrib.code.python.bound_file import File
from toolcrib.code.python.program import Program, Symbol
from toolcrib.code.rewrite import Rewrite

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


@dataclass(eq=False)
class Imports:
    """The imports of a move.

    Attributes:
        rewrite: gets the changes.
        program: all files.
        source: the file that is left.
        node: what is moved.
        target: the path of the file that gets it.
        against: what stands in the way.
        notes: what is told beside.
        importers: files whose imports change.
        edges: which file will import which, by their paths.
        drops: imports that go away.
    """

    rewrite: Rewrite
    program: Program
    source: File
    node: Definition
    target: str
    against: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    importers: set[str] = field(default_factory=set)
    edges: list[tuple[str, str]] = field(default_factory=list)
    drops: dict[str, list[ast.ImportFrom]] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The name of what is moved."""
        return self.node.name

    def _name_for(self, importer: str, path: str) -> str:
        """How a file names another one in an import: relative inside of a package."""
        modules = self.program.modules
        here, there = importer.rpartition("/")[0], path.rpartition("/")[0]
        root = modules.root_of(path)
        in_package = here == there and modules.is_package(here) and here != modules.root_of(path)
        if in_package and self._is_relative(self.source):
            base = path.rpartition("/")[2].removesuffix(".py")
            return "." if base == "__init__" else f".{base}"
        if here == root == there or (not modules.is_package(here) and here == root):
            inner = path[len(root) + 1 :] if root else path
            return inner.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        return modules.name_of(path)

    @staticmethod
    def _is_relative(file: File) -> bool:
        return any(isinstance(n, ast.ImportFrom) and n.level for n in file.within)

    def _module_in(self, file: File, node: ast.ImportFrom) -> str:
        """The target's name as an importer writes it: relative where its import was."""
        if not node.level:
            return self._absolute(file, node)
        here = file.path.rpartition("/")[0].split("/") if "/" in file.path else []
        folder = self.target.rpartition("/")[0].split("/") if "/" in self.target else []
        common = 0
        while common < min(len(here), len(folder)) and here[common] == folder[common]:
            common += 1
        dots = "." * (len(here) - common + 1)
        base = self.target.rpartition("/")[2].removesuffix(".py")
        rest = [*folder[common:], *([] if base == "__init__" else [base])]
        return dots + ".".join(rest)

    def _absolute(self, file: File, node: ast.ImportFrom) -> str:
        """As the source was named: with the same folders left out."""
        written = (node.module or "").split(".")
        real = self.source.path.removesuffix(".py").removesuffix("/__init__").split("/")
        cut = len(real) - len(written)
        there = self.target.removesuffix(".py").removesuffix("/__init__").split("/")
        if cut >= 0 and there[:cut] == real[:cut]:
            return ".".join(there[cut:])
        return self._name_for(file.path, self.target)

    # Cycles

    def _cycles(self) -> None:
        edges = [(a, b) for a, b in dict.fromkeys(self.edges) if a != b]
        graph: dict[str, set[str]] = {}
        for a, b in edges:
            graph.setdefault(a, set()).add(b)
        for start, end in edges:
            way = self._way(end, start, graph)
            if way:
                shown = " -> ".join([start, *way])
                self.against.append(f"{start}:1: it would make a cycle of imports: {shown}.")
                return

    def _way(self, start: str, end: str, new: dict[str, set[str]]) -> list[str]:
        before: dict[str, str] = {start: ""}
        todo = [start]
        while todo:
            path = todo.pop(0)
            if path == end:
                way = [path]
                while before[way[0]]:
                    way.insert(0, before[way[0]])
                return way
            for other in sorted(new.get(path, set()) | self._imports(path)):
                if other not in before:
                    before[other] = path
                    todo.append(other)
        return []

    def _imports(self, path: str) -> set[str]:
        """The files that a file loads when it is loaded, as it will be."""
        file = self.program.maybe(path) if path in self.program.modules else None
        found: set[str] = set()
        for node in file.within if file is not None else ():
            if not isinstance(node, ast.Import | ast.ImportFrom) or not is_run(file, node):
                continue
            if node in self.drops.get(path, ()) and all(a.name == self.name for a in node.names):
                continue
            if isinstance(node, ast.Import):
                found |= {self.program.modules.absolute(path, a.name).path for a in node.names}
                continue
            target = self.program.modules.imported(path, node)
            names = [a.name for a in node.names]
            if target.path == self.source.path and names == [self.name]:
                continue
            children = [self.program.modules.child(target, n) for n in names]
            inner = [c.path for c in children if c is not None and c.path]
            if inner:
                found |= set(inner)
            if not inner or len(inner) < len(names):
                found.add(target.path)
        return found - {"", path}


def import_order(line: str) -> tuple[bool, bool, str]:
    """Where an import stands among others."""
    return line.startswith("from ."), line.startswith("from "), line


def is_run(file: File | None, node: ast.AST) -> bool:
    """Whether an import runs when its file is loaded."""
    assert file is not None
    at = file.parents.get(node)
    while at is not None:
        if isinstance(at, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            return False
        if isinstance(at, ast.If) and "TYPE_CHECKING" in ast.dump(at.test):
            return False
        at = file.parents.get(at)
    return True


def is_typing(file: File, symbol: Symbol) -> bool:
    """Whether a name is imported for type checkers only."""
    return all(not is_run(file, b.node) for b in symbol.binders)
